"""Every operation of the float, integer and conversion chapters has a rule that gives the type it declares."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from exact_rounding import same

from tileir.interp import arithmetic, conversion
from tileir.interp.faults import Fault
from tileir.ir import types as t
from tileir.ir.attributes import Ordering, Overflow, Predicate, Rounding, Signedness
from tileir.ir.core import Block, Op, Value
from tileir.ir.rules import joined
from tileir.ir.storage import dtype_of
from tileir.numerics.conversion import integer_range
from tileir.ops import conversion as conversion_ops
from tileir.ops import division
from tileir.ops import floating as floating_ops
from tileir.ops import functions as functions_ops
from tileir.ops import integer as integer_ops
from tileir.ops.constraints import BASE_FLOATS

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
RULES = joined(arithmetic.rules, conversion.rules)
SIGNED, UNSIGNED = Signedness.SIGNED, Signedness.UNSIGNED
SHAPE = (2, 4)
ENUMS = {"comparison_predicate": Predicate.LESS_THAN, "comparison_ordering": Ordering.ORDERED, "signedness": SIGNED}


def operations(*modules: object) -> list[type[Op]]:
    """The operations declared in chapters."""
    members = itertools.chain.from_iterable(vars(module).values() for module in modules)
    found = [cls for cls in members if isinstance(cls, type) and issubclass(cls, Op) and hasattr(cls, "spec")]
    return sorted(found, key=lambda cls: cls.spec.name)


def value(type: t.Type) -> Value:
    return Block([type]).args[0]


def build(cls: type[Op], operands: list[t.Type], result: t.Type, **attributes: object) -> Op:
    required = {attr.name: ENUMS[attr.name] for attr in cls.spec.attrs if attr.required}
    names = [operand.name for operand in cls.spec.operands]
    return cls.build([result], **dict(zip(names, map(value, operands))), **{**required, **attributes})


def small(element: t.ElementType | t.PointerType, shape: tuple[int, ...]) -> np.ndarray:
    """Ones: a value of every type."""
    return np.ones(shape, dtype_of(element))


def test_every_operation_of_the_chapters_has_a_rule() -> None:
    for cls in operations(floating_ops, functions_ops, integer_ops, division, conversion_ops):
        assert cls in RULES, cls.spec.name


def accepted(cls: type[Op], element: t.ElementType) -> bool:
    return all(operand.constraint.accepts(t.tile(element, 4)) for operand in cls.spec.operands)


def same_type_cases() -> Iterator[tuple[type[Op], t.ElementType]]:
    for cls in operations(floating_ops, functions_ops, integer_ops, division):
        for element in (*BASE_FLOATS, *t.INTS):
            if accepted(cls, element):
                yield cls, element


def check_result(op: Op, operands: list[np.ndarray]) -> None:
    """The result has the declared element type and the shape of the operands, which are not written to."""
    for operand in operands:
        operand.flags.writeable = False
    result = RULES[type(op)](op)(*operands)
    declared = op.results[0].type
    assert isinstance(declared, t.TileType)
    assert result.dtype == dtype_of(declared.element), op
    assert result.shape == operands[0].shape


@pytest.mark.parametrize("shape", [SHAPE, ()], ids=["tile", "scalar"])
@pytest.mark.parametrize(("cls", "element"), list(same_type_cases()), ids=lambda case: getattr(case, "name", ""))
def test_results_have_the_declared_type(cls: type[Op], element: t.ElementType, shape: tuple[int, ...]) -> None:
    type = t.TileType(shape, element)
    boolean = cls in (floating_ops.CmpF, integer_ops.CmpI)
    op = build(cls, [type] * len(cls.spec.operands), type.with_element(t.I1) if boolean else type)
    check_result(op, [small(element, shape) for _ in op.operands])


@pytest.mark.parametrize(("cls", "element"), list(same_type_cases()), ids=lambda case: getattr(case, "name", ""))
def test_scalars_and_arrays_mix_as_in_the_body_of_a_reduction(cls: type[Op], element: t.ElementType) -> None:
    type = t.TileType((), element)
    boolean = cls in (floating_ops.CmpF, integer_ops.CmpI)
    op = build(cls, [type] * len(cls.spec.operands), type.with_element(t.I1) if boolean else type)
    rule = RULES[cls](op)
    columns = [small(element, (3, 5)) for _ in op.operands]
    expected = rule(*columns)
    columns[-1] = columns[-1][0, 0]
    mixed = rule(*columns)
    assert mixed.dtype == expected.dtype
    assert mixed.shape == (() if len(columns) == 1 else (3, 5))
    assert np.broadcast_to(mixed, (3, 5)).tolist() == expected.tolist()


def conversion_cases() -> Iterator[tuple[type[Op], t.Type, t.Type, dict[str, object]]]:
    pointer = t.PointerType(t.F32)
    yield conversion_ops.IntToPtr, t.I64, pointer, {}
    yield conversion_ops.PtrToInt, pointer, t.I64, {}
    yield conversion_ops.PtrToPtr, pointer, t.PointerType(t.I8), {}
    for source, target in itertools.permutations(t.FLOATS, 2):
        mode = Rounding.ZERO if target is t.F8E8M0FNU else Rounding.NEAREST_EVEN
        yield conversion_ops.FToF, source, target, {"rounding_mode": mode}
    for floating_type, integer_type in itertools.product(t.FLOATS, t.INTS):
        yield conversion_ops.FToI, floating_type, integer_type, {}
        if floating_type is not t.F8E8M0FNU:
            yield conversion_ops.IToF, integer_type, floating_type, {}
    for narrow, wide in itertools.combinations((t.I1, t.I4, t.I8, t.I16, t.I32, t.I64), 2):
        yield conversion_ops.ExtI, narrow, wide, {}
        yield conversion_ops.TruncI, wide, narrow, {}
    for source, target in itertools.product(t.NUMBERS, repeat=2):
        if source.bits == target.bits:
            yield conversion_ops.Bitcast, source, target, {}


@pytest.mark.parametrize("shape", [SHAPE, ()], ids=["tile", "scalar"])
def test_conversions_give_the_declared_type(shape: tuple[int, ...]) -> None:
    for cls, source, target, attributes in conversion_cases():
        if t.F4E2M1FN in (source, target) and not shape:
            continue
        op = build(cls, [t.TileType(shape, source)], t.TileType(shape, target), **attributes)
        check_result(op, [small(source, shape)])


def test_bitcast_keeps_the_bits() -> None:
    op = build(conversion_ops.Bitcast, [t.tile(t.F32, 2)], t.tile(t.I32, 2))
    result = RULES[type(op)](op)(np.array([-0.0, np.nan], np.float32))
    assert [int(bits) & 0xFFFFFFFF for bits in result] == [0x80000000, 0x7FC00000]


def test_rounding_and_flushing_attributes_reach_the_arithmetic() -> None:
    tile = t.tile(t.F32, 2)
    op = build(floating_ops.AddF, [tile, tile], tile, rounding_mode=Rounding.POSITIVE_INF)
    one, tiny = np.array([1, -1], np.float32), np.array([2.0**-40, 2.0**-40], np.float32)
    assert RULES[type(op)](op)(one, tiny).tolist() == [1 + 2.0**-23, -1 + 2.0**-24]
    op = build(floating_ops.MulF, [tile, tile], tile, flush_to_zero=True)
    subnormal = np.array([2.0**-130, -(2.0**-130)], np.float32)
    assert same(RULES[type(op)](op)(subnormal, one), [0.0, 0.0]).all()


def test_approximate_division_and_root_are_rounded_to_nearest() -> None:
    tile = t.tile(t.F32, 4)
    x = np.array([1, 2, 10, 2.0**127], np.float32)
    y = np.array([3, 7, 2.0**-140, 2.0**127], np.float32)
    for mode, last in ((Rounding.APPROX, 0.0), (Rounding.FULL, 1.0)):
        op = build(floating_ops.DivF, [tile, tile], tile, rounding_mode=mode)
        with np.errstate(all="ignore"):
            assert RULES[type(op)](op)(x, y).tolist() == [*(x[:3] / y[:3]).tolist(), last]
    op = build(floating_ops.Sqrt, [tile], tile, rounding_mode=Rounding.APPROX)
    assert RULES[type(op)](op)(x).tolist() == np.sqrt(x).tolist()


@pytest.mark.parametrize("cls", [division.DivI, division.RemI])
def test_division_by_zero_is_a_fault_with_a_place(cls: type[Op]) -> None:
    tile = t.TileType(SHAPE, t.I8)
    op = build(cls, [tile, tile], tile)
    divisor = np.ones(SHAPE, np.int8)
    divisor[1, 3] = 0
    with pytest.raises(Fault) as fault:
        RULES[type(op)](op)(np.ones(SHAPE, np.int8), divisor)
    assert fault.value.index == (1, 3)


# ---------------------------------------------------------------- what strict mode adds


def all_pairs(element: t.ElementType) -> tuple[np.ndarray, np.ndarray]:
    if element is t.I1:
        return np.array([False, False, True, True]), np.array([False, True, False, True])
    if element is t.I8:
        x, y = np.meshgrid(np.arange(-128, 128), np.arange(-128, 128))
    else:
        info = np.iinfo(dtype_of(element))
        edges = [info.min, info.min + 1, -2, -1, 0, 1, 2, 3, 1 << (element.bits // 2), info.max - 1, info.max]
        x, y = np.meshgrid(np.array(edges, np.int64), np.array(edges, np.int64))
    return x.ravel().astype(dtype_of(element)), y.ravel().astype(dtype_of(element))


def reading(x: np.ndarray, element: t.ElementType, signedness: Signedness) -> list[int]:
    """The integers that the elements stand for."""
    modulus = 1 << element.bits
    values = [int(number) % modulus for number in x]
    return [number - modulus if signedness is SIGNED and number >= modulus // 2 else number for number in values]


EXACT = {
    integer_ops.AddI: lambda x, y: x + y,
    integer_ops.SubI: lambda x, y: x - y,
    integer_ops.MulI: lambda x, y: x * y,
}


@pytest.mark.parametrize("element", t.INTS, ids=lambda element: element.name)
@pytest.mark.parametrize("cls", list(EXACT), ids=lambda cls: cls.spec.name)
@pytest.mark.parametrize("overflow", list(Overflow), ids=lambda overflow: overflow.text)
def test_strict_mode_finds_every_broken_promise(cls: type[Op], element: t.ElementType, overflow: Overflow) -> None:
    tile = t.tile(element, 4)
    check = arithmetic.strict[cls](build(cls, [tile, tile], tile, overflow=overflow))
    if overflow is Overflow.NONE:
        assert check is None
        return
    x, y = all_pairs(element)
    broken = np.zeros(x.shape, np.bool_)
    for signedness, flag in ((SIGNED, Overflow.NO_SIGNED_WRAP), (UNSIGNED, Overflow.NO_UNSIGNED_WRAP)):
        if overflow in (flag, Overflow.NO_WRAP):
            below, above = integer_range(signedness, element)
            pairs = zip(reading(x, element, signedness), reading(y, element, signedness))
            broken |= np.array([not below <= EXACT[cls](a, b) <= above for a, b in pairs])
    check(x[~broken], y[~broken])
    for position in np.flatnonzero(broken)[:: max(1, broken.sum() // 50)]:
        with pytest.raises(Fault):
            check(x[position], y[position])


def faults(check: object, *operands: np.ndarray) -> list[bool]:
    """For each element whether it is a fault."""
    found = []
    for elements in zip(*operands):
        try:
            check(*elements)
            found.append(False)
        except Fault:
            found.append(True)
    return found


def test_strict_mode_finds_bits_lost_by_shifts_and_truncations() -> None:
    tile = t.tile(t.I8, 8)
    x = np.array([1, 64, -1, 3, 0, 1, -128], np.int8)
    y = np.array([6, 1, 1, 7, 100, 8, 0], np.int8)
    signed = arithmetic.strict[integer_ops.ShlI](
        build(integer_ops.ShlI, [tile, tile], tile, overflow=Overflow.NO_SIGNED_WRAP)
    )
    assert faults(signed, x, y) == [False, True, False, True, False, True, False]
    unsigned = arithmetic.strict[integer_ops.ShlI](
        build(integer_ops.ShlI, [tile, tile], tile, overflow=Overflow.NO_UNSIGNED_WRAP)
    )
    assert faults(unsigned, x, y) == [False, False, True, True, False, True, False]
    wide = np.array([127, 128, -128, 255, 256], np.int16)
    for overflow, expected in (
        (Overflow.NO_SIGNED_WRAP, [False, True, False, True, True]),
        (Overflow.NO_UNSIGNED_WRAP, [False, False, True, False, True]),
        (Overflow.NO_WRAP, [False, True, True, True, True]),
    ):
        op = build(conversion_ops.TruncI, [t.tile(t.I16, 8)], tile, overflow=overflow)
        assert faults(conversion.strict[type(op)](op), wide) == expected


def test_strict_mode_finds_negations_and_quotients_that_do_not_fit() -> None:
    tile = t.tile(t.I32, 4)
    x, y = np.array([-(2**31), -(2**31), 5, 0], np.int32), np.array([-1, 1, -1, -1], np.int32)
    divide = build(division.DivI, [tile, tile], tile)
    assert faults(arithmetic.strict[division.DivI](divide), x, y) == [True, False, False, False]
    negate = build(integer_ops.NegI, [tile], tile, overflow=Overflow.NO_WRAP)
    assert faults(arithmetic.strict[integer_ops.NegI](negate), x) == [True, True, False, False]
    assert arithmetic.strict[integer_ops.NegI](build(integer_ops.NegI, [tile], tile)) is None


@pytest.mark.parametrize("element", t.INTS[1:], ids=lambda element: element.name)
@pytest.mark.parametrize("signedness", list(Signedness), ids=lambda signedness: signedness.text)
def test_strict_mode_finds_floats_out_of_range(element: t.ElementType, signedness: Signedness) -> None:
    below, above = integer_range(signedness, element)
    x = np.array([below - 1, below - 0.5, below, above, above + 0.5, above + 1, np.nan, np.inf, -0.9], np.float64)
    op = build(conversion_ops.FToI, [t.tile(t.F64, 16)], t.tile(element, 16), signedness=signedness)

    def outside(number: float) -> bool:
        return not np.isfinite(number) or not below <= int(Fraction(number)) <= above

    assert faults(conversion.strict[type(op)](op), x) == [outside(float(number)) for number in x]
    saturating = build(
        conversion_ops.FToI, [t.tile(t.F64, 16)], t.tile(element, 16), signedness=signedness, saturating=True
    )
    assert conversion.strict[type(op)](saturating) is None
    to_bool = build(conversion_ops.FToI, [t.tile(t.F64, 16)], t.tile(t.I1, 16), signedness=signedness)
    assert conversion.strict[type(op)](to_bool) is None
