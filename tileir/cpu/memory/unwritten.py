"""Reads of storage of the tile block that nothing was written to, which strict mode warns of.

Knows: the marks beside the bytes of each `alloca`, 1 where nothing was written, and how accesses change them.
Does not know: which elements an access has (`cpu.memory.checks`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from tileir.analysis.effects import MemoryAccess
from tileir.cpu.emit.elements import I1, I8, I64, PTR
from tileir.cpu.emit.emitter import Index
from tileir.cpu.lowering.reports import warn_if
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory.bounds import written
from tileir.cpu.memory.lookup import counted, declared
from tileir.host import undefined

READS, WRITES = 1, 2
_WORDS = 3


def new_marks(lowering: Lowering, size: int) -> ir.Value:
    """Marks for `size` bytes that nothing was written to, as the address of the first."""
    marks = lowering.emit.buffer(max(1, size))
    with counted(lowering.builder, I64(size)) as at:
        lowering.builder.store(I8(1), lowering.builder.gep(marks, [at], source_etype=I8))
    return lowering.builder.ptrtoint(marks, I64)


def look_at_elements(
    lowering: Lowering,
    access: MemoryAccess,
    shape: Sequence[int],
    size: int,
    address: Callable[[Index], ir.Value],
    active: Callable[[Index], ir.Value] | None,
) -> None:
    """Mark what an access writes, in strict mode; warn if it reads storage that nothing was written to."""
    if not lowering.strict or not lowering.allocations:
        return
    emit, builder = lowering.emit, lowering.builder
    words = [word for one in lowering.allocations for word in (one.begin, one.end, one.marks)]
    table, entries = written(lowering, "marks", words), I64(len(lowering.allocations))
    kind = I64((READS if access.reads else 0) | (WRITES if access.writes else 0))
    found = emit.stack(I1)
    builder.store(I1(0), found)

    def visit(index: Index) -> None:
        with emit.when(I1(1) if active is None else active(index)):
            fresh = builder.call(_touch(emit.module), [table, entries, address(index), I64(size), kind])
            builder.store(builder.or_(fresh, builder.load(found, typ=I1)), found)

    emit.loop_nest(shape, visit)
    if access.reads:
        warn_if(lowering, builder.load(found, typ=I1), access.op, undefined.UNWRITTEN)


def _touch(module: ir.Module) -> ir.Function:
    """``touch(table, entries, address, size, kind)``: whether a byte is read that nothing was written to."""
    function = declared(module, "tileir.touch", I1, (PTR, I64, I64, I64, I64))
    if not function.blocks:
        _define(function)
    return function


def _define(function: ir.Function) -> None:
    table, entries, address, size, kind = function.args
    builder = ir.IRBuilder(function.append_basic_block())
    reads, writes = (builder.icmp_unsigned("!=", builder.and_(kind, I64(bit)), I64(0)) for bit in (READS, WRITES))
    fresh = builder.alloca(I1)
    builder.store(I1(0), fresh)
    with counted(builder, entries) as number:
        place = builder.gep(table, [builder.mul(number, I64(8 * _WORDS))], source_etype=I8)
        begin, end, marks = (
            builder.load(builder.gep(place, [I64(word)], source_etype=I64), typ=I64) for word in range(_WORDS)
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
