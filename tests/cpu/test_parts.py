"""Parts of tiles at the border of an array move bit by bit, whole rows at a time where they can."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tileir
from tileir.cpu.emit.record import CheckLevel
from tileir.cpu.run.program import lowered

ELEMENTS = {"i8": np.int8, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}


def program(element: str, columns: int = 16) -> str:
    """``c = a`` in tiles of 8 rows."""
    view = f"tensor_view<?x?x{element}, strides=[?,1]>"
    tiles = f"partition_view<tile=(8x{columns}), padding_value = zero, {view}>"
    return f"""entry @k(%a: tile<ptr<{element}>>, %c: tile<ptr<{element}>>, %m: tile<i32>, %n: tile<i32>,
                        %apart: tile<i32>) {{
  %x, %y, %z = get_tile_block_id : tile<i32>
  %from = make_tensor_view %a, shape = [%m, %n], strides = [%apart, 1] : tile<i32> -> {view}
  %to = make_tensor_view %c, shape = [%m, %n], strides = [%apart, 1] : tile<i32> -> {view}
  %source = make_partition_view %from : {tiles}
  %target = make_partition_view %to : {tiles}
  %tile, %t = load_view_tko weak %source[%x, %y] : {tiles}, tile<i32> -> tile<8x{columns}x{element}>, token
  %u = store_view_tko weak %tile, %target[%x, %y] : tile<8x{columns}x{element}>, {tiles}, tile<i32> -> token
}}"""


@pytest.mark.parametrize("check", [True, "strict"])
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("shape", [(1, 1), (7, 15), (20, 40)])
def test_every_bit_of_a_part_arrives_and_nothing_beside_it_changes(
    element: str, shape: tuple[int, int], check: bool | str
) -> None:
    rows, columns = shape
    kernel, dtype = tileir.parse(program(element))["k"], np.dtype(ELEMENTS[element])
    bits = np.random.default_rng(0).integers(0, 256, (rows, 48 * dtype.itemsize), np.uint8)
    source, target = bits.view(dtype), np.full_like(bits, 0xFF).view(dtype)
    grid = -(-rows // 8), -(-columns // 16)
    kernel.launch(grid, source, target, rows, columns, 48, target="cpu", check=check)
    expected = np.full_like(bits, 0xFF)
    expected[:, : columns * dtype.itemsize] = bits[:, : columns * dtype.itemsize]
    same = target.tobytes() == expected.tobytes()
    assert same


def test_long_rows_are_copied_and_cleared_at_once() -> None:
    """Short ones too."""
    text = str(lowered(tileir.parse(program("f16", columns=1024))["k"].entry, (), CheckLevel.STRICT).module)
    assert text.count('call void @"llvm.memcpy') == 2
    assert text.count('call void @"llvm.memset') == 1
