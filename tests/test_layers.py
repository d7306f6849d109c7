"""Who may import whom, and what must stay cheap to import."""

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import prefopt

ROOT = Path(prefopt.__file__).parent
LEVELS = {
    **dict.fromkeys(["errors", "seeding", "jit"], 0),
    **dict.fromkeys(
        ["domain", "finite", "linear", "space", "parameters", "items", "coordinates", "answer", "data", "links"], 1
    ),
    **dict.fromkeys(["models", "environments"], 2),
    **dict.fromkeys(["policies", "regret"], 3),
    **dict.fromkeys(["simulation", "study"], 4),
    **dict.fromkeys(["plotting", "testing", "integrations", "web", "widget", "report"], 5),
    "cli": 6,  # offers what level 5 has, such as ``--plot``
}
#: Levels 0 and 1 are one folder, the package itself; above, a part of the same level is a stranger.
TOGETHER = {0, 1}
#: A policy must not see the person it is asking.
NEVER = {("policies", "environments")}


def part_of(module):
    """``prefopt.models.exact`` -> ``models``; None for the package itself and for other libraries."""
    words = module.split(".")
    return words[1] if words[0] == "prefopt" and len(words) > 1 else None


def imports(tree, module, is_package):
    """Every module that the code may import, anywhere in the file, by its full name."""
    package = module if is_package else module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = importlib.util.resolve_name("." * node.level + base, package)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def violations(tree, module, is_package=False):
    """What ``module`` imports and must not."""
    here = part_of(module)
    if here is None:
        return []
    bad = []
    for target in imports(tree, module, is_package):
        there = part_of(target)
        if there is None or there == here or there not in LEVELS:
            continue
        allowed = LEVELS[there] < LEVELS[here] or (LEVELS[there] == LEVELS[here] and LEVELS[here] in TOGETHER)
        if not allowed or (here, there) in NEVER:
            bad.append(f"{module} (level {LEVELS[here]}) imports {target} (level {LEVELS[there]})")
    return bad


def name_of(path):
    words = ["prefopt", *path.relative_to(ROOT).with_suffix("").parts]
    return ".".join(words[:-1] if words[-1] == "__init__" else words)


FILES = sorted(ROOT.rglob("*.py"))


def test_every_part_has_a_level():
    parts = {part_of(name_of(path)) for path in FILES} - {None}
    assert parts <= set(LEVELS), f"give {sorted(parts - set(LEVELS))} a level here and in the design's table"


def test_modules_know_only_what_lies_below():
    bad = []
    for path in FILES:
        bad += violations(ast.parse(path.read_text()), name_of(path), path.name == "__init__.py")
    assert bad == []


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("prefopt.models.exact", "from prefopt.policies import POLICIES"),
        ("prefopt.models.exact", "from prefopt.environments.base import World"),
        ("prefopt.environments.base", "import prefopt.models.exact"),
        ("prefopt.policies.base", "def f():\n    from ..environments import world"),
        ("prefopt.study.fold", "from prefopt import simulation"),
        ("prefopt.regret", "from prefopt.policies.base import Policy"),
        ("prefopt.seeding", "from prefopt.jit import jitable\nfrom prefopt.domain import Arms"),
    ],
)
def test_the_check_sees_what_is_forbidden(module, code):
    assert len(violations(ast.parse(code), module)) == 1


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("prefopt.space", "from prefopt.domain import Arms\nimport numpy"),
        ("prefopt.policies.arms.rucb", "from ..rules import index\nfrom prefopt.models import exact"),
        ("prefopt.cli", "from prefopt.study import create_study"),
    ],
)
def test_the_check_lets_the_rest_pass(module, code):
    assert violations(ast.parse(code), module, is_package=module.endswith("cli")) == []


HEAVY = "torch", "gpytorch", "botorch", "numba", "pandas", "matplotlib", "optuna"


@pytest.mark.parametrize(
    ("code", "kept_out"),
    [
        ("import prefopt", HEAVY),
        ("from prefopt.policies import POLICIES", HEAVY),
        ("from prefopt import Answer, Arms, Box, Float, Grid, Space", HEAVY),
        (
            "import contextlib, io\nfrom prefopt.cli import main\nimport sys\nsys.argv = ['prefopt', '--help']\n"
            "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()) as out:\n    main()\n"
            "assert 'simulate' in out.getvalue()",
            ("torch", "gpytorch", "botorch"),
        ),
    ],
)
def test_what_is_cheap_to_import(code, kept_out):
    probe = f"{code}\nimport sys\nprint(sorted(set({kept_out!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().splitlines()[-1] == "[]"


def test_no_module_draws_from_the_global_generator():
    """Randomness is an argument: no module draws from numpy's global generator."""
    drawn = [
        f"{name_of(path)}:{node.lineno}"
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and ast.unparse(node.value) in ("np.random", "numpy.random")
        and node.attr in ("rand", "randn", "random", "randint", "choice", "shuffle", "permutation", "normal", "uniform")
    ]
    assert drawn == []
