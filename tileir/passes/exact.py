"""The passes that launches run: what they do to a program is exact, faults of a run included.

Knows: which they are. Does not know: what else there is (`pipeline`), so that little is loaded for a launch.
"""

from __future__ import annotations

from tileir.ir.core import Op
from tileir.ops.control import For, If, Loop
from tileir.passes import branches, canonicalise, dropping, hoisting, sharing
from tileir.passes.row import Aspect
from tileir.passes.running import Pass, folding, plain

LOOPS: frozenset[type[Op]] = frozenset({For, Loop})

CANONICALISE = Pass(
    "canonicalise", "operations in their simplest form; folds too", canonicalise.ROWS,
    folding(canonicalise.Canonicalise), looks_at=Aspect.CODE, settles=True,
)  # fmt: skip
CONTROL = Pass(
    "control", "known branches, choices between values, loops that run once", branches.ROWS,
    plain(branches.Branches), LOOPS | {If}, Aspect.CODE | Aspect.USES,
)  # fmt: skip
CSE = Pass(
    "cse", "repeated operations become one", sharing.ROWS, plain(sharing.Sharing),
    looks_at=Aspect.CODE | Aspect.PLACE, settles=True,
)  # fmt: skip
DCE = Pass("dce", "what nobody can see is left out", dropping.ROWS, plain(dropping.Dropping), looks_at=Aspect.CODE)
LICM = Pass(
    "licm", "what does not change is computed before a loop", hoisting.ROWS, plain(hoisting.Hoisting), LOOPS,
    Aspect.CODE, settles=True,
)  # fmt: skip
EXACT = (CANONICALISE, CONTROL, CSE, LICM, DCE)
"""Those of level 2 that have exact rows and keep every operation at a place of its own: a call stays a call."""
