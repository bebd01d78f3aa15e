"""Multicast memory of one replica on the TTIR machine, and the instructions for it in the machine code."""

import re

import ml_dtypes
import numpy as np
import pytest

import tileir
from tests.differential import assert_equal, outcome
from tests.targets import ttir
from tests.thorough import sampled
from tileir.gpu.arch import arch_named
from tileir.ir.diagnostics import UnsupportedError

DTYPES = {"i32": np.int32, "i64": np.int64, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32,
          "f64": np.float64}  # fmt: skip
INTEGER_KINDS = ("add", "min", "max", "and", "or", "xor", "umin", "umax")
LOADS = [(element, kind) for element in ("i32", "i64") for kind in INTEGER_KINDS]
LOADS += [(element, kind) for element in ("f16", "bf16") for kind in ("add", "min", "max")]
LOADS += [("f32", "add"), ("f64", "add")]
REDUCTIONS = [(element, kind) for element, kind in LOADS if element[0] == "i" or kind == "add"]


def kernel(element, *steps):
    """Steps ``(what, how, kind)`` on tile (1, 1) of a matrix of 7 x 40 in tiles of 4 x 32; loads go to %out."""
    shared = f"tensor_view<7x40x{element}, strides=[40,1], #cuda_tile.ptr_attr<multicast>>"
    plain = f"tensor_view<7x40x{element}, strides=[40,1]>"
    out = f"tensor_view<?x4x32x{element}, strides=[128,32,1]>"
    view, source = f"partition_view<tile=(4x32), {shared}>", f"partition_view<tile=(4x32), {plain}>"
    target = f"partition_view<tile=(1x4x32), {out}>"
    tile = f"tile<4x32x{element}>"
    lines = []
    token = "t"
    for number, (what, how, kind) in enumerate(steps):
        attributes = f"attributes {{reduction = #cuda_tile.multimem_reduction_kind<{kind}>}} " if kind else ""
        if what == "load":
            lines += [
                f"%x{number}, %t{number} = multimem_load_reduce_view_tko {how} %v[%one, %one] token = %{token} "
                f"{attributes}: {view}, tile<i32>, token -> {tile}, token",
                f"%y{number} = reshape %x{number} : {tile} -> tile<1x4x32x{element}>",
                f"%n{number} = constant <i32: {number}> : tile<i32>",
                f"%s{number} = store_view_tko weak %y{number}, %o[%n{number}, %zero, %zero] "
                f": tile<1x4x32x{element}>, {target}, tile<i32> -> token",
            ]
        else:
            name = "multimem_reduce_view_tko" if what == "reduce" else "multimem_store_view_tko"
            lines.append(
                f"%t{number} = {name} {how} %v, %value[%one, %one] token = %{token} "
                f"{attributes}: {view}, {tile}, tile<i32>, token -> token"
            )
        token = f"t{number}"
    body = "\n  ".join(lines)
    pointer = f"tile<ptr<{element}>>"
    return tileir.parse(
        f"""entry @k(%p: tile<ptr<{element}, <multicast>>>, %q: {pointer}, %out: {pointer}) {{
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %count = constant <i32: {len(steps)}> : tile<i32>
  %t = make_token : token
  %tv = make_tensor_view %p, shape = [7, 40], strides = [40, 1] : tile<ptr<{element}, <multicast>>> -> {shared}
  %v = make_partition_view %tv : {view}
  %tw = make_tensor_view %q, shape = [7, 40], strides = [40, 1] : {pointer} -> {plain}
  %w = make_partition_view %tw : {source}
  %to = make_tensor_view %out, shape = [%count, 4, 32], strides = [128, 32, 1] : {pointer}, tile<i32> -> {out}
  %o = make_partition_view %to : {target}
  %value, %tl = load_view_tko weak %w[%zero, %zero] : {source}, tile<i32> -> {tile}, token
  {body}
  return
}}"""
    )["k"]


def arguments(element, steps):
    random = np.random.default_rng(3)
    shapes = [(7, 40), (7, 40), (len(steps), 4, 32)]
    return [random.integers(-50, 50, shape).astype(DTYPES[element]) for shape in shapes]


def assert_same(element, *steps):
    code, args = kernel(element, *steps), arguments(element, steps)
    first, second = outcome(code, (1,), args, "interp"), ttir.outcome(code, (1,), args, "sm_90")
    for number, (expected, found) in enumerate(zip(first.arrays, second.arrays)):
        assert_equal(expected, found, True, f"array {number}")


@pytest.mark.parametrize(("element", "kind"), LOADS)
def test_a_load_of_one_replica_gives_what_is_there(element, kind):
    assert_same(element, ("load", "weak", kind), ("load", "relaxed device", kind), ("load", "acquire sys", kind))


@pytest.mark.parametrize(("element", "kind"), REDUCTIONS)
def test_a_reduction_takes_place_once_for_each_element(element, kind):
    assert_same(element, ("reduce", "relaxed device", kind), ("load", "weak", "add"), ("reduce", "release sys", kind))


@pytest.mark.parametrize("element", DTYPES)
def test_a_store_changes_the_elements_of_the_tile_and_no_others(element):
    assert_same(element, ("store", "weak", ""), ("load", "weak", "add"))


@pytest.mark.parametrize("element", ["i32", "i64", "f32", "f64"])
def test_a_strong_store_is_one_instruction(element):
    assert_same(element, ("store", "release sys", ""), ("store", "relaxed tl_blk", ""))


def test_elements_of_16_bits_are_stored_weakly_only():
    with pytest.raises(UnsupportedError, match="cannot store f16 with an ordering other than weak: no GPU has"):
        ttir.lowered(kernel("f16", ("store", "release sys", "")), "sm_100")


def test_there_is_no_multicast_memory_before_sm_90():
    with pytest.raises(UnsupportedError, match="needs multicast memory, which GPUs have from sm_90 on"):
        ttir.lowered(kernel("f32", ("load", "weak", "add")), "sm_89")


@pytest.mark.parametrize("arch", ["sm_90", "sm_100"])
@pytest.mark.parametrize("element", sampled(DTYPES, 3))
def test_the_instructions_are_those_of_ptx(arch, element):
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    from tileir.gpu.compiler import CompileOptions, compile_ttir

    reductions = [kind for one, kind in REDUCTIONS if one == element]
    steps = [("load", how, kind) for one, kind in LOADS if one == element for how in ("weak", "acquire sys")]
    steps += [("reduce", "release device", kind) for kind in reductions] + [("store", "weak", "")]
    program = ttir.lowered(kernel(element, *steps), arch)
    made = compile_ttir(program.text, arch_named(arch), CompileOptions(), ["ptx", "cubin"])
    found = set(re.findall(r"multimem\.[\w.]+", made.texts["ptx"]))
    name = f"{element}x2" if element in ("f16", "bf16") else f"u{element[1:]}" if element[0] == "i" else element
    assert made.binary
    assert {f"multimem.ld_reduce.weak.global.add.{name}", f"multimem.ld_reduce.acquire.sys.global.add.{name}"} <= found
    assert f"multimem.red.release.gpu.global.add.{name}" in found
    stores = {"multimem.red.relaxed.cta.global.and.b32", "multimem.red.relaxed.cta.global.or.b32"}
    assert (stores if name.endswith("x2") else {f"multimem.st.weak.global.b{element.lstrip('if')}"}) <= found
