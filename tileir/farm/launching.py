"""The kind of job ``launch``: a kernel on arguments that words describe.

    {"kernel": "add", "grid": [8], "arguments": ["x=f32[1024]:randn", "y=f32[1024]", "1024"], "target": "cpu",
     "seed": 0, "check": true, "options": {"threads": 1}, "keep": ["y"], "parameters": ["x", "y", "n"],
     "files": {"a.npy": SHA-256}}

The answer has the summary of every array after the launch, and what the kernel printed.
"""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from tileir.command_line import fill
from tileir.command_line.argument_words import Given, chosen_kernel, given_values
from tileir.farm.job import FarmJob, Json, WorkResult
from tileir.ir.usage import UsageError
from tileir.runtime.loading import from_content
from tileir.runtime.module import DEFAULT_TARGET, DeviceTarget, Module, launch_kernel, placed, target_named
from tileir.runtime.module import target_names as target_names
from tileir.runtime.options import LaunchOptions, check_level
from tileir.runtime.serialisation import to_bytecode
from tileir.text.printer import to_text

DEFAULTS: dict[str, Json] = {
    "kernel": None, "arguments": [], "target": DEFAULT_TARGET, "seed": 0, "check": True, "options": {}, "keep": [],
}  # fmt: skip
"""The fields of a spec that may be left out. ``grid`` may not."""
_DIGESTED = 1 << 20


def launch_job(module: Module, given: Mapping[str, Json]) -> FarmJob:
    """Return the job of one launch. Raises UsageError for a field that is wrong or missing."""
    unknown = given.keys() - {"grid", *DEFAULTS}
    if unknown:
        raise UsageError(f"no field '{sorted(unknown)[0]}'; a launch has grid, {', '.join(DEFAULTS)}")
    if "grid" not in given:
        raise UsageError("expected a field 'grid', got none")
    spec = {**DEFAULTS, **given}
    _require(spec)
    kernel = chosen_kernel(module, cast("str | None", spec["kernel"]))
    # Bytecode has no names of parameters.
    spec |= {"kernel": kernel.name, "parameters": [parameter.name for parameter in kernel.parameters]}
    spec["files"] = {path: _digest(path) for path in _paths(cast("list[str]", spec["arguments"]))}
    return FarmJob("launch", spec, _content(module))


def _require(spec: Mapping[str, Json]) -> None:
    """Raise UsageError for a field of another type."""
    kinds: dict[str, Any] = {
        "kernel": str | None, "arguments": list, "target": str, "seed": int, "options": dict, "keep": list,
    }  # fmt: skip
    for name, kind in kinds.items():
        if not isinstance(spec[name], kind):
            raise UsageError(f"field '{name}': expected {getattr(kind, '__name__', 'str')}, got {spec[name]!r}")
    if not isinstance(spec["grid"], int | list):
        raise UsageError(f"field 'grid': expected a number or a list of numbers, got {spec['grid']!r}")
    if spec["target"] not in target_names():
        raise UsageError(f"no target '{spec['target']}'; there are {', '.join(target_names())}")
    words = cast("list[Json]", spec["arguments"])
    wrong = [word for word in words if not isinstance(word, str)]
    if wrong:
        raise UsageError(f"field 'arguments': expected words such as f32[64]:randn, got {wrong[0]!r}")


def _content(module: Module) -> bytes:
    """Return the bytecode, or the text if there is none."""
    from tileir.ir.diagnostics import DiagnosticError

    try:
        return to_bytecode(module)
    except DiagnosticError:
        return to_text(module).encode("utf-8", "surrogatepass")


def _paths(words: Sequence[str]) -> list[str]:
    """Return the files that arguments are read from."""
    return [path for word in words if (path := word.partition("@")[2]) and word.partition("@")[0][-1:] in ("", "=")]


def _digest(path: str) -> str:
    """Return the SHA-256 of a file, so that a job means what was in it."""
    try:
        with Path(path).open("rb") as file:
            digest = hashlib.sha256()
            while part := file.read(_DIGESTED):
                digest.update(part)
            return digest.hexdigest()
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {(error.strerror or str(error)).lower()}") from None


# ---------------------------------------------------------------- in a worker


_PROGRAMS = 4


@lru_cache(_PROGRAMS)
def _program(content: bytes) -> Module:
    """Return the program of jobs, read and compiled once in a process that does several."""
    return from_content(content, "<job>")


def launched(spec: dict[str, Json], content: bytes) -> WorkResult:
    """Launch the kernel; the arrays that `keep` names become files."""
    for path, digest in cast("dict[str, str]", spec["files"]).items():
        if _digest(path) != digest:
            raise UsageError(f"'{path}' is not what it was when the job was made")
    kernel = chosen_kernel(_program(content), cast("str | None", spec["kernel"]))
    words, names = (cast("list[str]", spec[name]) for name in ("arguments", "parameters"))
    given = given_values(kernel, words, cast(int, spec["seed"]), names)
    target, printed = target_named(cast(str, spec["target"])), cast("list[str]", [])
    options = cast(LaunchOptions, {**cast("dict[str, object]", spec["options"])})
    if not isinstance(target, DeviceTarget):
        options["output"] = printed.append
    with placed(target, [one.value for one in given]) as values:
        begin = time.perf_counter()
        grid = cast("int | list[int]", spec["grid"])
        launch_kernel(kernel, grid, values, target.name, check_level(spec["check"]), options)
        target.finish()
        seconds = time.perf_counter() - begin
    lines = cast("list[Json]", sorted("".join(printed).splitlines()))
    answer: dict[str, Json] = {"arrays": {one.name: _summary(one) for one in given if one.before is not None}}
    kept = _kept(given, cast("list[str]", spec["keep"]))
    # A program that is checked reads and writes only what it was given.
    reusable = bool(spec["check"]) and not isinstance(target, DeviceTarget)
    return WorkResult({**answer, "printed": lines}, {"seconds": seconds}, kept, reusable)


def _summary(one: Given) -> dict[str, Json]:
    found = fill.summary(one.array, one.element)
    shape: dict[str, Json] = {"element": one.element.name, "shape": list(fill.shape(one.array, one.element))}
    if found is None:
        return shape
    numbers = {name: _finite(getattr(found, name)) for name in ("low", "high", "mean")}
    return {**shape, **numbers, "checksum": found.checksum}


def _finite(number: float | int) -> Json:
    return number if np.isfinite(number) else str(number)


def _kept(given: Sequence[Given], names: Sequence[str]) -> dict[str, bytes]:
    arrays = {one.name: one for one in given if one.before is not None}
    for name in names:
        if name not in arrays:
            raise UsageError(f"field 'keep': no array '{name}'; there are {', '.join(arrays) or 'none'}")
    return {f"{name}.npy": _npy(arrays[name].array) for name in names}


def _npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()
