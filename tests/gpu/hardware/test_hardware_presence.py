"""Checks that the hardware tests have run on a GPU."""

from __future__ import annotations

import pytest

import tileir
from tests.gpu.hardware.hardware_device import Device
from tileir.runtime.module import target_named


def test_there_is_a_gpu() -> None:
    try:
        target_named("cuda")
    except tileir.UnsupportedError as error:
        why = error.what.removeprefix("not available: ")
        pytest.skip(f"no GPU that the CUDA driver can use: {why}; a stand-in rehearses a case of each test")


def test_a_kernel_that_does_nothing_runs(device: Device) -> None:
    device.launch(tileir.parse("entry @k() { return }")["k"], (3, 2, 1))
