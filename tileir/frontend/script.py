"""Running a user's script with its kernels on a tileir target.

A script runs as Python itself would run it, and an error that leaves it is shown with the script's own frames.
"""

from __future__ import annotations

import re
import runpy
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType

from tileir.cuda_as_cpu import NOTICE, cuda_as_cpu, has_gpu
from tileir.frontend.sanitizing import SanitizerSession
from tileir.frontend.tracebacks import is_hidden

ADVICE = "tileir: the script asks for CUDA, and there is no GPU: with --cuda-as-cpu it gets the CPU"
_CUDA = re.compile(r"\b(CUDA|cuda|NVIDIA|nvidia|libcuda|cupy)\b")


def run_script(
    path: Path, arguments: Sequence[str], enabled: AbstractContextManager[SanitizerSession | None], as_cpu: bool = False
) -> int:
    """Run the file as ``__main__`` with `arguments`; return 0, or 1 after an error, which has been shown.

    Its kernels run on a target while `enabled` is entered. The report of a sanitizer is shown too, however the script
    ends; its errors count.

    SystemExit passes through. Raises what `enabled` raises as it is entered.
    """
    if as_cpu and cuda_as_cpu():
        print(NOTICE, file=sys.stderr)
    with enabled as session:
        try:
            with _process_of(path, arguments):
                runpy.run_path(str(path), run_name="__main__")
        except Exception as error:
            print(_shown(error), file=sys.stderr)
            if _asks_for_cuda(error) and not as_cpu and not has_gpu():
                print(ADVICE, file=sys.stderr)
            return 1
        finally:
            if session is not None:
                print(session.report, file=sys.stderr)
    return 0 if session is None or session.report.ok else 1


@contextmanager
def _process_of(path: Path, arguments: Sequence[str]) -> Iterator[None]:
    """Give a script its process: its arguments, and its folder first among the places of modules."""
    before, places = sys.argv, list(sys.path)
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(path.resolve().parent))
    try:
        yield
    finally:
        sys.argv = before
        sys.path[:] = places


def _asks_for_cuda(error: Exception) -> bool:
    """Return whether torch or another library says that it lacks CUDA."""
    return not type(error).__module__.startswith("tileir") and _CUDA.search(str(error)) is not None


def _shown(error: Exception) -> str:
    """Return the traceback without the frames of tileir and of running a script."""
    entries = traceback.extract_tb(_from_script(error.__traceback__))
    frames = [entry for entry in entries if not is_hidden(error, entry.filename)]
    head = ["Traceback (most recent call last):\n", *traceback.format_list(frames)] if frames else []
    return "".join([*head, *traceback.format_exception_only(type(error), error)]).rstrip("\n")


def _from_script(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and (trace.tb_frame.f_code.co_filename == __file__ or _is_runpy(trace)):
        trace = trace.tb_next
    return trace


def _is_runpy(trace: TracebackType) -> bool:
    return trace.tb_frame.f_globals.get("__name__") == "runpy"
