"""Products at the border of a tensor, in batches, through reshapes or scaled, leave out elements that nobody reads.

Results are compared with NumPy's, on numbers whose sums are exact.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tileir
from tileir.cpu.analysis.live_extents import FactorOf, LiveExtents
from tileir.cpu.emit.record import CheckLevel
from tileir.cpu.llvm.engine import host
from tileir.cpu.plan import plan_of
from tileir.ops import matmul

TILE, BATCHES = 32, 4
SHAPES = [(1, 1, 1), (1, 40, 32), (3, 33, 20), (5, 16, 32), (2, 70, 7), (4, 32, 32)]
"""Matrices of a batch, rows and columns of the result, and how deep the sums are."""
TENSOR = "tensor_view<?x?x?xf32, strides=[?,?,1]>"


def view(name: str, extents: list[str], tile: tuple[int, ...], padding: str = ", padding_value = zero") -> str:
    kind = f"partition_view<tile=({'x'.join(map(str, tile))}){padding}, {TENSOR}>"
    given, (_, rows, columns) = ", ".join(f"%{extent}" for extent in extents), extents
    return f"""
    %{name}_apart = muli %{rows}, %{columns} : tile<i32>
    %{name}_tensor = make_tensor_view %{name}, shape = [{given}], strides = [%{name}_apart, %{columns}, 1]
      : tile<i32> -> {TENSOR}
    %{name}_tiles = make_partition_view %{name}_tensor : {kind}"""


def kind_of(tile: tuple[int, ...], padding: str = ", padding_value = zero") -> str:
    return f"partition_view<tile=({'x'.join(map(str, tile))}){padding}, {TENSOR}>"


def program(batch: int, flat: bool) -> str:
    """One tile of the depth; `flat`: the matrices are multiplied without their dimension of the batch."""
    box = (batch, TILE, TILE)
    text = "x".join(map(str, box))
    shape = f"{TILE}x{TILE}" if flat else text
    views = view("a", ["b", "m", "k"], box) + view("d", ["b", "k", "n"], box) + view("c", ["b", "m", "n"], box, "")
    reshaped = [f"%{name}f = reshape %{name}t : tile<{text}xf32> -> tile<{shape}xf32>" for name in "ad"]
    lhs, rhs, out = ("%af", "%df", "%flat") if flat else ("%at", "%dt", "%r")
    back = f"%flat = reshape %r : tile<{shape}xf32> -> tile<{text}xf32>"
    return f"""
entry @gemm(%a: tile<ptr<f32>>, %d: tile<ptr<f32>>, %c: tile<ptr<f32>>,
            %b: tile<i32>, %m: tile<i32>, %n: tile<i32>, %k: tile<i32>) {{
    {views}
    %x, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %at, %t0 = load_view_tko weak %a_tiles[%z, %x, %zero] : {kind_of(box)}, tile<i32> -> tile<{text}xf32>, token
    %dt, %t1 = load_view_tko weak %d_tiles[%z, %zero, %y] : {kind_of(box)}, tile<i32> -> tile<{text}xf32>, token
    %zeros = constant <f32: 0.0> : tile<{shape}xf32>
    {" ".join(reshaped) if flat else ""}
    %r = mmaf {lhs}, {rhs}, %zeros : tile<{shape}xf32>, tile<{shape}xf32>, tile<{shape}xf32>
    {back if flat else ""}
    %t2 = store_view_tko weak {out}, %c_tiles[%z, %x, %y] : tile<{text}xf32>, {kind_of(box, "")}, tile<i32> -> token
}}"""


def found(text: str) -> tuple[LiveExtents, matmul.MmaF]:
    entry = tileir.parse(text).kernels["gemm"].entry
    (product,) = [op for op in entry.walk() if isinstance(op, matmul.MmaF)]
    return plan_of(entry, CheckLevel.ON, host()).body.live, product


@pytest.mark.parametrize(("batch", "flat"), [(BATCHES, False), (1, False), (1, True)])
def test_products_in_batches_are_those_of_numpy(batch, flat):
    kernel = tileir.parse(program(batch, flat))["gemm"]
    rng = np.random.default_rng(3)
    for (b, n, k), m in zip(SHAPES, (1, 2, 33, 4, 40, 32)):
        lhs, rhs = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((b, m, k), (b, k, n)))
        out = np.full((b, m, n), 7, np.float32)
        grid = (-(-m // TILE), -(-n // TILE), -(-b // batch))
        kernel.launch(grid, lhs, rhs, out, b, m, n, k)
        np.testing.assert_array_equal(out, lhs @ rhs)


@pytest.mark.parametrize(("batch", "flat"), [(BATCHES, False), (1, True)])
def test_what_is_stored_of_a_batch_is_what_is_needed(batch, flat):
    needed, product = found(program(batch, flat))
    assert needed[product.result].op.spec.name == "store_view_tko"
    loaded = product.lhs.op.source if flat else product.lhs
    assert needed[loaded] == FactorOf(product, 0)


def test_all_is_needed_where_a_reshape_mixes_rows():
    text = program(1, True)
    mixed = text.replace(
        "%flat = reshape %r", "%half = reshape %r : tile<32x32xf32> -> tile<64x16xf32>\n%flat = reshape %half"
    )
    mixed = mixed.replace("%flat = reshape %half : tile<32x32xf32>", "%flat = reshape %half : tile<64x16xf32>")
    needed, product = found(mixed)
    assert product.result not in needed


def scaled() -> str:
    def made(name: str, element: str, extents: str, columns: str, tile: str, padding: str) -> tuple[str, str]:
        tensor = f"tensor_view<?x?x{element}, strides=[?,1]>"
        kind = f"partition_view<tile=({tile}){padding}, {tensor}>"
        return (
            f"""
    %{name}_tensor = make_tensor_view %{name}, shape = [{extents}], strides = [{columns}, 1] : tile<i32> -> {tensor}
    %{name}_tiles = make_partition_view %{name}_tensor : {kind}""",
            kind,
        )

    zero = ", padding_value = zero"
    parts = {
        "a": made("a", "f8E4M3FN", "%m, %k", "%k", "32x32", zero),
        "d": made("d", "f8E4M3FN", "%k, %n", "%n", "32x32", zero),
        "p": made("p", "f8E8M0FNU", "%m, %one", "%one", "32x1", ""),
        "q": made("q", "f8E8M0FNU", "%one, %n", "%n", "1x32", ""),
        "c": made("c", "f32", "%m, %n", "%n", "32x32", ""),
    }
    loads = ""
    places = {"a": "%x, %zero", "d": "%zero, %y", "p": "%x, %zero", "q": "%zero, %y"}
    tiles = {"a": "32x32xf8E4M3FN", "d": "32x32xf8E4M3FN", "p": "32x1xf8E8M0FNU", "q": "1x32xf8E8M0FNU"}
    for name, place in places.items():
        loads += f"""
    %{name}t, %{name}r = load_view_tko weak %{name}_tiles[{place}] : {parts[name][1]}, tile<i32>
      -> tile<{tiles[name]}>, token"""
    types = ", ".join(f"tile<{kind}>" for kind in (tiles["a"], tiles["d"], "32x32xf32", tiles["p"], tiles["q"]))
    return f"""
entry @gemm(%a: tile<ptr<f8E4M3FN>>, %d: tile<ptr<f8E4M3FN>>, %p: tile<ptr<f8E8M0FNU>>, %q: tile<ptr<f8E8M0FNU>>,
            %c: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %k: tile<i32>) {{
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    {"".join(text for text, _ in parts.values())}
    %x, %y, %z = get_tile_block_id : tile<i32>
    {loads}
    %zeros = constant <f32: 0.0> : tile<32x32xf32>
    %r = mmaf_scaled %at, %dt, %zeros, %pt, %qt : {types}
    %t2 = store_view_tko weak %r, %c_tiles[%x, %y] : tile<32x32xf32>, {parts["c"][1]}, tile<i32> -> token
}}"""


def test_scaled_products_at_the_border_are_those_of_numpy():
    kernel = tileir.parse(scaled())["gemm"]
    rng = np.random.default_rng(4)
    for m, n, k in ((1, 40, 32), (33, 7, 20), (5, 64, 32)):
        lhs, rhs = (rng.integers(-4, 5, shape).astype(ml_dtypes.float8_e4m3fn) for shape in ((m, k), (k, n)))
        by_row, by_column = (
            rng.choice([0.25, 0.5, 1, 2, 4], shape).astype(ml_dtypes.float8_e8m0fnu) for shape in ((m, 1), (1, n))
        )
        out = np.full((m, n), 7, np.float32)
        kernel.launch((-(-m // TILE), -(-n // TILE)), lhs, rhs, by_row, by_column, out, m, n, k)
        left, right = (
            lhs.astype(np.float32) * by_row.astype(np.float32),
            rhs.astype(np.float32) * by_column.astype(np.float32),
        )
        np.testing.assert_array_equal(out, left @ right)


def test_a_scaled_product_needs_what_is_stored_and_a_scale_is_no_factor():
    entry = tileir.parse(scaled()).kernels["gemm"].entry
    (product,) = [op for op in entry.walk() if isinstance(op, matmul.MmaFScaled)]
    needed = plan_of(entry, CheckLevel.ON, host()).body.live
    assert product.result in needed
    assert needed[product.rhs] == FactorOf(product, 1)
    assert product.lhs_scale not in needed
