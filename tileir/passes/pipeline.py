"""All passes by name, and the order in which a level runs them.

Passes run one after the other in `running`.
"""

from __future__ import annotations

from tileir.ir.core import Module, Op
from tileir.ops.calls import Call
from tileir.ops.control import For
from tileir.ops.floating import MulF
from tileir.ops.pointers import LoadPtr, StorePtr
from tileir.ops.views import MakeTensorView
from tileir.passes import canonicalise, control, gathering, inferring, raising, redundancy, relaxing, specialising
from tileir.passes.rebuilding import ChangeLog
from tileir.passes.running import (
    CANONICALISE,
    CONTROL,
    CSE,
    DCE,
    LICM,
    LOOPS,
    ONE_TURN,
    Context,
    Pass,
    copying,
    folding,
    plain,
)


def _specialised(module: Module, log: ChangeLog, context: Context) -> Module:
    if not context.arguments:
        return module
    return specialising.Specialising(log, context.arguments).module(module)


_CALLS: frozenset[type[Op]] = frozenset({Call})

_ALL = (
    Pass("specialise", "parameters with known arguments become constants", specialising.ROWS, _specialised),
    Pass("inline", "calls become what the function does", specialising.INLINE_ROWS,
         copying(specialising.Inlining), _CALLS),
    Pass("fold", "operations on constants are computed", canonicalise.FOLD_ROWS, folding(canonicalise.Folding)),
    CANONICALISE,
    CONTROL,
    ONE_TURN,
    CSE,
    DCE,
    LICM,
    Pass("unroll", "small loops of known length become their iterations", control.UNROLL_ROWS,
         copying(control.Unrolling), LOOPS),
    Pass("loop-split", "loops that test their counter become two without the test", control.SPLIT_ROWS,
         copying(control.Splitting), frozenset({For})),
    Pass("forward", "values come from accesses before; stores that are overwritten are left out",
         redundancy.FORWARD_ROWS, plain(redundancy.Forwarding)),
    Pass("raise", "accesses through tiles of pointers go through views", raising.ROWS, copying(raising.Raising),
         frozenset({LoadPtr, StorePtr})),
    Pass("raise-gathers", "rows that an index tile names go through gather views, in the language from 13.3 on",
         gathering.ROWS, copying(gathering.RaisingGathers), frozenset({LoadPtr, StorePtr})),
    Pass("relax", "tokens order only accesses that need it", relaxing.ROWS, copying(relaxing.Relaxing)),
    Pass("infer", "overflow flags and static extents that follow are written down", inferring.ROWS,
         copying(inferring.Inferring)),
    Pass("infer-assume", "what is known of addresses, extents and strides is promised to the compiler behind",
         inferring.ASSUME_ROWS, copying(inferring.InferringAssume), frozenset({MakeTensorView})),
    Pass("infer-inbounds", "tiles that lie inside the tensor say so, in the language from 13.4 on",
         inferring.INBOUNDS_ROWS, copying(inferring.InferringInbounds)),
    Pass("fuse-fma", "products and sums are rounded once; changes results", canonicalise.FUSE_ROWS,
         copying(canonicalise.Fusing), frozenset({MulF})),
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
_EARLIER: dict[str, dict[int, tuple[str, ...]]] = {"cpu": {2: (*_SECOND[:-1], "raise", "dce")}}
"""Levels that a target has passes in which others have one level higher: native code gains from views whatever the
kernel, while machine code of GPUs for row kernels grows."""


def passes_of(level: int, target: str | None = None) -> tuple[str, ...]:
    """Return the names of a level's passes, for a target or for none in particular."""
    return _EARLIER.get(target or "", {}).get(level, LEVELS[level])
