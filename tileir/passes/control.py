"""The passes ``control``, ``one-turn``, ``unroll`` and ``loop-split``: control flow that a program can do without.

control       branches that are known or choose between values, and loops that run at most once
one-turn      an entry whose loops may run once becomes two versions, one of them without these loops
unroll        small loops of known length become their iterations
loop-split    a loop that tests its counter against a number becomes two without the test, by the vendor's rule
              (spec: passes#loop-split), unless the split may not be safe
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tileir.analysis.structure import carried_arguments, encloses, exits_from, home_of
from tileir.ir.attributes import IntegerAttr, Predicate, Signedness
from tileir.ir.core import Block, Op, Value
from tileir.ir.types import I1, TileType
from tileir.ops.control import Break, Continue, For, If, Loop, Return, Yield
from tileir.ops.core import Constant, Select
from tileir.ops.integer import AddI, AndI, CmpI, MaxI, MinI, XOrI
from tileir.ops.matmul import MmaF, MmaFScaled, MmaI
from tileir.ops.module import Entry
from tileir.ops.pointers import LoadPtr, StorePtr
from tileir.ops.reduction import Reduce
from tileir.ops.shapes import Broadcast, Reshape
from tileir.ops.views import LoadView, StoreView
from tileir.passes.facts import ops_in, signed_splat_of, splat, splat_of
from tileir.passes.rebuilding import ChangeLog, Exactness, Rebuilding, Row

# ---------------------------------------------------------------- control


def _exact(name: str, pattern: str, becomes: str, why: str, when: str = "") -> Row:
    return Row(name, "control", pattern, becomes, Exactness.EXACT, why, when)


KNOWN = _exact("if-known", "if C { a } else { b }", "a, or b", "only one of the regions can run")
INVERTED = _exact(
    "if-inverted", "if (xori c, 1) { a } else { b }", "if c { b } else { a }", "where one does not hold the other does",
)  # fmt: skip
NO_ELSE = _exact("if-empty-else", "if c { a } else { }", "if c { a }", "a missing region does nothing", "no results")
SAME_YIELD = _exact("if-same-yield", "if c { yield x } else { yield x }", "x", "both regions hand on one value")
CONDITION = _exact("if-condition", "if c { yield 1 } else { yield 0 }", "c, or xori c, 1", "the value is the condition")
SELECTED = _exact(
    "if-to-select", "if c { yield x } else { yield y }", "select c, x, y",
    "both values are there whichever region runs", "x and y are tiles that are defined outside the `if`, or constants",
)  # fmt: skip
NEVER = _exact(
    "for-never", "for i in (L to U, step S) { a }", "the initial values", "no number is in the range", "L >= U"
)
ONCE = _exact("for-once", "for i in (L to U, step S) { a }", "a with i = L", "one number is in the range", "L + S >= U")
LOOP_ONCE = _exact("loop-once", "loop { a; break }", "a", "the first iteration is the last", "a has no other exit")
INVARIANT = _exact(
    "carried-unchanged", "for or loop iter_values(x = y) { ...; continue x }", "y in place of x",
    "each iteration hands on what it was given",
)  # fmt: skip
CONTROL_ROWS = (KNOWN, INVERTED, NO_ELSE, SAME_YIELD, CONDITION, SELECTED, NEVER, ONCE, LOOP_ONCE, INVARIANT)


class Branches(Rebuilding):
    """The walk that makes control flow flatter."""

    def visit(self, op: Op) -> None:
        if not (op.regions and self._flattened(op)):
            super().visit(op)

    def _flattened(self, op: Op) -> bool:
        """Replace an operation by a flatter form and return whether there is one."""
        if isinstance(op, If):
            return self._known(op)
        if isinstance(op, For):
            return self._few(op) or self._unchanged(op)
        return isinstance(op, Loop) and (self._once(op) or self._unchanged(op))

    def emit(self, op: Op) -> Sequence[Value]:
        return self._if(op) if isinstance(op, If) else super().emit(op)

    # ------------------------------------------------------------ if

    def _known(self, op: If) -> bool:
        """Return an `if` whose condition is a constant."""
        bits = splat_of(self.values[op.condition])
        if bits is None:
            return False
        region = op.then if bits else op.otherwise
        self.log.note(KNOWN, op)
        if region is None:
            return True
        values = self.inline(region, ())
        end = region.ops[-1]
        if isinstance(end, Yield):
            self.bind(op.results, values)
        elif self.block.terminator is None:
            self.visit(end)
        return True

    def _if(self, op: If) -> Sequence[Value]:
        """Return a rebuilt `if`."""
        if _is_bare(op.otherwise) and not op.results:
            self.log.note(NO_ELSE, op)
            op = If([op.condition], [], op.attributes, (op.then, None), op.loc)
        inner = op.condition.owner
        if isinstance(inner, XOrI) and splat_of(inner.rhs) == 1 and op.otherwise is not None:
            self.log.note(INVERTED, op)
            types = [result.type for result in op.results]
            op = If([inner.lhs], types, op.attributes, (op.otherwise, op.then), op.loc)
        results = super().emit(op)
        return [self._chosen(op, at) or result for at, result in enumerate(results)]

    def _chosen(self, op: If, at: int) -> Value | None:
        """Return a result as a value that does not need the `if`; None if there is none."""
        yields = [block.terminator for block in op.regions if block is not None]
        if len(yields) != 2 or not all(isinstance(end, Yield) for end in yields):
            return None
        first, second = (self._outside(end.operands[at], op) for end in yields if end is not None)
        if first is None or second is None:
            return None
        if first is second:
            return self._noted(SAME_YIELD, op, first)
        bits = splat_of(first), splat_of(second)
        if op.results[at].type is op.condition.type and set(bits) == {0, 1}:
            return self._noted(CONDITION, op, op.condition if bits == (1, 0) else self._negated(op))
        return self._noted(SELECTED, op, self._selected(op, first, second))

    def _outside(self, value: Value, op: If) -> Value | None:
        """Return the tile that a region of `op` hands on, where it can be used behind `op`; a constant is made
        again."""
        if not isinstance(value.type, TileType):
            return None
        if not any(encloses(region, home_of(value)) for region in op.regions if region is not None):
            return value
        inner = value.owner
        if not isinstance(inner, Constant):
            return None
        return self.block.append(Constant.build([inner.result.type], inner.loc, value=inner.value)).results[0]

    def _negated(self, op: If) -> Value:
        type, loc = op.condition.tile, op.loc
        (one,) = self.block.append(Constant.build([type], loc, value=splat(type, 1))).results
        return self.block.append(XOrI.build([type], loc, lhs=op.condition, rhs=one)).results[0]

    def _selected(self, op: If, first: Value, second: Value) -> Value:
        condition: Value = op.condition
        shape = first.tile.shape
        if shape:
            ones, full = TileType((1,) * len(shape), I1), TileType(shape, I1)
            condition = self.block.append(Reshape.build([ones], op.loc, source=condition)).results[0]
            condition = self.block.append(Broadcast.build([full], op.loc, source=condition)).results[0]
        fields = {"cond": condition, "val_if_true": first, "val_if_false": second}
        return self.block.append(Select.build([first.type], op.loc, **fields)).results[0]

    def _noted(self, row: Row, op: Op, value: Value) -> Value:
        self.log.note(row, op, [value])
        return value

    # ------------------------------------------------------------ loops

    def _few(self, op: For) -> bool:
        """Return a `for` that runs never, or once."""
        count = trip_count([self.values[bound] for bound in (op.lower, op.upper, op.step)], op.unsigned)
        if count == 0:
            self.log.note(NEVER, op)
            self.bind(op.results, self.given(op.initial))
            return True
        if count != 1 or not has_plain_body(op):
            return False
        self.log.note(ONCE, op)
        self.bind(op.results, self.inline(op.body, self.given([op.lower, *op.initial])))
        return True

    def _once(self, op: Loop) -> bool:
        end = op.body.ops[-1]
        if not isinstance(end, Break) or list(exits_from(op.body)) != [end]:
            return False
        self.log.note(LOOP_ONCE, op)
        self.bind(op.results, self.inline(op.body, self.given(op.initial)))
        return True

    def _unchanged(self, op: For | Loop) -> bool:
        """Replace carried values that never change by the initial ones; return whether there are any."""
        jumps = [jump for jump in exits_from(op.body) if isinstance(jump, Continue)]
        arguments = carried_arguments(op)
        places = [at for at, argument in enumerate(arguments) if all(jump.operands[at] is argument for jump in jumps)]
        if not places or not jumps:
            return False
        self.log.note(INVARIANT, op)
        regions = (self._body(op.body, {arguments[at]: self.values[op.initial[at]] for at in places}),)
        made = type(op)(self.given(op.operands), [one.type for one in op.results], op.attributes.copy(), regions,
                        self.place(op.loc), op.segments)  # fmt: skip
        made.discardable = op.discardable
        self.bind(op.results, self.emit(made))
        if isinstance(op, For):
            self.bind([op.results[at] for at in places], self.given(op.initial[at] for at in places))
        return True

    def _body(self, block: Block, known: dict[Value, Value]) -> Block:
        made = self.empty_like(block)
        self.bind(block.args, made.args)
        self.values.update(known)
        self.into(made, block.ops)
        return made


def _is_bare(block: Block | None) -> bool:
    """Return whether a region exists and does nothing."""
    return block is not None and len(block.ops) == 1 and isinstance(block.ops[0], Yield)


def trip_count(bounds: Sequence[Value], is_unsigned: bool) -> int | None:
    """Return the number of iterations of a `for` with these bounds and step, if they are constants and it is
    defined."""
    read = splat_of if is_unsigned else signed_splat_of
    lower, upper, step = read(bounds[0]), read(bounds[1]), signed_splat_of(bounds[2])
    if lower is None or upper is None or step is None or step <= 0:
        return None
    return max(0, -(-(upper - lower) // step))


def has_plain_body(op: For) -> bool:
    """Return whether each iteration ends at the end of the body."""
    end = op.body.ops[-1]
    return list(exits_from(op.body)) == [end] and not any(
        isinstance(inner, Return) for root in ops_in(op.body) for inner in root.walk()
    )


# ---------------------------------------------------------------- one-turn


LEAST_STEP = 256
MOST_COPIED = 128
"""Operations that a rewrite copies, to run in another version of an entry or a second loop."""
_REPEATED = (MmaF, MmaI, MmaFScaled, For, Loop)

ONE_TURN = Row(
    "for-in-one-turn", "one-turn", "for i in (L to n, step S) { a }; b",
    "if L < n & n <= L + S { a with i = L; b } else { for i in (L to n, step S) { a }; b }", Exactness.EXACT,
    "one number is in the range where the condition holds",
    f"the loop stands in an entry and carries tiles, L and S >= {LEAST_STEP} are constants, a has no loops or products",
)  # fmt: skip
ONE_TURN_ROWS = (ONE_TURN,)


class Versions(Rebuilding):
    """The walk that makes two versions of an entry, from the first loop on that may run once."""

    def __init__(self, log: ChangeLog) -> None:
        super().__init__(log)
        self.once: Sequence[For] | None = None
        """The loops that run once in the version that is being made."""

    def rebuild(self, ops: Iterable[Op]) -> None:
        ops = list(ops)
        is_entry = self.once is None and ops and isinstance(ops[0].parent_op, Entry)
        loops = _equal_loops(ops) if is_entry else []
        if not loops:
            super().rebuild(ops)
            return
        at = ops.index(loops[0])
        super().rebuild(ops[:at])
        condition, loc = self._runs_once(loops[0]), self.place(loops[0].loc)
        versions = Block(), Block()
        for version, once in zip(versions, (loops, ())):
            self.once = once
            self.into(version, ops[at:-1])
            version.append(Yield.build([], loc))
        self.once = None
        self.log.note(ONE_TURN, loops[0])
        self.emit(If([condition], [], {}, versions, loc))
        super().rebuild(ops[-1:])

    def visit(self, op: Op) -> None:
        if isinstance(op, For) and op in (self.once or ()):
            self.bind(op.results, self.inline(op.body, self.given([op.lower, *op.initial])))
        else:
            super().visit(op)

    def _runs_once(self, op: For) -> Value:
        """Return whether the loop runs once, an i1."""
        type, test, loc = op.lower.tile, TileType((), I1), self.place(op.loc)
        first_two, (lower, upper) = _first_two(op), self.given([op.lower, op.upper])
        assert first_two is not None, "they are constants"
        (last,) = self.emit(Constant.build([type], loc, value=splat(type, first_two[1])))
        how = {"signedness": _signedness(op)}
        begins = CmpI.build([test], loc, lhs=lower, rhs=upper, comparison_predicate=Predicate.LESS_THAN, **how)
        ends = CmpI.build([test], loc, lhs=upper, rhs=last, comparison_predicate=Predicate.LESS_THAN_OR_EQUAL, **how)
        (one,), (other,) = self.emit(begins), self.emit(ends)
        return self.emit(AndI.build([test], loc, lhs=one, rhs=other))[0]


def _equal_loops(ops: Sequence[Op]) -> list[For]:
    """Return the loops of an entry that run once together, from the first that carries a tile on; none if what would be
    copied is too much."""
    loops = [op for op in ops if isinstance(op, For) and _may_run_once(op)]
    carrying = [
        op for op in loops if any(isinstance(value.type, TileType) and value.tile.count > 1 for value in op.initial)
    ]
    if not carrying:
        return []
    first = carrying[0]
    found = [op for op in loops if op.upper is first.upper and _first_two(op) == _first_two(first)]
    copied = sum(1 for op in ops[ops.index(found[0]) :] for _ in op.walk())
    return found if copied <= MOST_COPIED else []


def _may_run_once(op: For) -> bool:
    """Return whether a loop may run once, which is not known, and does not multiply."""
    first_two = _first_two(op)
    if first_two is None or _number(op.upper, op) is not None or not has_plain_body(op):
        return False
    is_number = first_two[1] < 1 << (op.lower.tile.number.bits - (not op.unsigned))
    return is_number and not any(isinstance(inner, _REPEATED) for one in op.body.ops for inner in one.walk())


def _first_two(op: For) -> tuple[int, int] | None:
    """Return the first two numbers of a loop, if they are constants and so far apart that a tile may cover all."""
    lower, step = _number(op.lower, op), signed_splat_of(op.step)
    return None if lower is None or step is None or step < LEAST_STEP else (lower, lower + step)


# ---------------------------------------------------------------- unroll


MOST_TURNS = 8
MOST_OPERATIONS = 128
"""Operations that the iterations may have together."""

UNROLLED = Row(
    "for-unrolled", "unroll", "for i in (L to U, step S) { a }", "a with i = L, a with i = L + S, ...", Exactness.EXACT,
    "the iterations run one after the other in any case",
    f"at most {MOST_TURNS} iterations with {MOST_OPERATIONS} operations together, each to the end of the body",
)  # fmt: skip
UNROLL_ROWS = (UNROLLED,)


class Unrolling(Rebuilding):
    """The walk that unrolls loops."""

    def visit(self, op: Op) -> None:
        if not isinstance(op, For) or not self._unroll(op):
            super().visit(op)

    def _unroll(self, op: For) -> bool:
        bounds = [self.values[bound] for bound in (op.lower, op.upper, op.step)]
        count = trip_count(bounds, op.unsigned)
        if (
            count is None
            or count > MOST_TURNS
            or count * (_operations_in(op.body) - 1) > MOST_OPERATIONS
            or not has_plain_body(op)
        ):
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


# ---------------------------------------------------------------- loop-split


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
SPLIT_ROWS = (SPLIT, SPLIT_IN_STEPS)

THRESHOLD = "cuda_tile.loop_split"
_HEAVY = (LoadPtr, LoadView, StorePtr, StoreView, MmaF, MmaI, Reduce, If, For)


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
        predicate = test.comparison_predicate if on_left else test.comparison_predicate.mirrored
        # The split is after x, rather than at it, if the answer at x is that of the first loop.
        first_holds, behind = not predicate.is_greater, predicate.is_strict is predicate.is_greater
        lower, upper, step = self.given([op.lower, op.upper, op.step])
        at = self._split_point(op, self.values[test.rhs if on_left else test.lhs], upper, behind)
        first = self._copy_with(op, test, first_holds, [lower, self._extreme(MinI, op, at, upper), step], op.initial)
        start = self._extreme(MaxI, op, at, lower) if splat_of(op.step) == 1 else self._start(op, test, behind, upper)
        second = self._copy_with(op, test, not first_holds, [start, upper, step], None, first)
        self.log.note(SPLIT if splat_of(op.step) == 1 else SPLIT_IN_STEPS, op, second)
        self.bind(op.results, second)

    def _split_point(self, op: For, bound: Value, upper: Value, behind: bool) -> Value:
        """Return the first number of the second loop. ``x + 1`` may wrap around, but not where x is below the upper
        bound."""
        if not behind:
            return bound
        type, loc = op.lower.tile, self.place(op.loc)
        (one,) = self.emit(Constant.build([type], loc, value=splat(type, 1)))
        (next,) = self.emit(AddI.build([type], loc, lhs=bound, rhs=one))
        compare = {"comparison_predicate": Predicate.LESS_THAN, "signedness": _signedness(op)}
        (below,) = self.emit(CmpI.build([type.with_element(I1)], loc, lhs=bound, rhs=upper, **compare))
        return self.emit(Select.build([type], loc, cond=below, val_if_true=next, val_if_false=upper))[0]

    def _start(self, op: For, test: CmpI, behind: bool, upper: Value) -> Value:
        """Return the first number of the second loop, where all that it is made of is constant; the upper bound if
        there is no such number of that type."""
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
        """Return the loop over some of its range, in which the test has a known answer."""
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
    """Return the content of a constant, as a loop reads it."""
    return splat_of(value) if op.unsigned else signed_splat_of(value)


def _signedness(op: For) -> Signedness:
    return Signedness.UNSIGNED if op.unsigned else Signedness.SIGNED


def _test_of(op: For) -> CmpI | None:
    """Return the test that a loop is split at; None if it stays."""
    step = signed_splat_of(op.step)
    if step is None or step < 1 or not has_plain_body(op) or _operations_in(op.body) > MOST_COPIED:
        return None
    for one in op.body.ops:
        if isinstance(one, If) and isinstance(one.condition.owner, CmpI):
            test = one.condition.owner
            if _is_guard(op, test) and _is_profitable(op, test):
                return test
    return None


def _is_guard(op: For, test: CmpI) -> bool:
    """Return whether a comparison compares the counter with a value from outside."""
    counter = op.body.args[0]
    others = [value for value in (test.lhs, test.rhs) if value is not counter]
    if test.parent is not op.body or len(others) != 1 or not test.comparison_predicate.is_order:
        return False
    if splat_of(op.step) != 1 and None in (_number(op.lower, op), _number(others[0], op)):
        return False
    return test.signedness is _signedness(op) and not encloses(op.body, home_of(others[0]))


def _is_profitable(op: For, test: CmpI) -> bool:
    """Return the vendor's rule: N operations in a branch, or one that is heavy; N is 1 unless an attribute says
    otherwise."""
    return any(
        _is_worth(one, _threshold(one)) for one in op.body.ops if isinstance(one, If) and one.condition.owner is test
    )


def _is_worth(op: If, threshold: int) -> bool:
    if threshold < 2:
        return threshold == 1
    branches = [ops_in(block) for block in op.regions]
    return any(len(ops) >= threshold or any(isinstance(one, _HEAVY) for one in ops) for ops in branches)


def _threshold(op: Op) -> int:
    """Return the attribute of the operation or of the innermost one around that has it."""
    around: Op | None = op
    while around is not None:
        found = (around.discardable or {}).get(THRESHOLD)
        if isinstance(found, IntegerAttr):
            return found.value
        around = around.parent_op
    return 1


def _operations_in(body: Block) -> int:
    return sum(1 for root in body.ops for _ in root.walk())
