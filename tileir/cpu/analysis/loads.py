"""Decisions where the elements of loaded tiles are read from memory, each made once.

A load that is *put off* copies nothing: memory is read in the loops of the operations that use its tile. It is read
before memory changes, but for one case: the loop of the store that changes it may read an element and write one at a
time, where a run-time alias check finds that no element is written before another one at the same place is read.

The run-time check is made in `cpu.memory.stores`.
"""

from __future__ import annotations

import enum
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tileir.analysis.affine import Affines
from tileir.analysis.effects import MemoryAccess, access_of, own_effect
from tileir.analysis.region import Edge, Region, is_view_box
from tileir.cpu.analysis.fusion import ALIASES, INDEX_MAPPING, Fusion, fusible
from tileir.ir import types as t
from tileir.ir.core import Op, Value
from tileir.ir.effects import Effect
from tileir.ops.calls import Call
from tileir.ops.control import For, If, Loop
from tileir.ops.core import Constant
from tileir.ops.misc import Assume

LEAST_ROW = 64
"""Bytes of the shortest row that is moved as one."""
CHANGES = Effect.WRITE | Effect.UPDATE | Effect.PRINT | Effect.HOST
"""Effects that may change memory; code of the host, which takes what is printed, may do anything."""


class LoadPlacement(enum.Enum):
    """The place where the elements of a loaded tile are read."""

    AT_ONCE = enum.auto()
    """At the place of the load: its tile is a copy."""
    BY_USERS = enum.auto()
    """In the code of its users, before memory changes."""
    IN_STORE = enum.auto()
    """In the code of its users and, last, in the loop of the store that changes memory, if the alias check allows
    it."""


@dataclass(frozen=True)
class PutOffLoad:
    """A load whose elements the loop of a store reads, which may be that of joint stores.

    `in_place`: each one only for the element at the same index that is written. `same_tile`: that is certain to be the
    same place in memory, so that there is nothing to check.
    """

    access: MemoryAccess
    tile: Value
    in_place: bool
    same_tile: bool


class Loads:
    """The loads of one function: an entry or a device function. `puts_off`: they are put off where they can be."""

    def __init__(self, fusion: Fusion, known: Affines, puts_off: bool = True) -> None:
        self.readers = Readers(fusion)
        self._place = {op: place for place, op in enumerate(fusion.operations)}
        self._fusion = fusion
        self._barriers = [op for op in fusion.operations if _is_barrier(op) and fusion.loop_of(op) is op]
        self._barrier_places = [self._place[op] for op in self._barriers]
        self._placements: dict[Value, LoadPlacement] = {}
        self._in_stores: dict[Op, list[PutOffLoad]] = {}
        accesses = [access for access in map(access_of, fusion.operations) if access is not None]
        self.regions = {access.op: Region(access, known.forms) for access in accesses}
        """The region of each access."""
        self.rows = {op: rows for op, region in self.regions.items() if (rows := row_access(region)) is not None}
        """The accesses through pointers to rows that lie anywhere."""
        self.guards = {edge.comparison: edge for edge in self._edges()}
        """The guard that each of the comparisons of boxes and rows is."""
        even = [region for region in self.regions.values() if region.through_pointers and region.steps_evenly]
        self.remainders = {one.value: one.dim for region in even for one in region.remainders}
        """The tiles of remainders that boxes are made of, and the dimensions along which they rise."""
        if puts_off:
            self._decide_all([access for access in accesses if access.declared.effect is Effect.READ])

    def is_box(self, access: MemoryAccess) -> bool:
        """Return whether an access covers a box of memory, which is read and written as a window."""
        return self.regions[access.op].is_box

    def _edges(self) -> Iterator[Edge]:
        for op, region in self.regions.items():
            if region.through_pointers and region.is_box:
                yield from region.edges or ()
            yield from self.rows[op].ends if op in self.rows else ()

    def placement(self, tile: Value) -> LoadPlacement:
        """Return the place where the elements of a loaded tile are read."""
        return self._placements.get(tile, LoadPlacement.AT_ONCE)

    def read_in(self, store: Op) -> list[PutOffLoad]:
        """Return the loads whose elements the loop of `store` reads."""
        return self._in_stores.get(store, [])

    def cut(self) -> Iterator[Value]:
        """Yield the loaded tiles of boxes, with rows along their last dimension, that may be cut, and are constant
        outside."""
        for region in self.regions.values():
            load = region.access
            if load.declared.effect is not Effect.READ or not region.is_box or load.is_strong or load.result is None:
                continue
            if region.has_front:
                continue
            is_cut = load.mask is not None or not region.through_pointers
            if is_cut and _is_constant(load.padding) and region.element is not t.I1 and _has_rows(region):
                yield load.result

    # ------------------------------------------------------------ deciding

    def _decide_all(self, loads: Sequence[MemoryAccess]) -> None:
        boxes = [load for load in loads if self.is_box(load)]
        for load in loads:
            if load not in boxes and self.regions[load.op].is_even:
                self._decide(load, self._pointer_placement(load))
        for load in boxes:
            self._decide(load, self._box_placement(load))

    def _decide(self, load: MemoryAccess, placement: LoadPlacement) -> None:
        tile, barrier = _tile(load), self._barrier_after(load)
        self._placements[tile] = placement
        if barrier is not None and placement is LoadPlacement.IN_STORE:
            in_place = self.readers.in_place(tile, barrier)
            for store in self._fusion.joint(barrier):
                put_off = PutOffLoad(load, tile, in_place, in_place and _same_tile(load, access_of(store)))
                self._in_stores.setdefault(store, []).append(put_off)

    def _pointer_placement(self, load: MemoryAccess) -> LoadPlacement:
        """Put off a load through pointers only where one store reads the tile, in the order in which it writes: a
        masked read has a branch."""
        tile, barrier = _tile(load), self._barrier_after(load)
        if barrier is None or {op for op, _ in self.readers.uses(tile)} != {barrier}:
            return LoadPlacement.AT_ONCE
        placement = self._placement_before(barrier, tile)
        if placement is not LoadPlacement.IN_STORE or not self.readers.in_place(tile, barrier):
            return LoadPlacement.AT_ONCE
        self.readers.put_off(load.op)
        return LoadPlacement.IN_STORE

    def _box_placement(self, load: MemoryAccess) -> LoadPlacement:
        tile, barrier = _tile(load), self._barrier_after(load)
        return LoadPlacement.BY_USERS if barrier is None else self._placement_before(barrier, tile)

    def _placement_before(self, barrier: Op, tile: Value) -> LoadPlacement:
        """Return the placement of the load of `tile`, given the first operation after it that may change memory."""
        uses, store = self.readers.uses(tile), access_of(barrier)
        if any(self._place[op] > self._place[barrier] for op, _ in uses):
            return LoadPlacement.AT_ONCE
        operands = {operand for op, operand in uses if op is barrier}
        if store is None or operands <= set(store.indices):
            return LoadPlacement.BY_USERS
        if self._stores_one_by_one(store):
            stores = map(MemoryAccess.of, self._fusion.joint(barrier))
            stored = {operand for one in stores for operand in (one.value, one.mask, *one.indices)}
            return LoadPlacement.IN_STORE if operands <= stored else LoadPlacement.AT_ONCE
        through_pointers = self.regions[store.op].through_pointers
        return LoadPlacement.AT_ONCE if through_pointers else LoadPlacement.BY_USERS

    def _stores_one_by_one(self, store: MemoryAccess) -> bool:
        """Return whether the loop of a store may read what it stores; other accesses compute their tile before they
        begin."""
        region = self.regions[store.op]
        return store.declared.effect is Effect.WRITE and (region.is_box or region.is_even)

    def _barrier_after(self, load: MemoryAccess) -> Op | None:
        """Return the first operation after a load that may change memory, or has a region that runs any number of
        times."""
        place = bisect_right(self._barrier_places, self._place[load.op])
        return self._barriers[place] if place < len(self._barriers) else None


def _tile(load: MemoryAccess) -> Value:
    assert load.result is not None, "a load has a result"
    return load.result


def _is_barrier(op: Op) -> bool:
    return isinstance(op, If | For | Loop | Call) or bool(own_effect(op) & CHANGES)


def _is_constant(padding: Value | None) -> bool:
    return padding is None or (isinstance(padding.op, Constant) and padding.op.value.is_splat)


def _has_rows(region: Region) -> bool:
    """Return whether elements lie side by side along the last dimension, in rows that are moved as one."""
    return region.extents[-1] * region.bytes >= LEAST_ROW and region.static_steps[-1] == region.bytes


@dataclass(frozen=True)
class RowAccess:
    """An access to rows along `dim`. The guards of `ends` say where rows end; besides, the mask is the same all along a
    row."""

    dim: int
    ends: Sequence[Edge]


def row_access(region: Region) -> RowAccess | None:
    """Return how a weak access through pointers moves rows that lie anywhere; None if it is not seen to.

    Elements that share a place are stored in row-major order.
    """
    moves = region.access.declared.effect in (Effect.READ, Effect.WRITE)
    if not moves or not region.is_weak_tile or region.is_even:
        return None
    dim = region.row_dimension
    if dim is None or region.extents[dim] * region.bytes < LEAST_ROW:
        return None
    if region.access.writes and any(extent > 1 for extent in region.extents[dim + 1 :]):
        return None
    ends = region.ends_along(dim)
    return None if ends is None else RowAccess(dim, ends)


def _same_tile(load: MemoryAccess, store: MemoryAccess | None) -> bool:
    """Return whether both access the same tile of the same view."""
    if store is None or not is_view_box(load) or load.address is not store.address:
        return False
    return all(mine is other for mine, other in zip(load.indices, store.indices))


# ---------------------------------------------------------------- readers of values

Use = tuple[Op, Value]
"""An operation whose code reads elements, and the operand that it reads them through."""


class Readers:
    """The operations whose code reads the elements of each value of one function.

    Those that only leave an expression for their users are passed: expressions, put-off loads and carried pointers.
    """

    def __init__(self, fusion: Fusion) -> None:
        self._fusion = fusion
        self._uses: dict[Value, frozenset[Use]] = {}
        self._put_off: set[Op] = set()

    def put_off(self, load: Op) -> None:
        """Take into account that `load` computes its pointers where its users read."""
        self._put_off.add(load)
        self._uses.clear()

    def uses(self, value: Value) -> frozenset[Use]:
        waiting = [value]
        while waiting:
            further = [other for other in self._read_with(waiting[-1]) if other not in self._uses]
            if further:
                waiting += further
            else:
                found = waiting.pop()
                self._uses[found] = frozenset(self._found(found))
        return self._uses[value]

    def _read_with(self, value: Value) -> Iterator[Value]:
        """Yield the values whose elements are read where those of `value` are."""
        for user in self._fusion.users(value):
            if self._passes(user):
                yield user.results[0]
            else:
                yield from filter(None, [self._put_off_with(user, value)])

    def _found(self, value: Value) -> Iterator[Use]:
        """Yield the uses of a value, when those of the values read with it are known."""
        for user in self._fusion.users(value):
            if self._passes(user):
                yield from self._uses[user.results[0]]
            if not self._passes(user) or isinstance(user, Assume):
                yield self._fusion.loop_of(user), value  # A promise is checked where it stands.
            if isinstance(user, For) and _is_pointers(value):
                yield user.body.ops[-1], value
            loaded = self._put_off_with(user, value)
            if loaded is not None:
                yield from ((op, value) for op, _ in self._uses[loaded])

    def in_place(self, value: Value, store: Op) -> bool:
        """Return whether `store` reads each element of `value` only to write the element at the same index."""
        waiting, seen = [value], {value}
        while waiting:
            for user in self._fusion.users(waiting.pop()):
                if self._passes(user) and any(op is store for op, _ in self.uses(user.results[0])):
                    if isinstance(user, INDEX_MAPPING):
                        return False
                    waiting += {user.results[0]} - seen
                    seen.add(user.results[0])
        return True

    def _passes(self, op: Op) -> bool:
        """Return whether the result of `op` is an expression or the tile that `op` is given."""
        return isinstance(op, ALIASES) or (fusible(op) and self._fusion.fused(op.results[0]))

    def _put_off_with(self, user: Op, value: Value) -> Value | None:
        """Return the tile of a put-off load through the pointers `value`: its users compute these where they read."""
        access = access_of(user) if user in self._put_off else None
        return None if access is None or access.address is not value else access.result


def _is_pointers(value: Value) -> bool:
    return isinstance(value.type, t.TileType) and isinstance(value.type.element, t.PointerType)
