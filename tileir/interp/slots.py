"""Slots of the frame for the values of a function.

Control flow is structured and regions have one block, so a value of a block dies at the last operation of that block
that uses it, itself or in a region inside it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from tileir.analysis.structure import last_uses
from tileir.host import limits
from tileir.interp.program import NOTHING, Frame
from tileir.ir.core import Block, Op, Value
from tileir.ir.types import TileType
from tileir.ops.core import Constant
from tileir.ops.shapes import Broadcast


class Slots:
    """The slots of one function. `template` is the frame that a run starts with; constants keep their slot for good."""

    def __init__(self, body: Block) -> None:
        self.template: Frame = [None]
        self._free: list[int] = []
        self._live_bytes = 0
        """Bytes of the tiles that are live, at the least."""
        self._slot_of: dict[Value, int] = {}
        self._constants: dict[Value, int] = {}
        self._last_use = last_uses(body)
        self._dying: defaultdict[Op, list[Value]] = defaultdict(list)
        for value, op in self._last_use.items():
            self._dying[op].append(value)

    def of(self, value: Value) -> int | None:
        """The slot of a live value or constant; None if it has none."""
        slot = self._slot_of.get(value)
        return self._constants.get(value) if slot is None else slot

    def define(self, values: Iterable[Value]) -> tuple[int, ...]:
        """Slots for values that are defined together; those that nobody uses lose theirs at once.

        Raises UnsupportedError where the tiles that are live take more than the memory of this machine.
        """
        values = tuple(values)
        slots = tuple(map(self._take, values))
        for value in values:
            if value not in self._last_use:
                self._give_up(value)
        return slots

    def keep(self, value: Value, content: object) -> int:
        """A slot that holds the content of a constant from the start and is never used for anything else."""
        slot = self._constants[value] = NOTHING if content is None else self._new(content)
        return slot

    def free_after(self, op: Op) -> None:
        """Give up the slots of the values whose last use is `op`."""
        for value in self._dying.pop(op, ()):
            if value in self._slot_of:
                self._give_up(value)

    def _take(self, value: Value) -> int:
        self._live_bytes += _own_bytes(value)
        if self._live_bytes > limits.physical_memory():
            raise limits.no_memory(self._live_bytes, "interp")
        slot = self._free.pop() if self._free else self._new(None)
        self._slot_of[value] = slot
        return slot

    def _give_up(self, value: Value) -> None:
        self._live_bytes -= _own_bytes(value)
        self._free.append(self._slot_of.pop(value))

    def _new(self, content: object) -> int:
        self.template.append(content)
        return len(self.template) - 1


def _own_bytes(value: Value) -> int:
    """Bytes that a value takes; none where all elements may be the same ones in memory."""
    if not isinstance(value.type, TileType) or isinstance(value.owner, Broadcast | Constant):
        return 0
    return value.type.count * value.type.element.byte_size
