"""Work that ends in every way, and workers that are lost."""

from __future__ import annotations

import faulthandler
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tileir.farm import job as kinds
from tileir.farm.executors import Workers, processes
from tileir.farm.job import Ending, FarmJob, WorkResult

SLEEPER = [sys.executable, "-c", "import time; time.sleep(1000)"]
KINDS = {"probe": ("tests.farm.probes", "probe")}
BAD_ENDS = [
    ("crash", Ending.CRASHED, "SIGSEGV"),
    ("exit", Ending.CRASHED, "it left with status 3"),
    ("bug", Ending.CRASHED, "ZeroDivisionError"),
    ("hang", Ending.HUNG, "no end after 1 s"),
    ("hang with a child", Ending.HUNG, "no end after 1 s"),
    ("memory", Ending.MEMORY, "memory"),
    ("refuse", Ending.FAILED, "ValueError: expected another number"),
]
"""Harm that a probe does, how it ends if it has a second, and a part of the reason."""


def probe(spec: dict[str, Any], content: bytes) -> WorkResult:
    """Run a probe: return the square of its number, after some kind of harm."""
    print("probe", spec["number"])
    {
        "none": lambda: None,
        "crash": lambda: (faulthandler.disable(), os.kill(os.getpid(), signal.SIGSEGV)),
        "exit": lambda: os._exit(3),
        "hang": lambda: time.sleep(1000),
        "hang with a child": lambda: subprocess.run(
            [sys.executable, "-c", "import time; time.sleep(1000)"], timeout=2000
        ),
        "memory": lambda: bytearray(1 << 40),
        "refuse": lambda: _refuse(),
        "bug": lambda: 1 // 0,
        "kill the worker": lambda: _once(spec["mark"], lambda: os.kill(os.getppid(), signal.SIGKILL)),
        "crash once": lambda: _once(spec["mark"], lambda: os.kill(os.getpid(), signal.SIGKILL)),
        "slow": lambda: time.sleep(0.02),
        "another answer": lambda: None,
    }[spec.get("harm", "none")]()
    if spec.get("reusable") is not None:
        return WorkResult({"process": os.getpid(), "touched": len(b"." * spec["touched"])}, reusable=spec["reusable"])
    if spec.get("harm") == "another answer":
        return WorkResult({"time": time.time_ns()})
    return WorkResult(
        {"square": spec["number"] ** 2}, {"seconds": time.perf_counter()}, {"n.txt": b"%d" % spec["number"]}
    )


def _refuse() -> None:
    raise ValueError("expected another number")


def _once(mark: str, harm: Callable[[], object]) -> None:
    """Do harm the first time only."""
    path = Path(mark)
    if not path.exists():
        path.touch()
        harm()
        time.sleep(60)


def job(number: int, harm: str = "none", **more: Any) -> FarmJob:
    return FarmJob("probe", {"number": number, "harm": harm, **more})


def workers(count: int = 2) -> Workers:
    """Processes of this machine that know the work of the tests: copies of this process."""
    return processes(count)


def register() -> None:
    """In a process that the tests' fixture does not reach."""
    kinds.KINDS.update(KINDS)
