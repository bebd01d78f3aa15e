"""``tileir lsp``: the language server that editors start."""

from __future__ import annotations

import argparse

from tileir import __version__
from tileir.cli import FINE
from tileir.ir.usage import extra, pip_install


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stdio", action="store_true", help="talk on standard input and output (the only way)")
    parser.epilog = f"""\
Editors start it themselves. It needs a package more: {pip_install("tools")}

examples:
  tileir lsp                                   the command that an editor is given
"""


def run(options: argparse.Namespace) -> int:
    with extra("the language server", "pygls", "lsprotocol"):
        from tileir.tools.lsp.server import serve
    serve(__version__)
    return FINE
