"""Hints for Triton's compiler: how many warps and stages a kernel gets, from the work of a tile block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tileir.analysis.effects import access_of
from tileir.analysis.structure import LOOPS, Uses, enclosing_loop, home_of
from tileir.gpu.arch import Arch
from tileir.gpu.compiler import AS_THE_KERNEL_HAS_IT, CompileOptions, RequestedOptions
from tileir.ir import types as t
from tileir.ir.attributes import Attribute, BoolAttr, DictAttr, IntegerAttr, OptimizationHints
from tileir.ir.core import Block, Op, Value
from tileir.ir.hints import DEFAULT, HINT_RANGES
from tileir.ops import matmul, reduction, views

TILED = t.PartitionViewType | t.StridedViewType
PRODUCTS = (matmul.MmaF, matmul.MmaI, matmul.MmaFScaled)


class Users(Uses):
    """The uses of values, and which of them are factors of products."""

    def __init__(self, roots: Iterable[Op] = ()) -> None:
        super().__init__(roots)
        self._factors: dict[Block, set[Value]] = {}

    def multiplied(self, value: Value) -> bool:
        """Return whether a product in the block of `value` has it, or something computed from it there, as a factor."""
        block = home_of(value)
        if block is None:
            return False
        if block not in self._factors:
            self._factors[block] = _factors(block)
        return value in self._factors[block]

    def only_multiplied(self, value: Value) -> bool:
        """Return whether `value` is used only as a factor of products."""
        users = self.of(value)
        return bool(users) and all(isinstance(user, PRODUCTS) and value not in user.operands[2:] for user in users)


def _factors(block: Block) -> set[Value]:
    """Return the factors of the products in a block, and the values they are computed from there."""
    found: set[Value] = set()
    for op in reversed(block.ops):
        if isinstance(op, PRODUCTS):
            found.update((op.lhs, op.rhs))
        elif not op.regions and access_of(op) is None and not found.isdisjoint(op.results):
            found.update(op.operands)
    return found


def takes_up_products(loop: Op) -> bool:
    """Return whether a loop multiplies, and starts from the results of another that multiplies."""
    before = [value.owner for value in loop.operands if isinstance(value.owner, LOOPS)]
    return any(map(_multiplies, before)) and _multiplies(loop)


def comes_of_products(value: Value) -> bool:
    """Return whether a value is computed from results of a loop that multiplies."""
    seen, waiting = set(), [value]
    while waiting:
        owner = waiting.pop().owner
        if not isinstance(owner, Op) or owner in seen:
            continue
        seen.add(owner)
        if isinstance(owner, LOOPS) and _multiplies(owner):
            return True
        if not owner.regions and access_of(owner) is None:
            waiting.extend(owner.operands)
    return False


def _multiplies(loop: Op) -> bool:
    return any(isinstance(op, PRODUCTS) for op in loop.walk())


FOLDS = (reduction.Reduce, reduction.Scan)


@dataclass(frozen=True)
class LoopWork:
    """A loop that multiplies, or what is in none: how many products it has, the bytes of the tiles that become factors
    and can be loaded ahead, those of one iteration, and the bytes that its products keep in registers: sums, and as
    much for factors of f32, which no hardware reads from elsewhere, or for scaled sums."""

    products: int
    loaded: int
    registers: int


@dataclass(frozen=True)
class Workload:
    """The work of a kernel: the elements of its largest tile, and of the largest that is reduced or scanned; its
    loops with products; and the loads in loops."""

    largest: int
    folded: int
    loops: Sequence[LoopWork]
    loads: Sequence[Op]

    @property
    def hardest(self) -> LoopWork:
        """The loop that keeps most in registers."""
        return max(self.loops, key=lambda loop: (loop.registers, loop.loaded), default=LoopWork(0, 0, 0))


def workload(entry: Op) -> Workload:
    ops, users = list(entry.walk()), Users([entry])
    loads = loads_in_loops(ops)
    products: dict[Op | None, list[Op]] = {}
    for op in ops:
        if isinstance(op, PRODUCTS):
            products.setdefault(enclosing_loop(op), []).append(op)
    return Workload(
        max((_count(result.type) for op in ops for result in op.results), default=1),
        max((_count(op.operands[0].type) for op in ops if isinstance(op, FOLDS)), default=0),
        [
            _work(users, inside, [load for load in loads if enclosing_loop(load) is place])
            for place, inside in products.items()
        ],
        loads,
    )


def loads_in_loops(ops: Iterable[Op]) -> list[Op]:
    return [op for op in ops if _is_pipelined(op) and enclosing_loop(op) is not None]


def _is_pipelined(op: Op) -> bool:
    """Return whether this is a load that may start ahead of its iteration, as its hint `latency` asks."""
    access, hints = access_of(op), op.spec.attr_index.get("optimization_hints")
    return access is not None and not access.writes and hints is not None and "latency" in (hints.keys or ())


def _work(users: Users, products: Sequence[Op], loads: Iterable[Op]) -> LoopWork:
    """Return the work of a loop with these products and loads."""
    loaded = sum(bytes_of(load.results[0]) for load in loads if users.multiplied(load.results[0]))
    wide = [op for op in products if op.operands[0].tile.element is t.F32 or isinstance(op, matmul.MmaFScaled)]
    return LoopWork(len(products), loaded, sum(bytes_of(op.results[0]) for op in (*products, *wide)))


def _count(type: t.Type) -> int:
    return type.count if isinstance(type, t.TileType) else 1


def bytes_of(value: Value) -> int:
    """Return the bytes of a tile."""
    return value.tile.count * value.tile.element.memory_bits // 8


REGISTERS = 1 << 16
"""32-bit registers of a multiprocessor."""

MAX_REGISTERS = 255
"""Registers of one thread."""

SUMS_OF_THREAD = 512
"""Bytes of sums that a thread can keep in registers, and have as many for the rest: 128 registers."""

BESIDE_SUMS = 64
"""Registers that a thread needs besides those of sums."""

TILE_OF_THREAD = 32
"""Elements of a tile that a thread works on without products."""

SMALL_BLOCK = 4
"""Warps in a block so small that two of them find enough registers."""

MIN_STAGES = 2
MAX_LATENCY_STAGES = 5


def options_for(entry: Op, arch: Arch, requested: RequestedOptions = AS_THE_KERNEL_HAS_IT) -> CompileOptions:
    """Return the options that an entry is compiled with; what is requested goes before hints."""
    work = workload(entry)
    warps = requested.warps or _hinted_warps(entry, arch) or _warps(work, arch.warp)
    occupancy = _number(entry, arch, "occupancy")
    stages = requested.stages or _stages(work, arch, warps, occupancy)
    return CompileOptions(warps, stages, 1, _registers(work, warps * arch.warp, occupancy))


# ---------------------------------------------------------------- reading hints


def hint_of(op: Op, arch: Arch, name: str) -> Attribute | None:
    """Return the hint for the architecture, or else the default one."""
    hints = op.attributes.get("optimization_hints")
    if not isinstance(hints, OptimizationHints):
        return None
    for key in (arch.name, DEFAULT):
        entries = hints.targets.get(key)
        if isinstance(entries, DictAttr) and (found := entries.get(name)) is not None:
            return found
    return None


def _number(op: Op, arch: Arch, name: str) -> int | None:
    """Return an integer hint within its limits."""
    found = hint_of(op, arch, name)
    return found.value if isinstance(found, IntegerAttr) and HINT_RANGES[name].allows(found.value) else None


def allows_tma(op: Op, arch: Arch) -> bool:
    """Return whether the copy engine may serve a load or store."""
    found = hint_of(op, arch, "allow_tma")
    return not isinstance(found, BoolAttr) or found.value


def _hinted_warps(entry: Op, arch: Arch) -> int | None:
    """Return 4 or 8, the nearer of the two for other powers of two."""
    found = _number(entry, arch, "num_worker_warps_per_cta")
    return None if found is None else min(max(found, 4), 8)


# ---------------------------------------------------------------- without hints


def _warps(work: Workload, warp: int) -> int:
    """Return the number of warps. For products: as many as keep the sums in registers. Else: enough for the largest
    tile, of those that a block of average size has, and more only where whole rows are reduced in one tile or
    registers would not do."""
    if work.loops:
        return _power_of_two(work.hardest.registers // (SUMS_OF_THREAD * warp), 4, 16)
    tile = TILE_OF_THREAD * warp
    if work.largest <= 4 * tile:
        return _power_of_two(work.largest // (tile // 4), 1, 4)
    many = work.folded >= 16 * tile or work.largest >= 32 * tile
    return _power_of_two(work.largest // tile, 4, 16 if many else 8)


def _power_of_two(number: int, low: int, high: int) -> int:
    """Return the next power of two from `number` on, within limits."""
    return min(max(1 << max(number - 1, 0).bit_length(), low), high)


def _stages(work: Workload, arch: Arch, warps: int, occupancy: int | None) -> int:
    """Return as many pipeline stages as shared memory has room for, up to those the loads ask for.

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
    """Return the stages that shared memory has room for, if so many blocks share it.

    Where products read shared memory while the program goes on, each stage has tiles of its own; elsewhere the last
    one has been read into registers.
    """
    return arch.shared_memory // blocks // loaded + (not arch.has_asynchronous_products)


def loop_stages(loop: Op, arch: Arch) -> int | None:
    """Return the stages of a loop without products, which Triton pipelines only on request, and of one whose pipeline
    would be wrong."""
    ops = list(loop.walk())
    products = [op for op in ops if isinstance(op, PRODUCTS) and enclosing_loop(op) is loop]
    if arch.has_tensor_memory and any(map(_is_transposed_in_shared_memory, products)):
        return 1
    if any(isinstance(op, PRODUCTS) for op in ops):
        return None
    loads = [op for op in loads_in_loops(ops) if enclosing_loop(op) is loop]
    wanted = _hinted_stages(loads, arch)
    if wanted is None:
        return None
    return max(1, min(wanted, arch.shared_memory // sum(bytes_of(op.results[0]) for op in loads)))


def _is_transposed_in_shared_memory(product: Op) -> bool:
    """Return whether Triton's compiler may transpose a factor in shared memory, as `tcgen05` wants K to be the inner
    dimension of tf32. In a pipeline, Triton 3.9 overwrites the transposed tile while the product before it still reads
    that."""
    factors = zip(product.operands[:2], (-1, -2))
    return any(value.tile.element is t.TF32 and not _lies_along(value, dim) for value, dim in factors)


def _lies_along(value: Value, dim: int) -> bool:
    """Return whether a tile is loaded from a view in whose memory elements lie side by side along its dimension."""
    if not isinstance(value.op, views.LoadView):
        return False
    view = value.op.view.type
    return isinstance(view, TILED) and view.tensor_view.strides[view.tensor_dims[dim]] == 1


def _hinted_stages(loads: Sequence[Op], arch: Arch) -> int | None:
    """Return the deepest pipeline that a load asks for: the longer it takes, the earlier it is started."""
    latencies = [_number(op, arch, "latency") for op in loads]
    return max((min(latency, MAX_LATENCY_STAGES) for latency in latencies if latency is not None), default=None)


def _registers(work: Workload, threads: int, occupancy: int | None) -> int | None:
    """Return the most registers of a thread with which `occupancy` blocks find room; no limit if sums would not fit."""
    if occupancy is None:
        return None
    limit = REGISTERS // (occupancy * threads) // 8 * 8
    needed = work.hardest.registers // (4 * threads) + BESIDE_SUMS
    return limit if needed <= limit < MAX_REGISTERS else None
