"""The spread of a kernel over the hardware: what its optimization hints ask for, and what is sensible without.

Knows: the hints (spec: hints#meaning), and what hardware has of threads, registers and shared memory.
Does not know: code.

Hints never change what a kernel does, and one that is not valid counts as absent. `num_cta_in_cga` is not followed: a
tile block is always one block of the hardware. Spread over several, Triton would make its barriers barriers of a
cluster and spread every tile, and the order of accesses that is kept here would have to be shown anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileir.analysis.loops import enclosing_loop
from tileir.gpu.arch import Arch
from tileir.gpu.compiler import AS_THE_KERNEL_HAS_IT, CompileOptions, RequestedOptions
from tileir.gpu.ttir.analysis.users import PRODUCTS
from tileir.gpu.ttir.analysis.workload import Workload, bytes_of, loads_in_loops, workload
from tileir.ir.attributes import Attribute, BoolAttr, DictAttr, IntegerAttr, OptimizationHints
from tileir.ir.core import Op
from tileir.ir.hints import DEFAULT, HINT_RANGES

REGISTERS = 1 << 16
"""32-bit registers of a multiprocessor."""

MAX_REGISTERS = 255
"""Of one thread."""

SUMS_OF_THREAD = 512
"""Bytes of sums that a thread can keep in registers, and have as many for the rest: 128 registers."""

BESIDE_SUMS = 64
"""Registers that a thread needs besides those of sums."""

TILE_OF_THREAD = 32
"""Elements of a tile that a thread works on without products."""

SMALL_BLOCK = 4
"""Warps of which two blocks find enough registers."""

MIN_STAGES = 2
MAX_LATENCY_STAGES = 5


def options_for(entry: Op, arch: Arch, requested: RequestedOptions = AS_THE_KERNEL_HAS_IT) -> CompileOptions:
    """Options that an entry is compiled with; what is requested goes before hints."""
    work = workload(entry)
    warps = requested.warps or _hinted_warps(entry, arch) or _warps(work, arch.warp)
    occupancy = _number(entry, arch, "occupancy")
    stages = requested.stages or _stages(work, arch, warps, occupancy)
    return CompileOptions(warps, stages, 1, _registers(work, warps * arch.warp, occupancy))


# ---------------------------------------------------------------- reading hints


def hint_of(op: Op, arch: Arch, name: str) -> Attribute | None:
    """The hint for the architecture, or else the default one."""
    hints = op.attributes.get("optimization_hints")
    if not isinstance(hints, OptimizationHints):
        return None
    for key in (arch.name, DEFAULT):
        entries = hints.targets.get(key)
        if isinstance(entries, DictAttr) and (found := entries.get(name)) is not None:
            return found
    return None


def _number(op: Op, arch: Arch, name: str) -> int | None:
    """An integer hint within its limits."""
    found = hint_of(op, arch, name)
    return found.value if isinstance(found, IntegerAttr) and HINT_RANGES[name].allows(found.value) else None


def allows_tma(op: Op, arch: Arch) -> bool:
    """Whether the copy engine may serve a load or store."""
    found = hint_of(op, arch, "allow_tma")
    return not isinstance(found, BoolAttr) or found.value


def _hinted_warps(entry: Op, arch: Arch) -> int | None:
    """4 or 8, as which other powers of two count too."""
    found = _number(entry, arch, "num_worker_warps_per_cta")
    return None if found is None else min(max(found, 4), 8)


# ---------------------------------------------------------------- without hints


def _warps(work: Workload, warp: int) -> int:
    """Products: as many as keep the sums in registers. Else: enough for the largest tile, of those that a block of
    average size has, and more only where whole rows are reduced in one tile or registers would not do."""
    if work.loops:
        return _power_of_two(work.hardest.registers // (SUMS_OF_THREAD * warp), 4, 16)
    tile = TILE_OF_THREAD * warp
    if work.largest <= 4 * tile:
        return _power_of_two(work.largest // (tile // 4), 1, 4)
    many = work.folded >= 16 * tile or work.largest >= 32 * tile
    return _power_of_two(work.largest // tile, 4, 16 if many else 8)


def _power_of_two(number: int, low: int, high: int) -> int:
    """The next power of two from `number` on, within limits."""
    return min(max(1 << max(number - 1, 0).bit_length(), low), high)


def _stages(work: Workload, arch: Arch, warps: int, occupancy: int | None) -> int:
    """As many stages of the pipeline as shared memory has room for, up to what the loads ask for.

    Small blocks leave room for a second one, which works while the other waits, if enough stages are left then.
    """
    loop = max(work.loops, key=lambda loop: loop.loaded, default=work.hardest)
    usual = arch.max_stages if loop.products <= 1 else max(arch.max_stages - 1, MIN_STAGES)
    wanted = _hinted_stages(work.loads, arch) or usual
    if not loop.loaded:
        return wanted
    alone = _fitting(arch, 1, loop.loaded)
    shared = _fitting(arch, occupancy or (2 if warps <= SMALL_BLOCK else 1), loop.loaded)
    if occupancy is None and shared < min(wanted, arch.max_stages - 1):
        shared = alone
    return max(min(wanted, shared), min(wanted, MIN_STAGES))


def _fitting(arch: Arch, blocks: int, loaded: int) -> int:
    """The stages that shared memory has room for, if so many blocks share it.

    Where products read shared memory while the program goes on, each stage has tiles of its own; elsewhere the last
    one has been read into registers.
    """
    return arch.shared_memory // blocks // loaded + (not arch.has_asynchronous_products)


def loop_stages(loop: Op, arch: Arch) -> int | None:
    """The stages of a loop without products, of which Triton makes a pipeline only if it is told to."""
    ops = list(loop.walk())
    if any(isinstance(op, PRODUCTS) for op in ops):
        return None
    loads = [op for op in loads_in_loops(ops) if enclosing_loop(op) is loop]
    wanted = _hinted_stages(loads, arch)
    if wanted is None:
        return None
    return max(1, min(wanted, arch.shared_memory // sum(bytes_of(op.results[0]) for op in loads)))


def _hinted_stages(loads: Sequence[Op], arch: Arch) -> int | None:
    """The deepest pipeline that a load asks for: the longer it takes, the earlier it is started."""
    latencies = [_number(op, arch, "latency") for op in loads]
    return max((min(latency, MAX_LATENCY_STAGES) for latency in latencies if latency is not None), default=None)


def _registers(work: Workload, threads: int, occupancy: int | None) -> int | None:
    """The most registers of a thread with which `occupancy` blocks find room; no limit if sums would not fit."""
    if occupancy is None:
        return None
    limit = REGISTERS // (occupancy * threads) // 8 * 8
    needed = work.hardest.registers // (4 * threads) + BESIDE_SUMS
    return limit if needed <= limit < MAX_REGISTERS else None
