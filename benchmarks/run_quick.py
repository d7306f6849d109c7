"""Run every benchmark in its quick form, one after the other; the first that fails stops the run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    """Run them all into ``benchmarks/results/quick``."""
    for script in sorted(HERE.glob("*.py")):
        if script.name.startswith("_") or script.name == Path(__file__).name:
            continue
        print(f"== {script.name}", flush=True)
        out = HERE / "results" / "quick"
        done = subprocess.run([sys.executable, str(script), "--quick", "--out", str(out)], check=False)
        if done.returncode:
            sys.exit(done.returncode)


if __name__ == "__main__":
    main()
