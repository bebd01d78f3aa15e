"""Peaks of this machine, measured: arithmetic and memory bandwidth.

Knows: a loop of nothing but fused multiply-adds, and one of nothing but vector loads; that measuring once is enough.
Does not know: kernels.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass
from time import perf_counter

import numpy as np
from llvmlite import ir

from tileir.cache import Cache, key_of
from tileir.cpu.emit.elements import FLOAT, I8, I64, PTR
from tileir.cpu.llvm.engine import Loaded, data_layout, host, object_code, toolchain
from tileir.cpu.run.pool import Job, Pool

ACCUMULATORS = 16
"""Enough independent chains to hide the latency of an addition or multiplication."""
ROUNDS = 1 << 20
BYTES = 1 << 28
REPETITIONS = 5

_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)


@dataclass(frozen=True)
class Peaks:
    """Per second, with all threads: f32 operations (a fused multiply-add is two) and bytes read from memory."""

    flops: float
    bytes: float


def kept_peaks(threads: int, cache: Cache, again: bool = False) -> Peaks:
    """Those measured before on this machine, from the cache; or else, and if asked to do it `again`, measured now."""
    key = key_of("peaks", toolchain(), platform.node(), str(os.cpu_count()), str(threads))
    found = None if again else cache.get(key)
    if found is not None:
        return Peaks(**json.loads(found[0]))
    peaks = measured(threads)
    cache.put(key, (json.dumps(asdict(peaks)).encode(), b""))
    return peaks


def measured(threads: int) -> Peaks:
    """Takes a fraction of a second. The best of several tries counts."""
    loaded = Loaded(object_code(str(_module()), host()), host(), ("multiply", "read"))
    multiply, read = (_FUNCTION(loaded.addresses[name]) for name in ("multiply", "read"))
    pool, memory = Pool(), np.ones(BYTES, np.uint8)
    share = BYTES // threads // (ACCUMULATORS * _line()) * (ACCUMULATORS * _line())
    starts = [memory.ctypes.data + number * share for number in range(threads)]
    fma = _best(pool, threads, lambda number: multiply(ROUNDS, starts[number]))
    load = _best(pool, threads, lambda number: read(share, starts[number]))
    lanes = host().vector_bits // 32
    return Peaks(threads * ROUNDS * ACCUMULATORS * lanes * 2 / fma, threads * share / load)


def _best(pool: Pool, threads: int, work: Callable[[int], None]) -> float:
    """Seconds until `work` is done for every number of a thread."""
    seconds = []
    for _ in range(REPETITIONS):
        waiting = list(range(threads))

        def share(waiting: list[int] = waiting) -> None:
            while waiting:
                work(waiting.pop())

        begin = perf_counter()
        Job(pool, share, waiting.clear).run(threads - 1)
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

    _loop(module, "multiply", vector, 1, multiply)
    _loop(module, "read", vector, ACCUMULATORS * _line(), read)
    return module


Step = Callable[[ir.IRBuilder, list[ir.Value], ir.Value, ir.Value], list[ir.Value]]


def _loop(module: ir.Module, name: str, vector: ir.Type, stride: int, step: Step) -> None:
    """``name(end, memory)``: the accumulators go through `step` for 0, `stride`, ... below `end`; stored at last."""
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
    """Different numbers: equal chains would become one."""
    return [ir.Constant(vector, [float(number)] * vector.count) for number in range(ACCUMULATORS)]
