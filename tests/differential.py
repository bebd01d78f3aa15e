"""Runs a kernel on several targets and compares the results.

Any NaN equals any other; values after an operation without an exact result may differ by a tolerance of their element
type.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import tileir
from tests.observe import Observed
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ops import extension, floating, functions, matmul, reduction
from tileir.ops.module import Entry

INEXACT = (
    functions.Exp, functions.Exp2, functions.Log, functions.Log2, functions.FPowF, functions.FPowI, functions.Sin,
    functions.Cos, functions.Tan, functions.Sinh, functions.Cosh, functions.Tanh, functions.Atan2, functions.Rsqrt,
    extension.Asin, matmul.MmaF, matmul.MmaFScaled,
)  # fmt: skip
TOLERANCES = {2: 0.02, 4: 1e-5, 8: 1e-12}
"""By the size of a float: relative to the element and to 1."""


@dataclass
class Outcome:
    """The outcome of a launch: its arrays, its output, and the message of the trap that ended it."""

    arrays: list[np.ndarray]
    printed: str
    trap: tileir.Trap | None


def outcome(
    kernel: tileir.Kernel, grid: tuple[int, ...], args: Sequence[object], target: str, threads: int | None = None
) -> Outcome:
    """Launch on the arrays themselves and restore their contents, so that addresses are the same for every target.

    Targets get the program unchanged, with all its operations.
    """
    arrays = [value for value in args if isinstance(value, np.ndarray)]
    before = [array.copy() for array in arrays]
    printed: list[str] = []
    trap = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            options: dict[str, object] = {} if target == "interp" else {"optimize": False, "threads": threads}
            kernel.launch(grid, *args, target=target, check=False, output=printed.append, **options)
        except tileir.Trap as error:
            trap = error
    after = [array.copy() for array in arrays]
    for array, content in zip(arrays, before):
        array[...] = content
    return Outcome(after, "".join(printed), trap)


def is_inexact(op: Op) -> bool:
    """Return whether targets may differ in the result of `op` even on equal operands."""
    if isinstance(op, INEXACT) or (isinstance(op, floating.DivF | floating.Sqrt) and _approximates(op)):
        return True
    return isinstance(op, reduction.Reduce) and any(_is_float(value.type) for value in op.sources)


def _approximates(op: Op) -> bool:
    rounding = op.attributes.get("rounding_mode")
    return rounding is not None and rounding.text in ("approx", "full")


def _is_float(type: t.Type) -> bool:
    return isinstance(type, t.TileType) and isinstance(type.element, t.ElementType) and type.element.is_float


def exact_part(entry: Entry) -> set[Op]:
    """The operations before the first inexact one, without those that it is a part of."""
    found: set[Op] = set()
    for op in entry.walk():
        if is_inexact(op):
            return found - set(_around(op))
        found.add(op)
    return found


def _around(op: Op) -> Iterator[Op]:
    parent = op.parent_op
    while parent is not None:
        yield parent
        parent = parent.parent_op


def assert_same(first: Outcome, second: Outcome, exact: Sequence[bool], names: Sequence[str]) -> None:
    """Both launches printed the same and left the same arrays, or both trapped in the same operation."""
    assert (first.trap is None) == (second.trap is None), first.trap or second.trap
    if first.trap is not None and second.trap is not None:
        assert (first.trap.op, first.trap.block) == (second.trap.op, second.trap.block)
        return
    if all(exact):
        assert first.printed == second.printed
    for name, mine, other, strictly in zip(names, first.arrays, second.arrays, exact):
        assert_equal(mine, other, strictly, name)


def assert_equal(first: np.ndarray, second: np.ndarray, exact: bool, name: str) -> None:
    if first.tobytes() == second.tobytes():
        return
    if first.dtype.kind in "iub":
        np.testing.assert_array_equal(first, second, name)
        return
    bits = f"u{first.dtype.itemsize}"
    with np.errstate(all="ignore"):
        numbers, others = first.astype(np.float64), second.astype(np.float64)
    same = (first.view(bits) == second.view(bits)) | (np.isnan(numbers) & np.isnan(others))
    if not exact:
        tolerance = TOLERANCES.get(first.dtype.itemsize, 0.3)
        with np.errstate(all="ignore"):
            same |= np.isclose(numbers, others, rtol=tolerance, atol=tolerance)
    assert same.all(), f"{name}: {first[~same][:4]} and {second[~same][:4]} at {np.argwhere(~same)[:4].tolist()}"


def observed_names(observed: Sequence[Observed]) -> list[str]:
    return [f"{value.op.spec.name} #{value.result} at {value.op.loc}" for value in observed]
