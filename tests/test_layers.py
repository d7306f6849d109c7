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
    **dict.fromkeys(["errors", "seeding", "jit", "kinds"], 0),
    **dict.fromkeys(
        ["domain", "finite", "linear", "polytope", "space", "parameters", "items", "coordinates", "answer", "data"], 1
    ),
    "links": 1,
    **dict.fromkeys(["models", "environments"], 2),
    **dict.fromkeys(["policies", "regret"], 3),
    **dict.fromkeys(["simulation", "study"], 4),
    **dict.fromkeys(["plotting", "testing", "integrations", "frontend", "report"], 5),
    **dict.fromkeys(["web", "widget"], 6),  # both show what ``frontend`` draws
    "cli": 7,  # offers what the others have, such as ``--plot``
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


HEAVY = "torch", "gpytorch", "botorch", "numba", "pandas", "matplotlib", "optuna", "fastapi", "uvicorn"


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
            ("torch", "gpytorch", "botorch", "fastapi", "uvicorn"),
        ),
    ],
)
def test_what_is_cheap_to_import(code, kept_out):
    probe = f"{code}\nimport sys\nprint(sorted(set({kept_out!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().splitlines()[-1] == "[]"


#: What of numpy.random is not its global generator.
OWN = {"Generator", "PCG64", "SeedSequence", "default_rng"}
#: Draws of torch; each takes a ``generator``.
TORCH_DRAWS = {"rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial"} | {
    f"{draw}_like" for draw in ("rand", "randn", "randint")
}
#: Where the global generators are put back after a library's call, and the pause before a write is tried again.
EXCEPT = {("prefopt.seeding", "numpy"), ("prefopt.study.storage", "random")}


def global_draws(tree):
    """Pairs (library, line) of everything that may draw from a global generator."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            if "random" in (names if isinstance(node, ast.Import) else [node.module]):
                yield "random", node.lineno
            elif isinstance(node, ast.ImportFrom) and node.module == "numpy.random" and set(names) - OWN:
                yield "numpy", node.lineno
            elif isinstance(node, ast.ImportFrom) and node.module == "torch" and set(names) & TORCH_DRAWS:
                yield "torch", node.lineno
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("np.random", "numpy.random"):
            if node.attr not in OWN:
                yield "numpy", node.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            named = {keyword.arg for keyword in node.keywords}
            if ast.unparse(node.func.value) == "torch" and node.func.attr in TORCH_DRAWS and "generator" not in named:
                yield "torch", node.lineno
            if node.func.attr == "default_rng" and not node.args:
                yield "numpy", node.lineno


def test_no_module_draws_from_a_global_generator():
    """Randomness is an argument; the only exceptions are ``EXCEPT``."""
    found = [(name_of(path), *drawn) for path in FILES for drawn in global_draws(ast.parse(path.read_text()))]
    assert [where for where in found if where[:2] not in EXCEPT] == []
    assert {where[:2] for where in found} == EXCEPT


@pytest.mark.parametrize(
    "code",
    [
        "import random",
        "from random import shuffle",
        "import numpy as np\nnp.random.rand(3)",
        "import numpy as np\nnp.random.seed(3)",
        "import numpy as np\nnp.random.default_rng()",
        "from numpy.random import normal",
        "import torch\ntorch.rand(3)",
        "import torch\ntorch.randn_like(x)",
        "from torch import randperm",
    ],
)
def test_the_check_sees_a_global_generator(code):
    assert len(list(global_draws(ast.parse(code)))) == 1


def test_the_check_lets_own_generators_pass():
    code = "np.random.default_rng(3)\nrng.random(3)\nrng.normal()\ntorch.rand(3, generator=g)\nnp.random.Generator(b)"
    assert list(global_draws(ast.parse(code))) == []
