"""Device functions whose code is called, not repeated: the same results and reports as on the interpreter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tileir
from tests.cpu.anew import compile_anew, planned

TILE = "tile<4x4xf32>"
TENSOR = "tensor_view<?x?xf32, strides=[?,1]>"
VIEW = f"partition_view<tile=(4x4), {TENSOR}>"
PROGRAM = f"""cuda_tile.module @m {{
  experimental$func @doubled(%x: {TILE}, %n: tile<i32>) -> ({TILE}, tile<i32>, token) {{
    %y = addf %x, %x : {TILE}
    %one = constant <i32: 1> : tile<i32>
    %m = addi %n, %one : tile<i32>
    %t = make_token : token
    %none = constant <i32: 0> : tile<i32>
    %is_none = cmpi equal %n, %none, signed : tile<i32> -> tile<i1>
    if %is_none {{
      return %x, %m, %t : {TILE}, tile<i32>, token
    }}
    return %y, %m, %t : {TILE}, tile<i32>, token
  }}
  experimental$func @viewed(%p: tile<ptr<f32>>, %n: tile<i32>) -> {TENSOR} {{
    %v = make_tensor_view %p, shape = [%n, %n], strides = [%n, 1] : tile<i32> -> {TENSOR}
    return %v : {TENSOR}
  }}
  experimental$func @loaded(%t: {TENSOR}, %i: tile<i32>) -> {TILE} {{
    %v = make_partition_view %t : {VIEW}
    %x, %u = load_view_tko weak %v[%i, %i] : {VIEW}, tile<i32> -> {TILE}, token
    return %x : {TILE}
  }}
  experimental$func @kept(%q: tile<ptr<f32>>, %x: tile<f32>) -> tile<ptr<f32>> {{
    %own = alloca num_elem = 4, alignment = 16 : tile<ptr<f32>>
    %u = store_ptr_tko weak %own, %x : tile<ptr<f32>>, tile<f32> -> token
    %y, %w = load_ptr_tko weak %own token=%u : tile<ptr<f32>> -> tile<f32>, token
    %z = store_ptr_tko weak %q, %y : tile<ptr<f32>>, tile<f32> -> token
    return %q : tile<ptr<f32>>
  }}
  experimental$func @held(%x: {TILE}) {{
    %least = constant <f32: 0.0> : {TILE}
    %fine = cmpf greater_than_or_equal ordered %x, %least : {TILE} -> tile<4x4xi1>
    assert %fine, "no negative numbers" : tile<4x4xi1>
    return
  }}
  entry @k(%p: tile<ptr<f32>>, %out: tile<ptr<f32>>, %n: tile<i32>, %i: tile<i32>) {{
    %t = experimental$call @viewed(%p, %n) : (tile<ptr<f32>>, tile<i32>) -> {TENSOR}
    %x = experimental$call @loaded(%t, %i) : ({TENSOR}, tile<i32>) -> {TILE}
    experimental$call @held(%x) : ({TILE}) -> ()
    %y, %m, %u = experimental$call @doubled(%x, %i) : ({TILE}, tile<i32>) -> ({TILE}, tile<i32>, token)
    %z, %l, %w = experimental$call @doubled(%y, %m) : ({TILE}, tile<i32>) -> ({TILE}, tile<i32>, token)
    %s = reduce %z dim=0 identities=[0.0 : f32] : {TILE} -> tile<4xf32> (%a: tile<f32>, %b: tile<f32>) {{
      %c = addf %a, %b : tile<f32>
      yield %c : tile<f32>
    }}
    %r = reduce %s dim=0 identities=[0.0 : f32] : tile<4xf32> -> tile<f32> (%a: tile<f32>, %b: tile<f32>) {{
      %c = addf %a, %b : tile<f32>
      yield %c : tile<f32>
    }}
    %q = alloca num_elem = 1, alignment = 16 : tile<ptr<f32>>
    %same = experimental$call @kept(%q, %r) : (tile<ptr<f32>>, tile<f32>) -> tile<ptr<f32>>
    %f, %v = load_ptr_tko weak %same token=%w : tile<ptr<f32>> -> tile<f32>, token
    %g = store_ptr_tko weak %out, %f : tile<ptr<f32>>, tile<f32> -> token
    return
  }}
}}"""


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every function is called."""
    planned(monkeypatch, change=lambda made: replace(made, parts=frozenset()))


def outcome(target: str, extent: int, index: int, negative: bool, check: object) -> tuple[object, ...]:
    given, out = np.arange(64, dtype=np.float32), np.zeros(1, np.float32)
    if negative:
        given[9] = -1
    try:
        tileir.parse(PROGRAM)["k"].launch(1, given, out, extent, index, target=target, check=check)  # type: ignore
    except tileir.Trap as trap:
        return trap.message, trap.op, trap.array, trap.index
    return (float(out[0]),)


@pytest.mark.parametrize("check", [True, False, "strict"])
@pytest.mark.parametrize(("extent", "index", "negative"), [(8, 0, False), (8, 1, False), (8, 0, True), (20, 1, False)])
def test_called_functions_do_what_the_interpreter_does(
    called: None, extent: int, index: int, negative: bool, check: object
) -> None:
    if extent > 8 and check is False:
        pytest.skip("reads beyond the array")
    assert outcome("cpu", extent, index, negative, check) == outcome("interp", extent, index, negative, check)


def nest(depth: int) -> str:
    """Functions that each call the next one twice; the last one adds 1."""
    scalar = "tile<i32>"
    last = f"""experimental$func @f{depth}(%x: {scalar}) -> {scalar} {{
      %one = constant <i32: 1> : {scalar}
      %y = addi %x, %one : {scalar}
      return %y : {scalar}
    }}"""
    calls = [
        f"""experimental$func @f{level}(%x: {scalar}) -> {scalar} {{
          %y = experimental$call @f{level + 1}(%x) : ({scalar}) -> {scalar}
          %z = experimental$call @f{level + 1}(%y) : ({scalar}) -> {scalar}
          return %z : {scalar}
        }}"""
        for level in range(depth)
    ]
    return f"""cuda_tile.module @m {{
      {last}
      {"".join(calls)}
      entry @k(%p: tile<ptr<i32>>, %x: {scalar}) {{
        %r = experimental$call @f0(%x) : ({scalar}) -> {scalar}
        %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, {scalar} -> token
        return
      }}
    }}"""


@pytest.mark.parametrize("depth", [6, 16, 25])
def test_calls_that_multiply_do_not_multiply_code(depth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_anew(monkeypatch)
    found = np.zeros(1, np.int32)
    tileir.parse(nest(depth))["k"].launch(1, found, 7, target="cpu")
    assert found[0] == 7 + (1 << depth)
