"""What a simulation found, as arrays, as a tidy table, and as files with a manifest."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefopt.domain import Arms
from prefopt.errors import MissingDependency, SettingError
from prefopt.regret import REGRETS

FloatArray = NDArray[np.float64]
LIBRARIES = ("prefopt-bo", "numpy", "scipy", "numba", "torch", "gpytorch", "botorch")


def versions() -> dict[str, str]:
    """The installed versions that a result may depend on."""
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def manifest(plan: Any, repetitions: int) -> dict[str, Any]:
    """How to get the same numbers again, JSON-able."""
    return {
        "policy": plan.policy if isinstance(plan.policy, str) else repr(plan.policy),
        "settings": dict(plan.make_policy().settings),
        "environment": plan.environment.name,
        "feedback": getattr(plan.environment, "feedback", "pairs"),
        "rounds": plan.checkpoints[-1],
        "repetitions": repetitions,
        "seed": plan.seed,
        "slate_size": plan.slate_size,
        "relabelled": bool(plan.relabel and isinstance(plan.domain, Arms)),
        "regrets": list(plan.regrets),
        "versions": versions(),
    }


@dataclass(frozen=True)
class Results:
    """All repetitions of one policy against one person.

    Attributes:
        policy, environment: their names.
        regrets: names of the R regrets kept.
        checkpoints: question numbers, (C,).
        regret: cumulative regrets, (repetitions, C, R).
        recommended: recommended option at each checkpoint, (repetitions, C) indices in each
            repetition's own labels, or (repetitions, C, d) points.
        inference: (repetitions, C, 2): P(best beats the recommended option) - 1/2, and its utility gap as
            a share of the domain's range (nan without a utility).
        slates: recorded slates of each repetition, or empty.
        cpu_seconds: CPU time of each repetition's loop, (repetitions,).
        seconds: wall time of all, compilation excluded.
        manifest: what was run.
    """

    policy: str
    environment: str
    regrets: tuple[str, ...]
    checkpoints: NDArray[np.int64]
    regret: FloatArray
    recommended: NDArray[Any]
    inference: FloatArray
    slates: list[NDArray[np.int64]]
    cpu_seconds: FloatArray
    seconds: float
    manifest: dict[str, Any]

    def curve(self, regret: str | None = None) -> FloatArray:
        """Cumulative regret (repetitions, C) of the named kind, by default the first."""
        name = regret or self.regrets[0]
        if name not in self.regrets:
            raise SettingError(f"regret {name!r} was not kept; this run has {', '.join(self.regrets)}")
        return self.regret[:, :, self.regrets.index(name)]

    def mean(self, regret: str | None = None) -> FloatArray:
        """Mean over repetitions at each checkpoint, (C,)."""
        return np.asarray(self.curve(regret).mean(axis=0))

    def sd(self, regret: str | None = None) -> FloatArray:
        """Standard deviation over repetitions at each checkpoint, (C,); 0 for a single repetition."""
        curve = self.curve(regret)
        return np.asarray(curve.std(axis=0, ddof=1 if len(curve) > 1 else 0))

    def summary(self, regret: str | None = None) -> dict[str, Any]:
        """The figures at T as one JSON-able object: the contract of ``prefopt simulate --json``."""
        name = regret or self.regrets[0]
        final, mean, sd = self.curve(name)[:, -1], self.mean(name), self.sd(name)
        record = {
            "policy": self.policy,
            "environment": self.environment,
            "regret": name,
            "rounds": int(self.checkpoints[-1]),
            "repetitions": len(final),
            "seed": self.manifest["seed"],
            "slate": self.manifest["slate_size"],
            "feedback": self.manifest["feedback"],
            "settings": self.manifest["settings"],
            "mean": float(mean[-1]),
            "sd": float(sd[-1]),
            "se": float(sd[-1] / np.sqrt(len(final))),
            "quantiles": {f"{q:g}": float(np.quantile(final, q)) for q in (0.1, 0.25, 0.5, 0.75, 0.9)},
            "checkpoints": [[int(t), float(a), float(b)] for t, a, b in zip(self.checkpoints, mean, sd, strict=True)],
            "inference_regret": float(self.inference[:, -1, 0].mean()),
        }
        if not np.isnan(self.inference[:, -1, 1]).any():
            record["inference_regret_utility"] = float(self.inference[:, -1, 1].mean())
        rounds = len(final) * int(self.checkpoints[-1])
        record["microseconds_per_round"] = float(self.cpu_seconds.sum() / rounds * 1e6)
        record["seconds"] = self.seconds
        record["versions"] = self.manifest["versions"]
        return record

    def rows(self) -> Iterator[dict[str, Any]]:
        """The tidy table: one row per repetition, checkpoint and kind of regret."""
        for r, repetition in enumerate(self.regret):
            for c, t in enumerate(self.checkpoints):
                for k, kind in enumerate(self.regrets):
                    yield {
                        "policy": self.policy,
                        "environment": self.environment,
                        "repetition": r,
                        "t": int(t),
                        "regret": kind,
                        "value": float(repetition[c, k]),
                        "inference_regret": float(self.inference[r, c, 0]),
                    }

    def to_frame(self) -> Any:
        """The tidy table as a pandas DataFrame. Raises MissingDependency without pandas."""
        try:
            import pandas
        except ImportError as error:
            raise MissingDependency("pandas", "frame", "to_frame") from error
        return pandas.DataFrame(self.rows())

    def save(self, path: str | Path) -> None:
        """Write the tidy table to ``path`` (CSV) and the manifest beside it (same name, .json)."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        write_csv(target, list(self.rows()))
        target.with_suffix(".json").write_text(json.dumps(self.manifest, indent=1) + "\n")

    def describe(self, regret: str | None = None) -> str:
        """What the regret on a plot's axis means."""
        name = regret or self.regrets[0]
        return f"{name}: {REGRETS[name].text}"


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write dictionaries with the same keys as a CSV table."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
