"""Running a user's script with its kernels on a tileir target.

Knows: how a script is run as Python itself would, and how an error that leaves it is shown: the script's own frames.
Does not know: the command line (`cli`), nor what a launch does.
"""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from tileir.cutile import switch
from tileir.cutile.shim import cuda_as_cpu

_PACKAGE = str(Path(__file__).parents[1])


def run_script(path: Path, arguments: Sequence[str], target: str, as_cpu: bool = False) -> int:
    """Run the file as ``__main__`` with `arguments`; gives 0, or 1 after an error, which has been shown.

    SystemExit passes through. Raises `UnsupportedError` if the target or cuda-tile is not there.
    """
    if as_cpu:
        cuda_as_cpu()
    switch.enable(target)
    try:
        with _process_of(path, arguments):
            runpy.run_path(str(path), run_name="__main__")
    except Exception as error:
        print(_shown(error), file=sys.stderr)
        return 1
    finally:
        switch.disable()
    return 0


@contextmanager
def _process_of(path: Path, arguments: Sequence[str]) -> Iterator[None]:
    """What a script sees of its process: its arguments, and its folder first among the places of modules."""
    before, places = sys.argv, list(sys.path)
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(path.resolve().parent))
    try:
        yield
    finally:
        sys.argv = before
        sys.path[:] = places


def _shown(error: Exception) -> str:
    """The traceback without the frames of tileir and of running a script."""
    frames = [frame for frame in traceback.extract_tb(_from_script(error.__traceback__)) if not _is_ours(frame)]
    head = ["Traceback (most recent call last):\n", *traceback.format_list(frames)] if frames else []
    return "".join([*head, *traceback.format_exception_only(type(error), error)]).rstrip("\n")


def _from_script(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and (trace.tb_frame.f_code.co_filename == __file__ or _is_runpy(trace)):
        trace = trace.tb_next
    return trace


def _is_runpy(trace: TracebackType) -> bool:
    return trace.tb_frame.f_globals.get("__name__") == "runpy"


def _is_ours(frame: traceback.FrameSummary) -> bool:
    folder = Path(_PACKAGE)
    path = Path(frame.filename)
    return folder in path.parents and folder / "examples" not in path.parents
