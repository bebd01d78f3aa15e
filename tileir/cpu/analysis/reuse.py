"""Tiles computed in the memory of an operand that nothing reads any more.

    %shifted = subf %scores, %largest      the buffer of %scores becomes that of %shifted, if this is its last reader

With fewer buffers, more of them fit in the first-level cache. Memory is reused only if it belongs to the operand alone,
each element is read only for the element at the same index, and no later operation or other block reads it.
"""

from __future__ import annotations

from collections.abc import Iterator

from tileir.analysis.structure import home_of
from tileir.cpu.analysis.fusion import ALIASES, FREE, INDEX_MAPPING, Fusion, fusible
from tileir.cpu.analysis.loads import Readers
from tileir.cpu.matmul.policy import ProductOp
from tileir.ir import types as t
from tileir.ir.core import Op, Value
from tileir.ops import control


class Reuse:
    """The operands of one function whose memory may be reused."""

    def __init__(self, fusion: Fusion, readers: Readers) -> None:
        self._fusion, self._readers = fusion, readers
        self._place = {op: place for place, op in enumerate(fusion.operations)}

    def given_up(self, tile: Value, by: Op) -> Iterator[Value]:
        """Yield the values whose memory is free for the elements of `tile`: the result of `by` or an expression in
        it."""
        if tile.op is None or not fusible(tile.op) or isinstance(tile.op, INDEX_MAPPING):
            return
        if tile.op is not by and not self._fusion.fused(tile):
            return
        for value in self._fusion.expression(tile):
            if value is tile or self._fusion.is_expression(value):
                continue
            if _fits(value, tile) and self._owns_memory(value) and self._ends_with(value, tile, by):
                yield value

    def _owns_memory(self, value: Value) -> bool:
        if value.op is None:
            return isinstance(getattr(value.owner, "parent", None), control.For | control.Loop)
        if isinstance(value.op, (*ALIASES, *FREE)):
            return False
        return fusible(value.op) or isinstance(value.op, ProductOp)

    def _ends_with(self, value: Value, tile: Value, by: Op) -> bool:
        """Return whether nothing reads `value` after `by`, and `by` reads it only at the same index and through
        `tile`."""
        if home_of(value) is not by.parent:
            return False
        uses = self._readers.uses(value)
        if any(op.parent is not by.parent or self._place[op] > self._place[by] for op, _ in uses):
            return False
        through = {operand for op, operand in uses if op is by}
        return (tile.op is by or through <= {tile}) and self._readers.in_place(value, by)


def _fits(value: Value, tile: Value) -> bool:
    if not isinstance(value.type, t.TileType) or value.type.shape != tile.tile.shape:
        return False
    return value.type.count > 1 and value.tile.element.byte_size == tile.tile.element.byte_size
