"""Atomic operations."""

from __future__ import annotations

from typing import Any

from tileir.ir import types as t
from tileir.ir.attributes import ArrayAttr, AtomicMode, IntegerAttr, MemoryOrdering, MemoryScope, Predicate
from tileir.ir.core import Block, Value
from tileir.ops.atomics import AtomicCas, AtomicRmw
from tileir.ops.control import Break, Continue, If, Loop, Yield
from tileir.ops.integer import AddI, AndI
from tileir.ops.pointers import GdcLaunchDependents, GdcWait, LoadPtr, StorePtr
from tileir.ops.reduction import Reduce
from tileir.triton.importer.faults import refused
from tileir.triton.importer.importing import Importing, ImportRules, Results, one_of
from tileir.triton.importer.syntax import MlirOperation

rules = ImportRules()

_MODES = {
    "and": AtomicMode.AND, "or": AtomicMode.OR, "xor": AtomicMode.XOR, "add": AtomicMode.ADD, "fadd": AtomicMode.ADDF,
    "max": AtomicMode.MAX, "min": AtomicMode.MIN, "umax": AtomicMode.UMAX, "umin": AtomicMode.UMIN,
    "exch": AtomicMode.XCHG,
}  # fmt: skip
_ORDERINGS = {
    "relaxed": MemoryOrdering.RELAXED, "acquire": MemoryOrdering.ACQUIRE, "release": MemoryOrdering.RELEASE,
    "acq_rel": MemoryOrdering.ACQ_REL,
}  # fmt: skip
_SCOPES = {"gpu": MemoryScope.DEVICE, "cta": MemoryScope.TL_BLK, "sys": MemoryScope.SYS}
"""Each in the order of the numbers, from 1, that the generic form has."""


def _strength(op: MlirOperation, index: int) -> dict[str, Any]:
    """Return ordering and scope, which are the words from `index` on."""
    return {
        "memory_ordering_semantics": _ORDERINGS[one_of(op, "sem", _ORDERINGS, first=1, index=index)],
        "memory_scope": _SCOPES[one_of(op, "scope", _SCOPES, first=1, index=index + 1)],
    }


@rules("tt.atomic_rmw")
def update(importing: Importing, op: MlirOperation) -> Results:
    (pointer, value), (mask,) = importing.with_optional(op, 2, 1)
    (found,) = importing.access(
        AtomicRmw, value.type, writes=True, pointers=pointer, arg=value, mask=mask,
        mode=_MODES[one_of(op, "atomic_rmw_op", _MODES, first=1, index=0)], **_strength(op, 1),
    )  # fmt: skip
    return found


@rules("tt.atomic_cas")
def compare_and_swap(importing: Importing, op: MlirOperation) -> Results:
    """Import a compare-and-swap, bit for bit. Of 16 bits there is none in Tile IR."""
    pointer, expected, value = importing.operands(op, 3)
    if value.tile.number.bits == 16:
        raise refused("Tile IR compares and swaps numbers of 32 or 64 bits only", "keep what is swapped in an int32")
    (found,) = importing.access(
        AtomicCas, value.type, writes=True, pointers=pointer, cmp=expected, val=value, **_strength(op, 0)
    )
    return found


@rules("tt.atomic_load")
def load(importing: Importing, op: MlirOperation) -> Results:
    """Load, ordered like a write, so that writes released by others are visible after it."""
    (pointer,), (mask,) = importing.with_optional(op, 1, 1)
    return _loaded(importing, op, pointer, mask)


def _loaded(importing: Importing, op: MlirOperation, pointer: Value, mask: Value | None = None) -> Value:
    type = pointer.tile.with_element(pointer.tile.pointer.pointee)
    (found,) = importing.access(LoadPtr, type, writes=True, source=pointer, mask=mask, **_strength(op, 0))
    return found


@rules("tt.atomic_store")
def store(importing: Importing, op: MlirOperation) -> None:
    (pointer, value), (mask,) = importing.with_optional(op, 2, 1)
    importing.access(StorePtr, writes=True, destination=pointer, value=value, mask=mask, **_strength(op, 0))


@rules("tt.atomic_poll")
def poll(importing: Importing, op: MlirOperation) -> Results:
    """Import a loop that loads until all elements are as expected, or have been looked at once for each nanosecond of
    the timeout, which is not shorter."""
    (pointer, expected), (timeout,) = importing.with_optional(op, 2, 1)
    build = importing.build
    count = build.integer(t.tile(t.I64), 0)
    body = Block([t.TOKEN, count.type])
    token = importing.order.everything(build)
    importing.order = importing.order.after(body.args[0], writes=True)
    with importing.inside(body):
        found = build.compare(Predicate.EQUAL, _loaded(importing, op, pointer), expected)
        count_next = build.same(AddI, body.args[1], build.integer(t.tile(t.I64), 1))
        _break_if(importing, _all(importing, found), found)
        if timeout is not None:
            over = build.compare(Predicate.GREATER_THAN_OR_EQUAL, count_next, timeout, signed=False)
            _break_if(importing, over, found)
        build.insert(Continue, operands=[importing.order.everything(build), count_next])
    results = build.insert(Loop, [found.type, t.TOKEN], initValues=[token, count], body=body)
    importing.order = importing.order.after(results[1], writes=True)
    return results[0]


def _break_if(importing: Importing, condition: Value, found: Value) -> None:
    token = importing.order.everything(importing.build)
    with importing.inside(Block()) as block:
        importing.build.insert(Break, operands=[found, token])
    importing.build.insert(If, condition=condition, then=block)


def _all(importing: Importing, condition: Value) -> Value:
    """Return an i1 that is set if all elements of a tile are 1."""
    build = importing.build
    count = condition.tile.count
    if not condition.tile.shape:
        return condition
    flat = build.reshaped(condition, (count,))
    body = Block([t.tile(t.I1)] * 2)
    with importing.inside(body):
        build.insert(Yield, operands=[build.same(AndI, *body.args)])
    identities = ArrayAttr((IntegerAttr(1, t.I1),))
    return build.op(Reduce, t.tile(t.I1), operands=[flat], dim=0, identities=identities, body=body)


@rules("tt.grid_dependency_wait")
def wait_for_grid(importing: Importing, op: MlirOperation) -> None:
    importing.access(GdcWait, writes=True)


@rules("tt.grid_dependency_launch_dependents")
def launch_dependents(importing: Importing, op: MlirOperation) -> None:
    importing.access(GdcLaunchDependents, writes=True)
