"""``tt.dot``: products of matrices of any size.

Knows: what Triton's compiler asks of the operands, and how any others are padded: with zeros, which add nothing, and
the product cut to size. A batch of one is none, so that it reaches the instructions that multiply single matrices.

Factors of f32 in full are multiplied by the units that do all arithmetic of f32, for which Triton's compiler loads the
whole depth of both factors into registers first, far more than there are. So such products are made of several, each
as deep as registers allow, in ascending order.

Does not know: Tile IR; how elements are read that the hardware does not multiply.
"""

from __future__ import annotations

from tileir.gpu.arch import Arch
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import TtirValue
from tileir.gpu.ttir.lib.subtiles import cropped, padded, parts

TF32, IEEE = 0, 2
"""Of what precision factors of f32 are: the first drops their low 13 bits."""
DEPTHS = {8: 32, 16: 16, 32: 8, 64: 16}
"""The fewest products of factors of so many bits that an instruction adds; of 64 bits those are 4, but versions of
Triton before 3.9 fail below 16."""
ANY_NUMBER = 1 << 30
"""As many products of 8-bit floats may be added in less than f32 as there are."""


SHALLOW = 8
"""The depth of products of f32 in full with the largest sums."""
SMALL_SUMS = 64 * 64
"""Sums of which a thread has few enough for deeper factors."""


def product(
    build: Builder,
    arch: Arch,
    lhs: TtirValue,
    rhs: TtirValue,
    acc: TtirValue,
    precision: int = IEEE,
    imprecise: int = 0,
) -> TtirValue:
    """``lhs @ rhs + acc`` of matrices, or of as many pairs of them as the first of three axes has places.

    `imprecise` is how many products of 8-bit floats may be added in less than the precision of `acc`.
    """
    *batch, rows, depth = lhs.type.shape
    columns = rhs.type.shape[-1]
    if batch == [1]:
        x, y, z = (build.reshape(value, *value.type.shape[1:]) for value in (lhs, rhs, acc))
        return build.reshape(product(build, arch, x, y, z, precision, imprecise), *acc.type.shape)
    deep = max(depth, DEPTHS[lhs.type.bits])
    wide = _width(arch, rows, columns)
    lhs = padded(build, lhs, *batch, rows, deep)
    rhs = padded(build, rhs, *batch, deep, wide)
    total = padded(build, acc, *batch, rows, wide)
    count = deep // _depth(rows * wide, deep) if lhs.type.element == "f32" and precision == IEEE else 1
    for x, y in zip(parts(build, lhs, len(batch) + 1, count), parts(build, rhs, len(batch), count)):
        total = build.op("tt.dot", x, y, total, type=total.type, inputPrecision=precision, maxNumImpreciseAcc=imprecise)
    return cropped(build, total, *acc.type.shape)


def _depth(sums: int, deep: int) -> int:
    """The depth of products of f32 in full: a thread has factors for about the root of the sums."""
    fewer = max(SMALL_SUMS // sums, 1)
    return min(deep, SHALLOW << (fewer.bit_length() - 1) // 2)


def _width(arch: Arch, rows: int, columns: int) -> int:
    """The columns to multiply: products in tensor memory have 16 at least, but the compiler makes them of 8."""
    return 16 if arch.has_tensor_memory and columns == 8 and rows >= 64 else columns
