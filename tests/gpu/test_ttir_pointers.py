"""The tests of pointers in the interpreter hold on the TTIR machine; strong accesses, `alloca`, other kernels."""

import itertools
import re

import numpy as np
import pytest

import tileir
from tests.targets import ttir
from tileir.gpu.arch import arch_named
from tileir.gpu.executable import BlockMemory
from tileir.ir import types as t
from tileir.ir.storage import dtype_of


def names(program):
    return [instruction.name for instruction in program.function.body.walk()]


def found_by(program, name):
    return [instruction for instruction in program.function.body.walk() if instruction.name == name]


# ------------------------------------------------------------ loads and stores

MOVED = """entry @k(%a: tile<ptr<E>>, %b: tile<ptr<E>>, %n: tile<i32>) {
  %lane = iota : tile<64xi32>
  %n1 = reshape %n : tile<i32> -> tile<1xi32>
  %n2 = broadcast %n1 : tile<1xi32> -> tile<64xi32>
  %mask = cmpi less_than %lane, %n2, signed : tile<64xi32> -> tile<64xi1>
  %a1 = reshape %a : tile<ptr<E>> -> tile<1xptr<E>>
  %a2 = broadcast %a1 : tile<1xptr<E>> -> tile<64xptr<E>>
  %pa = offset %a2, %lane : tile<64xptr<E>>, tile<64xi32> -> tile<64xptr<E>>
  %b1 = reshape %b : tile<ptr<E>> -> tile<1xptr<E>>
  %b2 = broadcast %b1 : tile<1xptr<E>> -> tile<64xptr<E>>
  %pb = offset %b2, %lane : tile<64xptr<E>>, tile<64xi32> -> tile<64xptr<E>>
  %x, %t = load_ptr_tko LOAD %pa, %mask : tile<64xptr<E>>, tile<64xi1> -> tile<64xE>, token
  %u = store_ptr_tko STORE %pb, %x, %mask token=%t : tile<64xptr<E>>, tile<64xE>, tile<64xi1> -> token
  %last = offset %a, %n : tile<ptr<E>>, tile<i32> -> tile<ptr<E>>
  %end = offset %b, %n : tile<ptr<E>>, tile<i32> -> tile<ptr<E>>
  %y, %v = load_ptr_tko LOAD %last : tile<ptr<E>> -> tile<E>, token
  %w = store_ptr_tko STORE %end, %y token=%v : tile<ptr<E>>, tile<E> -> token
  return
}"""
ELEMENTS = [t.I1, t.I8, t.I16, t.I32, t.I64, t.F16, t.BF16, t.F32, t.F64, t.TF32, t.F8E4M3FN, t.F8E5M2, t.F8E8M0FNU]
PAIRS = [("weak", "weak"), ("relaxed tl_blk", "relaxed tl_blk"), ("acquire device", "release sys")]


def moved(element, load, store):
    text = MOVED.replace("<E>", f"<{element.name}>").replace("xE>", f"x{element.name}>").replace("LOAD", load)
    return tileir.parse(text.replace("STORE", store))["k"]


@pytest.mark.parametrize("element", ELEMENTS, ids=lambda element: element.name)
@pytest.mark.parametrize(("load", "store"), PAIRS)
def test_elements_go_where_they_should_as_strongly_as_asked(gpu_code, element, load, store):
    dtype = dtype_of(element)
    random = np.random.default_rng(1).integers(0, 256, 64 * dtype.itemsize).astype(np.uint8)
    a = random.view(dtype).copy() if dtype != np.bool_ else random > 127
    if element is t.TF32:
        a.view(np.uint32)[...] &= np.uint32(0xFFFFE000)
    b = np.zeros(64, dtype)
    arch = "sm_90" if "8" in element.name and element.is_float else "sm_80"
    after = gpu_code.outcome(moved(element, load, store), (1,), [a, b, 37], arch).arrays
    assert after[1][:38].tobytes() == a[:38].tobytes()
    assert not after[1][38:].view(np.uint8).any()


def test_tf32_is_read_without_its_low_bits(gpu_code):
    a, b = np.full(64, 0x3F801FFF, np.uint32).view(np.float32), np.zeros(64, np.float32)
    after = gpu_code.outcome(moved(t.TF32, "weak", "weak"), (1,), [a, b, 63], "sm_80").arrays
    assert (after[1].view(np.uint32) == 0x3F800000).all()


def test_any_byte_other_than_0_is_true_and_is_stored_as_1(gpu_code):
    text = MOVED.replace("<E>", "<i1>").replace("xE>", "xi1>").replace("LOAD", "weak").replace("STORE", "weak")
    a, b = np.full(64, 0x80, np.uint8), np.zeros(64, np.uint8)
    after = gpu_code.outcome(tileir.parse(text)["k"], (1,), [a.view(np.bool_), b.view(np.bool_), 63], "sm_80").arrays
    assert (after[1].view(np.uint8) == 1).all()


def ptx_of(kernel, arch):
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    from tileir.gpu.compiler import CompileOptions, compile_ttir

    made = compile_ttir(ttir.lowered(kernel, arch).text, arch_named(arch), CompileOptions(), ["ptx", "cubin"])
    assert made.binary
    return made.texts["ptx"]


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_orderings_and_scopes_reach_the_machine_code(arch):
    text = ptx_of(moved(t.F16, "acquire device", "release sys"), arch)
    order = re.findall(r"ld\.relaxed\.gpu|fence\.\w+\.\w+|bar\.sync|st\.relaxed\.sys", text)
    acquire, release = ("fence.acq_rel", "fence.acq_rel") if arch == "sm_80" else ("fence.acquire", "fence.release")
    after = order.index(f"{acquire}.gpu")
    assert order.index("ld.relaxed.gpu") < after < order.index("bar.sync", after) < order.index(f"{release}.sys")
    assert order.index(f"{release}.sys") < order.index("st.relaxed.sys")
    text = ptx_of(moved(t.I8, "relaxed tl_blk", "relaxed tl_blk"), arch)
    assert "ld.relaxed.cta.global.b8" in text and "st.relaxed.cta.global.b8" in text and "fence" not in text


def test_a_strong_scalar_is_loaded_and_stored_by_one_thread():
    text = ptx_of(moved(t.F32, "relaxed device", "relaxed device"), "sm_90")
    for line in text.splitlines():
        if "relaxed.gpu" in line:
            assert line.strip().startswith("@%p"), line


def test_weak_accesses_of_neighbours_are_vectors():
    whole = MOVED.replace("tile<64", "tile<1024").replace("<E>", "<f32>").replace("xE>", "xf32>")
    whole = re.sub(r", %mask|, tile<1024xi1>(?= ->)", "", whole).replace("LOAD", "weak").replace("STORE", "weak")
    text = ptx_of(tileir.parse(whole)["k"], "sm_90")
    assert "ld.global.v4" not in text  # nothing is known of the alignment
    kernel = tileir.parse(whole)["k"]
    from tileir.gpu.compiler import CompileOptions, compile_ttir
    from tileir.gpu.ttir.lowering import ParameterFacts

    program = ttir.lowered(kernel, "sm_90", [ParameterFacts(16)] * 3)
    text = compile_ttir(program.text, arch_named("sm_90"), CompileOptions(), ["ptx"]).texts["ptx"]
    assert "ld.global.v4" in text and "st.global.v4" in text


# ------------------------------------------------------------ alloca

PLACES = """entry @k(%out: tile<ptr<i64>>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %nx, %ny, %nz = get_num_tile_blocks : tile<i32>
  %zy = muli %z, %ny : tile<i32>
  %zy1 = addi %zy, %y : tile<i32>
  %row = muli %zy1, %nx : tile<i32>
  %block = addi %row, %x : tile<i32>
  %three = constant <i32: 3> : tile<i32>
  %at = muli %block, %three : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %at1 = addi %at, %one : tile<i32>
  %at2 = addi %at1, %one : tile<i32>
  %a = alloca num_elem = 5, alignment = 4 : tile<ptr<f32>>
  %b = alloca num_elem = 3, alignment = 256 global : tile<ptr<i8>>
  %c = alloca num_elem = 0, alignment = 8 : tile<ptr<f64>>
  %ai = ptr_to_int %a : tile<ptr<f32>> -> tile<i64>
  %bi = ptr_to_int %b : tile<ptr<i8>> -> tile<i64>
  %ci = ptr_to_int %c : tile<ptr<f64>> -> tile<i64>
  %oa = offset %out, %at : tile<ptr<i64>>, tile<i32> -> tile<ptr<i64>>
  %ob = offset %out, %at1 : tile<ptr<i64>>, tile<i32> -> tile<ptr<i64>>
  %oc = offset %out, %at2 : tile<ptr<i64>>, tile<i32> -> tile<ptr<i64>>
  %ta = store_ptr_tko weak %oa, %ai : tile<ptr<i64>>, tile<i64> -> token
  %tb = store_ptr_tko weak %ob, %bi : tile<ptr<i64>>, tile<i64> -> token
  %tc = store_ptr_tko weak %oc, %ci : tile<ptr<i64>>, tile<i64> -> token
  return
}"""


def test_every_block_has_memory_of_its_own_as_aligned_as_asked(gpu_code):
    grid = (3, 2, 2)
    out = np.zeros(36, np.int64)
    a, b, c = gpu_code.outcome(tileir.parse(PLACES)["k"], grid, [out], "sm_90").arrays[0].reshape(-1, 3).T
    assert (a % 4 == 0).all() and (b % 256 == 0).all() and (c % 8 == 0).all()
    used = sorted([(place, place + 20) for place in a] + [(place, place + 3) for place in b])
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(used))


def test_blocks_ask_for_as_much_memory_as_they_use():
    program = ttir.lowered(tileir.parse(PLACES)["k"], "sm_80")
    (memory,) = (hidden for hidden in program.hidden if isinstance(hidden, BlockMemory))
    assert 23 <= memory.size <= 5 * 4 + 3 + 256 + 32


# ------------------------------------------------------------ other kernels and addresses

NEIGHBOURS = """entry @k(%p: tile<ptr<i32>>) {
  %w = gdc_wait_tko -> token
  %x, %t = load_ptr_tko weak %p token=%w : tile<ptr<i32>> -> tile<i32>, token
  %u = store_ptr_tko weak %p, %x token=%t : tile<ptr<i32>>, tile<i32> -> token
  %f = memory_fence_alias_tko %u
  %y, %v = load_ptr_tko weak %p token=%f : tile<ptr<i32>> -> tile<i32>, token
  %l = gdc_launch_dependents_tko token = %v -> token
  %z = store_ptr_tko weak %p, %y token=%l : tile<ptr<i32>>, tile<i32> -> token
  return
}"""


@pytest.mark.parametrize(("arch", "waits"), [("sm_80", False), ("sm_90", True), ("sm_100", True)])
def test_a_kernel_waits_for_the_one_before_it_where_they_may_overlap(arch, waits):
    kernel = tileir.parse(NEIGHBOURS)["k"]
    found = re.findall(r"griddepcontrol\.\w+|fence\.proxy\.alias|ld\.global|st\.global|bar\.sync", ptx_of(kernel, arch))
    wait, launch = ("griddepcontrol.wait",), ("griddepcontrol.launch_dependents",)
    accesses = ("bar.sync", "ld.global", "bar.sync", "st.global", "bar.sync", "fence.proxy.alias", "ld.global")
    expected = wait * waits + accesses + launch * waits + ("bar.sync", "st.global")
    assert tuple(found) == expected
    assert ttir.outcome(kernel, (1,), [np.array([7], np.int32)], arch).arrays[0][0] == 7
