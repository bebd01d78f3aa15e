"""The data that a kernel works with at a time.

Knows: the tiles of a program, and what its loops load and multiply. Does not know: hardware.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tileir.analysis.effects import access_of
from tileir.analysis.loops import enclosing_loop
from tileir.gpu.ttir.analysis.users import PRODUCTS, Users
from tileir.ir import types as t
from tileir.ir.core import Op, Value
from tileir.ops import matmul, reduction

FOLDS = (reduction.Reduce, reduction.Scan)


@dataclass(frozen=True)
class LoopWork:
    """A loop that multiplies, or what is in none: how many products it has, the bytes of their sums, the bytes of the
    tiles that become factors and can be loaded ahead, those of one iteration, and the bytes that its products keep in
    registers: sums, and as much for factors of f32, which no hardware reads from elsewhere, or for scaled sums."""

    products: int
    sums: int
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
        return max(self.loops, key=lambda loop: (loop.registers, loop.loaded), default=LoopWork(0, 0, 0, 0))


def workload(entry: Op) -> Workload:
    ops = list(entry.walk())
    users = Users([entry])
    products = [op for op in ops if isinstance(op, PRODUCTS)]
    places = dict.fromkeys(map(enclosing_loop, products))
    return Workload(
        max((_count(result.type) for op in ops for result in op.results), default=1),
        max((_count(op.operands[0].type) for op in ops if isinstance(op, FOLDS)), default=0),
        [_loop(users, place, products, ops) for place in places],
        loads_in_loops(ops),
    )


def loads_in_loops(ops: Iterable[Op]) -> list[Op]:
    return [op for op in ops if _is_pipelined(op) and enclosing_loop(op) is not None]


def _is_pipelined(op: Op) -> bool:
    """Whether this is a load that may be started ahead of its iteration, as its hint `latency` asks for."""
    access, hints = access_of(op), op.spec.attr_index.get("optimization_hints")
    return access is not None and not access.writes and hints is not None and "latency" in (hints.keys or ())


def _loop(users: Users, place: Op | None, products: Iterable[Op], ops: Iterable[Op]) -> LoopWork:
    inside = [op for op in products if enclosing_loop(op) is place]
    loads = [] if place is None else [op for op in loads_in_loops(ops) if enclosing_loop(op) is place]
    loaded = sum(bytes_of(op.results[0]) for op in loads if users.multiplied(op.results[0]))
    sums = sum(bytes_of(op.results[0]) for op in inside)
    return LoopWork(len(inside), sums, loaded, sums + sum(bytes_of(op.results[0]) for op in inside if _is_wide(op)))


def _is_wide(product: Op) -> bool:
    """Whether a product needs as many registers as its sums beside them."""
    return product.operands[0].tile.element is t.F32 or isinstance(product, matmul.MmaFScaled)


def _count(type: t.Type) -> int:
    return type.count if isinstance(type, t.TileType) else 1


def bytes_of(value: Value) -> int:
    """The bytes of a tile."""
    return value.tile.count * value.tile.element.memory_bits // 8
