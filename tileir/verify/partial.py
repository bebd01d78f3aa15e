"""Verification of a program that could be read only in part."""

from __future__ import annotations

from tileir.ir.core import Op, Value
from tileir.ir.partial import POISON, PartialModule, Unread
from tileir.ir.versions import Version
from tileir.ops.calls import Call
from tileir.ops.core import GetGlobal
from tileir.verify.rule import Violation
from tileir.verify.verifier import Frame, Verdict, Verifier


class PartialVerifier(Verifier):
    """Verifies what was read of one module."""

    def __init__(self, partial: PartialModule, level: Version) -> None:
        super().__init__(partial.module, level, warn_hints=False)
        self._faulty = partial.faulty
        self._lacks_items = any(isinstance(item, Unread) or item in partial.faulty for item in partial.module.items)

    def _inspect(self, op: Op, frame: Frame | None, key: object) -> None:
        if self._is_open(op):
            self._context.unsound.add(op)
        else:
            super()._inspect(op, frame, key)

    def _is_open(self, op: Op) -> bool:
        """Return whether the operation is not known well enough to be checked."""
        if op in self._faulty or isinstance(op, Unread):
            return True
        if self._lacks_items and isinstance(op, Call | GetGlobal):
            return True
        return any(value.type is POISON for value in (*op.operands, *op.results))

    def _contextual(self, op: Op, rules: Verdict) -> None:
        if not self._is_open(op):
            super()._contextual(op, rules)

    def _misplaced(self, op: Op, frame: Frame) -> tuple[str, Violation] | None:
        return None if _ends_unread(frame) else super()._misplaced(op, frame)

    def _invisible(self, op: Op, visible: set[Value]) -> None:
        super()._invisible(op, visible.union(value for value in op.operands if value.type is POISON))

    def _debug(self, op: Op, frame: Frame) -> None:
        """Allow undefined aliases of locations."""

    def _in_body(self, op: Op, body: Op) -> None:
        if not self._is_open(op):
            super()._in_body(op, body)

    def _terminator(self, frame: Frame) -> None:
        if not _ends_unread(frame):
            super()._terminator(frame)


def _ends_unread(frame: Frame) -> bool:
    return bool(frame.block.ops) and isinstance(frame.block.ops[-1], Unread)
