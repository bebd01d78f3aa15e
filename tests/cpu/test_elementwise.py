"""Native element-wise operations against the interpreter: bit for bit, functions within their bounds.

Every operation is run on random, special and neighbouring operands, in every element type, mode and flag.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import numpy as np
import pytest
from harness import BASE_FLOATS, Batch, Case, called, case, compiled, interpreted
from samples import COUNT, differing

from tests.thorough import sampled
from tileir.cpu.llvm.engine import host
from tileir.ir import types as t
from tileir.ir.attributes import Ordering, Predicate, Rounding, Signedness
from tileir.ir.storage import bits_dtype
from tileir.ops import conversion as conversions
from tileir.ops import division
from tileir.ops import floating as floats
from tileir.ops import integer as integers

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
IEEE = (Rounding.NEAREST_EVEN, Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF)


# ---------------------------------------------------------------- cases


def arithmetic() -> Iterator[Case]:
    counts = {floats.AddF: 2, floats.SubF: 2, floats.MulF: 2, floats.DivF: 2, floats.Fma: 3, floats.Sqrt: 1}
    for (cls, count), element, mode in itertools.product(counts.items(), BASE_FLOATS, IEEE):
        yield case(cls, [element] * count, element, rounding_mode=mode)
        if cls is floats.Fma:
            yield cancelling(case(cls, [element] * count, element, rounding_mode=mode), element)
        if element is t.F32 and mode in (Rounding.NEAREST_EVEN, Rounding.POSITIVE_INF):
            yield case(cls, [element] * count, element, rounding_mode=mode, flush_to_zero=True)
    yield case(floats.DivF, [t.F32] * 2, t.F32, rounding_mode=Rounding.APPROX)
    yield case(floats.DivF, [t.F32] * 2, t.F32, rounding_mode=Rounding.FULL, flush_to_zero=True)
    yield case(floats.Sqrt, [t.F32], t.F32, rounding_mode=Rounding.APPROX)


def cancelling(found: Case, element: t.ElementType) -> Case:
    """With an addend that nearly or wholly takes away the product, some of them subnormal."""

    def prepare(arrays: list[np.ndarray]) -> list[np.ndarray]:
        lhs, rhs = (array.copy() for array in arrays[:2])
        dtype, generator = lhs.dtype, np.random.default_rng(5)
        binades = generator.integers(-20, 20, COUNT // 2) - element.format.bias // 2
        lhs[::2] = np.ldexp(generator.uniform(1, 2, COUNT // 2), binades).astype(dtype)
        rhs[::2] = np.ldexp(generator.uniform(-2, 2, COUNT // 2), binades).astype(dtype)
        with np.errstate(all="ignore"):
            product = (lhs.astype(np.float64) * rhs.astype(np.float64)).astype(dtype)
        bits = (-product).view(bits_dtype(element)) + generator.integers(-2, 3, COUNT).astype(bits_dtype(element))
        return [lhs, rhs, bits.view(dtype)]

    return Case(found.op, f"{found.name}-cancelling", prepare)


def selection() -> Iterator[Case]:
    for element in BASE_FLOATS:
        for cls in (floats.AbsF, floats.NegF, floats.Ceil, floats.Floor):
            yield case(cls, [element], element)
        yield case(floats.RemF, [element] * 2, element)
        for cls, propagate in itertools.product((floats.MaxF, floats.MinF), (False, True)):
            yield case(cls, [element] * 2, element, propagate_nan=propagate)
            if element is t.F32:
                yield case(cls, [element] * 2, element, propagate_nan=propagate, flush_to_zero=True)
        for predicate, ordering in itertools.product(Predicate, Ordering):
            yield case(floats.CmpF, [element] * 2, t.I1, comparison_predicate=predicate, comparison_ordering=ordering)


def integer() -> Iterator[Case]:
    plain = ("AbsI", "AddI", "AndI", "MulI", "MulhiI", "NegI", "OrI", "ShlI", "SubI", "XOrI")
    for element in t.INTS:
        for name in plain:
            cls = getattr(integers, name)
            yield case(cls, [element] * len(cls.spec.operands), element)
        for cls, signedness in itertools.product((integers.MaxI, integers.MinI, integers.ShrI), Signedness):
            yield case(cls, [element] * 2, element, signedness=signedness)
        for predicate, signedness in itertools.product(Predicate, Signedness):
            yield case(integers.CmpI, [element] * 2, t.I1, comparison_predicate=predicate, signedness=signedness)
        for signedness in Signedness:
            yield divided(case(division.RemI, [element] * 2, element, signedness=signedness))
            for mode in (Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF):
                if (mode, signedness) != (Rounding.NEGATIVE_INF, Signedness.UNSIGNED):
                    yield divided(case(division.DivI, [element] * 2, element, signedness=signedness, rounding=mode))


def divided(found: Case) -> Case:
    """With a divisor that is never zero."""

    def prepare(arrays: list[np.ndarray]) -> list[np.ndarray]:
        dividend, divisor = arrays
        return [dividend, np.where(divisor == 0, divisor.dtype.type(1), divisor)]

    return Case(found.op, found.name, prepare)


def conversion() -> Iterator[Case]:
    pointer = t.PointerType(t.F32)
    yield case(conversions.IntToPtr, [t.I64], pointer)
    yield case(conversions.PtrToInt, [pointer], t.I64)
    yield case(conversions.PtrToPtr, [pointer], t.PointerType(t.I8))
    for source, target in itertools.product(t.NUMBERS, repeat=2):
        if source.bits == target.bits:
            yield case(conversions.Bitcast, [source], target)
    for narrow, wide in itertools.combinations((t.I1, t.I4, t.I8, t.I16, t.I32, t.I64), 2):
        yield case(conversions.TruncI, [wide], narrow)
        for signedness in Signedness:
            yield case(conversions.ExtI, [narrow], wide, signedness=signedness)
    for element, number, signedness in itertools.product(t.FLOATS, t.INTS, Signedness):
        yield case(conversions.FToI, [element], number, signedness=signedness)
        if element is not t.F8E8M0FNU:
            yield case(conversions.IToF, [number], element, signedness=signedness)
    for source, target in itertools.permutations(t.FLOATS, 2):
        for mode in conversion_modes(source, target):
            yield case(conversions.FToF, [source], target, rounding_mode=mode)


def conversion_modes(source: t.ElementType, target: t.ElementType) -> tuple[Rounding, ...]:
    """More than any version of the language allows for the pair."""
    if target is t.F8E8M0FNU:
        return (Rounding.ZERO, Rounding.POSITIVE_INF)
    if target in (t.F8E4M3FN, t.F8E5M2, t.F4E2M1FN, t.FNV8E5M3FNU):
        return (Rounding.NEAREST_EVEN,)
    if (source, target) == (t.F32, t.TF32):
        return (Rounding.NEAREST_EVEN, Rounding.ZERO, Rounding.NEAREST_AWAY)
    return IEEE if source in (t.F32, t.F64) else (Rounding.NEAREST_EVEN, Rounding.ZERO)


EXACT = [*arithmetic(), *selection(), *integer(), *conversion()]


@pytest.fixture(scope="module")
def batch() -> Batch:
    return compiled(EXACT)


@pytest.mark.parametrize("found", sampled(EXACT, 4), ids=lambda found: found.name)
def test_exact_operations_equal_the_interpreter(batch: Batch, found: Case) -> None:
    arrays = found.operands()
    actual, reference = batch.result(found, arrays), interpreted(found.op, arrays)
    wrong = np.flatnonzero(differing(actual, reference, found.op.results[0].type.element))
    assert not wrong.size, [([x[i] for x in arrays], actual[i], reference[i]) for i in wrong[:5]]


@pytest.mark.skipif(not host().triple.startswith("x86_64"), reason="reads the assembly of x86")
def test_no_operation_calls_a_runtime_library(batch: Batch) -> None:
    assert called(batch.assembly()) <= {"memset"}


@pytest.mark.skipif(host().vector_bits != 512, reason="reads the assembly of AVX-512")
def test_loops_are_vectorized(batch: Batch) -> None:
    code = batch.functions()
    scalar = [found.name for found in EXACT if not re.search("[yz]mm", code[found.number])]
    constant = {"mulhii-i1", "ftoi-f8E8M0FNU-i1-signed", "ftoi-f8E8M0FNU-i1-unsigned"}  # the format has no zero
    assert set(scalar) <= constant
