"""Direct launches on several threads run every tile block once, end when they are told to, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import tileir
from tileir.cache import shared_cache
from tileir.cpu.run import direct
from tileir.cpu.run.direct import direct_launcher
from tileir.cpu.run.execution import Runner
from tileir.cpu.run.seats import Helper, Semaphores

COUNT = """
entry @count(%a: tile<ptr<i32>>, %counts: tile<ptr<i32>>, %most: tile<i32>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %from = offset %counts, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %n, %t0 = load_ptr_tko weak %from : tile<ptr<i32>> -> tile<i32>, token
  %ok = cmpi less_than_or_equal %n, %most, signed : tile<i32> -> tile<i1>
  assert %ok, "too much" : tile<i1>
  %sum = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%s = %zero) -> (tile<i32>) {
    %u = xori %s, %i : tile<i32>
    %v = muli %u, %i : tile<i32>
    continue %v : tile<i32>
  }
  %to = offset %a, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %old, %t1 = load_ptr_tko weak %to : tile<ptr<i32>> -> tile<i32>, token
  %new = addi %old, %sum : tile<i32>
  %more = addi %new, %one : tile<i32>
  %t2 = store_ptr_tko weak %to, %more token = %t1 : tile<ptr<i32>>, tile<i32> -> token
}
"""
BLOCKS, WORK, MOST = 200, 2000, (1 << 30) - 1
LONG, SHORT = MOST, 10_000_000

pytestmark = pytest.mark.skipif(
    direct_launcher(shared_cache()) is None or direct_launcher(shared_cache())._semaphores is None,
    reason="there are no helpers of direct launches in this interpreter",
)


def steps(count: int) -> int:
    found = 0
    for index in range(count):
        found = (found ^ index) * index & 0xFFFFFFFF
    return found


def ready(threads: int = 2) -> tileir.Kernel:
    """A kernel that is launched directly on so many threads from now on."""
    kernel = tileir.parse(COUNT)["count"]
    counts = np.full(BLOCKS, WORK, np.int32)
    for _ in range(4):
        kernel.launch(BLOCKS, np.zeros(BLOCKS, np.int32), counts, MOST, threads=threads)
    return kernel


@contextmanager
def only_direct() -> Iterator[None]:
    """Has any launch fail that is not a direct one."""

    def refused(*_: object) -> None:
        raise AssertionError("the long way")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Runner, "run", refused)
        yield


@contextmanager
def alarm(handler: Callable[..., object], seconds: float = 0.05) -> Iterator[None]:
    """A signal, soon, that is handled by a function."""
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def run(kernel: tileir.Kernel, count: int = WORK, threads: int = 2) -> bool:
    """Whether a launch does what it is to do, each tile block once."""
    array, counts = np.zeros(BLOCKS, np.int32), np.full(BLOCKS, count, np.int32)
    kernel.launch(BLOCKS, array, counts, MOST, threads=threads)
    return bool((array.view(np.uint32) == (steps(count) + 1 & 0xFFFFFFFF)).all())


@pytest.mark.parametrize("threads", [2, 5])
def test_every_tile_block_is_run_once(threads):
    kernel = ready(threads)
    with only_direct():
        assert [number for number in range(50) if not run(kernel, WORK + number, threads)] == []


def test_helpers_take_part():
    seen, kernel = set(), ready()
    launcher = direct_launcher(shared_cache())
    with only_direct():
        for _ in range(200):
            run(kernel)
            seen.update(helper.arena.count for helper in launcher._helpers)
    assert any(0 < count < BLOCKS for count in seen)


def test_the_trap_of_the_first_tile_block_counts_whoever_runs_it():
    kernel, array = ready(), np.zeros(BLOCKS, np.int32)
    with only_direct():
        for number in range(100):
            counts = np.full(BLOCKS, WORK, np.int32)
            first = number * 7 % BLOCKS
            counts[first:] = MOST
            with pytest.raises(tileir.Trap, match="too much") as trap:
                kernel.launch(BLOCKS, array, counts, WORK, threads=2)
            assert trap.value.block == (first, 0, 0)
        assert run(kernel)


@pytest.mark.parametrize("counts", [(LONG, LONG), (SHORT, LONG), (LONG, SHORT)])
def test_an_interrupt_ends_all_threads(counts):
    kernel, array = ready(), np.zeros(2, np.int32)
    with only_direct():
        for _ in range(2):
            begin = time.monotonic()
            with pytest.raises(ZeroDivisionError), alarm(lambda *_: 1 // 0):
                kernel.launch(2, array, np.array(counts, np.int32), MOST, threads=2)
            assert not any(helper.at_work for helper in direct_launcher(shared_cache())._helpers)
            assert run(kernel) and time.monotonic() - begin < 60


def test_an_interrupt_before_python_can_look_is_survived(monkeypatch):
    """As where a signal comes when machine code has called, and a function is about to begin."""
    kernel, array = ready(), np.zeros(2, np.int32)
    launcher = direct_launcher(shared_cache())

    def interrupted(_: object) -> None:
        monkeypatch.undo()
        raise InterruptedError

    free = free_seats(launcher)
    monkeypatch.setattr(launcher, "helpers_of", interrupted)
    with pytest.raises(InterruptedError):
        kernel.launch(2, array, np.array((SHORT, LONG), np.int32), MOST, threads=2)
    assert not any(helper.at_work for helper in launcher._helpers)
    assert free_seats(launcher) == free and run(kernel)


def free_seats(launcher: direct.DirectLauncher) -> tuple[set[int], set[int]]:
    """The seats and helpers that are on the lists."""
    found = []
    for name, seats in (("seats", launcher._seats), ("helpers", launcher._helpers)):
        taken = []
        while (seat := launcher._popped(name, seats)) is not None:
            taken.append(seat)
        for seat in taken:
            launcher._push(launcher.table + direct.TABLE[name], seat.address)
        found.append({seat.address for seat in taken})
    return found[0], found[1]


def test_threads_launch_at_once():
    kernel, wrong = ready(), []

    def launches(count: int) -> None:
        wrong.extend(number for number in range(100) if not run(kernel, count))

    threads = [threading.Thread(target=launches, args=(500 * number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong and not any(thread.is_alive() for thread in threads)


def test_a_helper_that_is_given_up_ends_its_thread():
    launcher = direct_launcher(shared_cache())
    before = set(threading.enumerate())
    helper = launcher._new_helper(1 << 16)
    (thread,) = set(threading.enumerate()) - before
    launcher._helpers.remove(helper)
    helper.close()
    thread.join(30)
    assert isinstance(helper, Helper) and not thread.is_alive()


def test_a_process_may_end_while_threads_launch():
    code = f"""if True:
        import threading, time, numpy, tileir
        kernel = tileir.parse({COUNT!r})["count"]
        def launches(count=None):
            array, counts = numpy.zeros(64, numpy.int32), numpy.full(64, 20000, numpy.int32)
            while count is None or (count := count - 1) > 0:
                kernel.launch(64, array, counts, 20000, threads=2)
        launches(5)
        for _ in range(3):
            threading.Thread(target=launches, daemon=True).start()
        time.sleep(0.2)
    """
    done = subprocess.run([sys.executable, "-c", code], timeout=60, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_has_helpers_of_its_own():
    kernel = ready()
    child = os.fork()
    if not child:
        signal.alarm(30)
        fine = sum(run(kernel) for _ in range(4)) == 4
        with only_direct():
            fine = fine and sum(run(kernel) for _ in range(20)) == 20
        os._exit(0 if fine else 2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert run(kernel)


def test_without_semaphores_launches_with_helpers_go_the_long_way(monkeypatch):
    def refused(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(Semaphores, "made", refused)
    launcher = direct_launcher.__wrapped__(shared_cache())
    launcher.provide(1 << 16, 3)
    assert launcher._semaphores is None and not launcher._helpers
    assert not any(launcher._table[direct.TABLE[name] // 8] for name in ("helpers", *direct.SEMAPHORES))
