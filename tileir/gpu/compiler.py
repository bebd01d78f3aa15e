"""Compile TTIR with Triton, in a process of its own, in the spelling that each of its versions reads."""

from __future__ import annotations

import atexit
import base64
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from threading import Lock
from typing import IO, Any, NamedTuple

from tileir.gpu import worker
from tileir.gpu.arch import Arch
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.loc import UNKNOWN, FileLoc, Location
from tileir.ir.usage import pip_install

Version = tuple[int, int]
OLDEST: Version = (3, 6)

_GRID = re.compile(r'"tt\.grid_dependency_(wait|launch_dependents)"\(\) : \(\) -> \(\)')
_ATOMIC = re.compile(
    r'^(?P<indent> *)(?:(?P<result>%\d+) = )?"tt\.atomic_(?:load|store)"\((?P<operands>[^)]*)\) '
    r"\{(?P<how>[^}]*)\} : \((?P<types>.*)\) -> \((?P<type>[^()]*)\)(?P<loc>.*)$",
    re.MULTILINE,
)
_FILE = re.compile(r'loc\(("[^"\\]*"):(\d+):(\d+)\)')
_OR, _EXCHANGE = 2, 10


def spelled(ttir: str, version: Version) -> str:
    """Rewrite `ttir`, which the newest version reads, for `version`. Raises UnsupportedError for features it lacks."""
    if version < OLDEST:
        found, oldest = (".".join(map(str, number)) for number in (version, OLDEST))
        raise UnsupportedError(f"Triton {found} is too old: expected version {oldest} or newer", "cuda")
    for since, rewrite in _REWRITES:
        if version < since:
            ttir = rewrite(ttir)
    return ttir


def _descriptors(ttir: str) -> str:
    return re.sub(r"!tt\.tensordesc<([^<>]+)>", r"!tt.tensordesc<tensor<\1>>", ttir)


def _barriers(ttir: str) -> str:
    return re.sub(r'"ttg\.barrier"\(\)( \{[^{}]*\})?', '"gpu.barrier"()', ttir)


def _grid_dependencies(ttir: str) -> str:
    attributes = 'asm_string = "griddepcontrol.{0}; // $0", constraints = "=r", packed_element = 1 : i32, pure = false'

    def by_asm(found: re.Match[str]) -> str:
        return f'"tt.elementwise_inline_asm"() {{{attributes.format(found[1])}}} : () -> (i32)'

    return _GRID.sub(by_asm, ttir)


def _atomic_accesses(ttir: str) -> str:
    return _ATOMIC.sub(lambda found: _load(found) if found["result"] else _store(found), ttir)


def _load(found: re.Match[str]) -> str:
    type, zero = found["type"], f"%zero{found['result'][1:]}"
    _require_words(found, type)
    pointers, mask = found["operands"].split(", ")
    pointer_type, mask_type = found["types"].split(", ")
    value = f"dense<0> : {type}" if type.startswith("tensor") else f"0 : {type}"
    constant = f'{found["indent"]}{zero} = "arith.constant"() {{value = {value}}} : () -> ({type})'
    return f"{constant}\n" + _rmw(found, _OR, (pointers, zero, mask), (pointer_type, type, mask_type), type)


def _store(found: re.Match[str]) -> str:
    types = found["types"].split(", ")
    _require_words(found, types[1])
    return _rmw(found, _EXCHANGE, found["operands"].split(", "), types, types[1])


def _rmw(found: re.Match[str], kind: int, operands: Sequence[str], types: Sequence[str], type: str) -> str:
    result = f"{found['result']} = " if found["result"] else ""
    attributes = f"atomic_rmw_op = {kind} : i32, {found['how']}"
    signature = f"({', '.join(types)}) -> ({type})"
    call = f'"tt.atomic_rmw"({", ".join(operands)}) {{{attributes}}} : {signature}'
    return f"{found['indent']}{result}{call}{found['loc']}"


def _require_words(found: re.Match[str], type: str) -> None:
    """Raise UnsupportedError for elements that atomic operations do not have."""
    if not re.search(r"i(32|64)>?$", type):
        what = "a load or store with an ordering: before version 3.9, Triton has it for elements of 32 and 64 bits only"
        raise UnsupportedError(f"{what}, got {type}", "cuda", _place(found["loc"]))


def _place(loc: str) -> Location:
    """Return the place in the program that a line of TTIR names."""
    named = _FILE.search(loc)
    return FileLoc(json.loads(named[1]), int(named[2]), int(named[3])) if named else UNKNOWN


_REWRITES: tuple[tuple[Version, Callable[[str], str]], ...] = (
    ((3, 7), _barriers),
    ((3, 8), _descriptors),
    ((3, 9), _grid_dependencies),
    ((3, 9), _atomic_accesses),
)
"""Changes for versions before the one named."""


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
        raise ImportError(f"needs Triton's compiler: {pip_install('gpu')}")


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
    """Return the stage of Triton's compiler that gives machine code."""
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
        """Return the answer, None if the process died of the request; and what it wrote to standard error meanwhile."""
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
        """Return the process and what it writes standard error to."""
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
    """Return the error and, if the compiler wrote one, its first diagnostic."""
    found = [line for line in log.splitlines() if " error: " in line or line.startswith("error:")]
    return f"{error}; {found[0]}" if found else error


def _end_of(log: str) -> str:
    """Return the line of a log that most likely says why a process died."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    said = [line for line in lines if "LLVM ERROR" in line or "Assertion" in line or " error: " in line]
    return (said or lines or ["it said nothing"])[0]
