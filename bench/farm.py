"""Costs of a job in the farm: processor time of the driver and of workers, bytes in the store. Prints a table.

    python bench/farm.py --jobs 1000

Processor times, since a job that does nothing is short and other processes disturb clocks.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path

from tileir.farm.driver import drive
from tileir.farm.executors import processes
from tileir.farm.launching import launch_job
from tileir.farm.store import JobStore
from tileir.runtime.loading import parse

EMPTY = "entry @empty(%n: tile<i32>) { }"


def spent(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    module = parse(EMPTY)
    jobs = [launch_job(module, {"grid": 1, "arguments": [str(number)]}) for number in range(options.jobs)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        with JobStore(path) as store:
            own, begin = spent(resource.RUSAGE_SELF), time.perf_counter()
            drive(store, processes(options.workers), jobs)
            wall = time.perf_counter() - begin
            driver, workers = spent(resource.RUSAGE_SELF) - own, spent(resource.RUSAGE_CHILDREN)
            assert store.counts() == {"done": options.jobs}
        size = path.stat().st_size
    count = options.jobs
    print(f"{count} launches of an empty kernel, {options.workers} workers, {os.cpu_count()} processors")
    print(f"driver, processor time   {driver / count * 1e3:8.2f} ms a job")
    print(f"workers, processor time  {workers / count * 1e3:8.2f} ms a job, their start with it")
    print(f"wall time                {wall / count * 1e3:8.2f} ms a job")
    print(f"store                    {size / count:8.0f} bytes a job")


if __name__ == "__main__":
    main()
