"""Rows that a tile of indices chooses from a tensor view are moved as the interpreter moves their elements."""

from __future__ import annotations

import sys
from itertools import product

import ml_dtypes
import numpy as np
import pytest

import tileir
from tests.cpu.test_pointer_rows import assert_same

DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8, "i64": np.int64}
ROWS, COLUMNS, COUNT, WIDTH = 5, 96, 4, 64
"""Of the tensor, and of the tile."""


def program(element: str, padding: str = "", sparse: int = 0) -> str:
    """``c[to, column:] = a[from, column:]`` of a tensor of 5 x 96, which is turned where columns are chosen."""
    shape, tile, strides = (ROWS, COLUMNS), (COUNT, WIDTH), (COLUMNS, 1)
    if sparse == 1:
        shape, tile, strides = shape[::-1], tile[::-1], strides[::-1]
    padded = f"padding_value = {padding}, " if padding else ""
    tensor = f"tensor_view<{shape[0]}x{shape[1]}x{element}, strides=[{strides[0]},{strides[1]}]>"
    view = f"gather_scatter_view<tile=({tile[0]}x{tile[1]}), {{}}{tensor}, sparse_dim={sparse}>"
    source, target = view.format(padded), view.format("")
    table = f"tensor_view<{COUNT}xi32, strides=[1]>"
    numbers = f"partition_view<tile=({COUNT}), {table}>"
    value = f"tile<{tile[0]}x{tile[1]}x{element}>"

    def at(chosen: str) -> tuple[str, str]:
        words = (chosen, "%column"), (f"tile<{COUNT}xi32>", "tile<i32>")
        return tuple(", ".join(part[::-1] if sparse else part) for part in words)  # type: ignore[return-value]

    (read, kinds), (written, _) = at("%chosen"), at("%goals")
    return f"""entry @k(%a: tile<ptr<{element}>>, %c: tile<ptr<{element}>>, %from: tile<ptr<i32>>, %to: tile<ptr<i32>>,
         %column: tile<i32>) {{
  %zero = constant <i32: 0> : tile<i32>
  %as = make_tensor_view %a, shape = [{shape[0]}, {shape[1]}], strides = [{strides[0]}, {strides[1]}] : {tensor}
  %cs = make_tensor_view %c, shape = [{shape[0]}, {shape[1]}], strides = [{strides[0]}, {strides[1]}] : {tensor}
  %froms = make_tensor_view %from, shape = [{COUNT}], strides = [1] : {table}
  %tos = make_tensor_view %to, shape = [{COUNT}], strides = [1] : {table}
  %source = make_gather_scatter_view %as : {source}
  %target = make_gather_scatter_view %cs : {target}
  %from_tiles = make_partition_view %froms : {numbers}
  %to_tiles = make_partition_view %tos : {numbers}
  %chosen, %t0 = load_view_tko weak %from_tiles[%zero] : {numbers}, tile<i32> -> tile<{COUNT}xi32>, token
  %goals, %t1 = load_view_tko weak %to_tiles[%zero] : {numbers}, tile<i32> -> tile<{COUNT}xi32>, token
  %x, %t2 = load_view_tko weak %source[{read}] : {source}, {kinds} -> {value}, token
  %t3 = store_view_tko weak %x, %target[{written}] token=%t2 : {value}, {target}, {kinds} -> token
}}"""


def memory(dtype: type, chosen: tuple[int, ...], goals: tuple[int, ...], rows: int = ROWS) -> list[np.ndarray]:
    tables = [np.array(numbers, np.int32) for numbers in (chosen, goals)]
    found = [(np.arange(rows * COLUMNS) % 100).astype(dtype), np.full(ROWS * COLUMNS, 50, dtype)]
    return [*found, *tables]


CHOSEN = ((0, 1, 2, 3), (4, 2, 0, 1), (3, 3, 3, 3), (0, 5, -1, 2), (2**31 - 1, -(2**31), 4, 4))
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="protects pages with mprotect of Linux")


@LINUX
@pytest.mark.parametrize("sparse", [0, 1])
@pytest.mark.parametrize(("element", "padding"), [*((name, "") for name in DTYPES), ("f32", "nan"), ("f16", "neg_inf")])
def test_rows_inside_outside_and_chosen_twice(element: str, padding: str, sparse: int) -> None:
    kernel = tileir.parse(program(element, padding, sparse))["k"]
    for (chosen, goals), column in product(product(CHOSEN, CHOSEN), (0, 1, 32, 33, 95, 96, -1)):
        assert not assert_same(kernel, memory(DTYPES[element], chosen, goals), column)


@LINUX
def test_a_view_of_more_than_there_is_traps_at_the_element() -> None:
    kernel, traps = tileir.parse(program("f32"))["k"], []
    for chosen in CHOSEN[:3]:
        traps.append(assert_same(kernel, memory(np.float32, chosen, CHOSEN[0], rows=4), 0))
    assert traps == [False, True, False]
