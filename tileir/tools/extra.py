"""Packages that only some tools need: the extra ``tools``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.usage import pip_install


@contextmanager
def extra(tool: str, *packages: str) -> Iterator[None]:
    """Import packages of a tool inside the block. Raises `UnsupportedError` where one of them is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in packages:
            raise
        raise UnsupportedError(f"{tool} needs {error.name}: {pip_install('tools')}", "tools") from None
