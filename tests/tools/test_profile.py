"""Profiles of launches: exact counts, times at the right lines, and arrays as after one launch."""

from __future__ import annotations

import io
import json
import signal
import sys
import xml.etree.ElementTree as tree
from contextlib import redirect_stdout
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import tileir
from tileir.cli import main
from tileir.cpu.llvm.metadata import CodePlace
from tileir.cpu.lowering.functions import Instruments
from tileir.cpu.run.profiling import Peaks
from tileir.ops import OPS, extension, floating, functions
from tileir.runtime.native import program_of
from tileir.tools.profile import report
from tileir.tools.profile.api import LaunchProfile, profile_bound
from tileir.tools.profile.report import ProfileSums, thread_of
from tileir.tools.profile.table import _byte_share

EXAMPLES = Path(tileir.__file__).parent / "examples"
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="native code has no lines here")
pytestmark = linux
SHORT = 0.02
"""Seconds under samples: a test of counts needs none."""


def example(name: str) -> tileir.Kernel:
    """The only kernel of an example."""
    return next(iter(tileir.load(EXAMPLES / f"{name}.mlir").kernels.values()))


def randn(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return np.random.default_rng(5).standard_normal(shape).astype(dtype)


LAUNCHES = {
    "vector_add": (3, randn(2500), randn(2500), np.zeros(2500, np.float32), 2500),
    "softmax": (7, randn(7, 1000), np.zeros((7, 1000), np.float32), 7, 1000),
    "transpose": ((4, 5), randn(200, 150), np.zeros((150, 200), np.float32), 200, 150),
    "layer_norm": (3, randn(3, 500), randn(500), randn(500), np.zeros((3, 500), np.float32), 3, 500, 1e-5),
    "attention": ((2, 4), *(randn(4, 130, 64, dtype=np.float16) for _ in range(4)), 4, 130, 0.125),
    "prefix_sum": (1, randn(1000), np.zeros(1000, np.float32), 1000),
}


def launch_of(name: str) -> tuple[tileir.Kernel, object, tuple[object, ...]]:
    """A launch of an example; arguments that it does not take are left out."""
    kernel = example(name)
    grid, *arguments = LAUNCHES[name]
    return kernel, grid, tuple(arguments[: len(kernel.parameters)])


@pytest.mark.parametrize("name", ["vector_add", "softmax", "transpose", "attention"])
def test_counts_and_bytes_are_those_of_the_interpreter(name: str) -> None:
    kernel, grid, arguments = launch_of(name)
    profile = tileir.profile(kernel, grid, *arguments, seconds=SHORT)
    expected = tileir.view(kernel, grid, *arguments, findings=False).data["ops"]
    bodies = {inner for op, _ in profile.ops if report.applications(op) is not None for inner in op.regions[0].ops}
    compared = 0
    for (op, sums), other in zip(profile.ops, expected, strict=True):
        assert op.spec.name == other["name"]
        if op not in bodies and other["count"]:
            compared += 1
            assert (sums.count, sums.read, sums.written) == (other["count"], other["read"], other["written"]), op
    assert compared > 5


LOOPS = """\
cuda_tile.module @m {
  entry @steps(%out: tile<ptr<f32>>, %n: tile<i32>) {
    %id, %idy, %idz = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %none = constant <f32: 0.0> : tile<f32>
    %lanes = iota : tile<16xi32>
    %base = reshape %out : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bases = broadcast %base : tile<1xptr<f32>> -> tile<16xptr<f32>>
    %at = offset %bases, %lanes : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
    %few = reshape %n : tile<i32> -> tile<1xi32>
    %limit = broadcast %few : tile<1xi32> -> tile<16xi32>
    %mask = cmpi less_than %lanes, %limit, signed : tile<16xi32> -> tile<16xi1>
    %sum = loop iter_values(%i = %zero, %acc = %none) : tile<i32>, tile<f32> -> tile<f32> {
      %done = cmpi greater_than_or_equal %i, %n, signed : tile<i32> -> tile<i1>
      if %done {
        break %acc : tile<f32>
      }
      %odd = andi %i, %one : tile<i32>
      %is_odd = cmpi equal %odd, %one, signed : tile<i32> -> tile<i1>
      %next = addi %i, %one : tile<i32>
      if %is_odd {
        continue %next, %acc : tile<i32>, tile<f32>
      }
      %number = itof %i signed : tile<i32> -> tile<f32>
      %more = fma %number, %number, %acc : tile<f32>
      continue %next, %more : tile<i32>, tile<f32>
    }
    %row = reshape %sum : tile<f32> -> tile<1xf32>
    %rows = broadcast %row : tile<1xf32> -> tile<16xf32>
    %t = store_ptr_tko weak %at, %rows, %mask : tile<16xptr<f32>>, tile<16xf32>, tile<16xi1> -> token
  }
}
"""


def steps() -> tileir.Kernel:
    return tileir.parse(LOOPS, "steps.mlir")["steps"]


def test_operations_behind_a_way_out_of_a_block_are_counted_apart() -> None:
    profile = tileir.profile(steps(), 3, np.zeros(16, np.float32), 7, seconds=SHORT)
    counts = {op.spec.name: sums.count for op, sums in profile.ops}
    # Each of three tile blocks begins 8 iterations, of which 7 go on, 4 with an even number.
    assert counts["break"] == 3
    assert counts["andi"] == 3 * 7
    assert counts["fma"] == counts["itof"] == 3 * 4
    assert counts["loop"] == counts["store_ptr_tko"] == 3
    store = next(sums for op, sums in profile.ops if op.spec.name == "store_ptr_tko")
    assert (store.written, store.read) == (3 * 7 * 4, 0)
    assert profile.total.flops == 3 * 4 * 2


def test_bytes_and_flops_are_those_computed_by_hand() -> None:
    a, b, c = randn(2500), randn(2500), np.zeros(2500, np.float32)
    total = tileir.profile(example("vector_add"), 3, a, b, c, 2500, seconds=SHORT).total
    assert (total.read, total.written) == (2 * 2500 * 4, 2500 * 4)
    assert total.flops == 3 * 1024, "whole tiles are added"
    np.testing.assert_array_equal(c, a + b)


def test_the_flops_of_a_matrix_product_are_two_for_each_product() -> None:
    a, b, c = randn(128, 128), randn(128, 128), np.zeros((128, 128), np.float32)
    kernel = example("gemm_blocked")
    tile = next(op.result.type.shape for op in kernel.entry.walk() if op.spec.name == "mmaf")
    profile = tileir.profile(kernel, (128 // tile[0], 128 // tile[1]), a, b, c, 128, seconds=SHORT)
    assert profile.total.flops == 2 * 128**3
    np.testing.assert_allclose(c, a @ b.T, rtol=1e-3, atol=1e-3)


def test_reductions_have_the_flops_of_their_bodies() -> None:
    kernel, grid, arguments = launch_of("softmax")
    profile = tileir.profile(kernel, grid, *arguments, seconds=SHORT)
    counts = {op.spec.name: sums for op, sums in profile.ops}
    assert counts["addf"].count == counts["addf"].flops == 7 * 1023
    assert counts["maxf"].count == 7 * 1023
    assert counts["maxf"].flops == 0


def test_every_operation_on_floats_is_said_to_have_flops_or_none() -> None:
    chapters = {floating.__name__, functions.__name__}
    known = report.ONE | report.NONE | {floating.Fma}
    assert {op for op in OPS.values() if op.__module__ in chapters} == known - {extension.Asin}


# ---------------------------------------------------------------- time

HEAVY = """\
!tensor = tensor_view<65536xf32, strides=[1]>
!tiles = partition_view<tile=(4096), tensor_view<65536xf32, strides=[1]>>
cuda_tile.module @m {
  entry @heavy(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
    %tensor = make_tensor_view %x, shape=[65536], strides=[1] : !tensor
    %tiles = make_partition_view %tensor : !tiles
    %other = make_tensor_view %y, shape=[65536], strides=[1] : !tensor
    %targets = make_partition_view %other : !tiles
    %id, %idy, %idz = get_tile_block_id : tile<i32>
    %value, %t0 = load_view_tko weak %tiles[%id] : !tiles, tile<i32> -> tile<4096xf32>, token
    %cheap = addf %value, %value : tile<4096xf32>
    %dear = pow %value, %cheap : tile<4096xf32>
    %t1 = store_view_tko weak %dear, %targets[%id] : tile<4096xf32>, !tiles, tile<i32> -> token
  }
}
"""


def heavy(seconds: float, trace: bool = False) -> LaunchProfile:
    x, y = np.abs(randn(65536)) + 1, np.zeros(65536, np.float32)
    return tileir.profile(tileir.parse(HEAVY, "heavy.mlir")["heavy"], 16, x, y, seconds=seconds, trace=trace)


def sampled() -> LaunchProfile:
    """A profile with some samples, however little of the processor there is."""
    for seconds in (0.2, 1.0, 4.0, 16.0):
        profile = heavy(seconds)
        if profile.total.samples > 20:
            return profile
    raise AssertionError("hardly any samples")


def test_time_is_found_at_the_line_that_takes_it() -> None:
    profile = sampled()
    names = {op.spec.name: sums.samples for op, sums in profile.ops}
    assert names["pow"] > sum(names.values()) / 2, names
    slowest = max(profile.by_line.items(), key=lambda item: item[1].seconds or 0)[0]
    assert (slowest.file, slowest.line) == ("heavy.mlir", 1 + HEAVY[: HEAVY.index("%dear =")].count("\n"))


def test_samples_leave_the_handler_of_the_signal_as_it_was() -> None:
    before = signal.signal(signal.SIGPROF, signal.SIG_IGN)
    try:
        heavy(SHORT)
        assert signal.getsignal(signal.SIGPROF) is signal.SIG_IGN
        signal.raise_signal(signal.SIGPROF)
    finally:
        signal.signal(signal.SIGPROF, before)


WAITING = """\
cuda_tile.module @m {
  entry @wait(%flag: tile<ptr<i32>>) {
    %id, %idy, %idz = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %first = cmpi equal %id, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      loop {
        %seen, %t = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
        %set = cmpi equal %seen, %one, signed : tile<i32> -> tile<i1>
        if %set {
          break
        }
      }
    } else {
      %t = store_ptr_tko release device %flag, %one : tile<ptr<i32>>, tile<i32> -> token
    }
  }
}
"""
"""Tile block 0 waits for tile block 1."""


def test_waits_are_found_at_the_loop_that_waits() -> None:
    kernel = tileir.parse(WAITING, "waiting.mlir")["wait"]
    profile = tileir.profile(kernel, 2, np.zeros(1, np.int32), threads=1, seconds=SHORT, trace=True)
    waiting = {op.spec.name: sums for op, sums in profile.ops if sums.waits}
    assert set(waiting) == {"loop"}
    assert waiting["loop"].waits >= 1
    assert waiting["loop"].waited > 0
    assert "tile blocks waited in 'loop' (line 8)" in str(profile)
    names = [event["name"] for event in json.loads(profile.trace)["traceEvents"] if event["ph"] == "X"]
    assert names.count("1,0,0") == 1
    assert names.count("0,0,0") > 1, "a tile block that waited has several parts"


# ---------------------------------------------------------------- arrays, traps, pages


def test_arrays_end_as_after_one_launch() -> None:
    kernel = tileir.parse(
        """cuda_tile.module @m {
  global @calls <i32: [0]> : tile<1xi32>
  entry @count(%x: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %old, %t0 = atomic_rmw_tko relaxed device %x, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %g = get_global @calls : tile<ptr<i32>>
    %all, %t1 = atomic_rmw_tko relaxed device %g, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %t2 = print_tko "calls %d\\n", %all : tile<i32> -> token
  }
}""",
        "count.mlir",
    )["count"]
    x = np.zeros(1, np.int32)
    with redirect_stdout(io.StringIO()) as printed:
        tileir.profile(kernel, 5, x, seconds=SHORT)
    assert x[0] == 5
    assert printed.getvalue().count("calls") == 5, "what a launch prints is printed once"


def test_a_trap_ends_the_profile() -> None:
    kernel = tileir.parse(
        """cuda_tile.module @m {
  entry @fails() {
    %no = constant <i1: false> : tile<i1>
    assert %no, "no" : tile<i1>
  }
}"""
    )["fails"]
    with pytest.raises(tileir.Trap, match="no"):
        tileir.profile(kernel, 1)


def test_a_trace_has_every_tile_block_once_and_none_at_the_time_of_another() -> None:
    profile = heavy(SHORT, trace=True)
    events = json.loads(profile.trace)["traceEvents"]
    blocks = [event for event in events if event["ph"] == "X"]
    assert sorted(int(event["name"].split(",")[0]) for event in blocks) == list(range(16))
    threads = {event["tid"] for event in blocks}
    for thread in threads:
        own = sorted((event["ts"], event["dur"]) for event in blocks if event["tid"] == thread)
        assert all(begin + length <= later + 1e-3 for (begin, length), (later, _) in pairwise(own))
    names = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    # Any one thread may have run them all.
    assert threads and names == {0: "@heavy"} | {thread: f"thread {thread - 1}" for thread in threads}
    assert thread_of(0) == 1


def test_a_profile_without_a_trace_says_so() -> None:
    with pytest.raises(tileir.UnsupportedError, match="asked for one"):
        _ = heavy(SHORT).trace


def test_the_roofline_is_xml_with_a_point_for_the_kernel() -> None:
    profile = sampled()
    page = tree.fromstring(profile.svg)
    titles = [title.text or "" for title in page.iter("{http://www.w3.org/2000/svg}title")]
    assert any(title.startswith("@heavy: ") for title in titles)


def test_the_table_shows_the_source_and_notebooks_show_it_too() -> None:
    profile = heavy(0.1)
    assert "%dear = pow" in str(profile)
    assert "&lt;" in profile._repr_html_() and "<svg" in profile._repr_html_()


def test_peaks_are_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    heavy(SHORT)
    monkeypatch.setattr("tileir.cpu.run.profiling.measured", lambda threads: pytest.fail("measured again"))
    heavy(SHORT)


def test_what_exceeds_memory_is_compared_with_the_cache() -> None:
    peaks = Peaks(1e12, 1e9, 1e10)
    profile = replace(heavy(SHORT), peaks=peaks, threads=1)
    shares = [_byte_share(profile, ProfileSums(read=size, seconds=1.0)) for size in (5 * 10**8, 5 * 10**9, 10**11)]
    assert shares == ["50.0%", "50.0% of cache", ""]
    assert "10 GB/s from the first cache" in profile.svg and "10 GB/s from the first cache" in str(profile)
    assert heavy(SHORT).peaks.bytes > 0 and heavy(SHORT).peaks.cached > 0


# ---------------------------------------------------------------- the command


def test_the_command_writes_json_a_roofline_and_a_trace(tmp_path: Path) -> None:
    program = tmp_path / "heavy.mlir"
    program.write_text(HEAVY)
    picture, trace = tmp_path / "roof.svg", tmp_path / "trace.json"
    words = ["profile", str(program), "--grid", "16", "x=f32[65536]:rand", "y=f32[65536]", "--seconds", str(SHORT)]
    with redirect_stdout(io.StringIO()) as output:
        assert main([*words, "--json", "--roofline", str(picture), "--trace", str(trace)]) == 0
    found = json.loads(output.getvalue())
    assert found["grid"] == [16, 1, 1]
    assert {one["line"]: one["flops"] for one in found["lines"]}[11] == 65536
    tree.parse(picture)
    assert json.loads(trace.read_text())["traceEvents"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--seconds", "0"], "seconds: expected a positive number"),
        (["--seconds", "nan"], "seconds: expected a positive number"),
        (["--threads", "0"], "threads: expected a positive integer"),
    ],
)
def test_wrong_options_are_refused(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "heavy.mlir"
    program.write_text(HEAVY)
    assert main(["profile", str(program), "--grid", "1", "x=f32[65536]", "y=f32[65536]", *words]) == 2
    assert message in capsys.readouterr().err


# ---------------------------------------------------------------- lines of code


@pytest.mark.parametrize("name", ["softmax", "attention", "gemm_blocked"])
def test_nearly_all_instructions_of_a_kernel_have_a_line(name: str) -> None:
    kernel = example(name)
    number = {op: place for place, op in enumerate(kernel.entry.walk(), 1)}
    program = program_of(kernel, instruments=Instruments(lambda op: CodePlace("ops", number[op]), "ops"))
    function = next(one for one in program.map.functions if one.name == "tileir.kernel")
    for begin, end in pairwise(program.map.ranges):
        assert begin.end <= end.begin
    known = sum(one.end - one.begin for one in program.map.ranges if one.line)
    assert {one.line for one in program.map.ranges} <= {0, *number.values()}
    assert known > 0.7 * function.size


def test_code_with_lines_is_the_same_code() -> None:
    from tileir.cpu.emit.record import CheckLevel
    from tileir.cpu.llvm.engine import assembly, host
    from tileir.cpu.run.program import lowered

    kernel = example("softmax")
    number = {op: place for place, op in enumerate(kernel.entry.walk(), 1)}
    plain = lowered(kernel.entry, (), CheckLevel.ON)
    lines = lowered(kernel.entry, (), CheckLevel.ON, Instruments(lambda op: CodePlace("ops", number[op]), "ops"))

    def instructions(text: str) -> list[str]:
        found = (line.split("#")[0].strip() for line in text.split("\n"))
        return [line for line in found if line and not line.startswith((".", "#")) and not line.endswith(":")]

    def kernel_only(module: object) -> list[str]:
        words = instructions(assembly(str(module), host()))
        return [word for word in words if not any(mark in word for mark in (".L", "tileir"))]

    assert kernel_only(plain.module) == kernel_only(lines.module)


def test_a_bound_launch_may_measure_peaks_again() -> None:
    from tileir.runtime.module import bind, target_named

    kernel = steps()
    arguments = bind(kernel, (np.zeros(16, np.float32), 3), target_named("cpu"))
    found = profile_bound(kernel, (1, 1, 1), arguments, {}, SHORT, new_peaks=True)
    assert found.peaks.flops > 0 < found.peaks.bytes
