"""The times of the stages in which a kernel becomes code, for whoever asks to be told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter

Tell = Callable[[str, Mapping[str, float]], object]
"""Is told a kernel and the seconds of its stages, in order."""

_tell: ContextVar[Tell | None] = ContextVar("tell", default=None)
_times: ContextVar[dict[str, float] | None] = ContextVar("times", default=None)


@contextmanager
def telling(listener: Tell) -> Iterator[None]:
    """Tell `listener` of the kernels that this thread makes within the block."""
    token = _tell.set(listener)
    try:
        yield
    finally:
        _tell.reset(token)


def tell(kernel: str, times: Mapping[str, float]) -> None:
    """Tell of stages that have been measured, if anyone listens and there are any."""
    listener = _tell.get()
    if listener is not None and times:
        listener(kernel, times)


@contextmanager
def first_call(kernel: str) -> Iterator[None]:
    """Measure the stages within the block, and tell of them at its end."""
    if _tell.get() is None:
        yield
        return
    times: dict[str, float] = {}
    token = _times.set(times)
    try:
        yield
    finally:
        _times.reset(token)
    tell(kernel, times)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Measure a stage of the kernel that is being made."""
    times = _times.get()
    if times is None:
        yield
        return
    begin = perf_counter()
    try:
        yield
    finally:
        times[name] = times.get(name, 0.0) + perf_counter() - begin
