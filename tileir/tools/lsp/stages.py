"""What the commands over an entry need: its code from the compilers, and a command line that runs it.

Knows: which stages can be asked for, and that each is made in a process of its own, which may be ended; how arguments
are written. Does not know: how code is made (``tileir compile``), nor how a kernel is run (``tileir run``).
"""

from __future__ import annotations

import subprocess
import sys

from tileir.ir.core import Block
from tileir.ir.types import PointerType, TileType, Type
from tileir.ops.module import Entry
from tileir.tools.lsp.snapshot import Snapshot

STAGES = {
    "llvm": ("llvm", ["--target", "cpu", "--emit", "llvm"]),
    "asm": ("asm", ["--target", "cpu", "--emit", "asm"]),
    "ttir": ("mlir", ["--target", "sm_90", "--emit", "ttir"]),
    "ptx": ("ptx", ["--target", "sm_90", "--emit", "ptx"]),
}
"""Stage -> (language of its text, options of ``tileir compile``)."""
SECONDS = 120


def entry_at(snapshot: Snapshot, line: int) -> str | None:
    """The name of the last entry that begins at or before a line, counted from zero."""
    found = None
    for begin, op in sorted(snapshot.reading.statements.items()):
        if isinstance(op, Entry) and snapshot.lines.position(begin).line <= line:
            found = op.sym_name
    return found


def made(text: str, stage: str, kernel: str | None) -> dict[str, str]:
    """The code of an entry: ``language`` and ``text``, or ``error``."""
    if kernel is None or stage not in STAGES:
        return {"error": "no entry at this line" if stage in STAGES else f"no stage '{stage}': {', '.join(STAGES)}"}
    language, options = STAGES[stage]
    command = [sys.executable, "-m", "tileir", "compile", "-", "--kernel", kernel, *options]
    try:
        ended = subprocess.run(
            command, input=text.encode("utf-8", "surrogatepass"), capture_output=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return {"error": f"compiling @{kernel} took longer than {SECONDS} seconds"}
    if ended.returncode:
        return {"error": ended.stderr.decode("utf-8", "replace").strip()}
    return {"language": language, "text": ended.stdout.decode("utf-8", "replace")}


def launch_words(snapshot: Snapshot, kernel: str) -> list[str]:
    """The words of a command line that runs an entry, with arguments to be changed: zeros, and 1 for numbers."""
    found = [op for op in snapshot.reading.module.items if isinstance(op, Entry) and op.sym_name == kernel]
    body = found[0].body if found else Block()
    names = [name.lstrip("%") for name in body.arg_names] or [str(index) for index in range(len(body.args))]
    words = [f"{name}={_fill(argument.type)}" for name, argument in zip(names, body.args)]
    return ["run", snapshot.source.name, "--kernel", kernel, "--grid", "1", *words]


def _fill(type: Type) -> str:
    element = type.element if isinstance(type, TileType) else None
    if isinstance(element, PointerType):
        return f"{element.pointee.name}[1024]:zeros"
    return f"{element.name}:1" if element is not None else "1"
