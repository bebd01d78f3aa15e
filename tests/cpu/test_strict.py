"""In strict mode native code reports what the interpreter does: the same traps and the same warnings."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tileir
from tileir.cpu.rules import STRICT
from tileir.interp.machine import TABLES
from tileir.ir.diagnostics import place_text

TENSOR = "%t = make_tensor_view %p, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>"
VIEW = "partition_view<tile=(4), tensor_view<8xf32, strides=[1]>>"
LANES = """%lane = iota : tile<4xi32>
  %p_1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %p_4 = broadcast %p_1 : tile<1xptr<f32>> -> tile<4xptr<f32>>
  %x = constant <f32: 1.0> : tile<4xf32>
  %mask = constant <i1: [true, true, false, true]> : tile<4xi1>
  %all = constant <i1: true> : tile<4xi1>
  %at = offset %p_4, %lane : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
  %same = constant <i32: [0, 1, 0, 3]> : tile<4xi32>
  %two = offset %p_4, %same : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>"""
CAST_TENSOR = "tensor_view<8xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>"
CAST = f"partition_view<tile=(4), {CAST_TENSOR}>"


def constants(element: str, *numbers: object) -> str:
    """Tiles %a, %b, … of four elements each; a number stands for all four."""
    lines = [
        f"%{name} = constant <{element}: {number}> : tile<4x{element}>".replace("'", "")
        for name, number in zip("abc", numbers)
    ]
    return "\n  ".join(lines)


BIG, SMALL = (1 << 31) - 1, -(1 << 31)
TRAPS = {
    "a sum": constants("i32", [1, BIG, 2, BIG], 1) + "\n%c = addi %a, %b overflow<no_signed_wrap> : tile<4xi32>",
    "an unsigned sum": constants("i32", [1, 2, -1, 3], 1)
    + "\n%c = addi %a, %b overflow<no_unsigned_wrap> : tile<4xi32>",
    "a sum by both readings": constants("i8", [1, -1, 127, 3], 1) + "\n%c = addi %a, %b overflow<no_wrap> : tile<4xi8>",
    "a difference": constants("i64", [3, -(1 << 63), 0, 1], 1)
    + "\n%c = subi %a, %b overflow<no_signed_wrap> : tile<4xi64>",
    "an unsigned difference": constants("i16", [3, 2, 0, 1], 1)
    + "\n%c = subi %a, %b overflow<no_unsigned_wrap> : tile<4xi16>",
    "a product": constants("i32", [3, 2, 70000, 1], 70000)
    + "\n%c = muli %a, %b overflow<no_signed_wrap> : tile<4xi32>",
    "an unsigned product": constants("i64", [3, 1 << 62, 0, 1], 4)
    + "\n%c = muli %a, %b overflow<no_unsigned_wrap> : tile<4xi64>",
    "a left shift": constants("i32", [3, 1, 0, 1], [1, 31, 0, 0])
    + "\n%c = shli %a, %b overflow<no_signed_wrap> : tile<4xi32>",
    "a negation": constants("i8", [1, 0, -128, 3]) + "\n%c = negi %a overflow<no_signed_wrap> : tile<4xi8>",
    "a truncation": constants("i32", [1, 300, 2, 3])
    + "\n%c = trunci %a overflow<no_unsigned_wrap> : tile<4xi32> -> tile<4xi8>",
    "a quotient": constants("i32", [1, 1, SMALL, 1], [1, -1, -1, 1]) + "\n%c = divi %a, %b signed : tile<4xi32>",
    "a zero divisor": constants("i32", 1, [1, 2, 3, 0]) + "\n%c = remi %a, %b unsigned : tile<4xi32>",
    "a float out of range": constants("f32", ["1.0", "2.0", "3.0e9", "0.0"])
    + "\n%c = ftoi %a signed rounding<nearest_int_to_zero> : tile<4xf32> -> tile<4xi32>",
    "an address": LANES + "\n%far = constant <i64: [0, 9223372036854775807, 1, 2]> : tile<4xi64>\n"
    "  %c = offset %p_4, %far : tile<4xptr<f32>>, tile<4xi64> -> tile<4xptr<f32>>",
    "a counter": f"""%a = constant <i32: {BIG - 2}> : tile<i32>
  %b = constant <i32: {BIG}> : tile<i32>
  %s = constant <i32: 3> : tile<i32>
  for %i in (%a to %b, step %s) : tile<i32> {{ continue }}""",
    "an unsigned counter": """%a = constant <i32: -3> : tile<i32>
  %b = constant <i32: -1> : tile<i32>
  %s = constant <i32: 3> : tile<i32>
  for unsigned %i in (%a to %b, step %s) : tile<i32> { continue }""",
    "a step": """%a = constant <i32: 0> : tile<i32>
  %s = subi %a, %n : tile<i32>
  for %i in (%a to %n, step %s) : tile<i32> { continue }""",
    "a weak store to one address twice": LANES
    + "\n%u = store_ptr_tko weak %two, %x : tile<4xptr<f32>>, tile<4xf32> -> token",
    "an extent": "%a = constant <i32: 0> : tile<i32>\n%t = make_tensor_view %p, shape = [%a], strides = [1] : "
    "tile<i32> -> tensor_view<?xf32, strides=[1]>",
    "a stride": "%a = constant <i64: 0> : tile<i64>\n%t = make_tensor_view %p, shape = [4], strides = [%a] : "
    "tile<i64> -> tensor_view<4xf32, strides=[?]>",
    "an index": f"{TENSOR}\n%v = make_partition_view %t : {VIEW}\n"
    f"%y, %u = load_view_tko weak %v[%n] : {VIEW}, tile<i32> -> tile<4xf32>, token",
    "an index of a store": f"{TENSOR}\n%v = make_partition_view %t : {VIEW}\n%x = constant <f32: 1.0> : tile<4xf32>\n"
    f"%u = store_view_tko weak %x, %v[%n] : tile<4xf32>, {VIEW}, tile<i32> -> token",
    "an index of a reduction": f"{TENSOR}\n%v = make_partition_view %t : {VIEW}\n"
    "%x = constant <f32: 1.0> : tile<4xf32>\n"
    f"%u = atomic_red_view_tko relaxed device %v[%n], addf, %x : tile<4xf32>, {VIEW}, tile<i32> -> token",
    "a subtile": "%x = constant <f32: 1.0> : tile<8xf32>\n%y = extract %x[%n] : tile<8xf32> -> tile<2xf32>",
    "a sum in a reduction": constants("i32", [1, BIG, 2, 3])
    + """\n%c = reduce %a dim=0 identities=[0 : i32] : tile<4xi32> -> tile<i32> (%x: tile<i32>, %y: tile<i32>) {
    %z = addi %x, %y overflow<no_signed_wrap> : tile<i32>
    yield %z : tile<i32>
  }""",
}
WARNINGS = {
    "a shift by the width": constants("i32", 1, [0, 31, 32, 3]) + "\n%c = shli %a, %b : tile<4xi32>",
    "a right shift by more": constants("i8", 1, [0, 7, -1, 3]) + "\n%c = shri %a, %b signed : tile<4xi8>",
    "a masked load": LANES
    + "\n%y, %u = load_ptr_tko weak %at, %mask : tile<4xptr<f32>>, tile<4xi1> -> tile<4xf32>, token",
    "a masked update": LANES + "\n%y, %u = atomic_rmw_tko relaxed device %at, addf, %x, %mask : "
    "tile<4xptr<f32>>, tile<4xf32>, tile<4xi1> -> tile<4xf32>, token",
    "a strong store to one address twice": LANES
    + "\n%u = store_ptr_tko relaxed device %two, %x : tile<4xptr<f32>>, tile<4xf32> -> token",
    "a saturated sum": f"""%a = constant <i8: -128> : tile<4x4xi8>
  %s = constant <i32: {BIG - 4}> : tile<4x4xi32>
  %c = mmai %a, %a, %s signed signed : tile<4x4xi8>, tile<4x4xi8>, tile<4x4xi32>""",
    "a view without padding": f"""%t = make_tensor_view %p, shape = [6], strides = [1] : tensor_view<6xf32, strides=[1]>
  %v = make_partition_view %t : {VIEW.replace("8x", "6x")}
  %i = constant <i32: 1> : tile<i32>
  %y, %u = load_view_tko weak %v[%i] : {VIEW.replace("8x", "6x")}, tile<i32> -> tile<4xf32>, token""",
    "fresh storage": """%q = alloca num_elem = 4, alignment = 4 : tile<ptr<f32>>
  %y, %u = load_ptr_tko weak %q : tile<ptr<f32>> -> tile<f32>, token""",
    "fresh storage through a view": f"""%q = alloca num_elem = 8, alignment = 16 : tile<ptr<f32>>
  {TENSOR.replace("%p", "%q")}
  %v = make_partition_view %t : {VIEW}
  %x = constant <f32: 1.0> : tile<4xf32>
  %i = constant <i32: 0> : tile<i32>
  %j = constant <i32: 1> : tile<i32>
  %u = store_view_tko weak %x, %v[%i] : tile<4xf32>, {VIEW}, tile<i32> -> token
  %y, %w = load_view_tko weak %v[%i] token=%u : {VIEW}, tile<i32> -> tile<4xf32>, token
  %z, %r = load_view_tko weak %v[%j] token=%u : {VIEW}, tile<i32> -> tile<4xf32>, token""",
    "a view that claims too much": TENSOR.replace("8", "9"),
    "a view of unknown extent that claims too much": """%t = make_tensor_view %p, shape = [2, %n], strides = [4, 1]
    : tile<i32> -> tensor_view<2x?xf32, strides=[4,1]>""",
    "a view of the rest that claims too much": f"""%q = offset %p, %n : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  {TENSOR.replace("%p", "%q").replace("8", "4")}""",
    "a view that claims too much storage": f"""%q = alloca num_elem = 7, alignment = 4 : tile<ptr<f32>>
  {TENSOR.replace("%p", "%q")}""",
    "a format": '%x = constant <f32: 1.0> : tile<f32>\n%u = print_tko "%d", %x : tile<f32> -> token',
}
SILENT = {
    "a shift below the width": constants("i8", 1, [0, 7, 6, 3]) + "\n%c = shri %a, %b unsigned : tile<4xi8>",
    "a view of the rest": f"""%q = offset %p, %n : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  {TENSOR.replace("%p", "%q").replace("8", "3")}""",
    "a full mask": LANES
    + "\n%y, %u = load_ptr_tko weak %at, %all : tile<4xptr<f32>>, tile<4xi1> -> tile<4xf32>, token",
    "storage that was written": """%q = alloca num_elem = 4, alignment = 4 : tile<ptr<f32>>
  %x = constant <f32: 1.0> : tile<f32>
  %u = store_ptr_tko weak %q, %x : tile<ptr<f32>>, tile<f32> -> token
  %y, %w = load_ptr_tko weak %q token=%u : tile<ptr<f32>> -> tile<f32>, token""",
}

Report = tuple[object, ...]


def reports(text: str, target: str, array: np.ndarray) -> tuple[Report | None, list[Report]]:
    """The trap of a launch in strict mode, or None, and its warnings."""
    kernel = tileir.parse(text)["k"]
    found: Report | None = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            kernel.launch(2, array, 5, target=target, check="strict", output=lambda text: None)
        except tileir.Trap as trap:
            found = (trap.message, trap.op, place_text(trap.loc), trap.block, trap.index, trap.array)
    given = [one.message for one in caught if isinstance(one.message, tileir.KernelWarning)]
    return found, [(one.message, one.op, place_text(one.loc), one.block) for one in given]


def both(body: str) -> tuple[Report | None, list[Report]]:
    """Return the reports of both targets."""
    text, array = f"entry @k(%p: tile<ptr<f32>>, %n: tile<i32>) {{\n  {body}\n  return\n}}", np.zeros(8, np.float32)
    expected, found = (reports(text, target, array) for target in ("interp", "cpu"))
    assert found == expected
    return found


@pytest.mark.parametrize("name", TRAPS)
def test_undefined_behaviour_traps_as_on_the_interpreter(name: str) -> None:
    trap, warned = both(TRAPS[name])
    assert trap is not None
    assert not warned


@pytest.mark.parametrize("name", WARNINGS)
def test_unspecified_behaviour_warns_as_on_the_interpreter(name: str) -> None:
    trap, warned = both(WARNINGS[name])
    assert trap is None
    assert len(warned) == 1


@pytest.mark.parametrize("name", SILENT)
def test_what_is_defined_goes_by_in_silence(name: str) -> None:
    assert both(SILENT[name]) == (None, [])


def test_what_strict_mode_looks_at_is_looked_at_on_both_targets() -> None:
    assert TABLES.strict.keys() <= STRICT.keys()


def test_a_view_that_claims_too_much_is_told_with_the_numbers() -> None:
    _, ((message, *_),) = both(WARNINGS["a view that claims too much"])
    assert message == "the view claims 9 elements of 'p', which has 8"


def test_promises_of_inbounds_are_kept_in_strict_mode() -> None:
    view = VIEW.replace("8x", "6x")
    both(
        f"""%t = make_tensor_view %p, shape = [6], strides = [1] : tensor_view<6xf32, strides=[1]>
  %v = make_partition_view %t : {view}
  %i = constant <i32: 1> : tile<i32>
  %y, %u = load_view_tko weak %v[%i] inbounds = [true] : {view}, tile<i32> -> tile<4xf32>, token"""
    )


def test_the_default_looks_at_none_of_it() -> None:
    text = f"entry @k(%p: tile<ptr<f32>>, %n: tile<i32>) {{\n  {TRAPS['a sum']}\n  return\n}}"
    tileir.parse(text)["k"].launch(1, np.zeros(8, np.float32), 5, target="cpu")


def test_a_view_that_a_function_gives_is_checked() -> None:
    tensor = "tensor_view<?xf32, strides=[1]>"
    view = f"partition_view<tile=(4), {tensor}>"
    text = f"""cuda_tile.module @m {{
      experimental$func @f(%p: tile<ptr<f32>>, %n: tile<i32>) -> {tensor} {{
        %t = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> {tensor}
        return %t : {tensor}
      }}
      entry @k(%p: tile<ptr<f32>>, %n: tile<i32>) {{
        %t = experimental$call @f(%p, %n) : (tile<ptr<f32>>, tile<i32>) -> {tensor}
        %v = make_partition_view %t : {view}
        %i = constant <i32: 2> : tile<i32>
        %x, %u = load_view_tko weak %v[%i] : {view}, tile<i32> -> tile<4xf32>, token
        return
      }}
    }}"""
    kernel, found = tileir.parse(text)["k"], []
    for target in ("interp", "cpu"):
        with pytest.raises(tileir.Trap) as caught:
            kernel.launch(1, np.zeros(4, np.float32), 1 << 20, target=target)
        found.append((caught.value.message, caught.value.op, caught.value.array, caught.value.index))
    assert found[0] == found[1]
