"""Undefined behaviour, broken promises and failed assertions in words, the same on every target.

spec: undefined#catalogue, misc#assume, control#assert-failure. Accesses to memory are in `host.address_space`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tileir.ir import types as t
from tileir.ir.attributes import Bounded, DivBy, Overflow, SameElements, Signedness
from tileir.ir.core import Op
from tileir.ir.diagnostics import Coordinates, place_text
from tileir.ir.escaping import shown_line
from tileir.ops.control import Assert
from tileir.ops.extension import Generate
from tileir.ops.reduction import Reduce, Scan

DIVISION_BY_ZERO = "integer division by zero"
NEGATION = "the negated smallest integer does not fit"
QUOTIENT = "the smallest integer divided by -1 does not fit"
ADDRESS = "the address is outside 64 bits"
SHIFT = "the shift amount is not below the width"
SATURATION = "the sum does not fit i32 and is saturated"
WEAK_DUPLICATES = "two elements of a weak store have the same address"
DUPLICATES = "two elements of a store have the same address"
UNPADDED_MASK = "masked-off elements are loaded without a padding value"
UNPADDED_VIEW = "elements outside the tensor are loaded without a padding value"
MASKED_UPDATE = "the result of a masked-off element is implementation-defined"
OVERCLAIM = "the view claims more elements than its memory has"
UNWRITTEN = "memory of an 'alloca' is read that nothing was written to"


def overflow(promise: Overflow, reading: Signedness) -> str:
    """Return the message of a result that breaks an overflow promise by one reading."""
    return f"the result breaks the promise overflow<{promise.text}> when {reading.text}"


def unfit(target: t.ElementType, reading: Signedness) -> str:
    """Return the message of a float that no integer of the target type stands for."""
    return f"the value does not fit {target.name} when {reading.text}"


def counter_overflow(element: t.ElementType, last: object, step: object) -> str:
    """Return the message of a `for` whose counter leaves its type."""
    return f"the induction variable of 'for' overflows {element!r}: {last} + {step}"


def no_step(step: object) -> str:
    """Return the message of a `for` whose step does not lead upward."""
    return f"the step of 'for' must be positive, got {step}"


def not_positive(what: str, dim: int) -> str:
    """Return the message of a dynamic extent or stride of 0."""
    return f"the dynamic {what} 0 of dimension {dim} is not positive"


def too_large(what: str, entry: object, dim: int) -> str:
    """Return the message of a dynamic extent or stride of 2^63 or more."""
    return f"the dynamic {what} {entry} of dimension {dim} is not below 2^63 (dynamic values are read as unsigned)"


def outside_index_space(dim: int) -> str:
    return f"the index of dimension {dim} is outside the index space of the view"


def not_inbounds(dim: int) -> str:
    return f"'inbounds' is not kept: the tile leaves the tensor along dimension {dim}"


def no_subtile(index: Sequence[object], counts: Sequence[int]) -> str:
    """Return the message of an index of `extract` or `insert` outside the tile."""
    return f"subtile index [{', '.join(map(str, index))}] is outside {list(counts)} subtiles"


def names_element(op: Op) -> bool:
    """Return whether a report about `op` names an element; a reduction or a generator computes no tile."""
    return not isinstance(op.parent_op, Reduce | Scan | Generate)


# ---------------------------------------------------------------- promises


def broken_promise(predicate: DivBy | SameElements | Bounded, element: object) -> str:
    """Return the message of an `assume` whose predicate does not hold for the element at an index."""
    return f"assumption {_predicate_text(predicate)} does not hold for element {element}"


def _predicate_text(predicate: DivBy | SameElements | Bounded) -> str:
    if isinstance(predicate, SameElements):
        return f"same_elements<{list(predicate.values)}>"
    if isinstance(predicate, Bounded):
        lower, upper = ("?" if bound is None else bound for bound in (predicate.lower, predicate.upper))
        return f"bounded<{lower}, {upper}>"
    groups = "" if predicate.every is None else f", every {predicate.every} along {predicate.along}"
    return f"div_by<{predicate.divisor}{groups}>"


# ---------------------------------------------------------------- assertions


MAX_REPORTED = 1 << 12
"""Failing elements beyond this number are counted only."""


def assertion_text(op: Assert, block: Coordinates, condition: np.ndarray) -> str:
    """Return the message, then a line for every element that is 0."""
    count = int(np.size(condition) - np.count_nonzero(condition))
    return "\n".join((f"assertion failed: {shown_line(op.message)}", *_lines(op, block, condition, count)))


def _lines(op: Assert, block: Coordinates, condition: np.ndarray, count: int) -> Iterator[str]:
    place = place_text(op.loc).rpartition(":")[0] or "(unknown):0"
    failing = np.flatnonzero(~np.asarray(condition))[:MAX_REPORTED]
    for index in zip(*np.unravel_index(failing, np.shape(condition))) if np.ndim(condition) else [()]:
        position = ", ".join(str(int(i)) for i in index)
        yield f"{place}: tile block: {list(block)}, position: [{position}]: {shown_line(op.message)}"
    if count > MAX_REPORTED:
        yield f"... and {count - MAX_REPORTED} more elements"
