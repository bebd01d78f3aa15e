"""Rules of `assume` and `print_tko` (spec: misc#top, spec: attributes#assume-predicates)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeGuard

from tileir.ir.attributes import Bounded, DivBy, SameElements
from tileir.ir.types import I4, INTS, PointerType, TensorViewType, TileType, Type
from tileir.ops.misc import Assume, PrintTko
from tileir.verify.kinds import value_text
from tileir.verify.rule import CheckContext, RuleTable, Violation, counted

rules = RuleTable()

_LARGEST_DIVISOR = 1 << 62
_CONVERSION = re.compile(r"[diuoxXeEfFgGaAcsSpn%]")


# ---------------------------------------------------------------- assume


@rules("E0202", Assume)
def is_predicate(op: Assume, context: CheckContext) -> Violation | None:
    if isinstance(op.predicate, DivBy | SameElements | Bounded):
        return None
    return Violation("attribute 'predicate'", "div_by, same_elements or bounded", value_text(op.predicate))


@rules("E0450", Assume)
def divisor(op: Assume, context: CheckContext) -> Violation | None:
    predicate = op.predicate
    if not isinstance(predicate, DivBy):
        return None
    found = predicate.divisor
    if 0 < found <= _LARGEST_DIVISOR and found & (found - 1) == 0:
        return None
    return Violation("divisor of div_by", "a power of two up to 2^62", str(found))


@rules("E0451", Assume)
def every_and_along(op: Assume, context: CheckContext) -> Violation | None:
    predicate = op.predicate
    if not isinstance(predicate, DivBy) or (predicate.every is None) == (predicate.along is None):
        return None
    return Violation(
        "predicate div_by", "both 'every' and 'along', or none", "'along'" if predicate.every is None else "'every'"
    )


@rules("E0452", Assume)
def predicate_fits(op: Assume, context: CheckContext) -> Violation | None:
    predicate, type = op.predicate, op.value.type
    if _fits(predicate, type):
        return None
    return Violation("operand 'value'", _wanted(predicate), repr(type))


def _fits(predicate: object, type: Type) -> bool:
    if isinstance(predicate, DivBy):
        grouped = predicate.every is not None
        if isinstance(type, TensorViewType):
            return not grouped
        return _is_tile(type, pointers=True) and not (grouped and not type.shape)
    return _is_tile(type, pointers=isinstance(predicate, SameElements))


def _is_tile(type: Type, pointers: bool) -> TypeGuard[TileType]:
    if not isinstance(type, TileType):
        return False
    return type.element in INTS or type.element is I4 or (pointers and isinstance(type.element, PointerType))


def _wanted(predicate: object) -> str:
    if isinstance(predicate, Bounded):
        return "a tile of integers for bounded"
    if isinstance(predicate, SameElements):
        return "a tile of integers or pointers for same_elements"
    if isinstance(predicate, DivBy) and predicate.every is not None:
        return "a tile of integers or pointers of rank 1 or more for div_by with 'every'"
    return "a tile of integers or pointers, or a tensor_view, for div_by"


@rules("E0453", Assume)
def along_dimension(op: Assume, context: CheckContext) -> Violation | None:
    predicate = op.predicate
    if not isinstance(predicate, DivBy) or predicate.along is None:
        return None
    rank = op.value.tile.rank
    if 0 <= predicate.along < rank:
        return None
    return Violation("'along' of div_by", f"a dimension in [0, {rank})", str(predicate.along))


@rules("E0454", Assume)
def every_extent(op: Assume, context: CheckContext) -> Violation | None:
    predicate = op.predicate
    if not isinstance(predicate, DivBy) or predicate.every is None or predicate.along is None:
        return None
    extent = op.value.tile.shape[predicate.along]
    if 0 <= predicate.every <= extent:
        return None
    return Violation(
        "'every' of div_by", f"0 to {extent}, the extent of dimension {predicate.along}", str(predicate.every)
    )


@rules("E0455", Assume)
def group_count(op: Assume, context: CheckContext) -> Violation | None:
    predicate = op.predicate
    if not isinstance(predicate, SameElements) or len(predicate.values) == op.value.tile.rank:
        return None
    expected = f"{counted(op.value.tile.rank, 'entry')}, one per dimension"
    return Violation("same_elements", expected, str(len(predicate.values)))


@rules("E0456", Assume)
def group_extents(op: Assume, context: CheckContext) -> Violation | None:
    predicate = op.predicate
    if not isinstance(predicate, SameElements):
        return None
    for dim, (group, extent) in enumerate(zip(predicate.values, op.value.tile.shape)):
        if not 0 <= group <= extent:
            return Violation(f"same_elements entry {dim}", f"0 to {extent}, the extent of that dimension", str(group))
    return None


@rules("E0457", Assume)
def bounds_range(op: Assume, context: CheckContext) -> Violation | None:
    predicate = op.predicate
    if not isinstance(predicate, Bounded):
        return None
    limit = 1 << (op.value.tile.element.bits - 1)
    for what, bound in (("lower", predicate.lower), ("upper", predicate.upper)):
        if bound is not None and not -limit <= bound < limit:
            return Violation(
                f"{what} bound", f"{-limit} to {limit - 1}, the range of {op.value.tile.element!r}", str(bound)
            )
    return None


@rules("E0458", Assume)
def bounds_order(op: Assume, context: CheckContext) -> Violation | None:
    predicate = op.predicate
    if not isinstance(predicate, Bounded) or predicate.lower is None or predicate.upper is None:
        return None
    if predicate.lower <= predicate.upper:
        return None
    return Violation("upper bound", f"at least the lower bound, {predicate.lower}", str(predicate.upper))


# ---------------------------------------------------------------- print_tko


@rules("E0460", PrintTko)
def terminated_format(op: PrintTko, context: CheckContext) -> Violation | None:
    if None not in list(_conversions(op.text)):
        return None
    return Violation("attribute 'str'", "a conversion letter after '%'", "none", hint="write '%%' for a percent sign")


@rules("E0461", PrintTko)
def format_operands(op: PrintTko, context: CheckContext) -> Violation | None:
    wanted, found = len(list(_conversions(op.text))), len(op.args)
    if wanted == found:
        return None
    return Violation("operand 'args'", f"{counted(wanted, 'value')}, as many as conversions in the format", str(found))


def _conversions(text: str) -> Iterator[str | None]:
    """Yield the conversion letter after each ``%``, None if there is none; scanning goes on right behind the ``%``
    (7.2)."""
    position = text.find("%")
    while position >= 0:
        if text.startswith("%%", position):
            position += 1
        else:
            letter = _CONVERSION.search(text, position + 1)
            yield letter[0] if letter else None
        position = text.find("%", position + 1)
