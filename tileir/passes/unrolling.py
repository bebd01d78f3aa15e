"""The pass ``unroll``: small loops of known length become their iterations.

Knows: which loops are small. Does not know: loops that run at most once (`branches`).
"""

from __future__ import annotations

from tileir.ir.core import Op
from tileir.ops.control import For
from tileir.ops.core import Constant
from tileir.passes.branches import has_plain_body, trip_count
from tileir.passes.facts import ops_in, signed_splat_of, splat
from tileir.passes.rebuilding import Rebuilding
from tileir.passes.row import Exactness, Row

MOST_TURNS = 8
MOST_OPERATIONS = 128
"""Operations that the iterations may have together."""

UNROLLED = Row(
    "for-unrolled", "unroll", "for i in (L to U, step S) { a }", "a with i = L, a with i = L + S, ...", Exactness.EXACT,
    "the iterations run one after the other in any case",
    f"at most {MOST_TURNS} iterations with {MOST_OPERATIONS} operations together, each to the end of the body",
)  # fmt: skip
ROWS = (UNROLLED,)


class Unrolling(Rebuilding):
    """The walk that unrolls loops."""

    def visit(self, op: Op) -> None:
        if not isinstance(op, For) or not self._unroll(op):
            super().visit(op)

    def _unroll(self, op: For) -> bool:
        bounds = [self.values[bound] for bound in (op.lower, op.upper, op.step)]
        count = trip_count(bounds, op.unsigned)
        if count is None or count > MOST_TURNS or count * _size(op) > MOST_OPERATIONS or not has_plain_body(op):
            return False
        lower, step = signed_splat_of(bounds[0]), signed_splat_of(bounds[2])
        assert lower is not None and step is not None, "the bounds of a counted loop are known"
        carried = self.given(op.initial)
        for turn in range(count):
            content = splat(op.lower.tile, lower + turn * step)
            (at,) = self.emit(Constant.build([op.lower.type], self.place(op.loc), value=content))
            carried = self.inline(op.body, [at, *carried])
        self.log.note(UNROLLED, op, carried)
        self.bind(op.results, carried)
        return True


def _size(op: For) -> int:
    return sum(1 for root in ops_in(op.body) for _ in root.walk())
