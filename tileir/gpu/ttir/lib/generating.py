"""TTIR of a tile from the body that gives each of its elements (spec: extension#experimental-generate).

Knows: that a body of element-wise operations is lowered with tensors where the program has scalars; any other body is
run in a loop over the elements. Does not know: any operation of a body.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tileir.analysis.exits import RegionExit
from tileir.gpu.ttir.ir.code import I32, TtirValue
from tileir.gpu.ttir.lib.exits import placeholder
from tileir.gpu.ttir.lib.regions import run
from tileir.gpu.ttir.lowering import TtirLowering
from tileir.ir import core
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.traits import ELEMENTWISE
from tileir.ops.extension import Generate


def generated(lowering: TtirLowering, op: Generate) -> TtirValue:
    """The tile."""
    if not op.result.type.shape:
        return run(lowering, op.body.ops).values[RegionExit.YIELD][0]
    if all(map(_is_elementwise, op.body.ops[:-1])):
        return _Widened(lowering, op.result.type.shape).run(op)
    return _element_by_element(lowering, op)


def _is_elementwise(op: Op) -> bool:
    """Whether tensors may stand for its scalars, or it is the same for all elements."""
    if op.regions or not all(isinstance(result.type, t.TileType) and not result.type.shape for result in op.results):
        return False
    return ELEMENTWISE in op.spec.traits or not op.operands


@dataclass
class _Widened:
    """A body with tensors of `shape` for what differs from element to element."""

    lowering: TtirLowering
    shape: tuple[int, ...]
    wide: dict[core.Value, core.Value] = field(default_factory=dict)
    """The tensors, by the scalars that they stand for."""

    def run(self, op: Generate) -> TtirValue:
        build = self.lowering.build
        *operations, end = op.body.ops
        for axis, argument in enumerate(op.body.args):
            self._stand(argument, build.positions(axis, *self.shape))
        for inner in operations:
            if inner.operands:
                self._lower(inner)
            else:
                self.lowering.lower(inner)
        return self.lowering.value(self._wide(end.operands[0]))

    def _lower(self, op: Op) -> None:
        """Lower the operation on tensors."""
        types: list[t.Type] = [self._type(result) for result in op.results]
        operands = [self._wide(operand) for operand in op.operands]
        widened = type(op)(operands, types, op.attributes, (), op.loc, op.segments)
        self.lowering.lower(widened)
        self.wide.update(zip(op.results, widened.results))

    def _wide(self, value: core.Value) -> core.Value:
        """The tensor for a scalar; of one that is the same for all elements a splat."""
        if value not in self.wide:
            self._stand(value, self.lowering.build.splat(self.lowering.value(value), *self.shape))
        return self.wide[value]

    def _stand(self, scalar: core.Value, tensor: TtirValue) -> None:
        self.wide[scalar] = core.Value(self._type(scalar), scalar.owner, scalar.index)
        self.lowering.bind(self.wide[scalar], tensor)

    def _type(self, scalar: core.Value) -> t.TileType:
        return t.TileType(self.shape, scalar.tile.element)


def _element_by_element(lowering: TtirLowering, op: Generate) -> TtirValue:
    """A loop that puts one element after the other into the tile."""
    build, type = lowering.build, lowering.type_of(op.result)
    bounds = [build.integer(I32, bound) for bound in (0, type.count, 1)]
    numbers = build.numbers(*type.shape)
    with build.region(I32, type) as body:
        number, tile = body.arguments
        for argument, position in zip(op.body.args, _position(lowering, number, type.shape)):
            lowering.bind(argument, position)
        element = run(lowering, op.body.ops).values[RegionExit.YIELD][0]
        build.loc = op.loc
        here = build.compare("eq", numbers, build.like(number, numbers))
        build.effect("scf.yield", build.select(here, build.like(element, tile), tile))
    return build.insert("scf.for", [*bounds, placeholder(build, type)], [type], regions=[body])[0]


def _position(lowering: TtirLowering, number: TtirValue, shape: tuple[int, ...]) -> list[TtirValue]:
    """The indices of an element from its number in row-major order."""
    build, indices = lowering.build, []
    for extent in reversed(shape):
        count = build.integer(I32, extent)
        indices.append(build.op("arith.remui", number, count))
        number = build.op("arith.divui", number, count)
    return indices[::-1]
