"""Loads through pointers read in the loop of a store give what reading them first gives, however arrays lie."""

import numpy as np
import pytest

import tileir

COUNT = 64

ADD = """entry @k(%a: tile<ptr<i32>>, %b: tile<ptr<i32>>, %c: tile<ptr<i32>>, %step: tile<i32>, %n: tile<i32>) {
  %lanes = iota : tile<64xi32>
  %step_1 = reshape %step : tile<i32> -> tile<1xi32>
  %steps = broadcast %step_1 : tile<1xi32> -> tile<64xi32>
  %index = muli %lanes, %steps : tile<64xi32>
  %n_1 = reshape %n : tile<i32> -> tile<1xi32>
  %ns = broadcast %n_1 : tile<1xi32> -> tile<64xi32>
  %mask = cmpi less_than %lanes, %ns, signed : tile<64xi32> -> tile<64xi1>
  %a_1 = reshape %a : tile<ptr<i32>> -> tile<1xptr<i32>>
  %a_all = broadcast %a_1 : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %a_at = offset %a_all, %index : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
  %b_1 = reshape %b : tile<ptr<i32>> -> tile<1xptr<i32>>
  %b_all = broadcast %b_1 : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %b_at = offset %b_all, %INDEX_B : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
  %c_1 = reshape %c : tile<ptr<i32>> -> tile<1xptr<i32>>
  %c_all = broadcast %c_1 : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %c_at = offset %c_all, %index : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
  %zeros = constant <i32: 7> : tile<64xi32>
  %x, %x_read = load_ptr_tko weak %a_at, %mask, %zeros
    : tile<64xptr<i32>>, tile<64xi1>, tile<64xi32> -> tile<64xi32>, token
  %y, %y_read = load_ptr_tko weak %b_at : tile<64xptr<i32>> -> tile<64xi32>, token
  %sum = addi %x, %y : tile<64xi32>
  %read = join_tokens %x_read, %y_read : token
  %written = store_ptr_tko weak %c_at, %sum, %mask token=%read
    : tile<64xptr<i32>>, tile<64xi32>, tile<64xi1> -> token
  return
}"""


def both(text, offsets, step=1, count=COUNT):
    """One array that all three parameters lie in, after the interpreter and after native code."""
    results = []
    for target in ("interp", "cpu"):
        memory = np.arange(1000, dtype=np.int32) * 3 + 1
        a, b, c = (memory[offset:] for offset in offsets)
        tileir.parse(text)["k"].launch(1, a, b, c, step, count, target=target)
        results.append(memory)
    return results


@pytest.mark.parametrize(
    "offsets",
    [(0, 100, 200), (0, 1, 0), (1, 0, 0), (0, 0, 1), (10, 10, 9), (0, 64, 63), (0, 64, 128), (64, 128, 0), (5, 5, 5)],
)
@pytest.mark.parametrize("count", [COUNT, 40, 0])
def test_arrays_that_overlap_in_any_way(offsets, count):
    expected, got = both(ADD.replace("INDEX_B", "index"), offsets, count=count)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("step", [0, 1, 2, 7])
@pytest.mark.parametrize("offsets", [(0, 100, 200), (0, 2, 4), (3, 3, 3), (500, 0, 1)])
def test_steps_other_than_one(step, offsets):
    expected, got = both(ADD.replace("INDEX_B", "lanes"), offsets, step)
    if step == 0:
        # Which of several elements at one address is written last is open.
        assert np.count_nonzero(got != np.arange(1000) * 3 + 1) <= 1
        return
    np.testing.assert_array_equal(got, expected)


def test_a_negative_step():
    expected, got = both(ADD.replace("INDEX_B", "lanes"), (300, 200, 301), -1)
    np.testing.assert_array_equal(got, expected)


def test_an_index_that_wraps_around():
    text = ADD.replace("INDEX_B", "index").replace(
        "%index = muli %lanes, %steps : tile<64xi32>",
        "%far = muli %lanes, %steps : tile<64xi32>\n  %index = muli %far, %steps : tile<64xi32>",
    )
    # 2^16 * 2^16 is 0 in i32: all lanes have the same address.
    expected, got = both(text, (0, 100, 200), 1 << 16, count=1)
    np.testing.assert_array_equal(got, expected)


def test_a_mask_that_was_loaded_from_where_is_written():
    text = """entry @k(%a: tile<ptr<i32>>, %c: tile<ptr<i32>>) {
      %lanes = iota : tile<64xi32>
      %a_1 = reshape %a : tile<ptr<i32>> -> tile<1xptr<i32>>
      %a_all = broadcast %a_1 : tile<1xptr<i32>> -> tile<64xptr<i32>>
      %a_at = offset %a_all, %lanes : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
      %c_1 = reshape %c : tile<ptr<i32>> -> tile<1xptr<i32>>
      %c_all = broadcast %c_1 : tile<1xptr<i32>> -> tile<64xptr<i32>>
      %c_at = offset %c_all, %lanes : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
      %x, %read = load_ptr_tko weak %a_at : tile<64xptr<i32>> -> tile<64xi32>, token
      %limit = constant <i32: 100> : tile<64xi32>
      %mask = cmpi less_than %x, %limit, signed : tile<64xi32> -> tile<64xi1>
      %more = addi %x, %limit : tile<64xi32>
      %written = store_ptr_tko weak %c_at, %more, %mask token=%read
        : tile<64xptr<i32>>, tile<64xi32>, tile<64xi1> -> token
      return
    }"""
    for offset in (0, 1, 3, 100):
        results = []
        for target in ("interp", "cpu"):
            memory = (np.arange(400, dtype=np.int32) * 37) % 200
            tileir.parse(text)["k"].launch(1, memory, memory[offset:], target=target)
            results.append(memory)
        np.testing.assert_array_equal(results[1], results[0])
