"""``tileir serve``: a page on this machine with every stage of a program."""

from __future__ import annotations

import argparse
import webbrowser

from tileir.cli import FINE, UsageError, files, programs
from tileir.examples import FOLDER
from tileir.runtime.loading import MAGIC, from_bytecode
from tileir.text.printer import to_text
from tileir.tools.serve.panes import of_mlir, page
from tileir.tools.serve.server import PageServer
from tileir.triton.importer.entry import is_ttir

_FIRST, _GRID = FOLDER / "vector_add.mlir", "2"
_WORDS = "a=f32[2000]:randn b=f32[2000]:ones c=f32[2000]:zeros n=2000"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="the program to begin with: text or bytecode")
    parser.add_argument("--grid", metavar="X[,Y[,Z]]", help="the grid of launches to begin with")
    parser.add_argument("--port", type=int, default=0, metavar="N", help="the port (default: one that is free)")
    parser.add_argument("--open", action="store_true", help="show the page in a browser")
    programs.add_signature(parser)
    parser.epilog = """\
Only this machine is served, and only who knows the address, which is another one each time. Ctrl-C ends the server.

examples:
  tileir serve kernel.mlir --open
  tileir serve script.py::add --signature '*fp32,*fp32,*fp32,i32' --constexpr BLOCK=128
"""


def run(options: argparse.Namespace) -> int:
    if not 0 <= options.port < 1 << 16:
        raise UsageError(f"--port: expected a port, got {options.port}")
    server = _server(_page(options), options.port)
    print(f"{server.url}\nCtrl-C ends the server", flush=True)
    if options.open:
        webbrowser.open(server.url)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()
    finally:
        server.server_close()
    return FINE


def _page(options: argparse.Namespace) -> str:
    if options.file is None:
        return page(_FIRST.read_text("utf-8"), options.grid or _GRID, _WORDS)
    return page(_text(options), options.grid or "1")


def _text(options: argparse.Namespace) -> str:
    """Return the program as text, faulty or not: the page says what is wrong. TTIR comes without the places in other
    files."""
    file = options.file
    programs.require_kernel([file], options)
    text = programs.kernel_ttir(file, options) if programs.is_kernel(file) else _content(file)
    return of_mlir(text).text if is_ttir(text) else text


def _content(file: str) -> str:
    content = files.read(file)
    if content.startswith(MAGIC):
        return to_text(from_bytecode(content, files.display_name(file)))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"expected text in UTF-8 or Tile IR bytecode, got byte {content[error.start]:#04x} at {error.start}"
        raise UsageError(f"{files.display_name(file)}: {what}") from None


def _server(content: str, port: int) -> PageServer:
    try:
        return PageServer(content, port)
    except OSError as error:
        raise UsageError(f"--port: cannot serve at {port}: {error.strerror}") from None
