"""Files larger than the memory of workers of Dask, which count the pages of files that are mapped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tileir
from tests.large_grids.test_distributed_launch import of_product
from tileir.distributed import launch
from tileir.distributed.sending import Room, _room
from tileir.examples.checks import EXAMPLES
from tileir.runtime.module import Kernel

PATIENCE = 120.0
LIMIT = 600 << 20
ROWS, COLUMNS = 128 << 10, 1024
"""512 MiB."""


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of one worker, which may die no time with the same task."""
    distributed = pytest.importorskip("distributed", reason="needs dask: pip install '.[dask]'")
    dask = pytest.importorskip("dask")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            memory_limit=LIMIT,
            dashboard_address=None,
            protocol="tcp",
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster, timeout=PATIENCE) as made,
    ):
        yield made


def softmax() -> Kernel:
    found = next(one for one in EXAMPLES if one.name == "softmax")
    return tileir.load(found.path)[found.kernel]


def files(folder: Path) -> list[np.memmap]:
    """Two files of 512 MiB, the first with holes."""
    return [np.memmap(folder / name, np.float32, "w+", shape=(ROWS, COLUMNS)) for name in "xy"]


def restarts(client: Any) -> int:
    return len(client.get_events("worker-restart-memory"))


def test_bands_of_files_have_room_in_the_memory_of_a_worker(client: Any, tmp_path: Path) -> None:
    x, y = files(tmp_path)
    x[-256:] = np.random.default_rng(1).standard_normal((256, COLUMNS), np.float32)
    launch(softmax(), ROWS, x, y, ROWS, COLUMNS, client=client, bands=1, threads=1)
    powers = np.exp(x[-256:].astype(np.float64))
    assert np.allclose(y[-256:], powers / powers.sum(axis=1, keepdims=True), rtol=1e-5, atol=0)
    assert np.allclose(y[:-256:1000], 1 / COLUMNS, rtol=1e-5) and restarts(client) == 0


@pytest.mark.thorough
def test_a_band_by_which_workers_end_is_an_error_with_numbers(client: Any, tmp_path: Path) -> None:
    x, y = files(tmp_path)
    with pytest.raises(RuntimeError, match=r"a band is given up: workers .* ended; 1 had more memory .* \d{9,} bytes"):
        launch(softmax(), ROWS, x, y, ROWS, COLUMNS, client=client, bands=1, threads=1, memory=1 << 40)


def test_a_launch_that_cannot_fit_is_an_error_with_numbers(monkeypatch: pytest.MonkeyPatch, client: Any) -> None:
    from tileir.distributed.sending import DaskSender

    monkeypatch.setattr(DaskSender, "room", lambda sender: _room([(1000, 400)]))
    kernel, grid, given = of_product()
    what = r"takes \d+ bytes of .* and may take 300: 70 % of the 1000 .* less the 400 that it takes itself"
    with pytest.raises(tileir.UnsupportedError, match=what):
        launch(kernel, grid, *given, client=client)


def test_the_worker_with_the_least_room_counts() -> None:
    assert _room([(1000, 400), (2000, 100), (1000, 600)]).bytes == 100
    assert _room([(1000, 800)]).bytes == 0 and _room([]) == Room(None)
