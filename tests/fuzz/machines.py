"""Engines for ``tileir fuzz --engines tests.fuzz.machines:NAME``: code for GPUs, executed without one.

The results of the tests' machines are compared with the interpreter's. Needs triton, and tinygrad for AMD's; without
them the engine is refused by name.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import cast

import numpy as np

from tests.differential import Outcome
from tileir.fuzz.comparing import LaunchResult
from tileir.fuzz.engines import Engine, Reference, difference_of
from tileir.runtime.module import Kernel

NEEDS = {"ttir": ("triton",), "hsaco": ("triton", "tinygrad")}
ARCHS = {"ttir": ("sm_80", "sm_90", "sm_100", "gfx942", "gfx1201"), "hsaco": ("gfx942", "gfx1100", "gfx1201")}
NAMES = {f"{machine}_{arch}": (machine, arch) for machine, archs in ARCHS.items() for arch in archs}


def __getattr__(name: str) -> Engine:
    """The engine with a name of `NAMES`. Raises AttributeError, also for one whose packages are missing."""
    if name not in NAMES:
        raise AttributeError(f"there are {', '.join(NAMES)}")
    machine, arch = NAMES[name]
    missing = [package for package in NEEDS[machine] if importlib.util.find_spec(package) is None]
    if missing:
        raise AttributeError(f"needs {missing[0]}")
    return lambda reference: _difference(reference, machine, arch)


def _difference(reference: Reference, machine: str, arch: str) -> str | None:
    (kernel,) = reference.module.kernels.values()
    found = _run(machine)(kernel, reference, arch)
    printed = tuple(sorted(found.printed.splitlines()))
    return difference_of(reference.result, LaunchResult(tuple(found.arrays), printed, found.trap))


def _run(machine: str) -> Callable[[Kernel, Reference, str], Outcome]:
    """Run on the arrays as they are, which are put back; TTIR is held to the order of all accesses."""
    if machine == "ttir":
        from tests.targets import ttir

        return lambda kernel, reference, arch: ttir.outcome(kernel, reference.trial.grid, _given(reference), arch, True)
    from tests.targets import hsaco

    return lambda kernel, reference, arch: hsaco.outcome(kernel, reference.trial.grid, _given(reference), arch)


def _given(reference: Reference) -> list[np.ndarray]:
    return cast("list[np.ndarray]", list(reference.trial.arguments))
