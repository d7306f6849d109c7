"""Linear constraints: unlike functions they can be written down, in a study file and in a stored study."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from prefopt.errors import DomainError

#: Relative slack, so that 0.1 + 0.2 <= 0.3 holds.
SLACK = 1e-9
EXPECTED = "expected a linear comparison such as 'water + 2*milk <= 250'"


@dataclass(frozen=True)
class Linear:
    """``low`` <= sum of weights times values <= ``high``; call it with the values by name (numbers or arrays).

    Attributes:
        weights: (name, coefficient) pairs. Names are those of parameters, in their units; of a ``Box`` x0, x1, ...
        low: lower bound, -inf if there is none.
        high: upper bound, inf if there is none.

    Raises:
        DomainError: no weight, or nothing that can hold.

    >>> rule = Linear.parse("water + 2*milk <= 250")
    >>> rule({"water": 200, "milk": 25}), rule({"water": 200, "milk": 26})
    (True, False)
    """

    weights: tuple[tuple[str, float], ...]
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if not self.weights or not all(math.isfinite(weight) for _, weight in self.weights):
            raise DomainError(f"a linear constraint needs finite weights of at least one parameter, got {self.weights}")
        if not self.low <= self.high or self.low == math.inf or self.high == -math.inf:
            raise DomainError(f"{self}: nothing lies between {self.low} and {self.high}")

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """Whether the values are allowed: a bool, or booleans of the shape of the values."""
        parts = [weight * values[name] for name, weight in self.weights]
        total, slack = sum(parts), SLACK * sum(abs(part) for part in parts)
        return (total >= self.low - slack) & (total <= self.high + slack)

    def __str__(self) -> str:
        text = " + ".join(f"{weight:g}*{name}" for name, weight in self.weights)
        low = f"{self.low:g} <= " if self.low > -math.inf else ""
        return low + text + (f" <= {self.high:g}" if self.high < math.inf else "")

    def check_names(self, names: tuple[str, ...], described: str) -> None:
        """Raise DomainError unless the weights' names are among ``names``, the numeric columns of ``described``."""
        for name, _ in self.weights:
            if name not in names:
                raise DomainError(f"constraint {self}: {name!r} is no number of {described}; it has {', '.join(names)}")

    @classmethod
    def parse(cls, text: str) -> Linear:
        """The constraint that a comparison with <= or >= describes.

        Raises:
            DomainError: not a comparison of linear expressions.
        """
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except SyntaxError as error:
            raise DomainError(f"constraint {text!r}: {EXPECTED}") from error
        if not isinstance(tree, ast.Compare) or len(tree.ops) > 1 or not isinstance(tree.ops[0], ast.LtE | ast.GtE):
            raise DomainError(f"constraint {text!r}: {EXPECTED}, with one <= or >=")
        weights = _plus(_terms(tree.left, text), _terms(tree.comparators[0], text), -1.0)
        bound = -weights.pop("", 0.0)
        pairs = tuple((name, weight) for name, weight in weights.items() if weight)
        return cls(pairs, high=bound) if isinstance(tree.ops[0], ast.LtE) else cls(pairs, low=bound)

    def to_json(self) -> dict[str, Any]:
        """A JSON-able record; ``from_json`` reads it back."""
        bounds = {"low": self.low, "high": self.high}
        return {"weights": dict(self.weights)} | {k: v for k, v in bounds.items() if math.isfinite(v)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Linear:
        """What ``to_json`` wrote."""
        return cls(tuple(record["weights"].items()), record.get("low", -math.inf), record.get("high", math.inf))


def read_constraint(given: Any, expected: str) -> Any:
    """A constraint as users give it: text becomes ``Linear``, anything else must be callable."""
    if isinstance(given, str):
        return Linear.parse(given)
    if not callable(given):
        raise DomainError(f"a constraint is text such as 'a + 2*b <= 3' or {expected}, got {given!r}")
    return given


def constraints_to_json(constraints: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Records of constraints that are all ``Linear``.

    Raises:
        DomainError: one is a function, which cannot be written down.
    """
    for constraint in constraints:
        if not isinstance(constraint, Linear):
            raise DomainError(
                f"constraint {getattr(constraint, '__name__', constraint)!s} is a function, and cannot be stored with "
                "a continuous space. Write a linear one as text, such as 'a + 2*b <= 3'; or give every parameter a "
                "step, so that the space is a grid, which stores what is allowed"
            )
    return [constraint.to_json() for constraint in constraints]


def _plus(a: dict[str, float], b: dict[str, float], factor: float) -> dict[str, float]:
    return {name: a.get(name, 0.0) + factor * b.get(name, 0.0) for name in {**a, **b}}


_SIGNS: dict[type, float] = {ast.Add: 1.0, ast.Sub: -1.0, ast.UAdd: 1.0, ast.USub: -1.0}
_SCALING: dict[type, Callable[[float, float], float]] = {ast.Mult: operator.mul, ast.Div: operator.truediv}


def _terms(node: ast.expr, text: str) -> dict[str, float]:
    """Coefficients by name of a linear expression; its constant has the name ""."""
    if isinstance(node, ast.Name):
        return {node.id: 1.0}
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return {"": float(node.value)}  # type: ignore[arg-type]
    if isinstance(node, ast.UnaryOp) and type(node.op) in _SIGNS:
        return _plus({}, _terms(node.operand, text), _SIGNS[type(node.op)])
    if isinstance(node, ast.BinOp):
        left, right, kind = _terms(node.left, text), _terms(node.right, text), type(node.op)
        if kind in _SIGNS:
            return _plus(left, right, _SIGNS[kind])
        if kind is ast.Mult and set(left) == {""}:
            left, right = right, left
        if kind in _SCALING and set(right) == {""} and (kind is ast.Mult or right[""]):
            return {name: _SCALING[kind](weight, right[""]) for name, weight in left.items()}
    raise DomainError(f"constraint {text!r}: {EXPECTED}, not {ast.unparse(node)!r}")
