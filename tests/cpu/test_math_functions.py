"""Native mathematical functions stay within the bounds of the specification (spec: functions#accuracy) and have C's
corner cases.

The interpreter's results, which are rounded from a wider type, stand for the exact ones.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from harness import BASE_FLOATS, Batch, Case, called, case, compiled, interpreted
from samples import COUNT, differing, ulps

import tileir
from tests.thorough import sampled
from tileir.cli import main
from tileir.cpu.llvm.engine import host
from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.ir.storage import dtype_of
from tileir.ops import functions

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
BOUNDS = {
    functions.Exp: (2, 1),
    functions.Exp2: (2, 1),
    functions.Log: (1, 1),
    functions.Log2: (1, 1),
    functions.Sin: (2, 2),
    functions.Cos: (2, 2),
    functions.Tan: (4, 2),
    functions.Sinh: (3, 2),
    functions.Cosh: (2, 1),
    functions.Tanh: (2, 1),
    functions.Atan2: (3, 2),
    functions.Rsqrt: (2, 1),
    functions.FPowF: (4, 2),
    functions.FPowI: (4, 2),
}
"""Units in the last place for f32 and f64; narrower types are one off at most."""
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1e300, -5e-324]
HUGE_ANGLES = [1e5, 1e9, 1e22, 1e38, 1e300, np.pi / 2, np.pi, 355.0, 103993.0, 6381956970095103 * 2.0**797]


def function_cases() -> Iterator[Case]:
    for cls, element in itertools.product(BOUNDS, BASE_FLOATS):
        if cls is functions.FPowI:
            for number in (t.I1, t.I8, t.I16, t.I32):
                yield case(cls, [element, number], element)
        else:
            yield case(cls, [element] * len(cls.spec.operands), element)
    for cls in (functions.Exp, functions.Tanh):
        yield case(cls, [t.F32], t.F32, rounding_mode=Rounding.APPROX)
    for cls in (functions.Exp2, functions.Rsqrt):
        yield case(cls, [t.F32], t.F32, flush_to_zero=True)


FUNCTIONS = list(function_cases())


@pytest.fixture(scope="module")
def batch() -> Batch:
    return compiled(FUNCTIONS)


def bound(found: Case) -> int:
    single, double = BOUNDS[type(found.op)]
    element = found.op.results[0].type.element
    return double if element is t.F64 else single if element is t.F32 else 1


def check(batch: Batch, found: Case, arrays: list[np.ndarray]) -> None:
    actual, exact = batch.result(found, arrays), interpreted(found.op, arrays)
    wrong = np.flatnonzero(ulps(actual, exact, found.op.results[0].type.element) > bound(found))
    assert not wrong.size, [([x[i] for x in arrays], actual[i], exact[i]) for i in wrong[:5]]


@pytest.mark.parametrize("found", sampled(FUNCTIONS, 3), ids=lambda found: found.name)
def test_functions_stay_within_their_bounds_on_random_patterns(batch: Batch, found: Case) -> None:
    check(batch, found, found.operands())


@pytest.mark.parametrize("found", FUNCTIONS, ids=lambda found: found.name)
def test_functions_stay_within_their_bounds_on_common_numbers(batch: Batch, found: Case) -> None:
    generator = np.random.default_rng(3)
    arrays = found.operands()
    for place, value in enumerate(found.op.operands):
        if value.type.element.is_float:
            near = generator.choice([-1, 1], COUNT) * 2.0 ** generator.uniform(-12, 7, COUNT)
            arrays[place] = np.where(generator.random(COUNT) < 0.5, near, generator.uniform(0.5, 2, COUNT))
            arrays[place] = arrays[place].astype(dtype_of(value.type.element))
        elif value.type.element is not t.I1:
            arrays[place] = generator.integers(-30, 31, COUNT).astype(arrays[place].dtype)
    check(batch, found, arrays)


@pytest.mark.parametrize("found", FUNCTIONS, ids=lambda found: found.name)
def test_corner_cases_are_those_of_c(batch: Batch, found: Case) -> None:
    arrays = found.operands()
    columns = list(zip(*itertools.product(SPECIAL, repeat=len(arrays))))
    for array, column in zip(arrays, columns):
        with np.errstate(all="ignore"):
            array[: len(column)] = np.array(column).astype(array.dtype)
    actual, exact = batch.result(found, arrays), interpreted(found.op, arrays)
    element = found.op.results[0].type.element
    settled = np.isnan(exact.astype(np.float64)) | np.isin(np.abs(exact.astype(np.float64)), (0, 1, np.inf))
    wrong = np.flatnonzero((differing(actual, exact, element) & settled)[: len(columns[0])])
    assert not wrong.size, [([x[i] for x in arrays], actual[i], exact[i]) for i in wrong[:5]]


@pytest.mark.parametrize("element", BASE_FLOATS, ids=lambda element: element.name)
def test_exp2_of_integers_is_exact(batch: Batch, element: t.ElementType) -> None:
    (found,) = (found for found in FUNCTIONS if found.name == f"exp2-{element.name}")
    largest = element.format.bias
    numbers = np.resize(np.arange(2 - largest - element.format.fraction, largest + 1), COUNT)
    actual = batch.result(found, [numbers.astype(dtype_of(element))])
    exact = numbers == numbers.astype(dtype_of(element)).astype(np.int64)
    assert np.array_equal(actual.astype(np.float64)[exact], np.ldexp(1.0, numbers)[exact])


@pytest.mark.parametrize("cls", [functions.Exp, functions.Exp2], ids=lambda cls: cls.spec.name)
@pytest.mark.parametrize("element", [t.F32, t.F64], ids=lambda element: element.name)
def test_powers_of_large_numbers_are_infinity_and_zero(batch: Batch, cls: type, element: t.ElementType) -> None:
    (found,) = (found for found in FUNCTIONS if found.name == f"{cls.spec.name}-{element.name}")
    large = (2.0 ** np.arange(11, 127)[:, None] * [1 - 2.0**-20, 1, 1 + 2.0**-20, 1.5, 1.9]).ravel()
    numbers = np.resize(np.concatenate([large, -large]), COUNT).astype(dtype_of(element))
    actual = batch.result(found, [numbers])
    assert np.array_equal(actual, np.where(numbers > 0, np.inf, 0))
    assert not np.signbit(actual).any()


@pytest.mark.skipif(not host().has_scaling, reason="no instruction multiplies by powers of 2 here")
def test_powers_of_f32_are_scaled_by_one_instruction(batch: Batch) -> None:
    code = batch.functions()
    for name in ("exp-f32", "exp2-f32"):
        (found,) = (found for found in FUNCTIONS if found.name == name)
        assert re.search(r"vscalefps\s.*zmm", code[found.number]), name


@pytest.mark.parametrize("cls", [functions.Sin, functions.Cos, functions.Tan], ids=lambda cls: cls.spec.name)
@pytest.mark.parametrize("element", [t.F32, t.F64], ids=lambda element: element.name)
def test_angles_of_any_size_are_reduced(batch: Batch, cls: type, element: t.ElementType) -> None:
    (found,) = (found for found in FUNCTIONS if found.name == f"{cls.spec.name}-{element.name}")
    generator = np.random.default_rng(9)
    turns = generator.integers(1, 1 << 20, COUNT) * (np.pi / 2)
    with np.errstate(all="ignore"):
        angles = np.where(generator.random(COUNT) < 0.5, turns, generator.choice(HUGE_ANGLES, COUNT))
        angles = np.where(generator.random(COUNT) < 0.5, angles, -angles).astype(dtype_of(element))
    check(batch, found, [angles])


@pytest.mark.skipif(host().vector_bits != 512, reason="reads the assembly of AVX-512")
def test_functions_are_vectorized_and_call_no_library(batch: Batch) -> None:
    code = batch.functions()
    assert called(batch.assembly()) == set()
    for found in FUNCTIONS:
        assert re.search(r"v\w+p[sd]\s.*zmm", code[found.number]), found.name


def power_of(element: str, name: str, kind: str, exponent: str) -> str:
    tile, power = f"tile<64x{element}>", f"tile<64x{kind}>"
    return f"""
cuda_tile.module @m {{
  entry @power(%from: tile<ptr<{element}>>, %to: tile<ptr<{element}>>) {{
    %in = make_tensor_view %from, shape = [64], strides = [1] : tensor_view<64x{element}, strides=[1]>
    %out = make_tensor_view %to, shape = [64], strides = [1] : tensor_view<64x{element}, strides=[1]>
    %ins = make_partition_view %in : partition_view<tile=(64), tensor_view<64x{element}, strides=[1]>>
    %outs = make_partition_view %out : partition_view<tile=(64), tensor_view<64x{element}, strides=[1]>>
    %0 = constant <i32: 0> : tile<i32>
    %n = constant <{kind}: {exponent}> : {power}
    %x, %1 = load_view_tko weak %ins[%0] : partition_view<tile=(64), tensor_view<64x{element}, strides=[1]>>, tile<i32> -> {tile}, token
    %y = {name} %x, %n : {tile}{f", {power}" if name == "fpowi" else ""}
    %2 = store_view_tko weak %y, %outs[%0] : {tile}, partition_view<tile=(64), tensor_view<64x{element}, strides=[1]>>, tile<i32> -> token
    return
  }}
}}
"""  # noqa: E501


@pytest.mark.parametrize("exponent", sampled([-2, -1, 0, 1, 2, 3, 8, 9], 3))
@pytest.mark.parametrize("element", BASE_FLOATS, ids=lambda element: element.name)
@pytest.mark.parametrize("name", ["fpowi", "pow"])
def test_constant_exponents_give_the_powers_of_others(name: str, element: t.ElementType, exponent: int) -> None:
    kind, number = ("i32", str(exponent)) if name == "fpowi" else (element.name, f"{exponent}.0")
    kernel = tileir.parse(power_of(element.name, name, kind, number))["power"]
    generator = np.random.default_rng(5)
    numbers = np.concatenate((SPECIAL, generator.uniform(-3, 3, 64 - len(SPECIAL)))).astype(dtype_of(element))
    got, expected = np.zeros((2, 64), numbers.dtype)
    kernel.launch((1, 1, 1), numbers, got, target="cpu")
    kernel.launch((1, 1, 1), numbers, expected, target="interp")
    assert (ulps(got, expected, element) <= 1).all()


@pytest.mark.parametrize(("name", "kind", "number"), [("fpowi", "i32", "2"), ("pow", "f32", "2.0")])
def test_a_square_is_one_multiplication(name: str, kind: str, number: str, tmp_path: Path) -> None:
    source, code = tmp_path / "power.mlir", tmp_path / "power.ll"
    source.write_text(power_of("f32", name, kind, number), encoding="utf-8")
    assert main(["compile", str(source), "--emit", "llvm", "-o", str(code)]) == 0
    assert set(re.findall(r" = (f(?!cmp)\w+) ", code.read_text(encoding="utf-8"))) == {"fmul"}
