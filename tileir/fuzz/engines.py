"""The engines that the fuzzer compares: targets, passes, round trips of text and bytecode, the vendor's assembler."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import cast

import numpy as np

from tileir.bytecode import decode, encode
from tileir.fuzz.comparing import LaunchResult, equal, launched
from tileir.fuzz.draft import SIDE, arrays
from tileir.fuzz.trials import Trial
from tileir.gpu import vendor
from tileir.gpu.vendor import require_program
from tileir.ir.compare import identical
from tileir.ir.core import Module
from tileir.ir.diagnostics import DiagnosticError
from tileir.ir.versions import VERSIONS
from tileir.runtime import module as runtime_module
from tileir.runtime.options import Check
from tileir.text.parser import parse
from tileir.text.printer import to_text
from tileir.tools.optimise import optimize
from tileir.verify import verify

ARCH = "sm_100"
SECONDS = 60.0
"""The time after which the assembler counts as hanging."""


def assembler_finding(module: Module, level: int) -> tuple[str, str] | None:
    """Return the kind of fault and its text; None for a program that is taken, or that has no bytecode it can read."""
    try:
        data = encode(module, newest_version())
    except DiagnosticError:
        return None
    return assembled(data, level)


def assembled(data: bytes, level: int) -> tuple[str, str] | None:
    """Return the assembler's failure on bytecode; None if it succeeds."""
    with tempfile.TemporaryDirectory(prefix="tileir-fuzz-") as folder:
        given, made = Path(folder) / "module.tileirbc", Path(folder) / "module.cubin"
        given.write_bytes(data)
        command = [str(require_program()), "--gpu-name", ARCH, f"-O{level}", str(given), "-o", str(made)]
        try:
            ran = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return "hang", f"no end after {SECONDS:g} s"
    said = " ".join((ran.stderr or ran.stdout).split())[:300]
    if ran.returncode < 0 or ran.returncode >= 128:
        return "crash", f"ended by signal {-ran.returncode if ran.returncode < 0 else ran.returncode - 128}: {said}"
    return ("refused", f"status {ran.returncode}: {said}") if ran.returncode else None


@cache
def newest_version() -> str:
    """Return the newest version of bytecode that both this project and the installed assembler know."""
    ran = subprocess.run([str(require_program()), "--list-versions"], capture_output=True, text=True, timeout=SECONDS)
    known = [version for version in VERSIONS if version in ran.stdout.split()]
    return known[-1] if known else VERSIONS[0]


@dataclass(frozen=True)
class EngineFinding:
    """A failure of one engine: `kind` is a word, `text` the full description."""

    engine: str
    kind: str
    text: str


@dataclass(frozen=True)
class Reference:
    """A program, its inputs, and the interpreter's result."""

    module: runtime_module.Module
    trial: Trial
    result: LaunchResult


def trial_of(module: runtime_module.Module) -> Trial:
    """Return the launch of a generated program: one tile block, arrays of numbers by the types of the parameters."""
    (kernel,) = module.kernels.values()
    elements = [_pointee(parameter.type) for parameter in kernel.parameters]
    return Trial((1, 1, 1), tuple(arrays(elements)), f"arrays of {SIDE * SIDE} elements")  # type: ignore[arg-type]


def _pointee(type: object) -> object:
    return type.element.pointee  # type: ignore[attr-defined]


def reference_of(module: Module) -> Reference:
    """Return the program with the interpreter's result, on which every memory access is checked."""
    loaded = runtime_module.Module.of(module)
    trial = trial_of(loaded)
    return Reference(loaded, trial, _run(loaded, trial, "interp", True))


def _run(module: runtime_module.Module, trial: Trial, target: str, check: Check) -> LaunchResult:
    (kernel,) = module.kernels.values()
    return launched(kernel, trial, target, check)


# ---------------------------------------------------------------- engines


def _text(reference: Reference) -> str | None:
    """Return the difference after text and back: the same program, and the same text again."""
    text = to_text(reference.module)
    again = parse(text)
    if not identical(reference.module, again):
        return "the program that is read back is another one"
    return None if to_text(again) == text else "the text of the program that is read back is another one"


def _bytecode(reference: Reference) -> str | None:
    """Return the difference after bytecode and back: the same program, valid, and the same bytes again. Text-only
    operations have none."""
    try:
        data = encode(reference.module)
    except DiagnosticError as error:
        return None if _has_no_bytecode(error) else f"a valid program has no bytecode: {error}"
    again = decode(data)
    # Bytecode has no name of the module.
    again.op.attributes["sym_name"] = reference.module.op.attributes["sym_name"]
    if not identical(reference.module, again):
        return "the program that is decoded is another one"
    report = verify(again)
    if not report.ok:
        return f"the program that is decoded is not valid: {report.errors[0].message}"
    return None if encode(again) == data else "the bytecode of the program that is decoded is another one"


def _has_no_bytecode(error: DiagnosticError) -> bool:
    return all(diagnostic.code.startswith("E09") for diagnostic in error.diagnostics)


def _launch(target: str, check: Check, level: int) -> Callable[[Reference], str | None]:
    """Return the program, optimised at a level, on a target."""

    def difference(reference: Reference) -> str | None:
        module = optimize(reference.module, level) if level else reference.module
        if level:
            report = verify(module)
            if not report.ok:
                return f"the optimised program is not valid: {report.errors[0].message}"
        return difference_of(reference.result, _run(module, reference.trial, target, check), level == 0 and bool(check))

    return difference


def difference_of(first: LaunchResult, second: LaunchResult, same_trap: bool = False) -> str | None:
    """Return the difference of a launch from the reference; after a trap of the reference only the trap is compared, if
    requested."""
    if first.trap is not None:
        if not same_trap:
            return None
        ends = [(None, None) if one.trap is None else (one.trap.op, one.trap.block) for one in (first, second)]
        return None if ends[0] == ends[1] else f"trap of {ends[0][0]} became {second.trap}"
    if second.trap is not None:
        return f"trap: {second.trap.message}"
    for number, (one, other) in enumerate(zip(first.arrays, second.arrays)):
        wrong = np.flatnonzero(~equal(one, other))
        if wrong.size:
            at = wrong[0]
            return f"array {number} of {one.dtype}: {one.flat[at]} became {other.flat[at]} at {at}, {wrong.size} differ"
    return None if first.printed == second.printed else "the output differs"


Engine = Callable[[Reference], str | None]
"""Runs the program of a reference in its own way, on copies of its arrays or restoring them; returns the difference
from the interpreter's outcome, or None. An exception is a finding, too."""
OURS: dict[str, Engine] = {
    "text": _text,
    "bytecode": _bytecode,
    "interp-O2": _launch("interp", True, 2),
    "cpu": _launch("cpu", True, 0),
    "cpu-nocheck": _launch("cpu", False, 0),
    "cpu-O2": _launch("cpu", True, 2),
    "cpu-nocheck-O2": _launch("cpu", False, 2),
}
"""Engines of this project by name: each says in what it differs from the interpreter."""
VENDORS = tuple(f"tileiras-O{level}" for level in range(4))
"""The vendor's assembler at its levels: it must take every program that it can read, in time and without a crash."""
ENGINES = (*OURS, *VENDORS)


def default_engines() -> tuple[str, ...]:
    """Return all our engines, and the vendor's at its first and last level where it is installed."""
    return (*OURS, *((VENDORS[0], VENDORS[-1]) if vendor.program() is not None else ()))


def findings_of(module: Module, engines: Sequence[str]) -> Iterator[EngineFinding]:
    """Yield the failures of a program on `engines`. Prints each engine's name before it runs, in case it crashes."""
    report = verify(module)
    if not report.ok:
        yield EngineFinding("verify", "invalid", report.errors[0].message)
        return
    print("engine interp", flush=True)
    reference = reference_of(module)
    for name in engines:
        print(f"engine {name}", flush=True)
        finding = _finding(name, reference)
        if finding is not None:
            yield finding


def engine_of(name: str) -> Engine:
    """Return the engine of ours with that name, or at that import path. Raises ValueError."""
    if ":" not in name:
        return OURS[name]
    module, _, function = name.partition(":")
    try:
        found = getattr(import_module(module), function)
    except Exception as error:  # a module may raise anything
        raise ValueError(f"no engine '{name}': {error}") from error
    if not callable(found):
        raise ValueError(f"no engine '{name}': expected a function of a reference, got {type(found).__name__}")
    return cast(Engine, found)


def _finding(name: str, reference: Reference) -> EngineFinding | None:
    if name in VENDORS:
        found = assembler_finding(reference.module, int(name[-1]))
        return None if found is None else EngineFinding(name, *found)
    try:
        text = engine_of(name)(reference)
    except MemoryError:
        raise
    except Exception as error:
        return EngineFinding(name, "error", f"{type(error).__name__}: {error}")
    return None if text is None else EngineFinding(name, "difference", text)
