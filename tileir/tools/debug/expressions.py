"""Expressions that a debugger evaluates, and how values are shown."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping

import numpy as np

from tileir.interp.views import TensorView, TileView
from tileir.ir.types import Type

MOST_ELEMENTS = 64


def shown(value: object, type: Type | None = None) -> str:
    """Return a value, on one line if it is short."""
    head = "" if type is None else f" : {type.text}"
    if value is None:
        return f"token{head}" if type is not None and type.text == "token" else f"not known{head}"
    if isinstance(value, TensorView):
        return f"{type.text if type else 'tensor view'}, at {value.base:#x}, extents {list(value.shape)}"
    if isinstance(value, TileView):
        return f"{type.text if type else 'view'}, at {value.tensor.base:#x}, extents {list(value.tensor.shape)}"
    tile = np.asarray(value)
    if tile.ndim == 0:
        return f"{_element(tile, type)}{head}"
    return f"{head.removeprefix(' : ') or f'{tile.dtype}{list(tile.shape)}'}{_extremes(tile)}\n{_elements(tile)}"


def _element(tile: np.ndarray, type: Type | None) -> str:
    is_address = type is not None and "ptr<" in type.text
    return hex(int(tile)) if is_address else str(tile[()])


def _extremes(tile: np.ndarray) -> str:
    if not tile.size or tile.dtype == np.bool_:
        return f", {int(tile.sum())} of {tile.size} are true" if tile.dtype == np.bool_ else ""
    with np.errstate(all="ignore"):
        numbers = tile.astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    odd = numbers.size - finite.size
    range = f", from {finite.min():g} to {finite.max():g}, mean {finite.mean():g}" if finite.size else ""
    return range + (f", {int(np.isnan(numbers).sum())} nan, {int(np.isinf(numbers).sum())} inf" if odd else "")


def _elements(tile: np.ndarray) -> str:
    with np.printoptions(threshold=MOST_ELEMENTS, edgeitems=3, linewidth=110):
        return str(tile)


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
    """Return the value of an expression: `values` by names with ``%``, `arrays` and others by names without.

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
