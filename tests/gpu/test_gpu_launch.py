"""Launching cubins: the calls to the driver, their order, and the handling of what kernels leave behind."""

from __future__ import annotations

import ctypes
import gc
import struct
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from fake_driver import FakeDriver, OnGpu

import tileir
from tileir.examples import FOLDER
from tileir.gpu import mailbox, program
from tileir.gpu.driver import Library
from tileir.gpu.executable import BlockMemory, ConstantMemory, Executable, GlobalMemory, Mailbox, Scratch
from tileir.gpu.expressions import ExpressionStep as Step
from tileir.gpu.launch import KernelLauncher
from tileir.runtime.arguments import ArrayArgument, ScalarArgument
from tileir.runtime.arrays import described
from tileir.runtime.gpu import Gpu
from tileir.runtime.gpu_routes import source_of
from tileir.runtime.module import bind, placed

NO_GLOBALS = {}.__getitem__


def launcher(driver, given, sites=(), global_address=NO_GLOBALS, **facts):
    made = Executable(b"", "k", **facts)
    driver.count = given + len(made.hidden) + (2 if made.scratch else 0)
    return KernelLauncher(driver, made, Library(driver, b"", "kernel @k"), sites, given, global_address, "k")


class TestParameters:
    def test_every_value_lies_in_eight_bytes_of_its_own(self):
        driver = FakeDriver()
        launcher(driver, 3, threads=128).launch((4, 2, 1), [1 << 63, 7, 0], 5)
        (launched,) = driver.launches
        assert launched.parameters == (1 << 63, 7, 0)
        assert (launched.grid, launched.stream, launched.threads) == ((4, 2, 1), 5, 128)

    def test_a_cubin_of_triton_gets_two_more_pointers(self):
        driver = FakeDriver()
        launcher(driver, 1, threads=64, scratch=Scratch(0, 1)).launch((1, 1, 1), [9], 0)
        assert driver.launches[0].parameters == (9, 0, 0)
        assert not driver.borrowed

    def test_how_a_block_is_run_is_passed_on(self):
        driver = FakeDriver()
        launcher(driver, 0, threads=256, cluster=2, shared=100_000).launch((3, 1, 1), [], 0)
        launched = driver.launches[0]
        assert (launched.threads, launched.cluster, launched.shared) == (256, 2, 100_000)

    def test_launches_from_many_threads_do_not_share_parameters(self):
        seen, lock = set(), threading.Lock()

        def record(launched):
            with lock:
                seen.add(launched.parameters)

        one = launcher(FakeDriver(record), 2)
        threads = [
            threading.Thread(target=lambda base=base: [one.launch((1, 1, 1), [base, i], 0) for i in range(200)])
            for base in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == {(base, i) for base in range(4) for i in range(200)}


class TestHiddenMemory:
    def test_constants_are_uploaded_once_and_live_as_long_as_the_code(self):
        driver = FakeDriver()
        one = launcher(driver, 1, hidden=(ConstantMemory(b"abcd"),))
        for _ in range(3):
            one.launch((1, 1, 1), [5], 0)
        assert driver.events == ["upload", "launch", "launch", "launch"]
        places = {launched.parameters[1] for launched in driver.launches}
        assert len(places) == 1
        assert ctypes.string_at(places.pop(), 4) == b"abcd"
        assert (driver.held, driver.unloads) == (1, 0)
        del one
        assert (driver.held, driver.unloads) == (0, 1)

    def test_globals_are_where_the_module_says(self):
        driver = FakeDriver()
        one = launcher(driver, 0, hidden=(GlobalMemory("b"), GlobalMemory("a")), global_address={"a": 64, "b": 128}.get)
        one.launch((1, 1, 1), [], 0)
        assert driver.launches[0].parameters == (128, 64)

    def test_each_block_has_memory_of_its_own(self):
        driver = FakeDriver()
        one = launcher(driver, 0, hidden=(BlockMemory(48),))
        one.launch((4, 3, 2), [], 7)
        assert driver.borrowed == [(48 * 24, 7)]
        assert driver.launches[0].parameters[0] % 16 == 0
        assert driver.events == ["launch", "give back"]
        assert driver.held == 0

    def test_scratch_memory_is_for_every_block_of_every_cluster_and_aligned(self):
        driver = FakeDriver()
        one = launcher(driver, 1, threads=128, cluster=2, scratch=Scratch(256, 1024))
        one.launch((5, 1, 1), [3], 1)
        assert driver.borrowed == [(256 * 5 * 2 + 1023, 1)]
        value, scratch, profile = driver.launches[0].parameters
        assert (value, scratch % 1024, profile) == (3, 0, 0)

    def test_memory_is_given_back_when_the_launch_fails(self):
        def fail(launched):
            raise tileir.UnsupportedError("no", "cuda")

        driver = FakeDriver(fail)
        with pytest.raises(tileir.UnsupportedError):
            launcher(driver, 0, hidden=(BlockMemory(16),)).launch((1, 1, 1), [], 0)
        assert driver.held == 0


class TestTileBlocksThatWaitForOthers:
    def test_they_are_started_together(self):
        driver = FakeDriver()
        launcher(driver, 0, polls=True).launch((11, 4, 3), [], 0)
        assert driver.events == ["together", "launch"]

    def test_a_grid_that_finds_no_room_is_refused(self):
        driver = FakeDriver()
        with pytest.raises(
            tileir.UnsupportedError, match="all 133 must run together, and Fake 0 has room for 132; use"
        ):
            launcher(driver, 0, polls=True).launch((133, 1, 1), [], 0)
        assert not driver.launches

    @pytest.mark.parametrize(
        ("name", "polls"),
        [
            ("look_back", True),
            ("ticket_lock", True),
            ("mutex", False),
            ("last_block", False),
            ("message_passing", True),
        ],
    )
    def test_programs_that_do(self, name, polls):
        kernel = next(iter(tileir.load(FOLDER / "concurrent" / f"{name}.mlir").kernels.values()))
        assert any(map(program._polls, source_of(kernel).operations())) is polls


class TestGraphs:
    def test_a_launch_becomes_part_of_a_graph_without_waiting(self):
        launches = Launches(entry("ptr<f32>"), hidden=(BlockMemory(16),))
        launches(tileir.Pointer(4096), stream=3)
        launches.driver.capturing.add(3)
        launches(tileir.Pointer(4096), stream=3)
        assert launches.driver.events == ["launch", "give back"] * 2

    def test_code_must_be_there_before(self):
        launches = Launches(entry("ptr<f32>"))
        launches.driver.capturing.add(3)
        with pytest.raises(
            tileir.UnsupportedError, match="kernel @k has no code for these arguments yet: launch it once"
        ):
            launches(tileir.Pointer(4096), stream=3)
        launches(tileir.Pointer(4096), stream=4)
        launches(tileir.Pointer(4096), stream=3)
        assert [launched.stream for launched in launches.driver.launches] == [4, 3]

    def test_a_kernel_whose_end_the_launch_waits_for_is_refused(self):
        launches = Launches(PRINTING, hidden=(Mailbox(),), sites=sites)
        launches(3, stream=3)
        launches.driver.capturing.add(3)
        with pytest.raises(
            tileir.UnsupportedError, match=r"kernel @k prints or has an 'assert'.*: a graph cannot hold"
        ):
            launches(3, stream=3)


@pytest.mark.parametrize(
    ("grid", "cluster"), [((1 << 31, 1, 1), 1), ((1, 65536, 1), 1), ((1, 1, 70000), 1), ((1 << 30, 1, 1), 4)]
)
def test_a_grid_that_the_device_cannot_have_is_refused(grid, cluster):
    driver = FakeDriver()
    with pytest.raises(tileir.UnsupportedError, match=r"kernel @k: a grid of .*, the largest that Fake 0 has is"):
        launcher(driver, 0, cluster=cluster).launch(grid, [], 0)
    assert not driver.launches


# ---------------------------------------------------------------- from Python


class FakeRoute:
    """Code that was made without a compiler; `asked` are the alignments that it was made for."""

    def __init__(self, kernel, hidden=(), sites=(), watched=None, narrow=()):
        self.hidden, self.sites, self.narrow = hidden, sites, narrow
        self.watched = range(len(kernel.parameters)) if watched is None else watched
        self.asked = []
        self.requested = []
        self.variants = []

    def code(self, driver, device, variant):
        self.asked.append((device.ordinal, *variant.aligned))
        self.requested.append(variant.requested)
        self.variants.append(variant)
        narrow = () if variant.by_address else self.narrow
        made = Executable(b"", "wide" if variant.by_address else "k", hidden=self.hidden, narrow=narrow)
        return made, Library(driver, b"", "kernel @k"), self.sites


class Launches:
    """A kernel of a program on a target with a fake driver."""

    def __init__(
        self, text, run=lambda launched: None, name="k", hidden=(), sites=lambda kernel: (), driver=None, narrow=()
    ):
        self.kernel = tileir.parse(text)[name]
        self.driver = FakeDriver(run) if driver is None else driver
        self.driver.count = len(self.kernel.parameters) + len(hidden)
        self.routes = []
        self.target = Gpu(
            "cuda", "", self.driver, lambda kernel, rewrites: self.route(kernel, hidden, sites(kernel), narrow)
        )

    def route(self, kernel, hidden, sites, narrow):
        self.routes.append(FakeRoute(kernel, hidden, sites, narrow=narrow))
        return self.routes[-1]

    def __call__(self, *arguments, grid=(1, 1, 1), **options):
        run = self.target.prepare(self.kernel, True, options)
        run(grid, bind(self.kernel, arguments, self.target))
        return self.driver.launches[-1]


class TestExtents:
    def test_other_code_is_made_where_one_is_larger_than_the_code_expects(self):
        launches = Launches(entry("i32", "i32"), narrow=((Step("parameter", 1),),))
        for extents in ((-1, 5), (1, -1), (1, np.uint32((1 << 31) + 7)), (1, (1 << 31) - 1)):
            launches(*extents)
        (route,) = launches.routes
        assert {variant.by_address for variant in route.variants} == {False, True}
        assert [launched.kernel for launched in launches.driver.launches] == ["k", "wide", "wide", "k"]


class TestCompileOptions:
    def test_each_choice_has_code_of_its_own(self):
        launches = Launches(entry("i8"))
        for options in ({}, {"warps": 4}, {"warps": 4, "stages": 2}, {"warps": 4}, {"stages": None}):
            launches(1, **options)
        (route,) = launches.routes
        assert route.requested == [(None, None), (4, None), (4, 2)]

    @pytest.mark.parametrize(
        ("options", "error", "words"),
        [
            ({"warps": 3}, ValueError, "warps: expected a power of two, got 3"),
            ({"warps": 64}, ValueError, "warps: expected at most 32, got 64"),
            ({"stages": "2"}, TypeError, "stages: expected a positive integer, got '2'"),
        ],
    )
    def test_what_no_kernel_can_have_is_refused(self, options, error, words):
        with pytest.raises(error, match=words):
            Launches(entry("i8"))(1, **options)


def entry(*parameters, body=""):
    written = ", ".join(f"%p{index}: tile<{ty}>" for index, ty in enumerate(parameters))
    return f"entry @k({written}) {{ {body} return }}"


class TestArguments:
    @pytest.mark.parametrize(
        ("ty", "value", "bits"),
        [
            ("i1", True, 1),
            ("i4", -3, 0xFD),
            ("i8", np.uint8(200), 200),
            ("i8", -1, 0xFF),
            ("i16", -2, 0xFFFE),
            ("i32", -1, 0xFFFFFFFF),
            ("i32", np.int32(-1), 0xFFFFFFFF),
            ("i64", -1, (1 << 64) - 1),
            ("f16", 1.5, 0x3E00),
            ("bf16", 1.5, 0x3FC0),
            ("f32", 1.5, 0x3FC00000),
            ("tf32", 1 / 3, 0x3EAAA000),
            ("f64", 1.5, 0x3FF8000000000000),
            ("f8E4M3FN", 1.5, 0x3C),
            ("f8E5M2", 1.5, 0x3E),
        ],
    )
    def test_scalars_by_their_bits(self, ty, value, bits):
        assert Launches(entry(ty))(value).parameters == (bits,)

    def test_addresses(self):
        array = np.zeros(4, np.float32)
        launched = Launches(entry("ptr<f32>", "ptr<f32>"))(OnGpu(array), tileir.Pointer(4096))
        assert launched.parameters == (array.ctypes.data, 4096)

    @pytest.mark.parametrize("value", [np.zeros(4, np.float32), bytearray(4)])
    def test_memory_of_the_host_is_refused(self, value):
        element = "f32" if isinstance(value, np.ndarray) else "i8"
        with pytest.raises(ValueError) as caught:
            Launches(entry(f"ptr<{element}>"))(value)
        assert "memory of device cuda, which target 'cuda' uses, got an array on device cpu" in str(caught.value)

    def test_integers_that_do_not_fit_are_refused(self):
        with pytest.raises(ValueError, match="expected an integer that fits i32, got 4294967296"):
            Launches(entry("i32"))(1 << 32)
        with pytest.raises(TypeError, match="expected an integer, got float"):
            Launches(entry("i32"))(1.5)

    def test_an_option_that_there_is_not(self):
        with pytest.raises(TypeError, match="target 'cuda' has no option threads: it has optimize, output, stream"):
            Launches(entry())(threads=4)


class TestFacts:
    def test_code_is_made_once_for_each_way_of_being_aligned(self):
        launches = Launches(entry("ptr<f32>", "i32"))
        for address, count in [(4096, 32), (8192, 48), (4100, 32), (4096, 33), (4112, 0)]:
            launches(tileir.Pointer(address), count)
        assert launches.routes[0].asked == [(0, True, True), (0, False, True), (0, True, False)]
        assert len(launches.routes) == 1

    def test_code_is_made_for_integers_that_are_one(self):
        launches = Launches(entry("ptr<f32>", "i32", "i64"))
        for count, stride in [(32, 1), (1, 1), (48, 1), (32, 2)]:
            launches(tileir.Pointer(4096), count, stride)
        (route,) = launches.routes
        assert [variant.ones for variant in route.variants] == [
            (False, False, True), (False, True, True), (False, False, False),
        ]  # fmt: skip

    def test_negative_multiples_count_too(self):
        launches = Launches(entry("i32", "i64"))
        launches(-16, -17)
        assert launches.routes[0].asked == [(0, True, False)]


class TestDevices:
    def test_a_launch_goes_to_the_device_of_its_arrays(self):
        launches = Launches(entry("ptr<f32>", "ptr<f32>"))
        arrays = [OnGpu(np.zeros(4, np.float32), 1) for _ in range(2)]
        assert launches(*arrays).device == 1
        assert launches.driver.current == 0
        assert launches(tileir.Pointer(64), tileir.Pointer(64)).device == 0
        assert [asked[0] for asked in launches.routes[0].asked] == [1, 0]

    def test_arrays_that_do_not_tell_are_on_the_same_device_as_the_others(self):
        array = np.zeros(4, np.float32)
        assert Launches(entry("ptr<f32>", "ptr<f32>"))(OnGpu(array), OnGpu(array, 1)).device == 1

    def test_arrays_on_two_devices_are_refused(self):
        array = np.zeros(4, np.float32)
        with pytest.raises(ValueError, match="all arrays of a launch on one GPU, got cuda:0 and cuda:1"):
            Launches(entry("ptr<f32>", "ptr<f32>"))(OnGpu(array, 1), OnGpu(array, 0))


class TestStreams:
    @pytest.mark.parametrize(
        "stream",
        [
            77,
            SimpleNamespace(cuda_stream=77),
            SimpleNamespace(ptr=77),
            SimpleNamespace(__cuda_stream__=lambda: (0, 77)),
            np.int64(77),
        ],
        ids=["number", "torch", "cupy", "protocol", "numpy"],
    )
    def test_streams_of_every_library(self, stream):
        assert Launches(entry())(stream=stream).stream == 77

    @pytest.mark.parametrize("stream", ["main", -1, True, object(), 1 << 64])
    def test_what_is_no_stream_is_refused(self, stream):
        with pytest.raises(TypeError, match="stream: expected the number of a stream"):
            Launches(entry())(stream=stream)

    def test_the_default_stream_is_the_one_without_a_library(self, monkeypatch):
        monkeypatch.delitem(sys.modules, "torch", raising=False)
        assert Launches(entry())().stream == 0

    @pytest.mark.parametrize("quick", [True, False])
    def test_the_current_stream_of_torch_is_used_if_torch_uses_the_gpu(self, monkeypatch, quick):
        current = SimpleNamespace(cuda_stream=99)
        cuda = SimpleNamespace(is_initialized=lambda: True, current_stream=lambda ordinal: current)
        inner = SimpleNamespace(_cuda_getCurrentRawStream=lambda ordinal: 99) if quick else SimpleNamespace()
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda, _C=inner, Tensor=tuple))
        assert Launches(entry())().stream == 99
        assert Launches(entry())(stream=5).stream == 5

    def test_the_current_stream_of_cupy_is_used_if_there_is_no_torch(self, monkeypatch):
        monkeypatch.delitem(sys.modules, "torch", raising=False)
        stream = SimpleNamespace(ptr=55)
        monkeypatch.setitem(
            sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(get_current_stream=lambda: stream))
        )
        assert Launches(entry())().stream == 55


PRINTING = """entry @k(%n: tile<i32>) {
  %t = print_tko "n = %d\\n", %n : tile<i32> -> token
  return
}"""
ASSERTING = """entry @k(%n: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %fine = cmpi less_than %zero, %n, signed : tile<i32> -> tile<i1>
  assert %fine, "positive" : tile<i1>
  return
}"""


def sites(kernel):
    return [op for op in kernel.entry.walk() if op.spec.name in ("print_tko", "assert")]


class TestMailbox:
    def test_the_mailbox_is_emptied_before_and_read_after(self):
        seen = []

        def kernel(launched):
            seen.append(ctypes.string_at(launched.parameters[1], mailbox.HEAD_BYTES))

        launches = Launches(PRINTING, kernel, hidden=(Mailbox(),), sites=sites)
        launches(3)
        assert launches.driver.events == ["clear", "upload", "launch", "download", "give back"]
        assert seen == [mailbox.initial(launches.driver.borrowed[0][0], sites(launches.kernel))]

    def test_what_was_printed_is_written(self):
        def kernel(launched):
            _, _, _, _, _, _, begin, _ = struct.unpack("<i3i4q", ctypes.string_at(launched.parameters[1], 48))
            _, size = mailbox.record_places([sites(launches.kernel)[0].args[0].type])
            record = struct.pack("<4ii", 1, 0, 0, 0, launched.parameters[0]).ljust(size, b"\0")
            ctypes.memmove(launched.parameters[1] + begin, record, size)
            ctypes.c_int64.from_address(launched.parameters[1] + mailbox.CLAIMED).value = size

        written = []
        launches = Launches(PRINTING, kernel, hidden=(Mailbox(),), sites=sites)
        launches(3, output=written.append)
        assert "".join(written) == "n = 3\n"

    def test_prints_that_there_was_no_room_for_are_told_of(self):
        def kernel(launched):
            ctypes.c_int64.from_address(launched.parameters[1] + mailbox.LOST).value = 7

        with pytest.warns(
            RuntimeWarning, match="kernel @k printed more than there was room for: 7 outputs are missing"
        ):
            Launches(PRINTING, kernel, hidden=(Mailbox(),), sites=sites)(3)

    def test_a_failed_assertion_is_a_trap_with_its_place(self):
        def kernel(launched):
            ctypes.memmove(launched.parameters[1], struct.pack("<4i", 1, 2, 1, 0), 16)

        with pytest.raises(tileir.Trap) as caught:
            Launches(ASSERTING, kernel, hidden=(Mailbox(),), sites=sites)(-3)
        trap = caught.value
        assert (trap.kernel, trap.block, trap.op, trap.index) == ("k", (2, 1, 0), "assert", ())
        assert "positive" in str(trap)
        assert "<string>:4:" in str(trap)


class TestGlobals:
    TEXT = """
    global @g alignment = 512 <i32: [1, 2, 3, 4]> : tile<4xi32>
    entry @k() { return }
    entry @other() { return }"""

    def test_the_kernels_of_a_module_share_its_globals_on_each_device(self):
        module = tileir.parse(self.TEXT)
        driver = FakeDriver(count=1)
        target = Gpu("cuda", "", driver, lambda kernel, rewrites: FakeRoute(kernel, (GlobalMemory("g"),)))
        for kernel in (module["k"], module["other"], module["k"]):
            target.prepare(kernel, True, {})((1, 1, 1), [])
        with driver.on(1):
            target.prepare(module["k"], True, {})((1, 1, 1), [])
        places = [launched.parameters[0] for launched in driver.launches]
        assert places[0] == places[1] == places[2] != places[3]
        assert np.ctypeslib.as_array((ctypes.c_int32 * 4).from_address(places[0])).tolist() == [1, 2, 3, 4]
        assert places[0] % 512 == 0
        del module, kernel
        gc.collect()
        assert driver.held == 0


class TestTables:
    """Addresses in the memory of the host, as a launch of cuTile passes lists of arrays."""

    def test_a_table_is_on_the_device_while_the_kernel_uses_it(self):
        seen = []

        def kernel(launched):
            seen.append(ctypes.string_at(launched.parameters[0], 16))

        launches = Launches(entry("ptr<i64>", "i32"), kernel)
        table = np.array([4096, 8192], np.int64)
        element = ArrayArgument.of("x", described(OnGpu(np.zeros(4, np.float32), 1), ("cuda",)))
        run = launches.target.prepare(launches.kernel, True, {"stream": 3})
        run((1, 1, 1), [ArrayArgument.of("table", described(table), (element,)), ScalarArgument.of("n", np.int32(2))])
        assert seen == [table.tobytes()]
        assert launches.driver.launches[0].device == 1
        assert launches.driver.borrowed == [(16, 3)]
        assert launches.driver.events == ["send", "launch", "give back"]

    def test_a_table_in_a_graph_lives_as_long_as_the_kernel(self):
        launches = Launches(entry("ptr<i64>"))
        sent = []
        launches.driver.send = lambda address, content, stream: sent.append(content)
        element = ArrayArgument.of("x", described(OnGpu(np.zeros(4, np.float32), 1), ("cuda",)))
        run = launches.target.prepare(launches.kernel, True, {"stream": 3})

        def launch(first):
            table = np.array([first, 8192], np.int64)
            run((1, 1, 1), [ArrayArgument.of("table", described(table), (element,))])

        launch(1)
        launches.driver.capturing.add(3)
        launch(2)
        done, recorded = (sys.getrefcount(content) for content in sent)
        assert recorded == done + 1
        assert sent[1] == np.array([2, 8192], np.int64).tobytes()


@pytest.mark.parametrize(
    ("array", "memory"),
    [
        (np.arange(12, dtype=np.int32).reshape(3, 4), list(range(12))),
        (np.arange(12, dtype=np.int32).reshape(4, 3).T, list(range(12))),
        (np.arange(24, dtype=np.int32).reshape(3, 8)[:, ::2], list(range(0, 24, 2))),
        (np.array(7, np.int32), [7]),
    ],
    ids=["rows", "columns", "gaps", "scalar"],
)
def test_arrays_of_the_host_are_copied_to_the_device_and_back(array, memory):
    driver = FakeDriver()
    target = Gpu("cuda", "", driver, FakeRoute)
    expected = -array
    with placed(target, [array, 5]) as (copy, number):
        assert (copy.device, copy.shape, copy.dtype, number) == ("cuda:0", array.shape, np.int32, 5)
        there = np.ctypeslib.as_array((ctypes.c_int32 * array.size).from_address(copy.address))
        assert there.tolist() == memory
        np.negative(there, out=there)
    assert array.tolist() == expected.tolist()
    del copy
    assert driver.held == 0
