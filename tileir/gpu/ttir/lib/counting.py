"""Counters of `for` loops (spec: control#for, spec: undefined#catalogue).

Knows: how the mathematical range from the lower bound in steps to the upper bound becomes a range that ``scf.for``
counts without overflow, by signed comparison. Does not know: what the loop does.

``scf.for`` adds the step before it compares, so a sum that leaves the type would go on at its other end. Types narrower
than the counter cannot get there. Else, unless step and upper bound are known to be harmless, the iterations are
counted instead, from 0 in steps of 1, which is also the form that Triton's pipeliner meets most often. A step that is
not positive gives no iteration.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import I32, I64, TtirType, TtirValue
from tileir.gpu.ttir.lowering import TtirLowering
from tileir.ops.control import For


@dataclass(frozen=True)
class Count:
    """Lower bound, upper bound and step of a ``scf.for``, and the induction value of the program for each position."""

    bounds: tuple[TtirValue, TtirValue, TtirValue]
    induction: Callable[[TtirValue], TtirValue]

    @property
    def type(self) -> TtirType:
        return self.bounds[0].type


def count_of(lowering: TtirLowering, op: For) -> Count:
    lower, upper, step = (lowering.value(bound) for bound in (op.lower, op.upper, op.step))
    if lower.type.bits < 32 or (op.unsigned and lower.type.bits < 64):
        return _widened(lowering, op, lower, upper, step)
    if not op.unsigned and _ends_inside(lowering, upper, step):
        return Count((lower, upper, step), lambda position: position)
    return _counted(lowering, op, lower, upper, step)


def unforeseen(lowering: TtirLowering, count: Count) -> Count:
    """The same range, of which the compiler does not know that it has an element.

    If it knew that of a second loop of products, it would compute what both loops use where the first one is passed
    by, and set the sums there instead of in front of both. Then the assembler makes each ``wgmma`` wait for the one
    before.
    """
    build, (lower, upper, step) = lowering.build, count.bounds
    hidden = build.vendor.unforeseen(build, upper)
    known = lowering.known.of(upper)
    lowering.known.promise(hidden, known.divisor, known.low, known.high)
    return replace(count, bounds=(lower, hidden, step))


def _widened(lowering: TtirLowering, op: For, lower: TtirValue, upper: TtirValue, step: TtirValue) -> Count:
    """The same range in a type that has room for the sum."""
    build, narrow = lowering.build, lower.type.element
    wide = I32 if lower.type.bits < 32 else I64
    lower, upper = (build.resized(bound, wide.element, signed=not op.unsigned) for bound in (lower, upper))
    step = build.resized(step, wide.element, signed=True)
    if lowering.known.of(step).low <= 0:
        upper = build.select(_is_positive(build, step), upper, lower)
        step = build.op("arith.maxsi", step, build.integer(wide, 1))
    return Count((lower, upper, step), lambda position: build.resized(position, narrow, signed=True))


def _counted(lowering: TtirLowering, op: For, lower: TtirValue, upper: TtirValue, step: TtirValue) -> Count:
    """The iterations by number; more than the type has room for cannot be run to the end."""
    build, type = lowering.build, lower.type
    zero, one = build.integer(type, 0), build.integer(type, 1)
    any_run = build.compare("ult" if op.unsigned else "slt", lower, upper)
    if lowering.known.of(step).low <= 0:
        any_run = build.op("arith.andi", any_run, _is_positive(build, step))
        step = build.op("arith.maxsi", step, one)
    span = build.op("arith.subi", build.op("arith.subi", upper, lower), one)
    number = build.op("arith.addi", build.op("arith.divui", span, step), one)
    number = build.op("arith.minui", number, build.integer(type, (1 << (type.bits - 1)) - 1))

    def induction(position: TtirValue) -> TtirValue:
        found = build.op("arith.addi", lower, build.op("arith.muli", position, step))
        if not op.unsigned:
            lowering.known.count(found, lower, upper, step)
        return found

    return Count((zero, build.select(any_run, number, zero), one), induction)


def _is_positive(build: Builder, step: TtirValue) -> TtirValue:
    return build.compare("sgt", step, build.integer(step.type, 0))


def _ends_inside(lowering: TtirLowering, upper: TtirValue, step: TtirValue) -> bool:
    """Whether no sum of an induction value and the step leaves the type, read as signed."""
    known, limit = lowering.known.of(step), 1 << (step.type.bits - 1)
    return known.low > 0 and (known.high == 1 or lowering.known.of(upper).high <= limit - known.high)
