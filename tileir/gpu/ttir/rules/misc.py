"""TTIR of assertions and prints, and the promises of `assume`, made known (spec: misc#assume).

A promise holds where the `assume` is executed. If the value comes from the same block, or is a parameter and the
`assume` stands at the top level of the entry, it holds wherever the value is seen, and is noted on the value itself.
Elsewhere a scalar gets a copy to note it on, which is a multiple of the divisor by the way it is computed.
"""

from __future__ import annotations

from dataclasses import replace

from tileir.analysis.ranges import power_in
from tileir.gpu.ttir.forms import Lowered, LoweredTensorView
from tileir.gpu.ttir.ir.code import TtirType, TtirValue
from tileir.gpu.ttir.lib.mailbox_writes import post_record
from tileir.gpu.ttir.lib.scalars import hint, hinted
from tileir.gpu.ttir.lib.words import Word, bits_of, from_bits
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.ir.attributes import AssumePredicate, Bounded, DivBy, SameElements
from tileir.ir.rules import Rules
from tileir.ops.misc import Assume, PrintTko

WIDEST_ACCESS = 16
"""Bytes that a thread loads or stores at once."""


rules: Rules[Lower] = Rules()


@rules(PrintTko)
def lower_print(lowering: TtirLowering, op: PrintTko) -> None:
    post_record(lowering, lowering.site(op), op.args)


@rules(Assume)
def lower_assume(lowering: TtirLowering, op: Assume) -> Lowered:
    """Return the value with the promise made known."""
    value, predicate = lowering.values[op.value], op.predicate
    if isinstance(value, LoweredTensorView):
        assert isinstance(predicate, DivBy)
        return replace(value, base=_divisible(lowering, value.base, predicate.divisor))
    assert isinstance(value, TtirValue), value
    if value.type.is_tensor:
        if _holds_everywhere(lowering, value):
            _note(lowering, value, predicate)
        return value
    if isinstance(predicate, DivBy):
        return _divisible(lowering, value, predicate.divisor)
    return _bounded(lowering, value, predicate) if isinstance(predicate, Bounded) else value


def _holds_everywhere(lowering: TtirLowering, value: TtirValue) -> bool:
    """Return whether a promise about `value` made here holds wherever it is visible."""
    block = lowering.build.block
    if value.owner is block:
        return block is lowering.body
    return any(instruction is value.owner for instruction in reversed(block.instructions))


# ---------------------------------------------------------------- scalars


def _divisible(lowering: TtirLowering, value: TtirValue, divisor: int) -> TtirValue:
    if lowering.known.divisor(value) >= divisor:
        return value
    if not _holds_everywhere(lowering, value):
        value = _rounded_down(lowering, value, divisor)
    lowering.known.promise(value, divisor)
    return hinted(value, lowering.known.divisor(value))


def _rounded_down(lowering: TtirLowering, value: TtirValue, divisor: int) -> TtirValue:
    """Return the largest multiple of `divisor` that is not above `value`: the value itself if the promise is kept."""
    if divisor >= 1 << (value.type.bits - 1):
        return value
    bits = Word(lowering.build, bits_of(lowering.build, value))
    by = bits.constant(divisor)
    return from_bits(lowering.build, (bits.quotient(by, signed=False) * by).value, value.type.element)


def _bounded(lowering: TtirLowering, value: TtirValue, predicate: Bounded) -> TtirValue:
    if not _holds_everywhere(lowering, value):
        value = lowering.build.op("arith.addi", value, lowering.build.integer(value.type, 0))
    lowering.known.promise(value, low=predicate.lower, high=predicate.upper)
    return value


# ---------------------------------------------------------------- tensors


def _note(lowering: TtirLowering, value: TtirValue, predicate: AssumePredicate) -> None:
    if isinstance(predicate, Bounded):
        lowering.known.promise(value, low=predicate.lower, high=predicate.upper)
    elif isinstance(predicate, SameElements):
        hint(value, "tt.constancy", [power_in(count) if count else 1 for count in predicate.values])
    elif predicate.every in (None, 1):
        lowering.known.promise(value, predicate.divisor)
        hint(value, "tt.divisibility", [predicate.divisor] * len(value.type.shape))
    else:
        _note_groups(value, predicate)


def _note_groups(value: TtirValue, predicate: DivBy) -> None:
    """Note groups of consecutive numbers, or of addresses of consecutive elements.

    A note replaces the analysis of Triton: it is made only where Triton finds nothing better.
    """
    assert predicate.every is not None and predicate.along is not None
    size = TtirType(value.type.pointee).bits // 8 if value.type.is_pointer else 1
    if predicate.every * size < WIDEST_ACCESS or predicate.every != power_in(predicate.every):
        return
    rank = len(value.type.shape)
    for name, number in (("tt.contiguity", predicate.every), ("tt.divisibility", predicate.divisor)):
        hint(value, name, [number if axis == predicate.along else 1 for axis in range(rank)])
