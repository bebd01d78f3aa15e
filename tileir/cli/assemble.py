"""``tileir as``: text to bytecode."""

from __future__ import annotations

import argparse

from tileir.cli import FINE, files
from tileir.cli.options import add_output
from tileir.ir.versions import NEWEST, VERSIONS


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="text or bytecode; - is standard input")
    add_output(parser, "the bytecode", required=True)
    parser.add_argument(
        "--bytecode-version",
        choices=VERSIONS,
        metavar="VERSION",
        help=f"version to write, whose rules the program must keep: {', '.join(VERSIONS)} "
        "(default: the lowest that can express the program)",
    )
    parser.epilog = """\
examples:
  tileir as kernel.mlir -o kernel.tileirbc
  tileir as kernel.mlir -o kernel.tileirbc --bytecode-version 13.1
  tileir as kernel.mlir -o - | tileir dis -
"""


def run(options: argparse.Namespace) -> int:
    from tileir import to_bytecode

    version = options.bytecode_version
    module = files.verified(options.file, version or NEWEST)
    files.write(options.output, to_bytecode(module, version=version))
    return FINE
