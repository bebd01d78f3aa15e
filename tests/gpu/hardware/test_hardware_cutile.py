"""Kernels of cuTile Python on a GPU through a tileir target."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tests.gpu.hardware.hardware_device import Device
from tests.gpu.hardware.test_hardware_host import Interface

pytest.importorskip("cuda.tile", reason="needs the package cuda-tile")

import cuda.tile as ct

from tileir import cutile
from tileir.runtime.arrays import Array


@ct.kernel
def double(x, out, n: ct.Constant[int]):
    ct.store(out, (ct.bid(0),), ct.load(x, (ct.bid(0),), (n,)) * 2)


@ct.kernel
def first(xs, out):
    ct.store(out, (0,), ct.load(xs[0], (0,), (16,)))


@ct.kernel
def product(a, b, c):
    x = ct.load(a, (ct.bid(0), 0), (32, 32))
    y = ct.load(b, (0, ct.bid(1)), (32, 32))
    ct.store(c, (ct.bid(0), ct.bid(1)), ct.mma(x, y, ct.zeros((32, 32), ct.float32)))


@pytest.fixture
def enabled(device: Device) -> Iterator[Device]:
    with cutile.on(device.name, instead=device.target if device.rehearsal else None):
        yield device


def placed(device: Device, *arrays: np.ndarray) -> list[Array]:
    return [device.target.placed(array) for array in arrays]


def seen(array: Array) -> Interface:
    """The array as cuTile takes it."""
    assert array.dtype is not None
    return Interface(array.address, tuple(array.shape), array.dtype)


def fetched(device: Device, there: Array, like: np.ndarray) -> np.ndarray:
    device.target.finish()
    device.target.fetch(there, like)
    return like


def test_a_kernel_is_launched_on_arrays_of_the_gpu(enabled: Device) -> None:
    x = np.arange(160, dtype=np.float32)
    a, b = placed(enabled, x, np.zeros_like(x))
    for _ in range(2):
        ct.launch(0, (10,), double, (seen(a), seen(b), 16))
    np.testing.assert_array_equal(fetched(enabled, b, np.zeros_like(x)), 2 * x)


def test_lists_of_arrays_are_taken(enabled: Device) -> None:
    x = np.arange(16, dtype=np.float32)
    a, b, c = placed(enabled, x, x + 1, np.zeros_like(x))
    ct.launch(0, (1,), first, ([seen(b), seen(a)], seen(c)))
    np.testing.assert_array_equal(fetched(enabled, c, np.zeros_like(x)), x + 1)


def test_matrices_are_multiplied(enabled: Device) -> None:
    random = np.random.default_rng(1)
    a, b = random.integers(-3, 4, (64, 32)).astype(np.float16), random.integers(-3, 4, (32, 96)).astype(np.float16)
    c = np.zeros((64, 96), np.float32)
    there = placed(enabled, a, b, c)
    ct.launch(0, (2, 3), product, tuple(map(seen, there)))
    np.testing.assert_array_equal(fetched(enabled, there[2], c), a.astype(np.float32) @ b.astype(np.float32))
