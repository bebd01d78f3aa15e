"""Calls, generated tiles, functions by name, rows and the barrier in GPU code."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tileir
from tests.differential import Outcome, assert_same, outcome
from tests.interp.interp_kernels import evaluate, function
from tests.targets import ttir
from tests.targets.gpu_code import GpuCode
from tests.targets.ttir_functions import compiled, evaluated
from tileir.gpu.arch import arch_named
from tileir.gpu.compiler import CompileOptions, compile_ttir
from tileir.gpu.ttir.lib.libdevice import SIGNATURES
from tileir.ir.diagnostics import UnsupportedError

ARCHS = ("sm_80", "sm_90", "sm_100")
VIEW = "tensor_view<4x8xi32, strides=[8,1]>"


def kernel_of(text: str) -> tileir.Kernel:
    module = tileir.parse(text)
    module.require_valid()
    return module["k"]


def both(gpu_code: GpuCode, text: str, *args: object) -> tuple[Outcome, Outcome]:
    kernel = kernel_of(text)
    return outcome(kernel, (1,), args, "interp"), gpu_code.outcome(kernel, (1,), args, "sm_90")


def require_compiled(text: str) -> None:
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    for arch in ARCHS:
        code = ttir.lowered(kernel_of(text), arch)
        assert compile_ttir(code.text, arch_named(arch), CompileOptions(), ("cubin",)).binary


# ---------------------------------------------------------------- calls

CALLS = f"""experimental$func @row(%n: tile<i32>, %v: {VIEW}, %t: token) -> ({VIEW}, tile<i32>, token) {{
    %limit = constant <i32: 3> : tile<i32>
    %small = cmpi less_than %n, %limit, signed : tile<i32> -> tile<i1>
    if %small {{
      return %v, %n, %t : {VIEW}, tile<i32>, token
    }}
    loop {{
      if %small {{ break }} else {{ return %v, %limit, %t : {VIEW}, tile<i32>, token }}
    }}
    return %v, %n, %t : {VIEW}, tile<i32>, token
}}
experimental$func @rows(%n: tile<i32>, %v: {VIEW}, %t: token) -> (tile<1x8xi32>, token) {{
    %w, %m, %u = experimental$call @row(%n, %v, %t) : (tile<i32>, {VIEW}, token) -> ({VIEW}, tile<i32>, token)
    %zero = constant <i32: 0> : tile<i32>
    %p = make_partition_view %w : partition_view<tile=(1x8), {VIEW}>
    %x, %s = load_view_tko weak %p[%m, %zero] token=%u
        : partition_view<tile=(1x8), {VIEW}>, tile<i32> -> tile<1x8xi32>, token
    return %x, %s : tile<1x8xi32>, token
}}
entry @k(%from: tile<ptr<i32>>, %n: tile<i32>) {{
    %v = make_tensor_view %from, shape = [4, 8], strides = [8, 1] : {VIEW}
    %t = make_token : token
    %a, %ta = experimental$call @rows(%n, %v, %t) : (tile<i32>, {VIEW}, token) -> (tile<1x8xi32>, token)
    %two = addi %n, %n : tile<i32>
    %b, %tb = experimental$call @rows(%two, %v, %ta) : (tile<i32>, {VIEW}, token) -> (tile<1x8xi32>, token)
    %u = print_tko "%d %d", %a, %b token=%tb : tile<1x8xi32>, tile<1x8xi32> -> token
    return
}}"""


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_views_and_tokens_go_into_functions_and_come_back_from_any_return(gpu_code: GpuCode, n: int) -> None:
    first, second = both(gpu_code, CALLS, np.arange(32, dtype=np.int32).reshape(4, 8), n)
    assert second.printed == first.printed


def test_calls_compile() -> None:
    require_compiled(CALLS)


NEVER = """experimental$func @spin(%c: tile<i1>) -> tile<4xf32> {
    loop { continue }
    %x = constant <f32: 1.0> : tile<4xf32>
    return %x : tile<4xf32>
}
entry @k(%c: tile<i1>) {
    if %c {
      %x = experimental$call @spin(%c) : (tile<i1>) -> tile<4xf32>
      %t = print_tko "%f", %x : tile<4xf32> -> token
    }
    return
}"""


def test_a_call_that_never_returns_compiles() -> None:
    require_compiled(NEVER)


def doubling(depth: int) -> str:
    """So many functions that each call the next one twice, one on each line."""
    scalar = "tile<i32>"
    head = f"(%x: {scalar}) -> {scalar} {{"
    texts = [f"experimental$func @f{depth}{head} return %x : {scalar} }}"]
    for at in range(depth):
        body = (f"%{to} = experimental$call @f{at + 1}(%{of}) : ({scalar}) -> {scalar}" for to, of in ("yx", "zy"))
        texts.append(f"experimental$func @f{at}{head} {' '.join(body)} return %z : {scalar} }}")
    called = f"%r = experimental$call @f0(%x) : ({scalar}) -> {scalar}"
    return "\n".join([*texts, f"entry @k(%x: {scalar}) {{", called, "}"])


@pytest.mark.parametrize("arch", ["sm_90", "gfx942"])
def test_calls_that_multiply_beyond_a_limit_are_refused_before_they_are_code(arch: str) -> None:
    with pytest.raises(UnsupportedError, match=r"'experimental\$call' calls @f0, which .*: .* at most 65536") as error:
        ttir.lowered(kernel_of(doubling(25)), arch)
    assert "<string>:28" in str(error.value)
    assert ttir.lowered(kernel_of(doubling(4)), arch).text


# ---------------------------------------------------------------- generate

GENERATE = function(
    "%n: tile<i32>, %s: tile<f32>", "tile<4x8xi32>, tile<4x8xi32>, tile<2x2x2xf32>, tile<i32>, tile<1xi32>",
    """%a = experimental$generate {
         ^bb0(%i: tile<i32>, %j: tile<i32>):
           %p = muli %i, %n : tile<i32>
           %q = addi %p, %j : tile<i32>
           %x, %y, %z = get_tile_block_id : tile<i32>
           %r = subi %q, %x : tile<i32>
           yield %r : tile<i32>
       } : tile<4x8xi32>
       %b = experimental$generate {
         ^bb0(%i: tile<i32>, %j: tile<i32>):
           %c = cmpi less_than %i, %j, signed : tile<i32> -> tile<i1>
           %r = if %c -> (tile<i32>) {
             yield %n : tile<i32>
           } else {
             %p = muli %i, %j : tile<i32>
             yield %p : tile<i32>
           }
           yield %r : tile<i32>
       } : tile<4x8xi32>
       %d = experimental$generate {
         ^bb0(%i: tile<i32>, %j: tile<i32>, %l: tile<i32>):
           %zero = constant <i32: 0> : tile<i32>
           %c = cmpi equal %j, %zero, signed : tile<i32> -> tile<i1>
           %f = itof %l signed : tile<i32> -> tile<f32>
           %r = select %c, %s, %f : tile<i1>, tile<f32>
           yield %r : tile<f32>
       } : tile<2x2x2xf32>
       %e = experimental$generate { yield %n : tile<i32> } : tile<i32>
       %g = experimental$generate { ^bb0(%i: tile<i32>): yield %i : tile<i32> } : tile<1xi32>
       return %a, %b, %d, %e, %g : tile<4x8xi32>, tile<4x8xi32>, tile<2x2x2xf32>, tile<i32>, tile<1xi32>""",
)  # fmt: skip


def test_a_generated_tile_has_what_the_body_yields_for_each_index(gpu_code: GpuCode) -> None:
    expected = evaluate(GENERATE, np.int32(9), np.float32(0.5))
    assert isinstance(expected, tuple)
    for mine, other in zip(gpu_code.evaluated(GENERATE, 9, 0.5), expected):
        np.testing.assert_array_equal(mine, other)


def test_generated_tiles_compile() -> None:
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    for arch in ARCHS:
        assert compiled(GENERATE, arch).binary


# ---------------------------------------------------------------- functions by name


def extern_text(symbol: str, operands: str, result: str, shape: str = "4x", pure: str = "true") -> str:
    types = [f"tile<{shape}{operand}>" for operand in operands.split()]
    values = [f"%a{number}" for number in range(len(types))]
    given = ", ".join(f"{value}: {type}" for value, type in zip(values, types))
    return function(
        given, f"tile<{shape}{result}>",
        f"""%r = experimental$extern_elementwise {', '.join(values)}
               {{libname = "", libpath = "", pure = {pure}, symbol = "{symbol}"}}
               : ({', '.join(types)}) -> tile<{shape}{result}>
            return %r : tile<{shape}{result}>""",
    )  # fmt: skip


@pytest.mark.parametrize(("shape", "pure"), [("4x", "true"), ("", "false"), ("2x8x", "true")])
def test_a_function_of_the_device_library_is_called_for_every_element(shape: str, pure: str) -> None:
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    text = extern_text("__nv_fmaf_rz", "f32 f32 f32", "f32", shape, pure)
    for arch in ARCHS:
        assert "fma.rz.f32" in compiled(text, arch, "ptx", "cubin").texts["ptx"]


@pytest.mark.parametrize(
    ("symbol", "types", "instruction"),
    [
        ("__nv_float2int_rz", "f32 -> i32", "cvt.rzi.s32.f32"), ("__nv_dadd_rd", "f64 f64 -> f64", "add.rm.f64"),
        ("__nv_clzll", "i64 -> i32", "clz.b64"), ("__nv_half2float", "i16 -> f32", "cvt.f32.f16"),
        ("__nv_hiloint2double", "i32 i32 -> f64", "mov.b64"),
    ],
)  # fmt: skip
def test_the_types_of_device_functions_are_those_that_the_library_has(
    symbol: str, types: str, instruction: str
) -> None:
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    operands, result = types.split(" -> ")
    assert SIGNATURES[symbol] == (tuple(operands.split()), result)
    assert instruction in compiled(extern_text(symbol, operands, result), "sm_90", "ptx", "cubin").texts["ptx"]


@pytest.mark.parametrize(
    ("symbol", "operands", "result", "message"),
    [
        ("hypot", "f32 f32", "f32", "calls 'hypot', a function of the host"),
        ("__nv_nothing", "f32", "f32", "calls '__nv_nothing', which the device library does not have"),
        ("__nv_frexpf", "f32 i32", "f32", "does not have for numbers"),
        ("__nv_expf", "f64", "f64", "'__nv_expf': expected (f32) -> f32, got (f64) -> f64"),
        ("__nv_expf", "tf32", "f32", "expected (f32) -> f32, got (tf32) -> f32"),
    ],
)
def test_any_other_function_is_refused_by_name(symbol: str, operands: str, result: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=re.escape(message)):
        evaluated(extern_text(symbol, operands, result))


# ---------------------------------------------------------------- rows

ROWS = """entry @k(%p: tile<ptr<ELEMENT>>, %out: tile<ptr<ELEMENT>>, %off: tile<i64>) {
    %v = make_tensor_view %p, shape = [4, 8], strides = [8, 1] : tensor_view<4x8xELEMENT, strides=[8,1]>
    %rows = constant <i16: [3, 0, 9, -1]> : tile<4xi16>
    %t = experimental$gather_load %v, %rows, [%off] <{dim = 0 : i64, fillValue = #cuda_tile<fill_value FILL>}>
        : tensor_view<4x8xELEMENT, strides=[8,1]>, tile<4xi16>, tile<i64> -> tile<4x4xELEMENT>
    %w = make_tensor_view %out, shape = [8, 4], strides = [4, 1] : tensor_view<8x4xELEMENT, strides=[4,1]>
    %columns = constant <i32: [2, 1, 0, 7]> : tile<4xi32>
    %zero = constant <i64: 0> : tile<i64>
    %u = experimental$scatter_store %t, %w, %columns, [%zero] <{dim = 1 : i64}>
        : tile<4x4xELEMENT>, tensor_view<8x4xELEMENT, strides=[4,1]>, tile<4xi32>, tile<i64> -> token
    return
}"""


@pytest.mark.parametrize(("element", "fill"), [("i32", "zero"), ("f16", "nan"), ("tf32", "neg_inf"), ("i1", "zero")])
@pytest.mark.parametrize("offset", [0, 5, 9])
def test_rows_are_gathered_and_scattered_as_in_the_interpreter(
    gpu_code: GpuCode, element: str, fill: str, offset: int
) -> None:
    text = ROWS.replace("ELEMENT", element).replace("FILL", fill)
    dtype = {"i32": np.int32, "f16": np.float16, "tf32": np.float32, "i1": np.bool_}[element]
    source = (np.arange(32).reshape(4, 8) * 1.001 % 2.7).astype(dtype)
    first, second = both(gpu_code, text, source, np.zeros((8, 4), dtype), offset)
    assert_same(first, second, [True, True], ["source", "result"])


def test_rows_compile() -> None:
    require_compiled(ROWS.replace("ELEMENT", "f16").replace("FILL", "nan"))


# ---------------------------------------------------------------- the barrier

BARRIERS = ("i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "f8E5M2", "ptr<f32>")


def barrier_text() -> str:
    """A device function that sends tiles and scalars of all kinds through the barrier."""
    types = [f"tile<{shape}{element}>" for element in BARRIERS for shape in ("", "4x")]
    given = ", ".join(f"%a{number}: {type}" for number, type in enumerate(types))
    lines = [
        f"%b{number} = internal$optimization_barrier %a{number}{', keep_axis_info' * (number % 3 == 0)} : {type}"
        for number, type in enumerate(types)
    ]
    values = ", ".join(f"%b{number}" for number in range(len(types)))
    return function(given, ", ".join(types), "\n".join([*lines, f"return {values} : {', '.join(types)}"]))


def test_the_optimization_barrier_is_the_identity(gpu_code: GpuCode) -> None:
    text, shapes = barrier_text(), [(), (4,)] * len(BARRIERS)
    given = [np.arange(3, 3 + int(np.prod(shape))).reshape(shape) for shape in shapes]
    for mine, expected in zip(gpu_code.evaluated(text, *given), given):
        np.testing.assert_array_equal(mine.astype(np.float64), expected.astype(mine.dtype).astype(np.float64))


def test_the_optimization_barrier_compiles() -> None:
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    for arch in ARCHS:
        assert compiled(barrier_text(), arch).binary
