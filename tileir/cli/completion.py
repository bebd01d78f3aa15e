"""``tileir completion``: a script that completes verbs and options in a shell."""

from __future__ import annotations

import argparse

from tileir.cli import FINE, VERBS, UsageError, configure_verb, top_parser

SHELLS = ("bash", "zsh", "tcsh", "fish")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="whose language the script is in")
    parser.epilog = """\
Needs the package shtab (pip install shtab). The script goes where the shell looks for it.

examples:
  tileir completion bash > ~/.local/share/bash-completion/completions/tileir
  tileir completion zsh > FOLDER_OF_FPATH/_tileir
  tileir completion fish > ~/.config/fish/completions/tileir.fish
"""


def run(options: argparse.Namespace) -> int:
    try:
        import shtab
    except ImportError:
        raise UsageError("completion needs the package shtab: pip install shtab") from None
    if options.shell not in shtab.SUPPORTED_SHELLS:
        raise UsageError(f"this shtab knows {', '.join(shtab.SUPPORTED_SHELLS)}, not {options.shell}")
    print(shtab.complete(_parser(), shell=options.shell))
    return FINE


def _parser() -> argparse.ArgumentParser:
    """Return all verbs as parts of one parser; a FILE is completed with files."""
    import shtab

    parser = top_parser()
    verbs = parser.add_subparsers()
    for verb, (_, text) in VERBS.items():
        one = verbs.add_parser(verb, help=text)
        configure_verb(one, verb)
        for action in one._actions:
            if "FILE" in str(action.metavar) or action.metavar == "SCRIPT.py":
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    return parser
