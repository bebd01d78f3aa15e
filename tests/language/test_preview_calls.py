"""Calls of linked code run the stand-in of the host (spec: calls#preview-call)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tileir
from tileir.host import extern

SCALED = """entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f16>>) {
  %lanes = iota : tile<4xi32>
  %base = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %spread = broadcast %base : tile<1xptr<f32>> -> tile<4xptr<f32>>
  %at = offset %spread, %lanes : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
  %x, %t = load_ptr_tko weak %at : tile<4xptr<f32>> -> tile<4xf32>, token
  %y:2 = preview$call @scale<[3, "by", (f16, ())]>(%x, %t) : (tile<4xf32>, token) -> (tile<4xf16>, token)
  %out = reshape %q : tile<ptr<f16>> -> tile<1xptr<f16>>
  %outs = broadcast %out : tile<1xptr<f16>> -> tile<4xptr<f16>>
  %to = offset %outs, %lanes : tile<4xptr<f16>>, tile<4xi32> -> tile<4xptr<f16>>
  %u = store_ptr_tko weak %to, %y#0 token = %y#1 : tile<4xptr<f16>>, tile<4xf16> -> token
  return
}"""


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extern, "_stand_ins", {})


def scaled(function: Callable[..., object], target: str = "interp") -> np.ndarray:
    tileir.register_stand_in("scale", function)
    source, result = np.array([1, 2, 3, 4], np.float32), np.zeros(4, np.float16)
    tileir.parse(SCALED)["k"].launch((1,), source, result, target=target)
    return result


def test_a_stand_in_is_given_constants_and_tiles() -> None:
    given: list[object] = []

    def scale(*values: object) -> np.ndarray:
        given.extend(values)
        return np.asarray(values[-1]) * values[0]

    assert scaled(scale).tolist() == [3, 6, 9, 12]
    *constants, tile = given
    assert constants == [3, "by", ("f16", ())]
    assert isinstance(tile, np.ndarray) and tile.dtype == np.float32 and not tile.flags.writeable


def test_its_numbers_are_rounded_to_the_type_of_the_result() -> None:
    assert scaled(lambda *values: np.full(4, 1 + 2.0**-12)).tolist() == [1.0] * 4
    assert scaled(lambda *values: np.arange(4)).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "expected 1 arrays, got 0|expected an array of shape"),
        ((1, 2), "expected 1 arrays, got 2"),
        (np.zeros(3), r"expected an array of shape \(4,\) for tile<4xf16>, got \(3,\)"),
        (["a"] * 4, "expected an array of numbers for tile<4xf16>"),
        ([[1], [2, 3]], "expected an array for tile<4xf16>, got list"),
    ],
    ids=["nothing", "too many", "shape", "strings", "ragged"],
)
def test_what_is_no_tile_of_the_result_is_a_trap(given: object, message: str) -> None:
    with pytest.raises(tileir.Trap, match=message):
        scaled(lambda *values: given)


def test_an_unknown_callee_is_named_with_what_helps() -> None:
    with pytest.raises(tileir.UnsupportedError, match=r"'scale', code of a GPU.*register_stand_in"):
        tileir.parse(SCALED)["k"].launch((1,), np.zeros(4, np.float32), np.zeros(4, np.float16), target="interp")


def test_native_code_refuses_it_and_says_where_it_runs() -> None:
    with pytest.raises(tileir.UnsupportedError, match="target 'interp' runs a registered stand-in"):
        scaled(lambda *values: values[-1], "cpu")


def test_views_do_not_cross_to_a_stand_in() -> None:
    tileir.register_stand_in("f", lambda *values: None)
    text = """entry @k(%p: tile<ptr<f32>>) {
      %v = make_tensor_view %p, shape = [4], strides = [1] : tensor_view<4xf32, strides=[1]>
      preview$call @f(%v) : (tensor_view<4xf32, strides=[1]>) -> ()
      return
    }"""
    with pytest.raises(tileir.UnsupportedError, match="takes and gives tiles and tokens, got tensor_view"):
        tileir.parse(text)["k"].launch((1,), np.zeros(4, np.float32), target="interp")


def test_only_functions_with_a_name_are_registered() -> None:
    with pytest.raises(ValueError, match="symbol"):
        tileir.register_stand_in("", abs)
    with pytest.raises(TypeError, match="callable"):
        tileir.register_stand_in("f", 3)  # type: ignore[arg-type]
