"""Triton's compiler as a service.

Knows: how the process that runs it (`gpu.worker`) is started, asked, and replaced when it has died. Does not know: how
TTIR comes about, or what becomes of a cubin.
"""

from __future__ import annotations

import atexit
import base64
import importlib.util
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from threading import Lock
from typing import IO, Any, NamedTuple

from tileir.gpu import worker
from tileir.gpu.arch import Arch
from tileir.gpu.spelling import Version, spelled
from tileir.ir.diagnostics import UnsupportedError


@dataclass(frozen=True)
class CompileOptions:
    """The spread of a kernel over the hardware: warps of a block, depth of software pipelines, blocks of a cluster, and
    the most registers a thread may have (None: no limit)."""

    num_warps: int = 4
    num_stages: int = 3
    num_ctas: int = 1
    maxnreg: int | None = None


class RequestedOptions(NamedTuple):
    """Warps of a block and depth of software pipelines as a launch asks for them; None: as hints and the kernel have
    it."""

    warps: int | None = None
    stages: int | None = None


AS_THE_KERNEL_HAS_IT = RequestedOptions()


class RegisterError(UnsupportedError):
    """Refusal of code that needs more registers than the threads of a block have."""


class BlockMemoryError(UnsupportedError):
    """Refusal of code that needs more memory in a block than there is."""


EXACT = {"enable_fp_fusion": False, "enable_reflect_ftz": False}
"""No contraction of products and sums, and subnormals kept in the device library (spec: numerics#floats)."""


@dataclass(frozen=True)
class Artifacts:
    """Results of the compiler: the texts of the stages asked for, machine code if it was, and what a launch needs to
    know."""

    texts: dict[str, str]
    binary: bytes | None
    metadata: dict[str, Any]


def require_triton() -> None:
    """Raise ImportError if Triton is not installed."""
    if importlib.util.find_spec("triton") is None:
        raise ImportError("needs Triton's compiler: pip install 'tileir[gpu]'")


def compile_ttir(text: str, arch: Arch, options: CompileOptions, stages: Sequence[str]) -> Artifacts:
    """Compile TTIR; `stages` are of `worker.STAGES`.

    Raises `UnsupportedError` with the compiler's words, `RegisterError` if there are too few registers.
    """
    request = {
        "ttir": spelled(text, _triton_version()),
        "target": [arch.vendor.value, arch.known_to_compiler, arch.warp],
        "options": asdict(options) | EXACT,
        "stages": list(stages),
    }
    answer, log = _service().ask(request)
    if answer is None:
        raise UnsupportedError(f"Triton's compiler ended without an answer: {_end_of(log)}", arch.name)
    if "error" in answer and (shortage := _REGISTERS.search(answer["error"])):
        raise RegisterError(_registers_wanted(shortage), arch.name)
    if "error" in answer:
        raise UnsupportedError(f"Triton's compiler refused the kernel: {_with(answer['error'], log)}", arch.name)
    made = dict(answer["stages"])
    binary = made.pop(binary_stage(arch), None)
    return Artifacts(made, None if binary is None else base64.b64decode(binary), answer["metadata"])


def binary_stage(arch: Arch) -> str:
    """The stage of Triton's compiler that gives machine code."""
    return worker.STAGES[arch.vendor.value][-1]


@cache
def _triton_version() -> Version:
    major, minor, *_ = version("triton").split(".")
    return int(major), int(minor)


class Service:
    """The compiler's process: started when first asked, and again after it has died. One request at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None

    def ask(self, request: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
        """The answer, None if the process died of the request; and what it wrote to standard error meanwhile."""
        with self._lock:
            process, log = self._running()
            log.seek(0)
            log.truncate()
            answer = self._answer(process, request)
            log.seek(0)
            said = log.read().decode(errors="replace")
            if answer is None:
                self.close()
            return answer, said

    def close(self) -> None:
        """End the process."""
        process, log, self._process, self._log = self._process, self._log, None, None
        if process is not None:
            process.kill()
            process.communicate()
        if log is not None:
            log.close()

    def _answer(self, process: subprocess.Popen[bytes], request: dict[str, Any]) -> dict[str, Any] | None:
        assert process.stdin is not None and process.stdout is not None
        try:
            worker.write_message(process.stdin, request)
            return worker.read_message(process.stdout)
        except BrokenPipeError:
            return None
        except BaseException:  # what is left of the answer would be taken for that of the next request
            self.close()
            raise

    def _running(self) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
        """The process and what it writes standard error to."""
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None or self._log is None:
            self._log = tempfile.TemporaryFile()  # noqa: SIM115
            start = (
                f"import runpy, sys; sys.path[:] = {sys.path!r}; runpy.run_path({worker.__file__!r}, None, '__main__')"
            )
            pipe = subprocess.PIPE
            self._process = subprocess.Popen([sys.executable, "-c", start], stdin=pipe, stdout=pipe, stderr=self._log)
        return self._process, self._log


@cache
def _service() -> Service:
    service = Service()
    atexit.register(service.close)
    return service


_REGISTERS = re.compile(r"Insufficient registers \((\d+)\).*register target of (\d+)", re.DOTALL)


def _registers_wanted(shortage: re.Match[str]) -> str:
    return f"the block is too large: a thread needs {shortage[2]} registers or more, of {shortage[1]} that it can have"


def _with(error: str, log: str) -> str:
    """The error and, if the compiler wrote one, its first diagnostic."""
    found = [line for line in log.splitlines() if " error: " in line or line.startswith("error:")]
    return f"{error}; {found[0]}" if found else error


def _end_of(log: str) -> str:
    """The line of a log that most likely says why a process died."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    said = [line for line in lines if "LLVM ERROR" in line or "Assertion" in line or " error: " in line]
    return (said or lines or ["it said nothing"])[0]
