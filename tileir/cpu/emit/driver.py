"""The native functions that a thread calls: the driver runs tile blocks until none are left.

    i32 driver(ptr record, ptr arena)
    i32 resume(ptr record, ptr arena, ptr handle)     go on with a tile block that was set aside
    void destroy(ptr handle)                          give it up

Threads share tile blocks through the record of the launch (`cpu.emit.record`). The record holds the address of the
kernel's code: one driver serves all kernels (`cpu.run.program`) except coroutines and those that note when tile blocks
run.

A trap lowers the limit to the number of its tile block, so that tile blocks before it, which other threads have begun,
still run: the trap that counts is that of the first tile block that has one, whatever the threads do. The result is the
number of the trap site, 0 if there was none, `ABANDONED`, or `SET_ASIDE`; the first line of the arena says which tile
block it was, and its handle. Only kernels that are coroutines are ever set aside, and only they have the last two.

Meanwhile numbers are rounded to nearest and subnormal ones kept, whatever the thread is set to: a library may have
changed that. Code that rounds otherwise says so itself.

Tile blocks that follow one another along an axis of the grid, or a single one, may be run by one call of another
function, which gives `SEPARATELY` (or any other number above 0) where it has done nothing: then they run one by one.
That is rare, so the host is asked for the code of a single one when it is first needed.
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.emit import record
from tileir.cpu.emit.algebra import call_named
from tileir.cpu.emit.coroutines import NULL, call
from tileir.cpu.emit.elements import I8, I32, I64, PTR
from tileir.cpu.emit.emitter import either, least
from tileir.cpu.emit.exits import RARE, FunctionAddress, attend, call_host, field_of, wanted
from tileir.cpu.emit.record import ABANDONED, SET_ASIDE

KERNEL_ARGUMENTS = [PTR, PTR, I32, I32, I32, PTR]
"""The types of the arguments of a kernel's function (`cpu.lowering.functions`); of one that runs several tile blocks as
one an i64 follows, how many."""
SEPARATELY = 1
"""The status of joined tile blocks that are to be run one by one."""
STAMP = 3 * 8
"""Bytes of a row of the table of tile blocks: nanoseconds of the monotonic clock at its begin and its end, and the
arena of the thread that ran it."""
_MONOTONIC = 1
_BLOCKS = (
    *("start", "fetch", "head", "next", "safepoint"),
    *("run", "alone", "missing", "found"),
    *("left", "trapped", "after", "done"),
)
"""The blocks of the driver: those that take tile blocks, run one, and go on or end."""


def add_driver(module: ir.Module, stamps: int | None = None, sets_aside: bool = False) -> None:
    """Add the functions that threads call to a module. `stamps` is the address of a word that holds that of the table
    of tile blocks, or 0; `sets_aside`: kernels are coroutines.
    """
    _Driver(module, sets_aside, stamps)
    if sets_aside:
        _add_resume(module)
        _add_destroy(module)


class _Driver:
    """The driver under construction: blocks of code that take tile blocks, run one, and look whether to go on."""

    def __init__(self, module: ir.Module, sets_aside: bool, stamps: int | None) -> None:
        function = ir.Function(module, ir.FunctionType(I32, [PTR, PTR]), record.DRIVER)
        self._stamps, self._sets_aside = stamps, sets_aside
        self._blocks = {name: function.append_basic_block(name) for name in _BLOCKS}
        self._builder = builder = ir.IRBuilder(self._blocks["start"])
        self._launch = _Launch(builder, function.args[0], function.args[1])
        self._floats = _begin_exact_floats(builder)
        self._counter, self._separate = builder.alloca(I64), builder.alloca(I64)
        for cell in (self._counter, self._separate):
            builder.store(I64(0), cell)
        if not sets_aside:
            builder.store(I64(0), self._launch.line(record.BEGUN))
        builder.branch(self._blocks["fetch"])
        self._fetch()
        self._look_up(attend(module))
        self._run()
        self._go_on()
        self._end()

    def _at(self, name: str) -> ir.IRBuilder:
        self._builder.position_at_end(self._blocks[name])
        return self._builder

    def _fetch(self) -> None:
        """Take the next tile blocks, and begin with the first, unless the launch has come to its end."""
        builder, launch, blocks = self._at("fetch"), self._launch, self._blocks
        first = builder.atomic_rmw("add", launch.next, launch.chunk, "monotonic")
        self._last = builder.add(first, launch.chunk)
        builder.branch(blocks["head"])
        self._at("head")
        self._number = builder.phi(I64)
        self._number.add_incoming(first, blocks["fetch"])
        limit = builder.load_atomic(launch.limit, "monotonic", 8, typ=I64)
        builder.cbranch(builder.icmp_signed("<", self._number, limit), blocks["next"], blocks["done"])

    def _look_up(self, attend: ir.Function) -> None:
        """Call the host if it wants that; leave if it says so."""
        builder, launch, blocks = self._at("next"), self._launch, self._blocks
        builder.store(self._number, launch.line(record.BLOCK))
        builder.cbranch(wanted(builder, launch.space), blocks["safepoint"], blocks["run"]).set_weights(RARE)
        self._at("safepoint")
        answer = builder.call(attend, [launch.space])
        abandoned = builder.icmp_unsigned("==", answer, I32(record.ABANDON))
        builder.cbranch(abandoned, blocks["done"], blocks["run"])

    def _run(self) -> None:
        """Run a tile block; what comes then depends on its status."""
        builder, launch, blocks = self._at("run"), self._launch, self._blocks
        place = launch.place(self._number)
        self._results: list[tuple[ir.Value, ir.Block]] = []
        self._ran: list[tuple[ir.Value, ir.Block]] = []
        if self._stamps is None and not self._sets_aside:
            with builder.if_then(builder.icmp_unsigned("!=", launch.joined, I64(0))):
                self._run_joined(place)
        builder.branch(blocks["alone"])
        self._at("alone")
        address = builder.load(launch.kernel, typ=I64)
        found = builder.icmp_unsigned("!=", address, I64(0))
        builder.cbranch(found, blocks["found"], blocks["missing"]).set_weights(RARE[::-1])
        self._at("missing")
        answer = call_host(builder, launch.space, record.SINGLE)
        abandoned = builder.icmp_unsigned("==", answer, I32(record.ABANDON))
        builder.cbranch(abandoned, blocks["done"], blocks["alone"])
        self._at("found")
        self._stamp(0)
        type = ir.FunctionType(PTR if self._sets_aside else I32, KERNEL_ARGUMENTS)
        kernel = FunctionAddress(builder, address, type)
        result = builder.call(kernel, [launch.slots, launch.grid, *place, launch.space])
        self._stamp(1)
        if self._sets_aside:
            handle, result = result, builder.load(launch.line(record.STATUS), typ=I32)
            _keep_handle(builder, launch, handle, result)
        self._ended(I64(1), result)

    def _ended(self, count: ir.Value, result: ir.Value) -> None:
        """Record that `count` tile blocks have run, with their status."""
        builder, blocks = self._builder, self._blocks
        builder.store(builder.add(builder.load(self._counter, typ=I64), count), self._counter)
        self._ran.append((count, builder.block))
        self._results.append((result, builder.block))
        stopped = builder.icmp_unsigned("!=", result, I32(0))
        builder.cbranch(stopped, blocks["left"], blocks["after"]).set_weights(RARE)

    def _run_joined(self, place: list[ir.Value]) -> None:
        """Run the tile blocks from here on that may be joined, unless they are to be run separately."""
        builder, launch, number = self._builder, self._launch, self._number
        limit = builder.load_atomic(launch.limit, "monotonic", 8, typ=I64)
        count = launch.most
        for most in (launch.following(place), builder.sub(limit, number), builder.sub(self._last, number)):
            count = builder.select(builder.icmp_signed("<", most, count), most, count)
        with builder.if_then(builder.icmp_signed(">=", number, builder.load(self._separate, typ=I64))):
            function = FunctionAddress(builder, launch.joined, ir.FunctionType(I32, [*KERNEL_ARGUMENTS, I64]))
            result = builder.call(function, [launch.slots, launch.grid, *place, launch.space, count])
            separately = builder.append_basic_block("separately")
            ran = builder.append_basic_block("joined")
            builder.cbranch(_is_trap(builder, result), separately, ran).set_weights(RARE)
            builder.position_at_end(ran)
            self._ended(count, result)
            builder.position_at_end(separately)
            builder.store(builder.add(number, count), self._separate)

    def _stamp(self, column: int) -> None:
        """Note the time in the row of the tile block, and at last the thread's arena, if there is a table."""
        if self._stamps is None:
            return
        builder = self._builder
        table = builder.load(builder.inttoptr(I64(self._stamps), PTR), typ=I64)
        with builder.if_then(builder.icmp_unsigned("!=", table, I64(0))):
            row = builder.add(table, builder.mul(self._number, I64(STAMP)))
            builder.store(_now(builder), builder.inttoptr(builder.add(row, I64(8 * column)), PTR))
            if column:
                arena = builder.ptrtoint(self._launch.space, I64)
                builder.store(arena, builder.inttoptr(builder.add(row, I64(16)), PTR))

    def _go_on(self) -> None:
        """Continue with the next tile block; a trap lowers the limit and ends the loop."""
        blocks, builder = self._blocks, self._at("left")
        self._result = either(builder, I32, *self._results)
        builder.cbranch(_is_trap(builder, self._result), blocks["trapped"], blocks["done"])
        self._at("trapped")
        builder.atomic_rmw("min", self._launch.limit, self._number, "monotonic")
        builder.branch(blocks["done"])
        self._at("after")
        following = builder.add(self._number, either(builder, I64, *self._ran))
        self._number.add_incoming(following, blocks["after"])
        builder.cbranch(builder.icmp_signed("<", following, self._last), blocks["head"], blocks["fetch"])

    def _end(self) -> None:
        """Emit the end: streaming stores become visible, the number of tile blocks is stored, the status returned."""
        builder, blocks = self._at("done"), self._blocks
        status = builder.phi(I32)
        status.add_incoming(I32(0), blocks["head"])
        for name in ("safepoint", "missing"):
            status.add_incoming(I32(ABANDONED), blocks[name])
        status.add_incoming(self._result, blocks["left"])
        status.add_incoming(self._result, blocks["trapped"])
        builder.store(builder.load(self._counter, typ=I64), self._launch.line(record.COUNT))
        if builder.module.triple.startswith("x86_64"):
            call_named(builder, "llvm.x86.sse.sfence", ir.VoidType(), [])
        _end_exact_floats(builder, self._floats)
        builder.ret(status)


_USUAL_MXCSR = 0x1F80
"""Every exception masked, rounding to nearest, subnormal numbers as they are."""


def _begin_exact_floats(builder: ir.IRBuilder) -> ir.Value | None:
    """Have the thread round to nearest and keep subnormal numbers. Return what restores its state."""
    if builder.module.triple.startswith("x86_64"):
        cells = builder.alloca(I32, 2)
        call_named(builder, "llvm.x86.sse.stmxcsr", ir.VoidType(), [cells])
        usual = builder.gep(cells, [I32(1)], source_etype=I32)
        builder.store(I32(_USUAL_MXCSR), usual)
        call_named(builder, "llvm.x86.sse.ldmxcsr", ir.VoidType(), [usual])
        return cells
    if builder.module.triple.startswith("aarch64"):
        saved = call_named(builder, "llvm.aarch64.get.fpcr", I64, [])
        call_named(builder, "llvm.aarch64.set.fpcr", ir.VoidType(), [I64(0)])
        return saved
    return None


def _end_exact_floats(builder: ir.IRBuilder, saved: ir.Value | None) -> None:
    if saved is not None:
        x86 = builder.module.triple.startswith("x86_64")
        restore = "llvm.x86.sse.ldmxcsr" if x86 else "llvm.aarch64.set.fpcr"
        call_named(builder, restore, ir.VoidType(), [saved])


def _now(builder: ir.IRBuilder) -> ir.Value:
    """Return the nanoseconds of the clock that ``time.perf_counter_ns`` reads on Linux."""
    with builder.goto_entry_block():
        time = builder.alloca(I64, 2)
    call_named(builder, "clock_gettime", I32, [I32(_MONOTONIC), time])
    seconds = builder.load(time, typ=I64)
    rest = builder.load(builder.gep(time, [I64(8)], source_etype=I8), typ=I64)
    return builder.add(builder.mul(seconds, I64(1_000_000_000)), rest)


def _add_resume(module: ir.Module) -> None:
    function = ir.Function(module, ir.FunctionType(I32, [PTR, PTR, PTR]), record.RESUME)
    builder = ir.IRBuilder(function.append_basic_block("start"))
    launch = _Launch(builder, *function.args[:2])
    floats = _begin_exact_floats(builder)
    call(builder, "llvm.coro.resume", function.args[2])
    _end_exact_floats(builder, floats)
    status = builder.load(launch.line(record.STATUS), typ=I32)
    _keep_handle(builder, launch, function.args[2], status)
    with builder.if_then(_is_trap(builder, status), likely=False):
        number = builder.load(launch.line(record.BLOCK), typ=I64)
        builder.atomic_rmw("min", launch.limit, number, "monotonic")
    builder.ret(status)


def _add_destroy(module: ir.Module) -> None:
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [PTR]), record.DESTROY)
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
        self.kernel = self._at(launch, record.KERNEL)
        words = record.CHUNK, record.JOINED, record.MOST, record.AXIS, record.WIDTH
        loaded = [builder.load(self._at(launch, word), typ=I64) for word in words]
        self.chunk, self.joined, self.most, self._axis, self._columns = loaded
        self.grid, self.slots = self._at(launch, record.GRID), self._at(launch, record.SLOTS)
        self.space = self._at(arena, record.LINE)
        extents = [builder.load(self._at(self.grid, 4 * axis), typ=I32) for axis in range(2)]
        self._width, self._height = (builder.zext(extent, I64) for extent in extents)

    def _at(self, base: ir.Value, offset: int) -> ir.Value:
        return self._builder.gep(base, [I64(offset)], source_etype=I8)

    def line(self, offset: int) -> ir.Value:
        """Return the address of a field of the arena's first line."""
        return field_of(self._builder, self.space, offset)

    def place(self, number: ir.Value) -> list[ir.Value]:
        """Return x, y and z of a tile block, as i32: `record.block_at` in LLVM."""
        builder, columns = self._builder, self._columns
        plane = builder.mul(self._width, self._height)
        z, within = builder.udiv(number, plane), builder.urem(number, plane)
        band = builder.mul(self._width, columns)
        first, rest = builder.mul(builder.udiv(within, band), columns), builder.urem(within, band)
        left = builder.sub(self._height, first)
        wide = least(builder, left, columns)
        x, y = builder.udiv(rest, wide), builder.add(first, builder.urem(rest, wide))
        return [builder.trunc(coordinate, I32) for coordinate in (x, y, z)]

    def following(self, place: list[ir.Value]) -> ir.Value:
        """Return how many tile blocks, starting at `place`, follow one another along the axis and in their numbers."""
        builder = self._builder
        along_x = builder.icmp_unsigned("==", self._axis, I64(0))
        extent, across = (
            builder.select(along_x, *pair) for pair in ((self._width, self._height), (self._height, self._width))
        )
        at = builder.select(along_x, *(builder.zext(place[axis], I64) for axis in range(2)))
        left = builder.sub(extent, at)
        band = builder.sub(self._columns, builder.urem(at, self._columns))
        beside_others = builder.select(along_x, I64(1), least(builder, left, band))
        return builder.select(builder.icmp_unsigned("==", across, I64(1)), left, beside_others)
