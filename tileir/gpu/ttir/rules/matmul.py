"""TTIR of matrix multiply-accumulate (spec: matmul#top).

Products of unsigned integers are made from those of signed ones. `lib.products` has the sizes that ``tt.dot`` takes.
"""

from __future__ import annotations

from tileir.gpu.ttir.ir.code import TtirValue
from tileir.gpu.ttir.lib.narrow import NATIVE, as_half
from tileir.gpu.ttir.lib.products import ANY_NUMBER, IEEE, TF32, ScaledOperands, product, scaled_product
from tileir.gpu.ttir.lib.subtiles import reduced
from tileir.gpu.ttir.lib.words import Word
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.ir import types as t
from tileir.ir.attributes import Signedness
from tileir.ir.rules import Rules
from tileir.ops.matmul import MmaF, MmaFScaled, MmaI

rules: Rules[Lower] = Rules()

_HALF_RANGE = 128


MOST_BYTES = 128
"""Products of 8-bit floats that the hardware may add in less than f32 before their sum is added in f32, as many as in
the vendor's own code (spec: matmul#mmaf)."""


@rules(MmaF)
def lower_mmaf(lowering: TtirLowering, op: MmaF) -> TtirValue:
    build, element, arch = lowering.build, op.lhs.type.element, lowering.arch
    lhs, rhs, acc = lowering.tiles((op.lhs, op.rhs, op.acc))
    if element in NATIVE:
        return _product_of_bytes(lowering, op, lhs, rhs, acc)
    precision = TF32 if element is t.TF32 and arch.multiplies_tf32 else IEEE
    return product(build, arch, lhs, rhs, acc, precision)


def _product_of_bytes(lowering: TtirLowering, op: MmaF, lhs: TtirValue, rhs: TtirValue, acc: TtirValue) -> TtirValue:
    """Multiply 8-bit floats as such; as f16 where the hardware does not, or would add too many in less than f32."""
    build, arch = lowering.build, lowering.arch
    whole = arch.adds_fp8_in_f32 or bool(op.fast_acc) or op.acc.type.element is t.F16
    if not arch.has_fp8 or not (whole or lhs.type.shape[-1] <= MOST_BYTES):
        lhs, rhs = (as_half(build, value, op.lhs.type.number, arch.has_fp8) for value in (lhs, rhs))
        return product(build, arch, lhs, rhs, acc)
    if whole:
        return product(build, arch, lhs, rhs, acc, imprecise=ANY_NUMBER)
    partial = product(build, arch, lhs, rhs, build.float(acc.type, 0.0), imprecise=ANY_NUMBER)
    return build.op("arith.addf", acc, partial)


@rules(MmaFScaled)
def lower_mmaf_scaled(lowering: TtirLowering, op: MmaFScaled) -> TtirValue:
    """Lower a scaled product; a batch of one is none, as for products without scales."""
    build, batch = lowering.build, op.lhs.type.shape[:-2]
    values = lowering.tiles((op.lhs, op.rhs, op.acc, op.lhs_scale, op.rhs_scale))
    if batch == (1,):
        values = [build.reshape(value, *value.type.shape[1:]) for value in values]
    lhs, rhs, acc, lhs_scale, rhs_scale = values
    scaled = ScaledOperands(lhs, rhs, acc, lhs_scale, rhs_scale, op.lhs.type.number, op.lhs_scale.type.number)
    result = scaled_product(lowering, scaled)
    return build.reshape(result, *op.result.type.shape)


# ---------------------------------------------------------------- integers


@rules(MmaI)
def lower_mmai(lowering: TtirLowering, op: MmaI) -> TtirValue:
    """Lower an integer product: the hardware route multiplies signed integers. An unsigned one is 128 more than the
    signed one that has the opposite top bit, so its products are those of that one and 128 times the other factor."""
    build, arch = lowering.build, lowering.arch
    lhs, rhs, acc = (Word(build, lowering.value(value)) for value in (op.lhs, op.rhs, op.acc))
    lhs_moved, rhs_moved = (kind is Signedness.UNSIGNED for kind in (op.signedness_lhs, op.signedness_rhs))
    if not (lhs_moved or rhs_moved):
        return product(build, arch, lhs.value, rhs.value, acc.value)
    lhs = lhs ^ _HALF_RANGE if lhs_moved else lhs
    rhs = rhs ^ _HALF_RANGE if rhs_moved else rhs
    total = Word(build, product(build, arch, lhs.value, rhs.value, acc.constant(0).value))
    if lhs_moved:
        total = total + _line_sums(rhs, -2, acc) * _HALF_RANGE
    if rhs_moved:
        total = total + _line_sums(lhs, -1, acc) * _HALF_RANGE
    if lhs_moved and rhs_moved:
        total = total + lhs.value.type.shape[-1] * _HALF_RANGE * _HALF_RANGE
    return (total + acc).value


def _line_sums(factors: Word, axis: int, acc: Word) -> Word:
    """Return the sums of signed factors along `axis`, the one that products are added along, for each element of
    `acc`."""
    build, shape = factors.build, list(factors.value.type.shape)
    sums = reduced(build, build.resized(factors.value, "i32", signed=True), len(shape) + axis, "arith.addi")
    shape[axis] = 1
    return Word(build, build.broadcast(build.reshape(sums, *shape), *acc.value.type.shape))
