"""``tileir cutile``: run a cuTile Python script with its kernels on a target.

Knows: the options of the verb. Does not know: how a script is run (`cutile.script`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tileir.cli import FAULT, UsageError, child, show
from tileir.cli.launching import needs_child
from tileir.cli.options import add_checks, check_of, chosen_target, limits_of
from tileir.cutile.script import run_script
from tileir.cutile.switch import DEFAULT
from tileir.ir.diagnostics import Trap


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--target", default=DEFAULT, help=f"where kernels run (default: {DEFAULT})")
    parser.add_argument("--sanitize", action="store_true", help="run on the interpreter; report races and other faults")
    add_checks(parser)
    parser.add_argument("--cuda-as-cpu", action="store_true", help="let a script that asks for CUDA use the CPU")
    parser.add_argument("script", metavar="SCRIPT.py", help="a Python file, which stays as it is")
    parser.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER, help="passed on to the script")
    parser.epilog = """\
examples:
  tileir cutile train.py --steps 10
  tileir cutile --target interp kernel.py      exact, every access to memory checked
  tileir cutile --sanitize kernel.py           races, missing tokens, padding in results, at lines of the file
  tileir cutile --cuda-as-cpu sample.py        for torch and cupy code that wants a GPU
"""


def run(options: argparse.Namespace) -> int:
    found = chosen_target(options.target)
    path = Path(options.script)
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    target = "interp" if options.sanitize else options.target
    check, limits = check_of(options), limits_of(options)
    if options.sanitize and check is not True:
        raise UsageError("--sanitize has checks of its own: expected neither --no-check nor --check strict with it")
    run = partial(run_script, path, options.arguments, target, options.cuda_as_cpu, options.sanitize, check, limits)
    return _run_in_child(path, run) if needs_child(found, check) else run()


def _run_in_child(path: Path, run: Callable[..., int]) -> int:
    """Run a script in a child process, as which this function returns too; here, say how it died if it did."""
    kernel = child.SharedText()
    try:
        status = child.go_on_in_child()
    except child.ChildDied as died:
        what = f"the process that ran kernels without checks died: {died.how}; without --no-check the fault is named"
        show.diagnostics(f"{path}: {Trap(what, kernel=kernel.text or None)}", sys.stderr)
        return FAULT
    return run(told=kernel.write) if status is None else status
