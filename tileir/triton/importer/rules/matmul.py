"""Matrix products."""

from __future__ import annotations

from tileir.ir import types as t
from tileir.ir.attributes import Signedness
from tileir.ir.core import Value
from tileir.ops.floating import SubF
from tileir.ops.matmul import MmaF, MmaI
from tileir.triton.importer.building import TileBuilder
from tileir.triton.importer.importing import Importing, Results, integer
from tileir.triton.importer.rules.table import Table
from tileir.triton.importer.syntax import MlirOperation, MlirWord

rules = Table()

_PRECISIONS = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
"""In the order of their numbers, which the generic form has."""
_PARTS = {"tf32": (t.TF32, 1), "tf32x3": (t.TF32, 2), "bf16x3": (t.BF16, 2), "bf16x6": (t.BF16, 3)}
"""The type and number of the parts that an f32 is cut into; the sum leaves out what is below the last part."""


@rules("tt.dot")
def dot(importing: Importing, op: MlirOperation) -> Results:
    """A product of tiles, added to the third operand.

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
    found = op.attributes.get("inputPrecision", 2)
    if isinstance(found, MlirWord):
        return found.text
    return _PRECISIONS[found] if isinstance(found, int) and 0 <= found < len(_PRECISIONS) else "ieee"


def _parts(build: TileBuilder, factor: Value, element: t.ElementType, count: int) -> list[Value]:
    """An f32 as a sum of numbers of a narrower type."""
    parts: list[Value] = []
    for index in range(count):
        parts.append(build.converted(factor, element))
        if index + 1 < count:
            factor = build.same(SubF, factor, build.converted(parts[-1], t.F32))
    return parts
