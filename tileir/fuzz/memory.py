"""Statements that access memory.

One token runs through all memory operations, so that the order of effects is that of the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tileir.fuzz.draft import ACQUIRE, SHAPES, SIDE, WEAK, Order, ProgramDraft
from tileir.ir import types as t
from tileir.ir.attributes import (
    AtomicMode,
    DenseElements,
    MemoryOrdering,
    MemoryScope,
    Predicate,
    Signedness,
)
from tileir.ir.core import Value
from tileir.ops import (
    atomics,
    core,
    extension,
    integer,
    misc,
    pointers,
    shapes,
    views,
)


class MemoryStatements(ProgramDraft):
    """Loads, stores and atomics."""

    def view(self, element: t.ElementType, shape: tuple[int, ...]) -> Value:
        """Return a partition or strided view of the array of `element` for tiles of `shape`."""
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
        """Return a view used before, or a new one."""
        found = [value for value in self._views() if value.tile_view.tile is t.tile(element, *shape)]
        return self.choose([*found, None]) or self.view(element, shape)

    def index(self, view: Value) -> list[Value]:
        """Return indices that are mostly inside, sometimes across the edge or beyond."""
        return [self.a_number(self.choose((0, 1, 2, 5, -1))) for _ in view.tile_view.tile_shape]

    def a_number(self, value: int) -> Value:
        """Return a number, sometimes the same constant as before, so that places are known to be the same."""
        data = np.int32(value).tobytes()
        for op in self.scope.block.ops:
            if isinstance(op, core.Constant) and op.value.type is t.tile(t.I32) and op.value.data == data:
                return op.result
        return self.number(value)

    def load(self) -> None:
        element, shape = self.choose(self.elements), self.choose([shape for shape in SHAPES if 1 <= len(shape) <= 2])
        view = self.a_view(element, shape)
        fields: dict[str, Any] = {
            "memory_ordering_semantics": WEAK,
            "view": view,
            "index": self.index(view),
            "token": self.scope.token,
        }
        self.make(views.LoadView.build([t.tile(element, *shape), t.TOKEN], **fields))

    def update(self) -> None:
        """Load a tile, change it, and store it where it was or nearby; the old one may be used again."""
        element, shape = self.choose(self.elements), self.choose(((4, 4), (16,), (8, 2), (16, 16)))
        view = self.a_view(element, shape)
        index = self.index(view)
        fields: dict[str, Any] = {"memory_ordering_semantics": WEAK, "view": view}
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
        """Return the same elements reshaped and back: it costs nothing, so it is never computed ahead."""
        flat = self.make(shapes.Reshape.build([t.tile(tile.tile.number, tile.tile.count)], source=tile))
        return self.make(shapes.Reshape.build([tile.type], source=flat))

    def _changed(self, tile: Value) -> Value:
        """Return a tile of the same type, from elements in other places or from other elements in the same."""
        type, (first, *rest) = tile.tile, tile.tile.shape
        for _ in range(self.choose((1, 2, 3))):
            kind = self.choose(range(4))
            if kind == 0 and rest == [first]:
                tile = self.make(shapes.Permute.build([type], source=tile, permutation=(1, 0)))
            elif kind == 1 and rest and rest != [first]:
                turned = t.tile(type.number, *rest, first)
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
        view = self.a_view(tile.tile.number, tile.tile.shape)
        fields: dict[str, Any] = {
            "memory_ordering_semantics": WEAK,
            "view": view,
            "index": self.index(view),
            "token": self.scope.token,
        }
        self.emit(views.StoreView.build([t.TOKEN], tile=tile, **fields))

    def store_something(self, element: t.ElementType) -> None:
        """Store, at the end, what would not be seen otherwise."""
        tile = self.any_of((element,))
        if tile is not None:
            flat = self.make(shapes.Reshape.build([t.tile(element, tile.tile.count)], source=tile))
            self._store(flat)

    def _pointers(self, element: t.ElementType, shape: tuple[int, ...]) -> Value:
        """Return addresses in the array, one each: a permutation of the first elements, from a small offset on."""
        count = int(np.prod(shape, dtype=int))
        block = self.scope.block
        row = block.append(core.Iota.build([t.tile(t.I32, count)])).results[0]
        many = t.tile(t.I32, count)
        for cls, number in ((integer.XOrI, self.choose((0, 1, 3))), (integer.AddI, self.choose((0, 5, 40)))):
            row = block.append(cls.build([many], lhs=row, rhs=self._splat(many, number))).results[0]
        return self._offset(element, shape, row)

    def _offset(self, element: t.ElementType, shape: tuple[int, ...], row: Value) -> Value:
        """Return the addresses in the array of elements whose numbers are `row`."""
        block = self.scope.block
        steps = block.append(shapes.Reshape.build([t.tile(t.I32, *shape)], source=row)).results[0]
        pointer = t.PointerType(element)
        ones = t.tile(pointer, *[1] * len(shape))
        base = block.append(shapes.Reshape.build([ones], source=self.bases[element])).results[0]
        wide = block.append(shapes.Broadcast.build([t.tile(pointer, *shape)], source=base)).results[0]
        return block.append(core.Offset.build([t.tile(pointer, *shape)], ptr=wide, offset=steps)).results[0]

    def _mask(self, shape: tuple[int, ...]) -> Value | None:
        return self.like(t.tile(t.I1, *shape)) if self.choose((False, True)) else None

    def load_pointers(
        self, among: Sequence[tuple[int, ...]] = SHAPES, orders: Sequence[Order] = ((WEAK, None), ACQUIRE)
    ) -> None:
        element, shape = self.choose(self.elements), self.choose(among)
        mask = self._mask(shape)
        padding = self.like(t.tile(element, *shape)) if mask is not None and self.choose((True, False)) else None
        source = self._pointers(element, shape)
        ordering, scope = self.choose(orders)
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

    def wide(self) -> None:
        """Load one of the tiles that are more vectors than one."""
        self.load_pointers(((32,), (64,), (128,), (256,), (512,)))

    def store_pointers(self) -> None:
        value = self.pick(lambda type: type.element in self.elements)
        if value is None:
            return
        mask, places = self._mask(value.tile.shape), self._pointers(value.tile.number, value.tile.shape)
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
        mode = self.choose(ints if value.tile.number.is_int else (AtomicMode.ADDF, AtomicMode.XCHG))
        mask, places = self._mask(value.tile.shape), self._pointers(value.tile.number, value.tile.shape)
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

    def update_view(self) -> None:
        """Combine a tile into memory through a view."""
        value = self.pick(
            lambda type: 1 <= type.rank <= 2 and type.element in (t.I32, t.I64, t.F32) and type.element in self.elements
        )
        if value is None:
            return
        ints = (AtomicMode.ADD, AtomicMode.UMAX, AtomicMode.MIN, AtomicMode.XOR)
        view = self.a_view(value.tile.number, value.tile.shape)
        fields: dict[str, Any] = {
            "memory_ordering_semantics": MemoryOrdering.RELAXED,
            "memory_scope": MemoryScope.DEVICE,
            "mode": self.choose(ints) if value.tile.number.is_int else AtomicMode.ADDF,
            "view": view,
            "index": self.index(view),
        }
        self.emit(atomics.AtomicRedView.build([t.TOKEN], value=value, token=self.scope.token, **fields))

    # ------------------------------------------------------------ several stores

    def step(self) -> None:
        """Load tiles, compute others from them, and store several: where they were loaded, nearby or anywhere."""
        shape = self.choose(((16,), (4, 4), (16, 16), (256,)))
        places = [self._place(self.choose(self.elements), shape) for _ in range(self.choose((2, 3, 4)))]
        loaded = {element: self._load_from(place, t.tile(element, *shape)) for element, place in places}
        for _ in range(self.choose((2, 3, 4))):
            element, place = self.choose(places)
            if self.choose((False, False, True)):
                element, place = self._place(self.choose(list(loaded)), shape)
            mask = self.like(t.tile(t.I1, *shape))
            tile, other = loaded[element], self._changed(loaded[element])
            mixed = self.make(core.Select.build([tile.type], cond=mask, val_if_true=other, val_if_false=tile))
            self._store_to(place, self.choose((mixed, other, tile)))
            loaded[element] = self.choose((mixed, tile))

    def _place(self, element: t.ElementType, shape: tuple[int, ...]) -> tuple[t.ElementType, dict[str, Any]]:
        """Return the fields of accesses to a box of the array: through a view, or through pointers that rise."""
        if self.choose((True, False)):
            view = self.a_view(element, shape)
            return element, {"view": view, "index": self.index(view)}
        count = int(np.prod(shape, dtype=int))
        many, block = t.tile(t.I32, count), self.scope.block
        lanes = block.append(core.Iota.build([many])).results[0]
        limit, start = (self._splat(many, self.choose(options)) for options in ((count, 13, 300), (0, 1, 16, 290)))
        at = block.append(integer.AddI.build([many], lhs=lanes, rhs=start)).results[0]
        mask = self.make(
            integer.CmpI.build(
                [many.with_element(t.I1)],
                comparison_predicate=Predicate.LESS_THAN,
                signedness=Signedness.SIGNED,
                lhs=at,
                rhs=limit,
            )
        )
        reshaped = self.make(shapes.Reshape.build([t.tile(t.I1, *shape)], source=mask))
        return element, {"pointers": self._offset(element, shape, at), "mask": self.choose((None, reshaped))}

    def _splat(self, type: t.TileType, number: int) -> Value:
        elements = DenseElements(type, np.int32(number).tobytes())
        return self.scope.block.append(core.Constant.build([type], value=elements)).results[0]

    def _load_from(self, place: dict[str, Any], type: t.TileType) -> Value:
        fields: dict[str, Any] = {"memory_ordering_semantics": WEAK, "token": self.scope.token}
        if "view" in place:
            return self.make(views.LoadView.build([type, t.TOKEN], **place, **fields))
        source, mask = place["pointers"], place["mask"]
        return self.make(pointers.LoadPtr.build([type, t.TOKEN], source=source, mask=mask, **fields))

    def _store_to(self, place: dict[str, Any], tile: Value) -> None:
        fields: dict[str, Any] = {"memory_ordering_semantics": WEAK, "token": self.scope.token}
        if "view" in place:
            self.emit(views.StoreView.build([t.TOKEN], tile=tile, **place, **fields))
        else:
            destination, mask = place["pointers"], place["mask"]
            self.emit(pointers.StorePtr.build([t.TOKEN], destination=destination, value=tile, mask=mask, **fields))

    # ------------------------------------------------------------ rows at given places

    def _matrix(self, element: t.ElementType) -> Value:
        tensor = t.TensorViewType(element, (SIDE, SIDE), self.choose(((SIDE, 1), (1, SIDE))))
        return self.scope.block.append(views.MakeTensorView.build([tensor], base=self.bases[element])).results[0]

    def _rows(self, count: int) -> Value:
        """Return numbers of rows, each another one; the last may be outside."""
        many = t.tile(t.I32, count)
        row = self.scope.block.append(core.Iota.build([many])).results[0]
        for cls, number in ((integer.XOrI, self.choose((0, 1, 3))), (integer.AddI, self.choose((0, 5, 20)))):
            row = self.scope.block.append(cls.build([many], lhs=row, rhs=self._splat(many, number))).results[0]
        return row

    def _gathering(self, element: t.ElementType, shape: tuple[int, ...]) -> dict[str, Any]:
        """Return a gather/scatter view and an index of it."""
        matrix, dim = self._matrix(element), self.choose((0, 1))
        padding = self.choose((t.PaddingValue.ZERO, None))
        type = t.GatherScatterViewType(shape, matrix.type, dim, padding)
        view = self.scope.block.append(views.MakeGatherScatterView.build([type], tensor_view=matrix)).results[0]
        index = [self.a_number(self.choose((0, 1, 5, 20)))]
        index.insert(dim, self._rows(shape[dim]))
        return {"memory_ordering_semantics": WEAK, "view": view, "index": index, "token": self.scope.token}

    def gather(self) -> None:
        element, shape = self.choose(self.elements), self.choose(((4, 4), (2, 8), (8, 2), (8, 1)))
        fields = self._gathering(element, shape)
        self.make(views.LoadView.build([t.tile(element, *shape), t.TOKEN], **fields))

    def scatter(self) -> None:
        tile = self.pick(lambda type: type.rank == 2 and type.element in self.elements)
        if tile is not None:
            fields = self._gathering(tile.tile.number, tile.tile.shape)
            self.emit(views.StoreView.build([t.TOKEN], tile=tile, **fields))

    def scatter_rows(self) -> None:
        """Store with the operation of early documents."""
        tile = self.pick(lambda type: type.rank == 2 and type.element in self.elements)
        if tile is None:
            return
        dim = self.choose((0, 1))
        fields: dict[str, Any] = {
            "dst": self._matrix(tile.tile.number),
            "index": self._rows(tile.tile.shape[dim]),
            "offsets": [self.a_number(self.choose((0, 1, 5)))],
        }
        self.emit(extension.ScatterStore.build([t.TOKEN], src=tile, dim=dim, token=self.scope.token, **fields))

    # ------------------------------------------------------------ extents, tokens, output

    def extents(self) -> None:
        """Read the extents of a tensor view and the numbers of tiles of a view."""
        element, shape = self.choose(self.elements), self.choose(((4, 4), (16,)))
        number = t.tile(t.I32)
        self.emit(views.GetTensorShape.build([number] * 2, src=self._matrix(element)))
        self.emit(views.GetIndexSpaceShape.build([number] * len(shape), src=self.a_view(element, shape)))

    def join(self) -> None:
        """Load, and wait for what was before and the load."""
        before = self.scope.token
        self.load()
        tokens = self.choose(([before, self.scope.token], [self.scope.token, before]))
        self.emit(pointers.JoinTokens.build([t.TOKEN], tokens=tokens))

    def output(self) -> None:
        """Print integers; the sign of a NaN is not fixed."""
        tile = self.pick(lambda type: type.count <= 16 and type.element in (t.I32, t.I64))
        if tile is not None:
            text = "%d\n" if tile.tile.element is t.I32 else "%lld\n"
            self.emit(misc.PrintTko.build([t.TOKEN], str=text, args=[tile], token=self.scope.token))
