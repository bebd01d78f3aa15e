"""GPU code of float arithmetic: exact in every mode on the TTIR machine, and in PTX one rounding for each operation."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec

import numpy as np
import pytest

from tests.cpu.samples import differing, ulps
from tests.gpu.ttir_operations import Case, case, compiled, executed, interpreted, lowering_into, require_compilable
from tests.thorough import sampled
from tileir.gpu.arch import Arch, arch_named
from tileir.gpu.compiler import CompileOptions, compile_ttir
from tileir.gpu.ttir.ir.code import TtirBlock, TtirFunction, TtirType
from tileir.gpu.ttir.ir.text import function_text
from tileir.ir import core
from tileir.ir import types as t
from tileir.ir.attributes import Ordering, Predicate, Rounding
from tileir.ir.storage import dtype_of
from tileir.ops import floating as floats

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
FLOATS = (t.F16, t.BF16, t.F32, t.F64)
MODES = (Rounding.NEAREST_EVEN, Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF)
ROUNDED = (floats.AddF, floats.SubF, floats.MulF, floats.DivF, floats.Fma, floats.Sqrt)
EXTREMES = (floats.MaxF, floats.MinF)
SHAPE = (128,)
SUFFIXES = dict(zip(MODES, ("rn", "rz", "rm", "rp")))


def rounded(shape: Sequence[int] = (2048,)) -> Iterator[Case]:
    for cls, element, mode in itertools.product(ROUNDED, FLOATS, MODES):
        for flush in (False, True) if element is t.F32 else (False,):
            elements = [element] * len(cls.spec.operands)
            yield case(cls, elements, element, shape, rounding_mode=mode, flush_to_zero=flush)


def approximate(shape: Sequence[int] = (2048,)) -> Iterator[Case]:
    for cls, mode in (floats.DivF, Rounding.APPROX), (floats.DivF, Rounding.FULL), (floats.Sqrt, Rounding.APPROX):
        for flush in (False, True):
            elements = [t.F32] * len(cls.spec.operands)
            yield case(cls, elements, t.F32, shape, rounding_mode=mode, flush_to_zero=flush)


def exact(shape: Sequence[int] = (2048,)) -> Iterator[Case]:
    for cls, element in itertools.product((floats.AbsF, floats.NegF, floats.Ceil, floats.Floor, floats.RemF), FLOATS):
        yield case(cls, [element] * len(cls.spec.operands), element, shape)
    for cls, element, propagate in itertools.product(EXTREMES, FLOATS, (False, True)):
        for flush in (False, True) if element is t.F32 else (False,):
            yield case(cls, [element, element], element, shape, propagate_nan=propagate, flush_to_zero=flush)
    for element, predicate, ordering in itertools.product(FLOATS, Predicate, Ordering):
        order = {"comparison_predicate": predicate, "comparison_ordering": ordering}
        yield case(floats.CmpF, [element, element], t.I1, shape, **order)


@pytest.mark.parametrize("arch", ["sm_90", "gfx942"])
@pytest.mark.parametrize("found", [*rounded(), *exact()], ids=lambda found: found.name)
def test_gives_the_bits_of_the_interpreter(found: Case, arch: str) -> None:
    arrays = found.operands()
    actual, expected = executed(found.op, arrays, arch_named(arch)), interpreted(found.op, arrays)
    wrong = np.flatnonzero(differing(actual, expected, found.op.results[0].type.element))
    assert not wrong.size, [([x[place] for x in arrays], actual[place], expected[place]) for place in wrong[:5]]


def test_quotients_of_bf16_that_f32_holds_with_few_bits_are_rounded_once() -> None:
    """Every significand of a divisor, for quotients about the smallest numbers of bf16."""
    significand, exponent = np.meshgrid(np.arange(128, 256) * 2.0**-7, np.arange(-143, -111))
    dividend = np.random.default_rng(3).permutation(significand.ravel()) * 2.0 ** (exponent.ravel() + 20)
    found = case(floats.DivF, [t.BF16, t.BF16], t.BF16, (dividend.size,))
    arrays = [x.astype(np.float32).astype(dtype_of(t.BF16)) for x in (dividend, significand.ravel() * 2.0**20)]
    actual, expected = executed(found.op, arrays, arch_named("sm_90")), interpreted(found.op, arrays)
    assert not differing(actual, expected, t.BF16).any()
    assert (np.abs(expected.astype(np.float32)) < 2.0**-126).mean() > 0.5


@pytest.mark.parametrize("arch", ["sm_90", "gfx942"])
@pytest.mark.parametrize("found", list(approximate()), ids=lambda found: found.name)
def test_approximations_stay_within_two_units_in_the_last_place(found: Case, arch: str) -> None:
    arrays = found.operands()
    actual, expected = executed(found.op, arrays, arch_named(arch)), interpreted(found.op, arrays)
    wrong = np.flatnonzero(ulps(actual, expected, t.F32) > 2)
    assert not wrong.size, [([x[place] for x in arrays], actual[place], expected[place]) for place in wrong[:5]]


@pytest.mark.parametrize("shape", [(), (2, 4)], ids=["scalar", "matrix"])
def test_any_rank_is_served(shape: tuple[int, ...]) -> None:
    for found in (*rounded(shape), *exact(shape), *approximate(shape)):
        arrays = [x[:8].reshape(2, 4) if shape else x[7] for x in found.operands()]
        arrays = [np.array(x) for x in arrays]
        actual, expected = executed(found.op, arrays, arch_named("sm_80")), interpreted(found.op, arrays)
        assert actual.shape == shape
        assert ulps(actual, np.asarray(expected), found.op.results[0].type.element).max() <= 2, found.name


# ---------------------------------------------------------------- what the compiler makes of it

ARCHS = ("sm_80", "sm_90", "sm_100")
needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="needs triton: pip install '.[gpu]'")


@needs_triton
@pytest.mark.parametrize(("arch", "shape"), sampled([*((arch, ()) for arch in ARCHS), ("sm_90", SHAPE)], 3))
def test_every_operation_compiles(arch: str, shape: tuple[int, ...]) -> None:
    cases = [*rounded(shape), *exact(shape), *approximate(shape)]
    require_compilable([found.op for found in cases], arch_named(arch))


def float_instructions(ptx: str) -> list[str]:
    return re.findall(r"^\s+([a-z]\w*(?:\.\w+)*\.(?:f16|bf16|f32|f64))\s", ptx, re.MULTILINE)


def instructions(cases: Iterable[Case], arch: str) -> set[str]:
    """The float instructions in the PTX of the operations."""
    return set(float_instructions(compiled([found.op for found in cases], arch_named(arch), "ptx").texts["ptx"]))


@needs_triton
@pytest.mark.parametrize("arch", sampled(ARCHS, 3))
def test_every_rounding_is_one_instruction(arch: str) -> None:
    """f32 and f64 take the instruction of the mode, and subnormals are flushed only where that is asked for."""
    for mode, letters in SUFFIXES.items():
        modes = [f"{name}.{letters}" for name in ("add", "sub", "mul", "div", "fma", "sqrt")]
        for flush, element in (False, "f32"), (True, "f32"), (False, "f64"):
            expected = {f"{name}{'.ftz' * flush}.{element}" for name in modes}
            wanted = {"rounding_mode": mode, "flush_to_zero": flush}
            found = t.F32 if element == "f32" else t.F64
            cases = [case(cls, [found] * len(cls.spec.operands), found, SHAPE, **wanted) for cls in ROUNDED]
            assert instructions(cases, arch) == expected


@needs_triton
@pytest.mark.parametrize("arch", sampled(ARCHS, 3))
@pytest.mark.parametrize("element", FLOATS, ids=lambda element: element.name)
def test_products_and_sums_are_not_contracted(arch: str, element: t.ElementType) -> None:
    names = ["fma.rn", "fma.rn"] if element is t.BF16 and arch == "sm_80" else ["mul.rn", "add.rn"]
    ptx = product_plus(element, arch_named(arch))
    assert float_instructions(ptx) == [f"{name}.{element.name}" for name in names]


def product_plus(element: t.ElementType, arch: Arch) -> str:
    """The PTX of a product of scalars plus a third."""
    type, mode = t.tile(element), {"rounding_mode": Rounding.NEAREST_EVEN}
    block = core.Block([type] * 3)
    x, y, z = block.args
    product = block.append(floats.MulF.build([type], lhs=x, rhs=y, **mode))
    total = block.append(floats.AddF.build([type], lhs=product.results[0], rhs=z, **mode))
    body = TtirBlock((*[TtirType(element.name)] * 3, TtirType(f"!tt.ptr<{element.name}>")))
    lowering = lowering_into(body, arch)
    for value, argument in zip(block.args, body.arguments):
        lowering.bind(value, argument)
    lowering.lower(product)
    lowering.lower(total)
    lowering.build.effect("tt.store", body.arguments[-1], lowering.value(total.results[0]))
    lowering.build.effect("tt.return")
    return compile_ttir(function_text(TtirFunction("kernel", body)), arch, CompileOptions(), ["ptx"]).texts["ptx"]


@needs_triton
def test_approximations_are_the_instructions_of_their_names() -> None:
    assert instructions(approximate(SHAPE), "sm_90") == {
        f"{name}{flush}.f32" for name in ("div.approx", "div.full", "sqrt.approx") for flush in ("", ".ftz")
    }


@needs_triton
@pytest.mark.parametrize("arch", sampled(ARCHS, 3))
def test_extremes_are_the_instructions_of_ptx(arch: str) -> None:
    """f64 has none that hands on NaN, which takes comparisons."""
    for cls, name in zip(EXTREMES, ("max", "min")):
        for element, propagate in itertools.product(FLOATS, (False, True)):
            found = case(cls, [element, element], element, SHAPE, propagate_nan=propagate)
            made = instructions([found], arch)
            if element is t.F64 and propagate:
                assert {f"{name}.f64", "setp.nan.f64"} <= made
            else:
                assert made == {f"{name}{'.NaN' * propagate}.{element.name}"}
