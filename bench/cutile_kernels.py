"""The kernel whose bytecode is read by the benchmark, written in cuTile Python and exported without a GPU."""

from __future__ import annotations

import io

import cuda.tile as ct
from cuda.tile import compilation

VERSION = "13.3"


@ct.kernel
def matrix_multiply(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, index=(k, j), shape=(tk, tn), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, index=(i, j), tile=ct.astype(acc, c.dtype))


def matmul_bytecode() -> bytes:
    """The kernel for three matrices of f16 in row-major order, in tiles of 64."""
    matrix = compilation.ArrayConstraint(
        ct.float16,
        2,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=(None, 1),
        stride_divisible_by=(8, 1),
        base_addr_divisible_by=16,
    )
    convention = compilation.CallingConvention.cutile_python_v1()
    tiles = [compilation.ConstantConstraint(64)] * 3
    signature = compilation.KernelSignature([matrix] * 3 + tiles, convention, symbol="matrix_multiply")
    file = io.BytesIO()
    compilation.export_kernel(
        matrix_multiply, [signature], file, output_format="tileir_bytecode", bytecode_version=VERSION
    )
    return file.getvalue()
