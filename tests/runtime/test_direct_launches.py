"""Launches that the optional extension does give the same results, errors and traps as those in Python."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

import tileir
from tileir.cpu.run import execution
from tileir.runtime.native import NativeRun

needs_extension = pytest.mark.skipif(execution.Launcher is None, reason="built without a C compiler")
PUT = """
entry @put(%out: tile<ptr<i32>>, %n: tile<i32>, %f: tile<f32>, %w: tile<i64>, %b: tile<i8>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %at = offset %out, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %small = exti %b signed : tile<i8> -> tile<i32>
  %low = trunci %w : tile<i64> -> tile<i32>
  %whole = ftoi %f signed : tile<f32> -> tile<i32>
  %s0 = addi %n, %small : tile<i32>
  %s1 = addi %s0, %low : tile<i32>
  %s2 = addi %s1, %whole : tile<i32>
  %s3 = addi %s2, %x : tile<i32>
  %t = store_ptr_tko weak %at, %s3 : tile<ptr<i32>>, tile<i32> -> token
  return
}
"""
LOOP = """
entry @loop(%p: tile<ptr<i32>>, %n: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  for %i in (%zero to %n, step %one) : tile<i32> {
    %v, %t = load_ptr_tko relaxed device %p : tile<ptr<i32>> -> tile<i32>, token
    %u = store_ptr_tko relaxed device %p, %i token=%t : tile<ptr<i32>>, tile<i32> -> token
  }
  return
}
"""


def direct_of(kernel: tileir.Kernel) -> NativeRun:
    _, run = kernel.ready["cpu", True]
    assert isinstance(run, NativeRun)
    return run


def ready_kernel() -> tileir.Kernel:
    """A kernel that has been launched often enough to be launched directly."""
    kernel = tileir.parse(PUT)["put"]
    for _ in range(3):
        kernel.launch(1, np.zeros(1, np.int32), 0, 0.0, 0, 0)
    return kernel


@needs_extension
def test_launches_with_a_number_of_threads_stay_ready() -> None:
    kernel, found = tileir.parse(PUT)["put"], np.zeros(1, np.int32)
    for _ in range(2):
        kernel.launch(1, found, 7, 0.0, 0, 0, threads=1)
    _, run = kernel.ready["cpu", True, ("threads", int, 1)]
    assert isinstance(run, NativeRun) and run.direct(1, (found, 8, 0.0, 0, 0)) and found[0] == 8
    for wrong in (True, 0, "1"):
        with pytest.raises((TypeError, ValueError), match="threads"):
            kernel.launch(1, found, 7, 0.0, 0, 0, threads=wrong)
    kernel.launch(1, found, 9, 0.0, 0, 0, threads=1, timeout=10.0)
    assert found[0] == 9 and len(kernel.ready) == 1


@needs_extension
@pytest.mark.parametrize("grid", [4, (4,), (2, 1), (3, 1, 1), (1, 2, 3)])
@pytest.mark.parametrize("values", [(5, 2.5, -7, -1), (-(2**31), -3.0, 2**62, 127), (2**31 - 1, 0.0, 2**63 - 1, -128)])
def test_plain_values_are_launched_directly_with_the_same_result(grid, values) -> None:
    kernel = ready_kernel()
    found, expected = (np.full(4, -9, np.int32) for _ in range(2))
    try:
        assert direct_of(kernel).direct(grid, (found, *values))
    except AssertionError:
        assert values[2] > 2**63 - 1, "only a number beyond i64 is left to Python"
        kernel.launch(grid, found, *values)
    kernel.launch(grid, expected, *values, target="interp")
    assert found.tolist() == expected.tolist()


@needs_extension
@pytest.mark.parametrize("grid", [0, -1, (), (1, 1, 1, 1), 1.0, True, "1", None, 1 << 24, (1 << 24, 1), [4]], ids=str)
def test_other_grids_are_left_to_python(grid) -> None:
    kernel = ready_kernel()
    assert not direct_of(kernel).direct(grid, (np.zeros(4, np.int32), 0, 0.0, 0, 0))


class Number(int):
    pass


class Array(np.ndarray):
    pass


@needs_extension
@pytest.mark.parametrize(
    ("position", "value"),
    [
        (0, np.zeros(4, np.float32)),
        (0, np.zeros(4, ">i4")),
        (0, np.zeros(8, np.int32)[::2]),
        (0, np.zeros(0, np.int32)),
        (0, np.zeros(4, np.int32).view(Array)),
        (0, np.frombuffer(bytes(16), np.int32)),
        (0, [1, 2]),
        (0, None),
        (1, True),
        (1, Number(3)),
        (1, 1 << 32),
        (1, -(1 << 31) - 1),
        (1, 1 << 70),
        (1, np.int32(1)),
        (1, 1.0),
        (2, 1),
        (2, float("inf")),
        (2, float("nan")),
        (2, 1e39),
    ],
    ids=str,
)
def test_other_values_are_left_to_python(position, value) -> None:
    kernel = ready_kernel()
    values = [np.zeros(4, np.int32), 0, 0.0, 0, 0]
    values[position] = value
    assert not direct_of(kernel).direct(1, tuple(values))
    assert not direct_of(kernel).direct(1, tuple(values[:-1]))
    assert not direct_of(kernel).direct(1, values)
    assert sys.exc_info() == (None, None, None)


@needs_extension
def test_tensors_are_launched_directly_once_torch_is_there() -> None:
    torch = pytest.importorskip("torch")
    kernel = ready_kernel()
    plain = torch.zeros(4, dtype=torch.int32)
    assert direct_of(kernel).direct(1, (plain, 3, 1.0, 2, 1))
    assert plain.tolist() == [7, 0, 0, 0]
    needy = torch.zeros(4, requires_grad=True)
    kinds = [torch.zeros(8, dtype=torch.int32)[::2], torch.zeros(4), needy, torch.zeros(0, dtype=torch.int32)]
    for other in [*kinds, torch.zeros(4, dtype=torch.int32, device="meta")]:
        assert not direct_of(kernel).direct(1, (other, 0, 0.0, 0, 0))


@needs_extension
def test_a_trap_is_told_as_ever_and_the_next_launch_is_right() -> None:
    kernel, out = ready_kernel(), np.zeros(4, np.int32)
    messages = []
    for target in ("cpu", "interp", "cpu"):
        with pytest.raises(tileir.Trap) as caught:
            kernel.launch(5, out, 1, 1.0, 1, 1, target=target)
        messages.append(str(caught.value))
        kernel.launch(4, out, 1, 1.0, 1, 1)
        assert out.tolist() == [4, 5, 6, 7]
    assert len(set(messages)) == 1


@needs_extension
def test_an_interrupt_ends_a_direct_launch() -> None:
    kernel, cell = tileir.parse(LOOP)["loop"], np.zeros(1, np.int32)
    for _ in range(3):
        kernel.launch(1, cell, 1)
    assert direct_of(kernel).direct(1, (cell, 1))
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        kernel.launch(1, cell, 2**31 - 1)
    assert time.monotonic() - begin < 30, "it would take minutes"
    timer.join()
    kernel.launch(1, cell, 5)
    assert cell[0] == 4


@needs_extension
def test_launches_of_one_kernel_from_many_threads_do_not_meet() -> None:
    kernel, wrong = ready_kernel(), []

    def many(number: int) -> None:
        out = np.zeros(3, np.int32)
        for turn in range(2000):
            kernel.launch(3, out, turn, 0.0, number, 0)
            if out.tolist() != [turn + number, turn + number + 1, turn + number + 2]:
                wrong.append(out.tolist())

    threads = [threading.Thread(target=many, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@needs_extension
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_launches_too() -> None:
    kernel, out = ready_kernel(), np.zeros(1, np.int32)
    child = os.fork()
    if not child:
        kernel.launch(1, out, 40, 0.0, 1, 1)
        kernel.launch(1, out, 40, 0.0, 1, 1)
        os._exit(int(out[0]))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42


@needs_extension
def test_nothing_that_was_passed_is_kept() -> None:
    kernel, out, number = ready_kernel(), np.zeros(1, np.int32), 123456789
    before = sys.getrefcount(out), sys.getrefcount(out.dtype), sys.getrefcount(number)
    for _ in range(100):
        kernel.launch(1, out, number, 0.0, 1, 1)
    after = sys.getrefcount(out), sys.getrefcount(out.dtype), sys.getrefcount(number)
    assert all(late - early < 5 for early, late in zip(before, after))


def test_everything_works_without_the_extension(monkeypatch) -> None:
    monkeypatch.setattr(execution, "Launcher", None)
    kernel, out = ready_kernel(), np.zeros(3, np.int32)
    kernel.launch(3, out, 1, 2.0, 3, 4)
    assert out.tolist() == [10, 11, 12]
    with pytest.raises(tileir.Trap):
        kernel.launch(4, out, 1, 2.0, 3, 4)
