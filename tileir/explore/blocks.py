"""A tile block, run as far as the answers to its reads are known.

A read without an answer gives PENDING, and so does all that is computed from it: an access whose operands are pending
is not made yet. So an access is made as soon as nothing that it depends on is open, in whatever order the program text
has them: what depends on no read of its tile block may be read by others before that read is answered.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tileir.explore.events import AccessInstruction, ElementKey, ExecutedOp, PromisedStore, Tokens
from tileir.explore.memory import AnsweringMemory
from tileir.interp.api import BlockState, LaunchState
from tileir.interp.program import PreparedFunction
from tileir.ir.core import Op
from tileir.ir.diagnostics import Coordinates, Trap
from tileir.ir.loc import UNKNOWN, Location


class Pending(enum.Enum):
    """The only value of its type."""

    PENDING = enum.auto()


PENDING = Pending.PENDING


def any_pending(values: Iterable[object]) -> bool:
    """Return whether a value, or a member of a variadic one, is pending."""
    return any(value is PENDING or (type(value) is tuple and any(one is PENDING for one in value)) for value in values)


def joined_tokens(*tokens: object) -> frozenset | Pending:
    """Return the instructions before any of the tokens; those that are no sets stand for none."""
    flat = [one for token in tokens for one in (token if type(token) is tuple else (token,))]
    if any(one is PENDING for one in flat):
        return PENDING
    return frozenset().union(*(one for one in flat if isinstance(one, frozenset)))


Answers = frozenset[tuple[ElementKey, int]]
"""Results of elements read by one tile block."""


class Halt(Exception):
    """A tile block goes no further: `how` is a status of `BlockRun`."""

    def __init__(self, how: str, op: Op) -> None:
        super().__init__(how)
        self.how = how
        self.op = op


@dataclass(frozen=True)
class BlockRun:
    """The behaviour of a tile block, given some answers.

    ``status``: ``done``; ``pending``, its course depends on an unanswered read; ``waiting``, an iteration of a `loop`
    has changed nothing; ``bounded``, a loop has reached the explored number of iterations; ``assert`` or ``trap``.
    ``skipped`` are the writing operations that were passed over because their place depends on such a read;
    ``promised`` those where only the value does. ``values`` are the last results of accesses by operation; ``reached``
    the assertions that it came to; ``path`` the iterations and calls around the place where it has halted, ``stopped``
    the operation there if more may follow.
    """

    instructions: tuple[AccessInstruction, ...]
    status: str
    skipped: frozenset[int]
    promised: tuple[PromisedStore, ...]
    values: dict[int, np.ndarray]
    reached: frozenset[Op]
    loc: Location = UNKNOWN
    message: str = ""
    path: tuple[int, ...] = ()
    stopped: Op | None = None


class ReplayedBlock(BlockState):
    """A tile block that is run again.

    ``path`` are the iterations and calls around what runs, ``loops`` how often it had written when the iterations
    around began, ``latest`` the token that each access gave last, which may be pending.
    """

    __slots__ = (
        "answers",
        "instructions",
        "latest",
        "loops",
        "number",
        "path",
        "promised",
        "reached",
        "skipped",
        "values",
        "wrote",
    )

    def __init__(self, id: Coordinates, launch: LaunchState, number: int, answers: Answers) -> None:
        super().__init__(id, launch)
        assert isinstance(launch.memory, AnsweringMemory), "reads are answered by the execution"
        self.number = number
        self.path: list[int] = []
        self.loops: list[int] = []
        self.answers: dict[ExecutedOp, dict[int, int]] = {}
        for (instance, lane), value in answers:
            self.answers.setdefault(instance, {})[lane] = value
        self.instructions: list[AccessInstruction] = []
        self.latest: dict[int, Tokens | Pending] = {}
        self.promised: list[PromisedStore] = []
        self.reached: set[Op] = set()
        self.skipped: set[int] = set()
        self.values: dict[int, np.ndarray] = {}
        self.wrote = 0
        self.budget = 1 << 62

    @property
    def answering(self) -> AnsweringMemory:
        assert isinstance(self.memory, AnsweringMemory)
        return self.memory

    @property
    def awaits(self) -> bool:
        """True if it is in an iteration of a `loop` that has written nothing."""
        return bool(self.loops) and self.loops[-1] == self.wrote

    def instance(self, op: int) -> ExecutedOp:
        return ExecutedOp(self.number, op, tuple(self.path))

    def begin_iteration(self) -> None:
        super().begin_iteration()
        self.path[-1] += 1

    def write(self, text: str) -> None:
        """Ignore printed text, which is no outcome."""


class BlockRunner:
    """Runs the tile blocks of a launch."""

    def __init__(
        self,
        function: PreparedFunction,
        launch: LaunchState,
        blocks: Sequence[Coordinates],
        arguments: Sequence[object],
    ) -> None:
        self.blocks = blocks
        self._function = function
        self._launch = launch
        self._arguments = arguments

    def run(self, number: int, answers: Answers) -> BlockRun:
        block = ReplayedBlock(self.blocks[number], self._launch, number, answers)
        stopped, status, loc, message = self._to_end(block)
        return BlockRun(
            tuple(block.instructions),
            status,
            frozenset(block.skipped),
            tuple(block.promised),
            block.values,
            frozenset(block.reached),
            loc,
            message,
            tuple(block.path),
            stopped,
        )

    def _to_end(self, block: ReplayedBlock) -> tuple[Op | None, str, Location, str]:
        """Return the place where the tile block stands if more may follow, its status, location and message."""
        try:
            with np.errstate(all="ignore"):
                for _ in self._function.body.run(self._function.frame(self._arguments), block):
                    pass
        except Halt as halt:
            return (halt.op if halt.how == "pending" else None), halt.how, halt.op.loc, ""
        except Trap as trap:
            return None, ("assert" if trap.op == "assert" else "trap"), trap.loc, trap.message
        return None, "done", UNKNOWN, ""
