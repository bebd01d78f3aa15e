"""Time to read and write bytecode.

    python bench/bytecode.py

The program is the generated one of `frontend`; its peer is the reference disassembler, a native program that reads,
verifies and prints. Its time is that of the whole process: with a single kernel, mostly that of starting it.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import frontend
from table import Row, Skipped, in_turn, markdown

import tileir
from tileir import bytecode

PACKAGE = "nvidia-cuda-tileiras"
MATMUL_AIM_MS = 10.0


def _disassembler() -> Path:
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        files = []
    found = next((Path(str(file.locate())) for file in files if file.name == "tileirdisasm"), None)
    if found is None:
        raise Skipped(f"tileirdisasm is not installed: pip install {PACKAGE}")
    return found


def _peer(data: bytes, folder: Path) -> Callable[[], object]:
    path = folder / f"{len(data)}.tileirbc"
    path.write_bytes(data)
    command = [str(_disassembler()), str(path)]
    return lambda: subprocess.run(command, capture_output=True, check=True)


def _checked(data: bytes) -> tileir.Module:
    module = bytecode.decode(data)
    assert tileir.verify(module).ok
    return module


def generated() -> list[Row]:
    """Microseconds an operation, on a module of 10,000 operations."""
    module = tileir.parse(frontend.program())
    count = sum(1 for _ in module.walk())
    data = bytecode.encode(module)
    with tempfile.TemporaryDirectory() as folder:
        peer = _peer(data, Path(folder))
        actions = (lambda: bytecode.decode(data), lambda: _checked(data), lambda: bytecode.encode(module), peer)
        read, checked, written, peers = (took / count * 1e6 for took in in_turn(*actions))
    what = f"{count} operations ({len(data)} bytes)"
    name = "tileirdisasm: read, verify, print"
    return [
        Row(f"read bytecode, {what}", "us/op", read, name, peers, "-", True),
        Row("read and verify bytecode", "us/op", checked, name, peers, "-", True),
        Row("write bytecode", "us/op", written, name, peers, "-", True),
    ]


def kernel() -> list[Row]:
    """Milliseconds for a whole kernel as cuTile Python writes it."""
    try:
        from cutile_kernels import matmul_bytecode
    except ImportError:
        raise Skipped("cuTile Python is not installed: pip install cuda-tile") from None
    data = matmul_bytecode()
    with tempfile.TemporaryDirectory() as folder:
        peer = _peer(data, Path(folder))
        ours, peers = (took * 1e3 for took in in_turn(lambda: _checked(data), peer, runs=15))
    aim, name = f"<= {MATMUL_AIM_MS:g} ms", "tileirdisasm, whole process"
    return [Row("read and verify cuTile's matmul", "ms", ours, name, peers, aim, ours <= MATMUL_AIM_MS)]


MEASUREMENTS = (generated, kernel)

if __name__ == "__main__":
    print(markdown([row for measure in MEASUREMENTS for row in measure()]))
