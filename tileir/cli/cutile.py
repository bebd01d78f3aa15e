"""``tileir cutile``: run a cuTile Python script with its kernels on a target.

Knows: the options of the verb. Does not know: how a script is run (`cutile.script`).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tileir.cli import UsageError
from tileir.cli.options import add_checks, check_of, chosen_target, limits_of
from tileir.cutile.script import run_script
from tileir.cutile.switch import DEFAULT


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
    chosen_target(options.target)
    path = Path(options.script)
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    target = "interp" if options.sanitize else options.target
    check, limits = check_of(options), limits_of(options)
    if options.sanitize and check is not True:
        raise UsageError("--sanitize has checks of its own: expected neither --no-check nor --check strict with it")
    return run_script(path, options.arguments, target, options.cuda_as_cpu, options.sanitize, check, limits)
