"""Native functions that look addresses up in tables of memory, for the rare accesses that need one.

Knows: their code, made once for each module of LLVM that calls them. Does not know: where the tables come from
(`cpu.memory.bounds`).

A table is an array of entries of three i64: an address, the end of what may be read from there, the end of what may be
written. A directory is an array of `TABLES` pairs: the address of a table and its number of entries. `end` selects one
of the two ends, as the bytes from the beginning of an entry.

    i1  tileir.held(ptr directory, i64 end, i64 address, i64 size)
    i64 tileir.first_outside(ptr directory, i64 end, ptr addresses, ptr active, i64 count, i64 size)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from llvmlite import ir

from tileir.cpu.emit.elements import I1, I8, I64, PTR

TABLES = 3
WORDS = 3
END, WRITABLE_END = 8, 16


def held(module: ir.Module) -> ir.Function:
    """The function that tells whether `size` bytes from `address` on lie in one entry of one of the tables."""
    function = declared(module, "tileir.held", I1, (PTR, I64, I64, I64))
    if not function.blocks:
        _define_held(function)
    return function


def _define_held(function: ir.Function) -> None:
    directory, end, address, size = function.args
    builder = ir.IRBuilder(function.append_basic_block())
    with counted(builder, I64(TABLES)) as number:
        pair = builder.gep(directory, [builder.mul(number, I64(16))], source_etype=I8)
        table, entries = builder.load(pair, typ=PTR), builder.gep(pair, [I64(8)], source_etype=I8)
        with counted(builder, builder.load(entries, typ=I64)) as entry:
            place = builder.gep(table, [builder.mul(entry, I64(8 * WORDS))], source_etype=I8)
            begin = builder.load(place, typ=I64)
            limit = builder.load(builder.gep(place, [end], source_etype=I8), typ=I64)
            at, span = builder.sub(address, begin), builder.sub(limit, begin)
            starts = builder.icmp_unsigned("<=", at, span)
            ends = builder.icmp_unsigned("<=", size, builder.sub(span, at))
            with builder.if_then(builder.and_(starts, ends)):
                builder.ret(I1(1))
    builder.ret(I1(0))


def first_outside(module: ir.Module) -> ir.Function:
    """The function that gives the first of the `active` addresses at which nothing of `size` bytes may be, or -1.

    An address that is not a multiple of `size` is none.
    """
    function = declared(module, "tileir.first_outside", I64, (PTR, I64, PTR, PTR, I64, I64))
    if not function.blocks:
        _define_first_outside(function, held(module))
    return function


def _define_first_outside(function: ir.Function, held: ir.Function) -> None:
    directory, end, addresses, active, count, size = function.args
    builder = ir.IRBuilder(function.append_basic_block())
    with counted(builder, count) as position:
        chosen = builder.load(builder.gep(active, [position], source_etype=I8), typ=I8)
        with builder.if_then(builder.icmp_unsigned("!=", chosen, I8(0))):
            address = builder.load(builder.gep(addresses, [position], source_etype=I64), typ=I64)
            loose = builder.and_(address, builder.sub(size, I64(1)))
            aligned = builder.icmp_unsigned("==", loose, I64(0))
            usable = builder.and_(aligned, builder.call(held, [directory, end, address, size]))
            with builder.if_then(builder.not_(usable)):
                builder.ret(position)
    builder.ret(I64(-1))


def declared(module: ir.Module, name: str, result: ir.Type, parameters: Sequence[ir.Type]) -> ir.Function:
    """The function of that name, made without a body if the module has none."""
    found = module.globals.get(name)
    if found is None:
        found = ir.Function(module, ir.FunctionType(result, parameters), name)
        found.linkage = "internal"
        found.attributes.add("noinline")
        found.attributes.add("cold")
    return found


@contextmanager
def counted(builder: ir.IRBuilder, count: ir.Value) -> Iterator[ir.Value]:
    """A loop over the numbers below `count`, which may be 0."""
    before = builder.block
    head, body, after = (builder.append_basic_block() for _ in range(3))
    builder.branch(head)
    builder.position_at_end(head)
    position = builder.phi(I64)
    position.add_incoming(I64(0), before)
    builder.cbranch(builder.icmp_unsigned("<", position, count), body, after)
    builder.position_at_end(body)
    yield position
    position.add_incoming(builder.add(position, I64(1)), builder.block)
    builder.branch(head)
    builder.position_at_end(after)
