"""cuTile kernels on a GPU target: arrays of the GPU, the caller's stream, lists."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from fake_driver import FakeDriver, OnGpu

pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")

import cuda.tile as ct

from tileir import cutile
from tileir.gpu.driver import Library
from tileir.gpu.executable import Executable
from tileir.runtime.gpu import Gpu


class Route:
    watched = ()

    def __init__(self, kernel, rewrites) -> None:
        self.name = kernel.name

    def code(self, driver, device, variant):
        return Executable(b"", self.name), Library(driver, b"", "kernel"), ()


@pytest.fixture
def driver():
    driver = FakeDriver()
    target = Gpu("cuda", "", driver, Route)
    with cutile.on("cuda", instead=target):
        yield driver


@ct.kernel
def double(x, out, n: ct.Constant[int]):
    ct.store(out, (ct.bid(0),), ct.load(x, (ct.bid(0),), (n,)) * 2)


@ct.kernel
def first(xs, out):
    ct.store(out, (0,), ct.load(xs[0], (0,), (16,)))


def test_arrays_of_the_gpu_on_the_stream_of_the_launch(driver):
    array = np.zeros(16, np.float32)
    driver.count = 2
    ct.launch(77, (4, 2), double, (OnGpu(array), OnGpu(array, 1), 16))
    (launched,) = driver.launches
    assert (launched.grid, launched.stream, launched.device) == ((4, 2, 1), 77, 1)
    assert launched.parameters[0] == array.ctypes.data


def test_lists_of_arrays_become_tables_on_the_gpu(driver):
    array, rows = np.zeros(16, np.float32), []
    driver.run = lambda launched: rows.append((ctypes.c_int64 * 3).from_address(launched.parameters[0])[:])
    ct.launch(5, (1,), first, ([OnGpu(array)], OnGpu(array)))
    assert rows == [[array.ctypes.data, 16, 1]]
    assert driver.borrowed == [(24, 5)]


def test_arrays_of_the_host_are_refused(driver):
    with pytest.raises(ValueError, match="in the memory of device cuda, which the target uses, got one on device cpu"):
        ct.launch(0, (1,), double, (np.zeros(16, np.float32), np.zeros(16, np.float32), 16))
