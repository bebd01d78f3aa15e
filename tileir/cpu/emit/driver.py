"""The native functions that a thread calls: the driver takes tile blocks until there are none left.

    i32 driver(ptr record, ptr arena)
    i32 resume(ptr record, ptr arena, ptr handle)     go on with a tile block that was set aside
    void destroy(ptr handle)                          give it up

Knows: how threads share tile blocks through the record of the launch (`cpu.emit.record`), and how a trap ends a launch.
Does not know: threads, nor what a tile block does.

A trap lowers the limit to the number of its tile block, so that tile blocks before it, which other threads have begun,
still run: the trap that counts is that of the first tile block that has one, whatever the threads do. The result is the
number of the trap site, 0 if there was none, `ABANDONED`, or `SET_ASIDE`; the first line of the arena says which tile
block it was, and its handle. Only kernels that are coroutines are ever set aside, and only they have the last two.
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.emit import record
from tileir.cpu.emit.coroutines import NULL, call
from tileir.cpu.emit.elements import I8, I32, I64, PTR
from tileir.cpu.emit.emitter import ABANDONED, RARE, SET_ASIDE
from tileir.cpu.emit.safepoints import attend, field_of, wanted

NAME, RESUME, DESTROY = "tileir.driver", "tileir.resume", "tileir.destroy"


def add_driver(module: ir.Module, kernel: ir.Function) -> None:
    """Add the functions that threads call to the module of a kernel."""
    kernel.linkage = "internal"
    kernel.attributes.add("noinline")
    sets_aside = kernel.function_type.return_type == PTR
    _add_driver(module, kernel, sets_aside)
    if sets_aside:
        _add_resume(module)
        _add_destroy(module)


def _add_driver(module: ir.Module, kernel: ir.Function, sets_aside: bool) -> None:
    function = ir.Function(module, ir.FunctionType(I32, [PTR, PTR]), NAME)
    names = "start", "fetch", "taken", "head", "next", "safepoint", "run", "left", "trapped", "after", "done"
    start, fetch, taken, head, next, look, run, left, trapped, after, done = map(function.append_basic_block, names)
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
    builder.cbranch(builder.icmp_signed("<", number, limit), next, done)

    builder.position_at_end(next)
    builder.store(number, launch.line(record.BLOCK))
    builder.cbranch(wanted(builder, launch.space), look, run).set_weights(RARE)

    builder.position_at_end(look)
    answer = builder.call(attend(module), [launch.space])
    builder.cbranch(builder.icmp_unsigned("==", answer, I32(record.ABANDON)), done, run)

    builder.position_at_end(run)
    result = builder.call(kernel, [launch.slots, launch.grid, *launch.place(number), launch.space])
    builder.store(builder.add(builder.load(counter, typ=I64), I64(1)), counter)
    if sets_aside:
        handle, result = result, builder.load(launch.line(record.STATUS), typ=I32)
        _keep_handle(builder, launch, handle, result)
    stopped = builder.icmp_unsigned("!=", result, I32(0))
    builder.cbranch(stopped, left, after).set_weights(RARE)

    builder.position_at_end(left)
    builder.cbranch(_is_trap(builder, result), trapped, done)

    builder.position_at_end(after)
    following = builder.add(number, I64(1))
    number.add_incoming(following, after)
    builder.cbranch(builder.icmp_signed("<", following, end), head, fetch)

    builder.position_at_end(trapped)
    builder.atomic_rmw("min", launch.limit, number, "monotonic")
    builder.branch(done)

    builder.position_at_end(done)
    status = builder.phi(I32)
    status.add_incoming(I32(0), head)
    status.add_incoming(I32(ABANDONED), look)
    status.add_incoming(result, left)
    status.add_incoming(result, trapped)
    builder.store(builder.load(counter, typ=I64), launch.line(record.COUNT))
    builder.ret(status)


def _add_resume(module: ir.Module) -> None:
    function = ir.Function(module, ir.FunctionType(I32, [PTR, PTR, PTR]), RESUME)
    builder = ir.IRBuilder(function.append_basic_block("start"))
    launch = _Launch(builder, *function.args[:2])
    call(builder, "llvm.coro.resume", function.args[2])
    status = builder.load(launch.line(record.STATUS), typ=I32)
    _keep_handle(builder, launch, function.args[2], status)
    with builder.if_then(_is_trap(builder, status), likely=False):
        number = builder.load(launch.line(record.BLOCK), typ=I64)
        builder.atomic_rmw("min", launch.limit, number, "monotonic")
    builder.ret(status)


def _add_destroy(module: ir.Module) -> None:
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [PTR]), DESTROY)
    builder = ir.IRBuilder(function.append_basic_block("start"))
    call(builder, "llvm.coro.destroy", function.args[0])
    builder.ret_void()


def _keep_handle(builder: ir.IRBuilder, launch: _Launch, handle: ir.Value, status: ir.Value) -> None:
    """Write down the handle of a tile block as long as that is set aside: whoever ends the launch has to know."""
    aside = builder.icmp_signed("==", status, I32(SET_ASIDE))
    builder.store(builder.select(aside, handle, NULL), launch.line(record.HANDLE))


def _is_trap(builder: ir.IRBuilder, status: ir.Value) -> ir.Value:
    return builder.icmp_signed(">", status, I32(0))


class _Launch:
    """The fields of the record, as the driver reads them."""

    def __init__(self, builder: ir.IRBuilder, launch: ir.Value, arena: ir.Value) -> None:
        self._builder = builder
        self.next, self.limit = self._at(launch, record.NEXT), self._at(launch, record.LIMIT)
        self.chunk = builder.load(self._at(launch, record.CHUNK), typ=I64)
        self.grid, self.slots = self._at(launch, record.GRID), self._at(launch, record.SLOTS)
        self.space = self._at(arena, record.LINE)
        extents = [builder.load(self._at(self.grid, 4 * axis), typ=I32) for axis in range(2)]
        self._width, self._height = (builder.zext(extent, I64) for extent in extents)

    def _at(self, base: ir.Value, offset: int) -> ir.Value:
        return self._builder.gep(base, [I64(offset)], source_etype=I8)

    def line(self, offset: int) -> ir.Value:
        """The address of a field of the arena's first line."""
        return field_of(self._builder, self.space, offset)

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
