"""Modules, kernels and errors travel to other processes, and are copied, with all that messages need."""

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import tileir
from tileir.ir.loc import CallSiteLoc, FileLoc, NameLoc

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted([*ROOT.glob("examples/*.mlir"), *ROOT.glob("tests/golden/*.mlir")])
COUNTER = """
cuda_tile.module @counting {
  entry @count(%out: tile<ptr<i32>>, %by: tile<i32>) {
    %p = get_global @total : tile<ptr<i32>>
    %v, %t = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
    %w = addi %v, %by : tile<i32>
    %u = store_ptr_tko weak %p, %w token=%t : tile<ptr<i32>>, tile<i32> -> token
    %s = store_ptr_tko weak %out, %w : tile<ptr<i32>>, tile<i32> -> token
  }
  global @total <i32: 5> : tile<1xi32>
}
"""


def travelled(value):
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("copied", [travelled, copy.deepcopy, copy.copy])
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_copy_is_the_same_program_with_its_places_and_names(path, copied):
    module = tileir.load(path)
    other = copied(module)
    assert other is not module and other.op is not module.op
    assert tileir.to_text(other, debug=True) == tileir.to_text(module, debug=True)
    assert repr(other) == repr(module)
    assert [str(op.loc) for op in other.walk()] == [str(op.loc) for op in module.walk()]
    kernels = [(kernel, other[name]) for name, kernel in module.kernels.items()]
    assert all(repr(one) == repr(two) for one, two in kernels)


def test_kernels_of_one_module_travel_with_one_module():
    module = tileir.load(ROOT / "examples/reduction.mlir")
    one, two, again = travelled([*module.kernels.values(), module])
    assert one.module is two.module is again
    assert again[one.name] is one


def test_an_entry_without_names_travels_too():
    data = tileir.to_bytecode(tileir.parse(COUNTER))
    assert repr(travelled(tileir.from_bytecode(data))["count"]) == repr(tileir.from_bytecode(data)["count"])


def test_an_invalid_program_is_as_invalid_afterwards():
    module = tileir.parse("entry @k(%x: tile<4xf32>) {\n  %y = iota : tile<2x2xi32>\n}", "k.mlir")
    assert str(tileir.verify(travelled(module))) == str(tileir.verify(module))


@pytest.mark.parametrize("target", ["interp", "cpu"])
def test_a_copy_of_a_launched_kernel_has_globals_of_its_own(target):
    kernel, out = tileir.parse(COUNTER)["count"], np.zeros(1, np.int32)
    kernel.launch(1, out, 2, target=target)
    for other in (travelled(kernel), copy.deepcopy(kernel)):
        other.launch(1, out, 10, target=target)
        assert out[0] == 15
    kernel.launch(1, out, 2, target=target)
    assert out[0] == 9


def _double(kernel, values):
    try:
        kernel.launch(1, values, 4, target="cpu")
    except tileir.Trap:
        kernel.launch(1, values, 4, target="interp")
    return values


def _text_of_trap(kernel):
    try:
        kernel.launch(1, np.zeros(0, np.int32), 1)
    except tileir.Trap as trap:
        return str(trap)


def test_spawned_workers_launch_and_their_errors_come_back():
    kernel = tileir.parse(COUNTER, "counter.mlir")["count"]
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(_double, kernel, np.zeros(1, np.int32)).result(timeout=120).tolist() == [9]
        with pytest.raises(tileir.Trap) as caught:
            pool.submit(_double, kernel, np.zeros(0, np.int32)).result(timeout=120)
        assert str(caught.value) == _text_of_trap(kernel)
        assert "counter.mlir:8:10: trap: " in str(caught.value)
        with pytest.raises(tileir.DiagnosticError, match="expected"):
            pool.submit(tileir.parse, "entry @k(", "k.mlir").result(timeout=120)


def test_a_place_of_a_call_is_the_same_in_another_process() -> None:
    """Its hash is kept, but not handed on: that of text differs from process to process."""
    place = CallSiteLoc(FileLoc("a", 1, 2), NameLoc("f"))
    assert hash(place) == hash(CallSiteLoc(FileLoc("a", 1, 2), NameLoc("f")))
    other = pickle.loads(pickle.dumps(place))
    assert other == place and "_hash" in vars(place) and "_hash" not in vars(other)
