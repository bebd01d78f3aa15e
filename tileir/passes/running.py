"""Passes, and how they follow each other until nothing changes.

Here are those that launches run, whose rewrites are exact, faults of a run included; the others are in `pipeline`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from time import perf_counter

from tileir.ir.core import Module, Op, without_collection
from tileir.ops.control import For, If, Loop
from tileir.passes import canonicalise, control, dead_code, redundancy
from tileir.passes.facts import Evaluate
from tileir.passes.rebuilding import Aspect, Change, ChangeLog, Rebuilding, Row, copied


@dataclass(frozen=True)
class Context:
    """The environment of passes. `evaluate` computes an operation on constants; `arguments` are known scalar arguments,
    by parameter name. `exact`: apply only rows that are exact, which also preserve traps.
    """

    evaluate: Evaluate
    arguments: Mapping[str, int | float] = field(default_factory=dict)
    exact: bool = False


Walked = Callable[[Module, ChangeLog, Context], Module]


@dataclass(frozen=True, eq=False)
class Pass:
    """A pass: `rows` are the rewrites that it can make.

    `needs`: a program without any of these operations stays as it is; empty for a pass that looks at all. It has new
    work only where an aspect that it `looks_at` has changed; one that `settles` has none by its own changes.
    """

    name: str
    text: str
    rows: tuple[Row, ...]
    run: Walked = field(repr=False)
    needs: frozenset[type[Op]] = frozenset()
    looks_at: Aspect = Aspect.ALL
    settles: bool = False


def copying(walk: Callable[[ChangeLog], Rebuilding]) -> Walked:
    """Return a pass that needs nothing but the program, and copies it."""
    return lambda module, log, context: walk(log).module(module)


def plain(walk: Callable[[ChangeLog], Rebuilding]) -> Walked:
    """Return a pass that needs nothing but the program, which it uses up."""
    return lambda module, log, context: walk(log).taking_over().module(module)


def folding(walk: Callable[[ChangeLog, Evaluate], Rebuilding]) -> Walked:
    """Return a pass that computes constants."""
    return lambda module, log, context: walk(log, context.evaluate).taking_over().module(module)


MOST_ROUNDS = 12
"""Rounds after which a program is left as it is, though another might change it."""


@dataclass(frozen=True)
class Step:
    """One run of a pass: the program after it, what it changed, and the seconds that it took."""

    name: str
    before: Module
    after: Module
    changes: Sequence[Change]
    seconds: float


Watcher = Callable[[Step], object]


def run(
    module: Module,
    passes: Sequence[Pass],
    context: Context,
    watch: Watcher | None = None,
    once: bool = False,
    ours: bool = False,
) -> Module:
    """Return the program after `passes`, repeated until nothing changes, or run `once`.

    `watch` is told of every step as it is done. Gives `module` itself where nothing changes; one that is `ours` may be
    used up.
    """
    running = _Run(module, context, watch, ours)
    with nullcontext() if watch else without_collection():
        if once:
            for one in passes:
                running.step(one)
        else:
            running.settle(passes)
    return running.now if running.changed or ours else module


class _Run:
    """Passes over one program, which is copied before the first, and where somebody watches before each one."""

    def __init__(self, module: Module, context: Context, watch: Watcher | None, is_ours: bool) -> None:
        self.now, self.context, self.watch, self.is_ours = module, context, watch, is_ours
        self.changed = False

    def settle(self, passes: Sequence[Pass]) -> None:
        """Repeat passes until none of them has work."""
        waiting = set(passes)
        for _ in range(MOST_ROUNDS):
            found = {type(op) for op in self.now.walk()}
            changed = False
            for one in passes:
                if one in waiting and not (one.needs and one.needs.isdisjoint(found)):
                    waiting.discard(one)
                    aspects = self.step(one)
                    if aspects:
                        changed = True
                        waiting.update(other for other in passes if _has_work(other, aspects, one))
            if not changed:
                return

    def step(self, one: Pass) -> Aspect:
        """Run a pass; gives what has changed."""
        before = self.now
        mine = before if self.is_ours and self.watch is None else copied(before)
        log, begin = ChangeLog(self.context.exact), perf_counter()
        after = one.run(mine, log, self.context)
        step = Step(one.name, before, after if log.changes else before, log.changes, perf_counter() - begin)
        self.now = after if log.changes else mine if self.watch is None else before
        self.is_ours = True
        self.changed = self.changed or bool(log.changes)
        if self.watch is not None:
            self.watch(step)
        return log.aspects


def _has_work(one: Pass, changed: Aspect, by: Pass) -> bool:
    """Return whether a pass may find something in a program changed by another pass or by itself."""
    return bool(changed & one.looks_at) and not (one is by and one.settles)


# ---------------------------------------------------------------- the passes that launches run


LOOPS: frozenset[type[Op]] = frozenset({For, Loop})

CANONICALISE = Pass(
    "canonicalise", "operations in their simplest form; folds too", canonicalise.CANONICALISE_ROWS,
    folding(canonicalise.Canonicalise), looks_at=Aspect.CODE, settles=True,
)  # fmt: skip
CONTROL = Pass(
    "control", "known branches, choices between values, loops that run once", control.CONTROL_ROWS,
    plain(control.Branches), LOOPS | {If}, Aspect.CODE | Aspect.USES,
)  # fmt: skip
CSE = Pass(
    "cse", "repeated operations become one", redundancy.CSE_ROWS, plain(redundancy.Sharing),
    looks_at=Aspect.CODE | Aspect.PLACE, settles=True,
)  # fmt: skip
DCE = Pass("dce", "what nobody can see is left out", dead_code.ROWS, plain(dead_code.Dropping), looks_at=Aspect.CODE)
LICM = Pass(
    "licm", "what does not change is computed before a loop", redundancy.LICM_ROWS, plain(redundancy.Hoisting), LOOPS,
    Aspect.CODE, settles=True,
)  # fmt: skip
ONE_TURN = Pass(
    "one-turn", "entries whose loops may run once become two versions", control.ONE_TURN_ROWS,
    copying(control.Versions), frozenset({For}), Aspect.CODE,
)  # fmt: skip
EXACT = (CANONICALISE, CONTROL, CSE, LICM, DCE)
"""The passes of level 2 that have exact rows and keep every operation in its place: a call stays a call."""
NATIVE = (*EXACT, ONE_TURN)
"""The same for native code, where a loop that runs once costs as much as its tiles do in memory."""
