"""The passes ``cse``, ``licm`` and ``forward``: computations that are repeated, do not change in a loop, or load a
known value.

cse        an operation that repeats one that is visible to it is that other one
licm       what is the same in every iteration is computed before the loop; tokens alone order accesses of one block
forward    a load of what was stored or loaded before is that value; a store that is overwritten is none
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from tileir.analysis.effects import (
    MemoryAccess,
    access_of,
    accesses_of,
    effects_of,
    ordering_of,
    token_operands,
)
from tileir.analysis.structure import Uses, exits_from, home_of
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Block, Module, Op, Value
from tileir.ir.effects import Effect
from tileir.ir.traits import ISOLATED
from tileir.ir.types import TileType
from tileir.ops.control import For, If, Loop
from tileir.ops.core import Select
from tileir.ops.extension import Generate
from tileir.ops.floating import DivF, RemF, Sqrt
from tileir.ops.pointers import LoadPtr, StorePtr
from tileir.ops.reduction import Reduce, Scan
from tileir.ops.views import LoadView
from tileir.passes.control import has_plain_body, trip_count
from tileir.passes.facts import is_shareable, is_speculatable, is_weak_load
from tileir.passes.rebuilding import Aspect, ChangeLog, Exactness, Rebuilding, Row

# ---------------------------------------------------------------- cse


SHARED = Row(
    "same-operation", "cse", "OP(x, ...) behind OP(x, ...)", "the first one's results", Exactness.EXACT,
    "equal operands and attributes give equal results where there is no effect", "the first one is visible",
)  # fmt: skip
SHARED_LOAD = Row(
    "same-load", "cse", "weak load(p, token=t) behind weak load(p, token=t)", "the first one's results",
    Exactness.PROMISED, "what writes the memory between them races (spec: tokens#transformations)",
    "the first one is visible",
)  # fmt: skip
CSE_ROWS = (SHARED, SHARED_LOAD)

CLOSED = (Reduce, Scan, Generate)
"""Operations whose regions take no values from outside, so that targets can run them by themselves."""


class Sharing(Rebuilding):
    """The walk that finds repetitions."""

    def __init__(self, log: ChangeLog) -> None:
        super().__init__(log)
        self.known: list[dict[Hashable, Sequence[Value]]] = [{}]

    def region(self, block: Block) -> Block:
        op, around = block.parent, self.known
        is_closed = op is None or isinstance(op, CLOSED) or ISOLATED in op.spec.traits
        self.known = [{}] if is_closed else [*around, {}]
        made = super().region(block)
        self.known = around
        return made

    def emit(self, op: Op) -> Sequence[Value]:
        loads = False
        if not is_shareable(op):
            loads = is_weak_load(op) and not op.discardable and self.log.allows(SHARED_LOAD)
            if not loads:
                return self.block.append(op).results
        key = _key(op)
        for known in self.known:
            found = known.get(key)
            if found is not None:
                self.log.note(SHARED_LOAD if loads else SHARED, op, found)
                return found
        self.known[-1][key] = results = self.block.append(op).results
        return results


def _key(op: Op) -> Hashable:
    """Return a key that is equal for equal operations."""
    attributes = frozenset(op.attributes.items()) if op.attributes else None
    return (type(op), *op.operands, op.segments, attributes, *op.result_types)


# ---------------------------------------------------------------- licm


HOISTED = Row(
    "loop-invariant", "licm", "for or loop { OP(x, ...) }", "OP(x, ...) before the loop", Exactness.EXACT,
    "the operands are the same in every iteration, and the operation can be computed where the loop does not run",
    "x, ... are defined outside the loop; OP cannot trap; it gives one element, or is a quotient, root, function or "
    "product, so that it costs more than to keep its result", Aspect.PLACE,
)  # fmt: skip
HOISTED_LOAD = Row(
    "loop-invariant-load", "licm", "for { weak load p }", "weak load p before the loop", Exactness.PROMISED,
    "no write in the loop is ordered before the load, so that what it changes races (spec: tokens#transformations), "
    "and the first load finds what all find",
    "all operands are defined outside the loop, the token too; the loop runs for certain, has one exit, writes weakly "
    "at most and does not wait", Aspect.PLACE,
)  # fmt: skip
LICM_ROWS = (HOISTED, HOISTED_LOAD)

_DISTURBS = Effect.UPDATE | Effect.FENCE | Effect.WAIT | Effect.HOST | Effect.STOP


@dataclass
class _Frame:
    """A block that is being made; `loop`: the operation whose body it is, if that is a loop."""

    block: Block
    loop: For | Loop | None
    still: bool = False
    """True if the loop certainly runs, and orders nothing that its loads do not wait for."""


class Hoisting(Rebuilding):
    """The walk that moves operations out of loops."""

    def __init__(self, log: ChangeLog) -> None:
        super().__init__(log)
        self.frames: list[_Frame] = []
        self.owners: list[Op] = []

    def visit(self, op: Op) -> None:
        self.owners.append(op)
        super().visit(op)
        self.owners.pop()

    def into(self, block: Block, ops: Sequence[Op]) -> None:  # type: ignore[override]
        owner = self.owners[-1] if self.owners else None
        loop = owner if isinstance(owner, For | Loop) else None
        self.frames.append(_Frame(block, loop, isinstance(loop, For) and self._is_still(loop)))
        super().into(block, ops)
        self.frames.pop()

    def _is_still(self, loop: For) -> bool:
        count = trip_count([self.values[bound] for bound in (loop.lower, loop.upper, loop.step)], loop.unsigned)
        if not count or not has_plain_body(loop) or effects_of(loop) & _DISTURBS:
            return False
        return not any(access.writes and access.is_strong for access in accesses_of(loop))

    def emit(self, op: Op) -> Sequence[Value]:
        loads = is_weak_load(op) and self.log.allows(HOISTED_LOAD)
        if not (loads or (is_speculatable(op) and _is_worth_keeping(op))):
            return super().emit(op)
        homes = {home_of(value) for value in op.operands}
        at = len(self.frames) - 1
        while self.frames[at].loop is not None and self.frames[at].block not in homes:
            if loads and not self.frames[at].still:
                break
            at -= 1
        if at < len(self.frames) - 1:
            self.log.note(HOISTED_LOAD if loads else HOISTED, op, op.results)
        return self.frames[at].block.append(op).results


def _is_worth_keeping(op: Op) -> bool:
    """Return whether results are better kept through a loop than computed again.

    A tile needs memory meanwhile, and code that computes its elements where they are used is cheaper than that.
    """
    if op.spec.chapter in ("functions", "matmul") or isinstance(op, DivF | Sqrt | RemF):
        return True
    return all(not isinstance(result.type, TileType) or result.type.count == 1 for result in op.results)


# ---------------------------------------------------------------- forward


STORED = Row(
    "load-after-store", "forward", "weak load p, m token=t, where t is of weak store p, v, m", "v, or the padding",
    Exactness.PROMISED, "the token orders the load behind the store, and a write between them would race",
    "through pointers; the lanes of the store have addresses of their own, or it races",
)  # fmt: skip
LOADED = Row(
    "load-after-load", "forward", "weak load p, m token=t, where t is of weak load p, m", "what that load found",
    Exactness.PROMISED, "loads write nothing, and a write between them would race", "only loads stand between them",
)  # fmt: skip
OVERWRITTEN = Row(
    "store-before-store", "forward", "weak store p, v, whose token only weak store p, w takes", "nothing",
    Exactness.PROMISED, "whoever would see v is not ordered before w, and races",
    "the second store follows in the same block, with the same mask or none, whatever happens between them",
)  # fmt: skip
FORWARD_ROWS = (STORED, LOADED, OVERWRITTEN)

_LOADS = (LoadPtr, LoadView)
_WAITING = (*_LOADS, StorePtr)
_LOOKS = Effect.HOST | Effect.STOP | Effect.PRINT
FARTHEST = 16
"""Accesses that a load looks back over."""


class Forwarding(Rebuilding):
    """The walk that takes values from the accesses before."""

    def module(self, module: Module) -> Module:
        if not any(isinstance(op, _WAITING) and op.token is not None for op in module.walk()):
            return module
        self.uses = Uses([module.op])
        self.positions: dict[Op, int] = {}
        return super().module(module)

    # ------------------------------------------------------------ stores that nobody sees

    def visit(self, op: Op) -> None:
        if isinstance(op, StorePtr) and self._is_overwritten(op):
            self.log.note(OVERWRITTEN, op)
            self.pass_token(op)
        else:
            super().visit(op)

    def _is_overwritten(self, op: StorePtr) -> bool:
        users = self.uses.of(op.result_token)
        if len(users) != 1 or ordering_of(op) is not MemoryOrdering.WEAK:
            return False
        (later,) = users
        if (
            not isinstance(later, StorePtr)
            or ordering_of(later) is not MemoryOrdering.WEAK
            or later.parent is not op.parent
        ):
            return False
        same = later.destination is op.destination and later.value.type is op.value.type
        return same and later.mask in (None, op.mask) and self._passes(op, later)

    def _passes(self, op: Op, later: Op) -> bool:
        """Return whether `later` runs whenever `op` has run, and nothing between them can access memory unordered."""
        assert op.parent is not None, "an operation of a program stands in a block"
        between = op.parent.ops[self._position(op) + 1 : self._position(later)]
        return not any(effects_of(one) & _LOOKS or _may_leave(one) for one in between)

    def _position(self, op: Op) -> int:
        """Return the number of an operation in its block, as that was."""
        block = op.parent
        assert block is not None, "an operation of a program stands in a block"
        if op not in self.positions:
            self.positions.update((one, at) for at, one in enumerate(block.ops))
        return self.positions[op]

    # ------------------------------------------------------------ loads

    def emit(self, op: Op) -> Sequence[Value]:
        found = self._known(op) if isinstance(op, _LOADS) and is_weak_load(op) and not op.discardable else None
        return super().emit(op) if found is None else found

    def _known(self, op: LoadPtr | LoadView) -> Sequence[Value] | None:
        token: Value | None = op.token
        if token is None:
            return None
        access = MemoryAccess.of(op)
        for _ in range(FARTHEST):
            before = None if token is None else access_of(token.owner) if isinstance(token.owner, Op) else None
            if before is None or before.is_strong:
                return None
            if not before.writes:
                if same_place(before, access) and before.result is not None and before.padding is access.padding:
                    return self._noted(LOADED, op, before.result)
                token = next(iter(token_operands(before.op)), None)
                continue
            if before.updates or not same_place(before, access) or not isinstance(op, LoadPtr):
                return None
            assert before.value is not None, "a store has a value"
            return self._stored(op, before.value)
        return None

    def _stored(self, op: LoadPtr, value: Value) -> Sequence[Value] | None:
        if value.type is not op.result.type:
            return None
        if op.mask is not None:
            if op.paddingValue is None:
                return None
            fields = {"cond": op.mask, "val_if_true": value, "val_if_false": op.paddingValue}
            (value,) = super().emit(Select.build([value.type], op.loc, **fields))
        return self._noted(STORED, op, value)

    def _noted(self, row: Row, op: LoadPtr | LoadView, value: Value) -> Sequence[Value]:
        """Return the value, and the token that the load would have waited for."""
        assert op.token is not None, "the access before is found by the token"
        self.log.note(row, op, [value])
        return [value, op.token]


def same_place(one: MemoryAccess, other: MemoryAccess) -> bool:
    """Return whether two accesses certainly go to the same elements."""
    return (
        one.address is other.address
        and one.mask is other.mask
        and len(one.indices) == len(other.indices)
        and all(first is second for first, second in zip(one.indices, other.indices))
    )


def _may_leave(op: Op) -> bool:
    """Return whether control may leave the block of `op` inside `op`."""
    blocks: list[Block] = [block for block in op.regions if block is not None]
    if isinstance(op, If):
        return any(next(exits_from(block), None) is not None for block in blocks)
    return any(inner.spec.name == "return" for inner in op.walk())
