"""Kernels that a test has compiled anew, as it changes something on which code depends and the key of code does not.

Knows: a cache that keeps nothing. Does not know: what the tests change. What all kernels share is compiled once for
this process, not for each kernel.
"""

from __future__ import annotations

from functools import cache

import pytest

from tileir.cache import Cache
from tileir.cpu.run.program import loaded_library
from tileir.runtime import native


def compile_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each kernel compiled at its first launch. To be called before anything else is replaced."""
    nothing = _nothing_kept()
    monkeypatch.setattr(native, "shared_cache", lambda: nothing)


@cache
def _nothing_kept() -> Cache:
    nothing = Cache(None)
    loaded_library(nothing)
    return nothing
