"""One round: threads that launch, and what befalls the main thread meanwhile."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from random import Random

from tests.fuzz.launching import kernels
from tests.fuzz.launching.kernels import Launch, stays

THREADS = 7
"""Threads that launch beside the main one."""
SPAWN_EVERY = 100
PATIENCE = 5.0
"""Seconds after which an interrupt counts as lost."""
LONGEST_CHILD = 60.0
DROPPED: list[str] = []
"""Places where Python itself has dropped an interrupt, while it destroyed an object."""


def note_dropped(unraisable: object) -> None:
    """To be the `sys.unraisablehook`."""
    if unraisable.exc_type is KeyboardInterrupt:  # type: ignore[attr-defined]
        DROPPED.append(str(unraisable.object))  # type: ignore[attr-defined]


def run_round(seed: int) -> list[str]:
    """Return the failures in the round of that seed."""
    random, wrong = Random(seed), []
    threads = [threading.Thread(target=_launches, args=(Random(f"{seed} {n}"), wrong)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            _attempt(wrong, lambda: _something_happens(random, seed))
            _attempt(wrong, lambda: kernels.right(random))
    finally:
        for thread in threads:
            thread.join()
    _attempt(wrong, lambda: kernels.right(random))
    return wrong


def _launches(random: Random, wrong: list[str]) -> None:
    for _ in range(random.randrange(2, 8)):
        _attempt(wrong, lambda: kernels.right(random))


def _attempt(wrong: list[str], action: Callable[[], object]) -> None:
    try:
        action()
    except BaseException as error:
        wrong.append(f"{type(error).__name__}: {error}")


def _something_happens(random: Random, seed: int) -> None:
    if seed % SPAWN_EVERY == 0 and random.random() < 0.3:
        _spawned(random.randrange(1 << 30))
    elif random.random() < 0.2:
        _forked(random)
    else:
        make = random.choice((kernels.endless, kernels.endless, kernels.often, kernels.compiles))
        _interrupted(*make(random), random.uniform(0, 0.05), 1 if random.random() < 0.8 else 2)


def _interrupted(launch: Launch, array: object, delay: float, times: int) -> None:
    """Interrupt a launch after a while, perhaps twice in a row; it must end, and leave its array alone."""
    ended: list[bool] = []  # an event is unusable after an interrupt within its own code
    lost: list[bool] = []
    dropped = len(DROPPED)

    def interrupt() -> None:
        time.sleep(delay)
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGINT)
        due = time.monotonic() + PATIENCE
        while not ended:
            time.sleep(2e-3)
            if time.monotonic() > due:
                lost.append(True)
                os.kill(os.getpid(), signal.SIGINT)
                due += PATIENCE

    sender = threading.Thread(target=interrupt)
    try:
        try:
            sender.start()
            launch()
        finally:
            stays(array)
            ended.append(True)
    except KeyboardInterrupt:
        pass
    while True:
        try:
            ended.append(True)
            sender.join()
            time.sleep(0)  # what was sent is handled here at last
            break
        except KeyboardInterrupt:
            continue
    assert not lost or len(DROPPED) > dropped, "an interrupt was lost"


def _forked(random: Random) -> None:
    """A child of this process, whose other threads it does not have, launches too."""
    number = random.randrange(1 << 30)
    child = os.fork()
    if not child:
        os._exit(_status(number))
    end = time.monotonic() + LONGEST_CHILD
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0, f"a forked child ended with {os.waitstatus_to_exitcode(status)}"
            return
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError("a forked child hangs")
        time.sleep(1e-3)


def _status(seed: int) -> int:
    try:
        random = Random(seed)
        for _ in range(4):
            kernels.right(random)
    except BaseException:
        return 1
    return 0


def _spawned(seed: int) -> None:
    """A worker that starts from nothing is handed a kernel."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        worked = pool.submit(_work, kernels.kernel(kernels.BLOCKS), seed).result(timeout=LONGEST_CHILD)
        assert worked == [1] * 20, "a spawned worker got it wrong"


def _work(kernel: object, seed: int) -> list[int]:
    import numpy as np

    out = np.zeros(20, np.int32)
    kernel.launch(20, out)  # type: ignore[attr-defined]
    return out.tolist()
