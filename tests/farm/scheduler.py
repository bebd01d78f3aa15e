"""A Dask scheduler with workers, each a process of its own, which the tests end and start again at the same address."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0


class ScheduledCluster:
    """One scheduler and two workers, which know the jobs of the tests. `restarts` counts."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.restarts = 0
        self._preload = folder / "preload.py"
        self._preload.write_text("from tests.farm.probes import register\nregister()\n", encoding="utf-8")
        self._running: list[subprocess.Popen[bytes]] = []
        self._restarting = threading.Timer(0, self.restart)

    def _start(self, name: str, *words: str) -> None:
        command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *words, "--no-dashboard"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._running.append(subprocess.Popen(command, cwd=self._preload.parent, env=environment, **quiet))

    def __enter__(self) -> ScheduledCluster:
        self._start("scheduler", "--port", str(self.port), "--host", "127.0.0.1")
        for _ in range(2):
            self._start("worker", self.address, "--nthreads", "1", "--preload", str(self._preload))
        return self

    def __exit__(self, *about: object) -> None:
        if self._restarting.ident is not None:
            self._restarting.cancel()
            self._restarting.join()
        self._end()

    def _end(self) -> None:
        for process in self._running:
            process.kill()
        for process in self._running:
            process.wait(timeout=PATIENCE)
        self._running.clear()

    def restart(self) -> None:
        """End all at once, the scheduler first, as when its machine goes down; then start all again."""
        self._end()
        time.sleep(0.5)
        self.__enter__()
        self.restarts += 1

    def restarted_after(self, seconds: float) -> threading.Thread:
        """A thread that restarts the cluster once."""
        self._restarting = threading.Timer(seconds, self.restart)
        self._restarting.daemon = True
        self._restarting.start()
        return self._restarting
