"""Material for profiles of native code: samples of threads, names for `perf`, and the peaks of this machine."""

from __future__ import annotations

import ctypes
import json
import os
import platform
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from time import perf_counter

import numpy as np
from llvmlite import ir

from tileir.cache import Cache, key_of
from tileir.cpu.emit.elements import FLOAT, I8, I32, I64, PTR
from tileir.cpu.llvm.engine import Loaded, data_layout, host, object_code, toolchain
from tileir.cpu.llvm.object_files import CodeMap
from tileir.cpu.run.threads import Job, Pool
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.escaping import shown

# ---------------------------------------------------------------- samples
#
# Each thread has a timer (`timer_create(2)`), whose signal a handler counts: it is made of LLVM code, as nothing else
# may run there. One profile at a time: the signal is the process's. Linux on x86-64 and AArch64.


PERIOD_NS = 2_000_000
"""Nanoseconds between two samples of a thread, if the kernel has timers that fine."""
_PROGRAM_COUNTER = {"x86_64": 168, "aarch64": 440}
"""The offset of the interrupted instruction's address in what the kernel hands a signal handler (``ucontext_t``)."""
_CLOCK_MONOTONIC, _SIGEV_THREAD_ID = 1, 4
_SA_RESTART, _SA_SIGINFO = 0x10000000, 4
_HANDLER = "tileir.sample"


class _SignalEvent(ctypes.Structure):
    _fields_ = [
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("thread", ctypes.c_int),
        ("rest", ctypes.c_char * 44),
    ]


class _SignalAction(ctypes.Structure):
    _fields_ = [
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_char * 128),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    ]


def require_samples() -> None:
    """Raise UnsupportedError where no samples can be taken."""
    if not sys.platform.startswith("linux") or platform.machine() not in _PROGRAM_COUNTER:
        where = f"{sys.platform} on {platform.machine()}"
        raise UnsupportedError(f"time per line: expected Linux on x86-64 or AArch64, got {where}", "cpu")


class Histogram:
    """Samples by instruction: number ``offset`` for those in ``size`` bytes of code, the last one for all others."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.numbers = np.zeros(size + 1, np.int32)


class Sampler:
    """Takes samples of threads while they run code at `base`."""

    def __init__(self, base: int, histogram: Histogram) -> None:
        require_samples()
        self._histogram = histogram
        self._system = ctypes.CDLL(None, use_errno=True)
        self._handler = _loaded_handler()
        self._state = _handler_state()
        self._base = base
        self._timers: dict[int, ctypes.c_void_p] = {}

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Sample threads that `begin` inside the block. Raises UnsupportedError if somebody else takes samples."""
        if not _BUSY.acquire(blocking=False):
            raise UnsupportedError("time per line: another profile runs in this process", "cpu")
        try:
            self._state.count_into(self._base, self._histogram)
            old = _SignalAction()
            new = _SignalAction(handler=self._handler.addresses[_HANDLER], flags=_SA_RESTART | _SA_SIGINFO)
            self._call("sigaction", int(signal.SIGPROF), ctypes.byref(new), ctypes.byref(old))
            try:
                yield
            finally:
                while self._timers:
                    _, timer = self._timers.popitem()
                    self._call("timer_delete", timer)
                self._state.count_into(0, _nowhere())
                if old.handler:
                    self._call("sigaction", int(signal.SIGPROF), ctypes.byref(old), None)
                # By default the signal ends the process, and one may still be on its way to a thread.
        finally:
            _BUSY.release()

    def begin(self) -> None:
        """Sample this thread from now on until the samples end."""
        thread = threading.get_ident()
        if thread in self._timers:
            return
        timer = ctypes.c_void_p()
        event = _SignalEvent(None, int(signal.SIGPROF), _SIGEV_THREAD_ID, threading.get_native_id())
        self._call("timer_create", _CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(timer))
        self._timers[thread] = timer
        period = (ctypes.c_long * 4)(0, PERIOD_NS, 0, PERIOD_NS)
        self._call("timer_settime", timer, 0, ctypes.byref(period), None)

    def _call(self, name: str, *arguments: object) -> None:
        if getattr(self._system, name)(*arguments):
            raise UnsupportedError(f"time per line: {name}: {os.strerror(ctypes.get_errno())}", "cpu")


_BUSY = threading.Lock()


class _HandlerState:
    """The memory that the handler reads: base and size of the code, and the address of the numbers."""

    def __init__(self) -> None:
        self.words = (ctypes.c_int64 * 3)()
        self._kept: list[Histogram] = []

    def count_into(self, base: int, histogram: Histogram) -> None:
        """Have the handler count there. A handler that has begun may still count into the last one, so that is kept."""
        self._kept = [*self._kept[-1:], histogram]
        self.words[1] = 0
        self.words[2] = histogram.numbers.ctypes.data
        self.words[0], self.words[1] = base, histogram.size


@cache
def _handler_state() -> _HandlerState:
    return _HandlerState()


@cache
def _nowhere() -> Histogram:
    """Return a histogram for signals that come when no profile runs."""
    return Histogram(0)


@cache
def _loaded_handler() -> Loaded:
    """Return the handler: ``void (int signal, void* information, void* context)``; it calls nothing and waits for
    nothing."""
    module = ir.Module("sample")
    module.triple, module.data_layout = host().triple, data_layout(host())
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [I32, PTR, PTR]), _HANDLER)
    builder = ir.IRBuilder(function.append_basic_block("start"))
    words = ctypes.addressof(_handler_state().words)
    base, size, counts = (_word(builder, I64(words + 8 * place)) for place in range(3))
    at = builder.ptrtoint(function.args[2], I64)
    offset = builder.sub(_word(builder, builder.add(at, I64(_PROGRAM_COUNTER[platform.machine()]))), base)
    within = builder.select(builder.icmp_unsigned("<", offset, size), offset, size)
    place = builder.inttoptr(builder.add(counts, builder.mul(within, I64(4))), PTR)
    builder.atomic_rmw("add", place, I32(1), "monotonic")
    builder.ret_void()
    return Loaded(object_code(str(module), host()), host(), (_HANDLER,))


def _word(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    return builder.load(builder.inttoptr(address, PTR), typ=I64)


# ---------------------------------------------------------------- names for `perf`
#
# They stand in ``/tmp/perf-PID.map`` (Linux, ``tools/perf/Documentation/jit-interface.txt``). `perf` takes a name for
# each range of addresses and has no lines there, so a range is the code of one line and its name says which.


_PLACE = "/tmp/perf-{}.map"


def write_names(kernel: str, code: CodeMap, base: int) -> None:
    """Add the code of a kernel at `base` to the file of this process. Raises UnsupportedError if that cannot be."""
    if not sys.platform.startswith("linux"):
        raise UnsupportedError(f"debug_info: expected Linux, got {sys.platform}", "cpu")
    lines = "".join(f"{base + begin:x} {end - begin:x} {name}\n" for begin, end, name in _names(kernel, code))
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    try:
        handle = os.open(_PLACE.format(os.getpid()), flags, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            if os.fstat(handle).st_uid != os.getuid():
                raise UnsupportedError("debug_info: the file of names for perf belongs to another user", "cpu")
            stream.write(lines)
    except OSError as error:
        raise UnsupportedError(f"debug_info: the file of names for perf: {error.strerror}", "cpu") from None


def _names(kernel: str, code: CodeMap) -> Iterator[tuple[int, int, str]]:
    """Yield ranges in order, none overlapping, with their names."""
    name = shown(kernel)
    for function in code.functions:
        at, end = function.begin, function.begin + function.size
        for one in code.ranges:
            begin, limit = max(one.begin, at), min(one.end, end)
            if begin >= limit or not one.line:
                continue
            if begin > at:
                yield at, begin, f"@{name} [{function.name}]"
            yield begin, limit, f"@{name} {shown(os.path.basename(one.file))}:{one.line}"
            at = limit
        if at < end:
            yield at, end, f"@{name} [{function.name}]"


# ---------------------------------------------------------------- peaks


ACCUMULATORS = 16
"""Enough independent chains to hide the latency of an addition or multiplication."""
ROUNDS = 1 << 20
BYTES = 1 << 28
REPETITIONS = 5

CACHED = 1 << 14
"""Bytes that every first cache holds."""
_TRIALS = ("multiply", "read", "reread")
_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)


@dataclass(frozen=True)
class Peaks:
    """Per second, with all threads: f32 operations (a fused multiply-add is two), bytes read from memory and from the
    first cache."""

    flops: float
    bytes: float
    cached: float


def kept_peaks(threads: int, cache: Cache, again: bool = False) -> Peaks:
    """Return the peaks of this machine from the cache, or measure them if missing or `again`."""
    key = key_of("peaks of caches too", toolchain(), platform.node(), str(os.cpu_count()), str(threads))
    found = None if again else cache.get(key)
    if found is not None:
        return Peaks(**json.loads(found[0]))
    peaks = measured(threads)
    cache.put(key, (json.dumps(asdict(peaks)).encode(), b""))
    return peaks


def measured(threads: int) -> Peaks:
    """Measure the peaks, in a fraction of a second. The best of several tries counts."""
    loaded = Loaded(object_code(str(_module()), host()), host(), _TRIALS)
    multiply, read, reread = (_FUNCTION(loaded.addresses[name]) for name in _TRIALS)
    pool, memory = Pool(), np.ones(BYTES, np.uint8)
    share = BYTES // threads // (ACCUMULATORS * _line()) * (ACCUMULATORS * _line())
    starts = [memory.ctypes.data + number * share for number in range(threads)]
    fma = _best(pool, threads, lambda number: multiply(ROUNDS, starts[number]))
    load = _best(pool, threads, lambda number: read(share, starts[number]))
    again = _best(pool, threads, lambda number: reread(share, starts[number]))
    lanes = host().vector_bits // 32
    return Peaks(threads * ROUNDS * ACCUMULATORS * lanes * 2 / fma, threads * share / load, threads * share / again)


def _best(pool: Pool, threads: int, work: Callable[[int], None]) -> float:
    """Return the seconds until `work` is done for every number of a thread."""
    seconds = []
    for _ in range(REPETITIONS):
        waiting = iter(range(threads))

        def share(waiting: Iterator[int] = waiting) -> None:
            for number in waiting:
                work(number)

        def stop(waiting: Iterator[int] = waiting) -> None:
            for _ in waiting:
                pass

        begin = perf_counter()
        Job(pool, share, stop).run(threads - 1)
        seconds.append(perf_counter() - begin)
    return min(seconds)


def _line() -> int:
    return host().vector_bits // 8


def _module() -> ir.Module:
    module = ir.Module("peaks")
    module.triple, module.data_layout = host().triple, data_layout(host())
    vector = ir.VectorType(FLOAT, host().vector_bits // 32)
    fma = ir.Function(module, ir.FunctionType(vector, [vector] * 3), f"llvm.fma.v{vector.count}f32")
    factor = ir.Constant(vector, [0.5] * vector.count)

    def multiply(builder: ir.IRBuilder, sums: list[ir.Value], base: ir.Value, at: ir.Value) -> list[ir.Value]:
        return [builder.call(fma, [sum, factor, factor]) for sum in sums]

    def read(builder: ir.IRBuilder, sums: list[ir.Value], base: ir.Value, at: ir.Value) -> list[ir.Value]:
        places = (builder.add(at, I64(number * _line())) for number in range(ACCUMULATORS))
        addresses = (builder.gep(base, [place], source_etype=I8) for place in places)
        return [builder.fadd(sum, builder.load(address, typ=vector, align=4)) for sum, address in zip(sums, addresses)]

    def reread(builder: ir.IRBuilder, sums: list[ir.Value], base: ir.Value, at: ir.Value) -> list[ir.Value]:
        return read(builder, sums, base, builder.and_(at, I64(CACHED - 1)))

    _loop(module, "multiply", vector, 1, multiply)
    _loop(module, "read", vector, ACCUMULATORS * _line(), read)
    _loop(module, "reread", vector, ACCUMULATORS * _line(), reread)
    return module


Step = Callable[[ir.IRBuilder, list[ir.Value], ir.Value, ir.Value], list[ir.Value]]


def _loop(module: ir.Module, name: str, vector: ir.Type, stride: int, step: Step) -> None:
    """Make ``name(end, memory)``: the accumulators go through `step` for 0, `stride`, ... below `end`; stored at
    last."""
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [I64, PTR]), name)
    start, body, after = (function.append_basic_block(label) for label in ("start", "body", "after"))
    ir.IRBuilder(start).branch(body)
    builder = ir.IRBuilder(body)
    position = builder.phi(I64)
    sums = [builder.phi(vector) for _ in range(ACCUMULATORS)]
    totals = step(builder, sums, function.args[1], position)
    following = builder.add(position, I64(stride))
    for phi, first, then in zip((position, *sums), (I64(0), *_starts(vector)), (following, *totals)):
        phi.add_incoming(first, start)
        phi.add_incoming(then, body)
    builder.cbranch(builder.icmp_unsigned("<", following, function.args[0]), body, after)
    builder.position_at_end(after)
    for number, total in enumerate(totals):
        builder.store(total, builder.gep(function.args[1], [I64(number * _line())], source_etype=I8), align=4)
    builder.ret_void()


def _starts(vector: ir.Type) -> list[ir.Value]:
    """Return different numbers: equal chains would become one."""
    return [ir.Constant(vector, [float(number)] * vector.count) for number in range(ACCUMULATORS)]
