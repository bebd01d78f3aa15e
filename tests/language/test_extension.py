"""The operations of early documents have their meaning (spec: extension#operations)."""

import numpy as np
import pytest

from tests.interp.interp_kernels import function
from tileir.host import extern
from tileir.ir.diagnostics import UnsupportedError


@pytest.fixture
def registry(monkeypatch):
    monkeypatch.setattr(extern, "_externs", {})


def test_arc_sine_is_nan_outside_its_domain(target):
    body = "%y = experimental$asin %x : tile<4xf32>\nreturn %y : tile<4xf32>"
    text = function("%x: tile<4xf32>", "tile<4xf32>", body)
    result = target.evaluate(text, np.array([1.0, -0.0, 0.5, 2.0], np.float32))
    assert result[:3].tolist() == [np.float32(np.pi / 2), 0.0, np.float32(np.arcsin(0.5))]
    assert np.signbit(result[1])
    assert np.isnan(result[3])


def test_the_optimization_barrier_is_the_identity(target):
    text = function(
        "%x: tile<4xi32>", "tile<4xi32>",
        "%y = internal$optimization_barrier %x, keep_axis_info : tile<4xi32>\nreturn %y : tile<4xi32>",
    )  # fmt: skip
    assert target.evaluate(text, np.arange(4, dtype=np.int32)).tolist() == [0, 1, 2, 3]


def extern_text(types, result, symbol="mix"):
    names = [f"%a{k}" for k in range(len(types))]
    parameters = ", ".join(f"{name}: {ty}" for name, ty in zip(names, types))
    return function(
        parameters, result,
        f"""%r = experimental$extern_elementwise {', '.join(names)}
               {{libname = "", libpath = "", pure = true, symbol = "{symbol}"}} : ({', '.join(types)}) -> {result}
            return %r : {result}""",
    )  # fmt: skip


@pytest.mark.usefixtures("registry")
@pytest.mark.not_on("ttir", "gpu")
def test_host_functions_are_applied_to_every_element(target):
    extern.register_extern("mix", lambda a, b: a * b + 0.25)
    text = extern_text(["tile<2x2xf32>", "tile<2x2xi8>"], "tile<2x2xf16>")
    result = target.evaluate(text, np.array([[1, 2], [3, 4]], np.float32), np.array([[1, -1], [2, 0]], np.int8))
    assert result.dtype == np.float16
    assert result.tolist() == [[1.25, -1.75], [6.25, 0.25]]


@pytest.mark.usefixtures("registry")
@pytest.mark.not_on("ttir", "gpu")
def test_results_are_rounded_or_wrapped_to_the_element_type(target):
    extern.register_extern("mix", lambda a: a * 300)
    assert target.evaluate(extern_text(["tile<2xi32>"], "tile<2xi8>"), np.array([1, 2], np.int32)).tolist() == [44, 88]
    assert target.evaluate(extern_text(["tile<2xi1>"], "tile<2xi1>"), np.array([True, False])).tolist() == [True, False]
    extern.register_extern("mix", lambda a: a + 2.0**-9)
    assert float(target.evaluate(extern_text(["tile<f32>"], "tile<bf16>"), np.float32(1))) == 1.0


@pytest.mark.usefixtures("registry")
def test_an_unknown_host_function_is_named(target):
    with pytest.raises(UnsupportedError, match="'mix'"):
        target.evaluate(extern_text(["tile<f32>"], "tile<f32>"), np.float32(1))


@pytest.mark.usefixtures("registry")
def test_only_functions_with_a_name_are_registered():
    with pytest.raises(ValueError, match="symbol"):
        extern.register_extern("", abs)
    with pytest.raises(TypeError, match="callable"):
        extern.register_extern("f", 3)


GATHER = """entry @k(%p: tile<ptr<i32>>, %out: tile<ptr<i32>>, %off: tile<i32>) {
    %v = make_tensor_view %p, shape = [4, 8], strides = [8, 1] : tensor_view<4x8xi32, strides=[8,1]>
    %rows = constant <i32: [3, 0, 9, 1]> : tile<4xi32>
    %t = experimental$gather_load %v, %rows, [%off] <{dim = 0 : i64, fillValue = #cuda_tile<fill_value zero>}>
        : tensor_view<4x8xi32, strides=[8,1]>, tile<4xi32>, tile<i32> -> tile<4x4xi32>
    %w = make_tensor_view %out, shape = [4, 8], strides = [8, 1] : tensor_view<4x8xi32, strides=[8,1]>
    %u = experimental$scatter_store %t, %w, %rows, [%off] <{dim = 0 : i64}>
        : tile<4x4xi32>, tensor_view<4x8xi32, strides=[8,1]>, tile<4xi32>, tile<i32> -> token
    return
}"""


def test_rows_are_gathered_and_scattered_at_their_indices(target):
    source, out = np.arange(1, 33, dtype=np.int32).reshape(4, 8), np.zeros((4, 8), np.int32)
    target.launch(GATHER, source, out, 6)
    assert (out[[0, 1, 3], 6:] == source[[0, 1, 3], 6:]).all()
    out[[0, 1, 3], 6:] = 0
    assert not out.any()


def test_generate_evaluates_its_body_at_every_index(target):
    text = function(
        "%k: tile<i32>", "tile<2x4xi32>, tile<2x4xi32>",
        """%a = experimental$generate { ^bb0(%i: tile<i32>, %j: tile<i32>):
             %m = muli %i, %k : tile<i32>
             %s = addi %m, %j : tile<i32>
             yield %s : tile<i32>
           } : tile<2x4xi32>
           %b = experimental$generate { ^bb0(%i: tile<i32>, %j: tile<i32>):
             %same = cmpi equal %i, %j, signed : tile<i32> -> tile<i1>
             %v = if %same -> (tile<i32>) {
               yield %k : tile<i32>
             } else {
               yield %i : tile<i32>
             }
             yield %v : tile<i32>
           } : tile<2x4xi32>
           return %a, %b : tile<2x4xi32>, tile<2x4xi32>""",
    )  # fmt: skip
    a, b = target.evaluate(text, np.int32(10))
    assert a.tolist() == [[0, 1, 2, 3], [10, 11, 12, 13]]
    assert b.tolist() == [[10, 0, 0, 0], [1, 10, 1, 1]]
