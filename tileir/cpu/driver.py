"""The native function that a thread runs: it takes tile blocks until there are none left.

    i32 driver(ptr record, ptr arena)

Knows: how threads share tile blocks through the record of the launch (`cpu.record`), and how a trap ends a launch.
Does not know: threads, nor what a tile block does.

A trap lowers the limit to the number of its tile block, so that tile blocks before it, which other threads have begun,
still run: the trap that counts is that of the first tile block that has one, whatever the threads do. The result is the
number of the trap site, 0 if there was none; the report in the arena says which tile block it was.
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu import record
from tileir.cpu.elements import I8, I32, I64, PTR

NAME = "tileir.driver"


def add_driver(module: ir.Module, kernel: ir.Function) -> None:
    """Add the driver of `kernel` to its module."""
    kernel.linkage = "internal"
    kernel.attributes.add("noinline")
    function = ir.Function(module, ir.FunctionType(I32, [PTR, PTR]), NAME)
    start, fetch, taken, head, run, trapped, after, done = (
        function.append_basic_block(name)
        for name in ("start", "fetch", "taken", "head", "run", "trapped", "after", "done")
    )
    builder = ir.IRBuilder(start)
    launch = _Launch(builder, *function.args)
    counter = builder.alloca(I64)
    builder.store(I64(0), counter)
    builder.branch(fetch)

    builder.position_at_end(fetch)
    first = builder.atomic_rmw("add", launch.next, launch.chunk, "monotonic")
    builder.branch(taken)

    builder.position_at_end(taken)
    end = builder.add(first, launch.chunk)
    builder.branch(head)

    builder.position_at_end(head)
    number = builder.phi(I64)
    number.add_incoming(first, taken)
    limit = builder.load_atomic(launch.limit, "monotonic", 8, typ=I64)
    builder.cbranch(builder.icmp_signed("<", number, limit), run, done)

    builder.position_at_end(run)
    status = builder.call(kernel, [launch.slots, launch.grid, *launch.place(number), launch.space])
    builder.store(builder.add(builder.load(counter, typ=I64), I64(1)), counter)
    builder.cbranch(builder.icmp_unsigned("!=", status, I32(0)), trapped, after)

    builder.position_at_end(after)
    following = builder.add(number, I64(1))
    number.add_incoming(following, after)
    builder.cbranch(builder.icmp_signed("<", following, end), head, fetch)

    builder.position_at_end(trapped)
    builder.atomic_rmw("min", launch.limit, number, "monotonic")
    builder.store(number, launch.report(record.REPORTED_BLOCK))
    builder.branch(done)

    builder.position_at_end(done)
    result = builder.phi(I32)
    result.add_incoming(I32(0), head)
    result.add_incoming(status, trapped)
    builder.store(builder.load(counter, typ=I64), launch.report(record.REPORTED_COUNT))
    builder.ret(result)


class _Launch:
    """The fields of the record, as the driver reads them."""

    def __init__(self, builder: ir.IRBuilder, launch: ir.Value, arena: ir.Value) -> None:
        self._builder, self._arena = builder, arena
        self.next, self.limit = self._at(launch, record.NEXT), self._at(launch, record.LIMIT)
        self.chunk = builder.load(self._at(launch, record.CHUNK), typ=I64)
        self.grid, self.slots = self._at(launch, record.GRID), self._at(launch, record.SLOTS)
        self.space = self._at(arena, record.LINE)
        extents = [builder.load(self._at(self.grid, 4 * axis), typ=I32) for axis in range(2)]
        self._width, self._height = (builder.zext(extent, I64) for extent in extents)

    def _at(self, base: ir.Value, offset: int) -> ir.Value:
        return self._builder.gep(base, [I64(offset)], source_etype=I8)

    def report(self, offset: int) -> ir.Value:
        return self._at(self._arena, offset)

    def place(self, number: ir.Value) -> list[ir.Value]:
        """x, y and z of a tile block, as i32: `record.block_at` in LLVM."""
        builder, columns = self._builder, I64(record.COLUMNS)
        plane = builder.mul(self._width, self._height)
        z, within = builder.udiv(number, plane), builder.urem(number, plane)
        band = builder.mul(self._width, columns)
        first, rest = builder.mul(builder.udiv(within, band), columns), builder.urem(within, band)
        left = builder.sub(self._height, first)
        wide = builder.select(builder.icmp_unsigned("<", left, columns), left, columns)
        x, y = builder.udiv(rest, wide), builder.add(first, builder.urem(rest, wide))
        return [builder.trunc(coordinate, I32) for coordinate in (x, y, z)]
