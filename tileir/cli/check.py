"""``tileir check``: parse and verify programs, show every fault.

Knows: several files, chunks of one file, the text and JSON forms of what was found.
Does not know: the rules (`text`, `verify`).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tileir.cli import FAULT, FINE, files, show
from tileir.cli.options import add_level
from tileir.ir.diagnostics import DiagnosticError, Report
from tileir.runtime.module import Module, from_content
from tileir.verify import verify

_DIVIDER = re.compile(rb"(?m)^[ \t]*// -----[^\n]*$")


@dataclass(frozen=True)
class Checked:
    """The diagnostics of one program."""

    file: str
    report: Report
    module: Module | None


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="text or bytecode; - is standard input")
    parser.add_argument("--json", action="store_true", help="show what was found as JSON")
    parser.add_argument(
        "--split-input-file", action="store_true", help="check the programs between lines '// -----' one by one"
    )
    add_level(parser)
    parser.epilog = """\
examples:
  tileir check examples/saxpy.mlir
  tileir check --json kernel.mlir | python -m json.tool
  tileir check --level 13.1 - < kernel.mlir
"""


def run(options: argparse.Namespace) -> int:
    checked = [
        _check(file, content, options.level)
        for file in options.files
        for content in _programs(files.read(file), options.split_input_file)
    ]
    if options.json:
        files.write(None, json.dumps(_as_data(checked), indent=2) + "\n")
    else:
        _show(checked)
    return FINE if all(one.report.ok for one in checked) else FAULT


def _programs(content: bytes, split: bool) -> Iterator[bytes]:
    """The content, or its chunks, each after as many line ends as stand before it: positions stay those of the file."""
    if not split:
        yield content
        return
    begin = 0
    for divider in [*_DIVIDER.finditer(content), None]:
        end = len(content) if divider is None else divider.start()
        yield b"\n" * content.count(b"\n", 0, begin) + content[begin:end]
        begin = end if divider is None else divider.end()


def _check(file: str, content: bytes, level: str) -> Checked:
    name = files.display_name(file)
    try:
        module = from_content(content, name)
    except DiagnosticError as error:
        return Checked(name, Report(error.diagnostics, error.source), None)
    return Checked(name, verify(module, level), module)


def _as_data(checked: list[Checked]) -> dict[str, Any]:
    found = [{"file": one.file} | one.report.to_json() for one in checked]
    return {"ok": all(one.report.ok for one in checked), "programs": found}


def _show(checked: list[Checked]) -> None:
    for one in checked:
        if len(one.report):
            show.diagnostics(one.report.render(), sys.stdout)
        if one.report.ok and one.module is not None:
            show.line(f"{one.file}: ok, {_contents(one.module)}")
    errors = sum(len(one.report.errors) for one in checked)
    if errors:
        print(f"{show.counted(errors, 'error')} in {show.counted(len(checked), 'program')}")


def _contents(module: Module) -> str:
    entries = sum(item.spec.name == "entry" for item in module.items)
    return f"{show.counted(entries, 'entry', 'entries')}, {show.counted(sum(1 for _ in module.walk()), 'operation')}"
