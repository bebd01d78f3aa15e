"""Arithmetic: ``arith`` and what ``tt`` and ``math`` have of the kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tileir.ir import types as t
from tileir.ir.attributes import Predicate, Rounding, Signedness
from tileir.ir.core import Op, Value
from tileir.ops.conversion import FToI, IntToPtr, IToF, PtrToInt, PtrToPtr
from tileir.ops.core import Constant
from tileir.ops.division import DivI, RemI
from tileir.ops.floating import AbsF, AddF, Ceil, DivF, Floor, Fma, MaxF, MinF, MulF, NegF, RemF, Sqrt, SubF
from tileir.ops.integer import AbsI, AddI, AndI, MaxI, MinI, MulhiI, MulI, OrI, ShlI, ShrI, SubI, XOrI
from tileir.ops.shapes import Broadcast
from tileir.triton.importer.building import TileBuilder, float_bytes
from tileir.triton.importer.faults import mismatch
from tileir.triton.importer.importing import Importing, ImportRules, Results, TensorDescriptor, keyword, one_of
from tileir.triton.importer.syntax import BitPattern, Dense, MlirAttribute, MlirOperation, MlirWord

rules = ImportRules()
SIGNED = {"signedness": Signedness.SIGNED}
UNSIGNED = {"signedness": Signedness.UNSIGNED}

# ------------------------------------------------------------ element by element, with a result of the same type

INTEGER_ROWS: dict[str, tuple[type[Op], dict[str, Any]]] = {
    "arith.addi": (AddI, {}),
    "arith.subi": (SubI, {}),
    "arith.muli": (MulI, {}),
    "arith.andi": (AndI, {}),
    "arith.ori": (OrI, {}),
    "arith.xori": (XOrI, {}),
    "arith.shli": (ShlI, {}),
    "arith.shrsi": (ShrI, SIGNED),
    "arith.shrui": (ShrI, UNSIGNED),
    "arith.maxsi": (MaxI, SIGNED),
    "arith.maxui": (MaxI, UNSIGNED),
    "arith.minsi": (MinI, SIGNED),
    "arith.minui": (MinI, UNSIGNED),
    "tt.mulhiui": (MulhiI, {}),
    "math.absi": (AbsI, {}),
}
DIVISION_ROWS: dict[str, tuple[type[Op], dict[str, Any]]] = {
    "arith.divsi": (DivI, SIGNED),
    "arith.divui": (DivI, UNSIGNED),
    "arith.floordivsi": (DivI, SIGNED | {"rounding": Rounding.NEGATIVE_INF}),
    "arith.ceildivsi": (DivI, SIGNED | {"rounding": Rounding.POSITIVE_INF}),
    "arith.ceildivui": (DivI, UNSIGNED | {"rounding": Rounding.POSITIVE_INF}),
    "arith.remsi": (RemI, SIGNED),
    "arith.remui": (RemI, UNSIGNED),
}
FLOAT_ROWS: dict[str, tuple[type[Op], dict[str, Any]]] = {
    "arith.addf": (AddF, {}),
    "arith.subf": (SubF, {}),
    "arith.mulf": (MulF, {}),
    "arith.divf": (DivF, {}),
    "arith.remf": (RemF, {}),
    "arith.negf": (NegF, {}),
    "arith.maxnumf": (MaxF, {}),
    "arith.minnumf": (MinF, {}),
    "arith.maximumf": (MaxF, {"propagate_nan": True}),
    "arith.minimumf": (MinF, {"propagate_nan": True}),
    "math.absf": (AbsF, {}),
    "math.ceil": (Ceil, {}),
    "math.floor": (Floor, {}),
    "math.fma": (Fma, {}),
    "math.sqrt": (Sqrt, {}),
    "tt.precise_sqrt": (Sqrt, {}),
    "tt.precise_divf": (DivF, {}),
    "tt.approx_divf": (DivF, {"rounding_mode": Rounding.APPROX}),
}


def same_type(cls: type[Op], attributes: dict[str, Any]) -> Callable[[Importing, MlirOperation], Value]:
    """Return the rule of an operation whose operands and result have one type."""

    def rule(importing: Importing, op: MlirOperation) -> Value:
        operands = importing.operands(op, len(cls.spec.operands))
        return importing.build.same(cls, *operands, **attributes)

    return rule


def of_floats(cls: type[Op], attributes: dict[str, Any]) -> Callable[[Importing, MlirOperation], Value]:
    """Return a rule for floats; those of eight bits are computed in f16 and rounded."""

    def rule(importing: Importing, op: MlirOperation) -> Value:
        build, operands = importing.build, importing.operands(op, len(cls.spec.operands))
        element = operands[0].tile.number
        wide = [widened(build, operand) for operand in operands]
        return build.converted(build.same(cls, *wide, **attributes), element)

    return rule


def widened(build: TileBuilder, value: Value) -> Value:
    """Return a float that has arithmetic in Tile IR: those of eight bits as f16."""
    element = value.tile.number
    return build.converted(value, t.F16) if element.is_float and element.bits < 16 else value


for _name, _row in INTEGER_ROWS.items():
    rules(_name)(same_type(*_row))
for _name, _row in FLOAT_ROWS.items():
    rules(_name)(of_floats(*_row))


@rules(*DIVISION_ROWS)
def divide(importing: Importing, op: MlirOperation) -> Results:
    """Import a quotient or remainder; where lanes have divisors of their own, those that are 0 count as 1.

    Dividing by 0 is undefined in both languages; but in Triton no harm comes of it in lanes whose result nobody uses.
    """
    cls, attributes = DIVISION_ROWS[op.name]
    dividend, divisor = importing.operands(op, 2)
    if divisor.tile.shape and not isinstance(divisor.owner, Broadcast | Constant):
        build = importing.build
        zero = build.compare(Predicate.EQUAL, divisor, build.integer(divisor.tile, 0))
        divisor = build.select(zero, build.integer(divisor.tile, 1), divisor)
    return importing.build.same(cls, dividend, divisor, **attributes)


@rules("arith.addui_extended")
def add_with_carry(importing: Importing, op: MlirOperation) -> Results:
    lhs, rhs = importing.operands(op, 2)
    total = importing.build.same(AddI, lhs, rhs)
    return total, importing.build.compare(Predicate.LESS_THAN, total, lhs, signed=False)


@rules("arith.mului_extended", "arith.mulsi_extended")
def multiply_wide(importing: Importing, op: MlirOperation) -> Results:
    """Import both halves of a product; a negative factor takes the other from the upper half."""
    build, (lhs, rhs) = importing.build, importing.operands(op, 2)
    low, high = build.same(MulI, lhs, rhs), build.same(MulhiI, lhs, rhs)
    if op.name == "arith.mulsi_extended":
        zero = build.integer(lhs.tile, 0)
        for one, other in ((lhs, rhs), (rhs, lhs)):
            negative = build.compare(Predicate.LESS_THAN, one, zero)
            high = build.same(SubI, high, build.select(negative, other, zero))
    return low, high


@rules("tt.clampf")
def clamp(importing: Importing, op: MlirOperation) -> Results:
    """Import the number between the bounds that is nearest; of a NaN the lower bound, unless they are propagated."""
    build, (value, low, high) = importing.build, importing.operands(op, 3)
    element, propagate = value.tile.number, op.attributes.get("propagateNan") in (MlirWord("all"), 0xFFFF)
    value, low, high = (widened(build, operand) for operand in (value, low, high))
    above = build.same(MaxF, value, low, propagate_nan=propagate or None)
    return build.converted(build.same(MinF, above, high, propagate_nan=propagate or None), element)


@rules("arith.select")
def select(importing: Importing, op: MlirOperation) -> Results:
    """Import a selection, of descriptors part by part."""
    if len(op.operands) != 3:
        raise mismatch(f"expected 3 operands, got {len(op.operands)}")
    condition, like = importing.value(op.operands[0]), importing.imported(op.operands[1])
    pairs = zip(importing.parts(op.operands[1]), importing.parts(op.operands[2]))
    parts = [importing.build.select(condition, yes, no) for yes, no in pairs]
    return importing.rebuilt(like.type, parts, like) if isinstance(like, TensorDescriptor) else parts


# ------------------------------------------------------------ comparisons

_PREDICATES = {
    "eq": Predicate.EQUAL,
    "ne": Predicate.NOT_EQUAL,
    "lt": Predicate.LESS_THAN,
    "le": Predicate.LESS_THAN_OR_EQUAL,
    "gt": Predicate.GREATER_THAN,
    "ge": Predicate.GREATER_THAN_OR_EQUAL,
}
_INTEGER_WORDS = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_FLOAT_WORDS = ("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une",
                "uno", "true")  # fmt: skip
"""The words in the order of MLIR's numbers, which the generic form has."""


@rules("arith.cmpi")
def compare_integers(importing: Importing, op: MlirOperation) -> Results:
    word = one_of(op, "predicate", _INTEGER_WORDS, index=0)
    lhs, rhs = importing.operands(op, 2)
    if isinstance(lhs.tile.element, t.PointerType):
        lhs, rhs = (importing.build.cast(PtrToInt, operand, t.I64) for operand in (lhs, rhs))
    return importing.build.compare(_PREDICATES[word[-2:]], lhs, rhs, signed=not word.startswith("u"))


@rules("arith.cmpf")
def compare_floats(importing: Importing, op: MlirOperation) -> Results:
    word = one_of(op, "predicate", _FLOAT_WORDS, index=0)
    build, (lhs, rhs) = importing.build, importing.operands(op, 2)
    lhs, rhs = widened(build, lhs), widened(build, rhs)
    if word in ("true", "false"):
        return build.integer(lhs.tile.with_element(t.I1), word == "true")
    if word == "ord":
        return build.same(AndI, *(build.compare_floats(Predicate.EQUAL, operand, operand) for operand in (lhs, rhs)))
    if word == "uno":
        nans = (build.compare_floats(Predicate.NOT_EQUAL, operand, operand, ordered=False) for operand in (lhs, rhs))
        return build.same(OrI, *nans)
    return build.compare_floats(_PREDICATES[word[1:]], lhs, rhs, ordered=word.startswith("o"))


# ------------------------------------------------------------ constants


@rules("arith.constant")
def constant(importing: Importing, op: MlirOperation) -> Results:
    found: MlirAttribute | None = op.attributes.get("value")
    if found is None and op.words:
        found = op.words[0][0]
    type = importing.result_type(op)
    if isinstance(found, Dense) and isinstance(found.elements, bytes):
        return importing.build.dense(type, _unpacked(found.elements, type))
    elements = found.elements if isinstance(found, Dense) else (found,)
    if len(elements) not in (1, type.count):
        raise mismatch(f"expected 1 or {type.count} elements, got {len(elements)}")
    return importing.build.dense(type, b"".join(_element(element, type.number) for element in elements))


def _element(value: object, element: t.ElementType) -> bytes:
    """Return the bytes of an element of a constant."""
    if isinstance(value, BitPattern):
        value = value.bits
    elif element.is_float and isinstance(value, float | int):
        return float_bytes(float(value), element)
    if not isinstance(value, int):
        raise mismatch(f"expected a number of type {element.name}")
    return (value & ((1 << element.bits) - 1)).to_bytes(element.byte_size, "little")


def _unpacked(data: bytes, type: t.TileType) -> bytes:
    """Return the bytes of all elements; eight elements of i1 share a byte in `data`."""
    size = type.number.byte_size
    if type.element is t.I1 and len(data) == -(-type.count // 8):
        return bytes(data[index // 8] >> index % 8 & 1 for index in range(type.count))
    if len(data) not in (size, size * type.count):
        raise mismatch(f"expected {size * type.count} bytes, got {len(data)}")
    return data


@rules("ub.poison")
def poison(importing: Importing, op: MlirOperation) -> Results:
    """Import a value that nobody uses; it must be something: 0."""
    return importing.build.zero(importing.result_type(op))


# ---------------------------------------------------------------- conversions


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
    if keyword(op, "rounding", ("rtz", "rtne")) != "rtz" or element.bits >= value.tile.number.bits:
        return build.converted(value, element)
    if element.bits >= 16:
        return build.converted(value, element, rounding_mode=Rounding.ZERO)
    return _towards_zero(importing, value, element)


def _towards_zero(importing: Importing, value: Value, element: t.ElementType) -> Value:
    """Return a float of eight bits: the nearest one, or the one before it if that is further from zero."""
    build = importing.build
    nearest = build.converted(value, element)
    back = build.same(AbsF, build.converted(nearest, value.tile.number))
    beyond = build.compare_floats(Predicate.GREATER_THAN, back, build.same(AbsF, value))
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
