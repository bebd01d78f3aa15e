"""Options that several verbs have."""

from __future__ import annotations

import argparse

from tileir.cli import UsageError
from tileir.gpu.arch import MAX_STAGES, MAX_WARPS
from tileir.ir.versions import NEWEST, VERSIONS
from tileir.runtime.module import DEFAULT_TARGET, Target, target_named, target_names
from tileir.runtime.options import Check, LaunchOptions, iterations, positive, power_of_two, seconds

FORMATS = ("text", "json", "sarif")


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add ``--format``, and ``--json`` for one of its values."""
    parser.add_argument("--format", choices=FORMATS, default="text", help="print text (default), JSON or SARIF 2.1.0")
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")


def add_level(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--level",
        choices=VERSIONS,
        default=NEWEST,
        metavar="VERSION",
        help=f"language version whose rules and spellings apply: {', '.join(VERSIONS)} (default {NEWEST})",
    )


def add_output(parser: argparse.ArgumentParser, what: str, required: bool = False) -> None:
    tail = "" if required else " (default: standard output)"
    parser.add_argument("-o", "--output", metavar="FILE", required=required, help=f"where {what} goes{tail}")


def add_target(parser: argparse.ArgumentParser) -> None:
    text = f"where to run (default: {DEFAULT_TARGET}); 'tileir info' lists the targets"
    parser.add_argument("--target", default=DEFAULT_TARGET, help=text)


def add_checks(parser: argparse.ArgumentParser) -> None:
    """Add the options for checks while kernels run and for a time limit."""
    what = "look for faulty accesses to memory and broken promises (the default); strict: for all that is undefined"
    parser.add_argument(
        "--check", nargs="?", choices=tuple(_CHECKS), const="on", default="on", metavar="strict", help=what
    )
    parser.add_argument("--no-check", dest="check", action="store_const", const="off", help="look for none of these")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="end a launch that takes longer")
    parser.add_argument(
        "--max-iterations",
        type=int,
        metavar="N",
        help="iterations of its loops that a tile block may run (default 2^30)",
    )


_CHECKS: dict[str, Check] = {"on": True, "strict": "strict", "off": False}


def check_of(options: argparse.Namespace) -> Check:
    """Return the choice of `add_checks`."""
    return _CHECKS[options.check]


def limits_of(options: argparse.Namespace) -> LaunchOptions:
    """Return the limits among `add_checks` that are given."""
    limits: LaunchOptions = {}
    try:
        if options.timeout is not None:
            limits["timeout"] = seconds("--timeout", options.timeout)
        if options.max_iterations is not None:
            limits["max_iterations"] = iterations("--max-iterations", options.max_iterations)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return limits


def add_optimize(parser: argparse.ArgumentParser) -> None:
    text = "make code of the program as it is; without this, it is rewritten exactly first"
    parser.add_argument("--no-optimize", dest="optimize", action="store_false", help=text)


def add_gpu_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that spread a kernel over a GPU."""
    parser.add_argument("--warps", type=int, metavar="N", help="GPU: warps of a block (default: the compiler chooses)")
    parser.add_argument("--stages", type=int, metavar="N", help="GPU: stages of pipelines (default: as for --warps)")


def gpu_options_of(options: argparse.Namespace) -> LaunchOptions:
    """Return the options among `add_gpu_options` that are given."""
    found: LaunchOptions = {}
    try:
        if options.warps is not None:
            found["warps"] = power_of_two("--warps", options.warps, MAX_WARPS)
        if options.stages is not None:
            found["stages"] = positive("--stages", options.stages, MAX_STAGES)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return found


def chosen_target(name: str) -> Target:
    """Return the target of that name. Raises `UnsupportedError` if it cannot be used here."""
    if name not in target_names():
        raise UsageError(f"no target '{name}'; there are {', '.join(target_names())}")
    return target_named(name)
