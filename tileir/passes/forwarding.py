"""The pass ``forward``: a load of what was stored or loaded before is that value; a store that is overwritten is none.

Knows: how far back along tokens a load may look, and when nothing can see a store. Does not know: addresses beyond
equal values (`relaxing` tells accesses apart).
"""

from __future__ import annotations

from collections.abc import Sequence

from tileir.analysis.effects import MemoryAccess, access_of, effects_of, token_operands, token_results
from tileir.analysis.structure import Uses, exits_from
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Block, Module, Op, Value
from tileir.ir.effects import Effect
from tileir.ir.types import TOKEN
from tileir.ops.control import If
from tileir.ops.core import Select
from tileir.ops.pointers import LoadPtr, MakeToken, StorePtr
from tileir.ops.views import LoadView
from tileir.passes.facts import is_weak_load
from tileir.passes.rebuilding import Rebuilding
from tileir.passes.row import Exactness, Row

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
ROWS = (STORED, LOADED, OVERWRITTEN)

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
            given = self.given(token_operands(op))
            self.bind(token_results(op), given or self.emit(MakeToken.build([TOKEN], self.place(op.loc))))
        else:
            super().visit(op)

    def _is_overwritten(self, op: StorePtr) -> bool:
        users = self.uses.of(op.result_token)
        if len(users) != 1 or not is_weak(op):
            return False
        (later,) = users
        if not isinstance(later, StorePtr) or not is_weak(later) or later.parent is not op.parent:
            return False
        same = later.destination is op.destination and later.value.type is op.value.type
        return same and later.mask in (None, op.mask) and self._passes(op, later)

    def _passes(self, op: Op, later: Op) -> bool:
        """Whether `later` runs whenever `op` has run, and nothing between them can look at memory unordered."""
        assert op.parent is not None, "an operation of a program stands in a block"
        between = op.parent.ops[self._position(op) + 1 : self._position(later)]
        return not any(effects_of(one) & _LOOKS or _may_leave(one) for one in between)

    def _position(self, op: Op) -> int:
        """The number of an operation in its block, as that was."""
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
                if same_place(before, access) and before.result is not None and _same_padding(before, access):
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
        """The value, and the token that the load would have waited for."""
        assert op.token is not None, "the access before is found by the token"
        self.log.note(row, op, [value])
        return [value, op.token]


def is_weak(op: Op) -> bool:
    """Whether an access is ordered by nothing but its tokens."""
    return op.attributes.get("memory_ordering_semantics") is MemoryOrdering.WEAK


def same_place(one: MemoryAccess, other: MemoryAccess) -> bool:
    """Whether two accesses certainly go to the same elements."""
    return (
        one.address is other.address
        and one.mask is other.mask
        and len(one.indices) == len(other.indices)
        and all(first is second for first, second in zip(one.indices, other.indices))
    )


def _same_padding(one: MemoryAccess, other: MemoryAccess) -> bool:
    return one.padding is other.padding and one.result is not None and other.result is not None


def _may_leave(op: Op) -> bool:
    """Whether control may leave the block of `op` in it."""
    blocks: list[Block] = [block for block in op.regions if block is not None]
    if isinstance(op, If):
        return any(next(exits_from(block), None) is not None for block in blocks)
    return any(inner.spec.name == "return" for inner in op.walk())
