"""Conversions as TTIR: equal to the interpreter on the TTIR machine, and compiled for every generation.

sm_80 has no 8-bit floats: integer arithmetic replaces the instructions of sm_90 there.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from tests.cpu.samples import COUNT, differing
from tests.gpu.ttir_operations import ARCHS, Case, case, compiled, executed, interpreted, require_compilable
from tests.thorough import sampled
from tileir.gpu.arch import arch_named
from tileir.ir import types as t
from tileir.ir.attributes import Rounding, Signedness
from tileir.ir.storage import bits_dtype, dtype_of
from tileir.ops import conversion as ops
from tileir.verify.arithmetic import conversion_modes, widens

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
HOPPER = arch_named("sm_90")
NARROW = (t.F16, t.BF16, t.TF32, t.F8E4M3FN, t.F8E5M2, t.F8E8M0FNU, t.F4E2M1FN, t.FNV8E5M3FNU)
INT_WIDTHS = (t.I1, t.I4, t.I8, t.I16, t.I32, t.I64)
LEVEL = (13, 5)
POINTER = t.PointerType(t.F32)

# ---------------------------------------------------------------- cases


def reinterpretations(shape: tuple[int, ...]) -> Iterator[Case]:
    yield case(ops.IntToPtr, [t.I64], POINTER, shape)
    yield case(ops.PtrToInt, [POINTER], t.I64, shape)
    yield case(ops.PtrToPtr, [POINTER], t.PointerType(t.I1), shape)
    for source, target in itertools.product(t.NUMBERS, repeat=2):
        if source.bits == target.bits:
            yield case(ops.Bitcast, [source], target, shape)


def resizings(shape: tuple[int, ...]) -> Iterator[Case]:
    for narrow, wide in itertools.combinations(INT_WIDTHS, 2):
        yield case(ops.TruncI, [wide], narrow, shape)
        for signedness in Signedness:
            yield case(ops.ExtI, [narrow], wide, shape, signedness=signedness)


def with_integers(shape: tuple[int, ...]) -> Iterator[Case]:
    for element, number, signedness in itertools.product(t.FLOATS, t.INTS, Signedness):
        yield case(ops.FToI, [element], number, shape, signedness=signedness, saturating=True)
        if element is not t.F8E8M0FNU:
            yield case(ops.IToF, [number], element, shape, signedness=signedness)


def between_floats(shape: tuple[int, ...]) -> Iterator[Case]:
    for source, target in itertools.permutations(t.FLOATS, 2):
        for mode in conversion_modes(source, target, LEVEL):
            yield case(ops.FToF, [source], target, shape, rounding_mode=mode)


def every_case(shape: tuple[int, ...]) -> list[Case]:
    return [*reinterpretations(shape), *resizings(shape), *with_integers(shape), *between_floats(shape)]


# ---------------------------------------------------------------- hard numbers


def patterns(element: t.ElementType) -> np.ndarray:
    """Every number of a type of at most 16 bits, the unused bits of its array zero."""
    bits = np.arange(1 << element.bits).astype(bits_dtype(element))
    return bits.view(dtype_of(element))


def values(element: t.ElementType) -> np.ndarray:
    """The finite magnitudes of a narrow type as f64, ascending."""
    if element is t.TF32:
        bits = np.arange(0, 0x7F800000, 0x2000 * 37, dtype=np.uint32)
        return bits.view(np.float32).astype(np.float64)
    as_f64 = case(ops.FToF, [element], t.F64, (1 << element.bits,)).op
    found = interpreted(as_f64, [patterns(element)])
    return np.unique(np.abs(found[np.isfinite(found)]))


def hard(source: t.ElementType, target: t.ElementType) -> np.ndarray:
    """Numbers of `target`, what lies halfway between two, and the next numbers on either side; and special ones."""
    dtype = dtype_of(source)
    known = values(target)
    with np.errstate(all="ignore"):
        halfway = (known[1:] + known[:-1]) / 2
        ends = np.array([known[-1] * 1.5, known[-1] * 2, known[1] / 2, known[1] / 4, 0, np.inf, np.nan, 1e-300, 1e300])
        exact = np.concatenate([known, halfway, ends]).astype(dtype)
        around = [exact, np.nextafter(exact, dtype.type(0)), np.nextafter(exact, dtype.type(np.inf))]
    return padded(np.concatenate([*around, *(-x for x in around)]))


def padded(x: np.ndarray) -> np.ndarray:
    """With as many elements as a tile can have, the last one repeated."""
    count = 1 << (len(x) - 1).bit_length()
    return np.concatenate([x, np.repeat(x[-1:], count - len(x))])


def wrong(found: Case, array: np.ndarray, arch: str) -> list[tuple[object, ...]]:
    """Elements on which machine and interpreter disagree."""
    result, expected = executed(found.op, [array], arch_named(arch)), interpreted(found.op, [array])
    places = np.flatnonzero(differing(result, expected, found.op.results[0].type.element))
    return [(array[place], result[place], expected[place]) for place in places[:5]]


# ---------------------------------------------------------------- results


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "gfx942"])
@pytest.mark.parametrize("found", sampled(every_case((COUNT,)), 4), ids=lambda found: found.name)
def test_conversions_equal_the_interpreter(found: Case, arch: str) -> None:
    (array,) = found.operands()
    assert not wrong(found, array, arch)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "gfx942"])
@pytest.mark.parametrize("target", NARROW, ids=lambda element: element.name)
@pytest.mark.parametrize("source", [t.F32, t.F64], ids=lambda element: element.name)
def test_numbers_near_a_tie_are_rounded_once(source: t.ElementType, target: t.ElementType, arch: str) -> None:
    numbers = hard(source, target)
    for mode in conversion_modes(source, target, LEVEL):
        found = case(ops.FToF, [source], target, numbers.shape, rounding_mode=mode)
        assert not wrong(found, numbers, arch), mode


@pytest.mark.parametrize("target", [t.F16, t.BF16], ids=lambda element: element.name)
def test_narrow_floats_are_encoded_in_modes_that_no_conversion_has(target: t.ElementType) -> None:
    numbers = hard(t.F32, target)
    for mode in (Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF):
        assert not wrong(case(ops.FToF, [t.F32], target, numbers.shape, rounding_mode=mode), numbers, "sm_90"), mode


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "gfx942"])
@pytest.mark.parametrize("source", [t.F16, t.BF16], ids=lambda element: element.name)
def test_every_number_of_16_bits_is_converted_as_the_interpreter_does(source: t.ElementType, arch: str) -> None:
    numbers = patterns(source)
    for target in (*NARROW, t.F32, t.F64):
        if target is not source:
            for mode in conversion_modes(source, target, LEVEL):
                found = case(ops.FToF, [source], target, numbers.shape, rounding_mode=mode)
                assert not wrong(found, numbers, arch), found.name


def test_f64_is_rounded_to_f32_in_four_modes() -> None:
    generator = np.random.default_rng(3)
    near = generator.integers(0, 1 << 32, 1 << 12, np.uint64).astype(np.uint32).view(np.float32).astype(np.float64)
    steps = generator.integers(-(1 << 29), 1 << 29, near.shape)
    numbers = (near.view(np.int64) + steps).view(np.float64)
    for mode in conversion_modes(t.F64, t.F32, LEVEL):
        assert not wrong(case(ops.FToF, [t.F64], t.F32, numbers.shape, rounding_mode=mode), numbers, "sm_90")


@pytest.mark.parametrize("signedness", Signedness, ids=lambda signedness: signedness.text)
@pytest.mark.parametrize("target", [t.BF16, t.TF32, t.F16], ids=lambda element: element.name)
def test_integers_near_a_tie_are_rounded_once(target: t.ElementType, signedness: Signedness) -> None:
    for source in (t.I32, t.I64):
        places = np.arange(9, source.bits - 1, dtype=np.uint64)[:, None]
        heads = np.arange(1 << 8, 1 << 9, dtype=np.uint64)
        edges = (heads << places >> np.uint64(8)).ravel()
        raw = np.concatenate([edges + np.uint64(step) for step in (0, 1, 2, 3)] + [edges - np.uint64(1), ~edges])
        numbers = padded(raw.astype(f"u{source.bits // 8}").view(dtype_of(source)))
        assert not wrong(case(ops.IToF, [source], target, numbers.shape, signedness=signedness), numbers, "sm_90")


@pytest.mark.parametrize("target", t.INTS, ids=lambda element: element.name)
@pytest.mark.parametrize("source", [t.F32, t.F64], ids=lambda element: element.name)
def test_floats_out_of_range_saturate_and_nan_gives_zero(source: t.ElementType, target: t.ElementType) -> None:
    dtype = dtype_of(source)
    powers = np.array([*(2.0 ** np.arange(-2, 66)), 0.0, 1e30, np.inf, np.nan], dtype)
    near = [powers, np.nextafter(powers, dtype.type(0)), np.nextafter(powers, dtype.type(np.inf)), powers + 1]
    numbers = padded(np.concatenate([*near, *(-x for x in near)]))
    for saturating, signedness in itertools.product((False, True), Signedness):
        attributes = {"signedness": signedness, "saturating": saturating}
        assert not wrong(case(ops.FToI, [source], target, numbers.shape, **attributes), numbers, "sm_90")


def test_scalars_are_converted_like_tensors() -> None:
    """f4E2M1FN has no scalars."""
    for found in every_case((COUNT,)):
        source, target = elements(found)
        if t.F4E2M1FN not in (source, target):
            scalar = case(type(found.op), [source], target, (), **found.op.attributes)
            (array,) = found.operands()
            assert (
                executed(scalar.op, [array[77]], HOPPER) == interpreted(found.op, [array])[77] or array[77] != array[77]
            )


# ---------------------------------------------------------------- compilation

compiling = pytest.mark.usefixtures("_triton")


@pytest.fixture(scope="module")
def _triton() -> None:
    pytest.importorskip("triton", reason="needs Triton's compiler: pip install '.[gpu]'")


def distinct(shape: tuple[int, ...]) -> Iterator[Case]:
    """Without modes that make no difference, and of conversions between floats and integers those of their own kind."""
    yield from reinterpretations(shape)
    yield from resizings(shape)
    for found in between_floats(shape):
        if found.op.rounding_mode is Rounding.NEAREST_EVEN or not widens(*elements(found)):
            yield found
    for found in with_integers(shape):
        if {t.F32, t.F64, t.BF16}.intersection(elements(found)):
            yield found


def elements(found: Case) -> tuple[t.ElementType, t.ElementType]:
    return found.op.operands[0].type.element, found.op.results[0].type.element


@compiling
@pytest.mark.parametrize("arch", sampled(ARCHS, 3))
def test_every_conversion_compiles(arch: str) -> None:
    shapes = ((128,), (2,), (2, 4))
    found = [one.op for place, shape in enumerate(shapes) for one in [*distinct(shape)][place :: len(shapes)]]
    require_compilable(found, arch_named(arch))


@compiling
def test_scalar_conversions_compile() -> None:
    narrow = (t.F8E4M3FN, t.F8E8M0FNU, t.F16, t.BF16, t.TF32, t.F32, t.F64)
    found = [case(ops.FToF, [x], y, ()).op for x, y in itertools.permutations(narrow, 2) if y is not t.F8E8M0FNU]
    found += [case(ops.FToI, [t.F64], t.I1, ()).op, case(ops.IToF, [t.I64], t.BF16, ()).op]
    require_compilable(found, HOPPER)


def emitted(found: Sequence[Case], arch: str) -> str:
    return compiled([one.op for one in found], arch_named(arch), "ptx").texts["ptx"]


def arithmetic(ptx: str) -> list[str]:
    """The conversions and what a kernel of them has beyond addresses, loads and stores."""
    return re.findall(r"\b(?:cvt\.r\w+\.[\w.]+|cvt\.f\w+\.\w+|setp|selp|min|max|shr|or)\b", ptx)


@compiling
@pytest.mark.parametrize(
    ("source", "target", "mode", "instruction"),
    [
        (t.F32, t.F16, Rounding.NEAREST_EVEN, "cvt.rn.f16.f32"),
        (t.F32, t.BF16, Rounding.NEAREST_EVEN, "cvt.rn.bf16.f32"),
        (t.F32, t.F16, Rounding.ZERO, "cvt.rz.f16.f32"),
        (t.F16, t.F32, Rounding.NEAREST_EVEN, "cvt.f32.f16"),
        (t.BF16, t.F32, Rounding.NEAREST_EVEN, "cvt.f32.bf16"),
        (t.F64, t.F32, Rounding.NEGATIVE_INF, "cvt.rm.f32.f64"),
        (t.F64, t.F16, Rounding.NEAREST_EVEN, "cvt.rn.f16.f64"),
        (t.F32, t.F8E4M3FN, Rounding.NEAREST_EVEN, "cvt.rn.satfinite.e4m3x2.f32"),
        (t.F16, t.F8E5M2, Rounding.NEAREST_EVEN, "cvt.rn.satfinite.e5m2x2.f16x2"),
        (t.F8E4M3FN, t.F16, Rounding.NEAREST_EVEN, "cvt.rn.f16x2.e4m3x2"),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_usual_conversions_are_single_instructions(
    source: t.ElementType, target: t.ElementType, mode: Rounding, instruction: str
) -> None:
    ptx = emitted([case(ops.FToF, [source], target, (128,), rounding_mode=mode)], "sm_90")
    assert arithmetic(ptx) == [instruction]


@compiling
def test_a_float_is_truncated_to_i32_by_one_instruction() -> None:
    found = [case(ops.FToI, [t.F32], t.I32, (128,), signedness=signedness) for signedness in Signedness]
    assert arithmetic(emitted(found, "sm_80")) == ["cvt.rzi.u32.f32", "cvt.rzi.s32.f32"]
