"""Matrix products, scaled ones included, in the element types that Triton multiplies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tileir.gpu.arch import Arch
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import TtirValue
from tileir.gpu.ttir.lib.narrow import as_half, decoded
from tileir.gpu.ttir.lib.subtiles import cropped, halves, padded, parts
from tileir.gpu.ttir.lib.words import Word
from tileir.gpu.ttir.lowering import TtirLowering
from tileir.ir import types as t

TF32, IEEE = 0, 2
"""Precision of f32 factors: the first drops their low 13 bits."""
DEPTHS = {8: 32, 16: 16, 32: 8, 64: 16}
"""The fewest products of factors of so many bits that an instruction adds; of 64 bits those are 4, but versions of
Triton before 3.9 fail below 16."""
ANY_NUMBER = 1 << 30
"""No limit on the products of 8-bit floats that may be added in less than f32."""


SHALLOW = 8
"""The depth of products of f32 in full with the largest sums."""
SMALL_SUMS = 64 * 64
"""Number of sums of which a thread holds few enough to use deeper factors."""


def product(
    build: Builder,
    arch: Arch,
    lhs: TtirValue,
    rhs: TtirValue,
    acc: TtirValue,
    precision: int = IEEE,
    imprecise: int = 0,
) -> TtirValue:
    """Return ``lhs @ rhs + acc`` of matrices, or of as many pairs of them as the first of three axes has places.

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
    """Return the depth of products of f32 in full: a thread has factors for about the root of the sums."""
    fewer = max(SMALL_SUMS // sums, 1)
    return min(deep, SHALLOW << (fewer.bit_length() - 1) // 2)


def _width(arch: Arch, rows: int, columns: int) -> int:
    """Return the columns to multiply: products in tensor memory have 16 at least, but the compiler makes them of 8."""
    return 16 if arch.has_tensor_memory and columns == 8 and rows >= 64 else columns


_BLOCKS = {t.F8E8M0FNU: 32, t.F8E4M3FN: 16}
"""The factors that one scale covers where the hardware scales, by the type of the scale."""
_FORMATS = {t.F8E4M3FN: 0, t.F8E5M2: 1, t.F4E2M1FN: 4}
"""The numbers of ``tt.dot_scaled`` for them."""
_LEAST_ROWS, _LEAST_COLUMNS, _LEAST_DEPTH = 128, 16, 64
"""Smaller products are not scaled by the hardware."""


@dataclass(frozen=True)
class ScaledOperands:
    """The operands, of any rank, and the types of their elements."""

    lhs: TtirValue
    rhs: TtirValue
    acc: TtirValue
    lhs_scale: TtirValue
    rhs_scale: TtirValue
    element: t.ElementType
    scale: t.ElementType

    @property
    def blocks(self) -> int:
        return self.lhs_scale.type.shape[-1]

    @property
    def block(self) -> int:
        """The factors that one scale covers."""
        return self.lhs.type.shape[-1] // self.blocks


def scaled_product(lowering: TtirLowering, scaled: ScaledOperands) -> TtirValue:
    """Return the products, scaled, and the accumulator."""
    if _is_in_hardware(lowering, scaled):
        return _by_hardware(lowering.build, scaled)
    if scaled.scale is t.F8E8M0FNU:
        return _by_blocks(lowering, scaled)
    return _by_factors(lowering, scaled)


def _is_in_hardware(lowering: TtirLowering, scaled: ScaledOperands) -> bool:
    if not lowering.arch.has_scaled_products or len(scaled.lhs.type.shape) != 2:
        return False
    (rows, depth), columns = scaled.lhs.type.shape, scaled.rhs.type.shape[1]
    large = rows >= _LEAST_ROWS and columns >= _LEAST_COLUMNS and depth >= _LEAST_DEPTH
    return large and _BLOCKS.get(scaled.scale) == scaled.block


# ---------------------------------------------------------------- by the hardware


def _by_hardware(build: Builder, scaled: ScaledOperands) -> TtirValue:
    lhs, rhs = scaled.lhs, scaled.rhs
    if scaled.element is t.F4E2M1FN:
        lhs = _paired(build, lhs)
        rhs = build.transpose(_paired(build, build.transpose(rhs, 1, 0)), 1, 0)
    format = _FORMATS[scaled.element]
    return build.op(
        "tt.dot_scaled", lhs, rhs, scaled.acc, scaled.lhs_scale, build.transpose(scaled.rhs_scale, 1, 0),
        type=scaled.acc.type, operandSegmentSizes=(1, 1, 1, 1, 1), a_elem_type=format, b_elem_type=format,
        fastMath=False, lhs_k_pack=True, rhs_k_pack=True,
    )  # fmt: skip


def _paired(build: Builder, codes: TtirValue) -> TtirValue:
    """Join two 4-bit codes in each byte along the last axis, the first in the low half."""
    low, high = (Word(build, half) for half in halves(build, codes, 1, by_turns=True))
    return (low | (high << 4)).value


# ---------------------------------------------------------------- scaled factors


def _by_factors(lowering: TtirLowering, scaled: ScaledOperands) -> TtirValue:
    """Multiply by scaled factors: each factor times its scale has at most 6 significant bits, and a range that bf16
    has."""
    build, depth = lowering.build, len(scaled.lhs.type.shape) - 1
    lhs = _times_scale(lowering, scaled, scaled.lhs, scaled.lhs_scale, depth)
    rhs = _times_scale(lowering, scaled, scaled.rhs, scaled.rhs_scale, depth - 1)
    return product(build, lowering.arch, lhs, rhs, scaled.acc)


def _times_scale(
    lowering: TtirLowering, scaled: ScaledOperands, factors: TtirValue, scales: TtirValue, axis: int
) -> TtirValue:
    build, shape = lowering.build, factors.type.shape
    numbers = decoded(build, factors, scaled.element)
    scale = decoded(build, scales, scaled.scale, lowering.arch.has_fp8)
    before, after = shape[:axis], shape[axis + 1 :]
    spread = build.reshape(scale, *before, scaled.blocks, 1, *after)
    repeated = build.broadcast(spread, *before, scaled.blocks, scaled.block, *after)
    scaled_factors = build.op("arith.mulf", numbers, build.reshape(repeated, *shape))
    return build.cast("arith.truncf", scaled_factors, "bf16")


# ---------------------------------------------------------------- scaled sums


def _by_blocks(lowering: TtirLowering, scaled: ScaledOperands) -> TtirValue:
    build, depth = lowering.build, len(scaled.lhs.type.shape) - 1
    lhs, rhs = (as_half(build, value, scaled.element, lowering.arch.has_fp8) for value in (scaled.lhs, scaled.rhs))
    along_rows, along_columns = (depth, depth - 1)
    blocks = zip(
        parts(build, lhs, along_rows, scaled.blocks),
        parts(build, rhs, along_columns, scaled.blocks),
        parts(build, scaled.lhs_scale, along_rows, scaled.blocks),
        parts(build, scaled.rhs_scale, along_columns, scaled.blocks),
    )
    total, nothing = scaled.acc, build.float(scaled.acc.type, 0.0)
    for factors, others, scale, other_scale in blocks:
        sums = product(build, lowering.arch, factors, others, nothing)
        total = build.op("arith.addf", total, _times_powers(build, sums, scale, other_scale))
    return total


_NO_NUMBER, _BIAS = 255, 127
"""The code of f8E8M0FNU for NaN, and that for 2^0."""
_NAN = 0x7FC00000


def _times_powers(build: Builder, sums: TtirValue, scale: TtirValue, other_scale: TtirValue) -> TtirValue:
    """Return the sums times both powers of two; `scale` has one per row and `other_scale` one per column."""
    for powers in zip(_roots(build, scale), _roots(build, other_scale)):
        both = build.op("arith.mulf", *(build.broadcast(power, *sums.type.shape) for power in powers))
        sums = build.op("arith.mulf", sums, both)
    return sums


def _roots(build: Builder, codes: TtirValue) -> Iterator[TtirValue]:
    """Yield two powers of two with about half of the exponent each, whose product is the scale."""
    wide = Word(build, build.resized(codes, "i32", signed=False))
    exponent = wide - _BIAS
    half = exponent.shifted_signed(1)
    no_number = wide.equals(_NO_NUMBER).value
    for part in (half, exponent - half):
        power = ((part + _BIAS) << 23).as_float("f32")
        yield build.select(no_number, build.bits(power.type, _NAN), power)
