"""Bands of a grid on workers give the results of one launch, bit for bit, or are refused with the reason and the
place."""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tileir
from tests.farm.scheduler import ScheduledCluster
from tests.small_disk import run_on_small_disk
from tileir.distributed import launch, sending
from tileir.distributed.plan import planned
from tileir.examples.checks import EXAMPLES
from tileir.farm.executors import processes
from tileir.host import child

pytestmark = pytest.mark.skipif(not child.POSSIBLE, reason="this system cannot copy a process")
PATIENCE = 60.0
ROWS = """cuda_tile.module @m { entry @rows(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %n: tile<i32>) {
  %in = make_tensor_view %x, shape = [%n, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[64,1]>
  %out = make_tensor_view %y, shape = [%n, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[64,1]>
  %ins = make_partition_view %in
    : partition_view<tile=(4x64), padding_value = zero, tensor_view<?x64xf32, strides=[64,1]>>
  %outs = make_partition_view %out
    : partition_view<tile=(4x64), padding_value = zero, tensor_view<?x64xf32, strides=[64,1]>>
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %nx, %ny, %nz = get_num_tile_blocks : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %a, %t = load_view_tko weak %ins[%bx, %zero] : partition_view<tile=(4x64), padding_value = zero,
    tensor_view<?x64xf32, strides=[64,1]>>, tile<i32> -> tile<4x64xf32>, token
  %id = addi %bx, %nx : tile<i32>
  %f = itof %id signed rounding<nearest_even> : tile<i32> -> tile<f32>
  %g = reshape %f : tile<f32> -> tile<1x1xf32>
  %h = broadcast %g : tile<1x1xf32> -> tile<4x64xf32>
  %b = mulf %a, %h rounding<nearest_even> : tile<4x64xf32>
  %u = store_view_tko weak %b, %outs[%bx, %zero] token=%t : tile<4x64xf32>, partition_view<tile=(4x64),
    padding_value = zero, tensor_view<?x64xf32, strides=[64,1]>>, tile<i32> -> token
} }"""
COUNT = """cuda_tile.module @m {{ entry @count(%x: tile<ptr<i32>>, %h: tile<ptr<{element}>>) {{
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %lanes = iota : tile<16xi32>
  %c = constant <i32: 16> : tile<i32>
  %begin = muli %bx, %c : tile<i32>
  %b1 = reshape %begin : tile<i32> -> tile<1xi32>
  %b16 = broadcast %b1 : tile<1xi32> -> tile<16xi32>
  %at = addi %b16, %lanes : tile<16xi32>
  %x1 = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
  %x16 = broadcast %x1 : tile<1xptr<i32>> -> tile<16xptr<i32>>
  %p = offset %x16, %at : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
  %v, %t = load_ptr_tko weak %p : tile<16xptr<i32>> -> tile<16xi32>, token
  %mask = constant <i32: 7> : tile<16xi32>
  %bin = andi %v, %mask : tile<16xi32>
  %h1 = reshape %h : tile<ptr<{element}>> -> tile<1xptr<{element}>>
  %h16 = broadcast %h1 : tile<1xptr<{element}>> -> tile<16xptr<{element}>>
  %q = offset %h16, %bin : tile<16xptr<{element}>>, tile<16xi32> -> tile<16xptr<{element}>>
  %one = constant <{element}: {one}> : tile<16x{element}>
  %o, %u = atomic_rmw_tko relaxed device %q, {mode}, %one
    : tile<16xptr<{element}>>, tile<16x{element}> -> tile<16x{element}>, token
}} }}"""


@pytest.fixture(scope="module")
def workers() -> Iterator[Executor]:
    with processes(2).open() as made:
        yield made


def rows(n: int = 41) -> tuple[tileir.Kernel, np.ndarray]:
    return tileir.parse(ROWS)["rows"], np.random.default_rng(1).standard_normal((n, 64)).astype(np.float32)


def on_one_machine(kernel: tileir.Kernel, x: np.ndarray) -> np.ndarray:
    y = np.zeros_like(x)
    kernel.launch(-(-len(x) // 4), x, y, len(x))
    return y


def test_bands_know_their_place_in_the_whole_grid(workers: Executor) -> None:
    kernel, x = rows()
    y = np.zeros_like(x)
    found = launch(kernel, 11, x, y, 41, client=workers, bands=5)
    assert found[0] is x and found[1] is y
    assert y.tobytes() == on_one_machine(kernel, x).tobytes() and y.any()


@pytest.mark.parametrize("name", ["saxpy", "softmax", "transpose", "gemm_views", "attention", "embedding"])
def test_an_example_gives_the_same_bits(name: str, workers: Executor) -> None:
    example = next(one for one in EXAMPLES if one.name == name)
    kernel = tileir.load(example.path)[example.kernel]
    given = [list(example.arguments(example.sizes, np.random.default_rng(1)).values()) for _ in range(2)]
    grid = example.grid(example.sizes)
    kernel.launch(grid, *given[0])
    launch(kernel, grid, *given[1], client=workers, bands=3)
    for one, other in zip(*given):
        if isinstance(one, np.ndarray):
            assert one.tobytes() == other.tobytes()


def test_only_what_a_band_touches_travels() -> None:
    kernel, x = rows(1000)
    plan = planned(kernel.entry, [None, None, 1000], [x.nbytes, x.nbytes, 0], (250, 1, 1), 10)
    assert [band.blocks for band in plan.bands] == [((at * 25, at * 25 + 25), (0, 1), (0, 1)) for at in range(10)]
    for number, band in enumerate(plan.bands):
        assert [(box.start, box.size) for box in band.reads[0]] == [(number * 25600, 25600)]
        assert sum(box.size for boxes in band.writes.values() for box in boxes) == 25600


def test_a_file_larger_than_what_a_worker_gets_is_mapped_by_the_worker(tmp_path: Path, workers: Executor) -> None:
    kernel, x = rows(400)
    paths = [tmp_path / "x", tmp_path / "y"]
    given, out = (np.memmap(path, np.float32, "w+", shape=x.shape) for path in paths)
    given[...] = x
    given.flush()
    launch(kernel, 100, given, out, 400, client=workers, bands=7)
    assert np.fromfile(paths[1], np.float32).tobytes() == on_one_machine(kernel, x).tobytes()


def test_a_file_that_is_changed_in_place_is_changed_once(tmp_path: Path, workers: Executor) -> None:
    example = next(one for one in EXAMPLES if one.name == "saxpy")
    kernel = tileir.load(example.path)["saxpy"]
    random = np.random.default_rng(1)
    x, y = (random.standard_normal((300, 500)).astype(np.float32) for _ in range(2))
    mapped = np.memmap(tmp_path / "y", np.float32, "w+", shape=y.shape)
    mapped[...] = y
    kernel.launch((3, 2), x, y, 2.5, 300, 500)
    launch(kernel, (3, 2), x, mapped, 2.5, 300, 500, client=workers, bands=3)
    assert mapped.tobytes() == y.tobytes()


@pytest.mark.skipif(not sending.PLACE.exists(), reason="needs a file system in memory")
@pytest.mark.parametrize("in_place", [False, True])
def test_processes_of_this_machine_share_large_arrays(in_place: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    before, made = set(sending.PLACE.iterdir()), []
    monkeypatch.setattr(sending, "LEAST_BYTES", 1000)
    has_room = sending._has_room
    monkeypatch.setattr(sending, "_has_room", lambda size: made.append(size) or has_room(size))
    if in_place:
        kernel = tileir.load(next(one for one in EXAMPLES if one.name == "saxpy").path)["saxpy"]
        given = [np.random.default_rng(1).standard_normal((300, 500)).astype(np.float32) for _ in range(2)]
        grid, more = (3, 2), (2.5, 300, 500)
    else:
        kernel, x = rows(400)
        given, grid, more = [x, np.full_like(x, 9)], (90,), (400,)
    first, second = ([array.copy() for array in given] for _ in range(2))
    kernel.launch(grid, *first, *more)
    launch(kernel, grid, *second, *more, bands=3)
    assert [one.tobytes() for one in first] == [one.tobytes() for one in second]
    assert made == [sum(array.nbytes for array in given)] and set(sending.PLACE.glob("tileir-*")) <= before


def test_a_file_with_changes_that_are_in_no_file_travels(tmp_path: Path, workers: Executor) -> None:
    kernel, x = rows(44)
    x.tofile(tmp_path / "x")
    changed = np.memmap(tmp_path / "x", np.float32, "c", shape=x.shape)
    changed[...] = 1.0
    y = np.zeros_like(x)
    launch(kernel, 11, changed, y, 44, client=workers, bands=3)
    assert y.tobytes() == on_one_machine(kernel, np.ones_like(x)).tobytes()


@pytest.mark.parametrize(
    ("mode", "element", "one"), [("add", "i32", 1), ("umax", "i64", -3), ("xor", "i32", 5), ("and", "i32", 6)]
)
def test_updates_in_any_order_are_merged(mode: str, element: str, one: int, workers: Executor) -> None:
    kernel = tileir.parse(COUNT.format(mode=mode, element=element, one=one))["count"]
    x = np.random.default_rng(3).integers(0, 100, 512).astype(np.int32)
    before = np.arange(8).astype(np.int32 if element == "i32" else np.int64)
    first, second = before.copy(), before.copy()
    kernel.launch(32, x, first)
    launch(kernel, 32, x, second, client=workers, bands=5)
    assert first.tobytes() == second.tobytes() != before.tobytes()


DEPENDENT = (
    (COUNT.format(mode="addf", element="f32", one=1.0), "is an update of mode addf whose result depends on the order"),
    (COUNT.format(mode="xchg", element="i32", one=1), "is an update of mode xchg whose result depends on the order"),
    (ROWS.replace("%outs[%bx, %zero]", "%outs[%zero, %zero]"), "may write byte 0 of an array that itself touches"),
    (ROWS.replace("make_tensor_view %y", "make_tensor_view %x").replace("%ins[%bx,", "%ins[%zero,"), "in another band"),
)


@pytest.mark.parametrize(("text", "message"), DEPENDENT, ids=["addf", "xchg", "one place", "others' input"])
def test_tile_blocks_that_are_not_independent_are_refused(text: str, message: str) -> None:
    kernel = next(iter(tileir.parse(text, "k.mlir").kernels.values()))
    x = np.zeros((44, 64), np.int32 if kernel.name == "count" else np.float32)
    args = (x, np.zeros((44, 64), np.float32 if "f32" in text else np.int32))
    more = (44,) if kernel.name == "rows" else ()
    before = args[1].copy()
    with pytest.raises(tileir.UnsupportedError, match=message) as caught:
        launch(kernel, 11, *args, *more, bands=3)
    assert str(caught.value).startswith("k.mlir:") and args[1].tobytes() == before.tobytes()


def test_a_load_that_others_may_answer_is_refused() -> None:
    text = ROWS.replace("load_view_tko weak", "load_view_tko relaxed device")
    with pytest.raises(
        tileir.UnsupportedError, match=r"'load_view_tko' is no weak access: tile blocks may communicate"
    ):
        launch(tileir.parse(text)["rows"], 11, np.zeros((44, 64), np.float32), np.zeros((44, 64), np.float32), 44)


def test_a_trap_has_its_tile_block_in_the_whole_grid_and_writes_nothing(workers: Executor) -> None:
    kernel, x = rows(44)
    short, y = x[:20].copy(), np.zeros_like(x)
    with pytest.raises(tileir.Trap) as one:
        kernel.launch(11, short, y.copy(), 44)
    with pytest.raises(tileir.Trap) as caught:
        launch(kernel, 11, short, y, 44, client=workers, bands=4)
    assert caught.value.block == one.value.block == (5, 0, 0) and not y.any()


def test_what_bands_print_comes_in_their_order(workers: Executor) -> None:
    example = next(one for one in EXAMPLES if one.name == "hello_grid")
    printed: list[str] = []
    launch(tileir.load(example.path)["hello_grid"], (3, 1), client=workers, bands=3, output=printed.append)
    lines = "".join(printed).splitlines()
    assert len(lines) == 3 and all(f"tile block ({at}, 0, 0) of a 3 x 1" in line for at, line in enumerate(lines))


def test_wrong_arguments_are_refused_before_anything_runs() -> None:
    kernel, x = rows(44)
    with pytest.raises(TypeError, match="expected"):
        launch(kernel, 11, x.astype(np.int32), x.copy(), 44)
    with pytest.raises(ValueError, match="parameters 'y' and 'x' share memory that the kernel writes"):
        launch(kernel, 11, x, x, 44)
    with pytest.raises(ValueError, match="'y': expected a dense row-major array"):
        launch(kernel, 11, x, np.zeros((64, 44), np.float32).T, 44)
    with pytest.raises(TypeError, match="client: expected a"):
        launch(kernel, 11, x, x.copy(), 44, client=3)
    with pytest.raises(TypeError, match="option 'progress': a launch over workers has none"):
        launch(kernel, 11, x, x.copy(), 44, client=3, progress=print)


def test_a_pool_that_breaks_down_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tileir.distributed import sending

    opened: list[int] = []

    class Breaking(ProcessPoolExecutor):
        """Loses a worker after its first tasks, the first two times."""

        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            future = super().submit(fn, *args, **kwargs)
            if len(opened) <= 2 and len(self._processes) > 0:
                os.kill(next(iter(self._processes)), signal.SIGKILL)
            return future

    def opener() -> Executor:
        opened.append(1)
        return Breaking(1)

    kernel, x = rows()
    sender = sending.Sender(opener, 1)
    monkeypatch.setattr("tileir.distributed.launching.sender_of", lambda client: _given(sender))
    y = np.zeros_like(x)
    launch(kernel, 11, x, y, 41, bands=3)
    assert len(opened) >= 3 and y.tobytes() == on_one_machine(kernel, x).tobytes()


class _given:
    def __init__(self, value: object) -> None:
        self.value = value

    def __enter__(self) -> object:
        return self.value

    def __exit__(self, *_: object) -> None:
        return None


# ---------------------------------------------------------------- two axes


def of_product(m: int = 300, n: int = 520, k: int = 96) -> tuple[tileir.Kernel, tuple[int, int], list[Any]]:
    """The product of matrices whose tiles stick out, 3 x 5 of them, and its arguments."""
    example = next(one for one in EXAMPLES if one.name == "gemm_views")
    sizes = {"M": m, "N": n, "K": k}
    arguments = example.arguments(sizes, np.random.default_rng(1)).values()
    return tileir.load(example.path)["gemm_views"], example.grid(sizes), list(arguments)


@pytest.mark.parametrize("files", [False, True])
def test_a_product_in_bands_along_two_axes_has_the_same_bits(files: bool, tmp_path: Path, workers: Executor) -> None:
    kernel, grid, given = of_product()
    expected = [np.array(one) for one in given[:3]]
    kernel.launch(grid, *expected, *given[3:])
    if files:
        for at in range(3):
            mapped = np.memmap(tmp_path / str(at), given[at].dtype, "w+", shape=given[at].shape)
            mapped[...] = given[at]
            mapped.flush()
            given[at] = mapped
    launch(kernel, grid, *given, client=workers, bands=6)
    assert given[2].tobytes() == expected[2].tobytes() and given[2].any()


def test_a_trap_in_a_band_along_two_axes_has_its_tile_block_in_the_whole_grid(workers: Executor) -> None:
    kernel, grid, given = of_product()
    given[1] = given[1][:400].copy()
    with pytest.raises(tileir.Trap) as one:
        kernel.launch(grid, *given)
    with pytest.raises(tileir.Trap) as caught:
        launch(kernel, grid, *given, client=workers, bands=6)
    assert one.value.block == caught.value.block == (0, 3, 0)


def test_updates_of_a_grid_of_two_axes_are_merged(workers: Executor) -> None:
    begin = "%c = constant <i32: 16> : tile<i32>"
    text = COUNT.format(mode="add", element="i32", one=1).replace(
        begin, f"{begin}\n  %w = muli %by, %nx : tile<i32>\n  %place = addi %bx, %w : tile<i32>"
    )
    text = text.replace("muli %bx, %c", "muli %place, %c").replace(
        "%lanes = ", "%nx, %ny, %nz = get_num_tile_blocks : tile<i32>\n  %lanes = "
    )
    kernel = tileir.parse(text)["count"]
    x, first = np.random.default_rng(3).integers(0, 100, 30 * 16).astype(np.int32), np.arange(8).astype(np.int32)
    second = first.copy()
    kernel.launch((5, 6), x, first)
    launch(kernel, (5, 6), x, second, client=workers, bands=15)
    assert first.tobytes() == second.tobytes() and first.sum() == 28 + x.size


def test_a_band_gets_no_more_memory_than_is_said(workers: Executor) -> None:
    kernel, grid, given = of_product()
    with pytest.raises(
        tileir.UnsupportedError, match=r"takes \d+ bytes of a worker's memory or more, and may take 1000"
    ):
        launch(kernel, grid, *given, client=workers, memory=1000)
    assert not given[2].any()


# ---------------------------------------------------------------- Dask


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="needs dask: pip install '.[dask]'")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, protocol="tcp", silence_logs=50
    )
    with cluster, distributed.Client(cluster, timeout=PATIENCE) as made:
        yield made


def test_dask_arrays_go_in_and_come_out(client: Any) -> None:
    import dask.array as da

    kernel, x = rows(80)
    out = da.zeros(x.shape, dtype=np.float32, chunks=(32, 64))
    given, made = launch(kernel, 18, da.from_array(x, chunks=(30, 64)), out, 80, client=client, bands=5)
    expected = np.zeros_like(x)
    kernel.launch(18, x, expected, 80)
    assert given.shape == made.shape == x.shape
    assert made.compute().tobytes() == expected.tobytes() and not out.compute().any()
    assert not expected[72:].any(), "rows that no tile block writes stay as they were"


def test_rows_of_dask_arrays_stay_on_their_workers(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import dask.array as da

    kernel, x = rows(80)
    future, seen = type(client.submit(int)), []
    result = future.result
    monkeypatch.setattr(future, "result", lambda self, *timeout: seen.append(result(self, *timeout)) or seen[-1])
    out = da.zeros(x.shape, dtype=np.float32, chunks=(32, 64))
    _, made = launch(kernel, 18, da.from_array(x, chunks=(30, 64)), out, 80, client=client, bands=5)
    assert len(seen) == 5 and all(result.boxes == {} for result in seen)
    monkeypatch.undo()
    expected = np.zeros_like(x)
    kernel.launch(18, x, expected, 80)
    assert (made.compute().tobytes() == expected.tobytes()) is True


def test_a_product_of_dask_arrays_comes_out_in_chunks_of_both_dimensions(client: Any) -> None:
    import dask.array as da

    kernel, grid, given = of_product()
    expected = np.array(given[2])
    kernel.launch(grid, given[0], given[1], expected, *given[3:])
    arrays = [da.from_array(one, chunks=100) for one in given[:3]]
    a, b, made = launch(kernel, grid, *arrays, *given[3:], client=client, bands=6)
    assert a is arrays[0] and b is arrays[1] and made.chunks == ((128, 172), (128, 256, 136))
    assert made.compute().tobytes() == expected.tobytes() and not arrays[2].compute().any()


def test_what_no_band_writes_stays_in_both_dimensions(client: Any) -> None:
    import dask.array as da

    kernel, _, given = of_product()
    expected = np.array(given[2]) + 1
    old = da.from_array(expected.copy(), chunks=(150, 260))
    kernel.launch((2, 4), given[0], given[1], expected, *given[3:])
    *_, made = launch(kernel, (2, 4), *given[:2], old, *given[3:], client=client, bands=8)
    assert (
        made.compute().tobytes() == expected.tobytes()
        and (expected[256:] == 1).all()
        and (expected[:, 512:] == 1).all()
    )
    assert made.shape == old.shape and sum(made.chunks[0]) == 300 and {128, 44} <= {*made.chunks[0]}


def test_workers_of_dask_say_how_much_memory_a_band_may_take(client: Any) -> None:
    from tileir.distributed.sending import DaskSender

    limits = client.run(lambda dask_worker: dask_worker.memory_manager.memory_limit)
    taken = client.run(lambda: __import__("psutil").Process().memory_info().rss)
    room = DaskSender(client).room().bytes
    assert room is not None and 0 <= room < 0.7 * min(limits.values()) - min(taken.values()) + (64 << 20)


def test_sums_on_dask_are_merged(client: Any) -> None:
    import dask.array as da

    kernel = tileir.parse(COUNT.format(mode="add", element="i32", one=1))["count"]
    x = np.random.default_rng(3).integers(0, 100, 512).astype(np.int32)
    expected = np.ones(8, np.int32)
    kernel.launch(32, x, expected)
    _, made = launch(kernel, 32, da.from_array(x, chunks=100), da.ones(8, dtype=np.int32), client=client)
    np.testing.assert_array_equal(made.compute(), expected)


@pytest.mark.parametrize("error", [ConnectionResetError("gone"), "CommClosedError", MemoryError("of the worker's own")])
def test_a_worker_that_ends_while_its_memory_is_asked_for_counts_as_a_new_one(
    client: Any, monkeypatch: pytest.MonkeyPatch, error: Exception | str
) -> None:
    from distributed.comm import CommClosedError

    from tileir.distributed.sending import DaskSender

    raised = CommClosedError("gone") if isinstance(error, str) else error
    sender, limit = DaskSender(client), 1000
    workers = {f"tcp://{name}": {"memory_limit": limit, "nthreads": 1} for name in "ab"}
    monkeypatch.setattr(client, "scheduler_info", lambda **_: {"workers": workers})
    monkeypatch.setattr(client, "run", lambda *_, **__: {"tcp://a": 100, "tcp://b": raised})
    if isinstance(raised, MemoryError):
        with pytest.raises(MemoryError, match="of the worker's own"):
            sender.room()
    else:
        monkeypatch.setattr(client, "run", lambda *_, **__: {"tcp://a": raised, "tcp://b": raised})
        nothing_taken = sender.room().bytes
        monkeypatch.setattr(client, "run", lambda *_, **__: {"tcp://a": 100, "tcp://b": raised})
        assert sender.room().bytes == nothing_taken - 100


@pytest.mark.parametrize("name", ["run", "nthreads"])
def test_workers_are_asked_again_if_the_scheduler_ends_meanwhile(
    client: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from distributed.comm import CommClosedError

    from tileir.distributed.sending import DaskSender

    ask, asked = getattr(client, name), []

    def answer(*words: object, **options: object) -> object:
        asked.append(words)
        if len(asked) == 1:
            raise CommClosedError("the scheduler is gone")
        return ask(*words, **options)

    monkeypatch.setattr(client, name, answer)
    sender = DaskSender(client)
    assert sender.count == 2 and sender.room().bytes and len(asked) == 2


def test_workers_killed_in_the_middle_lose_nothing(client: Any) -> None:
    kernel, x = rows(400)
    expected, stop, killed = on_one_machine(kernel, x), threading.Event(), []
    multiply, grid, matrices = of_product()
    matrix = matrices[2].copy()
    multiply.launch(grid, *matrices[:2], matrix, *matrices[3:])

    def kill() -> None:
        while not stop.wait(0.3) and len(killed) < 2:
            try:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[-1], signal.SIGKILL)
            except (OSError, ValueError, RuntimeError, StopIteration):
                continue
            stop.wait(2.0)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    begin = time.monotonic()
    while not killed or time.monotonic() - begin < 3:
        y = np.zeros_like(x)
        launch(kernel, 100, x, y, 400, client=client, bands=20)
        assert y.tobytes() == expected.tobytes()
        product = [*matrices[:2], np.zeros_like(matrix), *matrices[3:]]
        launch(multiply, grid, *product, client=client, bands=6)
        assert product[2].tobytes() == matrix.tobytes()
        assert time.monotonic() - begin < PATIENCE
    stop.set()
    killer.join(PATIENCE)


@pytest.mark.thorough
def test_a_scheduler_that_is_started_again_loses_nothing(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="needs dask: pip install '.[dask]'")
    import dask.array as da

    kernel, x = rows(400)
    expected, begin, after = on_one_machine(kernel, x), time.monotonic(), 0
    with ScheduledCluster(tmp_path) as cluster, distributed.Client(cluster.address, timeout=PATIENCE) as made:
        restart = cluster.restarted_after(2.0)
        while after < 2:
            given = da.from_array(x, chunks=(50, 64)) if after else x
            y = np.zeros_like(x)
            launch(kernel, 100, given, y, 400, client=made, bands=20)
            assert y.tobytes() == expected.tobytes() and time.monotonic() - begin < 5 * PATIENCE
            after += cluster.restarts
        restart.join(PATIENCE)


def test_dask_arrays_need_a_client() -> None:
    da = pytest.importorskip("dask.array", reason="needs dask: pip install '.[dask]'")
    kernel, x = rows(44)
    with pytest.raises(TypeError, match=r"a dask.array needs client="):
        launch(kernel, 11, da.from_array(x), x.copy(), 44)


# ---------------------------------------------------------------- full disks

FULL = """
import sys
import numpy as np
import tileir
from tests.farm.scheduler import ScheduledCluster
from tests.small_disk import run_on_small_disk
from tests.large_grids.test_distributed_launch import ROWS
from tileir.distributed import launch
kernel, x = tileir.parse(ROWS)["rows"], np.ones((4000, 64), np.float32)
out = np.memmap(f"{sys.argv[1]}/out", np.float32, "w+", shape=x.shape)
for grid in (1000, 10):
    try:
        launch(kernel, grid, x, out, 4000, bands=2)
    except OSError as error:
        print(error.strerror, np.fromfile(f"{sys.argv[1]}/out", np.float32).any())
print(out[:40].all(), np.fromfile(f"{sys.argv[1]}/out", np.float32)[40 * 64 :].any())
"""


def test_a_file_on_a_full_disk_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    said = run_on_small_disk(tmp_path / "disk", 300, FULL).splitlines()
    assert said == ["no room for the 512000 bytes that the kernel may write False", "True False"]


@pytest.mark.thorough
@pytest.mark.skipif(not sending.PLACE.exists(), reason="needs a file system in memory")
def test_arrays_travel_where_the_shared_memory_gets_full(monkeypatch: pytest.MonkeyPatch, workers: Executor) -> None:
    asked: list[int] = []

    def full(path: object, begin: int, size: int) -> None:
        asked.append(size)
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(sending, "LEAST_BYTES", 1000)
    monkeypatch.setattr(sending, "reserve", full)
    before = set(sending.PLACE.glob("tileir-*"))
    kernel, x = rows(44)
    y = np.zeros_like(x)
    launch(kernel, 11, x, y, 44, bands=2)
    assert asked == [x.nbytes] and y.tobytes() == on_one_machine(kernel, x).tobytes()
    assert set(sending.PLACE.glob("tileir-*")) <= before
