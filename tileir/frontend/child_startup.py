"""Setting up a Python process as its parent is set up.

`children` hands the parent's choice on, and `startup` calls this module when a process starts.
"""

from __future__ import annotations

from importlib import import_module

from tileir.cuda_as_cpu import cuda_as_cpu
from tileir.frontend.children import FRONT_ENDS, Choice, inherited
from tileir.host.patching import when_imported


def take_up() -> None:
    """Apply the parent's choice in this child process; do nothing if there is none."""
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
