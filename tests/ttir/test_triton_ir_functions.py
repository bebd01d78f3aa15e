"""Functions of the device library, beside Python's `math` and NumPy, on the interpreter and on the CPU."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pytest

from tests.thorough import sampled
from tileir.triton import from_ttir

COUNT = 1024
SCALARS = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}
each_target = pytest.mark.parametrize("target", ["interp", "cpu"])
random = np.random.default_rng(7)


def applied(operation: str, operands: list[np.ndarray], result: str, target: str) -> np.ndarray:
    """Return the result of an operation of TTIR, such as ``math.erf``, on arrays of `COUNT` elements."""
    names = {np.dtype(value): key for key, value in SCALARS.items()}
    kinds = [names[operand.dtype] for operand in operands]
    tensors = [f"tensor<{COUNT}x{kind}>" for kind in kinds]
    parameters = ", ".join(f"%p{index}: !tt.ptr<{kind}>" for index, kind in enumerate([*kinds, result]))
    lines = [
        f"tt.func public @k({parameters}) {{",
        f"%i = tt.make_range {{start = 0 : i32, end = {COUNT} : i32}} : tensor<{COUNT}xi32>",
    ]
    for index, kind in enumerate([*kinds, result]):
        pointers = f"tensor<{COUNT}x!tt.ptr<{kind}>>"
        lines += [f"%s{index} = tt.splat %p{index} : !tt.ptr<{kind}> -> {pointers}"]
        lines += [f"%a{index} = tt.addptr %s{index}, %i : {pointers}, tensor<{COUNT}xi32>"]
        if index < len(kinds):
            lines += [f"%v{index} = tt.load %a{index} : {pointers}"]
    values = ", ".join(f"%v{index}" for index in range(len(kinds)))
    if operation.startswith("math."):
        lines += [f"%r = {operation} {values} : {tensors[0]}"]
    else:
        attributes = f'libname = "", libpath = "", pure = true, symbol = "{operation}"'
        signature = f"({', '.join(tensors)}) -> tensor<{COUNT}x{result}>"
        lines += [f"%r = tt.extern_elementwise {values} {{{attributes}}} : {signature}"]
    lines += [f"tt.store %a{len(kinds)}, %r : tensor<{COUNT}x!tt.ptr<{result}>>", "tt.return", "}"]
    found = np.zeros(COUNT, SCALARS[result])
    from_ttir("\n".join(lines))["k"].launch(1, *operands, found, target=target)
    return found


def numbers(low: float, high: float, dtype: type, *special: float) -> np.ndarray:
    """Numbers of a range, evenly and by magnitude, with special ones among them."""
    even = random.uniform(low, high, COUNT // 2)
    small = random.choice([-1, 1], COUNT // 2) * 10.0 ** random.uniform(-12, 0, COUNT // 2)
    found = np.concatenate([even, np.clip(small, low, high)])
    found[: len(special)] = special
    return found.astype(dtype)


def distance(found: np.ndarray, exact: np.ndarray) -> float:
    """The largest error in units of the last place; where the exact one is no number, the other must be none."""
    exact = np.asarray(exact, np.float64)
    with np.errstate(over="ignore"):
        rounded = exact.astype(found.dtype)
    same = (found == rounded) | (np.isnan(found) & np.isnan(rounded))
    unit = np.spacing(np.abs(np.where(np.isfinite(rounded), rounded, 1)))
    apart = np.abs(found.astype(np.float64) - exact) / unit
    return float(np.max(np.where(same, 0, np.where(np.isfinite(rounded) & np.isfinite(found), apart, np.inf))))


def guarded(function: Callable[..., float]) -> Callable[..., float]:
    """The function, with what C gives where Python raises an error."""

    def call(*operands: float) -> float:
        try:
            return function(*operands)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return call


def erfinv(x: float) -> float:
    """By steps of Newton's from what the normal distribution gives."""
    if abs(x) >= 1 or x == 0:
        return x if x == 0 else math.copysign(math.inf, x)
    y = NormalDist().inv_cdf((x + 1) / 2) / math.sqrt(2)
    for _ in range(3):
        y -= (math.erf(y) - x) / (2 / math.sqrt(math.pi) * math.exp(-y * y))
    return y


INF = math.inf
FUNCTIONS: list[tuple[str, Callable[..., float], tuple[float, ...], float, float]] = [
    ("acos", math.acos, (-1, 1, 0.0, -0.0), 4, 4),
    ("acosh", math.acosh, (1, 1e4, 1.0), 4, 8),
    ("asin", math.asin, (-1, 1, 0.0, -0.0), 4, 4),
    ("asinh", math.asinh, (-1e4, 1e4, 0.0, -0.0, INF), 4, 8),
    ("atan", math.atan, (-1e3, 1e3, 0.0, -0.0, INF, -INF), 4, 4),
    ("atanh", math.atanh, (-0.999, 0.999, 0.0), 4, 16),
    ("cbrt", np.cbrt, (-1e6, 1e6, 0.0, INF), 2, 4),
    ("ceil", np.ceil, (-1e3, 1e3, -0.5, INF), 0, 0),
    ("cospi", lambda x: math.cos(math.pi * math.remainder(x, 2)), (-50, 50), 2, 1e6),
    ("cosh", math.cosh, (-20, 20), 4, 4),
    ("erf", math.erf, (-5, 5, 0.0, -0.0, INF, -INF, math.nan), 3, 4),
    ("erfc", math.erfc, (-5, 9, INF, -INF, math.nan), 2, 16),
    ("erfcx", lambda x: math.exp(x * x) * math.erfc(x), (-2, 5), 2, 64),
    ("erfinv", erfinv, (-0.99, 0.99, 1.0, -1.0, 0.0), 4, 64),
    ("exp10", lambda x: 10.0**x, (-30, 30), 4, 4),
    ("expm1", math.expm1, (-30, 30, 0.0, -INF), 4, 6),
    ("lgamma", math.lgamma, (0.1, 80, INF), 4, 1e5),
    ("log10", math.log10, (1e-6, 1e6, INF), 2, 4),
    ("log1p", math.log1p, (-0.99, 1e4, 0.0, INF), 4, 6),
    ("logb", np.vectorize(lambda x: math.frexp(x)[1] - 1.0), (1e-6, 1e6, 1e-42), 0, 0),
    ("nearbyint", np.rint, (-1e3, 1e3, 0.5, 1.5, -0.5, 1e30), 0, 0),
    ("normcdf", NormalDist().cdf, (-5, 5), 64, 1e6),
    ("rcbrt", lambda x: 1 / np.cbrt(x), (1e-3, 1e6), 2, 8),
    ("round", lambda x: math.copysign(math.floor(abs(x) + 0.5), x), (-1e3, 1e3, 0.5, -2.5), 0, 0),
    ("rsqrt", lambda x: 1 / math.sqrt(x), (1e-3, 1e6), 4, 4),
    ("saturate", lambda x: min(max(x, 0.0), 1.0), (-2, 2, INF), 0, 0),
    ("sinpi", lambda x: math.sin(math.pi * math.remainder(x, 2)), (-50, 50), 2, 1e6),
    ("tanh", math.tanh, (-10, 10, 0.0, INF), 4, 4),
    ("tgamma", math.gamma, (0.1, 30), 4, 1e4),
    ("trunc", np.trunc, (-1e3, 1e3, -0.5), 0, 0),
]


@each_target
@pytest.mark.parametrize(
    ("name", "function", "domain", "single", "double"), sampled(FUNCTIONS, 3), ids=[row[0] for row in FUNCTIONS]
)
def test_a_function_is_as_accurate_as_said(
    name: str, function: Callable[..., float], domain: tuple[float, ...], single: float, double: float, target: str
) -> None:
    low, high, *special = domain
    for scalar, bound, suffix in (("f32", single, "f"), ("f64", double, "")):
        operand = numbers(low, high, SCALARS[scalar], *special)
        found = applied(f"__nv_{name}{suffix}", [operand], scalar, target)
        exact = np.array([guarded(function)(float(x)) for x in operand])
        assert distance(found, exact) <= bound, scalar


TWO = [
    ("atan2", math.atan2, 4),
    ("copysign", math.copysign, 0),
    ("fdim", lambda x, y: max(x - y, 0.0), 0),
    ("fmod", math.fmod, 0),
    ("hypot", math.hypot, 2),
    ("nextafter", None, 0),
    ("remainder", math.remainder, 0),
]


@each_target
@pytest.mark.parametrize(("name", "function", "bound"), TWO, ids=[row[0] for row in TWO])
def test_a_function_of_two_numbers(name: str, function: Callable[..., float] | None, bound: float, target: str) -> None:
    for scalar, suffix in (("f32", "f"), ("f64", "")):
        x, y = (numbers(-1e3, 1e3, SCALARS[scalar], 3.0, -6.0, 5.0, 0.0) for _ in range(2))
        y[:4] = [2.0, 4.0, 0.5, 1.0]
        found = applied(f"__nv_{name}{suffix}", [x, y], scalar, target)
        exact = (
            np.nextafter(x, y) if function is None else np.array([function(float(a), float(b)) for a, b in zip(x, y)])
        )
        assert distance(found, exact) <= bound, scalar


def _byte(x: int, y: int, index: int) -> int:
    return ((y & 0xFFFFFFFF) << 32 | (x & 0xFFFFFFFF)) >> 8 * index & 255


INTEGERS: list[tuple[str, Callable[..., int]]] = [
    ("brev", lambda x: int(f"{x & 0xFFFFFFFF:032b}"[::-1], 2)),
    ("clz", lambda x: 32 - (x & 0xFFFFFFFF).bit_length()),
    ("ffs", lambda x: (x & -x).bit_length()),
    ("popc", lambda x: (x & 0xFFFFFFFF).bit_count()),
    ("abs", abs),
    ("hadd", lambda x, y: (x + y) >> 1),
    ("rhadd", lambda x, y: (x + y + 1) >> 1),
    ("uhadd", lambda x, y: ((x & 0xFFFFFFFF) + (y & 0xFFFFFFFF)) >> 1),
    ("mulhi", lambda x, y: (x * y) >> 32),
    ("umulhi", lambda x, y: ((x & 0xFFFFFFFF) * (y & 0xFFFFFFFF)) >> 32),
    ("mul24", lambda x, y: ((x & 0xFFFFFF) - ((x & 0x800000) << 1)) * ((y & 0xFFFFFF) - ((y & 0x800000) << 1))),
    ("sad", lambda x, y, z: abs(x - y) + z),
    ("byte_perm", lambda x, y, s: sum(_byte(x, y, s >> 4 * index & 7) << 8 * index for index in range(4))),
]


@each_target
@pytest.mark.parametrize(("name", "function"), INTEGERS, ids=[row[0] for row in INTEGERS])
def test_a_function_of_integers(name: str, function: Callable[..., int], target: str) -> None:
    count = function.__code__.co_argcount if hasattr(function, "__code__") else 1
    operands = [random.integers(-(1 << 31), 1 << 31, COUNT).astype(np.int32) for _ in range(count)]
    for operand in operands:
        operand[:4] = [0, 1, -1, -(1 << 31)]
    found = applied(f"__nv_{name}", operands, "i32", target)
    exact = [function(*map(int, row)) for row in zip(*operands)]
    np.testing.assert_array_equal(found, np.array([value & 0xFFFFFFFF for value in exact], np.uint32).view(np.int32))


@each_target
def test_questions_about_floats(target: str) -> None:
    x = numbers(-2, 2, np.float32, 0.0, -0.0, INF, -INF, math.nan)
    for name, exact in (
        ("isnanf", np.isnan(x)), ("isinff", np.isinf(x)), ("finitef", np.isfinite(x)), ("signbitf", np.signbit(x)),
    ):  # fmt: skip
        np.testing.assert_array_equal(applied(f"__nv_{name}", [x], "i32", target), exact)


@each_target
def test_integers_of_floats_in_every_rounding(target: str) -> None:
    x = numbers(-100, 100, np.float32, 0.5, 1.5, -0.5, -1.5)
    for mode, exact in (("rn", np.rint(x)), ("rz", np.trunc(x)), ("rd", np.floor(x)), ("ru", np.ceil(x))):
        np.testing.assert_array_equal(applied(f"__nv_float2int_{mode}", [x], "i32", target), exact)
    np.testing.assert_array_equal(applied("__nv_llrintf", [x], "i64", target), np.rint(x))


@each_target
def test_arithmetic_in_a_rounding(target: str) -> None:
    x, y = (numbers(1, 100, np.float32) for _ in range(2))
    low, high = (applied(f"__nv_fadd_{mode}", [x, y], "f32", target) for mode in ("rd", "ru"))
    exact = x.astype(np.float64) + y
    assert np.all(low <= exact) and np.all(exact <= high) and np.any(low < high)


@each_target
def test_scaling_by_powers_of_two(target: str) -> None:
    x = numbers(-8, 8, np.float32, 1e-45, 1.0, 3e38, 1.5)
    n = random.integers(-160, 160, COUNT).astype(np.int32)
    with np.errstate(over="ignore"):
        exact = np.ldexp(x, n)
    np.testing.assert_array_equal(applied("__nv_ldexpf", [x, n], "f32", target), exact)


@each_target
def test_operations_of_math(target: str) -> None:
    x = numbers(-4, 4, np.float32)
    exact = np.array([math.erf(value) for value in x])
    assert distance(applied("math.erf", [x], "f32", target), exact) <= 3


SPECIAL: list[tuple[str, dict[float, float]]] = [
    ("acosh", {0.5: math.nan, -1e10: math.nan, -3e38: math.nan, -INF: math.nan, 1.0: 0.0, INF: INF}),
    ("cospi", {0.5: 0.0, -1.5: 0.0, 1.0: -1.0, 1e20: 1.0, INF: math.nan}),
    ("lgamma", {-1.0: INF, -2.0: INF, -3.0: INF, 0.0: INF, 1.0: 0.0, 2.0: 0.0, -INF: INF}),
    ("log1p", {3e38: math.log(3e38), -1.0: -INF, -2.0: math.nan, INF: INF}),
    ("sinpi", {1.0: 0.0, -7.0: 0.0, 0.5: 1.0, -2.5: -1.0, 1e20: 0.0, INF: math.nan}),
]


@each_target
@pytest.mark.parametrize(("name", "values"), SPECIAL, ids=[row[0] for row in SPECIAL])
def test_a_function_at_its_poles_and_zeros_and_beyond(name: str, values: dict[float, float], target: str) -> None:
    for scalar, suffix in (("f32", "f"), ("f64", "")):
        operand = np.resize(list(values), COUNT).astype(SCALARS[scalar])
        found = applied(f"__nv_{name}{suffix}", [operand], scalar, target)
        assert distance(found, np.resize(list(values.values()), COUNT)) <= 1, scalar


def test_names_of_other_libraries_and_fast_ones_are_known() -> None:
    x = numbers(-1, 1, np.float32)
    for name in ("__ocml_tanh_f32", "__nv_tanhf"):
        assert distance(applied(name, [x], "f32", "interp"), np.tanh(x.astype(np.float64))) <= 4
    assert distance(applied("__nv_fast_expf", [x], "f32", "interp"), np.exp(x.astype(np.float64))) <= 4
