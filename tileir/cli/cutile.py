"""``tileir cutile``: run a cuTile Python script with its kernels on a target."""

from __future__ import annotations

import argparse
from functools import partial

from tileir.cli.scripts import add_script, run_with
from tileir.cutile.switch import on


def configure(parser: argparse.ArgumentParser) -> None:
    add_script(parser)
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
    return run_with(partial(on, children=True), options)
