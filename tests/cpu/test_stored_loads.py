"""Tiles that a store alone reads are read as far as they are stored, and padded where that is more than there is."""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
import pytest

import tileir
from tests.cpu.guarded import Guarded

MATRIX = "tensor_view<?x?xf32, strides=[?,1]>"
VECTOR = "tensor_view<?xf32, strides=[1]>"


def scaled(tile: int, rows: int = 1, padding: str = "") -> str:
    """Return a program that multiplies rows of a matrix by a vector and adds them: in tiles of some rows for each tile
    block."""
    shape, part = f"{rows}x{tile}", f"partition_view<tile=({rows}x{tile}){padding}, {MATRIX}>"
    across = f"partition_view<tile=({tile}){padding}, {VECTOR}>"
    spread = "" if rows == 1 else f"%wide = broadcast %w_1 : tile<1x{tile}xf32> -> tile<{shape}xf32>"
    return f"""entry @k(%a: tile<ptr<f32>>, %w: tile<ptr<f32>>, %b: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>,
                        %width: tile<i32>, %out: tile<i32>, %pieces: tile<i32>) {{
  %a_view = make_tensor_view %a, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> {MATRIX}
  %w_view = make_tensor_view %w, shape = [%width], strides = [1] : tile<i32> -> {VECTOR}
  %b_view = make_tensor_view %b, shape = [%m, %out], strides = [%out, 1] : tile<i32> -> {MATRIX}
  %a_tiles = make_partition_view %a_view : {part}
  %w_tiles = make_partition_view %w_view : {across}
  %b_tiles = make_partition_view %b_view : {part}
  %x, %y, %z = get_tile_block_id : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  for %j in (%zero to %pieces, step %one) : tile<i32> {{
    %p, %t0 = load_view_tko weak %a_tiles[%x, %j] : {part}, tile<i32> -> tile<{shape}xf32>, token
    %v, %t1 = load_view_tko weak %w_tiles[%j] : {across}, tile<i32> -> tile<{tile}xf32>, token
    %w_1 = reshape %v : tile<{tile}xf32> -> tile<1x{tile}xf32>
    {spread}
    %f = mulf %p, {"%w_1" if rows == 1 else "%wide"} : tile<{shape}xf32>
    %s = addf %f, %p : tile<{shape}xf32>
    %t2 = store_view_tko weak %s, %b_tiles[%x, %j] token = %t0 : tile<{shape}xf32>, {part}, tile<i32> -> token
  }}
}}"""


def results(text: str, m: int, n: int, width: int, out: int, shift: int | None, target: str) -> bytes:
    """Return the memory after a launch; it ends where the arrays end. `shift`: the result begins so many elements
    behind the matrix, in the same memory."""
    rng, guarded = np.random.default_rng(m * n), Guarded()
    tile, rows = (int(size) for size in reversed(text.split("tile=(")[1].split(")")[0].split(",")[0].split("x")))
    memory = rng.standard_normal(m * max(n, out) + 64, np.float32)
    a = guarded.copy(memory[: m * n] if shift is None else memory)
    w = guarded.copy(rng.standard_normal(width, np.float32))
    b = guarded.copy(np.zeros(m * out, np.float32)) if shift is None else a[shift:]
    pieces = -(-max(n, out) // tile)
    tileir.parse(text)["k"].launch(-(-m // rows), a, w, b, m, n, width, out, pieces, target=target)
    return a.tobytes() + b.tobytes()


def same(text: str, *arguments: int | None) -> bool:
    return results(text, *arguments, "interp") == results(text, *arguments, "cpu")


pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="guards memory as Linux does"),
    pytest.mark.filterwarnings("ignore:.*outside the index space:tileir.KernelWarning"),
]


@pytest.mark.parametrize(("tile", "rows"), [(256, 1), (256, 2), (32, 1), (16, 4)])
@pytest.mark.parametrize("kind", ["zero", "neg_inf"])
def test_what_is_stored_is_computed_from_what_is_there(tile: int, rows: int, kind: str) -> None:
    text = scaled(tile, rows, f", padding_value = {kind}")
    short, even = 3 * tile - 7, 2 * tile
    for m, (n, width, out) in product((1, 5), ((short,) * 3, (even,) * 3, (short, short, even), (short, even, short))):
        assert same(text, m, n, width, out, None), (m, n, width, out)
        assert same(text, m, n, short - tile, out, None), (m, n, out)


@pytest.mark.parametrize("shift", [0, 1, 5, 64])
def test_arrays_that_overlap(shift: int) -> None:
    text = scaled(256, 1, ", padding_value = zero")
    for n in (200, 256, 249):
        assert same(text, 1, n, n, n, shift), n


def test_without_padding() -> None:
    assert same(scaled(256), 5, 1000, 1000, 1000, None)
