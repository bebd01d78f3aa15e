"""Code prefetches the known reads and writes of the next tile block, and results stay the same."""

from __future__ import annotations

import numpy as np
import pytest

import tileir
from tests.cpu.anew import compile_anew
from tileir.cpu.memory import cache_policy


def program(index: str = "%x, %j", rows: int = 1, piece: int = 64) -> str:
    """``out = 2 * in`` for one tile of rows, in pieces, where the tile of a piece has `index`."""
    view = f"partition_view<tile=({rows}x{piece}), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>"
    tile, tensor = f"tile<{rows}x{piece}xf32>", "tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>"
    return f"""
entry @k(%in: tile<ptr<f32>>, %out: tile<ptr<f32>>, %rows: tile<i32>, %width: tile<i32>, %pieces: tile<i32>) {{
  %in_tensor = make_tensor_view %in, shape = [%rows, %width], strides = [%width, 1] : {tensor}
  %out_tensor = make_tensor_view %out, shape = [%rows, %width], strides = [%width, 1] : {tensor}
  %in_tiles = make_partition_view %in_tensor : {view}
  %out_tiles = make_partition_view %out_tensor : {view}
  %x, %y, %z = get_tile_block_id : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  for %j in (%zero to %pieces, step %one) : tile<i32> {{
    %read, %t0 = load_view_tko weak %in_tiles[{index}] : {view}, tile<i32> -> {tile}, token
    %sum = addf %read, %read : {tile}
    %t1 = store_view_tko weak %sum, %out_tiles[{index}] : {tile}, {view}, tile<i32> -> token
    continue
  }}
}}"""


@pytest.fixture
def asked(monkeypatch):
    """Return whether each prefetch in the compiled code is one for writing."""
    compile_anew(monkeypatch)
    found, prefetch = [], cache_policy.prefetch

    def noted(builder, address, *level, **kind):
        found.extend(kind.values())
        prefetch(builder, address, *level, **kind)

    monkeypatch.setattr(cache_policy, "prefetch", noted)
    return found


def agrees(text: str, grid: tuple[int, ...], rows: int, width: int, pieces: int, **options: object) -> None:
    kernel = tileir.parse(text)["k"]
    given = np.random.default_rng(0).standard_normal((rows, width), np.float32)
    results = []
    for target, words in (("cpu", options), ("interp", {})):
        out = np.full_like(given, 7)
        kernel.launch(grid, given, out, rows, width, pieces, target=target, **words)
        results.append(out)
    assert np.array_equal(*results)


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_in_pieces_ask_for_the_next_row(asked, threads):
    for count, width in ((1, 64), (37, 200), (200, 1000)):
        agrees(program(), (count,), count, width, -(-width // 64), threads=threads)
    assert set(asked) == {False, True}


def test_tiles_of_several_rows_at_the_border(asked):
    agrees(program(rows=4), (6,), 22, 100, 2, threads=1)
    assert set(asked) == {False, True}


def test_a_grid_of_two_dimensions(asked):
    agrees(program(), (20, 3), 20, 130, 3, threads=1)
    assert asked


@pytest.mark.parametrize("text", [program("%y, %j"), program("%j, %zero"), program("%x, %x"), program(rows=32)])
def test_what_is_not_known_or_too_large_is_not_asked_for(asked, text):
    agrees(text, (1, 4), 8, 64, 1, threads=1)
    assert not asked


ADDED = """
entry @k(%in: tile<ptr<f32>>, %out: tile<ptr<f32>>, %n: tile<i32>) {
  %in_tensor = make_tensor_view %in, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %out_tensor = make_tensor_view %out, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %in_tiles = make_partition_view %in_tensor : partition_view<tile=(512), tensor_view<?xf32, strides=[1]>>
  %out_tiles = make_partition_view %out_tensor : partition_view<tile=(512), tensor_view<?xf32, strides=[1]>>
  %x, %y, %z = get_tile_block_id : tile<i32>
  %read, %t0 = load_view_tko weak %in_tiles[%x]
    : partition_view<tile=(512), tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<512xf32>, token
  %sum = addf %read, %read : tile<512xf32>
  %t1 = store_view_tko weak %sum, %out_tiles[%x]
    : tile<512xf32>, partition_view<tile=(512), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
}"""


def test_what_is_asked_for_does_not_bypass_the_cache_but_joined_tile_blocks_do(asked, monkeypatch):
    bypassing, worth_while = [], cache_policy.worth_while

    def noted(*given):
        bypassing.append(given)
        return worth_while(*given)

    monkeypatch.setattr(cache_policy, "worth_while", noted)
    agrees(program(piece=512), (20,), 20, 1000, 2, threads=1)
    assert asked and not bypassing
    asked.clear()
    given, out = np.ones(4096, np.float32), np.zeros(4096, np.float32)
    tileir.parse(ADDED)["k"].launch((8,), given, out, 4096, target="cpu")
    assert (out == 2).all() and bypassing and not asked
