"""``tileir reduce``: shrink a program while a command still fails on it."""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from tileir.cli import FINE, UsageError, files, show
from tileir.cli.options import add_level, add_output
from tileir.fuzz.shrinking import operation_count, reduced
from tileir.ir.core import Module
from tileir.ir.diagnostics import DiagnosticError
from tileir.text.printer import to_text
from tileir.verify import verify

SECONDS = 60.0


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="text or bytecode; - is standard input")
    parser.add_argument("--test", required=True, metavar="CMD", help="the command; {} in it is the program's file")
    parser.add_argument("--match", metavar="REGEX", help="what the command must still say when it fails")
    parser.add_argument("--bytecode", action="store_true", help="give the command bytecode, of the version --level")
    parser.add_argument("--timeout", type=float, default=SECONDS, metavar="S", help="seconds for one run (default 60)")
    add_output(parser, "the program")
    add_level(parser)
    parser.epilog = """\
A smaller program is taken if it is valid and the command ends with the same status as on FILE, which must not be 0.
Without {} the file is the last argument of the command.

examples:
  tileir reduce kernel.mlir --test 'tileiras --gpu-name sm_100 {} -o /dev/null' --bytecode -o small.mlir
  tileir reduce kernel.mlir --test ./fails.sh --match 'stack overflow'
"""


def run(options: argparse.Namespace) -> int:
    module: Module = files.verified(options.file, options.level)
    with tempfile.TemporaryDirectory(prefix="tileir-reduce-") as folder:
        command = Command(options, Path(folder))
        if not command.fails(module, first=True):
            raise UsageError("the command does not fail on the program as it is")
        before = operation_count(module)
        module = reduced(module, command.fails, lambda version: verify(version, options.level).ok)
    after = operation_count(module)
    runs = show.counted(command.runs, "run")
    show.line(f"operations: {before} before, {after} after; {runs} of the command", sys.stderr)
    files.write(options.output, to_text(module, level=options.level))
    return FINE


@dataclass
class _Outcome:
    status: int
    text: str


class Command:
    """The command that a user gave; `runs` counts how often it ran."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        try:
            self.words = shlex.split(options.test)
            self.match = re.compile(options.match or "")
        except (ValueError, re.error) as error:
            name = "--match" if isinstance(error, re.error) else "--test"
            raise UsageError(f"{name}: {error}") from None
        if not self.words:
            raise UsageError("--test: expected a command, got nothing")
        if not 0 < options.timeout <= threading.TIMEOUT_MAX:
            raise UsageError(f"--timeout: expected a positive number of seconds, got {options.timeout}")
        self.options = options
        self.file = folder / ("program.tileirbc" if options.bytecode else "program.mlir")
        self.runs = 0
        self._status = 0

    def fails(self, module: Module, first: bool = False) -> bool:
        """Return whether the command fails as it did on the `first` program."""
        content = self._content(module)
        if content is None:
            return False
        self.file.write_bytes(content)
        found = self._run()
        if first:
            self._status = found.status
        return found.status == self._status != 0 and self.match.search(found.text) is not None

    def _content(self, module: Module) -> bytes | None:
        """Return the program as the command reads it; None if it cannot be written so."""
        if not self.options.bytecode:
            return to_text(module, level=self.options.level).encode("utf-8", "surrogateescape")
        from tileir.bytecode import encode

        try:
            return encode(module, self.options.level)
        except DiagnosticError:
            return None

    def _run(self) -> _Outcome:
        name = str(self.file)
        placed = any("{}" in word for word in self.words)
        words = [word.replace("{}", name) for word in self.words] if placed else [*self.words, name]
        self.runs += 1
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, errors="replace", timeout=self.options.timeout, check=False
            )
        except subprocess.TimeoutExpired:
            return _Outcome(124, "")
        except OSError as error:
            raise UsageError(f"--test: cannot run '{words[0]}': {files.reason(error)}") from None
        return _Outcome(done.returncode, done.stdout + done.stderr)
