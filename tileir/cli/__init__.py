"""The `tileir` command: one module per verb.

Knows: the verbs, exit statuses, and how what a user did wrong is shown.
Does not know: what a verb does. Only the module of the verb asked for is imported, so that help stays quick.

A verb's module has ``configure(parser)``, which declares its arguments and gives an example, and ``run(options)``,
which gives the exit status: 0 fine, 1 diagnostics or a trap, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

VERBS = {
    "check": ("check", "parse and verify programs; show every fault"),
    "opt": ("opt", "print a program in canonical form"),
    "run": ("run", "run a kernel on arrays"),
    "demo": ("demo", "run the example programs and check them against NumPy"),
    "as": ("assemble", "text to bytecode"),
    "dis": ("disassemble", "bytecode to text"),
    "explain": ("explain", "explain a diagnostic code"),
    "info": ("info", "show versions and targets"),
}
"""Verb -> (module in this package, what it does)."""

FINE, FAULT, USAGE = 0, 1, 2

_EXAMPLES = """\
examples:
  tileir demo                                  run the examples on this machine
  tileir check kernel.mlir                     find every fault of a program
  tileir run kernel.mlir --grid 8 'x=f32[1024]:randn' 'y=f32[1024]:zeros'
  tileir VERB --help                           all about one verb
"""


class UsageError(Exception):
    """Something the user asked for that cannot be done: shown in one line, exit status 2."""


class _Parser(argparse.ArgumentParser):
    """Reports wrong usage as one line and a pointer to the help, not as the whole synopsis."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: error: {message}\n  hint: see '{self.prog} --help'\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line `arguments` (default: those of the process); gives the exit status."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    verb = next((word for word in arguments if not word.startswith("-")), None)
    options = _parser(verb).parse_args(arguments)
    if options.verb is None:
        _parser(None).print_help()
        return USAGE
    try:
        return _checked(options)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has left; give Python's own flush at exit nothing to trip over.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE


def _checked(options: argparse.Namespace) -> int:
    """Run the verb; faults of the program and of the usage become messages and a status."""
    from tileir.cli import show
    from tileir.ir.diagnostics import DiagnosticError, Trap, UnsupportedError

    try:
        status: int = options.run(options)
        sys.stdout.flush()
        return status
    except UsageError as error:
        return _complain(options.verb, str(error), USAGE)
    except UnsupportedError as error:
        return _complain(options.verb, str(error), FAULT)
    except (DiagnosticError, Trap) as error:
        show.diagnostics(str(error), sys.stderr)
        return FAULT


def _complain(verb: str, message: str, status: int) -> int:
    print(f"tileir {verb}: error: {message}", file=sys.stderr)
    return status


def _parser(verb: str | None) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="tileir",
        description="Check, format, run and translate Tile IR programs.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tileir {_version()}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs", parser_class=_Parser)
    for name, (module, text) in VERBS.items():
        formatter = argparse.RawDescriptionHelpFormatter
        one = verbs.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.", formatter_class=formatter)
        if name == verb:
            implementation = import_module(f"tileir.cli.{module}")
            implementation.configure(one)
            one.set_defaults(run=implementation.run)
    return parser


def _version() -> str:
    from tileir import __version__

    return __version__
