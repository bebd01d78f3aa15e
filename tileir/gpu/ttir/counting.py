"""How a `for` counts (specification, operations 5.4, semantics 11).

Knows: how the mathematical range from the lower bound in steps to the upper bound becomes a range that ``scf.for``
counts without overflow, by signed comparison. Does not know: what the loop does.

``scf.for`` adds the step before it compares, so a sum that leaves the type would go on at its other end. Types narrower
than the counter cannot get there. Else, unless step and upper bound are known to be harmless, the iterations are
counted instead, from 0 in steps of 1, which is also the form that Triton's pipeliner meets most often. A step that is
not positive gives no iteration.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tileir.gpu.ttir.builder import Builder
from tileir.gpu.ttir.code import I32, I64, Type, Value
from tileir.gpu.ttir.lowering import Lowering
from tileir.ir import core
from tileir.ir.attributes import Bounded
from tileir.ir.types import TileType
from tileir.ops.control import For
from tileir.ops.core import Constant
from tileir.ops.misc import Assume


@dataclass(frozen=True)
class Count:
    """Lower bound, upper bound and step of a ``scf.for``, and the induction value of the program for each position."""

    bounds: tuple[Value, Value, Value]
    induction: Callable[[Value], Value]

    @property
    def type(self) -> Type:
        return self.bounds[0].type


def count_of(lowering: Lowering, op: For) -> Count:
    type = lowering.type_of(op.lower)
    if type.bits < 32 or (op.unsigned and type.bits < 64):
        return _widened(lowering, op, I32 if type.bits < 32 else I64)
    lower, upper, step = (lowering.value(bound) for bound in (op.lower, op.upper, op.step))
    if not op.unsigned and _ends_inside(op, type.bits):
        return Count((lower, upper, step), lambda position: position)
    return _counted(lowering.build, op, lower, upper, step)


def _widened(lowering: Lowering, op: For, wide: Type) -> Count:
    """The same range in a type that has room for the sum."""
    build, narrow = lowering.build, lowering.type_of(op.lower).element
    lower, upper = (
        build.resized(lowering.value(bound), wide.element, signed=not op.unsigned) for bound in (op.lower, op.upper)
    )
    step = build.resized(lowering.value(op.step), wide.element, signed=True)
    if least(op.step) <= 0:
        upper = build.select(_is_positive(build, step), upper, lower)
        step = build.op("arith.maxsi", step, build.integer(wide, 1))
    return Count((lower, upper, step), lambda position: build.resized(position, narrow, signed=True))


def _counted(build: Builder, op: For, lower: Value, upper: Value, step: Value) -> Count:
    """The iterations by number; more than the type has room for cannot be run to the end."""
    type = lower.type
    zero, one = build.integer(type, 0), build.integer(type, 1)
    any_run = build.compare("ult" if op.unsigned else "slt", lower, upper)
    if least(op.step) <= 0:
        any_run = build.op("arith.andi", any_run, _is_positive(build, step))
        step = build.op("arith.maxsi", step, one)
    span = build.op("arith.subi", build.op("arith.subi", upper, lower), one)
    number = build.op("arith.addi", build.op("arith.divui", span, step), one)
    number = build.op("arith.minui", number, build.integer(type, (1 << (type.bits - 1)) - 1))

    def induction(position: Value) -> Value:
        return build.op("arith.addi", lower, build.op("arith.muli", position, step))

    return Count((zero, build.select(any_run, number, zero), one), induction)


def _is_positive(build: Builder, step: Value) -> Value:
    return build.compare("sgt", step, build.integer(step.type, 0))


def _ends_inside(op: For, bits: int) -> bool:
    """Whether no sum of an induction value and the step leaves the type, read as signed."""
    step = greatest(op.step)
    return least(op.step) > 0 and (step == 1 or greatest(op.upper) <= (1 << (bits - 1)) - step)


# ---------------------------------------------------------------- what is known of a scalar


def least(value: core.Value) -> int:
    """A bound of an integer scalar from below, read as signed."""
    return _bounds(value)[0]


def greatest(value: core.Value) -> int:
    """A bound of an integer scalar from above, read as signed."""
    return _bounds(value)[1]


def _bounds(value: core.Value) -> tuple[int, int]:
    op = value.op
    if isinstance(op, Constant):
        number = _signed(op.value.data, _width(value))
        return number, number
    if isinstance(op, Assume):
        return _assumed(op)
    limit = 1 << (_width(value) - 1)
    return -limit, limit - 1


def _assumed(op: Assume) -> tuple[int, int]:
    lower, upper = _bounds(op.value)
    if not isinstance(op.predicate, Bounded):
        return lower, upper
    promised = op.predicate
    return (
        lower if promised.lower is None else max(lower, promised.lower),
        upper if promised.upper is None else min(upper, promised.upper),
    )


def _width(value: core.Value) -> int:
    assert isinstance(value.type, TileType)
    return value.type.element.bits


def _signed(data: bytes, bits: int) -> int:
    pattern = int.from_bytes(data, "little") & ((1 << bits) - 1)
    return pattern - (1 << bits) if pattern >> (bits - 1) else pattern
