"""Streams and events on which all work is finished when a call returns, and the capture of what happens on a stream."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, NoReturn

from tileir.ir.diagnostics import UnsupportedError

if TYPE_CHECKING:
    import torch

Step = Callable[[], object]

capture: ContextVar[list[Step] | None] = ContextVar("capture", default=None)
"""The steps so far of the CUDA graph that this thread captures; None if it captures none."""


class Stream:
    """A stream without a queue."""

    null: Stream
    cuda_stream = 0
    ptr = 0
    handle = 0

    def __init__(self, *args: object, **kwargs: object) -> None:
        """Accept the arguments of CUDA's streams: device, priority, non-blocking."""

    @property
    def device(self) -> torch.device:
        import torch

        return torch.device("cpu")

    def synchronize(self) -> None:
        """Do nothing, as nothing is ever pending."""

    sync = synchronize

    def close(self) -> None:
        """Do nothing, as a stream holds nothing."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return the version of the protocol, and CUDA's default stream."""
        return (0, 0)

    def use(self) -> Stream:
        return self

    @property
    def done(self) -> bool:
        return True

    def begin_capture(self, mode: object = None) -> NoReturn:
        what = "cupy.cuda.Stream.begin_capture: launches and NumPy's work run at once, and are not recorded"
        raise UnsupportedError(what, "CUDA as CPU")

    def wait_stream(self, stream: object) -> None:
        """Do nothing, as nothing is ever pending."""

    def wait_event(self, event: object) -> None:
        """Do nothing, as nothing is ever pending."""

    def record_event(self, event: Event | None = None) -> Event:
        event = Event() if event is None else event
        event.record(self)
        return event

    def query(self) -> bool:
        return True

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        """Leave errors to the caller."""


Stream.null = Stream()


class Event:
    """A moment. `enable_timing` and its kin make no difference: the time is always kept."""

    done = True

    def __init__(self, *args: object, **kwargs: object) -> None:
        self._at = time.perf_counter()

    def record(self, stream: object = None) -> None:
        self._at = time.perf_counter()

    def synchronize(self) -> None:
        """Do nothing, as the moment has passed."""

    def wait(self, stream: object = None) -> None:
        """Do nothing, as the moment has passed."""

    def query(self) -> bool:
        return True

    def elapsed_time(self, end: Event) -> float:
        """Return milliseconds."""
        return (end._at - self._at) * 1e3


def synchronize(device: object = None) -> None:
    """Do nothing, as nothing is ever pending."""
