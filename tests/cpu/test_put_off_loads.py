"""Loads that are put off give what reading them at once gives, however the memory that they and stores use overlaps."""

from __future__ import annotations

import numpy as np
import pytest

import tileir
from tests.thorough import sampled
from tileir.analysis.affine import Affines
from tileir.cpu.analysis.fusion import Fusion
from tileir.cpu.analysis.loads import LoadPlacement, Loads
from tileir.ops.pointers import LoadPtr
from tileir.ops.views import LoadView

VIEW = "tensor_view<64xi32, strides=[1]>"
PART = f"partition_view<tile=(64), {VIEW}>"
SCALARS = f"partition_view<tile=(1), {VIEW}>"


def view(name: str) -> str:
    return f"""
  %{name}_view = make_tensor_view %{name}, shape=[64], strides=[1] : {VIEW}
  %{name}_part = make_partition_view %{name}_view : {PART}"""


def pointers(name: str) -> str:
    return f"""
  %{name}_1 = reshape %{name} : tile<ptr<i32>> -> tile<1xptr<i32>>
  %{name}_all = broadcast %{name}_1 : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %{name}_at = offset %{name}_all, %lanes : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>"""


LOADS = {
    "view": lambda name: (
        f"""{view(name)}
  %{name}_tile, %{name}_token = load_view_tko weak %{name}_part[%zero]
    : {PART}, tile<i32> -> tile<64xi32>, token"""
    ),
    "pointers": lambda name: (
        f"""{pointers(name)}
  %{name}_tile, %{name}_token = load_ptr_tko weak %{name}_at : tile<64xptr<i32>> -> tile<64xi32>, token"""
    ),
}
STORES = {
    "view": f"""{view("c")}
  %done = store_view_tko weak %sum, %c_part[%zero] token=%read : tile<64xi32>, {PART}, tile<i32> -> token""",
    "pointers": f"""{pointers("c")}
  %done = store_ptr_tko weak %c_at, %sum token=%read : tile<64xptr<i32>>, tile<64xi32> -> token""",
}


def program(first: str, second: str, stored: str) -> str:
    return f"""entry @k(%a: tile<ptr<i32>>, %b: tile<ptr<i32>>, %c: tile<ptr<i32>>) {{
  %zero = constant <i32: 0> : tile<i32>
  %lanes = iota : tile<64xi32>{LOADS[first]("a")}{LOADS[second]("b")}
  %sum = addi %a_tile, %b_tile : tile<64xi32>
  %read = join_tokens %a_token, %b_token : token{STORES[stored]}
  return
}}"""


def both(text: str, *offsets: int) -> list[np.ndarray]:
    """Return the results of the interpreter and native code on one array that contains all parameters."""
    results = []
    for target in ("interp", "cpu"):
        memory = np.arange(400, dtype=np.int32) * 3 + 1
        tileir.parse(text)["k"].launch(1, *(memory[offset:] for offset in offsets), target=target)
        results.append(memory)
    return results


@pytest.mark.parametrize(
    "offsets", [(0, 100, 200), (0, 1, 0), (1, 0, 0), (0, 0, 1), (10, 10, 9), (0, 64, 63), (64, 128, 0), (5, 5, 5)]
)
@pytest.mark.parametrize("stored", STORES)
@pytest.mark.parametrize("second", LOADS)
@pytest.mark.parametrize("first", sampled(LOADS, 2))
def test_arrays_that_overlap_in_any_way(first: str, second: str, stored: str, offsets: tuple[int, ...]) -> None:
    expected, got = both(program(first, second, stored), *offsets)
    np.testing.assert_array_equal(got, expected)


def placements(text: str) -> list[LoadPlacement]:
    body = tileir.parse(text)["k"].entry.body
    loads = Loads(Fusion(body), Affines(body))
    tiles = {LoadView: "tile", LoadPtr: "result"}
    return [loads.placement(getattr(op, tiles[type(op)])) for op in body.ops if type(op) in tiles]


@pytest.mark.parametrize("stored", STORES)
@pytest.mark.parametrize("first", LOADS)
def test_a_load_is_put_off_to_the_store_that_reads_it(first: str, stored: str) -> None:
    assert placements(program(first, "view", stored)) == [LoadPlacement.IN_STORE, LoadPlacement.IN_STORE]


USED = {
    "nobody": ("", LoadPlacement.BY_USERS),
    "an operation before the store": ("%r = cmpi equal %a_tile, %lanes, signed : tile<64xi32> -> tile<64xi1>\n"
                                      '  assert %r, "unequal" : tile<64xi1>', LoadPlacement.BY_USERS),
    "the store": ("%sum = addi %a_tile, %lanes : tile<64xi32>\n" + STORES["view"], LoadPlacement.IN_STORE),
    "an operation after the store": (
        "%sum = addi %lanes, %lanes : tile<64xi32>\n" + STORES["view"] + "\n"
        "  %r = cmpi equal %a_tile, %lanes, signed : tile<64xi32> -> tile<64xi1>\n"
        '  assert %r, "unequal" : tile<64xi1>', LoadPlacement.AT_ONCE,
    ),
    "a loop": (
        "%n = constant <i32: 3> : tile<i32>\n  %one = constant <i32: 1> : tile<i32>\n"
        "  for %i in (%zero to %n, step %one) : tile<i32> {\n"
        "    %r = cmpi equal %a_tile, %lanes, signed : tile<64xi32> -> tile<64xi1>\n"
        '    assert %r, "unequal" : tile<64xi1>\n    continue\n  }', LoadPlacement.AT_ONCE,
    ),
    "a print": ('print_tko "%i\\n", %a_tile : tile<64xi32> -> token', LoadPlacement.BY_USERS),
}  # fmt: skip


@pytest.mark.parametrize("users", USED)
def test_memory_is_read_before_it_changes(users: str) -> None:
    code, expected = USED[users]
    text = f"""entry @k(%a: tile<ptr<i32>>, %c: tile<ptr<i32>>) {{
  %zero = constant <i32: 0> : tile<i32>
  %read = make_token : token
  %lanes = iota : tile<64xi32>{LOADS["view"]("a")}
  {code}
  return
}}"""
    assert placements(text) == [expected]


START = f"""
  %one = constant <i32: 1> : tile<i32>
  %three = constant <i32: 3> : tile<i32>
  %start_view = make_tensor_view %a, shape=[64], strides=[1] : {VIEW}
  %start_part = make_partition_view %start_view : {SCALARS}
  %start, %start_token = load_view_tko weak %start_part[%three] : {SCALARS}, tile<i32> -> tile<1xi32>, token"""


def test_a_number_that_pointers_are_made_from_is_read_before_it_is_overwritten() -> None:
    text = f"""entry @k(%a: tile<ptr<i32>>) {{{START}
  %lanes = iota : tile<64xi32>
  %starts = broadcast %start : tile<1xi32> -> tile<64xi32>
  %index = addi %lanes, %starts : tile<64xi32>{pointers("a")}
  %from = offset %a_all, %index : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
  %tile, %read = load_ptr_tko weak %from token=%start_token : tile<64xptr<i32>> -> tile<64xi32>, token
  %twice = addi %tile, %tile : tile<64xi32>
  %done = store_ptr_tko weak %a_at, %twice token=%read : tile<64xptr<i32>>, tile<64xi32> -> token
  return
}}"""
    _assert_reads_the_start_once(text, 64)


def test_a_number_that_carried_pointers_start_from_is_read_before_it_is_overwritten() -> None:
    text = f"""entry @k(%a: tile<ptr<i32>>) {{{START}
  %zero = constant <i32: 0> : tile<i32>
  %turns = constant <i32: 8> : tile<i32>
  %eight = constant <i32: 8> : tile<8xi32>
  %lanes = iota : tile<8xi32>
  %starts = broadcast %start : tile<1xi32> -> tile<8xi32>
  %index = addi %lanes, %starts : tile<8xi32>
  %a_1 = reshape %a : tile<ptr<i32>> -> tile<1xptr<i32>>
  %a_all = broadcast %a_1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
  %from = offset %a_all, %index : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
  %to = offset %a_all, %lanes : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
  %end, %last = for %i in (%zero to %turns, step %one) : tile<i32>
    iter_values(%at = %from, %before = %start_token) -> (tile<8xptr<i32>>, token) {{
    %tile, %read = load_ptr_tko weak %at token=%before : tile<8xptr<i32>> -> tile<8xi32>, token
    %done = store_ptr_tko weak %to, %tile token=%read : tile<8xptr<i32>>, tile<8xi32> -> token
    %next = offset %at, %eight : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    continue %next, %done : tile<8xptr<i32>>, token
  }}
  return
}}"""
    _assert_reads_the_start_once(text, 8)


def _assert_reads_the_start_once(text: str, count: int) -> None:
    """The number at place 3 leads far from itself, and is overwritten by what is found there."""
    results = []
    for target in ("interp", "cpu"):
        memory = np.arange(1000, dtype=np.int32)
        memory[3] = 500
        tileir.parse(text)["k"].launch(1, memory, target=target)
        assert memory[3] != 500
        results.append(memory[:count])
    np.testing.assert_array_equal(results[1], results[0])


def test_a_promise_is_checked_on_what_was_in_memory_when_it_was_loaded() -> None:
    text = f"""entry @k(%a: tile<ptr<i32>>, %c: tile<ptr<i32>>) {{
  %zero = constant <i32: 0> : tile<i32>
  %read = make_token : token
  %lanes = iota : tile<64xi32>{LOADS["view"]("a")}
  %sum = addi %lanes, %lanes : tile<64xi32>{STORES["view"]}
  %promised = assume bounded<0, ?>, %a_tile : tile<64xi32>
  return
}}"""
    assert placements(text) == [LoadPlacement.AT_ONCE]
