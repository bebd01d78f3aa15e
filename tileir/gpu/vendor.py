"""The vendor's route: `tileiras` makes a cubin from bytecode; cubins are cached on disk.

Kernels of these cubins take the parameters of the entry and no others, and are launched with blocks of one thread: the
driver, which must be one for CUDA 13.1 or newer, finds the rest in the cubin (spec: launch#grid).
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tileir.cache import Cache, key_of
from tileir.gpu.arch import Arch
from tileir.gpu.executable import Executable
from tileir.gpu.program import ALIGNED
from tileir.ir.attributes import DivBy
from tileir.ir.diagnostics import UnsupportedError
from tileir.ops.misc import Assume
from tileir.ops.module import Entry

PROGRAM = "tileiras"
TARGET = "cuda:tileiras"
PATIENCE = 600
"""Seconds after which the program is given up."""
_SHOWN_LINES = 5


@cache
def program() -> Path | None:
    """Find `tileiras`: in the package `nvidia-cuda-tileiras`, or on the search path."""
    package = importlib.util.find_spec("nvidia")
    places = [] if package is None else [Path(place) for place in package.submodule_search_locations or ()]
    found = [file for place in places for file in sorted(place.glob(f"*/bin/{PROGRAM}*")) if file.is_file()]
    if found:
        return found[0]
    other = shutil.which(PROGRAM)
    return None if other is None else Path(other)


def require_program() -> Path:
    """Return the path of `tileiras`. Raises ImportError if it is not installed."""
    path = program()
    if path is None:
        raise ImportError("needs the vendor's assembler: pip install nvidia-cuda-tileiras")
    return path


def cubin(bytecode: bytes, arch: Arch, cache: Cache) -> bytes:
    """Return the cubin of a whole module: from the cache if it is there. Raises UnsupportedError if it is refused."""
    path = require_program()
    status = path.stat()
    identity = f"{path} {status.st_size} {status.st_mtime_ns}"
    key = key_of("tileiras route", identity, arch.name, hashlib.sha256(bytecode).hexdigest())
    found = cache.get(key)
    if found is not None:
        return found[1]
    made = _assembled(path, bytecode, arch)
    cache.put(key, (b"", made))
    return made


def executable(cubin: bytes, kernel: str, parameters: int) -> Executable:
    """Return a kernel with `parameters` parameters from a cubin made by `tileiras`."""
    made = Executable(cubin, kernel)
    made.require_parameters(parameters)
    return made


def promise_alignment(entry: Entry, positions: Iterable[int]) -> None:
    """Have an entry assume that the parameters at `positions` are multiples of 16. The entry is changed."""
    block = entry.body
    promises = {}
    for position in positions:
        parameter = block.args[position]
        promise = Assume.build([parameter.type], entry.loc, predicate=DivBy(ALIGNED.divisor), value=parameter)
        promise.parent = block
        promises[parameter] = promise
    for op in entry.walk():
        for place, operand in enumerate(op.operands):
            if operand in promises:
                op.set_operand(place, promises[operand].result)
    block.ops[:0] = promises.values()


def _assembled(path: Path, bytecode: bytes, arch: Arch) -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        given, made = Path(directory) / "module.tileirbc", Path(directory) / "module.cubin"
        given.write_bytes(bytecode)
        command = [str(path), "--gpu-name", arch.name, str(given), "-o", str(made)]
        try:
            run = subprocess.run(command, capture_output=True, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise UnsupportedError(f"'{PROGRAM}' took more than {PATIENCE} s", TARGET) from None
        except OSError as error:
            raise UnsupportedError(f"'{PROGRAM}' cannot be run: {error}", TARGET) from error
        if run.returncode != 0 or not made.exists():
            raise UnsupportedError(f"'{PROGRAM}' refused the module: {_said(run)}", TARGET)
        return made.read_bytes()


def _said(run: subprocess.CompletedProcess[bytes]) -> str:
    """Return the last lines that the program wrote."""
    output = (run.stderr or run.stdout).decode("utf-8", "replace")
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return "; ".join(lines[-_SHOWN_LINES:]) or f"it ended with status {run.returncode} and said nothing"
