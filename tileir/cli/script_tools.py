"""``--view``, ``--debug`` and ``--profile`` of `tileir cutile` and `tileir triton`: launches of a script are pictured,
stepped through or profiled."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from tileir.cli import UsageError, files
from tileir.runtime.arguments import Argument
from tileir.runtime.grid import Grid
from tileir.runtime.module import Kernel, Target, target_named


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
    from tileir.tools.interpreted import ToolTarget

    if options.profile:
        return ToolTarget(_Profiles(), target_named("cpu"))
    return ToolTarget(_Debugger() if options.debug else _Pages(options.view))


class _Profiles:
    """Profiles the first launch of each kernel on each grid; the others just run."""

    def __init__(self) -> None:
        self._known: set[tuple[str, Grid]] = set()

    def __call__(self, kernel: Kernel, grid: Grid, arguments: Sequence[Argument]) -> None:
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

    def __call__(self, kernel: Kernel, grid: Grid, arguments: Sequence[Argument]) -> None:
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

    def __call__(self, kernel: Kernel, grid: Grid, arguments: Sequence[Argument]) -> None:
        from tileir.tools.debug.terminal import debug_bound

        trap = debug_bound(self._terminal, kernel, grid, arguments)
        if trap is not None:
            raise trap
        if self._terminal.has_ended:
            raise SystemExit(0)
