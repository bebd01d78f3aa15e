"""Expressions that a person types: over values by their names, arrays, and the place of the tile block.

    %sum[0, 4:8]          a part of a tile
    max(abs(%x)) > 10     a condition
    out[3]                an element of an array of the launch

Knows: which Python an expression may be, and what its names stand for. Does not know: where values come from.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping

import numpy as np

_NAME = re.compile(r"%([\w$.-]+(?:#\d+)?)")
_PREFIX = "value__"
FUNCTIONS: dict[str, Callable[..., object]] = {
    "abs": np.abs,
    "all": np.all,
    "any": np.any,
    "isnan": lambda tile: np.isnan(np.asarray(tile, np.float64)),
    "isinf": lambda tile: np.isinf(np.asarray(tile, np.float64)),
    "max": np.max,
    "mean": lambda tile: np.mean(np.asarray(tile, np.float64)),
    "min": np.min,
    "sum": lambda tile: np.sum(np.asarray(tile, np.float64)),
}
_NODES = (
    ast.Expression,
    ast.BoolOp,
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.Subscript,
    ast.Slice,
    ast.Tuple,
    ast.Name,
    ast.Load,
    ast.Constant,
    ast.Call,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
)
_MOST = 1 << 10
"""The longest expression, and the largest exponent and shift."""


class ExpressionError(Exception):
    """An expression that has no value here."""


def evaluate(text: str, values: Mapping[str, object], arrays: Mapping[str, object]) -> object:
    """The value of an expression: `values` by names with ``%``, `arrays` and others by names without.

    Raises ExpressionError.
    """
    tree, names = _parsed(text)
    scope: dict[str, object] = {**arrays}
    for python, name in names.items():
        if name not in values:
            raise ExpressionError(f"no value '{name}' is known here")
        scope[python] = values[name]
    _check(tree, scope)
    try:
        with np.errstate(all="ignore"):
            return eval(compile(tree, "<expression>", "eval"), {"__builtins__": {}, **FUNCTIONS}, scope)
    except Exception as error:
        raise ExpressionError(f"'{text}': {error}") from None


def _parsed(text: str) -> tuple[ast.Expression, dict[str, str]]:
    if len(text) > _MOST:
        raise ExpressionError(f"expected at most {_MOST} characters")
    names: dict[str, str] = {}

    def stand_in(match: re.Match[str]) -> str:
        python = f"{_PREFIX}{len(names)}"
        names[python] = match[0]
        return python

    try:
        return ast.parse(_NAME.sub(stand_in, text.strip()), mode="eval"), names
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ExpressionError(f"expected an expression such as %x[0, 2:4] or %i == 3, got '{text}'") from None


def _check(tree: ast.AST, scope: Mapping[str, object]) -> None:
    for node in ast.walk(tree):
        if not isinstance(node, _NODES):
            raise ExpressionError(f"an expression has no {type(node).__name__.lower()}")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow | ast.LShift | ast.MatMult):
            raise ExpressionError("an expression has no power, shift or product of matrices")
        if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS):
            raise ExpressionError(f"expected a function of {', '.join(FUNCTIONS)}")
        if isinstance(node, ast.Name) and node.id not in scope and node.id not in FUNCTIONS:
            known = ", ".join(name for name in scope if not name.startswith(_PREFIX))
            raise ExpressionError(f"no '{node.id}' here: values have a %, and there are {known}")
