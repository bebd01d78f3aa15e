"""A report notes elements of an array that a launch never wrote, where it wrote some, and strides it does not know."""

from __future__ import annotations

import numpy as np
import pytest

import tileir
from tileir.sanitize.report import SanitizerReport

STORE = """
entry @k(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %n: tile<i32>) {
  %b, %by, %bz = get_tile_block_id : tile<i32>
  %size = constant <i32: 64> : tile<i32>
  %first = muli %b, %size : tile<i32>
  %f1 = reshape %first : tile<i32> -> tile<1xi32>
  %fs = broadcast %f1 : tile<1xi32> -> tile<64xi32>
  %lanes = iota : tile<64xi32>
  %index = addi %fs, %lanes : tile<64xi32>
  %n1 = reshape %n : tile<i32> -> tile<1xi32>
  %ns = broadcast %n1 : tile<1xi32> -> tile<64xi32>
  %mask = cmpi less_than %index, %ns, signed : tile<64xi32> -> tile<64xi1>
  %x1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
  %xs = broadcast %x1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %xa = offset %xs, %index : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
  %y1 = reshape %y : tile<ptr<f32>> -> tile<1xptr<f32>>
  %ys = broadcast %y1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %ya = offset %ys, %index : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
  %zero = constant <f32: 0.0> : tile<64xf32>
  %v, %t = load_ptr_tko weak %xa, %mask, %zero : tile<64xptr<f32>>, tile<64xi1>, tile<64xf32> -> tile<64xf32>, token
  %u = store_ptr_tko weak %ya, %v, %mask token=%t : tile<64xptr<f32>>, tile<64xf32>, tile<64xi1> -> token
  return
}
"""


def report(grid: int, y: np.ndarray, n: int) -> SanitizerReport:
    return tileir.sanitize(tileir.parse(STORE)["k"], grid, np.ones(256, np.float32), y, n)


def test_a_grid_that_covers_too_little_is_noted() -> None:
    found = report(3, np.zeros(256, np.float32), 256)
    note = "64 of 256 elements of 'y' were never written, elements 192 to 255"
    assert (found.ok, len(found), found.notes) == (True, 0, (note,))
    assert f"NOTE: {note}\n" in str(found)
    assert found.to_json()["notes"] == [note]
    assert "never written" in found.to_html()


def test_what_is_written_whole_is_not_noted() -> None:
    assert report(4, np.zeros(256, np.float32), 256).notes == ()


def test_nothing_is_noted_of_arrays_that_are_not_written_at_all() -> None:
    assert report(4, np.zeros(256, np.float32), 0).notes == ()


@pytest.mark.parametrize(
    ("y", "n", "expected"),
    [
        (
            np.zeros((4, 64), np.float32),
            100,
            "156 of 256 elements of 'y' were never written, elements [1, 36] to [3, 63]",
        ),
        (np.zeros(256, np.float32), 255, "1 of 256 elements of 'y' were never written, elements 255"),
    ],
    ids=["two dimensions", "one element"],
)
def test_elements_are_named_by_their_index(y, n, expected) -> None:
    assert report(4, y, n).notes == (expected,)


def test_many_ranges_are_cut_short() -> None:
    kernel = tileir.parse("""
    entry @k(%y: tile<ptr<i32>>) {
      %b, %by, %bz = get_tile_block_id : tile<i32>
      %two = constant <i32: 2> : tile<i32>
      %at = muli %b, %two : tile<i32>
      %p = offset %y, %at : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %t = store_ptr_tko weak %p, %at : tile<ptr<i32>>, tile<i32> -> token
      return
    }""")["k"]
    found = tileir.sanitize(kernel, 8, np.zeros(16, np.int32))
    assert found.notes == ("8 of 16 elements of 'y' were never written, elements 1, 3, 5 and 5 more ranges",)


def test_nothing_is_noted_of_a_launch_with_faults() -> None:
    found = report(5, np.zeros(256, np.float32), 300)
    assert not found.ok
    assert found.notes == ()


def test_a_transposed_array_is_noted_where_its_strides_are_not_passed() -> None:
    turned, y = np.ones((4, 64), np.float32).T, np.zeros(256, np.float32)
    note = "the strides of 'x' are [1, 64], and no argument is one of them"
    found = tileir.sanitize(tileir.parse(STORE)["k"], 4, turned, y, 256)
    assert (found.ok, found.notes) == (True, (note,))
    assert tileir.sanitize(tileir.parse(STORE)["k"], 1, turned, y[:64], 64).notes == ()
    assert tileir.sanitize(tileir.parse(STORE)["k"], 4, turned.copy(), y, 256).notes == ()


def test_a_view_of_a_transposed_array_with_other_strides_is_noted() -> None:
    kernel = tileir.parse("""
    entry @k(%x: tile<ptr<f32>>, %n: tile<i32>) {
      %v = make_tensor_view %x, shape = [%n, 8], strides = [8, 1] : tile<i32> -> tensor_view<?x8xf32, strides=[8,1]>
      return
    }""")["k"]
    turned = np.ones((8, 4), np.float32).T
    expected = ("the view has strides [8, 1], but those of 'x' are [1, 4]: its elements are mixed up",)
    assert tileir.sanitize(kernel, 1, turned, 4).notes == expected
    assert tileir.sanitize(kernel, 1, turned.copy(), 4).notes == ()


def test_a_text_shows_some_notes_and_counts_the_rest() -> None:
    text = str(SanitizerReport([], "k", notes=tuple(f"note {number}" for number in range(25))))
    assert text.count("NOTE: note") == 20
    assert "NOTE: 5 more\n" in text
