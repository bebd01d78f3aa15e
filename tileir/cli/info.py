"""``tileir info``: versions, targets, the cache; or the entries of a program and what each takes."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import textwrap
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

from tileir import __version__
from tileir.cache import MAX_BYTES, Cache, default_directory
from tileir.cli import FINE, files, show
from tileir.cli.show import Justify
from tileir.command_line.signature import Signature
from tileir.gpu.cuda_driver import cuda_driver
from tileir.gpu.driver import Driver
from tileir.gpu.hip_driver import hip_driver
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.escaping import shown
from tileir.ir.versions import NEWEST, VERSIONS
from tileir.ops.calls import Func, functions_of
from tileir.ops.module import Global
from tileir.runtime.module import Module, available_targets
from tileir.runtime.serialisation import lowest_version

_COLUMNS: dict[str, Justify] = {"parameter": "left", "type": "left", "takes": "left", "inferred": "left"}


def show_program(file: str, as_json: bool) -> int:
    """Describe the program in a file. Raises `DiagnosticError`."""
    module = files.verified(file, NEWEST)
    if as_json:
        print(json.dumps(_as_data(module), indent=2))
        return FINE
    counts = [f"{len(module.kernels)} kernels" if len(module.kernels) != 1 else "1 kernel", *_others(module)]
    show.line(f"{files.display_name(file)}: {', '.join(counts)}; bytecode from version {lowest_version(module)} on")
    for kernel in module.kernels.values():
        _show_kernel(Signature(kernel), file, len(module.kernels) > 1)
    return FINE


def _others(module: Module) -> list[str]:
    numbers = [(sum(isinstance(item, cls) for item in module.items), name) for cls, name in _ITEMS]
    return [show.counted(number, name) for number, name in numbers if number]


_ITEMS = ((Global, "global"), (Func, "function"))


def _show_kernel(signature: Signature, file: str, several: bool) -> None:
    also = "".join(f"; {effect}" for effect in signature.effects)
    show.line(f"\n@{shown(signature.kernel.name)}: axes of the grid it looks at: {signature.axes}{also}")
    rows: list[list[str]] = [
        [one.name, repr(one.parameter.type), one.argument, ", ".join(one.uses)] for one in signature.parameters
    ]
    if rows:
        show.print_table(show.table(_COLUMNS, rows))
    show.line(f"{'' if rows else chr(10)}{signature.command('run', [file], several)}")


def _as_data(module: Module) -> dict[str, object]:
    return {
        "lowest_version": lowest_version(module),
        "globals": [item.sym_name for item in module.items if isinstance(item, Global)],
        "functions": [function.sym_name for function in functions_of(module)],
        "kernels": [_kernel_data(Signature(kernel)) for kernel in module.kernels.values()],
    }


def _kernel_data(signature: Signature) -> dict[str, object]:
    parameters = [
        {"name": one.parameter.name, "type": repr(one.parameter.type), "inferred": list(one.uses)}
        for one in signature.parameters
    ]
    return {
        "name": signature.kernel.name,
        "grid_axes": signature.axes.split(", ") if signature.axes != "none" else [],
        "effects": signature.effects,
        "parameters": parameters,
        "example": ["--grid", "1", *signature.words],
    }


_PACKAGES = ("numpy", "ml_dtypes", "rich", "torch", "cuda-tile", "nvidia-cuda-tileiras", "triton", "cuda-bindings")


_WIDTH = 98
"""Columns of what was found: with the names before it, 120 are not exceeded."""


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
        return show_program(options.file, options.json)
    facts = _facts()
    if options.json:
        print(json.dumps(facts, indent=2))
        return FINE
    rows = [row for name, value in facts.items() for row in _rows(name, value)]
    show.print_table(show.table({"what": "left", "found": "left"}, rows))
    return FINE


def _rows(name: str, value: str | dict[str, str]) -> list[list[str]]:
    """Return the lines of a fact, only the first with its name, none too wide for a page."""
    given = value.split("\n") if isinstance(value, str) else [f"{key}  {text}" for key, text in value.items()]
    lines = [line for text in given for line in textwrap.wrap(text, _WIDTH, subsequent_indent="  ") or [""]]
    return [[name if at == 0 else "", line] for at, line in enumerate(lines)]


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
        "native code": _native(),
        "cache": _cache(),
    }


def _gpus(started: Callable[[], Driver]) -> str:
    """Return the GPUs that a driver finds, and what else it says of itself; or why it finds none."""
    try:
        driver = started()
        return "\n".join([*driver.devices(), driver.version()])
    except (ImportError, UnsupportedError) as error:
        return f"none: {error}"


def _native() -> str:
    """Return the processor that native code is made for, or why there is none."""
    try:
        from tileir.cpu.llvm.engine import host
    except ImportError as error:
        return f"none: {error}"
    return f"{host().cpu}, vectors of {host().vector_bits} bits, {_threads()}"


def _threads() -> str:
    from tileir.cpu.run.threads import default_threads

    try:
        return f"{default_threads()} threads"
    except ValueError as error:
        return str(error)


def _cache() -> str:
    """Return the folder of compiled kernels, and its size."""
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
