"""``tileir dis``: bytecode to text.

Knows: the forms that can be printed. Does not know: the encoding (`bytecode`), nor how text is made (`text.printer`).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from tileir.cli import FINE, files
from tileir.cli.options import add_level, add_output
from tileir.text.printer import to_text

_BYTES_A_LINE = 16


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="bytecode or text; - is standard input")
    add_output(parser, "the text")
    parser.add_argument("--debug", action="store_true", help="print locations too")
    parser.add_argument("--hex", action="store_true", help="show the bytes of the file instead")
    add_level(parser)
    parser.epilog = """\
examples:
  tileir dis kernel.tileirbc
  tileir dis --debug kernel.tileirbc -o kernel.mlir
  tileir dis --hex kernel.tileirbc | head
"""


def run(options: argparse.Namespace) -> int:
    if options.hex:
        files.write(options.output, "".join(_dump(files.read(options.file))))
        return FINE
    module = files.program(options.file)
    files.write(options.output, to_text(module, form="module", debug=options.debug, level=options.level))
    return FINE


def _dump(data: bytes) -> Iterator[str]:
    """Lines of offset, bytes and the characters that they spell."""
    for begin in range(0, len(data), _BYTES_A_LINE):
        line = data[begin : begin + _BYTES_A_LINE]
        spelled = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in line)
        yield f"{begin:08x}  {line.hex(' '):<{3 * _BYTES_A_LINE}} {spelled}\n"
