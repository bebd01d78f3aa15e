"""One access of a tile block whose reads are answered, or not yet.

Knows: which cells an execution of an operation has, what it writes there, and the token that it gives.
Does not know: what it reads (`graph`), how it does its work (the interpreter).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.explore.blocks import ReplayedBlock
from tileir.explore.events import AccessInstruction, ExecutedOp, PromisedStore, Tokens
from tileir.explore.pending import PENDING, any_pending, joined_tokens
from tileir.explore.program import ModelProgram
from tileir.ir.core import Op
from tileir.ir.storage import dtype_of
from tileir.ir.types import TileType, TokenType

NO_TOKENS: Tokens = frozenset()


class ExploredAccess:
    """The rule of an operation that accesses memory; called as the rule is."""

    def __init__(self, program: ModelProgram, op: Op, function: Callable[..., object]) -> None:
        self._op = op
        self._function = function
        self._site = program.site(op)
        self._after = program.extra_tokens(self._site.number)
        names = [operand.name for operand in op.spec.operands]
        declared = self._site.access.declared
        self._token = next((at for at, operand in enumerate(op.spec.operands) if _is_token(op, operand.position)), None)
        self._expected = names.index(declared.expected) if declared.expected else None
        self._value = names.index(declared.value) if declared.value else None
        self._mask = names.index(declared.mask) if declared.mask else None
        self._gives_tile = any(isinstance(result.type, TileType) for result in op.results)

    def __call__(self, block: ReplayedBlock, *values: object) -> object:
        instance = block.instance(self._site.number)
        before = self._before(block, values)
        operands = [value for at, value in enumerate(values) if at != self._token]
        if before is PENDING or any_pending(operands):
            return self._put_off(block, instance, before, values)
        assert isinstance(before, frozenset), "tokens carry instructions"
        tile = self._make(block, instance, before, values)
        token = before | {instance}
        block.latest[self._site.number] = token
        return self._results(tile, token)

    def _before(self, block: ReplayedBlock, values: tuple[object, ...]) -> object:
        """The instructions that it waits for."""
        token = values[self._token] if self._token is not None else None
        extra = [block.latest.get(number, NO_TOKENS) for number in self._after]
        return joined_tokens(token, *extra)

    def _put_off(
        self, block: ReplayedBlock, instance: ExecutedOp, before: object, values: tuple[object, ...]
    ) -> object:
        """Its operands are not known yet: neither what it reads nor what it writes."""
        if self._site.access.writes:
            self._promise(block, before, values)
            block.wrote += 1
        token = before | {instance} if isinstance(before, frozenset) else PENDING
        block.latest[self._site.number] = token
        return self._results(PENDING, token)

    def _promise(self, block: ReplayedBlock, before: object, values: tuple[object, ...]) -> None:
        """Say where it will write, if that is known."""
        value = self._site.access.value
        if value is None or any_pending(one for at, one in enumerate(values) if at not in (self._token, self._value)):
            block.skipped.add(self._site.number)
            return
        zeros = np.zeros(value.tile.shape, dtype_of(value.tile.element))[()]
        block.answering.begin({})
        self._function(block, *(zeros if at == self._value else one for at, one in enumerate(values)))
        known = before if isinstance(before, frozenset) else NO_TOKENS
        block.promised.append(PromisedStore(self._site.number, frozenset(block.answering.cells), known))

    def _results(self, tile: object, token: object) -> object:
        if not self._gives_tile:
            return token if self._op.results else None
        return (tile, token) if len(self._op.results) > 1 else tile

    def _make(self, block: ReplayedBlock, instance: ExecutedOp, before: Tokens, values: tuple[object, ...]) -> object:
        """Make the access; the tile that it gives, PENDING if a lane has no answer."""
        memory, answers, access = block.answering, block.answers.get(instance, {}), self._site.access
        memory.begin(answers)
        found = self._function(block, *values)
        cells, left, awaits = memory.cells, memory.left(), block.awaits
        answered = not access.reads or len(answers) == len(cells)
        written: tuple[int | None, ...] = tuple(left) if access.writes else (None,) * len(cells)
        if access.updates:
            stores = self._stores(values, answers, len(cells))
            written = tuple(value if stores[lane] else None for lane, value in enumerate(left))
        block.wrote += access.writes and (not answered or any(value is not None for value in written))
        block.instructions.append(AccessInstruction(instance, self._site, before, cells, written, awaits))
        tile = found[0] if isinstance(found, tuple) else found
        if not self._gives_tile:
            return None
        if not answered:
            return PENDING
        block.values[self._site.number] = np.asarray(tile)
        return tile

    def _stores(self, values: tuple[object, ...], answers: dict[int, int], lanes: int) -> list[bool]:
        """Whether each lane of an update has an answer and writes: a compare-and-swap only what it expects."""
        if self._expected is None:
            return [lane in answers for lane in range(lanes)]
        expected = np.asarray(values[self._expected])
        mask = values[self._mask] if self._mask is not None else None
        chosen = np.ravel(expected if mask is None else expected[np.asarray(mask)])
        bits = chosen.view(f"u{chosen.dtype.itemsize}").tolist()
        return [answers.get(lane) == bits[lane] for lane in range(lanes)]


def _is_token(op: Op, position: int) -> bool:
    return any(isinstance(value.type, TokenType) for value in op.operand_group(position))
