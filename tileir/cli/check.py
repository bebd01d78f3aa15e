"""``tileir check``: parse and verify programs, show every fault."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tileir.cli import FAULT, FINE, files, programs, show
from tileir.cli.files import require_program
from tileir.cli.options import add_format, add_level
from tileir.ir.diagnostics import Diagnostic, DiagnosticError, Report
from tileir.runtime.loading import from_content
from tileir.runtime.module import Module
from tileir.verify import verify

_DIVIDER = re.compile(rb"(?m)^[ \t]*// -----[^\n]*$")


@dataclass(frozen=True)
class Checked:
    """The diagnostics of one program, and what is in it if that could be read."""

    file: str
    report: Report
    contents: str | None


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="text or bytecode; - is standard input")
    add_format(parser)
    parser.add_argument(
        "--split-input-file", action="store_true", help="check the programs between lines '// -----' one by one"
    )
    parser.add_argument("--warn-hints", action="store_true", help="warn of optimization hints that have no effect")
    add_level(parser)
    programs.add_signature(parser)
    parser.epilog = """\
examples:
  tileir check examples/saxpy.mlir
  tileir check --json kernel.mlir | python -m json.tool
  tileir check --format sarif *.mlir > faults.sarif
  tileir check --level 13.1 - < kernel.mlir
"""


def run(options: argparse.Namespace) -> int:
    programs.require_kernel(options.files, options)
    checked = (
        _check(file, content, first_line, options)
        for file in options.files
        for content, first_line in _contents_of(file, options.split_input_file)
    )
    ok = _FORMS[options.format](checked)
    return FINE if ok else FAULT


def _contents_of(file: str, split: bool) -> Iterator[tuple[bytes, int]]:
    """Yield the content of a file, or its chunks, each with the number of its first line; nothing of a kernel in a
    script."""
    if programs.is_kernel(file):
        yield b"", 1
        return
    content = files.read(file)
    require_program(file, content, files.display_name(file))
    if not split:
        yield content, 1
        return
    begin, line = 0, 1
    for divider in [*_DIVIDER.finditer(content), None]:
        end = len(content) if divider is None else divider.start()
        yield content[begin:end], line
        following = end if divider is None else divider.end()
        line += content.count(b"\n", begin, following)
        begin = following


def _check(file: str, content: bytes, first_line: int, options: argparse.Namespace) -> Checked:
    name = files.display_name(file)
    try:
        if programs.is_kernel(file):
            module = programs.kernel_program(file, options)
        else:
            module = from_content(content, name, first_line, level=options.level)
    except DiagnosticError as error:
        return Checked(name, Report(error.diagnostics, error.source), None)
    return Checked(name, verify(module, options.level, warn_hints=options.warn_hints), _contents(module))


def _print_data(checked: Iterable[Checked]) -> bool:
    """Print the findings as JSON and return whether all is well."""
    found: list[dict[str, Any]] = [{"file": one.file} | one.report.to_json() for one in checked]
    ok = all(one["ok"] for one in found)
    files.write(None, json.dumps({"ok": ok, "programs": found}, indent=2) + "\n")
    return ok


def _print_sarif(checked: Iterable[Checked]) -> bool:
    """Print the findings as SARIF and return whether all is well."""
    from tileir.cli.explain import title
    from tileir.sanitize.sarif import diagnostics_sarif

    reports = [one.report for one in checked]
    found = [diagnostic for report in reports for diagnostic in report]
    titles = {code: title(code) for code in sorted({diagnostic.code for diagnostic in found})}
    files.write(None, json.dumps(diagnostics_sarif(found, titles), indent=2) + "\n")
    return all(report.ok for report in reports)


def _show(checked: Iterable[Checked]) -> bool:
    """Show what was found, one program after the other; whether all is well."""
    programs = errors = unread = 0
    found: dict[str, Diagnostic] = {}
    for one in checked:
        programs += 1
        found |= {diagnostic.code: diagnostic for diagnostic in one.report}
        unread += one.contents is None
        errors += len(one.report.errors)
        if len(one.report):
            show.diagnostics(one.report.render(), sys.stdout)
        if one.report.ok and one.contents is not None:
            show.line(f"{one.file}: ok, {one.contents}")
    if errors:
        more = "; more is checked once what could not be read is mended" if unread else ""
        print(f"{show.counted(errors, 'error')} in {show.counted(programs, 'program')}{more}")
    show.explanations(found.values(), sys.stdout)
    return not errors


_FORMS = {"text": _show, "json": _print_data, "sarif": _print_sarif}


def _contents(module: Module) -> str:
    entries = sum(item.spec.name == "entry" for item in module.items)
    return f"{show.counted(entries, 'entry', 'entries')}, {show.counted(sum(1 for _ in module.walk()), 'operation')}"
