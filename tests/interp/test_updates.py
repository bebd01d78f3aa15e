"""Updates of memory by atomic operations: each mode, equal addresses."""

import ml_dtypes
import numpy as np
import pytest

from tileir.host.allocation import Allocation, Runs
from tileir.interp.atomics import MANY, MODES, update
from tileir.interp.cells import CELLS, CheckedAccess
from tileir.interp.memory import Memory
from tileir.ir import types as t
from tileir.ir.attributes import AtomicMode as Mode

INTEGER = {
    Mode.AND: lambda old, arg: old & arg,
    Mode.OR: lambda old, arg: old | arg,
    Mode.XOR: lambda old, arg: old ^ arg,
    Mode.ADD: lambda old, arg: old + arg,
    Mode.MAX: max,
    Mode.MIN: min,
    Mode.UMAX: lambda old, arg: max(old, arg, key=lambda x: x % 2**64),
    Mode.UMIN: lambda old, arg: min(old, arg, key=lambda x: x % 2**64),
    Mode.XCHG: lambda old, arg: arg,
}


def memory_of(array):
    return Memory([Allocation("a", array.ctypes.data, (Runs(0, array.nbytes),), keep=array)])


def updated(array, places, arguments, mode, element):
    addresses = np.uint64(array.ctypes.data) + np.asarray(places, np.uint64) * np.uint64(array.itemsize)
    access = CheckedAccess(CELLS[element], None, "update")
    return update(memory_of(array), addresses, (np.asarray(arguments, array.dtype),), MODES[mode], access)


def in_sequence(array, places, arguments, function):
    """Old values and memory after a sequence of single updates."""
    memory, old = array.tolist(), []
    for place, argument in zip(places, arguments):
        old.append(memory[place])
        memory[place] = function(memory[place], argument)
    return old, memory


@pytest.mark.parametrize("element", [t.I32, t.I64], ids=lambda e: e.name)
@pytest.mark.parametrize("mode", INTEGER, ids=lambda mode: mode.text)
@pytest.mark.parametrize("spread", [1, 3, 40, 1000], ids=lambda spread: f"{spread} addresses")
def test_integer_modes_act_as_a_sequence_in_row_major_order(element, mode, spread):
    random = np.random.default_rng(spread)
    dtype = CELLS[element].dtype
    array = random.integers(-1000, 1000, 1000).astype(dtype)
    places, arguments = random.integers(0, spread, 200), random.integers(-1000, 1000, 200)
    old, memory = in_sequence(array, places.tolist(), arguments.tolist(), INTEGER[mode])
    assert updated(array, places, arguments, mode, element).tolist() == old
    assert array.tolist() == memory


@pytest.mark.parametrize("element", [t.F16, t.BF16, t.F32, t.F64], ids=lambda e: e.name)
@pytest.mark.parametrize("spread", [1, 5])
def test_addf_rounds_after_every_addition(element, spread):
    random = np.random.default_rng(spread)
    dtype = CELLS[element].dtype
    array = np.zeros(8, dtype)
    places, arguments = random.integers(0, spread, 3 * MANY), random.standard_normal(3 * MANY).astype(dtype)
    expected, old = array.copy(), []
    for place, argument in zip(places.tolist(), arguments):
        old.append(expected[place])
        expected[place] = expected[place] + argument
    assert updated(array, places, arguments, Mode.ADDF, element).tobytes() == np.array(old, dtype).tobytes()
    assert array.tobytes() == expected.tobytes()


def test_addf_keeps_subnormals():
    array = np.array([1e-45], np.float32)
    updated(array, [0], [1e-45], Mode.ADDF, t.F32)
    assert array[0] == np.float32(3e-45)


def test_add_wraps():
    array = np.array([2**31 - 1], np.int32)
    updated(array, [0] * (MANY + 4), [1] * (MANY + 4), Mode.ADD, t.I32)
    assert array[0] == -(2**31) + MANY + 3


def test_bf16_addf_rounds_once_per_addition():
    array = np.array([256], ml_dtypes.bfloat16)
    updated(array, [0, 0], [1, 1], Mode.ADDF, t.BF16)
    assert array[0] == 256
