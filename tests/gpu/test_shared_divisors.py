"""Quotients by a reciprocal in f64, of many elements by one divisor or of few, are those of the interpreter to the bit,
and short code."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
import pytest

import tileir
from tests.cpu.samples import differing
from tests.differential import Outcome
from tests.differential import outcome as interpreted
from tests.gpu.machine_code import machine_code
from tests.targets import hsaco, ptx, ttir
from tileir.gpu.arch import arch_named
from tileir.gpu.compiler import CompileOptions, compile_ttir
from tileir.ir import types as t

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
ROWS, COLUMNS = 64, 64


def program() -> str:
    """Each row of x divided by its element of y."""
    tile, matrix = f"{ROWS}x{COLUMNS}xf32", f"tensor_view<{ROWS}x{COLUMNS}xf32, strides=[{COLUMNS},1]>"
    view, line = f"partition_view<tile=({ROWS}x{COLUMNS}), {matrix}>", f"tensor_view<{ROWS}xf32, strides=[1]>"
    return f"""entry @quotients(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %z: tile<ptr<f32>>) {{
  %zero = constant <i32: 0> : tile<i32>
  %xt = make_tensor_view %x, shape = [{ROWS}, {COLUMNS}], strides = [{COLUMNS}, 1] : {matrix}
  %zt = make_tensor_view %z, shape = [{ROWS}, {COLUMNS}], strides = [{COLUMNS}, 1] : {matrix}
  %yt = make_tensor_view %y, shape = [{ROWS}], strides = [1] : {line}
  %xv = make_partition_view %xt : {view}
  %zv = make_partition_view %zt : {view}
  %yv = make_partition_view %yt : partition_view<tile=({ROWS}), {line}>
  %dividend, %s = load_view_tko weak %xv[%zero, %zero] : {view}, tile<i32> -> tile<{tile}>, token
  %line, %t = load_view_tko weak %yv[%zero]
    : partition_view<tile=({ROWS}), {line}>, tile<i32> -> tile<{ROWS}xf32>, token
  %column = reshape %line : tile<{ROWS}xf32> -> tile<{ROWS}x1xf32>
  %divisor = broadcast %column : tile<{ROWS}x1xf32> -> tile<{tile}>
  %quotient = divf %dividend, %divisor : tile<{tile}>
  %u = store_view_tko weak %quotient, %zv[%zero, %zero] : tile<{tile}>, {view}, tile<i32> -> token
}}"""


FEW = 32
BLOCKS = ROWS * COLUMNS // FEW


def few() -> str:
    """Each tile block divides a few elements of x by those of y."""
    matrix = f"tensor_view<{BLOCKS}x{FEW}xf32, strides=[{FEW},1]>"
    view, tile = f"partition_view<tile=(1x{FEW}), {matrix}>", f"tile<1x{FEW}xf32>"
    views = "".join(
        f"  %{name}t = make_tensor_view %{name}, shape = [{BLOCKS}, {FEW}], strides = [{FEW}, 1] : {matrix}\n"
        f"  %{name}v = make_partition_view %{name}t : {view}\n"
        for name in "xyz"
    )
    return f"""entry @quotients(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %z: tile<ptr<f32>>) {{
{views}  %zero = constant <i32: 0> : tile<i32>
  %block, %by, %bz = get_tile_block_id : tile<i32>
  %dividend, %s = load_view_tko weak %xv[%block, %zero] : {view}, tile<i32> -> {tile}, token
  %divisor, %t = load_view_tko weak %yv[%block, %zero] : {view}, tile<i32> -> {tile}, token
  %quotient = divf %dividend, %divisor : {tile}
  %u = store_view_tko weak %quotient, %zv[%block, %zero] : {tile}, {view}, tile<i32> -> token
}}"""


def random_floats(random: np.random.Generator, count: int) -> np.ndarray:
    return random.integers(0, 1 << 32, count, np.uint32).view(np.float32)


def near_the_middle_of_two(random: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Dividends whose quotients by `y` are close to the middle of two f32."""
    middle = (2 * random.integers(1 << 23, 1 << 24, y.shape) + 1) * 2.0 ** random.integers(-60, 60, y.shape)
    return (middle * y.astype(np.float64)).astype(np.float32)


def in_the_middle_of_two(random: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Dividends whose quotients by `y`, which has 12 bits, are the middle of two subnormal f32."""
    return ((2 * random.integers(0, 1 << 10, y.shape) + 1) * 2.0**-150 * y.astype(np.float64)).astype(np.float32)


SPECIAL = np.array(
    [0, -0.0, np.inf, -np.inf, np.nan, 1, -3, 2.0**-149, -(2.0**-126), 3.4028235e38, -1.17549421e-38, 7, 2.0**-100],
    np.float32,
)


def operands(kind: str) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    shape = ROWS, COLUMNS
    if kind == "random":
        return random_floats(random, ROWS * COLUMNS).reshape(shape), random_floats(random, ROWS)
    if kind == "special":
        return np.resize(SPECIAL, COLUMNS * ROWS).reshape(COLUMNS, ROWS).T.copy(), np.resize(SPECIAL, ROWS)
    if kind == "near":
        y = random.uniform(1, 2, ROWS).astype(np.float32)
        y[:8] = np.nextafter(np.float32([1, 2] * 4), np.float32([9, 0] * 4))
        return near_the_middle_of_two(random, np.broadcast_to(y[:, None], shape)), y
    y = (random.integers(1 << 11, 1 << 12, ROWS) * 2.0**8).astype(np.float32)
    return in_the_middle_of_two(random, np.broadcast_to(y[:, None], shape)), y


Run = Callable[[tileir.Kernel, tuple[int, ...], list[np.ndarray], str], Outcome]
needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="needs triton: pip install '.[gpu]'")


MACHINES = [
    pytest.param(ttir.outcome, "sm_90", id="ttir"),
    pytest.param(ptx.outcome, "sm_80", id="ptx", marks=needs_triton),
    pytest.param(hsaco.outcome, "gfx942", id="hsaco", marks=needs_triton),
]


@pytest.mark.parametrize("kind", ["random", "special", "near", "tie"])
@pytest.mark.parametrize(("run", "arch"), MACHINES)
def test_quotients_by_a_shared_divisor_are_rounded_once(run: Run, arch: str, kind: str) -> None:
    (kernel,) = tileir.parse(program()).kernels.values()
    require_the_quotients_of_the_interpreter(run, arch, kernel, (1,), *operands(kind))


@pytest.mark.parametrize("kind", ["random", "special", "near", "tie"])
@pytest.mark.parametrize(("run", "arch"), MACHINES[:2])
def test_a_few_quotients_are_rounded_once(run: Run, arch: str, kind: str) -> None:
    (kernel,) = tileir.parse(few()).kernels.values()
    x, y = operands(kind)
    divisors = np.broadcast_to(y[:, None], x.shape).copy()
    require_the_quotients_of_the_interpreter(run, arch, kernel, (BLOCKS,), x, divisors)


def require_the_quotients_of_the_interpreter(
    run: Run, arch: str, kernel: tileir.Kernel, grid: tuple[int, ...], x: np.ndarray, y: np.ndarray
) -> None:
    args = [x, y, np.zeros((ROWS, COLUMNS), np.float32)]
    expected = interpreted(kernel, grid, args, "interp").arrays[2]
    found = run(kernel, grid, args, arch).arrays[2]
    assert not differing(found, expected, t.F32).any()


@pytest.mark.parametrize(
    ("arch", "shared"), [("sm_90", "rcp.approx"), ("sm_100", "rcp.approx"), ("gfx942", "arith.divf"), ("sm_89", None)]
)
def test_one_reciprocal_serves_a_row_where_f64_is_fast(arch: str, shared: str | None) -> None:
    (kernel,) = tileir.parse(program()).kernels.values()
    text = ttir.lowered(kernel, arch).text
    assert ("tt.precise_divf" in text) == (shared is None)
    assert shared is None or shared in text


@pytest.mark.parametrize(("arch", "wide"), [("sm_90", True), ("sm_89", False), ("gfx942", False)])
def test_a_few_quotients_are_made_in_f64_where_f32_would_call_a_function(arch: str, wide: bool) -> None:
    (kernel,) = tileir.parse(few()).kernels.values()
    text = ttir.lowered(kernel, arch).text
    assert ("tt.precise_divf" not in text, "rcp.approx" in text) == (wide, wide)


@needs_triton
@pytest.mark.parametrize("text", [program(), few()], ids=["shared", "few"])
def test_no_function_is_called_for_a_quotient_in_f64(text: str) -> None:
    (kernel,) = tileir.parse(text).kernels.values()
    made = compile_ttir(ttir.lowered(kernel, "sm_90").text, arch_named("sm_90"), CompileOptions(), ["cubin"])
    assert made.binary is not None
    assert not any(name.startswith("CALL") for name in machine_code(made.binary).names)
