"""Samples of native code: where each thread is, some hundred times a second.

Knows: timers of threads (`timer_create(2)`), and the signal handler that counts, made of LLVM code as nothing else may
run there. Does not know: which line an instruction comes from (`cpu.llvm.object_files`).

One profile at a time: the signal is the process's. Linux on x86-64 and AArch64.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np
from llvmlite import ir

from tileir.cpu.emit.elements import I32, I64, PTR
from tileir.cpu.llvm.engine import Loaded, data_layout, host, object_code
from tileir.ir.diagnostics import UnsupportedError

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
        """While inside, threads that `begin` are sampled. Raises UnsupportedError if somebody else takes samples."""
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
        """From now on, until the samples end, this thread is interrupted now and then and counted."""
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
    """What the handler reads: base and size of the code, and the address of the numbers."""

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
    """For signals that come when no profile runs."""
    return Histogram(0)


@cache
def _loaded_handler() -> Loaded:
    """The handler: ``void (int signal, void* information, void* context)``; it calls nothing and waits for nothing."""
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
