"""Kernels round to nearest and keep subnormal numbers, whatever a library has set the thread to."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import tileir
from tests.safety.long_programs import WAIT_FOR_LAST

TEXT = """
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %v = make_tensor_view %a, shape = [512], strides = [1] : tensor_view<512xf32, strides=[1]>
  %w = make_tensor_view %b, shape = [512], strides = [1] : tensor_view<512xf32, strides=[1]>
  %p = make_partition_view %v : partition_view<tile=(64), tensor_view<512xf32, strides=[1]>>
  %q = make_partition_view %w : partition_view<tile=(64), tensor_view<512xf32, strides=[1]>>
  %l, %t = load_view_tko weak %p[%x]
    : partition_view<tile=(64), tensor_view<512xf32, strides=[1]>>, tile<i32> -> tile<64xf32>, token
  %m = constant <f32: 0.7> : tile<64xf32>
  %r = divf %l, %m : tile<64xf32>
  %u = store_view_tko weak %r, %q[%x]
    : tile<64xf32>, partition_view<tile=(64), tensor_view<512xf32, strides=[1]>>, tile<i32> -> token
}
"""
UPWARD = 0x800
"""The C library's number of that rounding mode, on x86."""


@contextmanager
def flushing() -> Iterator[None]:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor does not flush subnormal numbers")
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


@contextmanager
def rounding_up() -> Iterator[None]:
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        pytest.skip("the number of the rounding mode is that of Linux on x86")
    library = ctypes.CDLL("libm.so.6")
    library.fesetround(UPWARD)
    try:
        yield
    finally:
        library.fesetround(0)


@pytest.mark.parametrize("options", [{"threads": 1}, {"threads": 3}, {}, {"target": "interp"}], ids=str)
@pytest.mark.parametrize("state", [flushing, rounding_up])
def test_numbers_are_those_of_a_usual_thread(state: Callable[[], contextmanager], options: dict[str, Any]) -> None:
    random = np.random.default_rng(0)
    numbers = np.where(random.random(512) < 0.5, 1e-39, 1.0).astype(np.float32) * random.random(512, np.float32)
    kernel, usual, found = tileir.parse(TEXT)["k"], np.zeros(512, np.float32), np.zeros(512, np.float32)
    kernel.launch(8, numbers, usual, **options)
    for _ in range(3):
        with state():
            before = _sums()
            kernel.launch(8, numbers, found, **options)
            assert _sums() == before
        assert _sums() != before and found.tobytes() == usual.tobytes()


@pytest.mark.parametrize("target", ["cpu", "interp"])
@pytest.mark.parametrize("state", [flushing, rounding_up])
def test_constants_and_arguments_are_those_of_a_usual_thread(state: Callable[[], contextmanager], target: str) -> None:
    text = """entry @k(%a: tile<ptr<f32>>, %f: tile<f32>) {
      %c = constant <f32: 1.0e-39> : tile<f32>
      %h = constant <f32: 0.7> : tile<f32>
      %d = mulf %c, %h : tile<f32>
      %e = addf %d, %f : tile<f32>
      %u = store_ptr_tko weak %a, %e : tile<ptr<f32>>, tile<f32> -> token
    }"""
    kernel, found, usual = tileir.parse(text)["k"], np.zeros(1, np.float32), np.zeros(1, np.float32)
    with state():
        for _ in range(4):
            kernel.launch(1, found, 1.1e-39, target=target)
    tileir.parse(text)["k"].launch(1, usual, 1.1e-39, target="interp")
    assert usual[0] != 0 and found.tobytes() == usual.tobytes()


def _sums() -> tuple[np.float32, np.float32]:
    """Return numbers that differ by the state of the thread."""
    small, tenth = np.array([1e-39, 7], np.float32), np.array([10], np.float32)
    return small[0] + small[0], (small[1:] / tenth)[0]


def test_kernels_that_wait_leave_the_state_as_it_was() -> None:
    flag, count = np.zeros(1, np.int32), np.zeros(1, np.int32)
    with rounding_up():
        before = _sums()
        tileir.parse(WAIT_FOR_LAST)["k"].launch(9, flag, count, 8, threads=1)
        assert _sums() == before and count[0] == 9
    assert _sums() != before
