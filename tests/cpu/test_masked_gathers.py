"""Elements from anywhere under any mask, which loops on vectors gather: what is left out is never read."""

from __future__ import annotations

import numpy as np
import pytest

import tileir
from tests.cpu.guarded import Guarded
from tests.thorough import sampled

GATHER = """
entry @gather(%source: tile<ptr<{e}>>, %at: tile<ptr<i32>>, %out: tile<ptr<{e}>>, %n: tile<i32>, %d: tile<i32>) {{
  %b, %by, %bz = get_tile_block_id : tile<i32>
  %size = constant <i32: 128> : tile<i32>
  %first = muli %b, %size : tile<i32>
  %f1 = reshape %first : tile<i32> -> tile<1xi32>
  %fs = broadcast %f1 : tile<1xi32> -> tile<128xi32>
  %iota = iota : tile<128xi32>
  %i = addi %fs, %iota : tile<128xi32>
  %n1 = reshape %n : tile<i32> -> tile<1xi32>
  %ns = broadcast %n1 : tile<1xi32> -> tile<128xi32>
  %inside = cmpi less_than %i, %ns, signed : tile<128xi32> -> tile<128xi1>
  %a1 = reshape %at : tile<ptr<i32>> -> tile<1xptr<i32>>
  %as = broadcast %a1 : tile<1xptr<i32>> -> tile<128xptr<i32>>
  %ai = offset %as, %i : tile<128xptr<i32>>, tile<128xi32> -> tile<128xptr<i32>>
  %zero = constant <i32: 0> : tile<128xi32>
  %index, %t0 = load_ptr_tko weak %ai, %inside, %zero
    : tile<128xptr<i32>>, tile<128xi1>, tile<128xi32> -> tile<128xi32>, token
  %d1 = reshape %d : tile<i32> -> tile<1xi32>
  %ds = broadcast %d1 : tile<1xi32> -> tile<128xi32>
  %divided = divi %index, %ds signed rounding<negative_inf> : tile<128xi32>
  %known = cmpi greater_than_or_equal %index, %zero, signed : tile<128xi32> -> tile<128xi1>
  %mask = andi %inside, %known : tile<128xi1>
  %s1 = reshape %source : tile<ptr<{e}>> -> tile<1xptr<{e}>>
  %ss = broadcast %s1 : tile<1xptr<{e}>> -> tile<128xptr<{e}>>
  %si = offset %ss, %divided : tile<128xptr<{e}>>, tile<128xi32> -> tile<128xptr<{e}>>
  {load}
  %o1 = reshape %out : tile<ptr<{e}>> -> tile<1xptr<{e}>>
  %os = broadcast %o1 : tile<1xptr<{e}>> -> tile<128xptr<{e}>>
  %oi = offset %os, %i : tile<128xptr<{e}>>, tile<128xi32> -> tile<128xptr<{e}>>
  %t2 = store_ptr_tko weak %oi, %found, %inside : tile<128xptr<{e}>>, tile<128x{e}>, tile<128xi1> -> token
}}
"""
LOAD = """%found, %t1 = load_ptr_tko weak %si, %mask, %{one}
    : tile<128xptr<{e}>>, tile<128xi1>, tile<128x{e}> -> tile<128x{e}>, token"""
CASTS = {"i8": "trunci %i", "i64": "exti %i signed"}
KINDS = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "i64": np.int64}


def load_of(element: str) -> str:
    """Where the mask is 0 an element is its index."""
    cast = CASTS.get(element, "itof %i signed")
    return f"%one = {cast} : tile<128xi32> -> tile<128x{element}>\n  {LOAD.format(e=element, one='one')}"


@pytest.mark.parametrize("element", sampled(KINDS, 2))
@pytest.mark.parametrize("n", [1, 100, 128, 300])
@pytest.mark.parametrize("divisor", [1, 3])
def test_gathers_under_a_mask_equal_the_reference(element: str, n: int, divisor: int) -> None:
    """Indices that are left out lead 2 GiB in front of the array; the last one that counts is its last element."""
    kernel = tileir.parse(GATHER.format(e=element, load=load_of(element)))["gather"]
    rng, length = np.random.default_rng(n), 77
    index = rng.integers(0, length * divisor, n).astype(np.int32)
    index[rng.random(n) < 0.4] = -(1 << 30)
    index[n // 2] = length * divisor - 1
    guarded, results = Guarded(), []
    source = guarded.copy(rng.integers(-100, 100, length).astype(KINDS[element]))
    for target in ("interp", "cpu"):
        out = np.full(n + 8, 55, KINDS[element])
        kernel.launch(-(-n // 128), source, guarded.copy(index), out, n, divisor, target=target)
        assert (out[n:] == 55).all()
        results.append(out)
    assert results[0].tobytes() == results[1].tobytes()


@pytest.mark.parametrize("place", [0, 5, 64, 99])
def test_an_element_outside_that_counts_traps(place: int) -> None:
    kernel = tileir.parse(GATHER.format(e="f32", load=load_of("f32")))["gather"]
    index = np.full(100, -5, np.int32)
    index[place] = 77
    out = np.zeros(100, np.float32)
    with pytest.raises(tileir.Trap, match=rf"tile element \[{place}\]"):
        kernel.launch(1, np.zeros(77, np.float32), index, out, 100, 1, target="cpu")


def test_elements_of_a_neighbouring_array_are_read() -> None:
    """Elements outside of the first array may lie in another one of the launch."""
    kernel = tileir.parse(GATHER.format(e="i32", load=LOAD.format(e="i32", one="i")))["gather"]
    memory = np.random.default_rng(1).integers(0, 150, 150).astype(np.int32)
    results = []
    for target in ("interp", "cpu"):
        out = np.zeros(100, np.int32)
        kernel.launch(1, memory[:50], memory[50:], out, 100, 1, target=target)
        results.append(out)
    assert (results[1] == memory[memory[50:]]).all()
    assert results[0].tobytes() == results[1].tobytes()
