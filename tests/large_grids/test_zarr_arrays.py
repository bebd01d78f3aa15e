"""Zarr arrays as arguments: workers read the rectangles that they need, and no two write the same chunk."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tileir
from tests.large_grids.test_distributed_launch import COUNT, of_product, on_one_machine, rows
from tileir.distributed import array_kinds, launch
from tileir.examples.checks import EXAMPLES
from tileir.farm.executors import processes
from tileir.host import child

zarr: Any = pytest.importorskip("zarr", reason="needs Zarr: pip install '.[zarr]'")
pytestmark = pytest.mark.skipif(not child.POSSIBLE, reason="this system cannot copy a process")
PATIENCE = 60.0


@pytest.fixture(scope="module")
def workers() -> Iterator[Executor]:
    with processes(2).open() as made:
        yield made


def made(path: Path, array: np.ndarray, chunks: tuple[int, ...], **options: Any) -> Any:
    found = zarr.open(str(path), mode="w", shape=array.shape, dtype=array.dtype, chunks=chunks, **options)
    found[...] = array
    return found


@pytest.mark.parametrize("chunks", [(10, 64), (8, 20), (41, 64), (1, 1)], ids=str)
def test_rows_are_read_and_written_where_they_are(chunks: tuple[int, int], tmp_path: Path, workers: Executor) -> None:
    kernel, x = rows()
    given = made(tmp_path / "x", x, chunks[::-1])
    out = made(tmp_path / "y", np.zeros_like(x), chunks)
    found = launch(kernel, 11, given, out, 41, client=workers, bands=5)
    assert found == (given, out) and out[...].tobytes() == on_one_machine(kernel, x).tobytes()


def seen_pieces(monkeypatch: pytest.MonkeyPatch) -> list[array_kinds.StoredPiece]:
    """The pieces of the bands of launches from now on."""
    from tileir.distributed import launching

    seen: list[array_kinds.StoredPiece] = []

    def noted(*fields: Any) -> array_kinds.StoredPiece:
        seen.append(array_kinds.StoredPiece(*fields))
        return seen[-1]

    monkeypatch.setattr(launching, "StoredPiece", noted)
    return seen


def test_only_what_a_band_needs_is_read_and_chunks_are_never_shared(
    tmp_path: Path, workers: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = seen_pieces(monkeypatch)
    kernel, x = rows(80)
    given, out = made(tmp_path / "x", x, (7, 64)), made(tmp_path / "y", np.zeros_like(x), (12, 64))
    launch(kernel, 20, given, out, 80, client=workers, bands=5)
    bands = [(0, 12), (12, 36), (36, 48), (48, 60), (60, 80)]
    assert [one.given for one in seen if one.given] == [((first, last), (0, 64)) for first, last in bands]
    assert [one.written for one in seen if one.written] == [((first, last), (0, 64)) for first, last in bands]
    assert out[...].tobytes() == on_one_machine(kernel, x).tobytes()


def test_an_array_in_one_chunk_is_written_by_one_band(
    tmp_path: Path, workers: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = seen_pieces(monkeypatch)
    kernel, x = rows(80)
    out = made(tmp_path / "y", np.zeros_like(x), (80, 64))
    launch(kernel, 20, x, out, 80, client=workers, bands=5)
    assert [one.written for one in seen] == [((0, 80), (0, 64))]
    assert out[...].tobytes() == on_one_machine(kernel, x).tobytes()


@pytest.mark.parametrize("chunks", [(128, 128), (100, 256), (300, 130)], ids=str)
def test_a_product_is_written_along_two_axes(chunks: tuple[int, int], tmp_path: Path, workers: Executor) -> None:
    kernel, grid, given = of_product()
    expected = given[2].copy()
    kernel.launch(grid, *given[:2], expected, *given[3:])
    arrays = [made(tmp_path / str(at), given[at], chunks) for at in range(3)]
    launch(kernel, grid, *arrays, *given[3:], client=workers, bands=6)
    assert arrays[2][...].tobytes() == expected.tobytes() and expected.any()


def test_what_no_tile_block_writes_stays(tmp_path: Path, workers: Executor) -> None:
    kernel, x = rows(80)
    out = made(tmp_path / "y", np.full_like(x, 7), (30, 64))
    expected = np.full_like(x, 7)
    kernel.launch(18, x, expected, 80)
    launch(kernel, 18, x, out, 80, client=workers, bands=5)
    assert out[...].tobytes() == expected.tobytes() and (out[72:] == 7).all()


def test_an_array_that_is_changed_in_place_is_changed_once(tmp_path: Path, workers: Executor) -> None:
    kernel = tileir.load(next(one for one in EXAMPLES if one.name == "saxpy").path)["saxpy"]
    random = np.random.default_rng(1)
    x, y = (random.standard_normal((300, 500)).astype(np.float32) for _ in range(2))
    arrays = made(tmp_path / "x", x, (70, 90)), made(tmp_path / "y", y, (300, 500))
    kernel.launch((3, 2), x, y, 2.5, 300, 500)
    launch(kernel, (3, 2), *arrays, 2.5, 300, 500, client=workers, bands=6)
    assert arrays[1][...].tobytes() == y.tobytes()


def test_sums_into_an_array_are_merged(tmp_path: Path, workers: Executor) -> None:
    kernel = tileir.parse(COUNT.format(mode="add", element="i32", one=1))["count"]
    x, total = np.random.default_rng(3).integers(0, 100, 512).astype(np.int32), np.arange(8).astype(np.int32)
    out = made(tmp_path / "h", total, (3,))
    kernel.launch(32, x, total)
    launch(kernel, 32, made(tmp_path / "x", x, (100,)), out, client=workers, bands=5)
    assert out[...].tobytes() == total.tobytes()


def test_a_trap_writes_nothing_of_its_band(tmp_path: Path, workers: Executor) -> None:
    kernel, x = rows(44)
    out = made(tmp_path / "y", np.zeros_like(x), (4, 64))
    with pytest.raises(tileir.Trap) as caught:
        launch(kernel, 11, made(tmp_path / "x", x[:20], (4, 64)), out, 44, client=workers, bands=11)
    assert caught.value.block == (5, 0, 0) and not out[20:].any()


def test_arrays_that_workers_cannot_have_are_refused(tmp_path: Path) -> None:
    kernel, x = rows(44)
    out = made(tmp_path / "y", np.zeros_like(x), (4, 64))
    with pytest.raises(TypeError, match=r"parameter 'x': expected a Zarr array in a folder, got one in a \w+ \(hint"):
        launch(kernel, 11, zarr.array(x), out, 44)
    with pytest.raises(ValueError, match="parameters 'y' and 'x' share memory that the kernel writes"):
        launch(kernel, 11, zarr.open(str(tmp_path / "y"), mode="r"), out, 44)
    with pytest.raises(ValueError, match="parameter 'y': the kernel writes it, and it cannot be written"):
        launch(kernel, 11, x, zarr.open(str(tmp_path / "y"), mode="r"), 44)
    with pytest.raises(TypeError, match="'y'"):
        launch(kernel, 11, x, made(tmp_path / "i", x.astype(np.int32), (4, 64)), 44)
    assert not out[...].any()


def test_a_disk_that_gets_full_is_an_error(tmp_path: Path, workers: Executor) -> None:
    """Chunks are compressed, so that no room can be reserved: the launch says that it did not end."""
    from tests.small_disk import run_on_small_disk

    said = run_on_small_disk(tmp_path / "disk", 300, FULL).splitlines()
    assert said == ["No space left on device"]


FULL = """
import sys
import numpy as np
import zarr
from tests.large_grids.test_distributed_launch import rows
from tileir.distributed import launch
kernel, x = rows(4000)
out = zarr.open(f"{sys.argv[1]}/out", mode="w", shape=x.shape, dtype=x.dtype, chunks=(400, 64))
try:
    launch(kernel, 1000, x, out, 4000, bands=2)
except OSError as error:
    print(error.strerror)
"""


def test_shards_are_written_as_a_whole(tmp_path: Path, workers: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    if int(zarr.__version__.split(".")[0]) < 3:
        pytest.skip("shards came with Zarr 3")
    seen = seen_pieces(monkeypatch)
    kernel, x = rows(80)
    out = zarr.create_array(str(tmp_path / "y"), shape=x.shape, dtype=x.dtype, chunks=(4, 64), shards=(40, 64))
    launch(kernel, 20, x, out, 80, client=workers, bands=5)
    assert [one.written for one in seen] == [((0, 40), (0, 64)), ((40, 80), (0, 64))]
    assert out[...].tobytes() == on_one_machine(kernel, x).tobytes()


# ---------------------------------------------------------------- Dask


@pytest.mark.thorough
def test_workers_of_dask_that_are_killed_lose_nothing(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="needs dask: pip install '.[dask]'")
    multiply, grid, given = of_product()
    expected = given[2].copy()
    multiply.launch(grid, *given[:2], expected, *given[3:])
    arrays = [made(tmp_path / str(at), given[at], (128, 128)) for at in range(3)]
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, protocol="tcp", silence_logs=50
    )
    stop, killed = threading.Event(), list[int]()
    with cluster, distributed.Client(cluster, timeout=PATIENCE) as client:

        def kill() -> None:
            while not stop.wait(0.3) and len(killed) < 2:
                try:
                    pid = next(iter(client.run(os.getpid).values()))
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
                except (OSError, ValueError, RuntimeError, StopIteration):
                    continue
                stop.wait(2.0)

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        begin = time.monotonic()
        while not killed or time.monotonic() - begin < 3:
            arrays[2][...] = 0
            launch(multiply, grid, *arrays, *given[3:], client=client, bands=6)
            assert arrays[2][...].tobytes() == expected.tobytes()
            assert time.monotonic() - begin < PATIENCE
        stop.set()
        killer.join(PATIENCE)
