"""Checks of strict mode: from masks of offending elements to faults.

Knows: the fault of the first offending element, and which readings an overflow promise concerns.
Does not know: which elements offend (`numerics.promises`), nor operations.
"""

from __future__ import annotations

from collections.abc import Callable

from tileir.interp.faults import Fault
from tileir.ir.attributes import Overflow, Signedness
from tileir.numerics.bits import Array, first_index
from tileir.numerics.promises import Check, promised

Trapping = Callable[..., None]
"""Called with the operands; raises `Fault`."""


def promise_check(overflow: Overflow, build: Callable[[Signedness], Check]) -> Trapping | None:
    """The check that every reading promised by `overflow` fits; None if nothing is promised."""
    message = f"the result breaks the promise overflow<{overflow.text}>"
    checks = [
        trapping_where(f"{message} when {reading.text}", build(reading))
        for reading in (Signedness.SIGNED, Signedness.UNSIGNED)
        if promised(overflow, reading)
    ]
    return _all_of(checks) if checks else None


def _all_of(checks: list[Trapping]) -> Trapping:
    def run(*operands: Array) -> None:
        for check in checks:
            check(*operands)

    return run


def trapping_where(message: str, check: Check) -> Trapping:
    """A function that raises a fault at the first element that `check` finds."""

    def run(*operands: Array) -> None:
        found = check(*operands)
        if found.any():
            raise Fault(message, index=first_index(found))

    return run
