"""Integer operations as TTIR: equal to the interpreter on the TTIR machine, and compiled for every generation."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from tests.cpu.samples import COUNT, integers
from tests.gpu.ttir_operations import ARCHS, Case, case, compiled, executed, interpreted, require_compilable
from tests.thorough import sampled
from tileir.gpu.arch import arch_named
from tileir.ir import types as t
from tileir.ir.attributes import Predicate, Rounding, Signedness
from tileir.ir.storage import dtype_of
from tileir.ops import division
from tileir.ops import integer as ops

HOPPER = arch_named("sm_90")
PLAIN = (
    ops.AbsI, ops.AddI, ops.AndI, ops.MulI, ops.MulhiI, ops.NegI, ops.OrI, ops.ShlI, ops.SubI, ops.XOrI,
)  # fmt: skip


def cases(element: t.ElementType, shape: tuple[int, ...]) -> Iterator[Case]:
    for cls in PLAIN:
        yield case(cls, [element] * len(cls.spec.operands), element, shape)
    for cls, signedness in itertools.product((ops.MaxI, ops.MinI, ops.ShrI, division.RemI), Signedness):
        yield case(cls, [element] * 2, element, shape, signedness=signedness)
    for predicate, signedness in itertools.product(Predicate, Signedness):
        yield case(ops.CmpI, [element] * 2, t.I1, shape, comparison_predicate=predicate, signedness=signedness)
    for rounding, signedness in divisions():
        yield case(division.DivI, [element] * 2, element, shape, signedness=signedness, rounding=rounding)


def divisions() -> Iterator[tuple[Rounding, Signedness]]:
    for rounding in (Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF):
        yield rounding, Signedness.SIGNED
        if rounding is not Rounding.NEGATIVE_INF:
            yield rounding, Signedness.UNSIGNED


def divisible(found: Case, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Without zero divisors, which the interpreter stops at."""
    if not isinstance(found.op, division.DivI | division.RemI):
        return arrays
    dividend, divisor = arrays
    return [dividend, np.where(divisor == 0, divisor.dtype.type(1), divisor)]


def every_pair() -> list[np.ndarray]:
    x, y = np.meshgrid(*[np.arange(-128, 128, dtype=np.int8)] * 2)
    return [x.ravel(), y.ravel()]


@pytest.mark.parametrize("found", [one for e in t.INTS for one in cases(e, (COUNT,))], ids=lambda found: found.name)
def test_integer_operations_equal_the_interpreter(found: Case) -> None:
    arrays = divisible(found, found.operands())
    assert np.array_equal(executed(found.op, arrays, HOPPER), interpreted(found.op, arrays))


@pytest.mark.parametrize("found", [*cases(t.I8, (1 << 16,))], ids=lambda found: found.name)
def test_every_pair_of_bytes_equals_the_interpreter(found: Case) -> None:
    arrays = divisible(found, every_pair()[: len(found.op.operands)])
    assert np.array_equal(executed(found.op, arrays, HOPPER), interpreted(found.op, arrays))


@pytest.mark.parametrize("element", t.INTS, ids=lambda element: element.name)
def test_scalars_equal_tensors(element: t.ElementType) -> None:
    lhs, rhs = (integers(element, seed)[:4] for seed in (1, 2))
    for scalar, tensor in zip(cases(element, ()), cases(element, (4,))):
        arrays = divisible(tensor, [lhs, rhs][: len(tensor.op.operands)])
        found = [executed(scalar.op, [array[place] for array in arrays], HOPPER) for place in range(4)]
        assert np.array_equal(np.stack(found), executed(tensor.op, arrays, HOPPER)), tensor.name


@pytest.mark.parametrize("element", t.INTS, ids=lambda element: element.name)
def test_a_division_by_zero_is_given_to_no_instruction(element: t.ElementType) -> None:
    """The machine refuses to divide by zero, as the compiler may assume that nobody does."""
    zero = np.zeros(COUNT, dtype_of(element))
    for found in cases(element, (COUNT,)):
        if isinstance(found.op, division.DivI | division.RemI):
            executed(found.op, [integers(element, 1), zero], HOPPER)


@pytest.mark.parametrize("number", [1, 2, 3, 7, 8, 31, 32, 33, 64, 100, -1, -2, -8, -128])
@pytest.mark.parametrize("element", [t.I8, t.I32, t.I64], ids=lambda element: element.name)
def test_a_constant_operand_makes_no_difference(element: t.ElementType, number: int) -> None:
    lhs = integers(element, 1)
    rhs = np.full(COUNT, number, dtype_of(element))
    for found in cases(element, (COUNT,)):
        if len(found.op.operands) == 2:
            result = executed(found.op, [lhs, rhs], HOPPER, constant=True)
            assert np.array_equal(result, interpreted(found.op, [lhs, rhs])), found.name


@pytest.mark.parametrize("arch", sampled(ARCHS, 3))
def test_every_integer_operation_compiles(arch: str) -> None:
    pytest.importorskip("triton", reason="needs Triton's compiler: pip install '.[gpu]'")
    shapes = ((128,), (), (1,), (2, 4))
    found = [one.op for place, element in enumerate(t.INTS) for one in cases(element, shapes[place % len(shapes)])]
    require_compilable(found, arch_named(arch))


def test_usual_operations_are_single_instructions() -> None:
    pytest.importorskip("triton", reason="needs Triton's compiler: pip install '.[gpu]'")
    found = [case(cls, [t.I32] * 2, t.I32, (128,)) for cls in (ops.ShlI, ops.MulhiI, ops.MulI)]
    found.append(case(ops.ShrI, [t.I32] * 2, t.I32, (128,), signedness=Signedness.UNSIGNED))
    ptx = compiled([one.op for one in found], HOPPER, "ptx").texts["ptx"]
    assert all(name in ptx for name in ("shl.b32", "mul.hi.u32", "mul.lo.s32", "shr.u32"))
    assert "selp" not in ptx and "setp" not in ptx
