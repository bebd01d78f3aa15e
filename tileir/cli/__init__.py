"""The `tileir` command: one module per verb.

Knows: the verbs, exit statuses, and how what a user did wrong is shown.
Does not know: what a verb does. Only the module of the verb asked for is imported, so that help stays quick.

A verb's module has ``configure(parser)``, which declares its arguments and gives an example, and ``run(options)``,
which gives the exit status: 0 fine, 1 diagnostics or a trap, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import difflib
import errno
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from tileir.ir.core import without_collection
from tileir.ir.usage import UsageError as UsageError

VERBS = {
    "check": ("check", "parse and verify programs; show every fault"),
    "opt": ("opt", "optimise a program, or print it in canonical form"),
    "equiv": ("equiv", "compare two programs on generated or given inputs"),
    "reduce": ("reduce", "shrink a program while a command still fails on it"),
    "run": ("run", "run a kernel on arrays"),
    "sanitize": ("sanitize", "run a kernel and report races, missing tokens, uninitialised values, padding"),
    "prove": ("prove", "prove that tile blocks do not race and accesses stay in their arrays, for every run"),
    "explore": ("explore", "all outcomes of a small kernel that the memory model allows"),
    "cutile": ("cutile", "run a cuTile Python script without a GPU"),
    "triton": ("triton", "run a script with Triton kernels without a GPU"),
    "compile": ("compile", "compile a kernel for the CPU or a GPU; show or keep the code"),
    "bench": ("bench", "time a kernel"),
    "farm": ("farm", "run many launches on many workers; keep and list what came of them"),
    "fuzz": ("fuzz", "make programs from seeds and compare engines on them"),
    "tune": ("tune", "search for the fastest configuration of a template or a cuTile kernel"),
    "demo": ("demo", "run the example programs and check them against NumPy"),
    "as": ("assemble", "text to bytecode"),
    "dis": ("disassemble", "bytecode to text"),
    "view": ("view", "picture a launch: what each tile block touches, values, tokens, faults"),
    "profile": ("profile", "find where the time of a launch goes: time, bytes and flops by line"),
    "debug": ("debug", "step through a launch: values, memory, tokens, and back"),
    "serve": ("serve", "show every stage of a program side by side, on a page of this machine"),
    "lsp": ("lsp", "answer an editor: the language server"),
    "explain": ("explain", "explain a diagnostic code or an operation"),
    "info": ("info", "show versions and targets, or what is in a program"),
    "completion": ("completion", "print a script that completes commands in a shell"),
    "help": ("help", "show what a verb takes"),
}
"""Verb -> (module in this package, what it does)."""

FINE, FAULT, USAGE, INTERRUPTED = 0, 1, 2, 130

_EXAMPLES = """\
examples:
  tileir demo                                  run the examples on this machine
  tileir check kernel.mlir                     find every fault of a program
  tileir run kernel.mlir --grid 8 'x=f32[1024]:randn' 'y=f32[1024]:zeros'
  tileir VERB --help                           all about one verb
"""


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors that mean no more can be written."""


class _Parser(argparse.ArgumentParser):
    """Reports wrong usage as one line and a pointer to the help, not as the whole synopsis."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: error: {message}\n  hint: see '{self.prog} --help'\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line `arguments` (default: those of the process); gives the exit status."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    for stream in (sys.stdout, sys.stderr):
        # A program may contain what the terminal cannot show.
        getattr(stream, "reconfigure", lambda errors: None)(errors="backslashreplace")
    try:
        return _dispatch(arguments)
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        # Whoever read our output has left.
        _drop_output()
        return FINE
    except OSError as error:
        if error.errno not in _FULL:
            raise
        _drop_output()
        print(f"tileir: error: cannot write the output: {os.strerror(error.errno).lower()}", file=sys.stderr)
        return USAGE


def _drop_output() -> None:
    """Give Python's own flush at exit nothing to trip over."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupted() -> int:
    """Return the status of an interrupted command, which does not wait for what still goes on."""
    from tileir.host import background

    if background.is_busy():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(INTERRUPTED)
    return INTERRUPTED


def _dispatch(arguments: Sequence[str]) -> int:
    if not arguments or arguments[0].startswith("-"):
        parser = top_parser()
        parser.parse_args(arguments)
        parser.print_help()
        return USAGE
    verb, *rest = arguments
    if verb not in VERBS:
        close = difflib.get_close_matches(verb, VERBS, 1)
        hint = f"did you mean '{close[0]}'?" if close else f"expected one of {', '.join(VERBS)}"
        top_parser().error(f"no verb '{verb}'; {hint}")
    return _run(verb, rest)


def _run(verb: str, arguments: Sequence[str]) -> int:
    """Run a verb; faults of the program and of the usage become messages and a status."""
    with without_collection():
        options = _parsed(verb_parser(verb), arguments)

        from tileir.cli import show
        from tileir.ir.diagnostics import DiagnosticError, Trap, UnsupportedError

        gc.freeze()  # before the search is on again, which would look at all that was imported

    try:
        status: int = _implementation(verb).run(options)
        sys.stdout.flush()
        return status
    except UsageError as error:
        return _complain(verb, str(error), USAGE)
    except UnsupportedError as error:
        return _complain(verb, str(error), FAULT)
    except (DiagnosticError, Trap) as error:
        show.diagnostics(str(error), sys.stderr)
        show.explanations(getattr(error, "diagnostics", ()), sys.stderr)
        return FAULT


def _implementation(verb: str) -> ModuleType:
    return import_module(f"tileir.cli.{VERBS[verb][0]}")


def verb_parser(verb: str) -> argparse.ArgumentParser:
    """Return the parser of a verb's arguments."""
    text = VERBS[verb][1]
    formatter = argparse.RawDescriptionHelpFormatter
    parser = _Parser(prog=f"tileir {verb}", description=f"{text[0].upper()}{text[1:]}.", formatter_class=formatter)
    configure_verb(parser, verb)
    return parser


def configure_verb(parser: argparse.ArgumentParser, verb: str) -> None:
    """Declare the arguments of a verb."""
    _implementation(verb).configure(parser)


def _parsed(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    """Parse arguments; options may stand between them, except where the rest is passed on as it is."""
    if any(action.nargs == argparse.REMAINDER for action in parser._actions):
        return parser.parse_args(arguments)
    return parser.parse_intermixed_args(_valued(parser, arguments))


def _valued(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> list[str]:
    """Return the arguments, where an option that may stand without a value takes the next word only if that is one of
    its."""
    optional = {name: action for action in parser._actions if action.nargs == "?" for name in action.option_strings}
    return [
        f"{word}={optional[word].const}"
        if word in optional and following not in (optional[word].choices or ())
        else word
        for word, following in zip(arguments, [*arguments[1:], ""])
    ]


def _complain(verb: str, message: str, status: int) -> int:
    from tileir.ir.escaping import shown_lines

    sys.stdout.flush()
    print(shown_lines(f"tileir {verb}: error: {message}"), file=sys.stderr)
    return status


def top_parser() -> argparse.ArgumentParser:
    """Return the parser of what may stand in front of a verb."""
    verbs = "\n".join(f"  {verb:9} {text}" for verb, (_, text) in VERBS.items())
    parser = _Parser(
        prog="tileir",
        usage="tileir VERB [options] ...",
        description="Check, format, run and translate Tile IR programs.",
        epilog=f"verbs:\n{verbs}\n\n{_EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    return parser


class _Version(argparse.Action):
    """Looks the version up only when asked."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from tileir import __version__

        print(f"tileir {__version__}")
        parser.exit()
