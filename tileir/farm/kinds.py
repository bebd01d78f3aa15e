"""The kinds of jobs.

The module of a function is imported by the process that needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from tileir.farm.job import Json, WorkResult

Work = Callable[[dict[str, Json], bytes], WorkResult]

KINDS = {
    "launch": ("tileir.farm.launching", "launched"),
    "fuzz": ("tileir.fuzz.jobs", "of_seed"),
    "tune-space": ("tileir.tune.jobs", "spaced"),
    "tune-check": ("tileir.tune.jobs", "checked"),
    "tune-race": ("tileir.tune.jobs", "raced"),
    "differential": ("tileir.fuzz.jobs", "of_program"),
}
"""Kind -> (module, function of the spec and the content)."""
PREPARED = {"launch": ("tileir.farm.launching", "prepare")}
"""Kind -> (module, function of the spec of some job and the content)."""


def preparation_of(kind: str) -> Callable[[dict[str, Json], bytes], None] | None:
    """Return the function that makes ready what jobs of a kind on one content begin with; None for kinds without."""
    if kind not in PREPARED:
        return None
    module, name = PREPARED[kind]
    prepare: Callable[[dict[str, Json], bytes], None] = getattr(import_module(module), name)
    return prepare


def work_of(kind: str) -> Work:
    """Return the function of a kind. Raises ValueError with the kinds there are."""
    if kind not in KINDS:
        raise ValueError(f"no kind of job '{kind}'; there are {', '.join(KINDS)}")
    module, name = KINDS[kind]
    work: Work = getattr(import_module(module), name)
    return work
