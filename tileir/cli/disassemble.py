"""``tileir dis``: bytecode to text."""

from __future__ import annotations

import argparse

from tileir.cli import FINE, files
from tileir.cli.options import add_level, add_output
from tileir.text.printer import to_text


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="bytecode or text; - is standard input")
    add_output(parser, "the text")
    parser.add_argument("--debug", action="store_true", help="print locations too")
    parser.add_argument("--hex", action="store_true", help="show the bytes instead: offset, bytes, meaning")
    add_level(parser)
    parser.epilog = """\
examples:
  tileir dis kernel.tileirbc
  tileir dis --debug kernel.tileirbc -o kernel.mlir
  tileir dis --hex kernel.tileirbc | head
"""


def run(options: argparse.Namespace) -> int:
    files.write(options.output, _annotated(options.file) if options.hex else _text(options))
    return FINE


def _text(options: argparse.Namespace) -> str:
    return to_text(files.program(options.file), form="module", debug=options.debug, level=options.level)


def _annotated(file: str) -> str:
    """Return the dump of a bytecode file as it is, damaged or not; of a text, of the bytecode it is written as."""
    from tileir.bytecode import dump, encode, is_bytecode

    data = files.read(file)
    return dump(data if is_bytecode(data) else encode(files.program(file)))
