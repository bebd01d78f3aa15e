"""Conversions between element types."""

from __future__ import annotations

from tileir.ir import types as t
from tileir.ir.attributes import Ordering, Predicate, Rounding, Signedness
from tileir.ir.core import Value
from tileir.ops.conversion import FToI, IntToPtr, IToF, PtrToInt, PtrToPtr
from tileir.ops.floating import AbsF, CmpF
from tileir.ops.integer import SubI
from tileir.triton.importer.importing import Importing, Results
from tileir.triton.importer.rules.arithmetic import widened
from tileir.triton.importer.rules.table import Table
from tileir.triton.importer.syntax import MlirOperation, MlirWord

rules = Table()


@rules("arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast", "arith.index_castui")
def resize(importing: Importing, op: MlirOperation) -> Results:
    (value,) = importing.operands(op, 1)
    return importing.build.resized(value, importing.element(op), signed="ui" not in op.name)


@rules("arith.sitofp", "arith.uitofp")
def integer_to_float(importing: Importing, op: MlirOperation) -> Results:
    """Import a conversion rounded to nearest; to eight bits by way of f32, which has all numbers that are not beyond
    them."""
    build, (value,) = importing.build, importing.operands(op, 1)
    element, signedness = importing.element(op), Signedness("si" in op.name)
    wide = t.F32 if element.bits < 16 else element
    return build.converted(build.cast(IToF, value, wide, signedness=signedness), element)


@rules("arith.fptosi", "arith.fptoui")
def float_to_integer(importing: Importing, op: MlirOperation) -> Results:
    """Round towards zero; out of range, undefined in MLIR, gives the nearest integer, and NaN gives 0."""
    build, (value,) = importing.build, importing.operands(op, 1)
    signedness = Signedness("si" in op.name)
    return build.cast(FToI, widened(build, value), importing.element(op), signedness=signedness, saturating=True)


@rules("arith.extf", "arith.truncf", "arith.convertf")
def float_to_float(importing: Importing, op: MlirOperation) -> Results:
    (value,) = importing.operands(op, 1)
    return importing.build.converted(value, importing.element(op))


@rules("tt.fp_to_fp")
def float_to_float_in_mode(importing: Importing, op: MlirOperation) -> Results:
    build, (value,) = importing.build, importing.operands(op, 1)
    element = importing.element(op)
    if op.attributes.get("rounding") not in (MlirWord("rtz"), 0) or element.bits >= value.tile.number.bits:
        return build.converted(value, element)
    if element.bits >= 16:
        return build.converted(value, element, rounding_mode=Rounding.ZERO)
    return _towards_zero(importing, value, element)


def _towards_zero(importing: Importing, value: Value, element: t.ElementType) -> Value:
    """Return a float of eight bits: the nearest one, or the one before it if that is further from zero."""
    build = importing.build
    nearest = build.converted(value, element)
    back = build.same(AbsF, build.converted(nearest, value.tile.number))
    beyond = build.op(
        CmpF, value.tile.with_element(t.I1), comparison_predicate=Predicate.GREATER_THAN,
        comparison_ordering=Ordering.ORDERED, lhs=back, rhs=build.same(AbsF, value),
    )  # fmt: skip
    bits = build.bitcast(nearest, t.I8)
    before = build.same(SubI, bits, build.integer(bits.tile, 1))
    return build.bitcast(build.select(beyond, before, bits), element)


@rules("arith.bitcast", "tt.bitcast")
def bitcast(importing: Importing, op: MlirOperation) -> Results:
    """Import a bit cast; pointers keep their addresses."""
    build, (value,) = importing.build, importing.operands(op, 1)
    target = importing.result_type(op).element
    if value.tile.element is target:
        return value
    if isinstance(value.tile.element, t.PointerType):
        return build.cast(PtrToPtr if isinstance(target, t.PointerType) else PtrToInt, value, target)
    if isinstance(target, t.PointerType):
        return build.cast(IntToPtr, value, target)
    return build.bitcast(value, target)


@rules("tt.int_to_ptr")
def integer_to_pointer(importing: Importing, op: MlirOperation) -> Results:
    (value,) = importing.operands(op, 1)
    return importing.build.cast(IntToPtr, value, importing.result_type(op).element)


@rules("tt.ptr_to_int")
def pointer_to_integer(importing: Importing, op: MlirOperation) -> Results:
    (value,) = importing.operands(op, 1)
    return importing.build.cast(PtrToInt, value, t.I64)
