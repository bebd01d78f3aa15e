"""Random statements: control flow, element-wise arithmetic, shapes, folds and products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tileir.cpu.lowering.safepoints import PATIENCE
from tileir.fuzz.draft import ACQUIRE, FLOATS, INTS, SHAPES, STORED, ProgramDraft, ProgramScope
from tileir.fuzz.memory import MemoryStatements
from tileir.ir import types as t
from tileir.ir.attributes import (
    IntegerAttr,
    Ordering,
    Predicate,
    Signedness,
)
from tileir.ir.core import Block, Op, Value
from tileir.ops import (
    control,
    conversion,
    core,
    extension,
    floating,
    integer,
    matmul,
    packing,
    reduction,
    shapes,
)


class FlowStatements(MemoryStatements):
    """Loops and branches."""

    def _carried(self) -> list[Value]:
        """Return one to three values to carry, tiles or scalars; the same one may come twice."""
        found = [value for value in (self.pick(lambda type: True) for _ in range(self.choose((1, 2, 3)))) if value]
        return found

    def _inside(self, block: Block, values: Sequence[Value], fill: Callable[[], None]) -> None:
        """Make statements of a region, which sees what is known outside; ended by `fill`."""
        outer = self.scope
        token = block.args[-1] if block.args and isinstance(block.args[-1].type, t.TokenType) else outer.token
        self.scope = ProgramScope(block, [*outer.values, *values], token, outer.depth + 1)
        for _ in range(self.choose((1, 2, 3, 4))):
            self.statement()
        fill()
        self.scope = outer

    def _results(self, carried: Sequence[Value]) -> list[Value]:
        """Return values of the types carried, then the token. A carried value may come back in another place."""
        return [*(self.like(value.tile) for value in carried), self.scope.token]

    def counted(self) -> None:
        carried = self._carried()
        types = [*(value.type for value in carried), t.TOKEN]
        lower, upper, step = (self.a_number(self.choose(options)) for options in ((0, 1), (3, 1, 0), (1, 2)))
        body = Block([t.tile(t.I32), *types])
        start = [*carried, self.scope.token]

        def end() -> None:
            self.scope.block.append(control.Continue.build(operands=self._results(carried)))

        self._inside(body, [*body.args[1:-1], *([body.args[0]] if t.I32 in self.elements else [])], end)
        fields: dict[str, Any] = {
            "lowerBound": lower,
            "upperBound": upper,
            "step": step,
            "initValues": start,
            "body": body,
        }
        self.emit(control.For.build(types, **fields))

    def loop(self) -> None:
        """Make a loop of at most three rounds: a counter ends it, early or late in the body."""
        self._loop((1, 2, 3), lambda: None)

    def wait(self) -> None:
        """Make a loop that looks for writes of other tile blocks, so long that native code lets these run."""
        often = PATIENCE + 2 if self.scope.depth == 0 else 2
        self._loop((often, 1), lambda: self.load_pointers(SHAPES[:3], (ACQUIRE,)))

    def _loop(self, rounds: Sequence[int], begin_end: Callable[[], None]) -> None:
        carried = self._carried()
        types = [*(value.type for value in carried), t.TOKEN]
        zero, one, limit = self.a_number(0), self.a_number(1), self.a_number(self.choose(rounds))
        body = Block([t.tile(t.I32), *types])
        start = [zero, *carried, self.scope.token]

        def end() -> None:
            begin_end()
            self._end_of_loop(body.args[0], one, limit, carried)

        self._inside(body, body.args[1:-1], end)
        self.emit(control.Loop.build(types, initValues=start, body=body))

    def _end_of_loop(self, counter: Value, one: Value, limit: Value, carried: Sequence[Value]) -> None:
        block = self.scope.block
        following = block.append(integer.AddI.build([t.tile(t.I32)], lhs=counter, rhs=one)).results[0]
        done = block.append(
            integer.CmpI.build(
                [t.tile(t.I1)],
                comparison_predicate=Predicate.GREATER_THAN_OR_EQUAL,
                signedness=Signedness.SIGNED,
                lhs=following,
                rhs=limit,
            )
        ).results[0]
        then = Block()
        then.append(control.Break.build(operands=self._results(carried)))
        block.append(control.If.build(condition=done, then=then))
        if self.choose((False, True)):
            self.statement()
        self.scope.block.append(control.Continue.build(operands=[following, *self._results(carried)]))

    def branch(self) -> None:
        condition = self.like(t.tile(t.I1))
        carried = self._carried()
        types = [*(value.type for value in carried), t.TOKEN]
        then, otherwise = Block(), Block()
        for block in (then, otherwise):
            self._inside(block, (), lambda: self._end_of_branch(carried))
        self.emit(control.If.build(types, condition=condition, then=then, otherwise=otherwise))

    def _end_of_branch(self, carried: Sequence[Value]) -> None:
        self.scope.block.append(control.Yield.build(operands=self._results(carried)))


# ---------------------------------------------------------------- element by element


_BINARY = {
    True: (integer.AddI, integer.SubI, integer.MulI, integer.AndI, integer.OrI, integer.XOrI, integer.MaxI,
           integer.MinI, integer.ShlI, integer.ShrI, integer.MulhiI),
    False: (floating.AddF, floating.SubF, floating.MulF, floating.MaxF, floating.MinF, floating.DivF),
}  # fmt: skip
_UNARY = {
    True: (integer.NegI, integer.AbsI),
    False: (floating.NegF, floating.AbsF, floating.Ceil, floating.Floor, floating.Sqrt),
}
_FOLDS = (integer.AddI, integer.XOrI, integer.OrI)


class ElementwiseStatements(ProgramDraft):
    """Statements on the elements of tiles."""

    def binary(self) -> None:
        lhs = self.any_of((*INTS, *FLOATS))
        if lhs is None:
            return
        cls = self.choose(_BINARY[lhs.tile.number.is_int])
        left, right = [operand.name for operand in cls.spec.operands][:2]
        fields: dict[str, Any] = {left: lhs, right: self.like(lhs.tile)}
        if "signedness" in cls.spec.attr_index:
            fields["signedness"] = self.choose(tuple(Signedness))
        self.make(cls.build([lhs.type], **fields))

    def unary(self) -> None:
        source = self.any_of((*INTS, *FLOATS))
        if source is not None:
            self.make(self.choose(_UNARY[source.tile.number.is_int]).build([source.type], source=source))

    def fused(self) -> None:
        lhs = self.any_of(FLOATS)
        if lhs is not None:
            rhs, acc = self.like(lhs.tile), self.like(lhs.tile)
            self.make(floating.Fma.build([lhs.type], lhs=lhs, rhs=rhs, acc=acc))

    def remainder(self) -> None:
        lhs = self.any_of(FLOATS)
        if lhs is not None:
            self.make(floating.RemF.build([lhs.type], lhs=lhs, rhs=self.like(lhs.tile)))

    def bitcast(self) -> None:
        """Read integers as floats, and constant floats as integers: the bits of a computed NaN are not fixed."""
        source = self.any_of(INTS)
        if source is None:
            return
        here = source.tile.number
        others = [element for element in self.elements if element.is_float and element.bits == here.bits]
        if not others:
            return
        type = source.tile.with_element(self.choose(others))
        if self.choose((False, True)):
            self.make(conversion.Bitcast.build([source.type], source=self.constant(type)))
        else:
            self.make(conversion.Bitcast.build([type], source=source))

    def compare(self) -> None:
        lhs = self.any_of((*INTS, *FLOATS))
        if lhs is None:
            return
        result, rhs = lhs.tile.with_element(t.I1), self.like(lhs.tile)
        predicate = self.choose(tuple(Predicate))
        if lhs.tile.number.is_int:
            reading = self.choose(tuple(Signedness))
            op: Op = integer.CmpI.build([result], comparison_predicate=predicate, signedness=reading, lhs=lhs, rhs=rhs)
        else:
            order = self.choose(tuple(Ordering))
            fields: dict[str, Any] = {"comparison_predicate": predicate, "comparison_ordering": order}
            op = floating.CmpF.build([result], lhs=lhs, rhs=rhs, **fields)
        self.make(op)

    def select(self) -> None:
        condition = self.any_of((t.I1,))
        if condition is None:
            return
        type = condition.tile.with_element(self.choose(self.elements))
        yes, no = self.like(type), self.like(type)
        self.make(core.Select.build([type], cond=condition, val_if_true=yes, val_if_false=no))

    def convert(self) -> None:
        source = self.any_of(STORED)
        if source is None:
            return
        here, there = source.tile.number, self.choose(self.elements)
        result = source.tile.with_element(there)
        source_only: dict[str, Any] = {"from": source}
        fields: dict[str, Any] = {**source_only, "signedness": self.choose(tuple(Signedness))}
        if here.is_int and there.is_int:
            if there.bits > here.bits:
                self.make(conversion.ExtI.build([result], **fields))
            elif there.bits < here.bits:
                self.make(conversion.TruncI.build([result], **source_only))
        elif here.is_int:
            self.make(conversion.IToF.build([result], **fields))
        elif there.is_int:
            self.make(conversion.FToI.build([result], **fields))
        elif there is not here:
            self.make(conversion.FToF.build([result], **source_only))


# ---------------------------------------------------------------- shapes, folds, products


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

    def _folded(self, cls: type[Op], source: Value, **fields: Any) -> Op:
        shape, dim = source.tile.shape, self.choose(range(source.tile.rank))
        rest = shape if cls is reduction.Scan else (*shape[:dim], *shape[dim + 1 :])
        element = source.tile.number
        return cls.build(
            [t.tile(element, *rest)],
            operands=[source],
            dim=dim,
            identities=(IntegerAttr(0, element),),
            body=self._body(element, self.choose(_FOLDS)),
            **fields,
        )

    def _foldable(self) -> Value | None:
        return self.pick(lambda type: type.rank >= 1 and type.element in INTS)

    def reduce(self) -> None:
        source = self._foldable()
        if source is not None:
            self.make(self._folded(reduction.Reduce, source))

    def scan(self) -> None:
        source = self._foldable()
        if source is not None:
            self.make(self._folded(reduction.Scan, source, reverse=self.choose((False, True))))

    def large(self) -> None:
        """Scan and reduce a tile of more elements than native code goes through at once."""
        source = self._foldable()
        if source is None:
            return
        count, block = source.tile.count, self.scope.block
        row = block.append(shapes.Reshape.build([t.tile(source.tile.number, 1, count)], source=source)).results[0]
        many = t.tile(source.tile.number, self.choose((1 << 15, 1 << 16)) // count, count)
        tile = block.append(shapes.Broadcast.build([many], source=row)).results[0]
        scanned = self._folded(reduction.Scan, tile, reverse=self.choose((False, True)))
        self.make(self._folded(reduction.Reduce, block.append(scanned).results[0]))

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
