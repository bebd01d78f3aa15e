"""``tileir info``: versions and targets, or what is in a program.

Knows: what to ask for when something is reported as not working. Does not know: how a target works, nor what is said of
a program (`contents`).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

from tileir import __version__
from tileir.cache import MAX_BYTES, Cache, default_directory
from tileir.cli import FINE, contents, show
from tileir.cpu.llvm.engine import host
from tileir.cpu.run.threads import default_threads
from tileir.gpu.cuda_driver import cuda_driver
from tileir.gpu.driver import Driver
from tileir.gpu.hip_driver import hip_driver
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.versions import VERSIONS
from tileir.runtime.module import available_targets

_PACKAGES = ("numpy", "ml_dtypes", "rich", "torch", "cuda-tile", "nvidia-cuda-tileiras", "triton", "cuda-bindings")


def configure(parser: argparse.ArgumentParser) -> None:
    text = "a program, whose kernels are described with their parameters"
    parser.add_argument("file", nargs="?", metavar="FILE", help=text)
    parser.add_argument("--json", action="store_true", help="show it as JSON")
    parser.epilog = """\
examples:
  tileir info
  tileir info --json
  tileir info examples/saxpy.mlir
"""


def run(options: argparse.Namespace) -> int:
    if options.file is not None:
        return contents.show_program(options.file, options.json)
    facts = _facts()
    if options.json:
        print(json.dumps(facts, indent=2))
        return FINE
    rows = [[name, value if isinstance(value, str) else _listed(value)] for name, value in facts.items()]
    show.print_table(show.table({"what": "left", "found": "left"}, [list(row) for row in rows]))
    return FINE


def _facts() -> dict[str, str | dict[str, str]]:
    return {
        "tileir": __version__,
        "Python": f"{platform.python_version()} ({sys.executable})",
        "platform": f"{platform.platform()}, {os.cpu_count()} processors",
        "language versions": ", ".join(VERSIONS),
        "targets": available_targets(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "GPUs of NVIDIA": _gpus(cuda_driver),
        "GPUs of AMD": _gpus(hip_driver),
        "native code": f"{host().cpu}, vectors of {host().vector_bits} bits, {_threads()}",
        "cache": _cache(),
    }


def _gpus(started: Callable[[], Driver]) -> str:
    """The GPUs that a driver finds, and what else it says of itself; or why it finds none."""
    try:
        driver = started()
        return "\n".join([*driver.devices(), driver.version()])
    except (ImportError, UnsupportedError) as error:
        return f"none: {error}"


def _threads() -> str:
    try:
        return f"{default_threads()} threads"
    except ValueError as error:
        return str(error)


def _cache() -> str:
    """The folder of compiled kernels, and its size."""
    directory = default_directory()
    if directory is None:
        return "none: this user has no home directory"
    cache = Cache(directory)
    if reason := cache.distrust():
        return f"{directory}: not used, as {reason}"
    count, size = cache.used()
    return f"{directory}: {count} kernels, {size / 1e6:.1f} of at most {MAX_BYTES / 1e6:.0f} MB"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _listed(entries: dict[str, str]) -> str:
    return "\n".join(f"{name}  {text}" for name, text in entries.items())
