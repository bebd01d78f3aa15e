"""Code shared by the verbs that run a script: `cutile` and `triton`."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from tileir.cli import FAULT, UsageError, files, show
from tileir.cli.launching import needs_child
from tileir.cli.options import add_checks, check_of, chosen_target, limits_of
from tileir.cli.progress import clear_line, progress_line
from tileir.cli.show import abbreviating
from tileir.frontend.dumping import Dump
from tileir.frontend.sanitizing import SanitizerSession
from tileir.frontend.script import run_script
from tileir.host import child
from tileir.host.stages import telling
from tileir.ir.diagnostics import Trap
from tileir.runtime.arguments import Argument
from tileir.runtime.grid import Grid
from tileir.runtime.module import DEFAULT_TARGET, Kernel, Target, ToolTarget, target_named
from tileir.runtime.options import LaunchOptions

Enabled = Callable[..., AbstractContextManager[SanitizerSession | None]]
"""Maps a target and its options to a context in which a front end is enabled."""


def add_script(parser: argparse.ArgumentParser) -> None:
    """Add the options and arguments of a verb."""
    parser.add_argument("--target", default=DEFAULT_TARGET, help=f"where kernels run (default: {DEFAULT_TARGET})")
    parser.add_argument("--sanitize", action="store_true", help="run on the interpreter; report races and other faults")
    add_checks(parser)
    parser.add_argument("--verbose", action="store_true", help="show where the time of each kernel's first call goes")
    parser.add_argument("--cuda-as-cpu", action="store_true", help="let a script that asks for CUDA use the CPU")
    text = "keep the bytecode and the text of each kernel that is launched"
    parser.add_argument("--dump", metavar="FOLDER", help=text)
    add_tools(parser)
    parser.add_argument("script", metavar="SCRIPT.py", help="a Python file, which stays as it is")
    text = "passed on to the script"
    parser.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER, help=text).required = False


def run_with(enabled: Enabled, options: argparse.Namespace) -> int:
    """Run the script of the options while the front end is `enabled`."""
    with telling(_show_stages) if options.verbose else nullcontext():
        return _run_script(enabled, options)


def _show_stages(kernel: str, times: Mapping[str, float]) -> None:
    clear_line()
    stages = ", ".join(f"{name} {1e3 * seconds:.1f}" for name, seconds in times.items())
    print(f"tileir: first call of {kernel}: {1e3 * sum(times.values()):.1f} ms: {stages}", file=sys.stderr)


def _run_script(enabled: Enabled, options: argparse.Namespace) -> int:
    found = chosen_target(options.target)
    path = Path(options.script)
    _require_script(path)
    if options.sanitize and check_of(options) is not True:
        raise UsageError("--sanitize has checks of its own: expected neither --no-check nor --check strict with it")
    tool = chosen_tool(options)
    if tool is not None:
        return run_script(path, options.arguments, enabled(tool.name, instead=tool), options.cuda_as_cpu)
    if needs_child(found, check_of(options)):
        return _run_in_child(enabled, path, options, found)
    return _run(enabled, path, options, found)


def _require_script(path: Path) -> None:
    """Raise UsageError for what is no file, or a program that another verb takes."""
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    if path.suffix in (".mlir", *files.BYTECODE_SUFFIXES):
        raise UsageError(f"'{path}' is a Tile IR program; 'tileir run {path}' runs it")


def _run_in_child(enabled: Enabled, path: Path, options: argparse.Namespace, target: Target) -> int:
    """Run a script in a child process, as which this function returns too; here, say how it died if it did."""
    kernel = child.SharedText()
    try:
        status = child.go_on_in_child()
    except child.ChildDied as died:
        clear_line()
        what = f"the process that ran kernels without checks died: {died.how}; without --no-check the fault is named"
        show.diagnostics(f"{path}: {Trap(what, kernel=kernel.text or None)}", sys.stderr)
        return FAULT
    return _run(enabled, path, options, target, kernel) if status is None else status


def _run(
    enabled: Enabled,
    path: Path,
    options: argparse.Namespace,
    target: Target,
    note: child.SharedText | None = None,
) -> int:
    """Run a script; its kernels' progress is shown, and each is written down as it begins."""
    settings, sanitize = limits_of(options), options.sanitize
    output = abbreviating(sys.stdout)
    if output is not None and target.name != "cuda:tileiras":
        settings["output"] = output
    name = "interp" if sanitize else target.name
    with nullcontext() if sanitize else progress_line("", target, settings) as line:

        def told(kernel: str) -> None:
            if note is not None:
                note.write(kernel)
            if line is not None:
                line.begin(kernel)

        check, dump = check_of(options), _dump(options)
        chosen = enabled(name, sanitize=sanitize, check=check, told=told, dump=dump, **settings)
        return run_script(path, options.arguments, chosen, options.cuda_as_cpu)


def _dump(options: argparse.Namespace) -> Dump | None:
    try:
        return None if options.dump is None else Dump(Path(options.dump))
    except OSError as error:
        raise UsageError(f"--dump: cannot make the folder '{options.dump}': {files.reason(error)}") from None


# ---------------------------------------------------------------- pictures, debugger and profile of launches


def add_tools(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--view", metavar="FOLDER", help="run on the interpreter; a page for each launch goes there")
    parser.add_argument("--debug", action="store_true", help="run on the interpreter; step through each launch")
    parser.add_argument("--profile", action="store_true", help="run on native code; show the time of lines")


def chosen_tool(options: argparse.Namespace) -> Target | None:
    """Return the target that stands for a tool; None if none is asked for."""
    wanted = [options.view is not None, options.debug, options.profile]
    if not any(wanted):
        return None
    if sum(wanted) + options.sanitize > 1:
        raise UsageError("expected one of --sanitize, --view, --debug and --profile")
    if options.profile:
        return ToolTarget(_Profiles(), target_named("cpu"))
    return ToolTarget(_Debugger() if options.debug else _Pages(options.view), target_named("interp"))


class _Profiles:
    """Profiles the first launch of each kernel on each grid; the others just run."""

    def __init__(self) -> None:
        self._known: set[tuple[str, Grid]] = set()

    def __call__(self, kernel: Kernel, grid: Grid, arguments: Sequence[Argument], options: LaunchOptions) -> None:
        from tileir.tools.profile.api import profile_bound
        from tileir.tools.profile.table import text

        if (kernel.name, grid) in self._known:
            target_named("cpu").prepare(kernel, True, {})(grid, arguments)
            return
        self._known.add((kernel.name, grid))
        found = profile_bound(kernel, grid, arguments, {})
        print(text(found), file=sys.stderr)


class _Pages:
    """Pictures each launch."""

    def __init__(self, folder: str) -> None:
        self._folder, self._count = Path(folder), 0
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"--view: cannot make the folder '{folder}': {files.reason(error)}") from None

    def __call__(self, kernel: Kernel, grid: Grid, arguments: Sequence[Argument], options: LaunchOptions) -> None:
        from tileir.tools.view.api import view_bound

        self._count += 1
        shown = view_bound(kernel, grid, arguments, time=True)
        path = self._folder / f"{self._count:03}-{re.sub(r'[^A-Za-z0-9_]', '_', kernel.name)[:64]}.html"
        files.write(str(path), shown.html)
        print(f"{kernel.name}: {path}", file=sys.stderr)
        if shown.trap is not None:
            raise shown.trap


class _Debugger:
    """Steps through each launch, with one terminal for all."""

    def __init__(self) -> None:
        from tileir.tools.debug.terminal import Terminal

        self._terminal = Terminal(sys.stdin, sys.stdout)

    def __call__(self, kernel: Kernel, grid: Grid, arguments: Sequence[Argument], options: LaunchOptions) -> None:
        from tileir.tools.debug.terminal import debug_bound

        trap = debug_bound(self._terminal, kernel, grid, arguments)
        if trap is not None:
            raise trap
        if self._terminal.has_ended:
            raise SystemExit(0)
