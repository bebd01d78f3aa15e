"""Passes by name, and the order in which a level runs them.

Knows: names, levels, how passes follow each other until nothing changes. Does not know: any rewrite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

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
from tileir.passes.rebuilding import Rebuilding
from tileir.passes.row import Change, ChangeLog, Row


@dataclass(frozen=True)
class Context:
    """What passes are handed. `evaluate` computes an operation on constants; `arguments` are known scalar arguments, by
    parameter name.
    """

    evaluate: Evaluate
    arguments: Mapping[str, int | float] = field(default_factory=dict)


Walked = Callable[[Module, ChangeLog, Context], Module]


@dataclass(frozen=True)
class Pass:
    """A pass: `rows` are the rewrites that it can make.

    `needs`: a program without any of these operations stays as it is; empty for a pass that looks at all.
    """

    name: str
    text: str
    rows: tuple[Row, ...]
    run: Walked = field(repr=False)
    needs: frozenset[type[Op]] = frozenset()


def _plain(walk: Callable[[ChangeLog], Rebuilding]) -> Walked:
    """A pass that needs nothing but the program."""
    return lambda module, log, context: walk(log).module(module)


def _folding(walk: Callable[[ChangeLog, Evaluate], Rebuilding]) -> Walked:
    """A pass that computes constants."""
    return lambda module, log, context: walk(log, context.evaluate).module(module)


def _specialised(module: Module, log: ChangeLog, context: Context) -> Module:
    if not context.arguments:
        return module
    return specialising.Specialising(log, context.arguments).module(module)


_CALLS: frozenset[type[Op]] = frozenset({Call})
_LOOPS: frozenset[type[Op]] = frozenset({For, Loop})
_CONTROL = _LOOPS | {If}

_ALL = (
    Pass("specialise", "parameters with known arguments become constants", specialising.ROWS, _specialised),
    Pass("inline", "calls become what the function does", inlining.ROWS, _plain(inlining.Inlining), _CALLS),
    Pass("fold", "operations on constants are computed", fold.ROWS, _folding(canonicalise.Folding)),
    Pass("canonicalise", "operations in their simplest form; folds too", canonicalise.ROWS,
         _folding(canonicalise.Canonicalise)),
    Pass("control", "known branches, choices between values, loops that run once", branches.ROWS,
         _plain(branches.Branches), _CONTROL),
    Pass("cse", "repeated operations become one", sharing.ROWS, _plain(sharing.Sharing)),
    Pass("dce", "what nobody can see is left out", dropping.ROWS, _plain(dropping.Dropping)),
    Pass("licm", "what does not change is computed before a loop", hoisting.ROWS, _plain(hoisting.Hoisting),
         _LOOPS),
    Pass("unroll", "small loops of known length become their iterations", unrolling.ROWS, _plain(unrolling.Unrolling),
         _LOOPS),
    Pass("loop-split", "loops that test their counter become two without the test", splitting.ROWS,
         _plain(splitting.Splitting), frozenset({For})),
    Pass("forward", "values come from accesses before; stores that are overwritten are left out", forwarding.ROWS,
         _plain(forwarding.Forwarding)),
    Pass("raise", "accesses through tiles of pointers go through views", raising.ROWS, _plain(raising.Raising),
         frozenset({LoadPtr, StorePtr})),
    Pass("relax", "tokens order only accesses that need it", relaxing.ROWS, _plain(relaxing.Relaxing)),
    Pass("infer", "overflow flags and static extents that follow are written down", inferring.ROWS,
         _plain(inferring.Inferring)),
    Pass("infer-assume", "what is known of extents and strides is promised to the compiler behind",
         inferring.ASSUME_ROWS, _plain(inferring.InferringAssume), frozenset({MakeTensorView})),
    Pass("infer-inbounds", "tiles that lie inside the tensor say so, in the language from 13.4 on",
         inferring.INBOUNDS_ROWS, _plain(inferring.InferringInbounds)),
    Pass("fuse-fma", "products and sums are rounded once; changes results", fusing.ROWS, _plain(fusing.Fusing),
         frozenset({MulF})),
)  # fmt: skip
PASSES: dict[str, Pass] = {one.name: one for one in _ALL}
"""All passes by name."""

_FIRST = ("specialise", "inline", "canonicalise", "cse", "dce")
_SECOND = ("specialise", "inline", "canonicalise", "control", "cse", "licm", "forward", "dce")
_THIRD = (
    "specialise", "inline", "canonicalise", "control", "loop-split", "unroll", "cse", "licm", "forward", "relax",
    "infer", "dce",
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

    `watch` is told of every step as it is done.
    """
    quiet = 0
    for _ in range(1 if once else MOST_ROUNDS):
        found = {type(op) for op in module.walk()}
        for one in (PASSES[name] for name in names):
            if one.needs and one.needs.isdisjoint(found):
                quiet += 1
            else:
                step = run_pass(module, one, context)
                quiet = 0 if step.changes else quiet + 1
                module = step.after
                if watch is not None:
                    watch(step)
            if quiet >= len(names) and not once:
                return module
    return module


def run_pass(module: Module, one: Pass, context: Context) -> Step:
    """One pass over a program; one that changes nothing gives the program itself."""
    log, begin = ChangeLog(), perf_counter()
    after = one.run(module, log, context)
    return Step(one.name, module, after if log.changes else module, log.changes, perf_counter() - begin)
