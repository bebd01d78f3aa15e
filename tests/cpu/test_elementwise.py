"""Native element-wise operations against the interpreter: bit for bit, functions within their bounds.

Every operation is run on random, special and neighbouring operands, in every element type, mode and flag.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from harness import Batch, operation
from samples import COUNT, differing, operands, ulps

from tileir.interp import conversion as interpreted_conversion
from tileir.interp import floating as interpreted_floating
from tileir.interp import integer as interpreted_integer
from tileir.ir import types as t
from tileir.ir.attributes import Ordering, Predicate, Rounding, Signedness
from tileir.ir.core import Op
from tileir.ir.rules import joined
from tileir.ops import conversion as conversions
from tileir.ops import floating as floats
from tileir.ops import integer as integers

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
REFERENCE = joined(interpreted_conversion.rules, interpreted_floating.rules, interpreted_integer.rules)
BASE_FLOATS = (t.F16, t.BF16, t.F32, t.F64)
IEEE = (Rounding.NEAREST_EVEN, Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF)
Element = t.ElementType | t.PointerType


@dataclass
class Case:
    """An operation, the name of what is special about it, and what is done to its random operands."""

    op: Op
    name: str
    prepare: Callable[[list[np.ndarray]], list[np.ndarray]] = list
    number: int = -1


def case(cls: type[Op], elements: list[Element], result: Element, **attributes: object) -> Case:
    op = operation(cls, [t.tile(element, COUNT) for element in elements], t.tile(result, COUNT), **attributes)
    details = (getattr(value, "text", name if value is True else "") for name, value in attributes.items())
    return Case(op, "-".join(filter(None, (cls.spec.name, *(str(element) for element in _names(elements, result)), *details))))


def _names(elements: list[Element], result: Element) -> list[str]:
    used = [elements[0]] if result is elements[0] else [elements[0], result]
    return [getattr(element, "name", "ptr") for element in used]


# ---------------------------------------------------------------- cases


def arithmetic() -> Iterator[Case]:
    counts = {floats.AddF: 2, floats.SubF: 2, floats.MulF: 2, floats.DivF: 2, floats.Fma: 3, floats.Sqrt: 1}
    for (cls, count), element, mode in itertools.product(counts.items(), BASE_FLOATS, IEEE):
        yield case(cls, [element] * count, element, rounding_mode=mode)
        if element is t.F32 and mode in (Rounding.NEAREST_EVEN, Rounding.POSITIVE_INF):
            yield case(cls, [element] * count, element, rounding_mode=mode, flush_to_zero=True)
    yield case(floats.DivF, [t.F32] * 2, t.F32, rounding_mode=Rounding.APPROX)
    yield case(floats.DivF, [t.F32] * 2, t.F32, rounding_mode=Rounding.FULL, flush_to_zero=True)
    yield case(floats.Sqrt, [t.F32], t.F32, rounding_mode=Rounding.APPROX)


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
            yield case(
                floats.CmpF, [element] * 2, t.I1, comparison_predicate=predicate, comparison_ordering=ordering
            )


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
            yield divided(case(integers.RemI, [element] * 2, element, signedness=signedness))
            for mode in (Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF):
                if (mode, signedness) != (Rounding.NEGATIVE_INF, Signedness.UNSIGNED):
                    yield divided(
                        case(integers.DivI, [element] * 2, element, signedness=signedness, rounding=mode)
                    )


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
def exact() -> Batch:
    return compiled(EXACT)


def compiled(cases: list[Case]) -> Batch:
    batch = Batch()
    for found in cases:
        found.number = batch.add(found.op)
    return batch


def prepared(found: Case) -> list[np.ndarray]:
    """Operands of the types of the operation."""
    elements = [value.type.element for value in found.op.operands]
    return found.prepare([operands(element, len(elements))[place] for place, element in enumerate(elements)])


def expected(op: Op, arrays: list[np.ndarray]) -> np.ndarray:
    with np.errstate(all="ignore"):
        return REFERENCE[type(op)](op)(*arrays)


@pytest.mark.parametrize("found", EXACT, ids=lambda found: found.name)
def test_exact_operations_equal_the_interpreter(exact: Batch, found: Case) -> None:
    arrays = prepared(found)
    status, actual = exact.run(found.number, found.op, arrays)
    assert status == 0
    reference = expected(found.op, arrays)
    wrong = np.flatnonzero(differing(actual, reference, found.op.results[0].type.element))
    assert not wrong.size, [([x[i] for x in arrays], actual[i], reference[i]) for i in wrong[:5]]
