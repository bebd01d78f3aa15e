"""Conversions between all element types round once and treat the special values as specified."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from exact_rounding import NAN, as_float, near, quantum, random_patterns, rounded, same

from tileir.ir import types as t
from tileir.ir.attributes import Rounding, Signedness
from tileir.ir.storage import bits_dtype, dtype_of
from tileir.numerics import conversion, formats

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
SIGNED, UNSIGNED = Signedness.SIGNED, Signedness.UNSIGNED
SATURATING = (t.F8E4M3FN, t.F8E5M2, t.F4E2M1FN, t.FNV8E5M3FNU)
NEAREST, ZERO, UP = Rounding.NEAREST_EVEN, Rounding.ZERO, Rounding.POSITIVE_INF


def modes(source: t.ElementType, target: t.ElementType) -> tuple[Rounding, ...]:
    """More than any version of the language allows for the pair."""
    if target is t.F8E8M0FNU:
        return (ZERO, UP)
    if target in SATURATING:
        return (NEAREST,)
    if (source, target) == (t.F32, t.TF32):
        return (NEAREST, ZERO, Rounding.NEAREST_AWAY)
    if target is t.TF32:
        return (NEAREST, ZERO)
    return (NEAREST, ZERO, Rounding.NEGATIVE_INF, UP)


PAIRS = [
    pytest.param(source, target, mode, id=f"{source.name}-{target.name}-{mode.text}")
    for source, target in itertools.permutations(t.FLOATS, 2)
    for mode in modes(source, target)
]


def inputs(source: t.ElementType, target: t.ElementType) -> np.ndarray:
    """Patterns of `source`: random ones, and where it is wider, numbers around those of `target` and their ties."""
    layout = source.format
    width = layout.signed + layout.exponent + layout.fraction
    bits = np.arange(1 << width, dtype=np.uint64) if width <= 8 else random_patterns(source, 300, 7)
    if width > 8 and layout.fraction > target.format.fraction:
        bits = np.concatenate([bits, near_ties(source, target)])
    return formats.stored(bits, source)


def near_ties(source: t.ElementType, target: t.ElementType) -> np.ndarray:
    """Patterns of `source` at, just below and just above the middle between neighbours of `target`."""
    generator = random.Random(11)
    cut = source.format.fraction - target.format.fraction
    offset = source.format.bias - target.format.bias
    patterns = []
    for _ in range(400):
        field = generator.randrange(-2, (1 << target.format.exponent) + 1) + offset
        field = min(max(field, 0), (1 << source.format.exponent) - 2)
        fraction = (generator.getrandbits(target.format.fraction) << cut) | generator.choice((0, 1 << (cut - 1)))
        moved = max(0, (field << source.format.fraction) + fraction + generator.choice((-1, 0, 0, 1)))
        patterns.append(moved | generator.getrandbits(1) << (source.format.exponent + source.format.fraction))
    return np.array(patterns, np.uint64)


def reference(x: float, target: t.ElementType, mode: Rounding) -> float | str:
    """The value that `x` becomes; NAN for the not-a-number of the target."""
    if math.isnan(x):
        return 6.0 if target is t.F4E2M1FN else NAN
    if target is t.F8E8M0FNU:
        return reference_scale(x, mode)
    if not target.format.signed:
        x = abs(x)
    negative = math.copysign(1, x) < 0
    result = x if math.isinf(x) or x == 0 else as_float(rounded(Fraction(x), target, mode), negative)
    largest = target.format.max_finite
    return math.copysign(largest, x) if target in SATURATING and abs(result) > largest else result


def reference_scale(x: float, mode: Rounding) -> float:
    if math.isinf(x):
        return 2.0**127
    if x == 0:
        return 2.0**-127
    magnitude = Fraction(abs(x))
    down = quantum(max(magnitude, Fraction(2) ** -127), t.F8E8M0FNU)
    up = mode is UP and magnitude > down
    return float(min(down * (2 if up else 1), Fraction(2) ** 127))


@pytest.mark.parametrize(("source", "target", "mode"), PAIRS)
def test_ftof_rounds_the_exact_value_once(source: t.ElementType, target: t.ElementType, mode: Rounding) -> None:
    x = inputs(source, target)
    actual = conversion.float_to_float(source, target, mode)(x)
    values = formats.widened(x, source)
    expected = [reference(float(value), target, mode) for value in values]
    assert actual.dtype == dtype_of(target)
    assert actual.shape == x.shape
    numbers = [math.nan if value == NAN else value for value in expected]
    wrong = np.flatnonzero(~same(formats.widened(actual, target), numbers))
    assert not wrong.size, [(float(values[i]).hex(), actual[i], expected[i]) for i in wrong[:4]]


@pytest.mark.parametrize(
    ("target", "nan"),
    [
        (t.F16, 0x7E00),
        (t.BF16, 0x7FC0),
        (t.F32, 0x7FC00000),
        (t.TF32, 0x7FC00000),
        (t.F64, 0x7FF8000000000000),
        (t.F8E4M3FN, 0x7F),
        (t.F8E5M2, 0x7E),
        (t.F8E8M0FNU, 0xFF),
        (t.FNV8E5M3FNU, 0xFF),
        (t.F4E2M1FN, 0x07),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_ftof_of_any_nan_gives_the_positive_quiet_nan(target: t.ElementType, nan: int) -> None:
    for source in t.FLOATS:
        if source in (target, t.F4E2M1FN):
            continue
        pattern = formats.patterns(source).nan
        sign = 1 << (source.format.exponent + source.format.fraction) if source.format.signed else 0
        x = formats.stored(np.array([pattern, pattern | sign], np.uint64), source)
        mode = ZERO if target is t.F8E8M0FNU else NEAREST
        actual = conversion.float_to_float(source, target, mode)(x).view(bits_dtype(target))
        assert actual.tolist() == [nan, nan], source.name


def test_tf32_keeps_its_low_bits_zero() -> None:
    x = formats.stored(random_patterns(t.F64, 500, 3), t.F64)
    for mode in (NEAREST, ZERO):
        bits = conversion.float_to_float(t.F64, t.TF32, mode)(x).view(np.uint32)
        assert not (bits & 0x1FFF).any()


def test_fnv8_patterns_have_the_documented_values() -> None:
    values = formats.widened(np.array([0, 1, 8, 0x78, 0xFE, 0xFF], np.uint8), t.FNV8E5M3FNU)
    assert values[:5].tolist() == [0.0, 2.0**-17, 2.0**-14, 1.0, 114688.0]
    assert math.isnan(values[5])


def test_every_narrow_pattern_survives_widening_and_narrowing() -> None:
    for element in (t.F8E4M3FN, t.F8E5M2, t.F8E8M0FNU, t.F4E2M1FN, t.FNV8E5M3FNU):
        width = element.format.signed + element.format.exponent + element.format.fraction
        x = formats.stored(np.arange(1 << width, dtype=np.uint64), element)
        values = formats.widened(x, element)
        finite = np.isfinite(values)
        mode = ZERO if element is t.F8E8M0FNU else NEAREST
        back = formats.encoded(values, element, mode)
        assert np.array_equal(back.view(np.uint8)[finite], x.view(np.uint8)[finite]), element.name


INTEGER_TARGETS = pytest.mark.parametrize(
    ("element", "signedness"),
    list(itertools.product(t.INTS, Signedness)),
    ids=lambda value: getattr(value, "name", None),
)


def integer_patterns(element: t.ElementType) -> np.ndarray:
    """Random and extreme integers, around powers of two and where f64 cannot hold them."""
    if element is t.I1:
        return np.array([False, True])
    generator = random.Random(5)
    width = element.bits
    some = [generator.getrandbits(width) >> generator.randrange(width) for _ in range(200)]
    some += [(1 << power) + step for power in range(width) for step in (-1, 0, 1)]
    some += [
        (3 << power) + (1 << power >> generator.randrange(1, 12)) + step for power in range(12, 50) for step in (0, 1)
    ]
    return np.array([value % (1 << width) for value in some], f"u{width // 8}").view(dtype_of(element))


@pytest.mark.parametrize("target", [f for f in t.FLOATS if f is not t.F8E8M0FNU], ids=lambda target: target.name)
@INTEGER_TARGETS
def test_itof_rounds_the_integer_once(element: t.ElementType, signedness: Signedness, target: t.ElementType) -> None:
    x = integer_patterns(element)
    actual = conversion.integer_to_float(signedness, target)(x)
    width = element.bits
    values = [int(value) % (1 << width) for value in x]
    if signedness is SIGNED:
        values = [value - (1 << width) if value >> (width - 1) else value for value in values]
    expected = [exact_reference(value, target) for value in values]
    assert actual.dtype == dtype_of(target)
    wrong = np.flatnonzero(~same(formats.widened(actual, target), expected))
    assert not wrong.size, [(values[i], actual[i], expected[i]) for i in wrong[:4]]


def exact_reference(value: int, target: t.ElementType) -> float:
    if not target.format.signed:
        value = abs(value)
    result = as_float(rounded(Fraction(value), target, NEAREST), False) if value else 0.0
    largest = target.format.max_finite
    return math.copysign(largest, value) if target in SATURATING and abs(result) > largest else result


@pytest.mark.parametrize("source", t.FLOATS, ids=lambda source: source.name)
@INTEGER_TARGETS
def test_ftoi_truncates_then_saturates_but_to_i1_tests_for_zero(
    source: t.ElementType, element: t.ElementType, signedness: Signedness
) -> None:
    bits = random_patterns(source, 300, 9)
    if source.format.signed:
        bits = np.concatenate([bits, near(bits, source, 2)])
    x = formats.stored(bits & np.uint64((1 << min(source.bits, 64)) - 1), source)
    if source is t.F64:
        x = np.concatenate([x, np.ldexp([1.0, -1.0, 1.5, -1.5, 0.75], np.arange(70)[:, None]).ravel()])
    actual = conversion.float_to_integer(signedness, source, element)(x)
    below, above = conversion.integer_range(signedness, element)

    def expected(value: float) -> int:
        if element is t.I1:
            return int(value != 0)
        if math.isnan(value):
            return 0
        limited = value if math.isfinite(value) else math.copysign(1e30, value)
        return min(max(math.trunc(limited), below), above) % (1 << element.bits)

    values = formats.widened(x, source)
    wanted = [expected(float(value)) for value in values]
    assert actual.dtype == dtype_of(element)
    assert [int(value) % (1 << element.bits) for value in actual] == wanted


def test_ftoi_keeps_the_largest_f64_below_the_limit_of_i64() -> None:
    x = np.array([2.0**63, np.nextafter(2.0**63, 0), -(2.0**63), -np.inf, np.inf, np.nan, -0.9])
    signed = conversion.float_to_integer(SIGNED, t.F64, t.I64)(x)
    assert signed.tolist() == [2**63 - 1, 2**63 - 1024, -(2**63), -(2**63), 2**63 - 1, 0, 0]
    x = np.array([2.0**64, np.nextafter(2.0**64, 0), -1.0, 0.5])
    unsigned = conversion.float_to_integer(UNSIGNED, t.F64, t.I64)(x).view(np.uint64)
    assert unsigned.tolist() == [2**64 - 1, 2**64 - 2048, 0, 0]


WIDE_INTS = (t.I1, t.I4, t.I8, t.I16, t.I32, t.I64)


def any_width(values: list[int], element: t.ElementType) -> np.ndarray:
    """Signed readings as the array that holds them."""
    if element is t.I1:
        return np.array([value & 1 for value in values], np.bool_)
    return np.array(values, dtype_of(element))


def signed_range(element: t.ElementType) -> list[int]:
    half = 1 << (element.bits - 1)
    return sorted({-half, -half // 2, -1, 0, half // 2, half - 1})


@pytest.mark.parametrize(
    ("narrow", "wide"), list(itertools.combinations(WIDE_INTS, 2)), ids=lambda element: element.name
)
def test_exti_keeps_the_value_and_trunci_the_low_bits(narrow: t.ElementType, wide: t.ElementType) -> None:
    values = signed_range(narrow)
    x = any_width(values, narrow)
    signed = conversion.extended(SIGNED, narrow, wide)(x)
    unsigned = conversion.extended(UNSIGNED, narrow, wide)(x)
    assert signed.dtype == unsigned.dtype == dtype_of(wide)
    assert signed.tolist() == values
    assert unsigned.tolist() == [value % (1 << narrow.bits) for value in values]
    back = conversion.truncated(narrow)(unsigned)
    assert back.dtype == dtype_of(narrow)
    assert back.tolist() == x.tolist()


def test_conversions_of_scalars_and_rank_zero_tiles() -> None:
    value = np.float32(-2.7)
    for x in (value, np.asarray(value)):
        for target in t.FLOATS:
            if target is not t.F32:
                mode = ZERO if target is t.F8E8M0FNU else NEAREST
                result = conversion.float_to_float(t.F32, target, mode)(x)
                assert result.shape == ()
                assert result.dtype == dtype_of(target)
        for element, signedness in itertools.product(t.INTS, Signedness):
            result = conversion.float_to_integer(signedness, t.F32, element)(x)
            assert result.dtype == dtype_of(element)
            assert conversion.integer_to_float(signedness, t.BF16)(result).dtype == dtype_of(t.BF16)
