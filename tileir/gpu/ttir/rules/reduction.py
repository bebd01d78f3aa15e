"""TTIR of reductions and scans (spec: reduction#top), and of the literals that are their identities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from tileir.gpu.ttir.forms import held
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import I32, TtirBlock, TtirType, TtirValue
from tileir.gpu.ttir.lib.subtiles import combination, folded, put, taken
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.ir import core as ir
from tileir.ir import types as t
from tileir.ir.attributes import Attribute, BoolAttr, FloatAttr, IntegerAttr
from tileir.ir.rules import Rules
from tileir.ops import control
from tileir.ops.reduction import Reduce, Scan


def literal(build: Builder, attr: Attribute, element: t.ElementType) -> TtirValue:
    """Return the element that a typed scalar attribute (an identity) stands for. f16 and bf16 may stand for each
    other."""
    type = TtirType(held(element))
    if isinstance(attr, BoolAttr | IntegerAttr):
        sign = (attr.value >> (element.bits - 1)) & 1 if element is t.I4 else 0
        return build.bits(type, int(attr.value) - (sign << element.bits))
    assert isinstance(attr, FloatAttr), f"expected a number, got {attr!r}"
    if attr.type is not element:
        wide = build.cast("arith.extf", build.bits(TtirType(held(attr.type)), attr.bits), "f32")
        return build.cast("arith.truncf", wide, type.element)
    return build.bits(type, attr.bits << (13 if element is t.TF32 else 0))


rules: Rules[Lower] = Rules()


@rules(Reduce, Scan)
def lower_fold(lowering: TtirLowering, op: Reduce | Scan) -> None:
    values = lowering.tiles(op.sources)
    if values[0].type.shape[op.dim] == 1:
        results = values
    elif (region := _region(lowering, op)) is not None:
        results = folded(lowering.build, values, op.dim, region, bool(op.reverse) if isinstance(op, Scan) else None)
    else:
        results = _one_by_one(lowering, op, values)
    for output, result in zip(op.outputs, results):
        lowering.bind(output, lowering.build.reshape(result, *output.type.shape))


def _combined(
    lowering: TtirLowering,
    op: Reduce | Scan,
    left: Sequence[TtirValue],
    right: Sequence[TtirValue],
    yielded: Callable[[TtirLowering, ir.Block], list[TtirValue]],
) -> list[TtirValue]:
    """Return what the body makes of two elements of each operand; `yielded` is how it is lowered."""
    arguments = [value for pair in zip(left, right) for value in pair]
    for argument, value in zip(op.body.args, arguments):
        lowering.bind(argument, value)
    return [lowering.build.reshape(value) for value in yielded(lowering, op.body)]


# ---------------------------------------------------------------- bodies of scalars


def _region(lowering: TtirLowering, op: Reduce | Scan) -> TtirBlock | None:
    """Return the body as a region, None if it does more than compute with scalars."""
    elements = [lowering.value(source).type.element for source in op.sources]
    made = combination(
        lowering.build,
        elements,
        lambda left, right: _combined(lowering, op, left, right, _straight),
        scans=isinstance(op, Scan),
    )
    return made if _is_scalar(made) else None


def _straight(lowering: TtirLowering, block: ir.Block) -> list[TtirValue]:
    """Lower a block without branches: of an ``if`` without effects both sides, and a choice. Returns what it yields."""
    *operations, end = block.ops
    for op in operations:
        if not isinstance(op, control.If):
            lowering.lower(op)
        elif op.otherwise is not None:
            condition = lowering.value(op.condition)
            sides = zip(_straight(lowering, op.then), _straight(lowering, op.otherwise))
            for output, (first, second) in zip(op.outputs, sides):
                lowering.bind(output, lowering.build.select(condition, first, second))
    return lowering.tiles(end.operands)


def _is_scalar(region: TtirBlock) -> bool:
    """Return whether a region uses no tensor and no memory."""
    return all(
        not instruction.regions
        and instruction.name != "tt.load"
        and not any(value.type.is_tensor for value in (*instruction.operands, *instruction.results))
        for instruction in region.walk()
    )


# ---------------------------------------------------------------- any body


def _one_by_one(lowering: TtirLowering, op: Reduce | Scan, values: Sequence[TtirValue]) -> list[TtirValue]:
    """Return the results of a reduction or scan that takes the elements one by one, starting with the identity
    (spec: reduction#reduce, spec: reduction#scan).

    Each round carries the running value of each operand, then each result, which a reduction keeps as a tensor of
    extent 1 along `dim`.
    """
    build, shape, dim = lowering.build, values[0].type.shape, op.dim
    scans, lanes = isinstance(op, Scan), (*shape[:dim], 1, *shape[dim + 1 :])
    single, count = (1,) * len(shape), len(values)

    def in_order(lowering: TtirLowering, block: ir.Block) -> list[TtirValue]:
        *operations, end = block.ops
        for operation in operations:
            lowering.lower(operation)
        return lowering.tiles(end.operands)

    def along(lane: TtirValue, results: list[TtirValue]) -> list[TtirValue]:
        """Take all elements along `dim` at one of the other places."""
        start = [literal(build, identity, source.tile.number) for identity, source in zip(op.identities, op.sources)]
        place = build.places(lane, *lanes)

        def step(position: TtirValue, carried: list[TtirValue]) -> list[TtirValue]:
            """Combine one element with the running values, and keep the outcome."""
            if isinstance(op, Scan) and op.reverse:
                position = build.op("arith.subi", build.integer(I32, shape[dim] - 1), position)
            here = [position if axis == dim else number for axis, number in enumerate(place)]
            elements = [build.reshape(taken(build, value, single, here)) for value in values]
            pair = (carried[:count], elements) if scans else (elements, carried[:count])
            running = _combined(lowering, op, *pair, in_order)
            target = here if scans else place
            kept = zip(carried[count:], running)
            return [*running, *(put(build, all, build.reshape(one, *single), target) for all, one in kept)]

        return build.repeated(shape[dim], [*start, *results], step)[count:]

    blank = [build.bits(value.type.shaped(*(shape if scans else lanes)), 0) for value in values]
    return build.repeated(prod(lanes), blank, along)
