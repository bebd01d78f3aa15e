"""The program of a band: its tile blocks are some of those of a larger grid."""

from __future__ import annotations

from collections.abc import Sequence

from tileir.ir.core import Block, Module, Op, Value
from tileir.ir.types import I32, FunctionType, tile
from tileir.ops.core import Constant, GetNumTileBlocks, GetTileBlockId
from tileir.ops.integer import AddI
from tileir.ops.module import Entry
from tileir.passes.facts import splat
from tileir.passes.rebuilding import ChangeLog, Rebuilding

BEGINS = ("%band_begin_x", "%band_begin_y", "%band_begin_z")
"""The last parameters of a banded entry: the first tile block of the band along each axis that is cut."""
_NUMBER = tile(I32)


def banded(module: Module, grid: Sequence[int], axes: Sequence[int]) -> Module:
    """Return a program that runs a band of `grid`, on a grid shorter along `axes`; each entry gets one more parameter
    per axis.

    Functions must be inlined first: their tile block ids are not changed.
    """
    return _Banding(grid, axes).module(module)


class _Banding(Rebuilding):
    def __init__(self, grid: Sequence[int], axes: Sequence[int]) -> None:
        super().__init__(ChangeLog())
        self.grid = grid
        self.axes = tuple(axes)
        self.begins: tuple[Value, ...] = ()

    def visit(self, op: Op) -> None:
        if isinstance(op, Entry):
            self._entry(op)
        elif isinstance(op, GetNumTileBlocks) and self.begins:
            self.bind(op.results, [self._constant(extent, op) for extent in self.grid])
        elif isinstance(op, GetTileBlockId) and self.begins:
            places = list(self.emit(self.copy(op)))
            for axis, begin in zip(self.axes, self.begins):
                places[axis] = self.emit(AddI.build([_NUMBER], op.loc, lhs=places[axis], rhs=begin))[0]
            self.bind(op.results, places)
        else:
            super().visit(op)

    def _constant(self, number: int, op: Op) -> Value:
        return self.emit(Constant.build([_NUMBER], op.loc, value=splat(_NUMBER, number)))[0]

    def _entry(self, op: Entry) -> None:
        old = op.body
        body = Block([*(argument.type for argument in old.args), *(_NUMBER for _ in self.axes)])
        names = old.arg_names or [f"%arg{at}" for at in range(len(old.args))]
        body.arg_names = (*names, *(BEGINS[axis] for axis in self.axes))
        self.bind(old.args, body.args[: len(old.args)])
        self.begins = tuple(body.args[len(old.args) :])
        self.into(body, old.ops)
        self.begins = ()
        attributes = {**op.attributes, "function_type": FunctionType([one.type for one in body.args])}
        attributes.pop("arg_attrs", None)
        self.emit(Entry([], [], attributes, (body,), op.loc))
