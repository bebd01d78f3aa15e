"""What a Python process does because its parent did.

Knows: when each part of the parent's choice is made. Does not know: how the choice came here (`children`), nor who
calls this as a process starts (`startup`).
"""

from __future__ import annotations

from importlib import import_module

from tileir.cuda_as_cpu import cuda_as_cpu
from tileir.cuda_as_cpu.patching import when_imported
from tileir.frontend.children import FRONT_ENDS, Choice, inherited


def take_up() -> None:
    """Do in this process, a child, what its parent did; nothing if that is not known."""
    for front_end, library in FRONT_ENDS.items():
        choice = inherited(front_end)
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
