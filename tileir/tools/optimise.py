"""Optimisation as users ask for it: levels and passes by name, on whole programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tileir.ir import core
from tileir.ir.diagnostics import UnsupportedError
from tileir.passes import running
from tileir.passes.pipeline import LEVELS, PASSES, passes_of
from tileir.passes.running import Context, Pass, Watcher
from tileir.runtime.exact import evaluated
from tileir.runtime.module import Module, target_names

DEFAULT_LEVEL = 2


def optimize(
    module: core.Module,
    level: int = DEFAULT_LEVEL,
    *,
    passes: str | Sequence[str] | None = None,
    arguments: Mapping[str, int | float] | None = None,
    target: str | None = None,
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
    target : str or None
        Where the result will run, by the name that launches use. Level 2 for ``"cpu"`` has the pass ``raise`` too; all
        other levels and targets are alike.

    Returns
    -------
    Module
        The program, or `module` itself where there is nothing to change.

    Raises
    ------
    ValueError
        For a level, pass or target that there is not.
    DiagnosticError
        If the program is not valid.
    UnsupportedError
        For regions that are nested too deeply.
    """
    return watched(module, level, passes=passes, arguments=arguments, target=target)


def watched(
    module: core.Module,
    level: int = DEFAULT_LEVEL,
    *,
    passes: str | Sequence[str] | None = None,
    arguments: Mapping[str, int | float] | None = None,
    target: str | None = None,
    watch: Watcher | None = None,
) -> Module:
    """Optimise like `optimize`, calling `watch` after every step."""
    chosen = _chosen(level, passes, target)
    given = Module.of(module)
    given.require_valid()
    context = Context(evaluated, dict(arguments or {}))
    try:
        return Module.of(running.run(given, chosen, context, watch, once=passes is not None))
    except RecursionError:
        raise UnsupportedError("regions nested this deeply", "optimiser", given.op.loc) from None


def _chosen(level: int, passes: str | Sequence[str] | None, target: str | None) -> Sequence[Pass]:
    """Return the passes to run. Raises ValueError."""
    if target is not None and target not in target_names():
        raise ValueError(f"target: expected one of {', '.join(target_names())}, got {target!r}")
    if passes is None:
        if level not in range(len(LEVELS)):
            raise ValueError(f"level: expected 0 to {len(LEVELS) - 1}, got {level!r}")
        return [PASSES[name] for name in passes_of(level, target)]
    names = [name.strip() for name in passes.split(",")] if isinstance(passes, str) else list(passes)
    unknown = [name for name in names if name not in PASSES]
    if unknown:
        raise ValueError(f"passes: expected some of {', '.join(PASSES)}, got {', '.join(map(repr, unknown))}")
    return [PASSES[name] for name in names]
