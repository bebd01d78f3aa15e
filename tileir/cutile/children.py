"""The target of this process, handed on to the Python processes that it starts.

Knows: the environment of a child: a variable with the choice, and a folder on its path from which Python runs a file as
it starts (`startup`). It is the one choice that travels in the environment, as a child has nothing else of its parent.
Does not know: what a child does with it (`inherited`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VARIABLE = "TILEIR_CUTILE"
"""The target, and whether CUDA is mapped to the CPU: ``cpu`` or ``cpu cuda-as-cpu``."""
AS_CPU = "cuda-as-cpu"
STARTUP = str(Path(__file__).parent / "startup")


@contextmanager
def handed_on(target: str, as_cpu: bool) -> Iterator[None]:
    """Children that start within the block do as this process does."""
    path = os.environ.get("PYTHONPATH")
    changes = {
        VARIABLE: f"{target} {AS_CPU}" if as_cpu else target,
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
