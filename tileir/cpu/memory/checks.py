"""Checks of accesses: code that stops the block before it touches memory that is not the launch's.

Each form of access is first asked the cheapest question that proves it harmless. Where that fails, the whole tile is
compared with the bounds of its memory, then each element with all memories.

    tensor view      once, where it is made: all that it claims lies in its memory. Tiles are clipped to it, so then no
                     access needs a check; else each tile is compared as a box, then element by element
    even pointers    first and last address of the tile, of the part that a mask leaves active if it is a box
    rows             first and last address of each row
    other pointers   the largest distance from the first address of the memory, over the lanes that are not masked off
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import reduce

from llvmlite import ir

from tileir.analysis.effects import MemoryAccess, access_of
from tileir.cpu.emit.algebra import Int
from tileir.cpu.emit.elements import I1, I8, I64
from tileir.cpu.emit.emitter import Index
from tileir.cpu.emit.exits import field_of
from tileir.cpu.emit.record import HANDED, TrapKind, TrapSite
from tileir.cpu.emit.tiles import (
    Bounds,
    Fit,
    NativeTensorView,
    address_of,
    distance,
    row_major,
    scalar,
    wide,
)
from tileir.cpu.lowering.products import forget_all
from tileir.cpu.lowering.reports import warn_if
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory import lookup
from tileir.cpu.memory.bounds import (
    LookupFacts,
    bounds_of,
    box_held,
    claimed,
    look_up,
    range_inside,
    room,
    written,
)
from tileir.cpu.memory.regions import (
    Box,
    Elements,
    MemoryRow,
    MemoryRows,
    PointerElements,
    Span,
    ViewElements,
    pointer_elements,
    span_of_pointers,
    view_elements,
)
from tileir.cpu.memory.strict import check_marks
from tileir.host import undefined
from tileir.ir import types as t
from tileir.ir.core import Op, Value
from tileir.ops import views


def check(lowering: Lowering, access: MemoryAccess, where: Box | MemoryRows | Elements) -> None:
    """Trap before memory is accessed where it may not be. Rows of pointers are checked one by one (`row_is_fine`)."""
    if isinstance(access.address.type, t.TileType):
        if not isinstance(where, MemoryRows):
            check_pointers(lowering, access, where if isinstance(where, Box) else None)
    elif isinstance(where, Box):
        _check_box(lowering, access, where)
    else:
        elements = where.elements if isinstance(where, MemoryRows) else where
        assert isinstance(elements, ViewElements), "the access goes through a view"
        _check_elements(lowering, access, elements)


def may_access(lowering: Lowering, access: MemoryAccess, box: Box) -> ir.Value:
    """Emit a test of whether all elements of a box that belong to an access may be accessed, as far as its memory is
    known."""
    builder = lowering.builder
    if box.span is None:
        fit = lowering.tile_view(access.address).tensor.fit
        return I1(1) if fit is None else fit.usable(access.writes)
    last, some = _last_of(builder, box)
    inside = _AccessCheck.through_pointers(lowering, access).holds_span(box.span, last)
    return builder.and_(box.regular, builder.or_(builder.not_(some), inside))


def _last_of(builder: ir.IRBuilder, box: Box) -> tuple[ir.Value, ir.Value]:
    """Return the address of the last active element of a box of pointers, and whether there is one."""
    assert box.span is not None, "the box is one of pointers"
    last, some, steps = box.span.first, I1(1), iter(box.span.steps)
    for extent, count in zip(box.window.type.shape, box.counts):
        some = builder.and_(some, builder.icmp_unsigned("!=", count, I64(0)))
        if extent > 1:
            last = builder.add(last, builder.mul(next(steps), builder.sub(count, I64(1))))
    return last, some


def row_is_fine(lowering: Lowering, access: MemoryAccess, row: MemoryRow) -> ir.Value:
    """Emit a test of whether a row of pointers is regular and may be accessed."""
    assert row.span is not None, "the row is one of pointers"
    builder = lowering.builder
    none = builder.icmp_unsigned("==", row.count, I64(0))
    inside = _AccessCheck.through_pointers(lowering, access).holds_span(row.span, row.end)
    return builder.and_(row.span.regular, builder.or_(none, inside))


# ---------------------------------------------------------------- the check of one access


@dataclass(frozen=True)
class _AccessCheck:
    """The check whether `op` may access elements of `size` bytes, which it reads or writes, in the memory of these
    bounds."""

    lowering: Lowering
    op: Op
    size: int
    write: bool
    bounds: Bounds | None

    @staticmethod
    def through_pointers(lowering: Lowering, access: MemoryAccess) -> _AccessCheck:
        """Return the check of an access through pointers."""
        pointers = lowering.tile(access.address)
        size = t.checked_cast(pointers.element, t.PointerType).pointee.byte_size
        first = pointers.at(lowering.emit, (I64(0),) * pointers.type.rank)
        return _AccessCheck(lowering, access.op, size, access.writes, bounds_of(lowering, first))

    def near(self, distance: ir.Value) -> ir.Value:
        """Emit a test of whether an element at a distance from the first address of the bounds lies within them."""
        assert self.bounds is not None
        builder = self.lowering.builder
        return builder.icmp_unsigned("<", distance, room(builder, self.bounds, self.size, self.write))

    def aligned(self, bits: ir.Value) -> ir.Value:
        builder = self.lowering.builder
        return builder.icmp_unsigned("==", builder.and_(bits, I64(self.size - 1)), I64(0))

    def holds_span(self, span: Span, last: ir.Value) -> ir.Value:
        """Emit a test of whether the elements of a regular span, up to the one at `last`, are aligned and lie in one
        memory."""
        builder, loose = self.lowering.builder, span.first
        if not self.lowering.checked:
            return I1(1)
        for step in span.steps:
            loose = builder.or_(loose, step)
        if self.bounds is None:
            length = builder.add(builder.sub(last, span.first), I64(self.size))
            return builder.and_(self.aligned(loose), range_inside(self.lowering, None, span.first, length, self.write))
        begins, ends = (builder.sub(address, self.bounds.begin) for address in (span.first, last))
        after = builder.icmp_unsigned("<=", begins, ends)
        return builder.and_(self.aligned(loose), builder.and_(after, self.near(ends)))

    def holds_box(self, span: Span, counts: Sequence[ir.Value], shape: Sequence[int]) -> ir.Value:
        """Emit a test of whether so many elements of each dimension of a regular span lie in one memory, which may have
        gaps."""
        counts = [count for count, extent in zip(counts, shape) if extent > 1]
        dimensions = [word for dim in zip(counts, span.steps) for word in dim]
        facts = LookupFacts(self.write, self.size, 8, len(counts))
        held = box_held(self.lowering, facts, span.first, dimensions)
        if self.write:
            forget_all(self.lowering)
        return self.lowering.builder.and_(span.regular, held)

    def holds_lanes(self, where: PointerElements) -> ir.Value:
        """Emit a test of whether the lanes that are not masked off are aligned and all lie in one memory."""
        emit, builder, bounds = self.lowering.emit, self.lowering.builder, self.bounds
        lowest, highest, loose = (emit.collector(I64(start)) for start in (-1, 0, 0))

        def visit(index: Index) -> None:
            pointer = where.pointers.at(emit, index)
            address = address_of(builder, pointer)
            distance = address if bounds is None else pointer.wide
            active = None if where.mask is None else wide(builder, where.mask.at(emit, index))

            def counted(value: ir.Value, neutral: int) -> ir.Value:
                return value if active is None else builder.select(active, value, I64(neutral))

            highest.add(Int.unsigned_maximum, counted(distance, 0))
            if bounds is None:
                lowest.add(Int.unsigned_minimum, counted(address, -1))
            if bounds is not None and _is_multiple(distance, self.size):
                builder.store(bounds.begin, loose.cell)
            else:
                loose.add(Int.__or__, counted(address, 0))

        emit.loop_nest(where.pointers.type.shape, visit)
        low, high, bits = lowest.value, highest.value, loose.value
        if bounds is None:
            length = builder.add(builder.sub(high, low), I64(self.size))
            inside = range_inside(self.lowering, None, low, length, self.write)
        else:
            inside = self.near(high)
        return builder.and_(inside, self.aligned(bits))

    def check_each(self, where: Elements) -> None:
        """Trap at the first element, in row-major order, that belongs to the access and may not be accessed."""
        lowering, emit, count = self.lowering, self.lowering.emit, where.type.count
        if self.write:
            forget_all(lowering)
        with emit.region():
            places = [emit.free_place(), I64(0)]
            addresses, chosen = emit.buffer(8 * count), None
            if where.is_partial:
                places[1] = emit.free_place()
                chosen = emit.buffer(count)
            with emit.rarely():
                emit.loop_nest(where.type.shape, lambda index: self._note(where, index, addresses, chosen))
            facts = LookupFacts(self.write, self.size, 8 * self.size, count)
            site = emit.trap_sites(TrapSite(self.op, "", TrapKind.ACCESS))
            emit.leave_with(look_up(lowering, lookup.LANES, facts, places, self.meant(), site))

    def _note(self, where: Elements, index: Index, addresses: ir.Value, chosen: ir.Value | None) -> None:
        """Write the address of an element, and whether it belongs to the access, into their tables."""
        emit, builder = self.lowering.emit, self.lowering.builder
        position, (active, place) = distance(builder, index, row_major(where.type.shape)), where.at(emit, index)
        builder.store(where.address_of(emit, place()), builder.gep(addresses, [position], source_etype=I64))
        if chosen is not None:
            builder.store(builder.zext(active, I8), builder.gep(chosen, [position], source_etype=I8))

    def meant(self) -> Bounds | None:
        """Return the allocation that an access is about, if that is known."""
        return self.bounds if self.bounds in self.lowering.allocations else None

    def box_sites(self) -> int:
        """Return the first of the trap sites of what can be wrong with a box."""
        too_large = f"the element offset {{}} of a view is larger than {lookup.MAX_OFFSET}"
        return self.lowering.emit.trap_sites(
            TrapSite(self.op, too_large, TrapKind.OFFSET),
            TrapSite(self.op, "the element offset {} of a view is at address {}, beyond 64 bits", TrapKind.REACH),
            TrapSite(self.op, "", TrapKind.ACCESS),
        )


def _is_multiple(number: ir.Value, factor: int) -> bool:
    """Return whether an integer is visibly a multiple of a power of two."""
    if isinstance(number, ir.Constant):
        return bool(number.constant % factor == 0)
    if not isinstance(number, ir.Instruction) or number.opname not in ("add", "mul"):
        return False
    found = [_is_multiple(term, factor) for term in number.operands]
    return all(found) if number.opname == "add" else any(found)


# ---------------------------------------------------------------- accesses through pointers


def check_pointers(lowering: Lowering, access: MemoryAccess, box: Box | None = None) -> None:
    """Trap before memory is accessed through pointers where it may not be; `box` is where they lead, if known."""
    if not lowering.checked:
        return
    emit, builder, where = lowering.emit, lowering.builder, pointer_elements(lowering, access)
    if where.type.count == 1:
        _check_pointer(lowering, access, where)
    else:
        with emit.region():
            guard, counts = _AccessCheck.through_pointers(lowering, access), list(map(I64, where.type.shape))
            span: Span | None = None
            if box is not None and box.span is not None:
                fine, counts = may_access(lowering, access, box), list(box.counts)
                span = replace(box.span, regular=box.regular)
            elif lowering.loads.regions[access.op].steps_evenly:
                span = span_of_pointers(lowering, access, where.type.shape)
                fine = builder.and_(span.regular, guard.holds_span(span, span.last))
            else:
                fine = guard.holds_lanes(where)
            with emit.when(builder.not_(fine), likely=False):
                held = I1(0) if span is None else guard.holds_box(span, counts, where.type.shape)
                with emit.when(builder.not_(held)):
                    # Remainders start again in all tiles at a border, so that this is not rare.
                    often = bool(lowering.loads.regions[access.op].remainders)
                    with emit.when(builder.not_(guard.holds_lanes(where)), likely=False) if often else nullcontext():
                        guard.check_each(where)
    check_marks(lowering, access, where)


def _check_pointer(lowering: Lowering, access: MemoryAccess, where: PointerElements) -> None:
    emit, builder, guard = lowering.emit, lowering.builder, _AccessCheck.through_pointers(lowering, access)
    address = address_of(builder, scalar(emit, where.pointers))
    active = I1(1) if where.mask is None else wide(builder, scalar(emit, where.mask))
    fine: ir.Value = I1(0)
    if guard.bounds is not None:
        distance = builder.sub(address, guard.bounds.begin)
        fine = builder.and_(guard.near(distance), guard.aligned(address))
    with emit.when(builder.and_(active, builder.not_(fine)), likely=False):
        guard.check_each(PointerElements(where.type, where.pointers, None))


def check_each_pointer(lowering: Lowering, access: MemoryAccess) -> None:
    """Trap at the first element that is not masked off and may not be accessed."""
    if lowering.checked:
        with lowering.emit.region():
            _AccessCheck.through_pointers(lowering, access).check_each(pointer_elements(lowering, access))


# ---------------------------------------------------------------- accesses through views


def fit_of(
    lowering: Lowering, pointer: Value, result: Value, view: NativeTensorView, element: t.ElementType
) -> Fit | None:
    """Compare what a tensor view claims with the memory of its base pointer, for the uses of `result`, the view.

    None where nothing is checked.
    """
    if not lowering.checked:
        return None
    builder, bounds = lowering.builder, bounds_of(lowering, lowering.scalar(pointer))
    first = builder.ptrtoint(view.base, I64)
    length, conditions = claimed(builder, view, element)
    if element.byte_size > 1:
        loose = builder.and_(first, I64(element.byte_size - 1))
        conditions.append(builder.icmp_unsigned("==", loose, I64(0)))
    fine = reduce(builder.and_, conditions, I1(1))
    dimensions = [word for dim in zip(view.extents, view.strides) for word in dim]

    def usable(write: bool) -> ir.Value:
        inside = I1(0) if bounds is None else range_inside(lowering, bounds, first, length, write)
        held = lowering.emit.stack(I1)
        builder.store(builder.and_(fine, inside), held)
        likely = None if bounds is None else False
        with lowering.emit.when(builder.and_(fine, builder.not_(inside)), likely):
            own = I1(1)
            if bounds is not None:
                own = range_inside(lowering, replace(bounds, end=bounds.last), first, length, False)
            facts = LookupFacts.of(write, element, len(view.extents))
            builder.store(builder.and_(own, box_held(lowering, facts, first, dimensions)), held)
        return builder.load(held, typ=I1)

    reads, writes = _uses_of(lowering.here.fusion.users, result)
    return Fit(bounds, usable(False) if reads else I1(0), usable(True) if writes else I1(0))


def check_claim(lowering: Lowering, op: views.MakeTensorView, view: NativeTensorView) -> None:
    """Warn of a tensor view that begins in its memory and claims more than that has; the host says how much."""
    builder, bounds = lowering.builder, bounds_of(lowering, lowering.scalar(op.base))
    if bounds is None:
        return
    first, whole = builder.ptrtoint(view.base, I64), replace(bounds, end=bounds.last)
    length, conditions = claimed(builder, view, op.result.type.element)
    conditions += [builder.icmp_unsigned("!=", extent, I64(0)) for extent in view.extents]
    conditions.append(range_inside(lowering, whole, first, I64(1), False))
    conditions.append(builder.not_(range_inside(lowering, whole, first, length, False)))
    words = written(lowering, "claim", (first, length, bounds.begin, bounds.last))
    builder.store(words, field_of(builder, lowering.emit.arena, HANDED))
    warn_if(lowering, reduce(builder.and_, conditions), op, undefined.OVERCLAIM)


_MADE_OF_TENSORS = (views.MakePartitionView, views.MakeStridedView, views.MakeGatherScatterView)
_ASKING = (views.GetTensorShape, views.GetIndexSpaceShape)


def _uses_of(users: Callable[[Value], Sequence[Op]], view: Value) -> tuple[bool, bool]:
    """Return whether memory is read through a view, and whether it is written; both if the view escapes."""
    reads = writes = False
    for user in users(view):
        access = access_of(user)
        if isinstance(user, _MADE_OF_TENSORS):
            found = _uses_of(users, user.results[0])
        elif access is not None:
            found = access.reads, access.writes
        else:
            found = (False, False) if isinstance(user, _ASKING) else (True, True)
        reads, writes = reads or found[0], writes or found[1]
    return reads, writes


def _check_box(lowering: Lowering, access: MemoryAccess, box: Box) -> None:
    """Trap before the elements of a tile that lie in the tensor are accessed where they may not be."""
    emit, builder, view = lowering.emit, lowering.builder, lowering.tile_view(access.address)
    element, fit, tile = view.type.element, view.tensor.fit, view.type.tile_shape
    if fit is None:
        return
    guard = _AccessCheck(lowering, access.op, element.byte_size, access.writes, fit.bounds)
    with emit.when(builder.not_(fit.usable(access.writes)), likely=False):
        facts = LookupFacts.of(access.writes, element, len(tile), tile)
        dimensions = (word for dim in zip(box.starts, box.counts, box.window.strides) for word in dim)
        places = (builder.ptrtoint(base, I64) for base in (box.window.base, view.tensor.base))
        emit.leave_with(look_up(lowering, lookup.BOX, facts, (*places, *dimensions), guard.meant(), guard.box_sites()))
    if lowering.strict:
        check_marks(lowering, access, view_elements(lowering, access))


def _check_elements(lowering: Lowering, access: MemoryAccess, where: ViewElements) -> None:
    """Trap before elements of a view are accessed one by one where they may not be."""
    emit, builder, tensor = lowering.emit, lowering.builder, where.tensor
    fit, element = tensor.fit, where.type.number
    if fit is None:
        return
    guard = _AccessCheck(lowering, access.op, element.byte_size, access.writes, fit.bounds)
    with emit.when(builder.not_(fit.usable(access.writes)), likely=False), emit.region():
        some, lasts = where.last(emit)
        with emit.when(some):
            strides = [tensor.strides[axis.dim] for axis in where.axes]
            dimensions = (word for last, stride in zip(lasts, strides) for word in (last, I64(1), stride))
            base = builder.ptrtoint(tensor.base, I64)
            facts = LookupFacts.of(access.writes, element, len(lasts))
            emit.leave_with(look_up(lowering, lookup.REACH, facts, (base, base, *dimensions), site=guard.box_sites()))
            guard.check_each(where)
    check_marks(lowering, access, where)
