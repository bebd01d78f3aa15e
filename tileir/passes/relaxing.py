"""The pass ``relax``: tokens order only the accesses that need it.

`analysis.footprint` and `analysis.disjoint` tell which accesses cannot meet in memory.

    %a, %t1 = load p token=%t0            %a, %t1 = load p token=%t0
    %b, %t2 = load q token=%t1    =>      %b, %t2 = load q token=%t0
    store r token=%t2                     store r token=join(%t1, %t2)
"""

from __future__ import annotations

from collections.abc import Sequence

from tileir.analysis.disjoint import Proved, disjoint
from tileir.analysis.effects import MemoryAccess, access_of, token_results
from tileir.analysis.footprint import Footprint, op_footprints
from tileir.ir.core import Module, Op, Value
from tileir.ir.types import TOKEN
from tileir.ops.module import Entry
from tileir.ops.pointers import JoinTokens, MakeToken
from tileir.passes.rebuilding import Exactness, Rebuilding, Row

LOADS = Row(
    "load-before-load", "relax", "weak load token=t, where t is of a weak load", "weak load with the token before t",
    Exactness.ORDER, "two loads never conflict; what waits for the second waits for a join of both tokens",
)  # fmt: skip
APART = Row(
    "disjoint-accesses", "relax", "weak access token=t, where t is of a weak access", "it with the token before t",
    Exactness.ORDER, "what shares no byte cannot conflict; what waits for the second waits for a join of both tokens",
    "their footprints are proved disjoint in every tile block, for all arguments",
)  # fmt: skip
ROWS = (LOADS, APART)

MOST_TOKENS = 32
"""Tokens of one join; longer chains stay as they are."""


class Relaxing(Rebuilding):
    """The walk that takes edges away."""

    def module(self, module: Module) -> Module:
        self.footprints: dict[Op, Footprint] = {}
        """The footprints of the entries' original accesses."""
        self.origin: dict[Op, Op] = {}
        """The access as it was, of each one that is made."""
        for entry in module.items:
            if isinstance(entry, Entry):
                self._note_footprints(entry)
        return super().module(module)

    def _note_footprints(self, entry: Entry) -> None:
        """Note the footprints of accesses that are analysed once: an access in a function has several."""
        self.footprints.update((op, found) for found, op in op_footprints(entry, in_calls=False))

    def visit(self, op: Op) -> None:
        access = access_of(op)
        if access is None or access.is_strong or access.updates or not token_results(op):
            super().visit(op)
            return
        made = self.copy(op)
        self.origin[made] = op
        self.bind(op.results, self._relaxed(made))

    def _relaxed(self, op: Op) -> Sequence[Value]:
        access = MemoryAccess.of(op)
        before = _parts(op.operand_group(op.spec.operand_index["token"].position))
        needed, rows = self._needed(access, before)
        if not rows or len(before) >= MOST_TOKENS:
            return self.emit(op)
        self._give(op, needed)
        results = list(self.emit(op))
        for row in dict.fromkeys(rows):
            self.log.note(row, op, results)
        (own,) = token_results(op)
        joined = self.emit(JoinTokens.build([TOKEN], op.loc, tokens=[*before, own]))[0]
        return [joined if result is own else result for result in results]

    def _needed(self, access: MemoryAccess, tokens: Sequence[Value]) -> tuple[list[Value], list[Row]]:
        """Return the tokens that the access must wait for, and the rows that say why not for others."""
        needed: dict[Value, None] = {}
        rows: list[Row] = []
        waiting, seen = list(tokens), set(tokens)
        while waiting:
            token = waiting.pop(0)
            row = self._unneeded(access, token)
            if row is None:
                needed[token] = None
                continue
            rows.append(row)
            assert isinstance(token.owner, Op), "a token that is not needed is that of an access"
            group = token.owner.operand_group(token.owner.spec.operand_index["token"].position)
            waiting += [part for part in _parts(group) if part not in seen]
            seen.update(_parts(group))
        return list(needed), rows

    def _unneeded(self, access: MemoryAccess, token: Value) -> Row | None:
        """Return why an access need not wait for a token; None if it may have to."""
        owner = token.owner
        before = access_of(owner) if isinstance(owner, Op) else None
        if before is None or before.is_strong or before.updates:
            return None
        if not before.writes and not access.writes:
            return LOADS
        pair = [self.footprints.get(self.origin.get(one.op, one.op)) for one in (before, access)]
        if pair[0] is None or pair[1] is None:
            return None
        found = disjoint(pair[0], pair[1], across_blocks=False)
        return APART if isinstance(found, Proved) and not found.assuming else None

    def _give(self, op: Op, tokens: list[Value]) -> None:
        """Make `op` wait for these tokens."""
        position = op.spec.operand_index["token"].position
        begin = sum(op.segments[:position])
        token: Sequence[Value] = tokens
        if len(tokens) > 1:
            token = self.emit(JoinTokens.build([TOKEN], op.loc, tokens=tokens))
        op.operands = (*op.operands[:begin], *token, *op.operands[begin + op.segments[position] :])
        op.segments = (*op.segments[:position], len(token), *op.segments[position + 1 :])


def _parts(tokens: Sequence[Value]) -> list[Value]:
    """Return the tokens that joins are made of, each once, without fresh ones; joins themselves where there are
    many."""
    found, seen, waiting = [], set(tokens), list(reversed(dict.fromkeys(tokens)))
    while waiting and len(seen) < MOST_TOKENS:
        token = waiting.pop()
        owner = token.owner
        if isinstance(owner, JoinTokens):
            further = [part for part in dict.fromkeys(owner.tokens) if part not in seen]
            seen.update(further)
            waiting += reversed(further)
        elif not isinstance(owner, MakeToken):
            found.append(token)
    return [*found, *reversed(waiting)]
