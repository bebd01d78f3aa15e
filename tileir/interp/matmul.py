"""Matrix multiply-accumulate (spec: matmul#top).

The specification leaves order, grouping and intermediate precision of the sum open (spec: numerics#floats); any order
of f32 additions is a permitted result. So `mmaf` widens narrow inputs to f32, where their products are exact,
multiplies whole tiles in f32 (f64 for f64), adds the accumulator and rounds once to its type. The blocked, fused sums
of the matrix product are at least as close to the exact sum as the sequential order is bound to be, and data whose
partial sums are exact (small integers) give exact results. `mmai` is computed in floats wide enough to hold every
partial sum exactly. `mmaf_scaled` is computed in f64, where the scaled products are exact and cannot overflow.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.host import undefined
from tileir.interp.api import BlockState, EffectRule, PureRule
from tileir.ir import types as t
from tileir.ir.attributes import Signedness
from tileir.ir.core import Value
from tileir.ir.rules import Rules
from tileir.ir.storage import dtype_of
from tileir.numerics.formats import widened
from tileir.ops.matmul import MmaF, MmaFScaled, MmaI

pure: Rules[PureRule] = Rules()
effects: Rules[EffectRule] = Rules()

Array = np.ndarray
I32 = np.iinfo(np.int32)
LARGEST_PRODUCT = 1 << 16
"""Bound on the magnitude of a product of two i8 of any signedness."""
EXACT_IN_F32 = 1 << 24


@pure(MmaF)
def _mmaf(op: MmaF) -> Callable[[Array, Array, Array], Array]:
    result = dtype_of(op.result.tile.element)
    working = np.dtype(np.float64 if op.lhs.tile.element is t.F64 else np.float32)

    def multiply(lhs: Array, rhs: Array, acc: Array) -> Array:
        product = np.matmul(_operand(lhs, working), _operand(rhs, working))
        product += acc
        return product.astype(result, copy=False)

    return multiply


def _operand(tile: Array, dtype: np.dtype) -> Array:
    """Return the tile in `dtype`, in a layout that the matrix product takes without its slow general loop."""
    if tile.dtype != dtype:
        return tile.astype(dtype)
    return tile if tile.flags.c_contiguous or tile.flags.f_contiguous else np.ascontiguousarray(tile)


@effects(MmaI)
def _mmai(op: MmaI) -> Callable[[BlockState, Array, Array, Array], Array]:
    lhs_dtype, rhs_dtype = (_READINGS[reading] for reading in (op.signedness_lhs, op.signedness_rhs))
    depth = op.lhs.tile.shape[-1]
    working = np.dtype(np.float32 if depth * LARGEST_PRODUCT <= EXACT_IN_F32 else np.float64)

    def multiply(block: BlockState, lhs: Array, rhs: Array, acc: Array) -> Array:
        product = np.matmul(_operand(lhs.view(lhs_dtype), working), _operand(rhs.view(rhs_dtype), working))
        exact = product.astype(np.int64) + acc
        result = np.clip(exact, I32.min, I32.max)
        if block.options.strict and (result != exact).any():
            block.warn(op, undefined.SATURATION)
        return result.astype(np.int32)

    return multiply


_READINGS = {Signedness.SIGNED: np.dtype(np.int8), Signedness.UNSIGNED: np.dtype(np.uint8)}


@pure(MmaFScaled)
def _mmaf_scaled(op: MmaFScaled) -> Callable[[Array, Array, Array, Array, Array], Array]:
    lhs_scaled, rhs_scaled = _scaling(op.lhs, op.lhs_scale, -1), _scaling(op.rhs, op.rhs_scale, -2)

    def multiply(lhs: Array, rhs: Array, acc: Array, lhs_scale: Array, rhs_scale: Array) -> Array:
        product = np.matmul(lhs_scaled(lhs, lhs_scale), rhs_scaled(rhs, rhs_scale))
        return (product + acc).astype(np.float32)

    return multiply


def _scaling(operand: Value, scale: Value, axis: int) -> Callable[[Array, Array], Array]:
    """Return the operand in f64 with each block of elements along `axis` multiplied by its scale."""
    ty, scale_ty = operand.tile, scale.tile
    size = ty.shape[axis] // scale_ty.shape[axis]
    element, scale_element = ty.number, scale_ty.number

    def scaled(tile: Array, scales: Array) -> Array:
        return widened(tile, element) * np.repeat(widened(scales, scale_element), size, axis)

    return scaled
