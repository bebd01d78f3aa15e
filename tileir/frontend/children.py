"""The choice of target of this process, handed on to the Python processes that it starts, and taken up there.

A child finds in its environment a variable with the choice, and a folder on its path from which Python runs a file as
it starts (`startup`). It is the one choice that travels in the environment, as a child has nothing else of its parent.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from tileir.cuda_as_cpu import cuda_as_cpu
from tileir.cuda_as_cpu.patching import when_imported
from tileir.frontend.child_findings import ChildFindings
from tileir.runtime.options import Check, LaunchOptions

FRONT_ENDS = {"cutile": "cuda.tile", "triton": "triton"}
"""The front ends, and the library of each, whose import is the moment to enable it."""
STARTUP = str(Path(__file__).parent / "startup")

_AS_CPU = "cuda-as-cpu"
_CHECKS: dict[str, Check] = {"strict": "strict", "off": False}


@dataclass(frozen=True)
class Choice:
    """What a process does with the launches of a front end; of the options of the target, its limits."""

    target: str
    as_cpu: bool = False
    check: Check = True
    options: LaunchOptions = field(default_factory=LaunchOptions)
    sanitize: ChildFindings | None = None
    """Where to hand what the sanitizer finds; None without it."""

    def __str__(self) -> str:
        """The value of the variable: ``cpu``, ``cpu cuda-as-cpu``, ``cpu check=strict timeout=2.5``."""
        words = [self.target, *([_AS_CPU] if self.as_cpu else [])]
        words += [f"check={word}" for word, meant in _CHECKS.items() if meant == self.check]
        limits = {name: self.options.get(name) for name in ("timeout", "max_iterations")}
        words += [f"{name}={limit}" for name, limit in limits.items() if limit is not None]
        return " ".join([*words, *([] if self.sanitize is None else [f"sanitize={self.sanitize.word}"])])


def _variable(front_end: str) -> str:
    return f"TILEIR_{front_end.upper()}"


def choice_of_parent(front_end: str) -> Choice | None:
    """The choice of the parent process, if that is known."""
    target, *words = os.environ.get(_variable(front_end), "").split() or [""]
    said = {name: value for name, _, value in (word.partition("=") for word in words)}
    options: LaunchOptions = {}
    if "timeout" in said:
        options["timeout"] = float(said["timeout"])
    if "max_iterations" in said:
        options["max_iterations"] = int(said["max_iterations"])
    child_findings = ChildFindings.of(said["sanitize"]) if "sanitize" in said else None
    choice = Choice(target, _AS_CPU in said, _CHECKS.get(said.get("check", ""), True), options, child_findings)
    return choice if target else None


@contextmanager
def handed_on(front_end: str, choice: Choice) -> Iterator[None]:
    """Children that start within the block do as this process does."""
    path = os.environ.get("PYTHONPATH")
    changes = {_variable(front_end): str(choice), "PYTHONPATH": os.pathsep.join([STARTUP, *([path] if path else [])])}
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
    for front_end, library in FRONT_ENDS.items():
        choice = choice_of_parent(front_end)
        if choice is not None:
            _take_up(front_end, library, choice)


def _take_up(front_end: str, library: str, choice: Choice) -> None:
    if choice.as_cpu:
        cuda_as_cpu()

    def enable(module: object) -> None:
        switch = import_module(f"tileir.{front_end}.switch")
        sanitize = choice.sanitize or False
        switch.enable(choice.target, children=True, sanitize=sanitize, check=choice.check, **choice.options)

    when_imported(library, enable)
