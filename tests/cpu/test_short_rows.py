"""Tiles whose rows are shorter than a vector: their loops go through all elements by number (`Emitter.loop_nest`)."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

import tileir
from tests.cpu.guarded import Guarded
from tests.thorough import sampled

SHAPES = [(2,) * 6, (4, 2, 16, 2), (64, 4), (8, 1, 2, 4), (2, 256, 2), (2, 2), (1 << 14, 2)]
TYPES = {
    "i8": (np.int8, "trunci %i"),
    "i16": (np.int16, "trunci %i"),
    "i32": (np.int32, "absi %i"),
    "i64": (np.int64, "exti %i signed"),
    "f16": (np.float16, "itof %i signed"),
    "f32": (np.float32, "itof %i signed"),
    "f64": (np.float64, "itof %i signed"),
}
"""NumPy's types, and the operations that take an index `%i` to them."""


def tile(shape: tuple[int, ...], element: str) -> str:
    return f"tile<{'x'.join(map(str, (*shape, element)))}>"


def joined(shape: tuple[int, ...], element: str) -> str:
    """A kernel that takes from each element, along one dimension after the other, what its row adds up to and its
    index; and stores the elements with their dimensions reversed."""
    whole, kind, zero = tile(shape, element), element[0], "0.0" if element[0] == "f" else "0"
    lines, x = [], "%x0"
    for dim, extent in enumerate(shape):
        before, after = shape[:dim], shape[dim + 1 :]
        less, kept = (*before, *after), (*before, 1, *after)
        alone = (*[1] * len(before), extent, *[1] * len(after))
        types = tile((extent,), "i32") + (f" -> {tile((extent,), element)}" if element != "i32" else "")
        number = f"%n{dim} = {TYPES[element][1].replace('%i', f'%i{dim}')} : {types}"
        lines += [
            f"%r{dim} = reduce {x} dim={dim} identities=[{zero} : {element}] : {whole} -> {tile(less, element)}",
            f"(%a{dim}: tile<{element}>, %b{dim}: tile<{element}>) {{",
            f"  %c{dim} = add{kind} %a{dim}, %b{dim} : tile<{element}>",
            f"  yield %c{dim} : tile<{element}>",
            "}",
            f"%k{dim} = reshape %r{dim} : {tile(less, element)} -> {tile(kept, element)}",
            f"%w{dim} = broadcast %k{dim} : {tile(kept, element)} -> {whole}",
            f"%i{dim} = iota : {tile((extent,), 'i32')}",
            number,
            f"%m{dim} = reshape %n{dim} : {tile((extent,), element)} -> {tile(alone, element)}",
            f"%p{dim} = broadcast %m{dim} : {tile(alone, element)} -> {whole}",
            f"%d{dim} = sub{kind} {x}, %w{dim} : {whole}",
            f"%y{dim} = sub{kind} %d{dim}, %p{dim} : {whole}",
        ]
        x = f"%y{dim}"
    count, order = prod(shape), list(reversed(range(len(shape))))
    flat, pointers = tile((count,), element), tile((count,), f"ptr<{element}>")
    turned = tile(tuple(reversed(shape)), element)
    body = "\n  ".join(lines)
    return f"""entry @k(%in: tile<ptr<{element}>>, %out: tile<ptr<{element}>>) {{
  %lanes = iota : {tile((count,), "i32")}
  %in0 = reshape %in : tile<ptr<{element}>> -> tile<1xptr<{element}>>
  %in1 = broadcast %in0 : tile<1xptr<{element}>> -> {pointers}
  %in2 = offset %in1, %lanes : {pointers}, {tile((count,), "i32")} -> {pointers}
  %out0 = reshape %out : tile<ptr<{element}>> -> tile<1xptr<{element}>>
  %out1 = broadcast %out0 : tile<1xptr<{element}>> -> {pointers}
  %out2 = offset %out1, %lanes : {pointers}, {tile((count,), "i32")} -> {pointers}
  %loaded, %t0 = load_ptr_tko weak %in2 : {pointers} -> {flat}, token
  %x0 = reshape %loaded : {flat} -> {whole}
  {body}
  %turned = permute {x} {order} : {whole} -> {turned}
  %stored = reshape %turned : {turned} -> {flat}
  %t1 = store_ptr_tko weak %out2, %stored : {pointers}, {flat} -> token
}}"""


@pytest.mark.parametrize("element", sampled(TYPES, 3))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rows_along_every_dimension_are_those_of_the_definition(shape: tuple[int, ...], element: str) -> None:
    kernel = tileir.parse(joined(shape, element))["k"]
    given = np.random.default_rng(7).integers(-40, 40, prod(shape)).astype(TYPES[element][0])
    found, expected = np.zeros((2, len(given)), given.dtype)
    kernel.launch(1, Guarded().copy(given), found, target="cpu")
    kernel.launch(1, given, expected, target="interp")
    assert found.tobytes() == expected.tobytes()


COPY = """entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %step: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %av = make_tensor_view %a, shape = [%m, %n], strides = [%step, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
  %bv = make_tensor_view %b, shape = [16, W], strides = [W, 1] : tensor_view<16xWxf32, strides=[W,1]>
  %at = make_partition_view %av : partition_view<tile=(16xW), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
  %bt = make_partition_view %bv : partition_view<tile=(16xW), tensor_view<16xWxf32, strides=[W,1]>>
  %v, %t0 = load_view_tko weak %at[%zero, %zero]
    : partition_view<tile=(16xW), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<16xWxf32>, token
  %w = addf %v, %v : tile<16xWxf32>
  %t1 = store_view_tko weak %w, %bt[%zero, %zero] token = %t0
    : tile<16xWxf32>, partition_view<tile=(16xW), tensor_view<16xWxf32, strides=[W,1]>>, tile<i32> -> token
}"""  # noqa: E501


@pytest.mark.parametrize("width", [2, 4])
def test_short_rows_of_memory_are_read_as_far_as_they_go(width: int) -> None:
    kernel, guarded = tileir.parse(COPY.replace("W", str(width)))["k"], Guarded()
    for rows, columns, step in ((16, width, width), (16, width, 64), (5, width, 5), (16, 1, 4), (3, 1, 1)):
        room = np.arange((rows - 1) * step + columns, dtype=np.float32)
        found, expected = np.zeros((2, 16, width), np.float32)
        kernel.launch(1, guarded.copy(room), found, rows, columns, step, target="cpu")
        places = np.arange(rows)[:, None] * step + np.arange(columns)
        expected[:rows, :columns] = 2 * room[places]
        np.testing.assert_array_equal(found, expected)
