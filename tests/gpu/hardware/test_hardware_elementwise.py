"""Arithmetic, functions and conversions of a GPU: bit for bit where the specification fixes the result, within its
bounds elsewhere."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from tests.cpu.samples import COUNT, differing, operands, ulps
from tests.gpu import test_ttir_conversion as conversions
from tests.gpu import test_ttir_floating as floating
from tests.gpu import test_ttir_functions as function_tests
from tests.gpu import test_ttir_integer as integers
from tests.gpu import test_ttir_packing as packing
from tests.gpu.hardware.hardware_device import Device
from tests.gpu.hardware.hardware_elementwise import Computed, computed, groups
from tests.gpu.ttir_operations import Case, case
from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.ir.storage import dtype_of
from tileir.ops import conversion as conversion_ops
from tileir.ops import floating as floats
from tileir.ops import functions
from tileir.verify.arithmetic import conversion_modes

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
PATTERNS = 1 << 16
SMALLEST_NORMAL = 2.0**-126
HUGE_ANGLES = [1e5, 1e9, 1e22, 1e38, 1e300, np.pi / 2, np.pi, 355.0, 103993.0, 6381956970095103 * 2.0**797]


def named(found: Sequence[Case]) -> str:
    return f"{found[0].name}..{found[-1].name}" if len(found) > 1 else found[0].name


def require_equal(found: Sequence[Computed]) -> None:
    """Every bit is right; any NaN equals any other."""
    examples = [one.examples(differing(one.actual, one.expected, one.element)) for one in found]
    assert not any(examples), list(itertools.chain(*examples))


def require_near(found: Sequence[Computed], bounds: Sequence[int]) -> None:
    """Off by so many units in the last place at most."""
    examples = [one.examples(ulps(one.actual, one.expected, one.element) > most) for one, most in zip(found, bounds)]
    assert not any(examples), list(itertools.chain(*examples))


# ---------------------------------------------------------------- integers

INTEGERS = [list(group) for element in t.INTS for group in groups(list(integers.cases(element, (COUNT,))))]


@pytest.mark.parametrize("group", INTEGERS, ids=named)
def test_integer_operations_equal_the_interpreter(device: Device, group: Sequence[Case]) -> None:
    require_equal(computed(device, group, [integers.divisible(one, one.operands()) for one in group]))


@pytest.mark.parametrize("group", list(groups(list(integers.cases(t.I8, (COUNT,))))), ids=named)
def test_every_pair_of_bytes_equals_the_interpreter(device: Device, group: Sequence[Case]) -> None:
    pairs = integers.every_pair()
    require_equal(computed(device, group, [integers.divisible(one, pairs[: len(one.op.operands)]) for one in group]))


# ---------------------------------------------------------------- float arithmetic

ARITHMETIC = list(groups([*floating.rounded(), *floating.exact()]))


@pytest.mark.parametrize("group", ARITHMETIC, ids=named)
def test_float_arithmetic_gives_the_bits_of_the_interpreter(device: Device, group: Sequence[Case]) -> None:
    require_equal(computed(device, group, [one.operands() for one in group]))


@pytest.mark.parametrize("mode", floating.MODES, ids=lambda mode: mode.text)
def test_results_at_the_smallest_normal_number_are_flushed_as_the_specification_says(
    device: Device, mode: Rounding
) -> None:
    """Products next to 2^-126: a result is flushed by its size before it is rounded, or after."""
    steps = np.arange(-COUNT // 2, COUNT // 2)
    near = [np.float32(2.0**-63) * (1 + steps * 2.0**-23), np.float32(2.0**-63) * (1 - steps * 2.0**-24)]
    group = [
        case(cls, [t.F32] * 2, t.F32, rounding_mode=mode, flush_to_zero=True)
        for cls in (floats.MulF, floats.AddF, floats.SubF)
    ]
    sums = [SMALLEST_NORMAL * (1 + np.abs(steps) * 2.0**-23), SMALLEST_NORMAL * steps * 2.0**-23]
    pairs = [[x.astype(np.float32) for x in pair] for pair in (near, sums, sums)]
    require_equal(computed(device, group, pairs))


@pytest.mark.parametrize("element", floating.FLOATS, ids=lambda element: element.name)
def test_extremes_tell_the_zeros_apart(device: Device, element: t.ElementType) -> None:
    """And know what to do with every other pair of special numbers."""
    found = [one for one in floating.exact() if isinstance(one.op, floating.EXTREMES)]
    group = [one for one in found if one.op.results[0].type.element is element]
    require_equal(computed(device, group, [corners(one) for one in group]))


def test_quotients_of_bf16_that_are_subnormal_are_rounded_once(device: Device) -> None:
    significand, exponent = np.meshgrid(np.arange(128, 256) * 2.0**-7, np.arange(-143, -111))
    dividend = np.random.default_rng(3).permutation(significand.ravel()) * 2.0 ** (exponent.ravel() + 20)
    found = case(floats.DivF, [t.BF16, t.BF16], t.BF16)
    arrays = [x.astype(np.float32).astype(dtype_of(t.BF16)) for x in (dividend, significand.ravel() * 2.0**20)]
    require_equal(computed(device, [found], [arrays]))


@pytest.mark.parametrize("group", list(groups(list(floating.approximate()))), ids=named)
def test_approximations_stay_within_two_units_in_the_last_place(device: Device, group: Sequence[Case]) -> None:
    found = computed(device, group, [one.operands() for one in group])
    require_near(found, [2] * len(found))


# ---------------------------------------------------------------- scalars, streams of bits

SCALARS = list(
    groups([*floating.rounded(()), *floating.exact(()), *(one for e in t.INTS for one in integers.cases(e, ()))])
)


@pytest.mark.parametrize("group", SCALARS, ids=named)
def test_scalars_are_computed_like_tiles(device: Device, group: Sequence[Case]) -> None:
    require_equal(computed(device, group, [integers.divisible(one, scalars(one)) for one in group]))


def scalars(found: Case) -> list[np.ndarray]:
    """One of the operands that a tile would have."""
    return [np.asarray(x[7]) for x in found.operands()]


@pytest.mark.parametrize("byte_count", [1, 8, 1024])
def test_tiles_are_packed_and_unpacked(device: Device, byte_count: int) -> None:
    chosen = list(packing.cases(byte_count))
    given = [operands(one.op.operands[0].type.element, 1)[0] for one in chosen]
    counts = [one.op.operands[0].type.count for one in chosen]
    found = computed(device, chosen, [[np.resize(x, count)] for x, count in zip(given, counts)])
    require_equal([one for one in found if one.element is not t.TF32])
    for one in found:
        if one.element is t.TF32:  # of which the low bits do not count
            np.testing.assert_array_equal(one.actual.view(np.uint32), one.expected.view(np.uint32) & 0xFFFFE000)


# ---------------------------------------------------------------- functions

FUNCTIONS = list(groups(list(function_tests.function_cases()), 8))


@pytest.mark.parametrize("group", FUNCTIONS, ids=named)
def test_functions_stay_within_their_bounds(device: Device, group: Sequence[Case]) -> None:
    """On random patterns, on numbers that programs compute with, and on every pair of special ones."""
    hard = [[np.concatenate(parts) for parts in zip(one.operands(), common(one), corners(one))] for one in group]
    require_near(computed(device, group, hard), [function_tests.bound(one) for one in group])


def common(found: Case) -> list[np.ndarray]:
    """Numbers of sizes that programs compute with; exponents that are integers are small."""
    generator = np.random.default_rng(3)
    arrays = found.operands()
    for place, value in enumerate(found.op.operands):
        if value.type.element.is_float:
            near = generator.choice([-1, 1], COUNT) * 2.0 ** generator.uniform(-12, 7, COUNT)
            mixed = np.where(generator.random(COUNT) < 0.5, near, generator.uniform(0.5, 2, COUNT))
            arrays[place] = mixed.astype(dtype_of(value.type.element))
        elif value.type.element is not t.I1:
            arrays[place] = generator.integers(-30, 31, COUNT).astype(arrays[place].dtype)
    return arrays


def corners(found: Case) -> list[np.ndarray]:
    """Every pair of special numbers."""
    first, second = (x.ravel() for x in np.meshgrid(function_tests.SPECIAL, function_tests.SPECIAL))
    arrays = [x.astype(dtype_of(found.op.operands[0].type.element)) for x in (first, second)]
    if isinstance(found.op, functions.FPowI):
        powers = np.resize([0, 1, -1, 2, -2, 3, -3, 127, -128, 7, -7, 64, 100, -100, 31, 33], 256)
        arrays[1] = np.sort(powers).astype(dtype_of(found.op.operands[1].type.element))
    return arrays[: len(found.op.operands)]


def test_angles_of_any_size_are_reduced(device: Device) -> None:
    generator = np.random.default_rng(9)
    turns = generator.integers(1, 1 << 20, COUNT) * (np.pi / 2)
    huge = np.where(generator.random(COUNT) < 0.5, turns, generator.choice(HUGE_ANGLES, COUNT))
    huge *= generator.choice([-1, 1], COUNT)
    kinds = itertools.product((functions.Sin, functions.Cos, functions.Tan), (t.F32, t.F64))
    group = [case(cls, [element], element) for cls, element in kinds]
    arrays = [[huge.astype(dtype_of(one.op.operands[0].type.element))] for one in group]
    require_near(computed(device, group, arrays), [function_tests.bound(one) for one in group])


@pytest.mark.parametrize("element", function_tests.FLOATS, ids=lambda element: element.name)
def test_exp2_of_integers_is_exact(device: Device, element: t.ElementType) -> None:
    """Also by ``ex2.approx``, for which the machine stands in with one that is off on purpose."""
    if device.rehearsal and element is t.F32:
        pytest.skip("only hardware has the instruction")
    layout = element.format
    assert layout is not None
    numbers = np.resize(np.arange(2 - layout.bias - layout.fraction, layout.bias + 1), COUNT)
    x = numbers.astype(dtype_of(element))
    (found,) = computed(device, [case(functions.Exp2, [element], element)], [[x]])
    exact = x.astype(np.float64) == numbers
    wrong = exact & (found.actual.astype(np.float64) != np.ldexp(1.0, numbers))
    assert not wrong.any(), found.examples(wrong)


@pytest.mark.parametrize("element", [t.F16, t.BF16], ids=lambda element: element.name)
def test_functions_of_every_pattern_of_16_bits_are_off_by_one_at_most(device: Device, element: t.ElementType) -> None:
    x = np.arange(PATTERNS, dtype=np.uint16).view(dtype_of(element))
    unary = [cls for cls in function_tests.BOUNDS if len(cls.spec.operands) == 1]
    group = [case(cls, [element], element) for cls in unary]
    require_near(computed(device, group, [[x]] * len(group)), [1] * len(group))


def test_the_approximate_exponential_is_as_near_as_its_rounded_exponent(device: Device) -> None:
    x = np.linspace(-100, 88, COUNT).astype(np.float32)
    (found,) = computed(device, [case(functions.Exp, [t.F32], t.F32, rounding_mode=Rounding.APPROX)], [[x]])
    exact = np.exp(x.astype(np.float64))
    wrong = np.abs(found.actual - exact) > exact * (np.abs(x) + 4) * 2.0**-23 + 2.0**-148
    assert not wrong.any(), found.examples(wrong)


def test_the_approximate_hyperbolic_tangent_is_near(device: Device) -> None:
    approximate = case(functions.Tanh, [t.F32], t.F32, rounding_mode=Rounding.APPROX)
    (found,) = computed(device, [approximate], [approximate.operands()])
    np.testing.assert_allclose(found.actual, found.expected, rtol=2.0**-10)


# ---------------------------------------------------------------- conversions

CONVERSIONS = list(groups(conversions.every_case((COUNT,))))


@pytest.mark.parametrize("group", CONVERSIONS, ids=named)
def test_conversions_equal_the_interpreter(device: Device, group: Sequence[Case]) -> None:
    require_equal(computed(device, group, [one.operands() for one in group]))


SMALL = [element for element in t.NUMBERS if element.bits <= 8]


@pytest.mark.parametrize("source", [*SMALL, t.I16, t.F16, t.BF16], ids=lambda element: element.name)
def test_every_pattern_of_8_or_16_bits_is_converted(device: Device, source: t.ElementType) -> None:
    patterns = every_pattern(source)
    every = conversions.every_case((COUNT,))
    chosen = [one for one in every if one.op.operands[0].type.element is source]
    for group in groups(chosen):
        require_equal(computed(device, group, [[patterns]] * len(group)))


def every_pattern(element: t.ElementType) -> np.ndarray:
    """All numbers of a type; of i4 and i1 as they are held."""
    if element is t.I1:
        return np.array([False, True])
    if element is t.I4:
        return np.arange(-8, 8, dtype=np.int8)
    return conversions.patterns(element)


@pytest.mark.parametrize("target", conversions.NARROW, ids=lambda element: element.name)
@pytest.mark.parametrize("source", [t.F32, t.F64], ids=lambda element: element.name)
def test_numbers_near_a_tie_are_rounded_once(device: Device, source: t.ElementType, target: t.ElementType) -> None:
    """Among them those that f64 would be rounded wrongly of if it went through f32."""
    numbers = conversions.hard(source, target)
    modes = conversion_modes(source, target, conversions.LEVEL)
    group = [case(conversion_ops.FToF, [source], target, rounding_mode=mode) for mode in modes]
    require_equal(computed(device, group, [[numbers]] * len(group)))
