"""The structure of a program: who uses a value, which loop is around, where control leaves a region.

A value is visible in its block and in the regions inside (spec: syntax#regions). Control leaves a region by its
terminator, or by an exit in the regions of an `if` (spec: control#top).
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence

from tileir.ir.core import Block, Op, Value
from tileir.ops.calls import Func
from tileir.ops.control import Break, Continue, For, If, Loop, Return, Yield
from tileir.ops.module import Entry


class Uses:
    """The uses of all values in some operations, and in those nested in them."""

    def __init__(self, roots: Iterable[Op] = ()) -> None:
        self._users: dict[Value, list[Op]] = {}
        for op in (op for root in roots for op in root.walk()):
            for value in dict.fromkeys(op.operands):
                self._users.setdefault(value, []).append(op)

    def of(self, value: Value) -> Sequence[Op]:
        """Return the operations that have `value` as an operand, each once, in program order."""
        return self._users.get(value, ())


def home_of(value: Value) -> Block | None:
    """Return the block that defines a value; None for a result of an operation that stands nowhere."""
    return value.owner.parent if isinstance(value.owner, Op) else value.owner


def encloses(outer: Block | None, block: Block | None) -> bool:
    """Return whether `block` is `outer`, or in an operation in it."""
    while block is not None and block is not outer:
        block = None if block.parent is None else block.parent.parent
    return block is not None


def is_visible(value: Value, op: Op) -> bool:
    """Return whether the block that defines a value encloses `op`; then its place in that block decides what `op`
    sees."""
    return encloses(home_of(value), op.parent)


def ancestor_in(block: Block | None, op: Op) -> Op:
    """Return `op`, or the operation around it, that stands in `block`."""
    while op.parent is not block:
        around = op.parent_op
        assert around is not None, "the block is around the operation"
        op = around
    return op


def last_uses(body: Block) -> dict[Value, Op]:
    """Return the last operation, in the block of the value, that uses each value, itself or in a region inside it."""
    last: dict[Value, Op] = {}
    for op in (op for root in body.ops for op in root.walk()):
        for value in op.operands:
            last[value] = ancestor_in(home_of(value), op)
    return last


# ---------------------------------------------------------------- loops


LOOPS = (For, Loop)


def enclosing_loop(op: Op) -> For | Loop | None:
    """Return the innermost loop around an operation, in its entry or function."""
    around = op.parent_op
    while around is not None and not isinstance(around, LOOPS):
        around = around.parent_op
    return around


def runs_once(op: Op) -> bool:
    """Return whether a tile block runs an operation at most once: only `if` stands around it in its entry."""
    around = op.parent_op
    while isinstance(around, If):
        around = around.parent_op
    return isinstance(around, Entry)


def carried_arguments(loop: For | Loop) -> Sequence[Value]:
    """Return the arguments of the body that hold carried values, in the order of the initial ones."""
    return loop.body.args[1:] if isinstance(loop, For) else loop.body.args


# ---------------------------------------------------------------- exits of regions


class RegionExit(enum.IntEnum):
    """The ways in which control leaves a region."""

    YIELD = 0
    CONTINUE = 1
    BREAK = 2
    RETURN = 3


EXITS: dict[type[Op], RegionExit] = {
    Yield: RegionExit.YIELD,
    Continue: RegionExit.CONTINUE,
    Break: RegionExit.BREAK,
    Return: RegionExit.RETURN,
}
TARGETS: dict[type[Op], tuple[type[Op], ...]] = {
    Yield: (Op,),
    Continue: (For, Loop),
    Break: (Loop,),
    Return: (Entry, Func),
}
"""The operations that each exit leaves or continues: the innermost around it."""


def target_of(exit: Op) -> Op | None:
    """Return the operation that an exit leaves, or continues; None if there is none around it."""
    around, wanted = exit.parent_op, TARGETS[type(exit)]
    while around is not None and not isinstance(around, wanted):
        around = around.parent_op
    return around


def passed_on(op: Op) -> Iterator[tuple[Value, Value]]:
    """Yield each value that a loop begins with, or an exit hands on, with each argument or result that it becomes.

    What a `return` hands on becomes results of calls, which are not given here.
    """
    if isinstance(op, LOOPS):
        yield from zip(op.initial, carried_arguments(op))
        if isinstance(op, For):
            yield from zip(op.initial, op.results)
    elif isinstance(op, Yield | Continue | Break):
        around = target_of(op)
        if isinstance(op, Continue) and isinstance(around, LOOPS):
            yield from zip(op.operands, carried_arguments(around))
        if around is not None and (isinstance(around, For) or not isinstance(op, Continue)):
            yield from zip(op.operands, around.results)


def exits_from(block: Block) -> Iterator[Op]:
    """Yield the exits in `block`, and in the regions of each `if` there, from the loop or function whose body it is."""
    for op in block.ops:
        if isinstance(op, Break | Continue | Return):
            yield op
        elif isinstance(op, If):
            for region in filter(None, op.regions):
                yield from exits_from(region)
