"""The reference disassembler and assembler, where the package `nvidia-cuda-tileiras` is installed."""

import shutil
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

PACKAGE = "nvidia-cuda-tileiras"


@cache
def tool(name: str) -> str | None:
    """The path of a tool of the package, or one on the search path."""
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        files = []
    found = next((str(file.locate()) for file in files if Path(file).name == name), None)
    return found or shutil.which(name)


def required(name: str) -> str:
    path = tool(name)
    if path is None:
        pytest.skip(f"'{name}' is missing: install the package {PACKAGE}")
    return path


def _features(data: bytes) -> list[str]:
    """The option that a file needs which announces preview content."""
    return ["--preview=simt"] if data[10] else []


def disassemble(data: bytes, folder: Path, debug: bool = False) -> str:
    """The text that the reference disassembler makes of `data`; fails the test if it refuses."""
    file = folder / "program.tileirbc"
    file.write_bytes(data)
    command = [required("tileirdisasm"), *_features(data), *(["--print-debug-info"] if debug else []), str(file)]
    run = subprocess.run(command, capture_output=True, timeout=60)
    assert run.returncode == 0, run.stderr.decode("utf-8", "replace")
    return run.stdout.decode("utf-8", "surrogateescape")


def is_refused(data: bytes, folder: Path) -> bool:
    """Return whether the reference disassembler refuses `data`."""
    file = folder / "program.tileirbc"
    file.write_bytes(data)
    return (
        subprocess.run(
            [required("tileirdisasm"), *_features(data), str(file)], capture_output=True, timeout=60
        ).returncode
        != 0
    )


def assemble(data: bytes, folder: Path, architecture: str) -> str:
    """Output of the reference assembler for `data`: empty if it makes a program for `architecture`."""
    file = folder / "program.tileirbc"
    file.write_bytes(data)
    command = [required("tileiras"), "--gpu-name", architecture, str(file), "-o", str(folder / "program.cubin")]
    run = subprocess.run(command, capture_output=True, timeout=300)
    return "" if run.returncode == 0 else f"exit {run.returncode}: {run.stderr.decode('utf-8', 'replace')}"
