"""All combinations of finite parameters, as the points of a ``Grid``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefopt.domain import FloatArray, Grid
from prefopt.errors import DomainError
from prefopt.parameters.base import MOST_VALUES, Parameter
from prefopt.parameters.categorical import Categorical
from prefopt.parameters.ranges import Range

Constraint = Callable[[dict[str, Any]], bool]
#: Two different choices of a category lie this far apart in a ``Grid``, whichever they are. At the kernels' default
#: length-scale of 0.2 a squared-exponential kernel then correlates them by 1/e, as kernels on a ``Box`` do.
CATEGORY_GAP = 0.2 * 2**0.5
#: NumPy cannot form products of more axes than this; such a space stays a ``Box``.
MOST_AXES = 32


def check_parameters(parameters: Sequence[Parameter]) -> tuple[str, ...]:
    """The names of the parameters of a space; raises DomainError if there are none, or one is declared twice."""
    if isinstance(parameters, str | Parameter) or not isinstance(parameters, Iterable):
        raise DomainError(f"a space needs a list of parameters, such as [Float('x', 0, 1)], got {parameters!r}")
    parameters = tuple(parameters)
    if not parameters:
        raise DomainError("a space needs at least one parameter, got none")
    for i, parameter in enumerate(parameters):
        if not isinstance(parameter, Parameter):
            raise DomainError(f"entry {i} is {parameter!r}; expected Float, Int or Categorical")
    names = tuple(p.name for p in parameters)
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise DomainError(f"parameter {twice[0]!r} is declared twice; names must differ")
    return names


def check_values(parameters: Sequence[Parameter], params: Mapping[str, Any]) -> dict[str, Any]:
    """One plain Python value for each parameter, in their order.

    Raises:
        DomainError: an unknown or missing name, or a value that is none of its parameter.
    """
    names = [p.name for p in parameters]
    if not isinstance(params, Mapping):
        raise DomainError(f"expected a dict with {', '.join(names)}, got {params!r}")
    for problem, wrong in (("unknown", set(params) - set(names)), ("missing", set(names) - set(params))):
        if wrong:
            raise DomainError(f"{problem} parameter {min(map(str, wrong))!r}; expected {', '.join(names)}")
    return {p.name: p.check(params[p.name]) for p in parameters}


def fits_grid(parameters: Sequence[Parameter]) -> bool:
    """Whether all parameters are finite and have at most ``MOST_VALUES`` combinations."""
    size = prod(p.count or 0 for p in parameters)
    return 1 <= size <= MOST_VALUES and len(parameters) <= MOST_AXES


def make_grid(parameters: Sequence[Parameter], kept: NDArray[np.int64] | None) -> Grid:
    """The combinations (those numbered ``kept``, all if None), the last parameter running fastest."""
    blocks = [_coordinates(p) for p in parameters]
    likely = _likely(parameters, blocks)
    if kept is None and all(block.shape[1] == 1 for block in blocks):
        grid = Grid.product(*(block[:, 0] for block in blocks))
        return replace(grid, likely=likely)
    counts = tuple(len(block) for block in blocks)
    places = np.unravel_index(np.arange(prod(counts)) if kept is None else kept, counts)
    return Grid(np.hstack([block[place] for block, place in zip(blocks, places, strict=True)]), likely=likely)


def _likely(
    parameters: Sequence[Parameter], blocks: Sequence[FloatArray]
) -> tuple[tuple[float, float] | None, ...] | None:
    """Where the best option is expected, of each coordinate; None if that is anywhere."""
    made: list[tuple[float, float] | None] = []
    for parameter, block in zip(parameters, blocks, strict=True):
        made += [parameter.likely_unit if isinstance(parameter, Range) else None] * block.shape[1]
    return None if set(made) == {(0.0, 1.0)} else tuple(made)


def allowed_combinations(parameters: Sequence[Parameter], constraints: Sequence[Constraint]) -> NDArray[np.int64]:
    """The numbers of the combinations that every constraint allows, ascending.

    Raises:
        DomainError: there is none.
    """
    names = [p.name for p in parameters]
    values = [[p.value(i) for i in range(p.count or 0)] for p in parameters]
    dicts = (dict(zip(names, row, strict=True)) for row in product(*values))
    kept = [i for i, params in enumerate(dicts) if all(c(dict(params)) for c in constraints)]
    if not kept:
        raise DomainError("the constraints forbid every combination of the parameters; relax them")
    return np.array(kept, dtype=np.int64)


def _coordinates(parameter: Parameter) -> FloatArray:
    """Coordinates (n, columns) of a finite parameter's values in a grid."""
    count = parameter.count or 1
    if not isinstance(parameter, Categorical):
        return np.array([[parameter.unit(parameter.value(i))] for i in range(count)])
    if count <= 2:
        return CATEGORY_GAP * np.arange(count, dtype=np.float64)[:, None]
    return CATEGORY_GAP / 2**0.5 * np.eye(count)
