"""GPU code of functions without an exact result: within the bounds of the specification (spec: functions#accuracy) on
the TTIR machine, whose library and approximate instructions are a step off, and with C's corner cases."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec

import numpy as np
import pytest

import tileir
from tests.cpu.samples import ulps
from tests.differential import Outcome
from tests.differential import outcome as reference
from tests.gpu.ttir_operations import Case, case, compiled, executed, interpreted
from tests.targets import hsaco, ttir
from tests.thorough import sampled
from tileir.gpu.arch import arch_named
from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.ir.storage import dtype_of
from tileir.ops import functions
from tileir.ops.extension import Asin

needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="needs triton: pip install '.[gpu]'")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
FLOATS = (t.F16, t.BF16, t.F32, t.F64)
EXPONENTS = (t.I1, t.I8, t.I16, t.I32)
BOUNDS = {
    Asin: (2, 2),
    functions.Atan2: (3, 2),
    functions.Cos: (2, 2),
    functions.Cosh: (2, 1),
    functions.Exp: (2, 1),
    functions.Exp2: (2, 1),
    functions.FPowF: (4, 2),
    functions.FPowI: (4, 2),
    functions.Log: (1, 1),
    functions.Log2: (1, 1),
    functions.Rsqrt: (2, 1),
    functions.Sin: (2, 2),
    functions.Sinh: (3, 2),
    functions.Tan: (4, 2),
    functions.Tanh: (2, 1),
}
"""Units in the last place for f32 and f64; narrower types are one off at most."""
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1e300, -5e-324, 1e5]


def function_cases(shape: Sequence[int] = (2048,)) -> Iterator[Case]:
    for cls, element in itertools.product(BOUNDS, FLOATS):
        if cls is functions.FPowI:
            for number in EXPONENTS:
                yield case(cls, [element, number], element, shape)
        else:
            yield case(cls, [element] * len(cls.spec.operands), element, shape)
    for cls in (functions.Exp2, functions.Rsqrt):
        yield case(cls, [t.F32], t.F32, shape, flush_to_zero=True)


def bound(found: Case) -> int:
    single, double = BOUNDS[type(found.op)]
    element = found.op.results[0].type.element
    return double if element is t.F64 else single if element is t.F32 else 1


def check(found: Case, arrays: list[np.ndarray]) -> None:
    element = found.op.results[0].type.element
    actual, exact = executed(found.op, arrays, arch_named("sm_90")), interpreted(found.op, arrays)
    wrong = np.flatnonzero(ulps(actual, exact, element) > bound(found))
    assert not wrong.size, [([x.flat[i] for x in arrays], actual.flat[i], exact.flat[i]) for i in wrong[:5]]


@pytest.mark.parametrize("found", list(function_cases()), ids=lambda found: found.name)
def test_stays_within_its_bound(found: Case) -> None:
    check(found, found.operands())


@pytest.mark.parametrize("found", list(function_cases((256,))), ids=lambda found: found.name)
def test_corner_cases_are_those_of_c(found: Case) -> None:
    """Every pair of special numbers."""
    element = found.op.operands[0].type.element
    first, second = (x.ravel() for x in np.meshgrid(SPECIAL, SPECIAL))
    arrays = [x.astype(dtype_of(element)) for x in (first, second)[: len(found.op.operands)]]
    if isinstance(found.op, functions.FPowI):
        powers = np.resize([0, 1, -1, 2, -2, 3, -3, 127, -128, 7, -7, 64, 100, -100, 31, 33], 256)
        arrays[1] = np.sort(powers).astype(dtype_of(found.op.operands[1].type.element))
    check(found, arrays)


@pytest.mark.parametrize("element", FLOATS, ids=lambda element: element.name)
def test_powers_know_every_bit_of_a_long_exponent(element: t.ElementType) -> None:
    """Those of -1 need the last one, those of numbers near 1 all of them; the smallest integer is one too."""
    exponents = [2**24 + 1, 2**24 + 2, -(2**24) - 1, 2**31 - 1, 2**31 - 2, -(2**31), -(2**31) + 1, 2**23 + 1]
    near = [-1.0, 1.0, 1.5, -0.5, float(np.nextafter(np.float32(1), np.float32(2))), -0.0, np.nan, np.inf]
    source, exponent = (x.ravel() for x in np.meshgrid(near, exponents))
    found = case(functions.FPowI, [element, t.I32], element, (64,))
    check(found, [source.astype(dtype_of(element)), exponent.astype(np.int32)])


@pytest.mark.parametrize("element", [t.F16, t.BF16], ids=lambda element: element.name)
def test_the_cheap_exponential_of_narrow_types_is_hardly_ever_off(element: t.ElementType) -> None:
    """Of every pattern there is."""
    found = case(functions.Exp, [element], element, (1 << 16,))
    x = np.arange(1 << 16, dtype=np.uint16).view(dtype_of(element))
    apart = ulps(executed(found.op, [x], arch_named("sm_90")), interpreted(found.op, [x]), element)
    assert apart.max() == 1
    assert (apart == 1).sum() < 100


def test_the_approximate_exponential_is_as_near_as_its_rounded_exponent() -> None:
    found = case(functions.Exp, [t.F32], t.F32, rounding_mode=Rounding.APPROX)
    x = np.linspace(-100, 88, 2048).astype(np.float32)
    actual, exact = executed(found.op, [x], arch_named("sm_90")), np.exp(x.astype(np.float64))
    assert (np.abs(actual - exact) <= exact * (np.abs(x) + 4) * 2.0**-23 + 2.0**-148).all()


def test_the_approximate_hyperbolic_tangent_is_near() -> None:
    found = case(functions.Tanh, [t.F32], t.F32, rounding_mode=Rounding.APPROX)
    arrays = found.operands()
    actual, exact = executed(found.op, arrays, arch_named("sm_90")), interpreted(found.op, arrays)
    np.testing.assert_allclose(actual, exact, rtol=2.0**-10)


Run = Callable[[tileir.Kernel, tuple[int, ...], list[np.ndarray], str], Outcome]
POWERS = """entry @powers(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
  %line = iota : tile<1024xi32>
  %xs = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
  %xb = broadcast %xs : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %ys = reshape %y : tile<ptr<f32>> -> tile<1xptr<f32>>
  %yb = broadcast %ys : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %xp = offset %xb, %line : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
  %yp = offset %yb, %line : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
  %value, %t = load_ptr_tko weak %xp : tile<1024xptr<f32>> -> tile<1024xf32>, token
  %power = exp2 %value flush_to_zero : tile<1024xf32>
  %u = store_ptr_tko weak %yp, %power : tile<1024xptr<f32>>, tile<1024xf32> -> token
}"""


@pytest.mark.parametrize(
    ("run", "arch"),
    [
        pytest.param(ttir.outcome, "gfx942", id="ttir"),
        pytest.param(hsaco.outcome, "gfx942", id="gfx942", marks=needs_triton),
        pytest.param(hsaco.outcome, "gfx1100", id="gfx1100", marks=needs_triton),
    ],
)
def test_powers_of_two_of_amd_vanish_below_the_normal_numbers(run: Run, arch: str) -> None:
    (kernel,) = tileir.parse(POWERS).kernels.values()
    below = np.linspace(-126 - 2.0**-10, -126 + 2.0**-10, 257)
    subnormal = np.linspace(-1, 1, 257) * 2.0**-126
    x = np.concatenate([np.resize(SPECIAL, 16), below, subnormal, np.linspace(-160, 130, 494)]).astype(np.float32)
    args = [x, np.ones(1024, np.float32)]
    actual, exact = (one.arrays[1] for one in (run(kernel, (1,), args, arch), reference(kernel, (1,), args, "interp")))
    assert ulps(actual, exact, t.F32)[np.abs(x + 126) > 2.0**-16].max() <= 2
    assert not actual[x < -126 - 2.0**-16].any()


# ---------------------------------------------------------------- what the compiler makes of it

ARCHS = ("sm_80", "sm_90", "sm_100")


def approximate(shape: Sequence[int]) -> list[Case]:
    return [case(cls, [t.F32], t.F32, shape, rounding_mode=Rounding.APPROX) for cls in (functions.Exp, functions.Tanh)]


@needs_triton
@pytest.mark.parametrize(("arch", "shape"), sampled([*((arch, ()) for arch in ARCHS), ("sm_90", (128,))], 3))
def test_every_function_compiles(arch: str, shape: tuple[int, ...]) -> None:
    cases = [*function_cases(shape), *approximate(shape)]
    artifacts = compiled([found.op for found in cases], arch_named(arch), "ptx", "cubin")
    assert artifacts.binary
    assert ".extern .func" not in artifacts.texts["ptx"]


@needs_triton
@pytest.mark.parametrize("arch", sampled(ARCHS, 3))
def test_cheap_functions_are_single_instructions(arch: str) -> None:
    """The functions that softmax is made of: powers of two of f32, and the exponential of narrow types."""
    wanted = [
        (case(functions.Exp2, [t.F32], t.F32, (128,)), ["ex2.approx.f32"]),
        (case(functions.Exp2, [t.F32], t.F32, (128,), flush_to_zero=True), ["ex2.approx.ftz.f32"]),
        (case(functions.Rsqrt, [t.F32], t.F32, (128,)), ["rsqrt.approx.f32"]),
        (case(functions.Rsqrt, [t.F32], t.F32, (128,), flush_to_zero=True), ["rsqrt.approx.ftz.f32"]),
        (approximate((128,))[0], ["mul.rn.f32", "ex2.approx.f32"]),
        (approximate((128,))[1], ["tanh.approx.f32"]),
    ]
    for found, names in wanted:
        ptx = compiled([found.op], arch_named(arch), "ptx").texts["ptx"]
        assert re.findall(r"^\s+([a-z]\w*(?:\.\w+)*\.f32)\s", ptx, re.MULTILINE) == names
