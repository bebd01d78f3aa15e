"""The tests of atomics in the interpreter hold on the TTIR machine; every mode, type, order, scope and mask."""

import itertools
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

MODES = ("and", "or", "xor", "add", "max", "min", "umax", "umin", "xchg")
KINDS = [(mode, element) for mode in MODES for element in ("i32", "i64")]
KINDS += [("addf", element) for element in ("f16", "bf16", "f32", "f64")]
KINDS += [(mode, element) for mode in ("xchg", "cas") for element in ("f32", "f64")]
KINDS += [("cas", element) for element in ("i32", "i64")]
ORDERS = ("relaxed", "acquire", "release", "acq_rel")
SCOPES = {"tl_blk": "cta", "device": "gpu", "sys": "sys"}
DTYPES = {"i32": np.int32, "i64": np.int64, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32,
          "f64": np.float64}  # fmt: skip


def kernel(steps, count=64):
    """Each step (mode, element, order, scope, masked) updates the places that an array of its own says."""
    shape = f"{count}x" if count else ""
    lines, parameters = [], ["%mask: tile<ptr<i1>>"]

    def pointers(name, element):
        parameters.append(f"%{name}: tile<ptr<{element}>>")
        return pointers_to(name, element)

    def pointers_to(name, element):
        if not count:
            return f"%{name}"
        type = f"ptr<{element}>"
        lines.append(f"%{name}_1 = reshape %{name} : tile<{type}> -> tile<1x{type}>")
        lines.append(f"%{name}_2 = broadcast %{name}_1 : tile<1x{type}> -> tile<{shape}{type}>")
        lines.append(
            f"%{name}_3 = offset %{name}_2, %lane : tile<{shape}{type}>, tile<{shape}i32> -> tile<{shape}{type}>"
        )
        return f"%{name}_3"

    def load(name, element):
        place = pointers(name, element)
        source = f"tile<{shape}ptr<{element}>> -> tile<{shape}{element}>"
        lines.append(f"%{name}_v, %{name}_t = load_ptr_tko weak {place} : {source}, token")
        return f"%{name}_v"

    if count:
        lines.append(f"%lane = iota : tile<{count}xi32>")
    mask = pointers_to("mask", "i1")
    lines.append(f"%m, %mt = load_ptr_tko weak {mask} : tile<{shape}ptr<i1>> -> tile<{shape}i1>, token")
    lines.append("%token = make_token : token")
    token = "%token"
    for number, (mode, element, order, scope, masked) in enumerate(steps):
        memory, where, argument = f"p{number}", load(f"w{number}", "i32"), load(f"a{number}", element)
        parameters.append(f"%{memory}: tile<ptr<{element}>>")
        type = f"tile<{shape}ptr<{element}>>"
        base = f"%{memory}"
        if count:
            lines.append(f"%{memory}_1 = reshape %{memory} : tile<ptr<{element}>> -> tile<1xptr<{element}>>")
            lines.append(f"%{memory}_2 = broadcast %{memory}_1 : tile<1xptr<{element}>> -> {type}")
            base = f"%{memory}_2"
        lines.append(f"%{memory}_p = offset {base}, {where} : {type}, tile<{shape}i32> -> {type}")
        what = "atomic_cas_tko" if mode == "cas" else "atomic_rmw_tko"
        given = f"{load(f'c{number}', element)}, {argument}" if mode == "cas" else f"{mode}, {argument}"
        chosen, of_mask = (", %m", f", tile<{shape}i1>") if masked else ("", "")
        lines.append(
            f"%r{number}, %t{number} = {what} {order} {scope} %{memory}_p, {given}{chosen} token={token} "
            f": {type}, tile<{shape}{element}>{of_mask} -> tile<{shape}{element}>, token"
        )
        out = pointers(f"o{number}", element)
        lines.append(f"%s{number} = store_ptr_tko weak {out}, %r{number} : {type}, tile<{shape}{element}> -> token")
        token = f"%t{number}"
    body = "\n  ".join(lines)
    return tileir.parse(f"entry @k({', '.join(parameters)}) {{\n  {body}\n  return\n}}")["k"]


def numbers(random, element, count):
    if element[0] == "i":
        return random.integers(-100, 100, count).astype(DTYPES[element])
    return random.integers(-64, 64, count).astype(DTYPES[element])


def arguments(steps, count, distinct):
    random = np.random.default_rng(count)
    size = max(count, 1)
    args = [random.integers(0, 2, size).astype(np.bool_)]
    for mode, element, *_ in steps:
        places = random.permutation(size) if distinct else random.integers(0, max(size // 4, 1), size)
        memory = numbers(random, element, size)
        args += [places.astype(np.int32), numbers(random, element, size), memory]
        if mode == "cas":
            found = memory[places]
            args.append(np.where(random.integers(0, 2, size) == 1, found, found + found.dtype.type(1)))
        args.append(np.zeros(size, DTYPES[element]))
    return args


STEPS = [
    (mode, element, order, scope, masked)
    for number, (mode, element) in enumerate(KINDS)
    for order, scope, masked in itertools.islice(
        itertools.product(ORDERS, ["tl_blk", "device"], [False, True]), number % 5, 16, 5
    )
]


@pytest.mark.parametrize("count", sampled([32, 0, 1, 512], 4))
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_every_kind_of_update_leaves_and_gives_what_it_does_in_the_interpreter(count, arch):
    code, args = kernel(STEPS, count), arguments(STEPS, count, distinct=True)
    first, second = outcome(code, (1,), args, "interp"), ttir.outcome(code, (1,), args, arch)
    for number, (expected, found) in enumerate(zip(first.arrays, second.arrays)):
        assert_equal(expected, found, True, f"array {number}")


def test_equal_addresses_in_one_tile_are_all_served():
    steps = [step for step in STEPS if step[0] != "cas"]
    code, args = kernel(steps, 128), arguments(steps, 128, distinct=False)
    first, second = outcome(code, (1,), args, "interp"), ttir.outcome(code, (1,), args, "sm_90")
    for number, (expected, found) in enumerate(zip(first.arrays, second.arrays)):
        assert_equal(expected, found, True, f"array {number}")


def test_compare_and_swap_compares_bits(gpu_code):
    steps = [("cas", "f32", "relaxed", "device", False)]
    nan = np.float32("nan")
    memory, expected = np.array([0.0, -0.0, nan, 1.0], np.float32), np.array([-0.0, -0.0, nan, 1.0], np.float32)
    args = [np.ones(4, np.bool_), np.arange(4, dtype=np.int32), np.full(4, 9, np.float32), memory, expected]
    after = gpu_code.outcome(kernel(steps, 4), (1,), [*args, np.zeros(4, np.float32)], "sm_90").arrays
    assert after[3].tolist() == [0, 9, 9, 9]
    assert after[5].tobytes() == memory.tobytes()


# ------------------------------------------------------------ machine code


def ptx_of(code, arch):
    pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")
    from tileir.gpu.compiler import CompileOptions, compile_ttir

    made = compile_ttir(ttir.lowered(code, arch).text, arch_named(arch), CompileOptions(), ["ptx", "cubin"])
    assert made.binary
    return made.texts["ptx"]


PTX_NAMES = {
    ("and", "i32"): "and.b32", ("or", "i64"): "or.b64", ("xor", "i32"): "xor.b32", ("add", "i64"): "add.u64",
    ("max", "i32"): "max.s32", ("min", "i64"): "min.s64", ("umax", "i32"): "max.u32", ("umin", "i64"): "min.u64",
    ("xchg", "i32"): "exch.b32", ("xchg", "f64"): "exch.b64", ("addf", "f16"): "add.noftz.f16",
    ("addf", "f32"): "add.f32", ("addf", "f64"): "add.f64",
}  # fmt: skip


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("count", sampled([32, 0, 512], 3))
def test_instruction_order_and_scope_reach_the_machine_code(arch, count):
    cycle = itertools.cycle(itertools.product(ORDERS, SCOPES))
    steps = [(mode, element, *next(cycle), masked) for mode, element in PTX_NAMES for masked in (False, True)]
    text = ptx_of(kernel(steps, count), arch)
    for mode, element, order, scope, _ in steps:
        name = re.escape(PTX_NAMES[mode, element]).replace("f16", r"(v\d\.)?f16(x2)?")
        assert re.search(rf"atom\.global\.{SCOPES[scope]}\.{order}\.{name.replace('f32', '(v2.|v4.)?f32')}", text), (
            mode,
            order,
        )
    unguarded = [line for line in text.splitlines() if "atom." in line and not line.strip().startswith("@")]
    assert count == 512 or not unguarded


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("count", [0, 32])
def test_compare_and_swap_is_done_by_one_thread_also_with_a_mask(arch, count):
    steps = [
        ("cas", element, order, "sys", masked) for element in ("i32", "f64") for order in ORDERS for masked in (0, 1)
    ]
    lines = [line.strip() for line in ptx_of(kernel(steps, count), arch).splitlines() if ".cas." in line]
    assert len(lines) == len(steps) and all(line.startswith("@%p") for line in lines)
    for order in ORDERS:
        for size in (32, 64):
            assert sum(f"atom.global.{order}.sys.cas.b{size}" in line for line in lines) == 2


@pytest.mark.parametrize(("order", "before", "after"), [
    ("relaxed", False, False), ("acquire", False, True), ("release", True, False), ("acq_rel", True, True),
])  # fmt: skip
def test_what_one_thread_publishes_or_finds_holds_for_all(order, before, after):
    """The data comes before a release behind a barrier, and after an acquire."""
    store = "%a = store_ptr_tko weak %p3, %data : tile<128xptr<f32>>, tile<128xf32> -> token"
    text = f"""entry @k(%flag: tile<ptr<i32>>, %p: tile<ptr<f32>>, %q: tile<ptr<f32>>) {{
  %lane = iota : tile<128xi32>
  %one = constant <i32: 1> : tile<i32>
  %data = constant <f32: 1.0> : tile<128xf32>
  %p1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %p2 = broadcast %p1 : tile<1xptr<f32>> -> tile<128xptr<f32>>
  %p3 = offset %p2, %lane : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
  %q1 = reshape %q : tile<ptr<f32>> -> tile<1xptr<f32>>
  %q2 = broadcast %q1 : tile<1xptr<f32>> -> tile<128xptr<f32>>
  %q3 = offset %q2, %lane : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
  {store if before else "%a = make_token : token"}
  %old, %t = atomic_rmw_tko {order} device %flag, add, %one token=%a : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  %x, %b = load_ptr_tko weak %q3{" token=%t" if after else ""} : tile<128xptr<f32>> -> tile<128xf32>, token
  %s = store_ptr_tko weak %p3, %x : tile<128xptr<f32>>, tile<128xf32> -> token
  return
}}"""
    found = re.findall(
        r"bar\.sync|(?:red|atom)\.global\.gpu\.\w+|ld\.global|st\.global", ptx_of(tileir.parse(text)["k"], "sm_90")
    )
    update = next(place for place, name in enumerate(found) if name.endswith(f".gpu.{order}"))
    assert not before or "bar.sync" in found[found.index("st.global") : update]
    assert not after or "bar.sync" in found[update : found.index("ld.global", update)]


def test_sums_of_bf16_are_loops_below_sm_90_and_then_of_one_device():
    step = ("addf", "bf16", "acq_rel", "device", False)
    text = ptx_of(kernel([step], 32), "sm_80")
    assert "cas.b32" in text and "fence.acq_rel.gpu" in text
    assert "atom.global.gpu.acq_rel.add.noftz.bf16" in ptx_of(kernel([step], 32), "sm_90")
    wide = kernel([("addf", "bf16", "relaxed", "sys", False)], 32)
    assert "atom.global.sys.relaxed.add.noftz.bf16" in ptx_of(wide, "sm_90")
    with pytest.raises(UnsupportedError, match="'atomic_rmw_tko' adds bf16 with scope sys only from sm_90 on"):
        ttir.lowered(wide, "sm_89")
