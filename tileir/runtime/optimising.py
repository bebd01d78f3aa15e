"""Optimisation as users ask for it: levels and passes by name, on whole programs.

Knows: that folding is done by the interpreter's rules. Does not know: any rewrite (`passes`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tileir.ir import core
from tileir.ir.core import Op
from tileir.ir.diagnostics import UnsupportedError
from tileir.passes import pipeline
from tileir.passes.pipeline import LEVELS, PASSES, Context, Watcher
from tileir.runtime.module import Module

DEFAULT_LEVEL = 2


def optimize(
    module: core.Module,
    level: int = DEFAULT_LEVEL,
    *,
    passes: str | Sequence[str] | None = None,
    arguments: Mapping[str, int | float] | None = None,
) -> Module:
    """Make a program that does what another does, with fewer operations.

    Parameters
    ----------
    module : Module
        The program, which stays as it is.
    level : int
        0 (nothing) to 3.
    passes : str, sequence of str, or None
        Names of passes instead of a level, in order, as a list or ``"canonicalise,dce"``; each is run once.
    arguments : mapping or None
        Scalar arguments by parameter name for which alone the result is made (pass ``specialise``).

    Returns
    -------
    Module
        The program, or `module` itself where there is nothing to change.

    Raises
    ------
    ValueError
        For a level or pass that there is not.
    DiagnosticError
        If the program is not valid.
    UnsupportedError
        For regions that are nested too deeply.
    """
    return watched(module, level, passes=passes, arguments=arguments)


def watched(
    module: core.Module,
    level: int = DEFAULT_LEVEL,
    *,
    passes: str | Sequence[str] | None = None,
    arguments: Mapping[str, int | float] | None = None,
    watch: Watcher | None = None,
) -> Module:
    """As `optimize`; `watch` is told of every step."""
    names = _names(level, passes)
    given = Module.of(module)
    given.require_valid()
    context = Context(evaluated, dict(arguments or {}))
    try:
        return Module.of(pipeline.run(given, names, context, watch, once=passes is not None))
    except RecursionError:
        raise UnsupportedError("regions nested this deeply", "optimiser", given.op.loc) from None


def _names(level: int, passes: str | Sequence[str] | None) -> Sequence[str]:
    """The passes to run. Raises ValueError."""
    if passes is None:
        if level not in range(len(LEVELS)):
            raise ValueError(f"level: expected 0 to {len(LEVELS) - 1}, got {level!r}")
        return LEVELS[level]
    names = [name.strip() for name in passes.split(",")] if isinstance(passes, str) else list(passes)
    unknown = [name for name in names if name not in PASSES]
    if unknown:
        raise ValueError(f"passes: expected some of {', '.join(PASSES)}, got {', '.join(map(repr, unknown))}")
    return names


def evaluated(op: Op, operands: Sequence[np.ndarray]) -> Sequence[np.ndarray] | None:
    """The interpreter's results of an operation; its rules are loaded when the first constant is folded."""
    from tileir.interp.evaluation import evaluated as by_interpreter

    return by_interpreter(op, operands)
