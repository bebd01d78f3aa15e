"""Checks of memory accesses: code that stops the block before it touches memory that is not the launch's.

Knows: for each form of access the cheapest question that proves it harmless, and what is asked where that fails: first
the whole tile against the bounds of its memory, then each element against all memories. Does not know: how memory is
read and written, nor how a trap is put into words (`runtime.native`).

    tensor view      once, where it is made: all that it claims lies in its memory. Tiles are clipped to it, so then no
                     access needs a check; else each tile is compared as a box, then element by element
    even pointers    first and last address of the tile
    other pointers   the largest distance from the first address of the memory, over the lanes that are not masked off
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from llvmlite import ir

from tileir.analysis.effects import MemoryAccess
from tileir.cpu.analysis.loads import steps_evenly
from tileir.cpu.emit.elements import I1, I8, I64
from tileir.cpu.emit.emitter import Index, TrapKind
from tileir.cpu.emit.tiles import Tile, address_of, row_major, scalar, wide
from tileir.cpu.emit.views import Bounds, Fit, NativeTensorView, NativeTileView
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory.bounds import bounds_of, first_outside, range_inside, room
from tileir.cpu.memory.boxes import Box
from tileir.cpu.memory.gather import Gather
from tileir.cpu.memory.spans import span_of_pointers
from tileir.cpu.memory.unwritten import look_at_elements
from tileir.ir import types as t
from tileir.ir.core import Op, Value

MAX_OFFSET = (1 << 63) - 1
"""The largest element offset of a view (spec: undefined#catalogue)."""
_FARTHEST = 1 << 60
"""Bytes that no memory has: a box of as many is not looked at further."""
I128 = ir.IntType(128)


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
            fine = builder.and_(self.near(bounds, address), self.aligned(address))
        with lowering.emit.when(builder.and_(active, builder.not_(fine)), likely=False):
            inside = range_inside(lowering, None, address, I64(self.size), self.write)
            usable = builder.and_(inside, self.aligned(address))
            self.trap_if(builder.not_(usable), I64(0), address, bounds)

    def tile(self, pointers: Tile, mask: Tile | None, evenly: bool) -> None:
        lowering, emit, builder = self.lowering, self.lowering.emit, self.lowering.builder
        bounds = bounds_of(lowering, pointers.at(emit, (I64(0),) * pointers.type.rank))
        if not evenly:
            self.lanes(pointers, mask, bounds)
            return
        whole = span_of_pointers(emit, pointers)
        loose = whole.first
        for step in whole.steps:
            loose = builder.or_(loose, step)
        fine = builder.and_(whole.regular, self.aligned(loose))
        if bounds is None:
            length = builder.add(builder.sub(whole.last, whole.first), I64(self.size))
            fine = builder.and_(fine, range_inside(lowering, None, whole.first, length, self.write))
        else:
            fine = builder.and_(fine, builder.and_(self.near(bounds, whole.first), self.near(bounds, whole.last)))
        with emit.when(builder.not_(fine), likely=False), emit.region():
            self.lanes(pointers, mask, bounds)

    def lanes(self, pointers: Tile, mask: Tile | None, bounds: Bounds | None) -> None:
        """Compare the lanes that are not masked off: all together, then, if that fails, one by one."""
        emit, builder = self.lowering.emit, self.lowering.builder
        origin = I64(0) if bounds is None else bounds.begin
        lowest, highest, loose, some = (emit.stack(I64) for _ in range(4))
        for cell, start in ((lowest, -1), (highest, 0), (loose, 0), (some, 0)):
            builder.store(I64(start), cell)

        def visit(index: Index) -> None:
            address = address_of(builder, pointers.at(emit, index))
            at, bits = builder.sub(address, origin), address
            active: ir.Value = I1(1)
            if mask is not None:
                active = wide(builder, mask.at(emit, index))
            self._collect(lowest, "<", builder.select(active, at, I64(-1)))
            self._collect(highest, ">", builder.select(active, at, I64(0)))
            builder.store(builder.or_(builder.load(loose, typ=I64), builder.select(active, bits, I64(0))), loose)
            builder.store(builder.or_(builder.load(some, typ=I64), builder.zext(active, I64)), some)

        emit.loop_nest(pointers.type.shape, visit)
        low, high, bits, any_ = (builder.load(cell, typ=I64) for cell in (lowest, highest, loose, some))
        if bounds is None:
            length = builder.add(builder.sub(high, low), I64(self.size))
            inside = range_inside(self.lowering, None, low, length, self.write)
        else:
            inside = builder.icmp_unsigned("<", high, room(builder, bounds, self.size, self.write))
        fine = builder.and_(inside, self.aligned(bits))
        wrong = builder.and_(builder.icmp_unsigned("!=", any_, I64(0)), builder.not_(fine))
        with emit.when(wrong, likely=False), emit.region():
            self.each(
                pointers.type.shape,
                lambda index: address_of(builder, pointers.at(emit, index)),
                None if mask is None else lambda index: wide(builder, mask.at(emit, index)),
                bounds,
            )

    def _collect(self, cell: ir.Value, better: str, value: ir.Value) -> None:
        builder = self.lowering.builder
        kept = builder.load(cell, typ=I64)
        builder.store(builder.select(builder.icmp_unsigned(better, value, kept), value, kept), cell)

    # ------------------------------------------------------------ every element by itself

    def each(
        self,
        shape: Sequence[int],
        address: Callable[[Index], ir.Value],
        active: Callable[[Index], ir.Value] | None,
        bounds: Bounds | None,
    ) -> None:
        """Trap at the first element, in row-major order, that is active and may not be accessed."""
        lowering, emit, builder = self.lowering, self.lowering.emit, self.lowering.builder
        count = prod(shape)
        addresses, chosen = emit.buffer(8 * count), emit.buffer(count)
        strides = row_major(shape)

        def note(index: Index) -> None:
            position: ir.Value = I64(0)
            for at, stride in zip(index, strides):
                position = builder.add(position, builder.mul(at, stride))
            flag = I8(1) if active is None else builder.zext(active(index), I8)
            builder.store(flag, builder.gep(chosen, [position], source_etype=I8))
            builder.store(address(index), builder.gep(addresses, [position], source_etype=I64))

        emit.loop_nest(shape, note)
        found = first_outside(lowering, addresses, chosen, count, self.size, self.write)
        wrong = builder.icmp_signed(">=", found, I64(0))
        with emit.when(wrong, likely=False):
            address_found = builder.load(builder.gep(addresses, [found], source_etype=I64), typ=I64)
            self.trap_if(I1(1), found, address_found, bounds)

    # ------------------------------------------------------------ conditions and the trap

    def near(self, bounds: Bounds, address: ir.Value) -> ir.Value:
        """Whether an element at `address` lies within the bounds."""
        builder = self.lowering.builder
        distance = builder.sub(address, bounds.begin)
        return builder.icmp_unsigned("<", distance, room(builder, bounds, self.size, self.write))

    def aligned(self, bits: ir.Value) -> ir.Value:
        builder = self.lowering.builder
        return builder.icmp_unsigned("==", builder.and_(bits, I64(self.size - 1)), I64(0))

    def largest_offset(self, lasts: Sequence[ir.Value], strides: Sequence[ir.Value]) -> ir.Value:
        """The largest element offset of a box in a tensor, as an i128; traps if it is too large."""
        builder, last = self.lowering.builder, I128(0)
        for at, stride in zip(lasts, strides):
            last = builder.add(last, builder.mul(builder.zext(at, I128), builder.zext(stride, I128)))
        words = [builder.trunc(last, I64), builder.trunc(builder.lshr(last, I128(64)), I64)]
        message = f"the element offset {{}} of a view is larger than {MAX_OFFSET}"
        too_large = builder.icmp_unsigned(">", last, I128(MAX_OFFSET))
        self.lowering.emit.trap_with(too_large, self.op, message, TrapKind.OFFSET, words)
        return last

    def reach(self, last: ir.Value, base: ir.Value, element: t.ElementType) -> None:
        """Trap if the element at the offset `last`, an i128, lies beyond 64 bits."""
        builder = self.lowering.builder
        bits = builder.mul(last, I128(element.memory_bits))
        first = builder.ptrtoint(base, I64)
        address = builder.add(builder.zext(first, I128), builder.lshr(bits, I128(3)))
        beyond = builder.icmp_unsigned("!=", builder.lshr(address, I128(64)), I128(0))
        message = "the element offset {} of a view is at address {}, beyond 64 bits"
        words = [builder.trunc(last, I64), first]
        self.lowering.emit.trap_with(beyond, self.op, message, TrapKind.REACH, words)

    def trap_if(self, condition: ir.Value, lane: ir.Value, address: ir.Value, bounds: Bounds | None) -> None:
        meant = (bounds.begin, bounds.end) if bounds in self.lowering.allocations and bounds else (I64(0), I64(0))
        self.lowering.emit.trap_with(condition, self.op, "", TrapKind.ACCESS, (lane, address, *meant))


# ---------------------------------------------------------------- accesses through pointers


def check_pointers(lowering: Lowering, access: MemoryAccess) -> None:
    """Trap before memory is accessed through a tile of pointers where it may not be."""
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
            guard.tile(pointers, mask, steps_evenly(lowering.known, access.address))
    look_at_elements(
        lowering,
        access,
        pointers.type.shape,
        pointee.byte_size,
        lambda index: address_of(lowering.builder, pointers.at(lowering.emit, index)),
        None if mask is None else lambda index: wide(lowering.builder, mask.at(lowering.emit, index)),
    )


# ---------------------------------------------------------------- accesses through views


def fit_of(lowering: Lowering, pointer: Value, view: NativeTensorView, element: t.ElementType) -> Fit | None:
    """Compare what a tensor view claims with the memory of its base pointer; None where nothing is checked."""
    if not lowering.checked:
        return None
    bounds = bounds_of(lowering, scalar(lowering.emit, lowering.tile(pointer)))
    claim = _Claim(view.base, view.extents, view.strides, element)
    return Fit(bounds, claim.usable(lowering, bounds, write=False), claim.usable(lowering, bounds, write=True))


@dataclass(frozen=True)
class _Claim:
    """Elements in memory: the address of the first, how many there are of each dimension, how far apart."""

    base: ir.Value
    counts: Sequence[ir.Value]
    strides: Sequence[ir.Value]
    element: t.ElementType

    @property
    def size(self) -> int:
        return self.element.byte_size

    def usable(self, lowering: Lowering, bounds: Bounds | None, write: bool) -> ir.Value:
        """Whether all of it may be accessed, as a box without elements may."""
        builder = lowering.builder
        empty, overflow, last = I1(0), I1(0), I64(0)
        for count, stride in zip(self.counts, self.strides):
            empty = builder.or_(empty, builder.icmp_unsigned("==", count, I64(0)))
            product = builder.umul_with_overflow(builder.sub(count, I64(1)), stride)
            total = builder.uadd_with_overflow(last, builder.extract_value(product, 0))
            last = builder.extract_value(total, 0)
            for pair in (product, total):
                overflow = builder.or_(overflow, builder.extract_value(pair, 1))
        overflow = builder.or_(overflow, builder.icmp_unsigned(">=", last, I64(_FARTHEST // self.size)))
        first = builder.ptrtoint(self.base, I64)
        length = builder.add(byte_of(builder, last, self.element), I64(self.size))
        inside = range_inside(lowering, bounds, first, length, write)
        aligned = builder.icmp_unsigned("==", builder.and_(first, I64(self.size - 1)), I64(0))
        return builder.or_(empty, builder.and_(builder.and_(inside, aligned), builder.not_(overflow)))


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

    with emit.when(builder.not_(fit.usable(access.writes)), likely=False), emit.region():
        some: ir.Value = I1(1)
        for count in box.counts:
            some = builder.and_(some, builder.icmp_unsigned("!=", count, I64(0)))
        with emit.when(some):
            lasts = [builder.add(start, builder.sub(count, I64(1))) for start, count in zip(box.starts, box.counts)]
            last = guard.largest_offset(lasts, box.strides)
            usable = _Claim(box.base, box.counts, box.strides, element).usable(lowering, fit.bounds, access.writes)
            with emit.when(builder.not_(usable), likely=False):
                guard.reach(last, tensor.base, element)

                guard.each(view.type.tile_shape, address, active, fit.bounds)
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
            last = guard.largest_offset(lasts, [tensor.strides[axis.dim] for axis in where.axes])
            guard.reach(last, tensor.base, element)
            guard.each(type.shape, address, active, fit.bounds)
    look_at_elements(lowering, access, type.shape, element.byte_size, address, active)


def byte_of(builder: ir.IRBuilder, offset: ir.Value, element: t.ElementType) -> ir.Value:
    """The byte, counted from the first of a tensor, in which the element at an offset begins."""
    if element is t.F4E2M1FN:
        return builder.lshr(offset, I64(1))
    return builder.mul(offset, I64(element.byte_size))
