"""The choice of target of this process, handed on to the Python processes that it starts.

The environment of a child gets a variable with the choice, and a folder on its path with a file that Python runs at
startup (`startup`). No other choice travels in the environment; a child has nothing else of its parent.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tileir.frontend.child_findings import FindingsFolder
from tileir.runtime.options import Check, LaunchOptions

FRONT_ENDS = {"cutile": "cuda.tile", "triton": "triton"}
"""The front ends, and the library of each, whose import is the moment to enable it."""
STARTUP = str(Path(__file__).parent / "startup")

_AS_CPU = "cuda-as-cpu"
_CHECKS: dict[str, Check] = {"strict": "strict", "off": False}


@dataclass(frozen=True)
class Choice:
    """The choice of target for a front end's launches; from the options of the target, only limits."""

    target: str
    as_cpu: bool = False
    check: Check = True
    options: LaunchOptions = field(default_factory=LaunchOptions)
    sanitize: FindingsFolder | None = None
    """The destination of the sanitizer's findings; None without it."""

    def __str__(self) -> str:
        """The value of the variable: ``cpu``, ``cpu cuda-as-cpu``, ``cpu check=strict timeout=2.5``."""
        words = [self.target, *([_AS_CPU] if self.as_cpu else [])]
        words += [f"check={word}" for word, meant in _CHECKS.items() if meant == self.check]
        limits = {name: self.options.get(name) for name in ("timeout", "max_iterations")}
        words += [f"{name}={limit}" for name, limit in limits.items() if limit is not None]
        return " ".join([*words, *([] if self.sanitize is None else [f"sanitize={self.sanitize.word}"])])


def _variable(front_end: str) -> str:
    return f"TILEIR_{front_end.upper()}"


def inherited(front_end: str) -> Choice | None:
    """Return the choice of the parent process, if that is known."""
    target, *words = os.environ.get(_variable(front_end), "").split() or [""]
    said = {name: value for name, _, value in (word.partition("=") for word in words)}
    options: LaunchOptions = {}
    if "timeout" in said:
        options["timeout"] = float(said["timeout"])
    if "max_iterations" in said:
        options["max_iterations"] = int(said["max_iterations"])
    folder = FindingsFolder.of(said["sanitize"]) if "sanitize" in said else None
    choice = Choice(target, _AS_CPU in said, _CHECKS.get(said.get("check", ""), True), options, folder)
    return choice if target else None


@contextmanager
def exported_to_children(front_end: str, choice: Choice) -> Iterator[None]:
    """Hand the choice of this process on to children that start within the block."""
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
