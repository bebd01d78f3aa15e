"""``tileir cutile``: run a cuTile Python script with its kernels on a target."""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from pathlib import Path

from tileir.cli import FAULT, UsageError, files, show
from tileir.cli.abbreviating import abbreviating
from tileir.cli.cutile_tools import add_tools, chosen_tool
from tileir.cli.launching import needs_child
from tileir.cli.options import add_checks, check_of, chosen_target, limits_of
from tileir.cli.progress import clear_line, progress_line
from tileir.cutile.dumping import Dump
from tileir.cutile.switch import DEFAULT, enabled_for_script
from tileir.frontend.script import run_script
from tileir.host import child
from tileir.ir.diagnostics import Trap
from tileir.runtime.module import Target


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--target", default=DEFAULT, help=f"where kernels run (default: {DEFAULT})")
    parser.add_argument("--sanitize", action="store_true", help="run on the interpreter; report races and other faults")
    add_checks(parser)
    parser.add_argument("--cuda-as-cpu", action="store_true", help="let a script that asks for CUDA use the CPU")
    text = "keep the bytecode and the text of each kernel that is launched"
    parser.add_argument("--dump", metavar="FOLDER", help=text)
    add_tools(parser)
    parser.add_argument("script", metavar="SCRIPT.py", help="a Python file, which stays as it is")
    parser.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER, help="passed on to the script")
    parser.epilog = """\
examples:
  tileir cutile train.py --steps 10
  tileir cutile --target interp kernel.py      exact, every access to memory checked
  tileir cutile --sanitize kernel.py           races, missing tokens, padding in results, at lines of the file
  tileir cutile --dump kernels train.py        bytecode and text of the kernels, into a folder
  tileir cutile --view pages kernel.py         a picture of each launch, into a folder
  tileir cutile --profile kernel.py            where the time of each kernel goes, by line of the file
  tileir cutile --debug kernel.py              step through the kernels, with breakpoints in the file
  tileir cutile --cuda-as-cpu sample.py        for torch and cupy code that wants a GPU
"""


def run(options: argparse.Namespace) -> int:
    found = chosen_target(options.target)
    path = Path(options.script)
    _require_script(path)
    if options.sanitize and check_of(options) is not True:
        raise UsageError("--sanitize has checks of its own: expected neither --no-check nor --check strict with it")
    tool = chosen_tool(options)
    if tool is not None:
        return run_script(path, options.arguments, enabled_for_script(tool.name, instead=tool), options.cuda_as_cpu)
    return _run_in_child(path, options, found) if needs_child(found, check_of(options)) else _run(path, options, found)


def _require_script(path: Path) -> None:
    """Raise UsageError for what is no file, or a program that another verb takes."""
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    if path.suffix in (".mlir", *files.BYTECODE_SUFFIXES):
        raise UsageError(f"'{path}' is a Tile IR program; 'tileir run {path}' runs it")


def _run_in_child(path: Path, options: argparse.Namespace, target: Target) -> int:
    """Run a script in a child process, as which this function returns too; here, say how it died if it did."""
    kernel = child.SharedText()
    try:
        status = child.go_on_in_child()
    except child.ChildDied as died:
        clear_line()
        what = f"the process that ran kernels without checks died: {died.how}; without --no-check the fault is named"
        show.diagnostics(f"{path}: {Trap(what, kernel=kernel.text or None)}", sys.stderr)
        return FAULT
    return _run(path, options, target, kernel) if status is None else status


def _run(path: Path, options: argparse.Namespace, target: Target, note: child.SharedText | None = None) -> int:
    """Run a script; its kernels' progress is shown, and each is written down as it begins."""
    settings, sanitize = limits_of(options), options.sanitize
    output = abbreviating(sys.stdout)
    if output is not None and target.name != "cuda:tileiras":
        settings["output"] = output
    name = "interp" if sanitize else target.name
    with nullcontext() if sanitize else progress_line("", target, settings) as line:

        def told(kernel: str) -> None:
            if note is not None:
                note.write(kernel)
            if line is not None:
                line.begin(kernel)

        enabled = enabled_for_script(name, sanitize, check_of(options), told, _dump(options), **settings)
        return run_script(path, options.arguments, enabled, options.cuda_as_cpu)


def _dump(options: argparse.Namespace) -> Dump | None:
    try:
        return None if options.dump is None else Dump(Path(options.dump))
    except OSError as error:
        raise UsageError(f"--dump: cannot make the folder '{options.dump}': {files.reason(error)}") from None
