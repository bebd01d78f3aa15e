"""Passes by name, and the order in which a level runs them.

Knows: names, levels, how passes follow each other until nothing changes. Does not know: any rewrite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from time import perf_counter

from tileir.ir.bulk import without_collection
from tileir.ir.core import Module, Op
from tileir.ops.calls import Call
from tileir.ops.control import For, If, Loop
from tileir.ops.floating import MulF
from tileir.ops.pointers import LoadPtr, StorePtr
from tileir.ops.views import MakeTensorView
from tileir.passes import (
    branches,
    canonicalise,
    dropping,
    fold,
    forwarding,
    fusing,
    gathering,
    hoisting,
    inferring,
    inlining,
    raising,
    relaxing,
    sharing,
    specialising,
    splitting,
    unrolling,
)
from tileir.passes.facts import Evaluate
from tileir.passes.rebuilding import Rebuilding, copied
from tileir.passes.row import Aspect, Change, ChangeLog, Row


@dataclass(frozen=True)
class Context:
    """What passes are handed. `evaluate` computes an operation on constants; `arguments` are known scalar arguments, by
    parameter name.
    """

    evaluate: Evaluate
    arguments: Mapping[str, int | float] = field(default_factory=dict)


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


def _copying(walk: Callable[[ChangeLog], Rebuilding]) -> Walked:
    """A pass that needs nothing but the program, and copies it."""
    return lambda module, log, context: walk(log).module(module)


def _plain(walk: Callable[[ChangeLog], Rebuilding]) -> Walked:
    """A pass that needs nothing but the program, which it uses up."""
    return lambda module, log, context: walk(log).taking_over().module(module)


def _folding(walk: Callable[[ChangeLog, Evaluate], Rebuilding]) -> Walked:
    """A pass that computes constants."""
    return lambda module, log, context: walk(log, context.evaluate).taking_over().module(module)


def _specialised(module: Module, log: ChangeLog, context: Context) -> Module:
    if not context.arguments:
        return module
    return specialising.Specialising(log, context.arguments).module(module)


_CALLS: frozenset[type[Op]] = frozenset({Call})
_LOOPS: frozenset[type[Op]] = frozenset({For, Loop})
_CONTROL = _LOOPS | {If}

_ALL = (
    Pass("specialise", "parameters with known arguments become constants", specialising.ROWS, _specialised),
    Pass("inline", "calls become what the function does", inlining.ROWS, _copying(inlining.Inlining), _CALLS),
    Pass("fold", "operations on constants are computed", fold.ROWS, _folding(canonicalise.Folding)),
    Pass("canonicalise", "operations in their simplest form; folds too", canonicalise.ROWS,
         _folding(canonicalise.Canonicalise), looks_at=Aspect.CODE, settles=True),
    Pass("control", "known branches, choices between values, loops that run once", branches.ROWS,
         _plain(branches.Branches), _CONTROL, Aspect.CODE | Aspect.USES),
    Pass("cse", "repeated operations become one", sharing.ROWS, _plain(sharing.Sharing),
         looks_at=Aspect.CODE | Aspect.PLACE, settles=True),
    Pass("dce", "what nobody can see is left out", dropping.ROWS, _plain(dropping.Dropping), looks_at=Aspect.CODE),
    Pass("licm", "what does not change is computed before a loop", hoisting.ROWS, _plain(hoisting.Hoisting),
         _LOOPS, Aspect.CODE, settles=True),
    Pass("unroll", "small loops of known length become their iterations", unrolling.ROWS, _copying(unrolling.Unrolling),
         _LOOPS),
    Pass("loop-split", "loops that test their counter become two without the test", splitting.ROWS,
         _copying(splitting.Splitting), frozenset({For})),
    Pass("forward", "values come from accesses before; stores that are overwritten are left out", forwarding.ROWS,
         _plain(forwarding.Forwarding)),
    Pass("raise", "accesses through tiles of pointers go through views", raising.ROWS, _copying(raising.Raising),
         frozenset({LoadPtr, StorePtr})),
    Pass("raise-gathers", "rows that an index tile names go through gather views, in the language from 13.3 on",
         gathering.ROWS, _copying(gathering.RaisingGathers), frozenset({LoadPtr, StorePtr})),
    Pass("relax", "tokens order only accesses that need it", relaxing.ROWS, _copying(relaxing.Relaxing)),
    Pass("infer", "overflow flags and static extents that follow are written down", inferring.ROWS,
         _copying(inferring.Inferring)),
    Pass("infer-assume", "what is known of addresses, extents and strides is promised to the compiler behind",
         inferring.ASSUME_ROWS, _copying(inferring.InferringAssume), frozenset({MakeTensorView})),
    Pass("infer-inbounds", "tiles that lie inside the tensor say so, in the language from 13.4 on",
         inferring.INBOUNDS_ROWS, _copying(inferring.InferringInbounds)),
    Pass("fuse-fma", "products and sums are rounded once; changes results", fusing.ROWS, _copying(fusing.Fusing),
         frozenset({MulF})),
)  # fmt: skip
PASSES: dict[str, Pass] = {one.name: one for one in _ALL}
"""All passes by name."""

_FIRST = ("specialise", "inline", "canonicalise", "cse", "dce")
_SECOND = ("specialise", "inline", "canonicalise", "control", "cse", "licm", "forward", "dce")
_THIRD = (
    "specialise", "inline", "canonicalise", "control", "loop-split", "unroll", "cse", "licm", "forward", "raise",
    "relax", "infer", "dce",
)  # fmt: skip
LEVELS: tuple[tuple[str, ...], ...] = ((), _FIRST, _SECOND, _THIRD)
"""The passes of each level, in order; they are repeated until a round changes nothing."""

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
    module: Module, names: Sequence[str], context: Context, watch: Watcher | None = None, once: bool = False
) -> Module:
    """The program after the passes `names`, repeated until nothing changes, or run `once`.

    `watch` is told of every step as it is done. Gives `module` itself where nothing changes.
    """
    passes = [PASSES[name] for name in names]
    running = _Run(module, context, watch)
    with nullcontext() if watch else without_collection():
        if once:
            for one in passes:
                running.step(one)
        else:
            running.settle(passes)
    return running.now if running.changed else module


class _Run:
    """Passes over one program, which is copied before the first, and where somebody watches before each one."""

    def __init__(self, module: Module, context: Context, watch: Watcher | None) -> None:
        self.now, self.context, self.watch = module, context, watch
        self.is_ours = self.changed = False

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
        log, begin = ChangeLog(), perf_counter()
        after = one.run(mine, log, self.context)
        step = Step(one.name, before, after if log.changes else before, log.changes, perf_counter() - begin)
        self.now = after if log.changes else mine if self.watch is None else before
        self.is_ours = True
        self.changed = self.changed or bool(log.changes)
        if self.watch is not None:
            self.watch(step)
        return log.aspects


def _has_work(one: Pass, changed: Aspect, by: Pass) -> bool:
    """Whether a pass may find something in a program that another, or itself, has changed."""
    return bool(changed & one.looks_at) and not (one is by and one.settles)
