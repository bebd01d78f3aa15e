"""``tileir opt``: print a program in canonical form.

Knows: the forms that can be printed. Does not know: how they are made (`text.printer`).
"""

from __future__ import annotations

import argparse

from tileir.cli import FINE, files
from tileir.cli.options import add_level, add_output
from tileir.text.printer import to_text


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="text or bytecode; - is standard input")
    add_output(parser, "the text")
    parser.add_argument("--generic", action="store_true", help='print every operation in the generic form, "op"(...)')
    parser.add_argument("--debug", action="store_true", help="print locations too")
    parser.add_argument("--no-verify", action="store_true", help="print also a program that breaks a rule")
    add_level(parser)
    parser.epilog = """\
Comments are not part of the program and are not printed.

examples:
  tileir opt kernel.mlir
  tileir opt kernel.mlir -o kernel.mlir         # format in place
  tileir opt --generic kernel.mlir
"""


def run(options: argparse.Namespace) -> int:
    module = files.program(options.file) if options.no_verify else files.verified(options.file, options.level)
    form = "generic" if options.generic else "module"
    files.write(options.output, to_text(module, form=form, debug=options.debug, level=options.level))
    return FINE
