"""What a Python process does because its parent did: the choice of target that it finds in its environment.

Knows: when each part of the choice is made. Does not know: how the choice came there (`children`), nor who calls this
as a process starts (`startup`).
"""

from __future__ import annotations

import os

from tileir.cutile.as_cpu import cuda_as_cpu
from tileir.cutile.children import AS_CPU, VARIABLE
from tileir.cutile.importing import when_imported
from tileir.cutile.switch import enable


def take_up() -> None:
    """Do in this process, a child, what its parent did; nothing if that is not known."""
    target, _, rest = os.environ.get(VARIABLE, "").partition(" ")
    if target:
        if rest == AS_CPU:
            cuda_as_cpu()
        when_imported("cuda.tile", lambda module: _enable(target))


def _enable(target: str) -> None:
    enable(target, children=True)
