"""Native code stops before it touches memory that is not the launch's, in the words of the interpreter."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import tileir
from tileir.cpu.emit.record import CheckLevel
from tileir.cpu.run.program import lowered
from tileir.host import limits
from tileir.ir.effects import AccessTrait
from tileir.ops import OPS

VIEW = "partition_view<tile=(4x2), tensor_view<64x16xf32, strides=[16,1]>>"
CAST_TENSOR = "tensor_view<64x16xf32, strides=[16,1], #cuda_tile.ptr_attr<multicast>>"
CAST = f"partition_view<tile=(4x2), {CAST_TENSOR}>"
TENSOR = "%t = make_tensor_view %p, shape = [64, 16], strides = [16, 1] : tensor_view<64x16xf32, strides=[16,1]>"
TILES = f"""
  {TENSOR}
  %v = make_partition_view %t : {VIEW}
  %x = constant <f32: 1.0> : tile<4x2xf32>
  %i = constant <i32: 3> : tile<i32>
"""
POINTERS = """
  %lane = iota : tile<8xi32>
  %p_1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %p_8 = broadcast %p_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
  %at = offset %p_8, %lane : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
  %x = constant <f32: 1.0> : tile<8xf32>
"""
ROWS = f"""
  {TENSOR}
  %rows = constant <i32: [1, 9, 2, 3]> : tile<4xi32>
  %c = constant <i32: 0> : tile<i32>
  %x = constant <f32: 1.0> : tile<4x2xf32>
"""
MULTICAST = f"""
  %t = make_tensor_view %p, shape = [64, 16], strides = [16, 1] : tile<ptr<f32, <multicast>>> -> {CAST_TENSOR}
  %v = make_partition_view %t : {CAST}
  %x = constant <f32: 1.0> : tile<4x2xf32>
  %i = constant <i32: 3> : tile<i32>
"""
FAULTY = {
    "load_ptr_tko": POINTERS + "%y, %u = load_ptr_tko weak %at : tile<8xptr<f32>> -> tile<8xf32>, token",
    "store_ptr_tko": POINTERS + "%u = store_ptr_tko weak %at, %x : tile<8xptr<f32>>, tile<8xf32> -> token",
    "atomic_rmw_tko": POINTERS
    + "%y, %u = atomic_rmw_tko relaxed device %at, addf, %x : tile<8xptr<f32>>, tile<8xf32> -> tile<8xf32>, token",
    "atomic_cas_tko": POINTERS
    + "%y, %u = atomic_cas_tko relaxed device %at, %x, %x : tile<8xptr<f32>>, tile<8xf32> -> tile<8xf32>, token",
    "load_view_tko": TILES + f"%y, %u = load_view_tko weak %v[%i, %i] : {VIEW}, tile<i32> -> tile<4x2xf32>, token",
    "store_view_tko": TILES + f"%u = store_view_tko weak %x, %v[%i, %i] : tile<4x2xf32>, {VIEW}, tile<i32> -> token",
    "atomic_red_view_tko": TILES
    + f"%u = atomic_red_view_tko relaxed device %v[%i, %i], addf, %x : tile<4x2xf32>, {VIEW}, tile<i32> -> token",
    "multimem_load_reduce_view_tko": MULTICAST
    + f"%y, %u = multimem_load_reduce_view_tko weak %v[%i, %i] : {CAST}, tile<i32> -> tile<4x2xf32>, token",
    "multimem_reduce_view_tko": MULTICAST
    + f"%u = multimem_reduce_view_tko relaxed sys %v, %x[%i, %i] : {CAST}, tile<4x2xf32>, tile<i32> -> token",
    "multimem_store_view_tko": MULTICAST
    + f"%u = multimem_store_view_tko weak %v, %x[%i, %i] : {CAST}, tile<4x2xf32>, tile<i32> -> token",
    "experimental$gather_load": ROWS + "%y = experimental$gather_load %t, %rows, [%c] <{dim = 0 : i64}> : "
    "tensor_view<64x16xf32, strides=[16,1]>, tile<4xi32>, tile<i32> -> tile<4x2xf32>",
    "experimental$scatter_store": ROWS + "%u = experimental$scatter_store %x, %t, %rows, [%c] <{dim = 0 : i64}> : "
    "tile<4x2xf32>, tensor_view<64x16xf32, strides=[16,1]>, tile<4xi32>, tile<i32> -> token",
}


def test_every_operation_that_accesses_memory_has_a_case() -> None:
    assert {name for name, op in OPS.items() if op.spec.trait(AccessTrait)} == FAULTY.keys()


def trap(kernel: tileir.Kernel, *arguments: object) -> tuple[object, ...]:
    """Return native code's report of a faulty launch, which must equal the interpreter's."""
    found, expected = (_parts(kernel, arguments, target) for target in ("cpu", "interp"))
    assert found == expected
    return found


def _parts(kernel: tileir.Kernel, arguments: tuple[object, ...], target: str) -> tuple[object, ...]:
    with pytest.raises(tileir.Trap) as caught:
        kernel.launch(1, *arguments, target=target)
    found = caught.value
    return (found.message, found.op, found.array, found.index, found.block, found.kernel)


@pytest.mark.parametrize("name", FAULTY)
def test_an_access_outside_its_array_traps_as_in_the_interpreter(name: str) -> None:
    pointer = "ptr<f32, <multicast>>" if name.startswith("multimem") else "ptr<f32>"
    kernel = tileir.parse(f"entry @k(%p: tile<{pointer}>) {{\n{FAULTY[name]}\n  return\n}}")["k"]
    array = np.zeros(7, np.float32)
    found = trap(kernel, array)
    assert found[1:3] == (name, "p")
    assert not array.any() or name == "atomic_rmw_tko"


@pytest.mark.parametrize(
    ("predicate", "type", "value"),
    [
        ("div_by<8>", "i32", 12),
        ("bounded<0, ?>", "i32", -1),
        ("bounded<?, 5>", "i64", 6),
    ],
)
def test_a_broken_promise_traps_as_in_the_interpreter(predicate: str, type: str, value: int) -> None:
    kernel = tileir.parse(f"entry @k(%n: tile<{type}>) {{\n  %0 = assume {predicate}, %n : tile<{type}>\n  return\n}}")[
        "k"
    ]
    trap(kernel, value)
    kernel.launch(1, value, check=False)


@pytest.mark.parametrize(
    ("predicate", "values"),
    [
        ("div_by<4>", [0, 4, 6, 8]),
        ("div_by<8, every 2 along 0>", [0, 1, 8, 10]),
        ("same_elements<[2]>", [3, 3, 4, 5]),
        ("bounded<-1, 3>", [-1, 3, 4, 0]),
    ],
)
def test_a_promise_about_a_tile_names_the_first_element(predicate: str, values: list[int]) -> None:
    text = f"""entry @k() {{
      %x = constant <i32: {values}> : tile<4xi32>
      %0 = assume {predicate}, %x : tile<4xi32>
      return
    }}"""
    kernel = tileir.parse(text)["k"]
    trap(kernel)


def test_a_dynamic_extent_beyond_63_bits_traps_as_in_the_interpreter() -> None:
    text = """entry @k(%p: tile<ptr<f32>>, %n: tile<i64>) {
      %t = make_tensor_view %p, shape = [%n], strides = [1] : tile<i64> -> tensor_view<?xf32, strides=[1]>
      return
    }"""
    kernel, array = tileir.parse(text)["k"], np.zeros(4, np.float32)
    trap(kernel, array, -2)


@pytest.mark.parametrize("extent", [1 << 62, (1 << 63) - 1])
def test_a_view_that_claims_more_than_memory_has_traps_where_it_is_used(extent: int) -> None:
    text = """entry @k(%p: tile<ptr<f32>>, %n: tile<i64>, %i: tile<i64>) {
      %t = make_tensor_view %p, shape = [%n], strides = [%n] : tile<i64> -> tensor_view<?xf32, strides=[?]>
      %v = make_partition_view %t : partition_view<tile=(4), tensor_view<?xf32, strides=[?]>>
      %x, %u = load_view_tko weak %v[%i] : partition_view<tile=(4), tensor_view<?xf32, strides=[?]>>, tile<i64>
        -> tile<4xf32>, token
      return
    }"""
    kernel, array = tileir.parse(text)["k"], np.zeros(4, np.float32)
    for index in (0, 1, 1 << 40, (1 << 60) - 1):
        trap(kernel, array, extent, index)


@pytest.mark.parametrize(
    ("index", "stride"),
    [
        (1 << 58, 4),
        (1 << 57, 8),
        ((1 << 60) - 1, 4),
        (1 << 60, 1),
        (0, 1 << 61),
        (0, 1 << 60),
        (0, 1 << 59),
        (0, 1 << 58),
    ],
)
@pytest.mark.parametrize("element", ["f32", "i8", "f64"])
def test_a_tile_whose_bytes_would_wrap_around_memory_back_into_the_array_traps(
    element: str, index: int, stride: int
) -> None:
    tensor, number = f"tensor_view<?x{element}, strides=[?]>", "1" if element == "i8" else "1.0"
    view = f"partition_view<tile=(4), {tensor}>"
    text = f"""entry @k(%p: tile<ptr<{element}>>, %n: tile<i64>, %s: tile<i64>, %i: tile<i64>) {{
      %t = make_tensor_view %p, shape = [%n], strides = [%s] : tile<i64> -> {tensor}
      %v = make_partition_view %t : {view}
      %x = constant <{element}: {number}> : tile<4x{element}>
      %u = store_view_tko weak %x, %v[%i] : tile<4x{element}>, {view}, tile<i64> -> token
      return
    }}"""
    array = np.zeros(16, {"f32": np.float32, "f64": np.float64, "i8": np.int8}[element])
    trap(tileir.parse(text)["k"], array, (1 << 62) + 16, stride, index)
    assert not array.any()


def claimed(rank: int, width: int) -> tileir.Kernel:
    """A kernel that loads the first two elements along dimension 0 of a view with dynamic extents and strides."""
    sizes = [f"%{letter}{dim}" for letter in "ns" for dim in range(rank)]
    tensor, tile = f"tensor_view<{'?x' * rank}f32, strides=[{','.join('?' * rank)}]>", "x".join("2" + "1" * (rank - 1))
    view = f"partition_view<tile=({tile}), {tensor}>"
    parameters = ", ".join(f"{size}: tile<i{width}>" for size in sizes)
    shape, strides = ", ".join(sizes[:rank]), ", ".join(sizes[rank:])
    return tileir.parse(f"""entry @k(%p: tile<ptr<f32>>, {parameters}) {{
      %t = make_tensor_view %p, shape = [{shape}], strides = [{strides}] : tile<i{width}> -> {tensor}
      %v = make_partition_view %t : {view}
      %i = constant <i32: 0> : tile<i32>
      %x, %u = load_view_tko weak %v[{", ".join(["%i"] * rank)}] : {view}, tile<i32> -> tile<{tile}xf32>, token
      return
    }}""")["k"]


@pytest.mark.parametrize(
    ("width", "extents", "strides"),
    [
        (32, (3 << 30 | 1, 1 << 31 | 1, 3 << 30 | 1), (3 << 30, 1 << 31, 1 << 30)),  # 2^64 to the last element
        (64, (1 << 32 | 1,), (1 << 32,)),
        (64, ((1 << 62) + 1, 3), (2, 1 << 62)),
        (32, ((1 << 32) - 1, 2), ((1 << 32) - 1, 1)),
        (32, (5,), (1,)),
        (32, (2, 2), (3, 2)),
    ],
)
def test_a_view_whose_claim_wraps_or_is_a_little_too_large_traps(
    width: int, extents: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    sizes = np.array([*extents, *strides], np.uint64).astype(f"u{width // 8}").view(f"i{width // 8}").tolist()
    trap(claimed(len(extents), width), np.zeros(1, np.float32), *sizes)


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("extents", [(0, 5), (5, 0), (0, 0)])
def test_a_view_without_elements_may_claim_anything(width: int, extents: tuple[int, int]) -> None:
    claimed(2, width).launch(1, np.zeros(1, np.float32), *extents, 1 << 30, 1)


LANES = """entry @k(%p: tile<ptr<{given}>>, %at: tile<ptr<i32>>) {{
  %lane = iota : tile<4xi32>
  %at_1 = reshape %at : tile<ptr<i32>> -> tile<1xptr<i32>>
  %at_4 = broadcast %at_1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
  %at_all = offset %at_4, %lane : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
  %rows, %t0 = load_ptr_tko weak %at_all : tile<4xptr<i32>> -> tile<4xi32>, token
  %p_1 = reshape %p : tile<ptr<{given}>> -> tile<1xptr<{given}>>
  %p_4 = broadcast %p_1 : tile<1xptr<{given}>> -> tile<4xptr<{given}>>
  %q = offset %p_4, %rows : tile<4xptr<{given}>>, tile<4xi32> -> tile<4xptr<{given}>>
  {cast}
  %values, %t1 = load_ptr_tko weak %q{used} : tile<4xptr<f32>> -> tile<4xf32>, token
  return
}}"""
CAST_LANES = "%q_f = ptr_to_ptr %q : tile<4xptr<i16>> -> tile<4xptr<f32>>"


@pytest.mark.parametrize("rows", [(0, 1, 4, 2), (0, 1, -1, 2), (0, 1 << 30, 1, 1), (-(1 << 31), 0, 0, 0)])
def test_a_lane_before_or_behind_its_array_traps_as_in_the_interpreter(rows: tuple[int, ...]) -> None:
    kernel = tileir.parse(LANES.format(given="f32", cast="", used=""))["k"]
    trap(kernel, np.zeros(6, np.float32)[1:5], np.array(rows, np.int32))


@pytest.mark.parametrize("rows", [(0, 2, 3, 4), (1, 1, 1, 1)])
def test_a_lane_that_is_not_aligned_traps_as_in_the_interpreter(rows: tuple[int, ...]) -> None:
    kernel = tileir.parse(LANES.format(given="i16", cast=CAST_LANES, used="_f"))["k"]
    trap(kernel, np.zeros(16, np.int16), np.array(rows, np.int32))


def test_lanes_are_aligned_by_their_offsets_from_an_array_that_is_not() -> None:
    kernel = tileir.parse(LANES.format(given="i16", cast=CAST_LANES, used="_f"))["k"]
    kernel.launch(1, np.zeros(18, np.int16)[1:], np.array([1, 3, 15, 7], np.int32))
    trap(kernel, np.zeros(18, np.int16)[1:], np.array([1, 3, 4, 7], np.int32))


def test_lanes_of_an_array_that_is_not_aligned_trap() -> None:
    kernel = tileir.parse(LANES.format(given="f32", cast="", used=""))["k"]
    trap(kernel, tileir.Pointer(np.zeros(8, np.float32).ctypes.data + 2, 24), np.zeros(4, np.int32))


def test_without_checks_nothing_is_compared() -> None:
    text = """entry @k(%p: tile<ptr<i32>>) {
      %x = constant <i32: 7> : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %q = offset %p, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      store_ptr_tko weak %q, %x : tile<ptr<i32>>, tile<i32> -> token
      return
    }"""
    kernel, array = tileir.parse(text)["k"], np.zeros(2, np.int32)
    with pytest.raises(tileir.Trap):
        kernel.launch(1, array[:1])
    kernel.launch(1, array[:1], check=False)
    assert array.tolist() == [0, 7]


def test_arrays_that_are_reached_through_others_may_be_used() -> None:
    """A pointer that is loaded from memory is looked up among all arrays of the launch."""
    text = """entry @k(%table: tile<ptr<i64>>, %data: tile<ptr<f32>>, %out: tile<ptr<f32>>) {
      %address, %t0 = load_ptr_tko weak %table : tile<ptr<i64>> -> tile<i64>, token
      %p = int_to_ptr %address : tile<i64> -> tile<ptr<f32>>
      %x, %t1 = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
      store_ptr_tko weak %out, %x : tile<ptr<f32>>, tile<f32> -> token
      return
    }"""
    kernel = tileir.parse(text)["k"]
    data, out = np.array([5.0, 6.0], np.float32), np.zeros(1, np.float32)
    kernel.launch(1, np.array([data.ctypes.data + 4]), data, out)
    assert out[0] == 6
    with pytest.raises(tileir.Trap, match="byte offset 8 of 'data'"):
        kernel.launch(1, np.array([data.ctypes.data + 8]), data, out)


def test_what_a_kernel_rarely_needs_stands_in_the_library() -> None:
    """The code of an access with checks is at most twice that without."""
    accesses = "\n".join(
        f"  %y{number}, %u{number} = load_view_tko weak %v[%i, %i] : {VIEW}, tile<i32> -> tile<4x2xf32>, token"
        for number in range(8)
    )
    text = f"entry @k(%p: tile<ptr<f32>>) {{\n{TILES}\n{accesses}\n  return\n}}"
    entry = tileir.parse(text)["k"].entry
    without, with_checks = (
        str(lowered(entry, (), level).module).count("\n") for level in (CheckLevel.OFF, CheckLevel.ON)
    )
    assert with_checks < 2 * without


NULL = """entry @k(%p: tile<ptr<f32>>) {
  %zero = constant <i64: 0> : tile<i64>
  %null = int_to_ptr %zero : tile<i64> -> tile<ptr<f32>>
  %c = constant <f32: 1.0> : tile<f32>
  %t = store_ptr_tko weak %p, %c : tile<ptr<f32>>, tile<f32> -> token
  %u = store_ptr_tko weak %null, %c : tile<ptr<f32>>, tile<f32> -> token
  return
}"""


def test_a_store_through_a_constant_null_pointer_traps() -> None:
    array = np.zeros(1, np.float32)
    trap(tileir.parse(NULL)["k"], array)
    assert array[0] == 1


def test_without_checks_it_is_made_and_not_dropped_with_the_rest() -> None:
    script = f"import numpy, tileir; tileir.parse({NULL!r})['k'].launch(1, numpy.zeros(1, 'f4'), check=False)"
    assert subprocess.run([sys.executable, "-c", script], check=False, capture_output=True).returncode < 0


@pytest.mark.parametrize(
    ("element", "pattern"), [("f32", 0x7F800001), ("f32", 0xFFBFFFFF), ("f64", 0xFFF4000000000001)]
)
def test_a_signalling_nan_keeps_its_bits(element: str, pattern: int) -> None:
    text = f"""entry @k(%p: tile<ptr<{element}>>) {{
      %c = constant <{element}: {pattern:#x}> : tile<{element}>
      %t = store_ptr_tko weak %p, %c : tile<ptr<{element}>>, tile<{element}> -> token
      return
    }}"""
    size = int(element[1:])
    array = np.zeros(1, f"f{size // 8}")
    tileir.parse(text)["k"].launch(1, array, target="cpu")
    assert array.view(f"u{size // 8}")[0] == pattern


def refusal(text: str, target: str) -> tuple[type, str]:
    """Return the error of a launch that asks for too much."""
    with pytest.raises((tileir.Trap, tileir.UnsupportedError)) as caught:
        tileir.parse(text)["k"].launch(1, target=target)
    error = caught.value
    return type(error), error.message if isinstance(error, tileir.Trap) else error.what


@pytest.mark.parametrize(
    ("count", "alignment"), [(1 << 62, 4), (1 << 40, 4), (1 << 29, 4), (4, 1 << 62), (4, 1 << 31), ((1 << 28) + 1, 4)]
)
def test_storage_that_cannot_be_has_the_same_words_everywhere(count: int, alignment: int) -> None:
    line = f"%q = alloca num_elem = {count}, alignment = {alignment} : tile<ptr<f32>>"
    text = f"entry @k() {{ {line}\n return }}"
    found, expected = refusal(text, "cpu"), refusal(text, "interp")
    assert found == expected
    assert "cannot allocate" in found[1]
    unreached = f"entry @k() {{ %c = constant <i1: false> : tile<i1>\n if %c {{ {line}\n yield }} return }}"
    for target in ("interp", "cpu"):
        tileir.parse(unreached)["k"].launch(1, target=target)


@pytest.mark.parametrize(
    "globals",
    [
        "global @g alignment = 4611686018427387904 <i64: 1> : tile<16xi64>",
        "\n".join(f"global @g{number} <i64: 1> : tile<16777216xi64>" for number in range(100)),
    ],
)
def test_globals_that_cannot_be_have_the_same_words_everywhere(globals: str) -> None:
    text = f"cuda_tile.module @m {{ {globals}\n entry @k() {{ return }} }}"
    found, expected = refusal(text, "cpu"), refusal(text, "interp")
    assert found == expected
    assert found[0] is tileir.UnsupportedError


def test_tiles_that_do_not_fit_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "physical_memory", lambda: 1 << 16)
    text = """entry @k(%p: tile<ptr<f32>>) {
      %x = constant <f32: 1.0> : tile<32768xf32>
      %y = scan %x dim=0 reverse=false identities=[0.0 : f32] : tile<32768xf32> -> tile<32768xf32>
        (%a: tile<f32>, %b: tile<f32>) { %c = addf %a, %b : tile<f32>
        yield %c : tile<f32> }
      return
    }"""
    with pytest.raises(tileir.UnsupportedError, match="a kernel whose tiles take"):
        tileir.parse(text)["k"].launch(1, np.zeros(4, np.float32), target="cpu", optimize=False)
