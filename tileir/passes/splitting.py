"""The pass ``loop-split``: a loop that tests its counter against a number becomes two loops without the test.

Knows: the vendor's rule (spec: passes#loop-split), and when a loop is left as it is because the split may not be safe.
Does not know: loops of known length (`unrolling`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tileir.analysis.structure import home_of
from tileir.ir.attributes import IntegerAttr, Predicate, Signedness
from tileir.ir.core import Block, Op, Value
from tileir.ir.types import I1
from tileir.ops.control import For, If
from tileir.ops.core import Constant, Select
from tileir.ops.integer import AddI, CmpI, MaxI, MinI
from tileir.ops.matmul import MmaF, MmaI
from tileir.ops.pointers import LoadPtr, StorePtr
from tileir.ops.reduction import Reduce
from tileir.ops.views import LoadView, StoreView
from tileir.passes.branches import has_plain_body
from tileir.passes.facts import ops_in, signed_splat_of, splat, splat_of
from tileir.passes.patternwords import mirrored
from tileir.passes.rebuilding import Rebuilding
from tileir.passes.row import ChangeLog, Exactness, Row

SPLIT = Row(
    "loop-split", "loop-split", "for i in (L to U, step 1) { if (cmpi P i, x) { a } else { b } }",
    "for i in (L to min(s, U)) { a or b }; for i in (max(s, L) to U) { b or a }", Exactness.EXACT,
    "the test has one answer up to s, which is x or x + 1, and the other from there on",
    "P is an ordering with the loop's signedness, x is defined outside, and each iteration runs to the end of the body",
)  # fmt: skip
SPLIT_IN_STEPS = Row(
    "loop-split-in-steps", "loop-split", "for i in (C to U, step S) { if (cmpi P i, D) { a } else { b } }",
    "for i in (C to min(s, U), step S) { a or b }; for i in (e to U, step S) { b or a }", Exactness.EXACT,
    "s is D or D + 1, and e the first number of the loop that is not below s, so that the loops have the same numbers",
    "S > 1; otherwise as `loop-split`",
)  # fmt: skip
ROWS = (SPLIT, SPLIT_IN_STEPS)

THRESHOLD = "cuda_tile.loop_split"
_SPLITTING = {
    Predicate.LESS_THAN: (True, False),
    Predicate.LESS_THAN_OR_EQUAL: (True, True),
    Predicate.GREATER_THAN: (False, True),
    Predicate.GREATER_THAN_OR_EQUAL: (False, False),
}
"""Whether the test holds in the first loop, and whether the split is behind x."""
_HEAVY = (LoadPtr, LoadView, StorePtr, StoreView, MmaF, MmaI, Reduce, If, For)
MOST_OPERATIONS = 128
"""Operations of a body that is copied."""


class Splitting(Rebuilding):
    """The walk that splits loops; inner ones first, and the loops that come of it are left alone."""

    def __init__(self, log: ChangeLog) -> None:
        super().__init__(log)
        self.answers: dict[Op, bool] = {}
        """The tests, and the `if`s on them, whose answer is known in the copy that is being made."""

    def visit(self, op: Op) -> None:
        test = _test_of(op) if isinstance(op, For) else None
        if isinstance(op, For) and test is not None:
            self._split(op, test)
        elif op in self.answers:
            self._answer(op)
        else:
            super().visit(op)

    def _split(self, op: For, test: CmpI) -> None:
        on_left = test.lhs is op.body.args[0]
        predicate = test.comparison_predicate if on_left else mirrored(test.comparison_predicate)
        first_holds, behind = _SPLITTING[predicate]
        lower, upper, step = self.given([op.lower, op.upper, op.step])
        at = self._split_point(op, self.values[test.rhs if on_left else test.lhs], upper, behind)
        first = self._copy_with(op, test, first_holds, [lower, self._extreme(MinI, op, at, upper), step], op.initial)
        start = self._extreme(MaxI, op, at, lower) if splat_of(op.step) == 1 else self._start(op, test, behind, upper)
        second = self._copy_with(op, test, not first_holds, [start, upper, step], None, first)
        self.log.note(SPLIT if splat_of(op.step) == 1 else SPLIT_IN_STEPS, op, second)
        self.bind(op.results, second)

    def _split_point(self, op: For, bound: Value, upper: Value, behind: bool) -> Value:
        """The first number of the second loop. ``x + 1`` may wrap around, but not where x is below the upper bound."""
        if not behind:
            return bound
        type, loc = op.lower.tile, self.place(op.loc)
        (one,) = self.emit(Constant.build([type], loc, value=splat(type, 1)))
        (next,) = self.emit(AddI.build([type], loc, lhs=bound, rhs=one))
        compare = {"comparison_predicate": Predicate.LESS_THAN, "signedness": _signedness(op)}
        (below,) = self.emit(CmpI.build([type.with_element(I1)], loc, lhs=bound, rhs=upper, **compare))
        return self.emit(Select.build([type], loc, cond=below, val_if_true=next, val_if_false=upper))[0]

    def _start(self, op: For, test: CmpI, behind: bool, upper: Value) -> Value:
        """The first number of the second loop, where all that it is made of is constant; the upper bound if there is
        no such number of that type."""
        (other,) = (value for value in (test.lhs, test.rhs) if value is not op.body.args[0])
        lower, bound, step = (_number(value, op) for value in (op.lower, other, op.step))
        assert lower is not None and bound is not None and step is not None, "they are constants"
        start = lower + max(0, -(-(bound + behind - lower) // step)) * step
        type = op.lower.tile
        if start >= 1 << (type.number.bits - (not op.unsigned)):
            return upper
        return self.emit(Constant.build([type], self.place(op.loc), value=splat(type, start)))[0]

    def _extreme(self, kind: type[MinI] | type[MaxI], op: For, one: Value, other: Value) -> Value:
        return self.emit(kind.build([one.type], self.place(op.loc), lhs=one, rhs=other, signedness=_signedness(op)))[0]

    def _copy_with(
        self,
        op: For,
        test: CmpI,
        holds: bool,
        bounds: Sequence[Value],
        initial: Sequence[Value] | None,
        given: Sequence[Value] = (),
    ) -> Sequence[Value]:
        """The loop over some of its range, in which the test has a known answer."""
        mine = [test, *(one for one in op.body.ops if isinstance(one, If) and one.condition.owner is test)]
        self.answers.update(dict.fromkeys(mine, holds))
        start = list(given) if initial is None else self.given(initial)
        body = self.region(op.body)
        for one in mine:
            del self.answers[one]
        types = [result.type for result in op.results]
        made = For([*bounds, *start], types, op.attributes.copy(), (body,), self.place(op.loc), op.segments)
        return self.emit(made)

    def _answer(self, op: Op) -> None:
        holds = self.answers[op]
        if isinstance(op, CmpI):
            type = op.result.tile
            self.bind(op.results, self.emit(Constant.build([type], self.place(op.loc), value=splat(type, holds))))
            return
        assert isinstance(op, If), "what is answered is a test or an if"
        region = op.then if holds else op.otherwise
        if region is not None:
            self.bind(op.results, self.inline(region, ()))


def _number(value: Value, op: For) -> int | None:
    """The content of a constant, as a loop reads it."""
    return splat_of(value) if op.unsigned else signed_splat_of(value)


def _signedness(op: For) -> Signedness:
    return Signedness.UNSIGNED if op.unsigned else Signedness.SIGNED


def _test_of(op: For) -> CmpI | None:
    """The test that a loop is split at; None if it stays."""
    step = signed_splat_of(op.step)
    if step is None or step < 1 or not has_plain_body(op) or _size(op.body) > MOST_OPERATIONS:
        return None
    for one in op.body.ops:
        if isinstance(one, If) and isinstance(one.condition.owner, CmpI):
            test = one.condition.owner
            if _is_guard(op, test) and _is_profitable(op, test):
                return test
    return None


def _is_guard(op: For, test: CmpI) -> bool:
    """Whether a comparison is of the counter with a number from outside."""
    counter = op.body.args[0]
    others = [value for value in (test.lhs, test.rhs) if value is not counter]
    if test.parent is not op.body or len(others) != 1 or test.comparison_predicate not in _SPLITTING:
        return False
    if splat_of(op.step) != 1 and None in (_number(op.lower, op), _number(others[0], op)):
        return False
    return test.signedness is _signedness(op) and not _is_inside(others[0], op.body)


def _is_inside(value: Value, body: Block) -> bool:
    home = home_of(value)
    while home is not None and home is not body:
        home = None if home.parent is None else home.parent.parent
    return home is body


def _is_profitable(op: For, test: CmpI) -> bool:
    """The vendor's rule: N operations in a branch, or one that is heavy; N is 1 unless an attribute says otherwise."""
    return any(
        _is_worth(one, _threshold(one, op))
        for one in op.body.ops
        if isinstance(one, If) and one.condition.owner is test
    )


def _is_worth(op: If, threshold: int) -> bool:
    if threshold < 2:
        return threshold == 1
    branches = [ops_in(block) for block in op.regions]
    return any(len(ops) >= threshold or any(isinstance(one, _HEAVY) for one in ops) for ops in branches)


def _threshold(*around: Op) -> int:
    """The attribute of the innermost operation that has one."""
    for op in _outwards(around):
        found = (op.discardable or {}).get(THRESHOLD)
        if isinstance(found, IntegerAttr):
            return found.value
    return 1


def _outwards(ops: Sequence[Op]) -> Iterator[Op]:
    yield from ops
    around = ops[-1].parent_op
    while around is not None:
        yield around
        around = around.parent_op


def _size(body: Block) -> int:
    return sum(1 for root in body.ops for _ in root.walk())
