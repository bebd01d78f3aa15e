"""Programs given to the vendor's assembler, which must take what the specification allows.

Knows: how it is run and how it can fail: refusal, crash, no end. Does not know: where programs come from.
"""

from __future__ import annotations

import subprocess
import tempfile
from functools import cache
from pathlib import Path

from tileir.bytecode import encode
from tileir.gpu.vendor import require_program
from tileir.ir.core import Module
from tileir.ir.diagnostics import DiagnosticError
from tileir.ir.versions import VERSIONS

ARCH = "sm_100"
SECONDS = 60.0
"""The time after which the assembler counts as hanging."""


def assembler_finding(module: Module, level: int) -> tuple[str, str] | None:
    """The kind of fault and its text; None for a program that is taken, or that has no bytecode it can read."""
    try:
        data = encode(module, newest_version())
    except DiagnosticError:
        return None
    return assembled(data, level)


def assembled(data: bytes, level: int) -> tuple[str, str] | None:
    """How the assembler fails on bytecode; None if it does not."""
    with tempfile.TemporaryDirectory(prefix="tileir-fuzz-") as folder:
        given, made = Path(folder) / "module.tileirbc", Path(folder) / "module.cubin"
        given.write_bytes(data)
        command = [str(require_program()), "--gpu-name", ARCH, f"-O{level}", str(given), "-o", str(made)]
        try:
            ran = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return "hang", f"no end after {SECONDS:g} s"
    said = " ".join((ran.stderr or ran.stdout).split())[:300]
    if ran.returncode < 0 or ran.returncode >= 128:
        return "crash", f"ended by signal {-ran.returncode if ran.returncode < 0 else ran.returncode - 128}: {said}"
    return ("refused", f"status {ran.returncode}: {said}") if ran.returncode else None


@cache
def newest_version() -> str:
    """The newest version of bytecode that both this project and the installed assembler know."""
    ran = subprocess.run([str(require_program()), "--list-versions"], capture_output=True, text=True, timeout=SECONDS)
    known = [version for version in VERSIONS if version in ran.stdout.split()]
    return known[-1] if known else VERSIONS[0]
