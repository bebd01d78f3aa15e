"""The walk through a program that derives the value of each result from those of the operands.

    for %i = (%0 to %n, step %1) iter_values(%at = %start) {      %at is start + 64 * turn in every turn
      %next = offset %at, %16 : ...                                as each turn moves it by 16 elements of 4 bytes

It follows the order of operations, the condition under which each runs, regions and their exits, and calls. To find how
a loop moves a carried value, the body is analysed once with a symbol for each carried value: the value for the next
turn, less that symbol, is the step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tileir.analysis import ranges, values
from tileir.analysis.conditions import TRUE, UNKNOWN, Condition, condition
from tileir.analysis.effects import callee_of
from tileir.analysis.expressions import ZERO, Expression, Symbol, TooLarge, of
from tileir.analysis.forms import Affine, Forms, Needs, Promises, Reading, is_integer, lanes, mentions_lanes, width
from tileir.analysis.structure import carried_arguments, exits_from
from tileir.analysis.symbols import Either, Storage, StorageKind, Turn, Unknown, ceiling, largest
from tileir.ir import types as t
from tileir.ir.attributes import Signedness
from tileir.ir.core import Block, Op, Value
from tileir.ir.diagnostics import place_text
from tileir.ops import calls, control, core, misc, pointers


class Carried(Symbol):
    """A value that a loop carries while its step is sought; `index` says which element."""

    __slots__ = ("index", "number")
    __match_args__ = ("number", "index")

    def __init__(self, number: int, index: tuple[Expression, ...]) -> None:
        super().__init__((9, number, *(part.key for part in index)), ranges.signed(65), index)
        self.number = number
        self.index = index

    def replaced(self, inner: tuple[Expression, ...]) -> Expression:
        return of(Carried(self.number, inner))


@dataclass(frozen=True)
class Progress:
    """The way of a carried value: ``start + step * turns`` after some turns; without a `step` it has moved by a
    number that is the same for all elements. `needs` are the conditions of one turn."""

    start: Affine
    step: Expression | None
    needs: Needs

    @property
    def is_uniform(self) -> bool:
        """True if all elements move by the same distance, even if arithmetic wraps around."""
        forms = (need.form for need in self.needs)
        return not any(map(mentions_lanes, forms)) and (self.step is None or not mentions_lanes(self.step))

    def after(self, turns: Expression, moved: Expression) -> Affine | None:
        """Return the value after `turns`, or moved by `moved` where there is no step."""
        try:
            form = self.start.form + (moved if self.step is None else self.step * turns)
            needs = (need.of(need.form.substituted(lambda symbol: _filled(symbol, form))) for need in self.needs)
            return Affine(form, self.start.bits, self.start.needs.union(needs))
        except TooLarge:
            return None


def _filled(symbol: Symbol, form: Expression) -> Expression | None:
    """Return the carried value itself in the place of its symbol."""
    return form if isinstance(symbol, Carried) else None


def progress(
    start: Affine, carried: Carried, nexts: Sequence[Affine], varies: Callable[[Symbol], bool]
) -> Progress | None:
    """Return the progress of a value that is the symbol `carried` in the body, from what the jumps to the next turn
    hand on.

    ``varies``: whether a symbol is another number in each turn. None if no more can be said than the type does.
    """
    needs: Needs = frozenset().union(*(found.needs for found in nexts))
    steps = [found.form - of(carried) for found in nexts]
    others = (form for form in (*steps, *(need.form for need in needs)))
    if any(form.mentions(lambda symbol: isinstance(symbol, Carried) and symbol != carried) for form in others):
        return None
    if any(step.mentions(lambda symbol: isinstance(symbol, Carried)) for step in steps):
        return None
    if all(step == steps[0] and not step.mentions(varies) for step in steps):
        return Progress(start, steps[0] if steps else ZERO, needs)
    return None if any(map(mentions_lanes, steps)) else Progress(start, None, needs)


# ---------------------------------------------------------------- the walk


MOST_LOOKS = 1 << 9
"""Operations looked at, beside eight times those of the function, after which no call is entered any more."""
MOST_VISITED = 1 << 14
"""The same limit where callees are visited."""
MOST_TRIED = 1 << 9
"""Operations looked at, beside eight times those of the function, to find the steps of carried values; then they are no
longer sought."""
MOST_TRIALS = 4
"""Loops around an operation whose steps are sought at the same time. An operation is looked at once for each way to
choose so many of the loops around it, or fewer."""
DEEPEST_CALLS = 32
"""Calls in one another that are entered."""


@dataclass(frozen=True)
class ProgramPoint:
    """The surroundings of an operation: the condition under which it runs, and the enclosing loops."""

    runs: Condition = TRUE
    loops: frozenset[int] = frozenset()

    def where(self, also: Condition) -> ProgramPoint:
        return replace(self, runs=self.runs & also)


Visitor = Callable[["Walk", Op, ProgramPoint], None]


class Walk:
    """One walk through a function, the body of an entry or of a device function.

    `visit` is called for each operation when its operands are known; with `in_calls` also for those of the functions
    that it calls, as often as it does, else for its own alone.
    """

    def __init__(self, body: Block, visit: Visitor | None = None, in_calls: bool = False) -> None:
        self.known = Forms()
        self.moves: dict[Value, Progress | None] = {}
        """The progress of the values that loops carry, by the arguments of their bodies; None if it is not seen."""
        self.promises = Promises()
        self.rooms: dict[Storage, int] = {}
        """The sizes in bytes of what each `alloca` takes."""
        self._body = body
        self._visit = visit
        self._in_calls = in_calls
        self._trials = 0
        self._looks = 0
        self._tried = 0
        ops = sum(1 for root in body.ops for _ in root.walk())
        self._most = (MOST_VISITED if in_calls else MOST_LOOKS) + 8 * ops
        self._most_tried = MOST_TRIED + 8 * ops
        self._returning: dict[Block, bool] = {}
        self._calls: tuple[Op, ...] = ()
        self._numbers: dict[tuple[object, ...], int] = {}
        self._around: dict[int, frozenset[int]] = {}
        self._turns: dict[int, Turn] = {}
        for index, argument in enumerate(body.args):
            if is_integer(argument.type):
                found = values.parameter(argument, index) if argument.tile.rank == 0 else None
                self.known.bind(argument, found or self._unknown(argument, ProgramPoint()))
        self._run(body, ProgramPoint())

    def turns(self, point: ProgramPoint) -> tuple[Turn, ...]:
        """Return the turns of the enclosing loops, the outermost first."""
        return tuple(turn for loop, turn in self._turns.items() if loop in point.loops)

    @property
    def enters_calls(self) -> bool:
        """True if the next call is entered."""
        return self._looks < self._most and len(self._calls) < DEEPEST_CALLS

    # ------------------------------------------------------------ operations

    def _run(self, block: Block, point: ProgramPoint) -> None:
        self._looks += len(block.ops)
        self._tried += len(block.ops) if self._trials else 0
        visit = None if self._trials or (self._calls and not self._in_calls) else self._visit
        for op in block.ops:
            if visit is not None:
                visit(self, op, point)
            point = self._look_at(op, point)

    def _look_at(self, op: Op, point: ProgramPoint) -> ProgramPoint:
        """Bind the results of an operation; gives where those behind it stand."""
        if isinstance(op, control.If):
            return self._if(op, point)
        if isinstance(op, control.For | control.Loop):
            return self._loop(op, point)
        if isinstance(op, calls.Call):
            self._call(op, point)
        else:
            self._plain(op, point)
        return point

    def _plain(self, op: Op, point: ProgramPoint) -> None:
        rule = values.rules.get(type(op))
        try:
            found = None if rule is None or not self._is_given(op) else rule(op, self.known)
        except TooLarge:
            found = None
        if isinstance(op, misc.Assume) and found is not None and not isinstance(found, tuple) and not self._trials:
            self.promises.note(op, found, self._body)
        given = found if isinstance(found, tuple) else (found,) * len(op.results)
        for result, form in zip(op.results, given):
            if form is not None:
                self.known.bind(result, form)
            elif is_integer(result.type):
                self.known.bind(result, self._made(op, result, point))

    def _is_given(self, op: Op) -> bool:
        """Return whether every operand is known that can be: none is a float."""
        return all(value in self.known for value in op.operands if not isinstance(value.type, t.TokenType))

    def _made(self, op: Op, result: Value, point: ProgramPoint) -> Affine:
        """Return the result of an operation without a rule: elements that are the same or one of two, or anything."""
        if isinstance(op, pointers.Alloca):
            storage = Storage(StorageKind.SHARED if op.shared else StorageKind.OWN, self._number(result))
            self.rooms[storage] = op.result.tile.pointer.pointee.memory_size(op.num_elem)
            return Affine(of(storage), 64)
        if isinstance(op, core.Select):
            return self._either(result, self.known.of(op.val_if_true), self.known.of(op.val_if_false), point)
        return self._unknown(result, point)

    def _number(self, *key: object) -> int:
        """Return a number that is the same for the same key in the same call of a function."""
        return self._numbers.setdefault((*self._calls, *key), len(self._numbers))

    def _unknown(self, value: Value, point: ProgramPoint) -> Affine:
        bits, owner = width(value), value.owner
        source = (
            f"'{owner.spec.name}' {place_text(owner.loc)}".strip() if isinstance(owner, Op) else "carried by a loop"
        )
        bounds = ranges.unsigned(64) if _is_pointer(value) else ranges.signed(bits)
        symbol = Unknown(self._number(value), bounds, lanes(value.tile.shape), point.loops, source)
        return Affine(of(symbol), bits)

    def _either(self, value: Value, a: Affine, b: Affine, point: ProgramPoint) -> Affine:
        """Return one of two values, unknown which."""
        try:
            return self._one_of_two(value, a, b, point)
        except TooLarge:
            return self._unknown(value, point)

    def _one_of_two(self, value: Value, a: Affine, b: Affine, point: ProgramPoint) -> Affine:
        if a.form == b.form:
            return replace(a, needs=a.needs | b.needs, promised=a.promised & b.promised)
        x, y = (a, b) if _is_pointer(value) else (a.signed, b.signed)
        common = _storage(x.form) if _is_pointer(value) and _storage(x.form) == _storage(y.form) else ZERO
        if _is_pointer(value) and not common.terms:
            return self._unknown(value, point)
        choices = (x.form - common, y.form - common)
        symbol = Either(self._number(value), choices, lanes(value.tile.shape), point.loops)
        return Affine(common + of(symbol), a.bits, x.needs | y.needs)

    # ------------------------------------------------------------ if

    def _if(self, op: control.If, point: ProgramPoint) -> ProgramPoint:
        holds = UNKNOWN if self._trials else condition(op.condition, self.known)
        self._run(op.then, point.where(holds))
        if op.otherwise is not None:
            self._run(op.otherwise, point.where(~holds))
        self._join(op, point)
        return point.where(self._behind(op, holds))

    def _join(self, op: control.If, point: ProgramPoint) -> None:
        ends = [block.terminator for block in op.regions if block is not None]
        yields = [end.operands for end in ends if isinstance(end, control.Yield)]
        for at, result in enumerate(op.outputs):
            given = [self.known.of(values[at]) for values in yields if values[at] in self.known]
            if is_integer(result.type):
                self.known.bind(result, self._one_of(result, given, point))

    def _one_of(self, value: Value, given: Sequence[Affine], point: ProgramPoint) -> Affine:
        """Return one of several values, or anything if there are none."""
        found = self._unknown(value, point) if not given else given[0]
        for other in given[1:]:
            found = self._either(value, found, other, point)
        return found

    # ------------------------------------------------------------ exits

    def _behind(self, op: control.If, holds: Condition) -> Condition:
        """Return the condition under which the code behind an `if` runs, given that one of its regions may jump out."""
        then, otherwise = ([] if block is None else list(exits_from(block)) for block in (op.then, op.otherwise))
        if not then and not otherwise:
            return UNKNOWN if any(map(self._returns, filter(None, op.regions))) else TRUE
        if then == [op.then.terminator] and not otherwise:
            return ~holds
        if op.otherwise is not None and otherwise == [op.otherwise.terminator] and not then:
            return holds
        return UNKNOWN

    def _returns(self, block: Block) -> bool:
        """Return whether the tile block or function may end inside."""
        if block not in self._returning:
            self._returning[block] = any(
                isinstance(op, control.Return) or any(map(self._returns, filter(None, op.regions))) for op in block.ops
            )
        return self._returning[block]

    # ------------------------------------------------------------ loops

    def _loop(self, op: control.For | control.Loop, point: ProgramPoint) -> ProgramPoint:
        loop = self._number(op)
        self._around[loop] = point.loops
        inside = replace(point, loops=point.loops | {loop})
        if isinstance(op, control.Loop) or self._returns(op.body):
            inside = inside.where(UNKNOWN)
        turn, count = self._turn(op, loop)
        self._turns[loop] = turn
        if isinstance(op, control.For):
            self._bind_induction(op, of(turn), inside)
        moves = self._moves(op, loop, inside)
        for argument, initial, move in zip(carried_arguments(op), op.initial, moves):
            self.moves[argument] = move
            self._bind_carried(argument, initial, move, of(turn), inside)
        self._run(op.body, inside)
        self._leave(op, moves, count, point)
        return point.where(UNKNOWN) if self._returns(op.body) else point

    def _turn(self, op: control.For | control.Loop, loop: int) -> tuple[Turn, Reading | None]:
        """Return the turns of a loop, and the number of them if it is known."""
        try:
            if isinstance(op, control.For):
                count = self._count(op)
                return Turn(loop, count.form, count.needs), count
        except TooLarge:
            pass
        return Turn(loop, None, frozenset()), None

    def _count(self, op: control.For) -> Reading:
        """Return the number of turns of a loop that is not left early."""
        lower, upper, step = self._bounds(op)
        needs = lower.needs | upper.needs | step.needs
        return Reading(largest(ZERO, ceiling(upper.form - lower.form, step.form)), needs)

    def _bounds(self, op: control.For) -> tuple[Reading, Reading, Reading]:
        signedness = Signedness.UNSIGNED if op.unsigned else Signedness.SIGNED
        lower, upper = (self.known.of(bound).read(signedness) for bound in (op.lower, op.upper))
        return lower, upper, self.known.of(op.step).signed

    def _bind_induction(self, op: control.For, turn: Expression, point: ProgramPoint) -> None:
        """Bind the induction value to ``lower + step * turn``, which is less than the upper bound and so does not wrap
        around."""
        lower, _, step = self._bounds(op)
        argument = op.body.args[0]
        exact = frozenset({Signedness.UNSIGNED if op.unsigned else Signedness.SIGNED})
        try:
            form, needs = lower.form + step.form * turn, lower.needs | step.needs
            self.known.bind(argument, Affine(form, width(argument), needs, exact))
        except TooLarge:
            self.known.bind(argument, self._unknown(argument, point))

    def _moves(self, op: control.For | control.Loop, loop: int, point: ProgramPoint) -> list[Progress | None]:
        """Return the progress of each carried value from turn to turn; None where it is not seen."""
        starts = [self.known.of(value) if value in self.known else None for value in op.initial]
        if not any(starts) or self._trials == MOST_TRIALS or self._tried > self._most_tried:
            return [None] * len(starts)
        arguments = carried_arguments(op)
        symbols = [Carried(self._number(argument), lanes(_shape(argument))) for argument in arguments]
        for argument, symbol, start in zip(arguments, symbols, starts):
            if start is not None:
                self.known.bind(argument, Affine(of(symbol), start.bits))
        self._trials += 1
        self._run(op.body, point)
        self._trials -= 1
        jumps = _jumps(control.Continue, op.body)
        nexts = [[jump.operands[at] for jump in jumps] for at in range(len(starts))]
        return [
            None if start is None else self._progress(start, symbol, values, loop)
            for start, symbol, values in zip(starts, symbols, nexts)
        ]

    def _progress(self, start: Affine, symbol: Carried, nexts: Sequence[Value], loop: int) -> Progress | None:
        try:
            return progress(
                start, symbol, [self.known.of(value) for value in nexts], lambda other: self._varies(other, loop)
            )
        except TooLarge:
            return None

    def _varies(self, symbol: Symbol, loop: int) -> bool:
        """Return whether the symbol changes in each turn of `loop`."""
        if isinstance(symbol, Turn):
            return symbol.loop == loop or loop in self._around[symbol.loop]
        return isinstance(symbol, Unknown | Either) and loop in symbol.loops

    def _bind_carried(
        self, argument: Value, initial: Value, move: Progress | None, turn: Expression, point: ProgramPoint
    ) -> None:
        if is_integer(argument.type):
            found = None if move is None else move.after(turn, self._drift(argument, point))
            self.known.bind(argument, found or self._unknown(argument, point))

    def _drift(self, value: Value, point: ProgramPoint) -> Expression:
        """Return the distance by which all elements of a carried value have moved."""
        symbol = Unknown(self._number(value, "drift"), ranges.signed(64), (), point.loops, "moved by a loop")
        return of(symbol)

    def _leave(
        self,
        op: control.For | control.Loop,
        moves: Sequence[Progress | None],
        count: Reading | None,
        point: ProgramPoint,
    ) -> None:
        """Bind the results: the carried values when the count is reached, or those that a `break` hands over."""
        jumps = _jumps(control.Break, op.body)
        for at, result in enumerate(op.outputs):
            if not is_integer(result.type):
                continue
            if count is None:
                given = [self.known.of(jump.operands[at]) for jump in jumps]
                self.known.bind(result, self._one_of(result, given, point))
            else:
                found = self._finished(result, moves[at], count, point)
                self.known.bind(result, found or self._unknown(result, point))

    def _finished(self, result: Value, move: Progress | None, count: Reading, point: ProgramPoint) -> Affine | None:
        found = None if move is None else move.after(count.form, self._drift(result, point))
        try:
            return None if found is None else replace(found, needs=found.needs | count.needs)
        except TooLarge:
            return None

    # ------------------------------------------------------------ calls

    def _call(self, op: calls.Call, point: ProgramPoint) -> None:
        function = callee_of(op)
        body = function.regions[0]
        assert body is not None
        for argument, given in zip(body.args, op.args):
            if given in self.known:
                self.known.give(argument, given)
        returns: list[Sequence[Value]] = []
        if self.enters_calls:
            outside, self._calls = self._calls, (*self._calls, op)
            self._run(body, point)
            self._calls = outside
            returns = [inner.operands for inner in function.walk() if isinstance(inner, control.Return)]
        for at, result in enumerate(op.outputs):
            if len(returns) == 1 and returns[0][at] in self.known:
                self.known.give(result, returns[0][at])
            elif is_integer(result.type):
                self.known.bind(result, self._unknown(result, point))


# ---------------------------------------------------------------- what control flow looks like


def _shape(value: Value) -> tuple[int, ...]:
    return value.type.shape if isinstance(value.type, t.TileType) else ()


def _is_pointer(value: Value) -> bool:
    return isinstance(value.type, t.TileType) and isinstance(value.type.element, t.PointerType)


def _storage(form: Expression) -> Expression:
    """Return the memory that an address lies in: the part of it that is an address itself; 0 without one."""
    symbols = [symbol for symbol in form.symbols() if isinstance(symbol, Storage)]
    return of(symbols[0]) if len(symbols) == 1 and form.terms.get((symbols[0],)) == 1 else ZERO


def _jumps(kind: type[Op], block: Block) -> list[Op]:
    """Return the exits of one kind from the loop whose body is `block`."""
    return [op for op in exits_from(block) if isinstance(op, kind)]
