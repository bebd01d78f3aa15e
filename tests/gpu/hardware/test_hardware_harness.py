"""The harness of these tests notices the faults that it is there for."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import tileir
from tests.gpu.hardware.hardware_device import Device, Lent
from tests.gpu.hardware.hardware_standin import MachineDriver, machine
from tileir.runtime.module import target_named

STORE = """entry @k(%x: tile<ptr<i64>>, %at: tile<i32>) {
  %here = ptr_to_int %x : tile<ptr<i64>> -> tile<i64>
  %p = offset %x, %at : tile<ptr<i64>>, tile<i32> -> tile<ptr<i64>>
  %t = store_ptr_tko weak %p, %here : tile<ptr<i64>>, tile<i64> -> token
  return
}"""


@pytest.fixture
def rehearsal(monkeypatch: pytest.MonkeyPatch) -> Device:
    """The stand-in, also where there is a GPU."""
    found = machine()
    known = {found.name: found.target, "interp": target_named("interp")}
    monkeypatch.setattr("tileir.runtime.module.target_named", known.__getitem__)
    return found


def test_a_write_beside_an_array_is_noticed(rehearsal: Device) -> None:
    kernel, arrays = tileir.parse(STORE)["k"], [np.zeros(4, np.int64)]
    rehearsal.outcome(kernel, (1,), [*arrays, 3])
    with pytest.raises(AssertionError, match=r"bytes outside the arrays were written, byte 40 of array 0"):
        rehearsal.outcome(kernel, (1,), [*arrays, 5])
    with pytest.raises(AssertionError, match="bytes outside the arrays were written"):
        rehearsal.outcome(kernel, (1,), [*arrays, -1])


def test_addresses_come_back_as_those_here(rehearsal: Device) -> None:
    arrays = [np.zeros(4, np.int64) for _ in range(2)]
    found = rehearsal.outcome(tileir.parse(STORE)["k"], (1,), [arrays[1], 2]).arrays[0]
    assert found.tolist() == [0, 0, arrays[1].ctypes.data, 0]


def test_an_array_begins_as_far_from_a_multiple_as_it_does_here(rehearsal: Device) -> None:
    whole = np.zeros(64, np.int64)
    for skipped in (1, 2, 16):
        given = whole[skipped:]
        lent = Lent(rehearsal.target, [given])
        (copy,) = lent.instead_of([given])
        assert copy.address % 256 == given.ctypes.data % 256  # type: ignore[attr-defined]


def test_a_result_that_differs_in_one_bit_is_noticed(rehearsal: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """entry @k(%x: tile<ptr<f32>>) {
      %v, %t = load_ptr_tko weak %x : tile<ptr<f32>> -> tile<f32>, token
      %w = addf %v, %v : tile<f32>
      %u = store_ptr_tko weak %x, %w token=%t : tile<ptr<f32>>, tile<f32> -> token
      return
    }"""
    kernel, array = tileir.parse(text)["k"], np.ones(1, np.float32)
    rehearsal.assert_like_interpreter(kernel, (1,), [array])
    launch = MachineDriver.launch

    def wrong(self: MachineDriver, function: object, grid: object, parameters: int, stream: int) -> None:
        launch(self, function, grid, parameters, stream)  # type: ignore[arg-type]
        place = ctypes.c_void_p.from_address(ctypes.c_void_p.from_address(parameters).value or 0).value or 0
        ctypes.c_uint32.from_address(place).value ^= 1

    monkeypatch.setattr(MachineDriver, "launch", wrong)
    with pytest.raises(AssertionError, match="array 0"):
        rehearsal.assert_like_interpreter(tileir.parse(text)["k"], (1,), [array])
