"""TTIR of reductions and scans (spec: reduction#top), and of the literals that are their identities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tileir.gpu.ttir.forms import held
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import I32, TtirBlock, TtirType, TtirValue
from tileir.gpu.ttir.lib.subtiles import REDUCE_END, SCAN_END, combination, put, reduced, scanned, taken
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


@rules(Reduce)
def lower_reduce(lowering: TtirLowering, op: Reduce) -> None:
    values = [lowering.value(source) for source in op.sources]
    shape = op.outputs[0].type.shape
    region = None
    if values[0].type.shape[op.dim] == 1:
        results = [lowering.build.reshape(value, *shape) for value in values]
    elif (region := _region(lowering, op, REDUCE_END)) is not None:
        results = reduced(lowering.build, values, op.dim, region)
    else:
        results = [lowering.build.reshape(value, *shape) for value in _Sequence(lowering, op).run()]
    _bind(lowering, op, results)


@rules(Scan)
def lower_scan(lowering: TtirLowering, op: Scan) -> None:
    values = [lowering.value(source) for source in op.sources]
    if values[0].type.shape[op.dim] == 1:
        results = values
    elif (region := _region(lowering, op, SCAN_END)) is not None:
        results = scanned(lowering.build, values, op.dim, bool(op.reverse), region)
    else:
        results = _Sequence(lowering, op).run()
    _bind(lowering, op, results)


def _bind(lowering: TtirLowering, op: Reduce | Scan, results: Sequence[TtirValue]) -> None:
    for output, result in zip(op.outputs, results):
        lowering.bind(output, result)


# ---------------------------------------------------------------- bodies of scalars


def _region(lowering: TtirLowering, op: Reduce | Scan, end: str) -> TtirBlock | None:
    """Return the body as a region, None if it does more than compute with scalars."""
    elements = [lowering.value(source).type.element for source in op.sources]
    made = combination(lowering.build, elements, lambda left, right: _combined(lowering, op.body, left, right), end)
    return made if _is_scalar(made) else None


def _combined(
    lowering: TtirLowering, body: ir.Block, left: Sequence[TtirValue], right: Sequence[TtirValue]
) -> list[TtirValue]:
    arguments = [value for pair in zip(left, right) for value in pair]
    for argument, value in zip(body.args, arguments):
        lowering.bind(argument, value)
    return [lowering.build.reshape(value) for value in _straight(lowering, body)]


def _straight(lowering: TtirLowering, block: ir.Block) -> list[TtirValue]:
    """Return the code of a block without branches, and what the block yields."""
    for op in block.ops:
        if isinstance(op, control.Yield):
            return [lowering.value(value) for value in op.operands]
        if isinstance(op, control.If):
            _both_sides(lowering, op)
        else:
            lowering.lower(op)
    return []


def _both_sides(lowering: TtirLowering, op: control.If) -> None:
    """Emit an ``if`` without effects: the results of both sides, and a choice."""
    condition = lowering.value(op.condition)
    if op.otherwise is None:
        return
    sides = zip(_straight(lowering, op.then), _straight(lowering, op.otherwise))
    for output, (first, second) in zip(op.outputs, sides):
        lowering.bind(output, lowering.build.select(condition, first, second))


def _is_scalar(region: TtirBlock) -> bool:
    """Return whether a region uses no tensor and no memory."""
    return all(
        not instruction.regions
        and instruction.name != "tt.load"
        and not any(value.type.is_tensor for value in (*instruction.operands, *instruction.results))
        for instruction in region.walk()
    )


# ---------------------------------------------------------------- any body


@dataclass
class _Sequence:
    """A reduction or scan that takes the elements one by one, starting with the identity (spec: reduction#reduce,
    spec: reduction#scan).

    Each round carries the running value of each operand, then each result, which a reduction keeps as a tensor of
    extent 1 along `dim`.
    """

    lowering: TtirLowering
    op: Reduce | Scan

    @property
    def build(self) -> Builder:
        return self.lowering.build

    @property
    def shape(self) -> tuple[int, ...]:
        return self.lowering.value(self.op.sources[0]).type.shape

    def run(self) -> list[TtirValue]:
        """Return the results, in the shapes that they are carried in."""
        build, dim = self.build, self.op.dim
        shape = self.shape
        lanes = TtirType("i32", (*shape[:dim], 1, *shape[dim + 1 :]))
        kept = shape if isinstance(self.op, Scan) else lanes.shape
        values = [self.lowering.value(source) for source in self.op.sources]
        blank = [build.bits(value.type.shaped(*kept), 0) for value in values]
        return self._repeated(lanes.count, blank, lambda lane, results: self._lane(lanes.shape, lane, results))

    def _lane(self, lanes: tuple[int, ...], lane: TtirValue, results: list[TtirValue]) -> list[TtirValue]:
        """Return all elements along `dim` at one of the other places."""
        start = [literal(self.build, identity, source.tile.number) for identity, source in self._operands()]
        place = _place(self.build, lanes, lane)
        count = len(start)

        def step(position: TtirValue, carried: list[TtirValue]) -> list[TtirValue]:
            return self._step(place, position, carried[:count], carried[count:])

        return self._repeated(self.shape[self.op.dim], [*start, *results], step)[count:]

    def _step(
        self, place: list[TtirValue], position: TtirValue, running: list[TtirValue], results: list[TtirValue]
    ) -> list[TtirValue]:
        """Combine one element with the running values, and keep the outcome."""
        build, dim = self.build, self.op.dim
        scans = isinstance(self.op, Scan)
        if isinstance(self.op, Scan) and self.op.reverse:
            position = build.op("arith.subi", build.integer(I32, self.shape[dim] - 1), position)
        here = [position if axis == dim else number for axis, number in enumerate(place)]
        single = (1,) * len(here)
        elements = [
            build.reshape(taken(build, self.lowering.value(source), single, here)) for source in self.op.sources
        ]
        left, right = (running, elements) if scans else (elements, running)
        running = self._body(left, right)
        target = here if scans else place
        kept = [put(build, result, build.reshape(value, *single), target) for result, value in zip(results, running)]
        return [*running, *kept]

    def _body(self, left: list[TtirValue], right: list[TtirValue]) -> list[TtirValue]:
        arguments = [value for pair in zip(left, right) for value in pair]
        for argument, value in zip(self.op.body.args, arguments):
            self.lowering.bind(argument, value)
        *operations, end = self.op.body.ops
        for operation in operations:
            self.lowering.lower(operation)
        return [self.build.reshape(self.lowering.value(value)) for value in end.operands]

    def _operands(self) -> list[tuple[Attribute, ir.Value]]:
        return list(zip(self.op.identities, self.op.sources))

    def _repeated(
        self, count: int, initial: list[TtirValue], step: Callable[[TtirValue, list[TtirValue]], list[TtirValue]]
    ) -> list[TtirValue]:
        """Return the values that `step` carries after `count` rounds; it gets the number of the round."""
        build = self.build
        types = [value.type for value in initial]
        with build.region(I32, *types) as body:
            build.effect("scf.yield", *step(body.arguments[0], body.arguments[1:]))
        bounds = [build.integer(I32, number) for number in (0, count, 1)]
        return build.insert("scf.for", [*bounds, *initial], types, regions=[body])


def _place(build: Builder, shape: Sequence[int], number: TtirValue) -> list[TtirValue]:
    """Return the position along each axis of the element of the given number, in row-major order."""
    place: list[TtirValue] = []
    for extent in reversed(shape):
        place.insert(0, build.op("arith.remui", number, build.integer(I32, extent)))
        number = build.op("arith.divui", number, build.integer(I32, extent))
    return place
