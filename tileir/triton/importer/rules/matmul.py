"""Matrix products."""

from __future__ import annotations

from tileir.ir import types as t
from tileir.ir.attributes import Signedness
from tileir.ir.core import Value
from tileir.ops.floating import MulF, SubF
from tileir.ops.matmul import MmaF, MmaFScaled, MmaI
from tileir.ops.packing import Unpack
from tileir.ops.shapes import Permute
from tileir.triton.importer.building import TileBuilder
from tileir.triton.importer.faults import mismatch, refused
from tileir.triton.importer.importing import Importing, ImportRules, Results, integer, integers, keyword
from tileir.triton.importer.syntax import MlirOperation, MlirWord

rules = ImportRules()

_PRECISIONS = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
"""Precisions in the order of their numbers in the generic form."""
_PARTS = {"tf32": (t.TF32, 1), "tf32x3": (t.TF32, 2), "bf16x3": (t.BF16, 2), "bf16x6": (t.BF16, 3)}
"""The type and number of the parts that an f32 is cut into; the sum leaves out what is below the last part."""


@rules("tt.dot")
def dot(importing: Importing, op: MlirOperation) -> Results:
    """Import a product of tiles, added to the third operand.

    Of f32 with an input precision: each factor is a sum of parts, each rounded to nearest even of what is left, and the
    products of parts are added up in f32, the smallest first.
    """
    build, (lhs, rhs, total) = importing.build, importing.operands(op, 3)
    element = lhs.tile.number
    if element.is_int:
        signed = Signedness.SIGNED
        return build.op(MmaI, total.type, lhs=lhs, rhs=rhs, acc=total, signedness_lhs=signed, signedness_rhs=signed)
    if element is not rhs.tile.element:  # two kinds of f8
        lhs, rhs = build.converted(lhs, t.F16), build.converted(rhs, t.F16)
    precision = _precision(op)
    if element is not t.F32 or precision not in _PARTS:
        fast = element.bits == 8 and integer(op, "maxNumImpreciseAcc", 0) > 0
        return multiply(build, lhs, rhs, total, fast)
    left, right = (_parts(build, factor, *_PARTS[precision]) for factor in (lhs, rhs))
    pairs = [(i, j) for i in range(len(left)) for j in range(len(right)) if i + j < len(left)]
    for i, j in sorted(pairs, key=sum, reverse=True):
        total = multiply(build, left[i], right[j], total)
    return total


def multiply(build: TileBuilder, lhs: Value, rhs: Value, total: Value, fast: bool = False) -> Value:
    return build.op(MmaF, total.type, lhs=lhs, rhs=rhs, acc=total, fast_acc=fast or None)


def _precision(op: MlirOperation) -> str:
    default = "tf32" if op.attributes.get("allowTF32") is True else "ieee"
    return keyword(op, "inputPrecision", _PRECISIONS) or default


def _parts(build: TileBuilder, factor: Value, element: t.ElementType, count: int) -> list[Value]:
    """Return an f32 as a sum of numbers of a narrower type."""
    parts: list[Value] = []
    for index in range(count):
        parts.append(build.converted(factor, element))
        if index + 1 < count:
            factor = build.same(SubF, factor, build.converted(parts[-1], t.F32))
    return parts


# ------------------------------------------------------------ with scales

_FORMATS = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "bf16", "fp16")
"""Formats in the order of their numbers in the generic form."""


@rules("tt.dot_scaled")
def dot_scaled(importing: Importing, op: MlirOperation) -> Results:
    """Import a product of tiles whose elements are scaled in blocks along K.

    In one operation where Tile IR has it: of two factors of one type, both with scales. Else the factors are scaled in
    f32, exactly as far as that has the numbers, and multiplied in it.
    """
    build = importing.build
    (lhs, lhs_scale), (rhs, rhs_scale), total = _scaled_operands(importing, op)
    if any(value is not None and value.tile.rank < 2 for value in (lhs, lhs_scale, rhs, rhs_scale)):
        raise mismatch("expected factors and scales of two dimensions or three")
    lhs = _unpacked(build, lhs, _format(op, "lhs", "a_elem_type"), not _packed_along_k(op, "lhs_k_pack"))
    rhs = _unpacked(build, rhs, _format(op, "rhs", "b_elem_type"), _packed_along_k(op, "rhs_k_pack"))
    lhs_scale = None if lhs_scale is None else _as_scale(build, lhs_scale)
    rhs_scale = None if rhs_scale is None else _transposed(build, _as_scale(build, rhs_scale))
    if lhs_scale is not None and rhs_scale is not None and _is_native(lhs, rhs, lhs_scale, rhs_scale, total):
        return build.op(MmaFScaled, total.type, lhs=lhs, rhs=rhs, acc=total, lhs_scale=lhs_scale, rhs_scale=rhs_scale)
    left = _scaled(build, lhs, lhs_scale, -1)
    right = _scaled(build, rhs, rhs_scale, -2)
    return build.converted(multiply(build, left, right, build.converted(total, t.F32)), total.tile.number)


def _scaled_operands(
    importing: Importing, op: MlirOperation
) -> tuple[tuple[Value, Value | None], tuple[Value, Value | None], Value]:
    """Return each factor with its scale, and the sum that the product is added to."""
    values = importing.operands(op, 3, 4, 5)
    sizes = integers(op, "operandSegmentSizes")
    if len(sizes) == 5:  # the generic form
        lhs, rhs, total, *others = values
        given = iter(others)
        return (lhs, next(given) if sizes[3] else None), (rhs, next(given) if sizes[4] else None), total
    at = {index for word, index in op.words if word == MlirWord("scale")}
    factors = [value for index, value in enumerate(values) if index not in at]
    scales = [values[index] if index in at else None for index in (1, 3 if 1 in at else 2)]
    if len(factors) != 3:
        raise mismatch("expected two factors and a sum")
    return (factors[0], scales[0]), (factors[1], scales[1]), factors[2]


def _format(op: MlirOperation, word: str, attribute: str) -> str:
    name = keyword(op, word if word in op.attributes else attribute, _FORMATS)
    if name in ("e2m3", "e3m2"):
        raise refused(f"Tile IR has no numbers of the format {name}", "convert to e4m3, which has all of them")
    if name not in _FORMATS:
        raise mismatch(f"expected one of {', '.join(_FORMATS)} as '{word}'")
    return name


def _packed_along_k(op: MlirOperation, attribute: str) -> bool:
    return op.attributes.get(attribute, True) is not False


def _transposed(build: TileBuilder, value: Value) -> Value:
    """Return the tile with its last two dimensions exchanged."""
    *others, rows, columns = value.tile.shape
    order = (*range(len(others)), len(others) + 1, len(others))
    return build.op(Permute, t.TileType((*others, columns, rows), value.tile.element), source=value, permutation=order)


def _unpacked(build: TileBuilder, value: Value, format: str, first: bool) -> Value:
    """Return the elements of a factor; two elements of four bits share a byte, side by side in the last dimension, or
    in the `first` of two."""
    if format != "e2m1":
        element = {"e4m3": t.F8E4M3FN, "e5m2": t.F8E5M2, "bf16": t.BF16, "fp16": t.F16}[format]
        return build.bitcast(value, element)
    if first:
        return _transposed(build, _unpacked(build, _transposed(build, value), format, False))
    *others, last = value.tile.shape
    count = value.tile.count
    flat = build.op(Unpack, t.tile(t.F4E2M1FN, 2 * count), source=build.reshaped(value, (count,)))
    return build.reshaped(flat, (*others, 2 * last))


def _as_scale(build: TileBuilder, scale: Value) -> Value:
    """Return a scale; scales that are exponents come as bytes."""
    return build.bitcast(scale, t.F8E8M0FNU) if scale.tile.number.is_int else scale


def _is_native(lhs: Value, rhs: Value, lhs_scale: Value, rhs_scale: Value, total: Value) -> bool:
    """Return whether Tile IR multiplies such factors with such scales in one operation."""
    element, scale = lhs.tile.number, lhs_scale.tile.number
    block = lhs.tile.shape[-1] // lhs_scale.tile.shape[-1]
    sizes = {(t.F8E8M0FNU, 8): (32,), (t.F8E8M0FNU, 4): (16, 32), (t.F8E4M3FN, 4): (16,)}.get((scale, element.bits), ())
    same = element is rhs.tile.element and scale is rhs_scale.tile.element
    return (
        same and block in sizes and lhs_scale.tile.shape[-1] == rhs_scale.tile.shape[-2] and total.tile.element is t.F32
    )


def _scaled(build: TileBuilder, factor: Value, scale: Value | None, dim: int) -> Value:
    """Return a factor in f32, multiplied by its scales; each scale belongs to a block along a dimension."""
    wide = build.converted(factor, t.F32)
    if scale is None:
        return wide
    shape, axis = list(scale.tile.shape), scale.tile.rank + dim
    block = factor.tile.shape[axis] // shape[axis]
    repeated = build.reshaped(build.converted(scale, t.F32), [*shape[: axis + 1], 1, *shape[axis + 1 :]])
    repeated = build.broadcast(repeated, [*shape[: axis + 1], block, *shape[axis + 1 :]])
    return build.same(MulF, wide, build.reshaped(repeated, factor.tile.shape))
