"""Well-typed programs made by choices: every kind of operation whose result is fixed to the bit.

Knows: how a program is put together. Does not know: who chooses (a random generator, hypothesis), nor what a program is
run for. One token runs through all memory operations, so that the order of effects is that of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

import tileir
from tests.cpu.generated_data import SIDE, numbers
from tileir.ir import types as t
from tileir.ir.attributes import (
    AtomicMode,
    DenseElements,
    IntegerAttr,
    MemoryOrdering,
    MemoryScope,
    Ordering,
    Predicate,
    Signedness,
)
from tileir.ir.core import Block, Op, Value
from tileir.ir.storage import DTYPES
from tileir.ops import (
    atomics,
    control,
    conversion,
    core,
    extension,
    floating,
    integer,
    matmul,
    packing,
    pointers,
    reduction,
    shapes,
    views,
)
from tileir.ops.module import Entry, ModuleOp

T = TypeVar("T")
INTS = (t.I1, t.I8, t.I16, t.I32, t.I64)
FLOATS = (t.F16, t.BF16, t.F32, t.F64)
STORED = (*INTS, *FLOATS, t.TF32, t.F8E4M3FN, t.F8E5M2)
SHAPES = ((), (1,), (4,), (8,), (16,), (4, 4), (2, 8), (8, 2), (1, 8), (8, 1), (16, 16), (2, 2, 4))
WEAK = MemoryOrdering.WEAK

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


@dataclass
class Scope:
    """Values that may be used, newest last, and the token of the last memory operation."""

    block: Block
    values: list[Value]
    token: Value
    depth: int = 0


class Builder:
    """Makes one program; ``choose(options)`` gives one of a sequence, and prefers the first ones when it shrinks."""

    def __init__(self, choose: Callable[[Sequence[T]], T], elements: Sequence[t.ElementType]) -> None:
        self.choose = choose
        self.elements = elements
        self.bases: dict[t.ElementType, Value] = {}
        self.scope: Scope

    # ------------------------------------------------------------ the frame

    def program(self, statements: int) -> tileir.Module:
        body = Block([t.tile(t.PointerType(element)) for element in self.elements])
        body.arg_names = tuple(f"%{element.name}" for element in self.elements)
        self.bases = dict(zip(self.elements, body.args))
        token = body.append(pointers.MakeToken.build([t.TOKEN])).results[0]
        self.scope = Scope(body, [], token)
        for element in self.elements:
            self.constant(t.tile(element, *self.choose(SHAPES[2:6])))
        for _ in range(statements):
            self.statement()
        for element in self.elements:
            self.store_something(element)
        body.append(control.Return.build())
        signature = t.FunctionType(tuple(argument.type for argument in body.args))
        entry = Entry.build(sym_name="k", function_type=signature, body=body)
        items = Block()
        items.append(entry)
        return tileir.parse(tileir.to_text(tileir.Module(ModuleOp.build(sym_name="generated", body=items))))

    def emit(self, op: Op) -> Value | None:
        self.scope.block.append(op)
        for result in op.results:
            if isinstance(result.type, t.TokenType):
                self.scope.token = result
            elif isinstance(result.type, t.TileType) and isinstance(result.type.element, t.ElementType):
                self.scope.values.append(result)
        return op.results[0] if op.results else None

    def make(self, op: Op) -> Value:
        value = self.emit(op)
        assert value is not None
        return value

    def statement(self) -> None:
        kinds = [
            self.binary, self.load, self.store, self.unary, self.compare, self.select, self.convert, self.broadcast,
            self.reshape, self.permute, self.cut, self.cat, self.insert, self.reduce, self.scan, self.load_pointers,
            self.store_pointers, self.atomic, self.alias, self.generate, self.pack,
            self.multiply,
            *[self.load, self.store, self.update] * 3,
        ]  # fmt: skip
        if self.scope.depth < 2:
            kinds += [self.branch, self.counted, self.loop] * 2
        self.choose(kinds)()

    # ------------------------------------------------------------ values

    def pick(self, accepts: Callable[[t.TileType], bool]) -> Value | None:
        found = [value for value in reversed(self.scope.values) if accepts(value.type)]
        return self.choose(found) if found else None

    def any_of(self, elements: Sequence[t.ElementType]) -> Value | None:
        return self.pick(lambda type: type.element in elements)

    def like(self, type: t.TileType) -> Value:
        """A value of that type: one there is, or a new one."""
        found = [value for value in reversed(self.scope.values) if value.type is type]
        return self.choose([*found[:4], None]) or self.constant(type)

    def constant(self, type: t.TileType) -> Value:
        seed = self.choose(range(4))
        count = type.count if self.choose((True, False)) else 1
        data = numbers(type.element, count, seed)
        return self.make(core.Constant.build([type], value=DenseElements.of(type, data.tobytes())))

    def number(self, value: int, element: t.ElementType = t.I32) -> Value:
        data = np.array(value, DTYPES[element]).tobytes()
        return self.make(core.Constant.build([t.tile(element)], value=DenseElements(t.tile(element), data)))

    # ------------------------------------------------------------ element-wise

    def binary(self) -> None:
        lhs = self.any_of((*INTS, *FLOATS))
        if lhs is None:
            return
        cls = self.choose(_BINARY[lhs.type.element.is_int])
        left, right = [operand.name for operand in cls.spec.operands][:2]
        fields: dict[str, object] = {left: lhs, right: self.like(lhs.type)}
        if "signedness" in cls.spec.attr_index:
            fields["signedness"] = self.choose(tuple(Signedness))
        self.make(cls.build([lhs.type], **fields))

    def unary(self) -> None:
        source = self.any_of((*INTS, *FLOATS))
        if source is not None:
            self.make(self.choose(_UNARY[source.type.element.is_int]).build([source.type], source=source))

    def compare(self) -> None:
        lhs = self.any_of((*INTS, *FLOATS))
        if lhs is None:
            return
        result, rhs = lhs.type.with_element(t.I1), self.like(lhs.type)
        predicate = self.choose(tuple(Predicate))
        if lhs.type.element.is_int:
            reading = self.choose(tuple(Signedness))
            op = integer.CmpI.build([result], comparison_predicate=predicate, signedness=reading, lhs=lhs, rhs=rhs)
        else:
            order = self.choose(tuple(Ordering))
            fields = {"comparison_predicate": predicate, "comparison_ordering": order}
            op = floating.CmpF.build([result], lhs=lhs, rhs=rhs, **fields)
        self.make(op)

    def select(self) -> None:
        condition = self.any_of((t.I1,))
        if condition is None:
            return
        type = condition.type.with_element(self.choose(self.elements))
        yes, no = self.like(type), self.like(type)
        self.make(core.Select.build([type], cond=condition, val_if_true=yes, val_if_false=no))

    def convert(self) -> None:
        source = self.any_of(STORED)
        if source is None:
            return
        here, there = source.type.element, self.choose(self.elements)
        result = source.type.with_element(there)
        fields = {"from": source, "signedness": self.choose(tuple(Signedness))}
        if here.is_int and there.is_int:
            if there.bits > here.bits:
                self.make(conversion.ExtI.build([result], **fields))
            elif there.bits < here.bits:
                self.make(conversion.TruncI.build([result], **{"from": source}))
        elif here.is_int:
            self.make(conversion.IToF.build([result], **fields))
        elif there.is_int:
            self.make(conversion.FToI.build([result], **fields))
        elif there is not here:
            self.make(conversion.FToF.build([result], **{"from": source}))

    # ------------------------------------------------------------ shapes

    def broadcast(self) -> None:
        source = self.pick(lambda type: type.count <= 16)
        if source is None:
            return
        shape = source.type.shape
        ones = self.make(shapes.Reshape.build([t.tile(source.type.element, 1, *shape)], source=source))
        wide = tuple(extent if extent != 1 else self.choose((2, 1, 4)) for extent in ones.type.shape)
        self.make(shapes.Broadcast.build([t.tile(source.type.element, *wide)], source=ones))

    def reshape(self) -> None:
        source = self.pick(lambda type: True)
        if source is None:
            return
        fitting = [shape for shape in (*SHAPES, (64,), (256,)) if int(np.prod(shape)) == source.type.count]
        if fitting:
            self.make(shapes.Reshape.build([t.tile(source.type.element, *self.choose(fitting))], source=source))

    def permute(self) -> None:
        source = self.pick(lambda type: type.rank >= 2)
        if source is None:
            return
        shape = source.type.shape
        order = self.choose([(1, 0), (0, 1)] if len(shape) == 2 else [(2, 0, 1), (0, 2, 1), (1, 0, 2)])
        if len(order) == len(shape):
            type = t.tile(source.type.element, *(shape[dim] for dim in order))
            self.make(shapes.Permute.build([type], source=source, permutation=order))

    def _part(self, type: t.TileType) -> tuple[t.TileType, list[Value]]:
        """The type of a subtile, and the number of one of them in each dimension."""
        shape = tuple(max(1, extent // self.choose((2, 1, 4))) for extent in type.shape)
        places = [self.number(self.choose(range(whole // size))) for whole, size in zip(type.shape, shape)]
        return t.tile(type.element, *shape), places

    def cut(self) -> None:
        source = self.pick(lambda type: type.rank >= 1)
        if source is not None:
            type, places = self._part(source.type)
            self.make(shapes.Extract.build([type], source=source, indices=places))

    def insert(self) -> None:
        whole = self.pick(lambda type: type.rank >= 1)
        if whole is not None:
            type, places = self._part(whole.type)
            part = self.like(type)
            self.make(shapes.Insert.build([whole.type], source=part, destination=whole, indices=places))

    def cat(self) -> None:
        lhs = self.pick(lambda type: 1 <= type.rank <= 2 and type.count <= 64)
        if lhs is not None:
            dim = self.choose(range(lhs.type.rank))
            shape = [extent * (2 if at == dim else 1) for at, extent in enumerate(lhs.type.shape)]
            self.make(shapes.Cat.build([t.tile(lhs.type.element, *shape)], lhs=lhs, rhs=self.like(lhs.type), dim=dim))

    def pack(self) -> None:
        source = self.pick(lambda type: type.rank == 1 and type.element is not t.I8 and type.count >= 8)
        if source is None or source.type.element.is_float:
            return
        bits = source.type.count * (1 if source.type.element is t.I1 else source.type.element.memory_bits)
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
        fields: dict[str, object] = {"lhs": body.args[0], "rhs": body.args[1]}
        total = body.append(cls.build([t.tile(element)], **fields)).results[0]
        body.append(control.Yield.build(operands=[total]))
        return body

    def _folded(self, cls: type[Op], **fields: object) -> None:
        source = self.pick(lambda type: type.rank >= 1 and type.element in INTS)
        if source is None:
            return
        shape, dim = source.type.shape, self.choose(range(source.type.rank))
        rest = shape if cls is reduction.Scan else (*shape[:dim], *shape[dim + 1 :])
        element = source.type.element
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
        """A sum of products that is exact; its accumulator is often an older tile."""
        factors = self.choose((((4, 4), (4, 4), (4, 4)), ((8, 2), (2, 8), (8, 8)), ((2, 8), (8, 2), (2, 2))))
        lhs, rhs = (self.like(t.tile(t.I8, *shape)) for shape in factors[:2])
        acc = self.like(t.tile(t.I32, *factors[2]))
        readings = {name: self.choose(tuple(Signedness)) for name in ("signedness_lhs", "signedness_rhs")}
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

    # ------------------------------------------------------------ memory

    def view(self, element: t.ElementType, shape: tuple[int, ...]) -> Value:
        """A partition or strided view of the array of `element` for tiles of `shape`."""
        strides = self.choose(((SIDE, 1), (1, SIDE), (SIDE, 2))) if len(shape) == 2 else (self.choose((1, 2)),)
        extents = (SIDE, SIDE if 2 not in strides else SIDE // 2) if len(shape) == 2 else (self.choose((SIDE, 21)),)
        tensor = t.TensorViewType(element, extents, strides)
        made = self.scope.block.append(views.MakeTensorView.build([tensor], base=self.bases[element])).results[0]
        padding = self.choose((t.PaddingValue.ZERO, None))
        dims = self.choose(((0, 1), (1, 0))) if len(shape) == 2 else (0,)
        if self.choose((True, False)):
            type: t.TileViewType = t.PartitionViewType(shape, tensor, padding, dims)
            return self.scope.block.append(views.MakePartitionView.build([type], tensor_view=made)).results[0]
        steps = tuple(self.choose((3, 1, extent)) for extent in shape)
        type = t.StridedViewType(shape, steps, tensor, padding, dims)
        return self.scope.block.append(views.MakeStridedView.build([type], tensor_view=made)).results[0]

    def _views(self) -> list[Value]:
        return [op.results[0] for op in self.scope.block.ops if isinstance(op, views.MakePartitionView)]

    def a_view(self, element: t.ElementType, shape: tuple[int, ...]) -> Value:
        """A view used before, or a new one."""
        found = [value for value in self._views() if value.type.tile is t.tile(element, *shape)]
        return self.choose([*found, None]) or self.view(element, shape)

    def index(self, view: Value) -> list[Value]:
        """Mostly inside, sometimes across the edge or beyond."""
        return [self.a_number(self.choose((0, 1, 2, 5, -1))) for _ in view.type.tile_shape]

    def a_number(self, value: int) -> Value:
        """Sometimes the same constant as before, so that places are known to be the same."""
        data = np.int32(value).tobytes()
        for op in self.scope.block.ops:
            if isinstance(op, core.Constant) and op.value.type is t.tile(t.I32) and op.value.data == data:
                return op.result
        return self.number(value)

    def load(self) -> None:
        element, shape = self.choose(self.elements), self.choose([shape for shape in SHAPES if 1 <= len(shape) <= 2])
        view = self.a_view(element, shape)
        fields = {"memory_ordering_semantics": WEAK, "view": view, "index": self.index(view), "token": self.scope.token}
        self.make(views.LoadView.build([t.tile(element, *shape), t.TOKEN], **fields))

    def update(self) -> None:
        """Load a tile, change it, and store it where it was or nearby; the old one may be used again."""
        element, shape = self.choose(self.elements), self.choose(((4, 4), (16,), (8, 2), (16, 16)))
        view = self.a_view(element, shape)
        index = self.index(view)
        fields = {"memory_ordering_semantics": WEAK, "view": view}
        type = t.tile(element, *shape)
        load = views.LoadView.build([type, t.TOKEN], index=index, token=self.scope.token, **fields)
        loaded = self.make(load)
        moved = self._turned(loaded)
        tile = self._changed(self.choose((loaded, moved)))
        if self.choose((False, True)):
            self.statement()
        if self.choose((False, True)):
            index, fields["view"] = self.index(view), self.a_view(element, shape)
        self.emit(views.StoreView.build([t.TOKEN], tile=tile, index=index, token=self.scope.token, **fields))
        if self.choose((False, True)):
            self._store(self.choose((moved, tile, loaded)))

    def _turned(self, tile: Value) -> Value:
        """The same elements in another shape and back: nothing that costs anything, so it is never computed ahead."""
        flat = self.make(shapes.Reshape.build([t.tile(tile.type.element, tile.type.count)], source=tile))
        return self.make(shapes.Reshape.build([tile.type], source=flat))

    def _changed(self, tile: Value) -> Value:
        """A tile of the same type, from elements in other places or from other elements in the same."""
        type, (first, *rest) = tile.type, tile.type.shape
        for _ in range(self.choose((1, 2, 3))):
            kind = self.choose(range(4))
            if kind == 0 and rest == [first]:
                tile = self.make(shapes.Permute.build([type], source=tile, permutation=(1, 0)))
            elif kind == 1 and rest and rest != [first]:
                turned = t.tile(type.element, *rest, first)
                moved = self.make(shapes.Permute.build([turned], source=tile, permutation=(1, 0)))
                tile = self.make(shapes.Reshape.build([type], source=moved))
            elif kind == 2 and type.element is t.I32:
                tile = self.make(integer.AddI.build([type], lhs=tile, rhs=self.like(type)))
            elif kind == 3:
                mask = self.like(type.with_element(t.I1))
                other = self.like(type)
                tile = self.make(core.Select.build([type], cond=mask, val_if_true=tile, val_if_false=other))
        return tile

    def store(self) -> None:
        tile = self.pick(lambda type: 1 <= type.rank <= 2 and type.element in self.elements)
        if tile is not None:
            self._store(tile)

    def _store(self, tile: Value) -> None:
        view = self.a_view(tile.type.element, tile.type.shape)
        fields = {"memory_ordering_semantics": WEAK, "view": view, "index": self.index(view), "token": self.scope.token}
        self.emit(views.StoreView.build([t.TOKEN], tile=tile, **fields))

    def store_something(self, element: t.ElementType) -> None:
        """At the end: what would not be seen otherwise."""
        tile = self.any_of((element,))
        if tile is not None:
            flat = self.make(shapes.Reshape.build([t.tile(element, tile.type.count)], source=tile))
            self._store(flat)

    def _pointers(self, element: t.ElementType, shape: tuple[int, ...]) -> Value:
        """Addresses in the array, one each: a permutation of the first elements, from a small offset on."""
        count = int(np.prod(shape, dtype=int))
        block = self.scope.block
        row = block.append(core.Iota.build([t.tile(t.I32, count)])).results[0]
        many = t.tile(t.I32, count)
        for cls, number in ((integer.XOrI, self.choose((0, 1, 3))), (integer.AddI, self.choose((0, 5, 40)))):
            data = np.int32(number).tobytes()
            splat = block.append(core.Constant.build([many], value=DenseElements(many, data))).results[0]
            row = block.append(cls.build([many], lhs=row, rhs=splat)).results[0]
        steps = block.append(shapes.Reshape.build([t.tile(t.I32, *shape)], source=row)).results[0]
        pointer = t.PointerType(element)
        ones = t.tile(pointer, *[1] * len(shape))
        base = block.append(shapes.Reshape.build([ones], source=self.bases[element])).results[0]
        wide = block.append(shapes.Broadcast.build([t.tile(pointer, *shape)], source=base)).results[0]
        return block.append(core.Offset.build([t.tile(pointer, *shape)], ptr=wide, offset=steps)).results[0]

    def _mask(self, shape: tuple[int, ...]) -> Value | None:
        return self.like(t.tile(t.I1, *shape)) if self.choose((False, True)) else None

    def load_pointers(self) -> None:
        element, shape = self.choose(self.elements), self.choose(SHAPES)
        mask = self._mask(shape)
        padding = self.like(t.tile(element, *shape)) if mask is not None and self.choose((True, False)) else None
        source = self._pointers(element, shape)
        ordering, scope = self.choose(((WEAK, None), (MemoryOrdering.ACQUIRE, MemoryScope.DEVICE)))
        self.make(
            pointers.LoadPtr.build(
                [t.tile(element, *shape), t.TOKEN],
                memory_ordering_semantics=ordering,
                memory_scope=scope,
                source=source,
                mask=mask,
                paddingValue=padding,
                token=self.scope.token,
            )
        )

    def store_pointers(self) -> None:
        value = self.pick(lambda type: type.element in self.elements)
        if value is None:
            return
        mask, places = self._mask(value.type.shape), self._pointers(value.type.element, value.type.shape)
        ordering, scope = self.choose(((WEAK, None), (MemoryOrdering.RELEASE, MemoryScope.DEVICE)))
        self.emit(
            pointers.StorePtr.build(
                [t.TOKEN],
                memory_ordering_semantics=ordering,
                memory_scope=scope,
                destination=places,
                value=value,
                mask=mask,
                token=self.scope.token,
            )
        )

    def atomic(self) -> None:
        value = self.pick(lambda type: type.element in (t.I32, t.I64, t.F32))
        if value is None:
            return
        ints = (AtomicMode.ADD, AtomicMode.UMAX, AtomicMode.MIN, AtomicMode.XCHG)
        mode = self.choose(ints if value.type.element.is_int else (AtomicMode.ADDF, AtomicMode.XCHG))
        mask, places = self._mask(value.type.shape), self._pointers(value.type.element, value.type.shape)
        self.make(
            atomics.AtomicRmw.build(
                [value.type, t.TOKEN],
                memory_ordering_semantics=MemoryOrdering.RELAXED,
                memory_scope=MemoryScope.DEVICE,
                mode=mode,
                pointers=places,
                arg=value,
                mask=mask,
                token=self.scope.token,
            )
        )

    # ------------------------------------------------------------ control flow

    def _carried(self) -> list[Value]:
        """One to three values to carry, tiles or scalars; the same one may come twice."""
        found = [value for value in (self.pick(lambda type: True) for _ in range(self.choose((1, 2, 3)))) if value]
        return found

    def _inside(self, block: Block, values: Sequence[Value], fill: Callable[[], None]) -> None:
        """Statements of a region, which sees what is known outside; ended by `fill`."""
        outer = self.scope
        token = block.args[-1] if block.args and isinstance(block.args[-1].type, t.TokenType) else outer.token
        self.scope = Scope(block, [*outer.values, *values], token, outer.depth + 1)
        for _ in range(self.choose((1, 2, 3, 4))):
            self.statement()
        fill()
        self.scope = outer

    def _results(self, carried: Sequence[Value]) -> list[Value]:
        """Values of the types carried, then the token. A carried value may come back in another place."""
        return [*(self.like(value.type) for value in carried), self.scope.token]

    def counted(self) -> None:
        carried = self._carried()
        types = [*(value.type for value in carried), t.TOKEN]
        lower, upper, step = (self.a_number(self.choose(options)) for options in ((0, 1), (3, 1, 0), (1, 2)))
        body = Block([t.tile(t.I32), *types])
        start = [*carried, self.scope.token]

        def end() -> None:
            self.scope.block.append(control.Continue.build(operands=self._results(carried)))

        self._inside(body, [*body.args[1:-1], *([body.args[0]] if t.I32 in self.elements else [])], end)
        fields = {"lowerBound": lower, "upperBound": upper, "step": step, "initValues": start, "body": body}
        self.emit(control.For.build(types, **fields))

    def loop(self) -> None:
        """At most three rounds: a counter ends it, early or late in the body."""
        carried = self._carried()
        types = [*(value.type for value in carried), t.TOKEN]
        zero, one, limit = self.a_number(0), self.a_number(1), self.a_number(self.choose((1, 2, 3)))
        body = Block([t.tile(t.I32), *types])
        start = [zero, *carried, self.scope.token]
        self._inside(body, body.args[1:-1], lambda: self._end_of_loop(body.args[0], one, limit, carried))
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
