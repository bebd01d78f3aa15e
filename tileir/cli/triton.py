"""``tileir triton``: run a script with its Triton kernels on a target."""

from __future__ import annotations

import argparse
from functools import partial

from tileir.cli.scripts import add_script, run_with
from tileir.triton.switch import on


def configure(parser: argparse.ArgumentParser) -> None:
    add_script(parser)
    parser.epilog = """\
A script whose tensors are on the CPU needs no command: where there is no GPU, Triton finds tileir by itself.

examples:
  tileir triton train.py --steps 10
  tileir triton --target interp kernel.py      exact, every access to memory checked
  tileir triton --sanitize kernel.py           races, masked lanes in results, accesses outside tensors, by line
  tileir triton --dump kernels train.py        bytecode and text of the kernels, into a folder
  tileir triton --view pages kernel.py         a picture of each launch, into a folder
  tileir triton --profile kernel.py            where the time of each kernel goes, by line of the file
  tileir triton --debug kernel.py              step through the kernels, with breakpoints in the file
  tileir triton --cuda-as-cpu sample.py        for code that wants a GPU
"""


def run(options: argparse.Namespace) -> int:
    return run_with(partial(on, children=True), options)
