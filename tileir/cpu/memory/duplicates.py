"""Equal addresses in a tile of pointers.

Knows: how native code finds out whether there are two: by their ends where the tile steps evenly, else in a table.
Does not know: what is done about it.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from tileir.cpu.emit.elements import I1, I8, I64, PTR
from tileir.cpu.emit.emitter import Index
from tileir.cpu.emit.tiles import Tile, address_of, distance, row_major, wide
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory.lookup import counted, declared

NAME = "tileir.any_twice"
_SPREAD = 0x9E3779B97F4A7C15
"""Fibonacci hashing (Knuth, The Art of Computer Programming, section 6.4): 2^64 divided by the golden ratio."""


def any_twice(lowering: Lowering, pointers: Tile, mask: Tile | None) -> ir.Value:
    """Whether two elements that are not masked off have the same address."""
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
        return builder.call(_function(emit.module), arguments)


def _function(module: ir.Module) -> ir.Function:
    """``any_twice(addresses, active, count, keys, used, size)``: `keys` and `used` are a table of `size` entries."""
    function = declared(module, NAME, I1, (PTR, PTR, I64, PTR, PTR, I64))
    if not function.blocks:
        _define(function)
    return function


def _define(function: ir.Function) -> None:
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
    """Put a key into the first free entry from its own on, which half of the table always has."""
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
