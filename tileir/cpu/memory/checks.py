"""Checks of memory accesses: code that stops the block before it touches memory that is not the launch's.

Knows: for each form of access the cheapest question that proves it harmless, and what is asked where that fails: first
the whole tile against the bounds of its memory, then each element against all memories. Does not know: how memory is
read and written, nor how a trap is put into words (`runtime.native`).

    tensor view      once, where it is made: all that it claims lies in its memory. Tiles are clipped to it, so then no
                     access needs a check; else each tile is compared as a box, then element by element
    even pointers    first and last address of the tile, of the part that a mask leaves active if it is a box
    other pointers   the largest distance from the first address of the memory, over the lanes that are not masked off
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod

from llvmlite import ir

from tileir.analysis.effects import MemoryAccess
from tileir.cpu.analysis.loads import steps_evenly
from tileir.cpu.analysis.view_uses import accesses_through
from tileir.cpu.emit.algebra import Int
from tileir.cpu.emit.elements import I1, I8, I64
from tileir.cpu.emit.emitter import Index
from tileir.cpu.emit.record import TrapKind, TrapSite
from tileir.cpu.emit.tiles import (
    Bounds,
    Fit,
    NativeTensorView,
    NativeTileView,
    Tile,
    address_of,
    distance,
    row_major,
    scalar,
    wide,
)
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory import lookup
from tileir.cpu.memory.bounds import MemoryQuestion, asked, bounds_of, range_inside, room
from tileir.cpu.memory.boxes import Box
from tileir.cpu.memory.gather import Gather
from tileir.cpu.memory.pointer_boxes import PointerBox
from tileir.cpu.memory.spans import Span, span_of_pointers
from tileir.cpu.memory.unwritten import look_at_elements
from tileir.ir import types as t
from tileir.ir.core import Op, Value


@dataclass(frozen=True)
class _Access:
    """One access to be checked: elements of `size` bytes, read or written by `op`."""

    lowering: Lowering
    op: Op
    size: int
    write: bool

    # ------------------------------------------------------------ pointers

    def scalar(self, pointer: Tile, mask: Tile | None) -> None:
        lowering, builder = self.lowering, self.lowering.builder
        number = scalar(lowering.emit, pointer)
        address, bounds = address_of(builder, number), bounds_of(lowering, number)
        active = I1(1) if mask is None else wide(builder, scalar(lowering.emit, mask))
        fine: ir.Value = I1(0)
        if bounds is not None:
            distance = builder.sub(address, bounds.begin)
            fine = builder.and_(self.near(bounds, distance), self.aligned(address))
        with lowering.emit.when(builder.and_(active, builder.not_(fine)), likely=False):
            self.look_at_lanes((), lambda index: address, None, bounds)

    def tile(self, pointers: Tile, mask: Tile | None, evenly: bool, place: PointerBox | None) -> None:
        lowering, emit, builder = self.lowering, self.lowering.emit, self.lowering.builder
        bounds = _bounds_of_tile(lowering, pointers)
        if not evenly:
            self.lanes(pointers, mask, bounds)
            return
        if place is None:
            whole = span_of_pointers(emit, pointers, pointers.type.shape)
            fine = builder.and_(whole.regular, self.span_inside(whole, whole.last, bounds))
        else:
            last, some = place.last(builder)
            inside = self.span_inside(place.span, last, bounds)
            fine = builder.and_(place.regular, builder.or_(builder.not_(some), inside))
        with emit.when(builder.not_(fine), likely=False):
            self.look_at_pointers(pointers, mask, bounds)

    def span_inside(self, span: Span, last: ir.Value, bounds: Bounds | None) -> ir.Value:
        """Whether the elements of a regular span, up to the one at `last`, are aligned and lie in one memory."""
        builder, loose = self.lowering.builder, span.first
        for step in span.steps:
            loose = builder.or_(loose, step)
        if bounds is None:
            length = builder.add(builder.sub(last, span.first), I64(self.size))
            return builder.and_(self.aligned(loose), range_inside(self.lowering, None, span.first, length, self.write))
        begins, ends = (builder.sub(address, bounds.begin) for address in (span.first, last))
        after = builder.icmp_unsigned("<=", begins, ends)
        return builder.and_(self.aligned(loose), builder.and_(after, self.near(bounds, ends)))

    def lanes(self, pointers: Tile, mask: Tile | None, bounds: Bounds | None) -> None:
        """Compare the lanes that are not masked off: all together, then, if that fails, one by one."""
        emit, builder = self.lowering.emit, self.lowering.builder
        lowest, highest, loose = (emit.stack(I64) for _ in range(3))
        for cell, start in ((lowest, -1), (highest, 0), (loose, 0)):
            builder.store(I64(start), cell)

        def visit(index: Index) -> None:
            pointer = pointers.at(emit, index)
            address = address_of(builder, pointer)
            distance = address if bounds is None else pointer.wide
            active = None if mask is None else wide(builder, mask.at(emit, index))
            self._collect(highest, Int.unsigned_maximum, distance, active, 0)
            if bounds is None:
                self._collect(lowest, Int.unsigned_minimum, address, active, -1)
            if bounds is not None and _is_multiple(distance, self.size):
                builder.store(bounds.begin, loose)
            else:
                self._collect(loose, Int.__or__, address, active, 0)

        emit.loop_nest(pointers.type.shape, visit)
        low, high, bits = (builder.load(cell, typ=I64) for cell in (lowest, highest, loose))
        if bounds is None:
            length = builder.add(builder.sub(high, low), I64(self.size))
            inside = range_inside(self.lowering, None, low, length, self.write)
        else:
            inside = self.near(bounds, high)
        with emit.when(builder.not_(builder.and_(inside, self.aligned(bits))), likely=False):
            self.look_at_pointers(pointers, mask, bounds)

    def _collect(
        self, cell: ir.Value, join: Callable[[Int, Int], Int], value: ir.Value, active: ir.Value | None, neutral: int
    ) -> None:
        builder = self.lowering.builder
        counted = value if active is None else builder.select(active, value, I64(neutral))
        builder.store(join(Int(builder, builder.load(cell, typ=I64)), Int(builder, counted)).value, cell)

    # ------------------------------------------------------------ every element by itself

    def look_at_pointers(self, pointers: Tile, mask: Tile | None, bounds: Bounds | None) -> None:
        emit, builder = self.lowering.emit, self.lowering.builder
        self.look_at_lanes(
            pointers.type.shape,
            lambda index: address_of(builder, pointers.at(emit, index)),
            None if mask is None else lambda index: wide(builder, mask.at(emit, index)),
            bounds,
        )

    def look_at_lanes(
        self,
        shape: Sequence[int],
        address: Callable[[Index], ir.Value],
        active: Callable[[Index], ir.Value] | None,
        bounds: Bounds | None,
    ) -> None:
        """Trap at the first element, in row-major order, that is active and may not be accessed."""
        lowering, emit, count = self.lowering, self.lowering.emit, prod(shape)
        with emit.region():
            places = [emit.free_place(), I64(0)]
            tables = [emit.buffer(8 * count)]
            if active is not None:
                places[1] = emit.free_place()
                tables.append(emit.buffer(count))
            emit.rare_nest(shape, lambda index: self._note(index, shape, tables, address(index), active))
            question = MemoryQuestion(self.write, self.size, 8 * self.size, count)
            site = emit.trap_sites(TrapSite(self.op, "", TrapKind.ACCESS))
            emit.leave_with(asked(lowering, lookup.LANES, question, places, self.meant(bounds), site))

    def _note(
        self,
        index: Index,
        shape: Sequence[int],
        tables: Sequence[ir.Value],
        address: ir.Value,
        active: Callable[[Index], ir.Value] | None,
    ) -> None:
        """Write the address of an element into the first table, and whether it is active into the second."""
        builder = self.lowering.builder
        position = distance(builder, index, row_major(shape))
        builder.store(address, builder.gep(tables[0], [position], source_etype=I64))
        if active is not None:
            builder.store(builder.zext(active(index), I8), builder.gep(tables[1], [position], source_etype=I8))

    # ------------------------------------------------------------ conditions and the trap

    def near(self, bounds: Bounds, distance: ir.Value) -> ir.Value:
        """Whether an element at a distance from the first address of the bounds lies within them."""
        builder = self.lowering.builder
        return builder.icmp_unsigned("<", distance, room(builder, bounds, self.size, self.write))

    def aligned(self, bits: ir.Value) -> ir.Value:
        builder = self.lowering.builder
        return builder.icmp_unsigned("==", builder.and_(bits, I64(self.size - 1)), I64(0))

    def meant(self, bounds: Bounds | None) -> Bounds | None:
        """The allocation that an access is about, if that is known."""
        return bounds if bounds in self.lowering.allocations else None

    def box_sites(self) -> int:
        """The trap sites of what can be wrong with a box."""
        too_large = f"the element offset {{}} of a view is larger than {lookup.MAX_OFFSET}"
        return self.lowering.emit.trap_sites(
            TrapSite(self.op, too_large, TrapKind.OFFSET),
            TrapSite(self.op, "the element offset {} of a view is at address {}, beyond 64 bits", TrapKind.REACH),
            TrapSite(self.op, "", TrapKind.ACCESS),
        )


def _is_multiple(number: ir.Value, factor: int) -> bool:
    """Whether an integer is a multiple of a power of two, as far as is plain to see."""
    if isinstance(number, ir.Constant):
        return bool(number.constant % factor == 0)
    if not isinstance(number, ir.Instruction) or number.opname not in ("add", "mul"):
        return False
    found = [_is_multiple(term, factor) for term in number.operands]
    return all(found) if number.opname == "add" else any(found)


# ---------------------------------------------------------------- accesses through pointers


def check_pointers(lowering: Lowering, access: MemoryAccess, place: PointerBox | None = None) -> None:
    """Trap before memory is accessed through a tile of pointers where it may not be; `place` is its box, if any."""
    if not lowering.checked:
        return
    pointers = lowering.tile(access.address)
    mask = None if access.mask is None else lowering.tile(access.mask)
    pointee = t.checked_cast(pointers.element, t.PointerType).pointee
    guard = _Access(lowering, access.op, pointee.byte_size, access.writes)
    if pointers.type.count == 1:
        guard.scalar(pointers, mask)
    else:
        with lowering.emit.region():
            guard.tile(pointers, mask, steps_evenly(lowering.known, access.address), place)
    look_at_elements(
        lowering,
        access,
        pointers.type.shape,
        pointee.byte_size,
        lambda index: address_of(lowering.builder, pointers.at(lowering.emit, index)),
        None if mask is None else lambda index: wide(lowering.builder, mask.at(lowering.emit, index)),
    )


def may_access(lowering: Lowering, access: MemoryAccess, place: PointerBox) -> ir.Value:
    """An i1: whether the active elements of a box, of which there is at least one, may all be accessed."""
    return may_access_span(lowering, access, place.span, place.last(lowering.builder)[0])


def may_access_span(lowering: Lowering, access: MemoryAccess, span: Span, last: ir.Value) -> ir.Value:
    """An i1: whether the elements of a regular span may all be accessed, up to the one at `last`."""
    if not lowering.checked:
        return I1(1)
    pointers = lowering.tile(access.address)
    guard = _Access(lowering, access.op, pointers.type.pointer.pointee.byte_size, access.writes)
    return guard.span_inside(span, last, _bounds_of_tile(lowering, pointers))


def check_each_pointer(lowering: Lowering, access: MemoryAccess) -> None:
    """Trap at the first element that is not masked off and may not be accessed."""
    if not lowering.checked:
        return
    pointers = lowering.tile(access.address)
    mask = None if access.mask is None else lowering.tile(access.mask)
    guard = _Access(lowering, access.op, pointers.type.pointer.pointee.byte_size, access.writes)
    with lowering.emit.region():
        guard.look_at_pointers(pointers, mask, _bounds_of_tile(lowering, pointers))


def _bounds_of_tile(lowering: Lowering, pointers: Tile) -> Bounds | None:
    return bounds_of(lowering, pointers.at(lowering.emit, (I64(0),) * pointers.type.rank))


# ---------------------------------------------------------------- accesses through views


def fit_of(
    lowering: Lowering, pointer: Value, result: Value, view: NativeTensorView, element: t.ElementType
) -> Fit | None:
    """Compare what a tensor view claims with the memory of its base pointer; None where nothing is checked.

    `result` is the value, of which it depends for what the view is used.
    """
    if not lowering.checked:
        return None
    builder, bounds = lowering.builder, bounds_of(lowering, scalar(lowering.emit, lowering.tile(pointer)))
    first = builder.ptrtoint(view.base, I64)
    length, fine = _claimed(builder, view, element)
    if element.byte_size > 1:
        loose = builder.and_(first, I64(element.byte_size - 1))
        fine.append(builder.icmp_unsigned("==", loose, I64(0)))

    def usable(write: bool) -> ir.Value:
        return reduce(builder.and_, fine, range_inside(lowering, bounds, first, length, write))

    reads, writes = accesses_through(lowering.fusion.users, result)
    return Fit(bounds, usable(False) if reads else I1(0), usable(True) if writes else I1(0))


def _claimed(builder: ir.IRBuilder, view: NativeTensorView, element: t.ElementType) -> tuple[ir.Value, list[ir.Value]]:
    """The bytes that a tensor claims, and the conditions on which it can be so many: those that are not known to hold.

    Of a tensor without elements it may say anything, as nothing is accessed.
    """
    last, most = I64(0), 0
    fine: list[ir.Value] = []
    for extent, stride in zip(view.extents, view.strides):
        step, most_step = builder.sub(extent, I64(1)), (_most(extent) - 1) * _most(stride)
        product, wraps = _checked(builder, "mul", most_step, step, stride)
        last, carries = _checked(builder, "add", most + most_step, last, product)
        fine += [builder.not_(beyond) for beyond in (wraps, carries) if beyond is not None]
        most += most_step
    if most >= lookup.FARTHEST // element.byte_size:
        fine.append(builder.icmp_unsigned("<", last, I64(lookup.FARTHEST // element.byte_size)))
    return builder.add(byte_of(builder, last, element), I64(element.byte_size)), fine


def _most(value: ir.Value) -> int:
    """The largest number that an i64, read as unsigned, can be as far as is plain to see."""
    if isinstance(value, ir.Constant):
        return int(value.constant) % (1 << 64)
    narrow = isinstance(value, ir.CastInstr) and value.opname == "zext"
    return int((1 << (value.operands[0].type.width if narrow else 64)) - 1)


def _checked(
    builder: ir.IRBuilder, operation: str, most: int, lhs: ir.Value, rhs: ir.Value
) -> tuple[ir.Value, ir.Value | None]:
    """A sum or product of i64 that is `most` at most, and whether it is beyond 64 bits, if it can be."""
    if most < 1 << 64:
        return getattr(builder, operation)(lhs, rhs), None
    pair = getattr(builder, f"u{operation}_with_overflow")(lhs, rhs)
    return builder.extract_value(pair, 0), builder.extract_value(pair, 1)


def check_box(lowering: Lowering, access: MemoryAccess, view: NativeTileView, box: Box) -> None:
    """Trap before the elements of a tile that lie in the tensor are accessed where they may not be."""
    emit, builder, tensor = lowering.emit, lowering.builder, view.tensor
    fit, element = tensor.fit, view.type.element
    if fit is None:
        return
    guard = _Access(lowering, access.op, element.byte_size, access.writes)

    def address(index: Index) -> ir.Value:
        offset: ir.Value = I64(0)
        for at, stride in zip(index, box.strides):
            offset = builder.add(offset, builder.mul(at, stride))
        return builder.add(builder.ptrtoint(box.base, I64), byte_of(builder, offset, element))

    def active(index: Index) -> ir.Value:
        return _below(builder, index, box.counts)

    with emit.when(builder.not_(fit.usable(access.writes)), likely=False):
        tile = view.type.tile_shape
        question = MemoryQuestion.of(access.writes, element, len(tile), tile)
        dimensions = (word for dim in zip(box.starts, box.counts, box.strides) for word in dim)
        words = (builder.ptrtoint(box.base, I64), builder.ptrtoint(tensor.base, I64), *dimensions)
        emit.leave_with(asked(lowering, lookup.BOX, question, words, guard.meant(fit.bounds), guard.box_sites()))
    look_at_elements(lowering, access, view.type.tile_shape, element.byte_size, address, active)


def _below(builder: ir.IRBuilder, index: Index, counts: Sequence[ir.Value]) -> ir.Value:
    inside: ir.Value = I1(1)
    for at, count in zip(index, counts):
        inside = builder.and_(inside, builder.icmp_unsigned("<", at, count))
    return inside


def check_gather(lowering: Lowering, access: MemoryAccess, type: t.TileType, where: Gather) -> None:
    """Trap before the elements of a tile are accessed one by one where they may not be."""
    emit, builder, tensor = lowering.emit, lowering.builder, where.tensor
    fit, element = tensor.fit, type.number
    if fit is None:
        return
    guard = _Access(lowering, access.op, element.byte_size, access.writes)

    def address(index: Index) -> ir.Value:
        offset, _ = where.offset(emit, index)
        return builder.add(builder.ptrtoint(tensor.base, I64), byte_of(builder, offset, element))

    def active(index: Index) -> ir.Value:
        return where.offset(emit, index)[1]

    with emit.when(builder.not_(fit.usable(access.writes)), likely=False), emit.region():
        some, lasts = where.last(emit, type.shape)
        with emit.when(some):
            strides = [tensor.strides[axis.dim] for axis in where.axes]
            dimensions = (word for last, stride in zip(lasts, strides) for word in (last, I64(1), stride))
            base = builder.ptrtoint(tensor.base, I64)
            question = MemoryQuestion.of(access.writes, element, len(lasts))
            emit.leave_with(asked(lowering, lookup.REACH, question, (base, base, *dimensions), site=guard.box_sites()))
            guard.look_at_lanes(type.shape, address, active, fit.bounds)
    look_at_elements(lowering, access, type.shape, element.byte_size, address, active)


def byte_of(builder: ir.IRBuilder, offset: ir.Value, element: t.ElementType) -> ir.Value:
    """The byte, counted from the first of a tensor, in which the element at an offset begins."""
    if element is t.F4E2M1FN:
        return builder.lshr(offset, I64(1))
    return builder.mul(offset, I64(element.byte_size))
