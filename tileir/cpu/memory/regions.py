"""The places of an access's elements in memory, in registers: a box, rows, or anywhere.

    Box         elements at even distances, of which so many along each dimension belong to the access
    MemoryRows  rows that lie anywhere, each with its elements side by side
    Elements    elements that are tested and addressed one by one

A tile of a view and a tile of pointers differ only in where this comes from: the index of the tile and the tensor
(spec: views#index-mapping), or the addresses at the corners of the tile and the comparisons of its mask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from llvmlite import ir

from tileir.analysis.effects import MemoryAccess
from tileir.analysis.region import is_view_box
from tileir.cpu.analysis.loads import LEAST_ROW, RowAccess
from tileir.cpu.emit.algebra import Int
from tileir.cpu.emit.elements import I1, I8, I64, is_number, memory_type
from tileir.cpu.emit.emitter import Emitter, Extent, Index, as_i64, as_register, at_least_one, highest_index, least
from tileir.cpu.emit.tiles import (
    NativeTensorView,
    Tile,
    Window,
    address_of,
    distance,
    materialized,
    moves_as_bytes,
    pointer_to,
    wide,
)
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory.copying import moved, rows_along, some
from tileir.cpu.memory.elements import load_element, load_nibble, store_element, store_nibble
from tileir.cpu.memory.guards import active_in_row, counts_of, front_of
from tileir.ir import types as t
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Op, Value

FARTHEST = 1 << 31
"""Bytes that a tile of pointers may span to be a box: index arithmetic in i32 that wraps around goes further."""


def located(lowering: Lowering, access: MemoryAccess) -> Box | MemoryRows | Elements:
    """Return where the elements of a load or store lie."""
    if not isinstance(access.address.type, t.TileType):
        if is_view_box(access):
            return view_box(lowering, access)
        elements = view_elements(lowering, access)
        return view_rows(lowering, elements, access) or elements
    return pointer_rows(lowering, access) or pointer_box(lowering, access) or pointer_elements(lowering, access)


# ---------------------------------------------------------------- the index mapping of views


@dataclass(frozen=True)
class Axis:
    """A dimension of a tile: the tensor dimension it runs along, and its coordinates there.

    They are those of `rows`, or count up from `start`; those below `limit` lie in the tensor. `start` does if
    `reachable` holds.
    """

    dim: int
    limit: ir.Value
    start: ir.Value
    reachable: ir.Value
    rows: Tile | None = None

    def coordinate(self, emit: Emitter, position: ir.Value) -> ir.Value:
        if self.rows is None:
            return emit.builder.add(self.start, position)
        return as_i64(emit.builder, wide(emit.builder, self.rows.at(emit, (position,))))

    def count(self, emit: Emitter, extent: Extent) -> ir.Value:
        """Return how many of `extent` positions lie in the tensor."""
        builder = emit.builder
        if self.rows is None:
            left = builder.select(self.reachable, builder.sub(self.limit, self.start), I64(0))
            return least(builder, left, as_register(extent))
        return self._over_rows(emit, lambda found, at: found + 1)

    def last(self, emit: Emitter, extent: int) -> ir.Value:
        """Return the largest coordinate that lies in the tensor, if there is one."""
        builder = emit.builder
        if self.rows is None:
            left = least(builder, builder.sub(self.limit, self.start), I64(extent))
            return builder.sub(builder.add(self.start, left), I64(1))
        return self._over_rows(emit, lambda found, at: found.below_unsigned(at).choose(at, found))

    def _over_rows(self, emit: Emitter, join: Callable[[Int, Int], Int]) -> ir.Value:
        """Join the coordinates that lie in the tensor, from 0 on."""
        assert self.rows is not None
        collected, limit = emit.collector(I64(0)), Int(emit.builder, self.limit)

        def joined(found: Int, at: Int) -> Int:
            return at.below_unsigned(limit).choose(join(found, at), found)

        emit.loop_nest(self.rows.type.shape, lambda index: collected.add(joined, self.coordinate(emit, index[0])))
        return collected.value


def axis_at(lowering: Lowering, dim: int, index: Value, step: int, limit: ir.Value) -> Axis:
    """Return an axis that starts at the unsigned `index` times `step`, out of reach if that wraps around."""
    builder, position = lowering.builder, lowering.unsigned(index)
    start = builder.mul(position, I64(step))
    exact = builder.icmp_unsigned("<=", position, I64(((1 << 64) - 1) // step))
    return Axis(dim, limit, start, builder.and_(exact, builder.icmp_unsigned("<", start, limit)))


def _axes_of(lowering: Lowering, access: MemoryAccess) -> list[Axis]:
    """Return the axes of a tile of a view, or of rows of a tensor."""
    dim, indices, tensor = access.sparse_dim, access.indices, _tensor_of(lowering, access)
    if dim is None:
        view = lowering.tile_view(access.address).type
        steps = zip(view.tensor_dims, indices, view.tile_steps)
        return [axis_at(lowering, dim, index, step, tensor.extents[dim]) for dim, index, step in steps]
    rows = materialized(lowering.emit, lowering.tile(indices[dim]))
    axes = [axis_at(lowering, at, index, 1, tensor.extents[at]) for at, index in enumerate(indices) if at != dim]
    return [*axes[:dim], Axis(dim, tensor.extents[dim], I64(0), I1(1), rows), *axes[dim:]]


def _tensor_of(lowering: Lowering, access: MemoryAccess) -> NativeTensorView:
    if isinstance(access.address.type, t.TensorViewType):
        return lowering.tensor_view(access.address)
    return lowering.tile_view(access.address).tensor


# ---------------------------------------------------------------- spans


@dataclass(frozen=True)
class Span:
    """The addresses of a tile that steps evenly: first, last, and the steps along dimensions of more than one element.

    All are in bytes. `regular`: addresses step as they seem to, upward and without wrapping around. `distinct`: no two
    elements are seen to share bytes.
    """

    first: ir.Value
    last: ir.Value
    steps: tuple[ir.Value, ...]
    size: int
    regular: ir.Value
    distinct: ir.Value


def span_of_window(emit: Emitter, window: Window, extents: Sequence[Extent]) -> Span:
    """Return the span of a box of a tensor, whose elements are distinct by the promise of its view."""
    builder, size = emit.builder, window.element.byte_size
    first = last = builder.ptrtoint(window.base, I64) if window.known is None else window.known
    steps = []
    for static, extent, stride in zip(window.type.shape, extents, window.strides):
        if static > 1:
            steps.append(builder.mul(stride, I64(size)))
            last = builder.add(last, builder.mul(highest_index(builder, extent), steps[-1]))
    return Span(first, last, tuple(steps), size, I1(1), I1(1))


def span_of_pointers(lowering: Lowering, access: MemoryAccess, extents: Sequence[Extent]) -> Span:
    """Return the span of an even tile of pointers, from its corners. An extent of 0 in a register counts as 1."""
    emit, builder, region = lowering.emit, lowering.builder, lowering.loads.regions[access.op]
    pointers, shape = lowering.tile(access.address), region.extents
    extents = [extent if isinstance(extent, int) else at_least_one(builder, extent) for extent in extents]
    size, origin = pointers.type.pointer.pointee.byte_size, (I64(0),) * len(shape)

    def address(*index: ir.Value) -> ir.Value:
        return address_of(builder, pointers.at(emit, index))

    first, last = address(*origin), address(*(highest_index(builder, extent) for extent in extents))
    steps, reach, regular = [], first, I1(1)
    for one in region.remainders:
        regular = builder.and_(regular, lowering.rising[one.value])
    for dim, extent in enumerate(extents):
        if shape[dim] == 1:
            continue
        step = builder.sub(address(*moved(origin, dim, I64(1))), first)
        steps.append(step)
        farthest = I64(FARTHEST // extent) if isinstance(extent, int) else builder.udiv(I64(FARTHEST), extent)
        regular = builder.and_(regular, builder.icmp_unsigned("<", step, farthest))
        length = builder.mul(step, highest_index(builder, extent))
        if region.wraps_by_dimension:
            end = address(*moved(origin, dim, highest_index(builder, extent)))
            regular = builder.and_(regular, builder.icmp_unsigned("==", builder.add(first, length), end))
        reach = builder.add(reach, length)
    regular = builder.and_(regular, builder.icmp_unsigned("==", reach, last))
    regular = builder.and_(regular, builder.icmp_unsigned("<", builder.sub(last, first), I64(FARTHEST)))
    distinct = builder.icmp_unsigned(">=", steps[0], I64(size)) if len(steps) == 1 else I1(0)
    return Span(first, last, tuple(steps), size, regular, distinct)


# ---------------------------------------------------------------- elements


class Elements:
    """Elements that are tested and addressed one by one; `type` is that of the tile."""

    type: t.TileType

    @property
    def is_partial(self) -> bool:
        """True if some elements may not belong to the access."""
        return True

    def at(self, emit: Emitter, index: Index) -> tuple[ir.Value | None, Callable[[], ir.Value]]:
        """Return whether an element belongs to the access (None: it does), and what emits its place."""
        raise NotImplementedError

    def each(self, emit: Emitter, act: Callable[[Index, ir.Value], None]) -> None:
        """Run ``act(index, place)`` for the elements that belong to the access, in row-major order."""

        def body(index: Index) -> None:
            active, place = self.at(emit, index)
            if active is None:
                act(index, place())
                return
            with emit.when(active):
                act(index, place())

        emit.loop_nest(self.type.shape, body)

    def address_of(self, emit: Emitter, place: ir.Value) -> ir.Value:
        """Return the address of the first byte of the element at a place, an i64."""
        return emit.builder.ptrtoint(place, I64)

    def load(self, emit: Emitter, place: ir.Value, ordering: MemoryOrdering) -> ir.Value:
        """Load the element at a place in its memory form."""
        return load_element(emit, self.type.element, place, ordering)

    def store(self, emit: Emitter, place: ir.Value, stored: ir.Value, ordering: MemoryOrdering) -> None:
        """Store an element in its memory form."""
        store_element(emit, self.type.element, place, stored, ordering)


class PointerElements(Elements):
    """The elements at a tile of pointers, but for those that a mask leaves out."""

    def __init__(self, type: t.TileType, pointers: Tile, mask: Tile | None) -> None:
        self.type, self.pointers, self.mask = type, pointers, mask

    @property
    def is_partial(self) -> bool:
        return self.mask is not None

    def at(self, emit: Emitter, index: Index) -> tuple[ir.Value | None, Callable[[], ir.Value]]:
        active = None if self.mask is None else wide(emit.builder, self.mask.at(emit, index))
        return active, lambda: pointer_to(emit.builder, self.pointers.at(emit, index))


def pointer_elements(lowering: Lowering, access: MemoryAccess) -> PointerElements:
    mask = None if access.mask is None else lowering.tile(access.mask)
    return PointerElements(access.tile, lowering.tile(access.address), mask)


class ViewElements(Elements):
    """The elements of a tile of a view, but for those outside the tensor."""

    def __init__(self, type: t.TileType, tensor: NativeTensorView, axes: Sequence[Axis]) -> None:
        self.type, self.tensor, self.axes = type, tensor, tuple(axes)

    def at(self, emit: Emitter, index: Index) -> tuple[ir.Value | None, Callable[[], ir.Value]]:
        offset, inside = self.offset(emit, index)
        # Two elements of f4E2M1FN share an address: their place is the offset.
        return inside, lambda: offset if self.type.element is t.F4E2M1FN else self.address(emit, offset)

    def offset(self, emit: Emitter, index: Index) -> tuple[ir.Value, ir.Value]:
        """Return the offset of an element in the tensor, in elements, and whether it lies there."""
        builder = emit.builder
        offset: ir.Value = I64(0)
        inside: ir.Value = I1(1)
        for axis, position in zip(self.axes, index):
            at = axis.coordinate(emit, position)
            below = builder.icmp_unsigned("<", at, axis.limit)
            inside = builder.and_(inside, builder.and_(axis.reachable, below))
            offset = builder.add(offset, builder.mul(at, self.tensor.strides[axis.dim]))
        return offset, inside

    def address(self, emit: Emitter, offset: ir.Value) -> ir.Value:
        return emit.builder.gep(self.tensor.base, [offset], source_etype=memory_type(self.type.element))

    def last(self, emit: Emitter) -> tuple[ir.Value, list[ir.Value]]:
        """Return whether any element lies in the tensor, and the largest coordinate in it along each axis."""
        found = list(zip(self.axes, self.type.shape))
        any_inside = some(emit.builder, [axis.count(emit, extent) for axis, extent in found])
        return any_inside, [axis.last(emit, extent) for axis, extent in found]

    def address_of(self, emit: Emitter, place: ir.Value) -> ir.Value:
        if self.type.element is t.F4E2M1FN:
            return emit.builder.add(emit.builder.ptrtoint(self.tensor.base, I64), emit.builder.lshr(place, I64(1)))
        return super().address_of(emit, place)

    def load(self, emit: Emitter, place: ir.Value, ordering: MemoryOrdering) -> ir.Value:
        if self.type.element is t.F4E2M1FN:
            return load_nibble(emit.builder, self.tensor.base, place)
        return super().load(emit, place, ordering)

    def store(self, emit: Emitter, place: ir.Value, stored: ir.Value, ordering: MemoryOrdering) -> None:
        if self.type.element is t.F4E2M1FN:
            store_nibble(emit.builder, self.tensor.base, place, stored)
        else:
            super().store(emit, place, stored, ordering)


def view_elements(lowering: Lowering, access: MemoryAccess) -> ViewElements:
    """Return the elements of an access through a view, or to rows of a tensor."""
    return ViewElements(access.tile, _tensor_of(lowering, access), _axes_of(lowering, access))


# ---------------------------------------------------------------- rows


@dataclass(frozen=True)
class MemoryRow:
    """A row in memory whose first `count` elements belong to the access.

    Through pointers that is so if `span` is regular; the last of them is at `end`, an address.
    """

    window: Window
    count: ir.Value
    span: Span | None = None
    end: ir.Value | None = None


@dataclass(frozen=True)
class MemoryRows:
    """The rows of a tile along `dim`; `at` gives one by the index of its first element. `elements` are the same."""

    dim: int
    at: Callable[[Index], MemoryRow]
    elements: Elements

    @property
    def type(self) -> t.TileType:
        return self.elements.type

    def each(self, emit: Emitter, act: Callable[[Index, MemoryRow], None]) -> None:
        """Run ``act(index, row)`` for all rows in row-major order."""
        emit.loop_nest(rows_along(self.type.shape, self.dim), lambda index: act(index, self.at(index)))


def _row_window(type: t.TileType, base: ir.Value, dim: int) -> Window:
    return Window(type, base, tuple(I64(int(other == dim)) for other in range(type.rank)))


def view_rows(lowering: Lowering, elements: ViewElements, access: MemoryAccess) -> MemoryRows | None:
    """Return the rows of an access through a view; None if its elements move one by one.

    They lie along the last dimension of unit stride. Elements that share a place are stored in row-major order.
    """
    emit, builder, type = lowering.emit, lowering.builder, elements.type
    dim = None if access.is_strong or not moves_as_bytes(type.element) else _unit_dimension(elements)
    if dim is None or (access.writes and any(extent > 1 for extent in type.shape[dim + 1 :])):
        return None
    axis, extent = elements.axes[dim], I64(type.shape[dim])
    most = least(builder, builder.sub(axis.limit, axis.start), extent)

    def at(index: Index) -> MemoryRow:
        offset, inside = elements.offset(emit, index)
        window = _row_window(type, elements.address(emit, offset), dim)
        return MemoryRow(window, builder.select(inside, most, I64(0)))

    return MemoryRows(dim, at, elements)


def _unit_dimension(elements: ViewElements) -> int | None:
    """Return the last dimension along which many elements lie side by side."""
    for dim, (axis, extent) in reversed(list(enumerate(zip(elements.axes, elements.type.shape)))):
        together = axis.rows is None and is_number(elements.tensor.strides[axis.dim], 1)
        if together and extent * elements.type.element.byte_size >= LEAST_ROW:
            return dim
    return None


def pointer_rows(lowering: Lowering, access: MemoryAccess) -> MemoryRows | None:
    """Return the rows of an access through pointers; None if it has none, or every element is looked at."""
    found = lowering.loads.rows.get(access.op)
    if found is None or lowering.strict or not moves_as_bytes(access.tile.element):
        return None
    elements = pointer_elements(lowering, access)
    return MemoryRows(found.dim, lambda index: _pointer_row(lowering, elements, found, index), elements)


def _pointer_row(lowering: Lowering, elements: PointerElements, rows: RowAccess, index: Index) -> MemoryRow:
    emit, builder, type, dim = lowering.emit, lowering.builder, elements.type, rows.dim
    extent, size = type.shape[dim], type.element.byte_size
    start, end = (elements.pointers.at(emit, at) for at in (index, moved(index, dim, I64(extent - 1))))
    first, last = (address_of(builder, pointer) for pointer in (start, end))
    even = builder.icmp_unsigned("==", builder.sub(last, first), I64((extent - 1) * size))
    count: ir.Value = I64(extent)
    if elements.mask is not None:
        for guard in rows.ends:
            found = active_in_row(lowering, guard, index)
            count, even = least(builder, count, found.count), builder.and_(even, found.regular)
        some = wide(builder, elements.mask.at(emit, index))
        count = builder.select(some, count, I64(0))
    ends_at = builder.add(first, builder.mul(builder.sub(count, I64(1)), I64(size)))
    window = _row_window(type, pointer_to(builder, start), dim)
    return MemoryRow(window, count, Span(first, last, (), size, even, I1(1)), ends_at)


# ---------------------------------------------------------------- boxes


@dataclass(frozen=True)
class Box:
    """A window of memory in which the first `counts` elements of each dimension belong to the access.

    `full`: all elements do. `order` lists the dimensions as they lie in memory. For a tile of a view, `starts` are
    its first coordinates in the tensor. Through pointers the box exists only if `regular` holds; the `elements` are
    the same in any case, and `span` has their corners. Where a mask may leave out elements in front, `front` says how
    many along each dimension: the window begins behind them.
    """

    window: Window
    counts: tuple[ir.Value, ...]
    full: ir.Value
    order: Sequence[int]
    starts: tuple[ir.Value, ...] = ()
    regular: ir.Value | None = None
    elements: PointerElements | None = None
    span: Span | None = None
    front: tuple[ir.Value, ...] = ()

    def span_of(self, emit: Emitter, extents: Sequence[Extent]) -> Span:
        """Return the span of the first `extents` elements of each dimension; through pointers that of all of them."""
        return self.span or span_of_window(emit, self.window, extents)

    def known(self, builder: ir.IRBuilder) -> Window:
        """Return the window as memory that stores may change, with its address known."""
        return replace(self.window, shared=True, known=builder.ptrtoint(self.window.base, I64))


def view_box(lowering: Lowering, access: MemoryAccess) -> Box:
    """Return the box of a tile of a partition or strided view."""
    builder, type, view = lowering.builder, access.tile, lowering.tile_view(access.address)
    axes, extents = _axes_of(lowering, access), _extents_in_view(lowering, access, type)
    strides = tuple(view.tensor.strides[axis.dim] for axis in axes)
    counts = tuple(axis.count(lowering.emit, extent) for axis, extent in zip(axes, extents))
    offset, full = I64(0), I1(1)
    for axis, stride, count, extent in zip(axes, strides, counts, extents):
        offset = builder.add(offset, builder.mul(axis.start, stride))
        full = builder.and_(full, builder.icmp_unsigned("==", count, as_register(extent)))
    distance = builder.mul(offset, I64(view.type.element.byte_size))
    window = Window(type, builder.gep(view.tensor.base, [distance], source_etype=I8), strides)
    order = sorted(range(type.rank), key=lambda dim: axes[dim].dim)
    return Box(window, counts, full, order, tuple(axis.start for axis in axes))


def _extents_in_view(lowering: Lowering, access: MemoryAccess, type: t.TileType) -> Sequence[Extent]:
    """Return the extents of the tile: a multiple along one dimension where tile blocks are joined."""
    dim = None if lowering.joined is None else lowering.joined.coarsening.accesses.get(access.op)
    if lowering.joined is None or dim is None:
        return type.shape
    return moved(type.shape, dim, lowering.builder.mul(lowering.joined.count, I64(type.shape[dim])))


def pointer_box(lowering: Lowering, access: MemoryAccess) -> Box | None:
    """Return the box of an access through pointers; None if it is not known to have one."""
    region = lowering.loads.regions[access.op]
    if not region.is_box or region.edges is None:
        return None
    emit, builder, type = lowering.emit, lowering.builder, access.tile
    elements, extents = pointer_elements(lowering, access), lowering.extents(access.address)
    counts, kept = counts_of(lowering, region.edges, extents)
    longer = lowering.joined is not None and access.op in lowering.joined.coarsening.accesses
    span = span_of_pointers(lowering, access, counts if longer else extents)
    strides, even = _strides(builder, span, type, region.static_steps)
    regular = builder.and_(span.regular, builder.and_(even, kept))
    base = pointer_to(builder, elements.pointers.at(emit, (I64(0),) * type.rank))
    front: tuple[ir.Value, ...] = ()
    if region.has_front:
        front = front_of(lowering, region.edges, type.rank)
        counts = tuple(builder.sub(count, least(builder, left_out, count)) for count, left_out in zip(counts, front))
        skipped = builder.mul(distance(builder, front, strides), I64(span.size))
        base = builder.gep(base, [skipped], source_etype=I8)
        span = replace(span, first=builder.add(span.first, skipped))
    full = regular
    for count, extent in zip(counts, extents):
        full = builder.and_(full, builder.icmp_unsigned("==", count, as_register(extent)))
    fast = max(dim for dim, step in enumerate(region.static_steps) if type.shape[dim] > 1 and step == region.bytes)
    order = [*(dim for dim in range(type.rank) if dim != fast), fast]
    return Box(Window(type, base, strides), counts, full, order, (), regular, elements, span, front)


def _strides(
    builder: ir.IRBuilder, span: Span, type: t.TileType, known: Sequence[int | None]
) -> tuple[tuple[ir.Value, ...], ir.Value]:
    """Return the strides in elements, and whether the tile has them."""
    strides, even, steps = [], I1(1), iter(span.steps)
    for extent, bytes in zip(type.shape, known):
        if extent == 1:
            strides.append(I64(0))
            continue
        step = next(steps)
        if bytes is None:
            strides.append(builder.lshr(step, I64(span.size.bit_length() - 1)))
            fine = builder.icmp_unsigned("==", builder.and_(step, I64(span.size - 1)), I64(0))
        else:
            strides.append(I64(bytes // span.size))
            fine = builder.icmp_unsigned("==", step, I64(bytes))
        even = builder.and_(even, fine)
    return tuple(strides), even


# ---------------------------------------------------------------- counting


def count_access(lowering: Lowering, op: Op) -> None:
    """Add the number of elements that an operation is about to access to its counter."""
    access, counters, emit = MemoryAccess.of(op), lowering.kernel.counters, lowering.emit
    assert counters is not None, "this is code that counts"
    through_pointers = isinstance(access.address.type, t.TileType)
    where = (pointer_elements if through_pointers else view_elements)(lowering, access)
    accessed = emit.collector(I64(0))
    where.each(emit, lambda index, place: accessed.add(Int.__add__, I64(1)))
    counters.add(emit, counters.of_access(op), accessed.value)
