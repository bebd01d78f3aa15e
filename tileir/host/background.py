"""Long calls into libraries that an interrupt does not wait for.

Python handles signals only on the main thread, between its own steps, and an exception may interrupt any Python code
there, also inside a library that holds a lock. So the call runs on a thread of its own, and the main one is free to
handle signals.
"""

from __future__ import annotations

import _thread
import atexit
import os
import threading
from collections.abc import Callable
from functools import cache
from typing import Generic, TypeVar

T = TypeVar("T")

PERIOD = 0.05
"""Seconds between two looks for a signal, where a waiting thread does not wake up for one."""


@cache
def _turn() -> _thread.LockType:
    """Return the lock held by the running call: abandoned calls must not pile up."""
    return _thread.allocate_lock()


# The process must not take libraries apart while a call is inside one.
atexit.register(lambda: _turn().acquire())
if hasattr(os, "register_at_fork"):
    # A child has none of the threads that could hold it.
    os.register_at_fork(after_in_child=_turn.cache_clear)


def in_background(function: Callable[[], T]) -> T:
    """Return the result of `function`; raises what it raises.

    An interrupt is raised here at once. A call that has begun goes on to its end meanwhile, as nothing can stop it, and
    Python does not exit before; its result is dropped.
    """
    if threading.get_ident() != threading.main_thread().ident:
        return function()
    call = _Call(function)
    try:
        _thread.start_new_thread(call.run, ())
        while not call.done.acquire(timeout=PERIOD):
            pass
    except BaseException:
        call.wanted = False
        raise
    if call.error is not None:
        raise call.error
    return call.results[0]


def is_busy() -> bool:
    """Return whether a call is running."""
    return _turn().locked()


class _Call(Generic[T]):
    """A call, and what came of it.

    Its locks are plain ones: an interrupt in the Python code of an event or a thread would leave that unusable.
    """

    def __init__(self, function: Callable[[], T]) -> None:
        self._function = function
        self.done = _thread.allocate_lock()
        self.done.acquire()
        self.wanted = True
        self.results: list[T] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            with _turn():
                if self.wanted:
                    self.results.append(self._function())
        except BaseException as error:
            self.error = error
        finally:
            self.done.release()
