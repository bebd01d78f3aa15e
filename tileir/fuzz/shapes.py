"""Statements that move elements, fold them or multiply matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tileir.fuzz.draft import INTS, SHAPES, ProgramDraft
from tileir.ir import types as t
from tileir.ir.attributes import (
    IntegerAttr,
    Signedness,
)
from tileir.ir.core import Block, Op, Value
from tileir.ops import (
    control,
    extension,
    integer,
    matmul,
    packing,
    reduction,
    shapes,
)

_FOLDS = (integer.AddI, integer.XOrI, integer.OrI)


class ShapeStatements(ProgramDraft):
    """Statements on tiles as a whole."""

    def broadcast(self) -> None:
        source = self.pick(lambda type: type.count <= 16)
        if source is None:
            return
        shape = source.tile.shape
        ones = self.make(shapes.Reshape.build([t.tile(source.tile.number, 1, *shape)], source=source))
        wide = tuple(extent if extent != 1 else self.choose((2, 1, 4)) for extent in ones.tile.shape)
        self.make(shapes.Broadcast.build([t.tile(source.tile.number, *wide)], source=ones))

    def reshape(self) -> None:
        source = self.pick(lambda type: True)
        if source is None:
            return
        fitting = [shape for shape in (*SHAPES, (64,), (256,)) if int(np.prod(shape)) == source.tile.count]
        if fitting:
            self.make(shapes.Reshape.build([t.tile(source.tile.number, *self.choose(fitting))], source=source))

    def permute(self) -> None:
        source = self.pick(lambda type: type.rank >= 2)
        if source is None:
            return
        shape = source.tile.shape
        order = self.choose([(1, 0), (0, 1)] if len(shape) == 2 else [(2, 0, 1), (0, 2, 1), (1, 0, 2)])
        if len(order) == len(shape):
            type = t.tile(source.tile.number, *(shape[dim] for dim in order))
            self.make(shapes.Permute.build([type], source=source, permutation=order))

    def _part(self, type: t.TileType) -> tuple[t.TileType, list[Value]]:
        """Return the type of a subtile, and the number of one of them in each dimension."""
        shape = tuple(max(1, extent // self.choose((2, 1, 4))) for extent in type.shape)
        places = [self.number(self.choose(range(whole // size))) for whole, size in zip(type.shape, shape)]
        return t.tile(type.element, *shape), places

    def cut(self) -> None:
        source = self.pick(lambda type: type.rank >= 1)
        if source is not None:
            type, places = self._part(source.tile)
            self.make(shapes.Extract.build([type], source=source, indices=places))

    def insert(self) -> None:
        whole = self.pick(lambda type: type.rank >= 1)
        if whole is not None:
            type, places = self._part(whole.tile)
            part = self.like(type)
            self.make(shapes.Insert.build([whole.type], source=part, destination=whole, indices=places))

    def cat(self) -> None:
        lhs = self.pick(lambda type: 1 <= type.rank <= 2 and type.count <= 64)
        if lhs is not None:
            dim = self.choose(range(lhs.tile.rank))
            shape = [extent * (2 if at == dim else 1) for at, extent in enumerate(lhs.tile.shape)]
            self.make(shapes.Cat.build([t.tile(lhs.tile.number, *shape)], lhs=lhs, rhs=self.like(lhs.tile), dim=dim))

    def pack(self) -> None:
        source = self.pick(lambda type: type.rank == 1 and type.element is not t.I8 and type.count >= 8)
        if source is None or source.tile.number.is_float:
            return
        bits = source.tile.count * (1 if source.tile.number is t.I1 else source.tile.number.memory_bits)
        packed = self.make(packing.Pack.build([t.tile(t.I8, bits // 8)], source=source))
        wide = self.choose((t.I16, t.I1, t.I32))
        count = bits // (1 if wide is t.I1 else wide.memory_bits)
        if 0 < count <= 256 and t.I8 in self.elements and wide in self.elements:
            self.make(packing.Unpack.build([t.tile(wide, count)], source=packed))

    def alias(self) -> None:
        value = self.pick(lambda type: True)
        if value is not None:
            self.make(extension.OptimizationBarrier.build([value.type], source=value))

    # ------------------------------------------------------------ folds

    def _body(self, element: t.ElementType, cls: type[Op]) -> Block:
        body = Block([t.tile(element), t.tile(element)])
        fields: dict[str, Any] = {"lhs": body.args[0], "rhs": body.args[1]}
        total = body.append(cls.build([t.tile(element)], **fields)).results[0]
        body.append(control.Yield.build(operands=[total]))
        return body

    def _folded(self, cls: type[Op], **fields: Any) -> None:
        source = self.pick(lambda type: type.rank >= 1 and type.element in INTS)
        if source is None:
            return
        shape, dim = source.tile.shape, self.choose(range(source.tile.rank))
        rest = shape if cls is reduction.Scan else (*shape[:dim], *shape[dim + 1 :])
        element = source.tile.number
        self.make(
            cls.build(
                [t.tile(element, *rest)],
                operands=[source],
                dim=dim,
                identities=(IntegerAttr(0, element),),
                body=self._body(element, self.choose(_FOLDS)),
                **fields,
            )
        )

    def reduce(self) -> None:
        self._folded(reduction.Reduce)

    def scan(self) -> None:
        self._folded(reduction.Scan, reverse=self.choose((False, True)))

    def multiply(self) -> None:
        """Make a sum of products that is exact; its accumulator is often an older tile."""
        factors = self.choose((((4, 4), (4, 4), (4, 4)), ((8, 2), (2, 8), (8, 8)), ((2, 8), (8, 2), (2, 2))))
        lhs, rhs = (self.like(t.tile(t.I8, *shape)) for shape in factors[:2])
        acc = self.like(t.tile(t.I32, *factors[2]))
        readings: dict[str, Any] = {
            name: self.choose(tuple(Signedness)) for name in ("signedness_lhs", "signedness_rhs")
        }
        self.make(matmul.MmaI.build([acc.type], lhs=lhs, rhs=rhs, acc=acc, **readings))

    def generate(self) -> None:
        if t.I32 not in self.elements:
            return
        shape = self.choose(SHAPES[2:])
        outside = self.like(t.tile(t.I32))
        body = Block([t.tile(t.I32)] * len(shape))
        total = outside
        for argument in body.args:
            total = body.append(integer.AddI.build([t.tile(t.I32)], lhs=total, rhs=argument)).results[0]
        body.append(control.Yield.build(operands=[total]))
        self.make(extension.Generate.build([t.tile(t.I32, *shape)], body=body))
