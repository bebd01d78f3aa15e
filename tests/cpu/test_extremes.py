"""The largest and smallest element of a row, whose comparisons leave zeros and NaN for later, are the interpreter's."""

from __future__ import annotations

import numpy as np
import pytest

import tileir
from tests.cpu.test_reduction_trees import DTYPES, REDUCE, folded, plain

NAN, INF = float("nan"), float("inf")
FILLINGS = {
    "nothing but NaN": [NAN],
    "NaN and the first of all": [NAN, -INF, NAN],
    "NaN and the last of all": [NAN, INF, NAN],
    "zeros of both signs": [0.0, -0.0],
    "negative zeros": [-0.0],
    "negative zeros, NaN and less": [-0.0, NAN, -1.0],
    "negative zeros and more": [-0.0, 1.0, NAN],
    "a zero among less": [-3.0, 0.0, -1.0],
    "a negative zero among more": [3.0, -0.0, 1.0],
    "nothing but the first of all": [-INF],
    "nothing but the last of all": [INF],
    "numbers": [1.5, -2.0, NAN, 7.0],
}


def rows(filling: list[float], count: int, columns: int, element: str) -> np.ndarray:
    """Rows filled with some floats in random order, but for two with others."""
    random = np.random.default_rng(columns)
    found = np.stack([random.permutation(np.resize(np.array(filling), columns)) for _ in range(count)])
    found[count // 2] = random.standard_normal(columns)
    found[-1] = np.where(np.arange(columns) == columns - 1, -0.0, NAN)
    return found.astype(DTYPES[element])


@pytest.mark.parametrize("operation", ["maxf %l, %r", "minf %r, %l"])
@pytest.mark.parametrize("shape", [(1, 4), (2, 8), (4, 256), (32, 64), (64, 16)])
@pytest.mark.parametrize("element", ["f32", "f64"])
def test_zeros_and_nan_in_rows_of_every_length(operation: str, shape: tuple[int, int], element: str) -> None:
    count, columns = shape
    for filling in FILLINGS.values():
        x = rows(filling, count, columns, element)
        found = folded(x, REDUCE, 1, plain(operation, element))
        numpy = np.fmax if operation.startswith("maxf") else np.fmin
        assert np.array_equal(found, numpy.reduce(x, axis=1), equal_nan=True)


def test_a_signalling_nan_is_left_out() -> None:
    x = np.full((2, 16), -5.0, np.float32)
    x.view(np.uint32)[:, ::2] = 0x7F800001
    x.view(np.uint32)[1, 1::2] = 0xFF800001
    found = folded(x, REDUCE, 1, plain("maxf %l, %r", "f32"))
    assert found[0] == -5 and np.isnan(found[1])


def test_flushed_subnormals_and_propagated_nan_are_left_to_the_tree() -> None:
    x = np.array([[1e-40, -1e-40, -0.0, NAN], [-1e-40, -2, -3, -4]], np.float32)
    for words in ("flush_to_zero", "propagate_nan", "flush_to_zero propagate_nan"):
        folded(x, REDUCE, 1, plain(f"maxf %l, %r {words}", "f32"))


def _with_a_number(operation: str, element: str) -> str:
    view = "tensor_view<?x{0}, strides=[1]>"
    tiles = "partition_view<tile=(64), " + view + ">"
    floats, ints = tiles.format(element), tiles.format("i32")
    return f"""entry @k(%x: tile<ptr<{element}>>, %y: tile<ptr<i32>>, %n: tile<i32>) {{
      %at, %j, %k = get_tile_block_id : tile<i32>
      %a = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> {view.format(element)}
      %b = make_tensor_view %y, shape = [%n], strides = [1] : tile<i32> -> {view.format("i32")}
      %as = make_partition_view %a : {floats}
      %bs = make_partition_view %b : {ints}
      %p, %s = load_view_tko weak %as[%at] : {floats}, tile<i32> -> tile<64x{element}>, token
      %i, %t = load_view_tko weak %bs[%at] : {ints}, tile<i32> -> tile<64xi32>, token
      %q = itof %i signed : tile<64xi32> -> tile<64x{element}>
      %r = {operation} : tile<64x{element}>
      %u = store_view_tko weak %r, %as[%at] token=%s : tile<64x{element}>, {floats}, tile<i32> -> token
    }}"""


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64], ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("operands", ["%p, %q", "%q, %p", "%p, %q propagate_nan"])
@pytest.mark.parametrize("name", ["maxf", "minf"])
def test_a_nan_beside_what_is_known_to_be_a_number_is_left_out(name: str, operands: str, dtype: type) -> None:
    element = f"f{8 * np.dtype(dtype).itemsize}"
    kernel = tileir.parse(_with_a_number(f"{name} {operands}", element))["k"]
    for offset, count in ((0, 7), (0, 100), (3, 129), (9, 513), (15, 257)):
        floats = np.resize(np.array([np.nan, -0.0, 2.5, 0.0, -np.inf, np.nan, np.inf], dtype), offset + count)
        ints = np.resize(np.array([3, 0, -1, 0, -2], np.int32), count)
        results = [floats.copy(), floats.copy()]
        for target, result in zip(("interp", "cpu"), results):
            kernel.launch(-(-count // 64), result[offset:], ints, count, target=target)
        np.testing.assert_array_equal(*results)
        np.testing.assert_array_equal(*map(np.signbit, (np.nan_to_num(result) for result in results)))
