"""What a Python process does because its parent did.

Knows: when each part of the parent's choice is made. Does not know: how the choice came here (`children`), nor who
calls this as a process starts (`startup`).
"""

from __future__ import annotations

from tileir.cuda_as_cpu import cuda_as_cpu
from tileir.cuda_as_cpu.patching import when_imported
from tileir.cutile.children import Choice, inherited
from tileir.cutile.switch import enable


def take_up() -> None:
    """Do in this process, a child, what its parent did; nothing if that is not known."""
    choice = inherited()
    if choice is not None:
        if choice.as_cpu:
            cuda_as_cpu()
        when_imported("cuda.tile", lambda module: _enable(choice))


def _enable(choice: Choice) -> None:
    sanitize = choice.sanitize or False
    enable(choice.target, children=True, sanitize=sanitize, check=choice.check, **choice.options)
