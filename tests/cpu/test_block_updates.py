"""Updates that only the tile block itself can see are code without atomic instructions, and give the same."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tileir
from tests.thorough import sampled

UPDATE = """
entry @k(%memory: tile<ptr<{type}>>, %places: tile<ptr<i32>>, %values: tile<ptr<{type}>>, %found: tile<ptr<{type}>>) {{
  %lanes = iota : tile<64xi32>
  %p0 = reshape %places : tile<ptr<i32>> -> tile<1xptr<i32>>
  %p1 = broadcast %p0 : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %p2 = offset %p1, %lanes : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
  %place, %t0 = load_ptr_tko weak %p2 : tile<64xptr<i32>> -> tile<64xi32>, token
  %v0 = reshape %values : tile<ptr<{type}>> -> tile<1xptr<{type}>>
  %v1 = broadcast %v0 : tile<1xptr<{type}>> -> tile<64xptr<{type}>>
  %v2 = offset %v1, %lanes : tile<64xptr<{type}>>, tile<64xi32> -> tile<64xptr<{type}>>
  %value, %t1 = load_ptr_tko weak %v2 : tile<64xptr<{type}>> -> tile<64x{type}>, token
  %m0 = reshape %memory : tile<ptr<{type}>> -> tile<1xptr<{type}>>
  %m1 = broadcast %m0 : tile<1xptr<{type}>> -> tile<64xptr<{type}>>
  %m2 = offset %m1, %place : tile<64xptr<{type}>>, tile<64xi32> -> tile<64xptr<{type}>>
  %few = constant <i32: 50> : tile<64xi32>
  %some = cmpi less_than %lanes, %few, signed : tile<64xi32> -> tile<64xi1>
  %old, %t2 = atomic_rmw_tko relaxed {scope} %m2, {mode}, %value, %some
    : tile<64xptr<{type}>>, tile<64x{type}>, tile<64xi1> -> tile<64x{type}>, token
  {use}
}}
"""
USE = """
  %f0 = reshape %found : tile<ptr<{type}>> -> tile<1xptr<{type}>>
  %f1 = broadcast %f0 : tile<1xptr<{type}>> -> tile<64xptr<{type}>>
  %f2 = offset %f1, %lanes : tile<64xptr<{type}>>, tile<64xi32> -> tile<64xptr<{type}>>
  %t3 = store_ptr_tko weak %f2, %old, %some : tile<64xptr<{type}>>, tile<64x{type}>, tile<64xi1> -> token
"""
INTEGERS = ["and", "or", "xor", "add", "max", "min", "umax", "umin", "xchg"]
FORMS = [(mode, type) for type in ("i32", "i64") for mode in INTEGERS] + [
    (mode, type) for type in ("f32", "f64") for mode in ("addf", "xchg")
] + [("addf", "f16"), ("addf", "bf16")]  # fmt: skip


def run(mode: str, type: str, scope: str, used: bool, target: str) -> list[bytes]:
    """Return the bytes of memory and of what the lanes found there, after 50 updates of 16 places."""
    kernel = tileir.parse(UPDATE.format(type=type, mode=mode, scope=scope, use=USE.format(type=type) if used else ""))
    random = np.random.default_rng(0)
    dtype = np.dtype({"f": f"f{int(type[-2:]) // 8}", "i": f"i{int(type[-2:]) // 8}"}.get(type[0], ml_dtypes.bfloat16))
    memory, values = np.split((random.standard_normal(16 + 64) * 1000).astype(dtype), [16])
    found, places = np.zeros(64, dtype), random.integers(0, 16, 64).astype(np.int32)
    kernel["k"].launch(1, memory, places, values, found, target=target)
    return [memory.tobytes(), found.tobytes()]


@pytest.mark.parametrize("used", [True, False])
@pytest.mark.parametrize(("mode", "type"), sampled(FORMS, 3))
def test_updates_of_the_own_block_equal_those_that_all_see(mode: str, type: str, used: bool) -> None:
    wanted = run(mode, type, "device", used, "interp")
    assert run(mode, type, "tl_blk", used, "interp") == wanted
    assert run(mode, type, "tl_blk", used, "cpu") == run(mode, type, "device", used, "cpu") == wanted
