"""The pass ``control``: branches that are known, that choose between values, and loops that run at most once.

Knows: when the structure of a program can be made flatter. Does not know: single operations (`canonicalise`).
"""

from __future__ import annotations

from collections.abc import Sequence

from tileir.analysis.structure import carried_arguments, exits_from, home_of
from tileir.ir.core import Block, Op, Value
from tileir.ir.types import I1, TileType
from tileir.ops.control import Break, Continue, For, If, Loop, Return, Yield
from tileir.ops.core import Constant, Select
from tileir.ops.integer import XOrI
from tileir.ops.shapes import Broadcast, Reshape
from tileir.passes.facts import ops_in, signed_splat_of, splat, splat_of
from tileir.passes.rebuilding import Rebuilding
from tileir.passes.row import Exactness, Row


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
ROWS = (KNOWN, INVERTED, NO_ELSE, SAME_YIELD, CONDITION, SELECTED, NEVER, ONCE, LOOP_ONCE, INVARIANT)


class Branches(Rebuilding):
    """The walk that makes control flow flatter."""

    def visit(self, op: Op) -> None:
        if not (op.regions and self._flattened(op)):
            super().visit(op)

    def _flattened(self, op: Op) -> bool:
        """Whether a flatter form of an operation stands for it now."""
        if isinstance(op, If):
            return self._known(op)
        if isinstance(op, For):
            return self._few(op) or self._unchanged(op)
        return isinstance(op, Loop) and (self._once(op) or self._unchanged(op))

    def emit(self, op: Op) -> Sequence[Value]:
        return self._if(op) if isinstance(op, If) else super().emit(op)

    # ------------------------------------------------------------ if

    def _known(self, op: If) -> bool:
        """An `if` whose condition is a constant."""
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
        """A rebuilt `if`."""
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
        """What a result is without the `if`; None where it needs that."""
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
        """The tile that a region of `op` hands on, where it can be used behind `op`; a constant is made again."""
        if not isinstance(value.type, TileType):
            return None
        if _is_outside(value, op):
            return value
        inner = value.owner
        if not isinstance(inner, Constant):
            return None
        return self.block.append(Constant.build([inner.result.type], inner.loc, value=inner.value)).results[0]

    def _negated(self, op: If) -> Value:
        one = self.block.append(Constant.build([op.condition.type], op.loc, value=splat(op.condition.tile, 1)))
        return self.block.append(XOrI.build([op.condition.type], op.loc, lhs=op.condition, rhs=one.results[0])).results[
            0
        ]

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
        """A `for` that runs never, or once."""
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
        """Carried values that never change, in place of which the initial ones are used."""
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
    """Whether a region is there and does nothing."""
    return block is not None and len(block.ops) == 1 and isinstance(block.ops[0], Yield)


def _is_outside(value: Value, op: If) -> bool:
    """Whether a value is defined outside the regions of an `if`."""
    home = home_of(value)
    while home is not None:
        if any(home is region for region in op.regions):
            return False
        home = None if home.parent is None else home.parent.parent
    return True


def trip_count(bounds: Sequence[Value], is_unsigned: bool) -> int | None:
    """The number of iterations of a `for` with these bounds and step, if they are constants and it is defined."""
    read = splat_of if is_unsigned else signed_splat_of
    lower, upper, step = read(bounds[0]), read(bounds[1]), signed_splat_of(bounds[2])
    if lower is None or upper is None or step is None or step <= 0:
        return None
    return max(0, -(-(upper - lower) // step))


def has_plain_body(op: For) -> bool:
    """Whether each iteration ends at the end of the body."""
    end = op.body.ops[-1]
    return list(exits_from(op.body)) == [end] and not any(
        isinstance(inner, Return) for root in ops_in(op.body) for inner in root.walk()
    )
