"""Along which dimension pointers are neighbours in memory is seen from how they were made."""

from __future__ import annotations

from importlib.resources import files

import pytest

import tileir
from tileir.analysis.affine import Affines, unit_dimension
from tileir.ops.pointers import LoadPtr

POINTERS = """entry @k(%base: tile<ptr<f32>>, %stride: tile<i32>) {
  %lanes = iota : tile<8xi32>
  %down = reshape %lanes : tile<8xi32> -> tile<8x1xi32>
  %along = reshape %lanes : tile<8xi32> -> tile<1x8xi32>
  %rows = broadcast %down : tile<8x1xi32> -> tile<8x8xi32>
  %columns = broadcast %along : tile<1x8xi32> -> tile<8x8xi32>
  %stride_1 = reshape %stride : tile<i32> -> tile<1x1xi32>
  %strides = broadcast %stride_1 : tile<1x1xi32> -> tile<8x8xi32>
  %rows_apart = muli %rows, %strides : tile<8x8xi32>
  %columns_apart = muli %columns, %strides : tile<8x8xi32>
  %offsets = OFFSETS : tile<8x8xi32>
  %base_1 = reshape %base : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %bases = broadcast %base_1 : tile<1x1xptr<f32>> -> tile<8x8xptr<f32>>
  %pointers = offset %bases, %offsets : tile<8x8xptr<f32>>, tile<8x8xi32> -> tile<8x8xptr<f32>>
  %tile, %read = load_ptr_tko weak %pointers : tile<8x8xptr<f32>> -> tile<8x8xf32>, token
}"""


def dimensions(kernel: tileir.Kernel) -> list[int | None]:
    known = Affines(kernel.entry.body)
    loads = [op for op in kernel.entry.walk() if isinstance(op, LoadPtr)]
    return [
        unit_dimension(known.of(op.source), op.source.tile.shape, op.source.tile.pointer.pointee.alignment)
        for op in loads
    ]


@pytest.mark.parametrize(
    ("offsets", "dimension"),
    [
        ("addi %rows_apart, %columns", 1),
        ("addi %columns_apart, %rows", 0),
        ("subi %columns, %rows", 1),
        ("subi %rows, %columns", 0),
        ("addi %rows_apart, %columns_apart", None),
        ("addi %columns, %columns", None),
    ],
)
def test_the_dimension_of_neighbours(offsets: str, dimension: int | None) -> None:
    assert dimensions(tileir.parse(POINTERS.replace("OFFSETS", offsets))["k"]) == [dimension]


@pytest.mark.parametrize(("example", "expected"), [("gemm_blocked", [1, 0]), ("gemm_kloop", [1, 1])])
def test_factors_of_the_examples(example: str, expected: list[int]) -> None:
    module = tileir.parse(files("tileir.examples").joinpath(f"{example}.mlir").read_text())
    (kernel,) = module.kernels.values()
    assert dimensions(kernel) == expected
