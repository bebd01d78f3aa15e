"""Python programs in processes of their own, which start quickly.

A process that has imported what most programs need forks for each of them: a program is as alone as in a new
interpreter, but does not import torch again.

Where a system cannot fork, a new interpreter is started for each.
"""

from __future__ import annotations

import atexit
import faulthandler
import gc
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType, TracebackType
from typing import NoReturn

ROOT = Path(__file__).parents[1]
PRELOADED = (
    "numpy.random",
    "rich.console",
    "tileir.bytecode",
    "tileir.cli.check",
    "tileir.cli.cutile",
    "tileir.cli.sanitize",
    "tileir.cli.triton",
    "tileir.cpu.emit.driver",
    "tileir.cpu.lowering.functions",
    "tileir.cpu.memory.lookup",
    "tileir.cpu.rules",
    "tileir.cutile",
    "tileir.gpu.ttir.rules",
    "tileir.passes.running",
    "tileir.passes.rebuilding",
    "tileir.runtime.interpreter",
    "tileir.runtime.native",
    "tileir.tools.optimise",
    "tileir.sanitize.run",
    "tileir.text.parser",
    "tileir.text.printer",
    "tileir.tools.debug.adapter",
    "tileir.tools.lsp.server",
    "cuda.tile._compile",
    "torch",
    "torch.distributed.tensor",
    "triton.experimental.gluon",
    "tileir.triton.program",  # after Triton, which imports our compiler itself
)
"""Modules that a program finds imported, if they are there."""
LIMIT = 240
"""Seconds after which a program ends with the place of each of its threads: it hangs."""


def run_python(
    *words: object, cwd: Path = ROOT, environment: Mapping[str, str] | None = None, commands: str = ""
) -> subprocess.CompletedProcess[str]:
    """``python WORD...``, which is given `commands` to read, with what it wrote. The first word is ``-m``, ``-c`` or
    the path of a script."""
    command = [*map(str, words)]
    variables = {"PYTHONPATH": str(ROOT), **os.environ, **(environment or {})}
    if not hasattr(os, "fork"):
        return subprocess.run(
            [sys.executable, *command], input=commands, capture_output=True, text=True, cwd=cwd, env=variables
        )
    with tempfile.TemporaryDirectory() as folder:
        given, out, err = (Path(folder) / name for name in ("given", "out", "err"))
        given.write_text(commands)
        files = {"given": str(given), "out": str(out), "err": str(err)}
        status = _asked({"command": command, "cwd": str(cwd), "variables": variables, **files})
        return subprocess.CompletedProcess(command, status, out.read_text(), err.read_text())


class Conversation:
    """``python WORD...`` as a program to talk to; the first word is ``-m``, ``-c`` or the path of a script."""

    def __init__(self, *words: object, cwd: Path = ROOT) -> None:
        command = [*map(str, words)]
        variables = {**os.environ, "PYTHONPATH": str(ROOT)}
        if not hasattr(os, "fork"):
            pipe = subprocess.PIPE
            self._child = subprocess.Popen(
                [sys.executable, *command], stdin=pipe, stdout=pipe, stderr=pipe, cwd=cwd, env=variables
            )
            assert self._child.stdin and self._child.stdout and self._child.stderr
            self.input, self.output, self.errors = self._child.stdin, self._child.stdout, self._child.stderr
            return
        with tempfile.TemporaryDirectory() as folder:
            files = {name: os.path.join(folder, name) for name in ("given", "out", "err")}
            for path in files.values():
                os.mkfifo(path)
            request = {"command": command, "cwd": str(cwd), "variables": variables, **files}
            self._number = _asked({**request, "is_waited_for": False})
            # In the order in which the program opens them, each of which waits for the other end.
            self.input = open(files["given"], "wb")  # noqa: SIM115
            self.output = open(files["out"], "rb")  # noqa: SIM115
            self.errors = open(files["err"], "rb")  # noqa: SIM115

    def kill(self) -> None:
        """End the program, whatever it does."""
        if hasattr(os, "fork"):
            os.kill(self._number, signal.SIGKILL)
        else:
            self._child.kill()


def _asked(request: dict[str, object]) -> int:
    """The exit status of a program that is waited for, else its process."""
    server = _server()
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write(json.dumps(request) + "\n")
    server.stdin.flush()
    return int(server.stdout.readline())


@cache
def _server() -> subprocess.Popen[str]:
    code = f"import sys; sys.path[:0] = [{str(ROOT)!r}]; from tests.processes import serve; serve()"
    server = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(server.kill)
    return server


# ---------------------------------------------------------------- the process that forks


def serve() -> None:
    """Run programs one after the other, each in a fork, until nobody asks any more."""
    for name in PRELOADED:
        with suppress(ImportError):
            import_module(name)
    with suppress(ImportError):
        import_module("triton.runtime.cache").triton_key()  # reads all of Triton's library, once in a process
    for known in weakref.finalize._registry:  # type: ignore[attr-defined]
        known.atexit = False  # torch's libraries would take themselves apart at the end of each program
    gc.freeze()  # what has been imported is looked at no more: it stays shared
    for line in sys.stdin:
        request = json.loads(line)
        is_waited_for = request.pop("is_waited_for", True)
        child = os.fork()
        if not child:
            _end(_status_of(**request))
        if is_waited_for:
            _, status = os.waitpid(child, 0)
            child = os.waitstatus_to_exitcode(status)
        print(child, flush=True)


def _status_of(command: list[str], cwd: str, variables: dict[str, str], given: str, out: str, err: str) -> int:
    """Run a program as if this process had been started for it; gives its exit status."""
    for number, path, mode in ((0, given, os.O_RDONLY), (1, out, os.O_WRONLY), (2, err, os.O_WRONLY)):
        os.dup2(os.open(path, mode | os.O_CREAT), number)
    faulthandler.dump_traceback_later(LIMIT, exit=True, file=2)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(variables)
    sys.stdin = open(0)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")  # noqa: SIM115
    try:
        _run(command, cwd)
    except SystemExit as left:
        if left.code is None or isinstance(left.code, int):
            return left.code or 0
        print(left.code, file=sys.stderr)
        return 1
    except BaseException as error:
        sys.excepthook(type(error), error, _own(error.__traceback__))
        return 1
    return 0


def _run(command: list[str], cwd: str) -> None:
    """Run a module, a text or a script as the program of this process."""
    first, *words = command
    sys.path.insert(0, os.path.dirname(first) if first.endswith(".py") else cwd)
    sys.argv = words if first == "-m" else ["-c", *words[1:]] if first == "-c" else command
    if first == "-m":
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
        return
    main = sys.modules["__main__"] = ModuleType("__main__")
    if first != "-c":
        main.__file__ = first
    text = words[0] if first == "-c" else Path(first).read_text()
    exec(compile(text, "<string>" if first == "-c" else first, "exec"), main.__dict__)


def _own(place: TracebackType | None) -> TracebackType | None:
    """The frames of a program without those that started it."""
    while place is not None and place.tb_frame.f_code.co_filename in (__file__, runpy.__file__, "<frozen runpy>"):
        place = place.tb_next
    return place


def _end(status: int) -> NoReturn:
    """Leave without taking everything apart that was imported, which takes longer than most programs."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
