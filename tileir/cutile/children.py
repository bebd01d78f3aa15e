"""The target of this process, handed on to the Python processes that it starts.

Knows: the environment of a child: a variable with the choice, and a folder on its path from which Python runs a file as
it starts (`startup`). It is the one choice that travels in the environment, as a child has nothing else of its parent.
Does not know: what the choice switches on (`switch`, `as_cpu`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tileir.cutile.as_cpu import cuda_as_cpu
from tileir.cutile.importing import when_imported
from tileir.cutile.switch import enable
from tileir.runtime.options import Check, LaunchOptions

VARIABLE = "TILEIR_CUTILE"
"""The target, and what else is chosen: ``cpu``, ``cpu cuda-as-cpu``, ``cpu check=strict timeout=2.5``."""
AS_CPU, CHECK, TIMEOUT, MAX_ITERATIONS = "cuda-as-cpu", "check", "timeout", "max_iterations"
_CHECKS: dict[str, Check] = {"strict": "strict", "off": False}
STARTUP = str(Path(__file__).parent / "startup")


@contextmanager
def handed_on(target: str, as_cpu: bool, check: Check = True, limits: LaunchOptions | None = None) -> Iterator[None]:
    """Children that start within the block do as this process does; `limits` are a timeout and iterations."""
    path = os.environ.get("PYTHONPATH")
    changes = {
        VARIABLE: " ".join(_words(target, as_cpu, check, limits or {})),
        "PYTHONPATH": os.pathsep.join([STARTUP, *([path] if path else [])]),
    }
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def take_up() -> None:
    """Do in this process, a child, what its parent did; nothing if that is not known."""
    target, *words = os.environ.get(VARIABLE, "").split() or [""]
    if target:
        chosen = {name: value for name, _, value in (word.partition("=") for word in words)}
        if AS_CPU in chosen:
            cuda_as_cpu()
        when_imported("cuda.tile", lambda module: _enable(target, chosen))


def _words(target: str, as_cpu: bool, check: Check, limits: LaunchOptions) -> Iterator[str]:
    yield target
    if as_cpu:
        yield AS_CPU
    yield from (f"{CHECK}={word}" for word, meant in _CHECKS.items() if meant == check)
    yield from (f"{name}={value}" for name, value in limits.items())


def _enable(target: str, chosen: Mapping[str, str]) -> None:
    limits: LaunchOptions = {}
    if TIMEOUT in chosen:
        limits["timeout"] = float(chosen[TIMEOUT])
    if MAX_ITERATIONS in chosen:
        limits["max_iterations"] = int(chosen[MAX_ITERATIONS])
    enable(target, check=_CHECKS.get(chosen.get(CHECK, ""), True), **limits)
