"""Loads of large tiles that are put off until their tile is used.

A tile that is loaded long before its use keeps registers meanwhile: the rows of a layer norm, its factors and its
shifts fill those of a thread together, though the last two are used after all sums. A load is put off past a reduction,
where all threads wait for each other anyway. No token may come from it or lead to it, so that no order is lost, and it
must not be a factor of a product, which the compiler loads ahead of time.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileir.analysis.effects import ordering_of, token_operands, token_results
from tileir.analysis.structure import ancestor_in
from tileir.gpu.ttir.analysis.barriers import TokenOrder
from tileir.gpu.ttir.analysis.hints import FOLDS, Users, bytes_of
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Op
from tileir.ops.pointers import LoadPtr
from tileir.ops.views import LoadView

LARGE = 1 << 14
"""Bytes of a tile that takes many registers of each thread: 32 of 128 threads."""


def with_late_loads(ops: Sequence[Op], users: Users, order: TokenOrder) -> list[Op]:
    """Return the operations of a block, or of a part of it, in the order in which they are lowered."""
    late: dict[Op, list[Op]] = {}
    for op in ops:
        user = late_user(op, users, order)
        if user is not None:
            late.setdefault(user, []).append(op)
    if late.keys().isdisjoint(ops):
        return list(ops)
    moved = {load for user in ops for load in late.get(user, ())}
    return [one for op in ops if op not in moved for one in (*late.get(op, ()), op)]


def late_user(op: Op, users: Users, order: TokenOrder) -> Op | None:
    """Return the operation of the same block that a load is put off to: the first that uses its tile, if that stands
    behind a reduction; None for a load that stays."""
    if not isinstance(op, LoadView | LoadPtr) or ordering_of(op) is not MemoryOrdering.WEAK or op.parent is None:
        return None
    tile = op.results[0]
    tokens = [*token_operands(op), *(user for token in token_results(op) for user in users.of(token))]
    if bytes_of(tile) < LARGE or tokens or order.needs_barrier(op) or users.multiplied(tile):
        return None
    using = {ancestor_in(op.parent, user) for user in users.of(tile)}
    passed = False
    for later in op.parent.ops[op.parent.ops.index(op) + 1 :]:
        if later in using:
            return later if passed else None
        passed = passed or isinstance(later, FOLDS)
    return None
