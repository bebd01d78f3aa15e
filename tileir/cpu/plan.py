"""The plan of a kernel: every decision of the CPU back end, made before any code is emitted.

`plan_of` makes it from an entry. `cpu.lowering` and `cpu.rules` obey it; what depends on the arguments of a launch
(where arrays lie, how many rows are left at a border) is decided by the code itself, in one of the ways that the plan
allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from tileir.analysis.affine import Affines
from tileir.analysis.effects import accesses_of, reachable
from tileir.analysis.placement import CallPlacement
from tileir.cpu.analysis.coarsening import Coarsening, coarsening_of
from tileir.cpu.analysis.fusion import Fusion
from tileir.cpu.analysis.joint_stores import joint_stores
from tileir.cpu.analysis.live_extents import LiveExtents, live_extents
from tileir.cpu.analysis.loads import Loads
from tileir.cpu.analysis.reuse import Reuse
from tileir.cpu.analysis.streams import Prefetch, Streams, prefetches_of, signals, streams_of
from tileir.cpu.emit.record import COLUMNS, JOINED_COLUMNS, CheckLevel
from tileir.cpu.llvm.engine import Host
from tileir.cpu.matmul.policy import ProductOp, ProductPlan, ProductPolicy
from tileir.ir import types as t
from tileir.ir.core import Block, Op, Value
from tileir.ops import reduction, shapes
from tileir.ops.calls import Call
from tileir.ops.control import Loop
from tileir.ops.floating import MaxF, MinF
from tileir.ops.module import Entry

STRATEGIES = {
    "expressions": "element-wise tiles are computed where they are used",
    "masked loads": "at the border of a tensor or a mask, elements are read under a mask instead of from a copy",
    "put-off loads": "loaded tiles are read where they are used",
    "joint stores": "stores that follow one another are written in one loop",
    "reused buffers": "tiles are computed in the memory of an operand that nothing reads any more",
    "live extents": "what a store leaves out at the border of a tensor is not computed",
    "joined tile blocks": "neighbouring tile blocks run as one with longer tiles",
    "streams": "large stores bypass the cache",
    "prefetches": "rows of the next iteration or tile block are prefetched",
    "deferred products": "tiles of several iterations are multiplied at once",
    "kept panels": "packed tiles stay for the next tile blocks",
    "rows of zeros": "blocks of rows at the end of a gathered left factor that are zeros are not multiplied",
    "few rows": "products of few rows read the right factor from memory into registers",
    "runs of few rows": "tiles of several iterations are multiplied at once where rows are few",
    "plain extremes": "the largest or smallest of a row is found by one comparison for each element",
}
"""The strategies that can be switched off (`KernelPlan.without`), with descriptions."""

MOST_JOINED = 1 << 20
"""Elements of a tile of joined tile blocks at most: they are run without a look at what else goes on."""
FAN = 8
"""Elements that a reduction joins in registers: three levels of a tree."""
COSTLY, FAN_OF_COSTLY = 4, 2
"""Operations that make an element a costly one, and how many of those are joined: the code of each is repeated."""


@dataclass(frozen=True)
class ReductionPlan:
    """The way a reduction or scan goes through its tree.

    `fan` elements are joined in registers at first. `extreme`: True for the largest of a row, False for the smallest,
    None for others.
    """

    is_costly: bool
    fan: int
    extreme: bool | None


@dataclass(frozen=True, eq=False)
class FunctionPlan:
    """Decisions about one function: an entry or a device function."""

    fusion: Fusion
    known: Affines
    loads: Loads
    masked: frozenset[Value]
    """Tiles of boxes whose elements are read under a mask where the box is cut."""
    live: LiveExtents
    """Empty if all elements of each tile count."""
    expressions: frozenset[Value]
    """Values that are computed where they are used."""
    reused: Mapping[tuple[Value, Op], tuple[Value, ...]]
    """For a tile that an operation computes, the operands whose memory it may reuse."""
    products: Mapping[Op, ProductPlan]
    reductions: Mapping[Op, ReductionPlan]
    prefetches: Mapping[Op, Prefetch]
    """What is prefetched for accesses to boxes: nothing where tile blocks are joined."""


@dataclass(frozen=True, eq=False)
class KernelPlan:
    """Decisions about an entry: about its body, the device functions that it may call, and its launches."""

    body: FunctionPlan
    functions: Mapping[Block, FunctionPlan]
    parts: frozenset[Op]
    """The device functions whose code stands where they are called."""
    placement: CallPlacement
    checks: CheckLevel
    target: Host
    waits: bool = False
    """True if tile blocks may wait for each other; then they can be set aside."""
    coarsening: Coarsening | None = None
    """The way tile blocks run as one; None if they do not."""
    streams: Streams = field(default_factory=dict)
    """Stores that may bypass the cache."""
    keeps_panels: bool = False
    """True if packed tiles stay for other tile blocks."""
    band: int = COLUMNS
    """Columns of a band of tile blocks that are not joined."""
    least_streamed: int = 1 << 24
    """Bytes that a launch stores at least, if the store bypasses the cache."""

    @property
    def most_joined(self) -> int:
        """The largest number of tile blocks that run as one; 0 if they run one by one."""
        return 0 if self.coarsening is None else MOST_JOINED // self.coarsening.largest

    @property
    def columns(self) -> int:
        """Tile blocks are numbered in bands of so many columns (`cpu.emit.record`)."""
        return JOINED_COLUMNS if self.coarsening is not None and self.coarsening.axis == 1 else self.band

    @property
    def strict(self) -> bool:
        return self.checks is CheckLevel.STRICT

    @property
    def checked(self) -> bool:
        return self.checks is not CheckLevel.OFF


def plan_of(
    entry: Entry,
    checks: CheckLevel,
    target: Host,
    watched: bool = False,
    without: Iterable[str] = (),
) -> KernelPlan:
    """Decide how an entry becomes code for a processor.

    `watched`: each tile block is looked at by itself. `without`: the `STRATEGIES` that are not to be used.
    """
    off = frozenset(without)
    assert off <= STRATEGIES.keys(), off - STRATEGIES.keys()
    waits, streams = may_wait(reachable(entry)), streams_of(entry)
    planner = _Planner(checks is CheckLevel.STRICT, waits, target, off)
    body = planner.function(entry.body)
    coarsening = None if watched or waits or planner.strict else planner.coarsening(entry.body, body)
    keeps = checks is not CheckLevel.OFF and coarsening is None and "kept panels" not in off and not signals(entry)
    products, band = planner.products(body.fusion, body.loads, keeps)
    placement = CallPlacement(entry.body)
    called = {op: placement.sizes.callee(op) for op in reachable(entry) if isinstance(op, Call)}
    return KernelPlan(
        replace(body, products=products, prefetches={} if coarsening is not None else body.prefetches),
        {function.body: planner.device_function(function.body) for function in called.values()},
        frozenset(one for one in called.values() if placement.is_part(one) or (waits and may_wait(reachable(one)))),
        placement,
        checks,
        target,
        waits,
        coarsening,
        streams if target.is_x86 and "streams" not in off else {},
        keeps and any(plan.panels for plan in products.values()),
        band,
    )


@dataclass(frozen=True)
class _Planner:
    """Makes the decisions about functions."""

    strict: bool
    waits: bool
    target: Host
    off: frozenset[str]

    def device_function(self, body: Block) -> FunctionPlan:
        made = self.function(body)
        return replace(made, products=self.products(made.fusion, made.loads, keeps=False)[0])

    def function(self, body: Block) -> FunctionPlan:
        """Decide about a function but for its products."""
        known = Affines(body)
        fusion = Fusion(body, {} if self.strict or "joint stores" in self.off else joint_stores(body, known))
        loads = Loads(fusion, known, puts_off="put-off loads" not in self.off)
        return FunctionPlan(
            fusion,
            known,
            loads,
            self._masked(fusion, loads),
            {} if self.strict or "live extents" in self.off else live_extents(fusion, loads),
            self._expressions(fusion),
            self._reused(fusion, loads),
            {},
            {op: self._reduction(fusion, op) for op in fusion.operations if isinstance(op, _REDUCTIONS)},
            {} if self.strict or "prefetches" in self.off else prefetches_of(loads.regions.values()),
        )

    def _masked(self, fusion: Fusion, loads: Loads) -> frozenset[Value]:
        """Return the loads that are read under a mask: not those of factors, which are read in panels, nor those that
        are turned."""
        if self.strict or not self.target.has_masks or "masked loads" in self.off:
            return frozenset()
        return frozenset(tile for tile in loads.cut() if not self._read_otherwise(fusion, loads, tile))

    def _read_otherwise(self, fusion: Fusion, loads: Loads, tile: Value) -> bool:
        """Return whether products or permutations read a tile."""
        ops = {op for op, _ in loads.readers.uses(tile)} | set(fusion.users(tile))
        return any(isinstance(op, (ProductOp, shapes.Permute)) for op in ops)

    def products(self, fusion: Fusion, loads: Loads, keeps: bool) -> tuple[dict[Op, ProductPlan], int]:
        return ProductPolicy(self.target, self.strict, self.off).plans(fusion, loads, keeps)

    def coarsening(self, body: Block, plan: FunctionPlan) -> Coarsening | None:
        """Decide how tile blocks may be run as one."""
        if "joined tile blocks" in self.off:
            return None
        found = coarsening_of(body, plan.fusion, plan.known, plan.loads)
        return None if found is None or 2 * found.largest > MOST_JOINED else found

    def _expressions(self, fusion: Fusion) -> frozenset[Value]:
        """Return the expressions. In strict mode the users of a value come twice, so only addresses stay, which are
        known by their base."""
        values = (value for op in fusion.operations for value in op.results if isinstance(value.type, t.TileType))
        only_addresses = self.strict or "expressions" in self.off
        return frozenset(
            value
            for value in values
            if fusion.fused(value) and (not only_addresses or isinstance(value.tile.element, t.PointerType))
        )

    def _reused(self, fusion: Fusion, loads: Loads) -> dict[tuple[Value, Op], tuple[Value, ...]]:
        """Return the operands whose memory is reused: none where code comes twice, or where a changed carried value
        must be told from the one before."""
        if self.strict or self.waits or "reused buffers" in self.off:
            return {}
        reuse = Reuse(fusion, loads.readers)
        sums = [(op.acc, op) for op in fusion.operations if isinstance(op, ProductOp)]
        tiles = [(value, op) for op in fusion.operations for value in op.results if not fusion.is_expression(value)]
        found = {(tile, op): tuple(reuse.given_up(tile, op)) for tile, op in (*sums, *tiles)}
        return {tile: operands for tile, operands in found.items() if operands}

    def _reduction(self, fusion: Fusion, op: reduction.Reduce | reduction.Scan) -> ReductionPlan:
        is_costly = sum(map(fusion.weight, op.sources)) >= COSTLY
        if isinstance(op, reduction.Scan):
            return ReductionPlan(is_costly, FAN, None)
        extreme = None if is_costly or "plain extremes" in self.off else _extreme(op)
        return ReductionPlan(is_costly, FAN_OF_COSTLY if is_costly else FAN, extreme)


_REDUCTIONS = (reduction.Reduce, reduction.Scan)


def _extreme(op: reduction.Reduce) -> bool | None:
    """Return which extreme a reduction along rows finds, if that is all it does."""
    *operations, end = op.body.ops
    if len(operations) != 1 or op.dim != op.sources[0].tile.rank - 1:
        return None
    (join,) = operations
    if not isinstance(join, MaxF | MinF) or join.propagate_nan or join.flush_to_zero:
        return None
    if set(join.operands) != set(op.body.args) or list(end.operands) != [join.result]:
        return None
    return isinstance(join, MaxF) if join.result.tile.element in (t.F32, t.F64) else None


def waits_for_others(loop: Op) -> bool:
    """Return whether a `loop` reads memory that another tile block may write meanwhile, so that it may be waiting for
    it."""
    return isinstance(loop, Loop) and any(access.is_strong for access in accesses_of(loop))


def may_wait(ops: Iterable[Op]) -> bool:
    """Return whether one of the operations is a loop that waits."""
    return any(map(waits_for_others, ops))
