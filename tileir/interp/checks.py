"""Checks of strict mode: from masks of offending elements to faults and warnings."""

from __future__ import annotations

from collections.abc import Callable

from tileir.host import undefined
from tileir.interp.api import StrictCheck
from tileir.interp.faults import Fault
from tileir.ir.attributes import Overflow, Signedness
from tileir.numerics.bits import Array, first_index
from tileir.numerics.promises import Check, promised_readings


def promise_check(overflow: Overflow, build: Callable[[Signedness], Check]) -> StrictCheck | None:
    """The check that every reading promised by `overflow` fits; None if nothing is promised."""
    checks = [
        trapping_where(undefined.overflow(overflow, reading), build(reading)) for reading in promised_readings(overflow)
    ]
    return all_of(*checks)


def all_of(*checks: StrictCheck | None) -> StrictCheck | None:
    """One check after the other, as one; None if there is none. The last warning counts."""
    made = [check for check in checks if check is not None]

    def run(*operands: Array) -> str | None:
        warning = None
        for check in made:
            warning = check(*operands)
        return warning

    return run if made else None


def trapping_where(message: str, check: Check) -> StrictCheck:
    """A function that raises a fault at the first element that `check` finds."""

    def run(*operands: Array) -> None:
        found = check(*operands)
        if found.any():
            raise Fault(message, index=first_index(found))

    return run


def warning_where(message: str, check: Check) -> StrictCheck:
    """A function that gives a warning if `check` finds any element."""

    def run(*operands: Array) -> str | None:
        return message if check(*operands).any() else None

    return run
