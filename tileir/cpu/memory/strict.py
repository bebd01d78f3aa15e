"""The checks of strict mode on accesses (spec: undefined#catalogue).

edges         tiles that leave their tensor as they must not
duplicates    equal addresses in a tile of pointers: by its ends where it steps evenly, else in a table
unwritten     reads of storage of the tile block that nothing was written to, by marks beside the bytes of each
              `alloca`: 1 where nothing was written
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from tileir.analysis.effects import MemoryAccess
from tileir.cpu.emit.algebra import Int
from tileir.cpu.emit.elements import I1, I8, I64, PTR
from tileir.cpu.emit.emitter import Index
from tileir.cpu.emit.tiles import Tile, address_of, distance, row_major, wide
from tileir.cpu.lowering.reports import warn_if
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory.bounds import MARKS, kept
from tileir.cpu.memory.lookup import counted, declared
from tileir.cpu.memory.regions import Elements, view_elements
from tileir.host import undefined
from tileir.ir.core import Op
from tileir.ops.module import drops_outer_tiles

_MARK_WORDS = 3
_READS, _WRITES = 1, 2
_SPREAD = 0x9E3779B97F4A7C15
"""Fibonacci hashing (Knuth, The Art of Computer Programming, section 6.4): 2^64 divided by the golden ratio."""

# ---------------------------------------------------------------- edges of tensors


def check_edges(lowering: Lowering, op: Op) -> ir.Value:
    """Trap where an access leaves its tensor as it must not; return whether all of its tile lies inside."""
    access = MemoryAccess.of(op)
    emit, builder, where = lowering.emit, lowering.builder, view_elements(lowering, access)
    whole: ir.Value = I1(1)
    promised = op.attributes.get("inbounds") or (False,) * len(where.axes)
    for dim, (axis, extent) in enumerate(zip(where.axes, where.type.shape)):
        count = axis.count(emit, extent)
        if access.sparse_dim is None and not drops_outer_tiles(op):
            emit.trap_if(builder.icmp_unsigned("==", count, I64(0)), op, undefined.outside_index_space(dim))
        inside = builder.icmp_unsigned("==", count, I64(extent))
        whole = builder.and_(whole, inside)
        if promised[dim]:
            emit.trap_if(builder.not_(inside), op, undefined.not_inbounds(dim))
    return whole


# ---------------------------------------------------------------- equal addresses


def any_twice(lowering: Lowering, pointers: Tile, mask: Tile | None) -> ir.Value:
    """Return whether two elements that are not masked off have the same address."""
    emit, builder, type = lowering.emit, lowering.builder, pointers.type
    size = 2 * type.count
    with emit.region():
        addresses, active = emit.buffer(8 * type.count), emit.buffer(type.count)
        keys, used = emit.buffer(8 * size), emit.buffer(size)
        strides = row_major(type.shape)

        def note(index: Index) -> None:
            position = distance(builder, index, strides)
            flag = I8(1) if mask is None else builder.zext(wide(builder, mask.at(emit, index)), I8)
            builder.store(flag, builder.gep(active, [position], source_etype=I8))
            address = address_of(builder, pointers.at(emit, index))
            builder.store(address, builder.gep(addresses, [position], source_etype=I64))

        emit.loop_nest(type.shape, note)
        arguments = [addresses, active, I64(type.count), keys, used, I64(size)]
        return builder.call(_any_twice(emit.module), arguments)


def _any_twice(module: ir.Module) -> ir.Function:
    """Make ``any_twice(addresses, active, count, keys, used, size)``: `keys` and `used` are a table of `size`
    entries."""
    function = declared(module, "tileir.any_twice", I1, (PTR, PTR, I64, PTR, PTR, I64))
    if not function.blocks:
        _define_any_twice(function)
    return function


def _define_any_twice(function: ir.Function) -> None:
    addresses, active, count, keys, used, size = function.args
    builder = ir.IRBuilder(function.append_basic_block())
    with counted(builder, size) as entry:
        builder.store(I8(0), builder.gep(used, [entry], source_etype=I8))
    with counted(builder, count) as position:
        chosen = builder.load(builder.gep(active, [position], source_etype=I8), typ=I8)
        with builder.if_then(builder.icmp_unsigned("!=", chosen, I8(0))):
            key = builder.load(builder.gep(addresses, [position], source_etype=I64), typ=I64)
            _enter(builder, key, keys, used, size, lambda: builder.ret(I1(1)))
    builder.ret(I1(0))


def _enter(
    builder: ir.IRBuilder, key: ir.Value, keys: ir.Value, used: ir.Value, size: ir.Value, found: Callable[[], object]
) -> None:
    """Put a key into the first free entry from its own on: half of the table is always free."""
    last = builder.sub(size, I64(1))
    start = builder.and_(builder.lshr(builder.mul(key, I64(_SPREAD)), I64(32)), last)
    before, probe, taken, free = (builder.block, *(builder.append_basic_block() for _ in range(3)))
    other, following = builder.append_basic_block(), builder.append_basic_block()
    builder.branch(probe)
    builder.position_at_end(probe)
    entry = builder.phi(I64)
    entry.add_incoming(start, before)
    flag = builder.load(builder.gep(used, [entry], source_etype=I8), typ=I8)
    builder.cbranch(builder.icmp_unsigned("==", flag, I8(0)), free, taken)
    builder.position_at_end(taken)
    held = builder.load(builder.gep(keys, [entry], source_etype=I64), typ=I64)
    builder.cbranch(builder.icmp_unsigned("==", held, key), other, following)
    builder.position_at_end(other)
    found()
    builder.position_at_end(following)
    entry.add_incoming(builder.and_(builder.add(entry, I64(1)), last), following)
    builder.branch(probe)
    builder.position_at_end(free)
    builder.store(I8(1), builder.gep(used, [entry], source_etype=I8))
    builder.store(key, builder.gep(keys, [entry], source_etype=I64))


# ---------------------------------------------------------------- storage that nothing was written to


def new_marks(lowering: Lowering, size: int) -> ir.Value:
    """Make marks for `size` bytes that nothing was written to; return the address of the first."""
    marks = lowering.emit.buffer(max(1, size))
    with counted(lowering.builder, I64(size)) as at:
        lowering.builder.store(I8(1), lowering.builder.gep(marks, [at], source_etype=I8))
    return lowering.builder.ptrtoint(marks, I64)


def check_marks(lowering: Lowering, access: MemoryAccess, where: Elements) -> None:
    """Mark what an access writes, in strict mode; warn if it reads storage that nothing was written to."""
    if not lowering.strict or not lowering.allocations:
        return
    emit, builder = lowering.emit, lowering.builder
    table, entries = kept(lowering, MARKS), I64(len(lowering.allocations))
    size, kind = where.type.element.byte_size, (_READS if access.reads else 0) | (_WRITES if access.writes else 0)
    found = emit.collector(I1(0))

    def visit(index: Index, place: ir.Value) -> None:
        arguments = [table, entries, where.address_of(emit, place), I64(size), I64(kind)]
        found.add(Int.__or__, builder.call(_touch(emit.module), arguments))

    where.each(emit, visit)
    if access.reads:
        warn_if(lowering, found.value, access.op, undefined.UNWRITTEN)


def _touch(module: ir.Module) -> ir.Function:
    """Make ``touch(table, entries, address, size, kind)``: whether a byte is read that nothing was written to."""
    function = declared(module, "tileir.touch", I1, (PTR, I64, I64, I64, I64))
    if not function.blocks:
        _define_touch(function)
    return function


def _define_touch(function: ir.Function) -> None:
    table, entries, address, size, kind = function.args
    builder = ir.IRBuilder(function.append_basic_block())
    reads, writes = (builder.icmp_unsigned("!=", builder.and_(kind, I64(bit)), I64(0)) for bit in (_READS, _WRITES))
    fresh = builder.alloca(I1)
    builder.store(I1(0), fresh)
    with counted(builder, entries) as number:
        place = builder.gep(table, [builder.mul(number, I64(8 * _MARK_WORDS))], source_etype=I8)
        begin, end, marks = (
            builder.load(builder.gep(place, [I64(word)], source_etype=I64), typ=I64) for word in range(_MARK_WORDS)
        )
        at = builder.sub(address, begin)
        with builder.if_then(builder.icmp_unsigned("<", at, builder.sub(end, begin))), counted(builder, size) as byte:
            mark = builder.inttoptr(builder.add(marks, builder.add(at, byte)), PTR)
            unwritten = builder.icmp_unsigned("!=", builder.load(mark, typ=I8), I8(0))
            seen = builder.or_(builder.load(fresh, typ=I1), builder.and_(reads, unwritten))
            builder.store(seen, fresh)
            with builder.if_then(writes):
                builder.store(I8(0), mark)
    builder.ret(builder.load(fresh, typ=I1))
