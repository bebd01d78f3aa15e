"""Findings sorted by their signature, and the smallest program that still shows one."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from tileir.farm.isolation import attempt
from tileir.farm.job import Attempt, Ending, FarmJob, JobLimits
from tileir.fuzz.engines import EngineFinding
from tileir.fuzz.faulty.draft import FaultyArray, FaultyProgram
from tileir.fuzz.faulty.programs import program as faulty_program
from tileir.fuzz.faulty.programs import with_launch_line, with_launch_read
from tileir.fuzz.jobs import SWARM, ProgramGrammar, program_job, program_of
from tileir.fuzz.shrinking import operation_count, reduced
from tileir.ir.core import Module
from tileir.ops.module import Entry
from tileir.text.parser import parse
from tileir.text.printer import to_text
from tileir.verify import verify

_VARIABLE = re.compile(r"0x[0-9a-f]+|-?\d+(\.\d+)?(e[-+]?\d+)?|%\w+|\bnan\b|-?\binf\b|\b(true|false)\b", re.IGNORECASE)


def findings_in(attempt: Attempt) -> list[EngineFinding]:
    """Return the findings of a job, also of one that died: then of the engine that ran last."""
    if attempt.ending is Ending.DONE and attempt.result is not None:
        listed = cast("list[dict[str, str]]", attempt.result.answer["findings"])
        return [EngineFinding(**found) for found in listed]
    if attempt.ending is Ending.LOST:
        return []
    engines = re.findall(r"^engine (\S+)$", attempt.log, re.MULTILINE)
    return [EngineFinding(engines[-1] if engines else "generator", attempt.ending.value, attempt.reason)]


def signature(finding: EngineFinding) -> str:
    """Return the common part of similar findings: engine, kind, and the first line without its numbers and names."""
    said = finding.text.strip().partition("\n")[0]
    return f"{finding.engine} {finding.kind}: {_VARIABLE.sub('_', said)[:160]}"


def bucket_name(finding: EngineFinding) -> str:
    """Return a short name of a bucket, fit for a folder."""
    digest = hashlib.sha256(signature(finding).encode("utf-8", "replace")).hexdigest()[:8]
    return f"{finding.engine}-{finding.kind}-{digest}".replace(" ", "-").replace(":", "-")


@dataclass(frozen=True)
class Bucket:
    """The first finding of a kind, the job that gave it, and how many more there were."""

    finding: EngineFinding
    job: FarmJob
    count: int = 1

    @property
    def engine_words(self) -> list[str]:
        """The option that names the engine, where one of several is to be chosen."""
        chosen = self.finding.engine in cast("list[str]", self.job.spec.get("engines", []))
        return ["--engines", self.finding.engine] if chosen else []

    @property
    def command(self) -> str:
        """The command that shows the finding again."""
        spec = self.job.spec
        if self.job.kind != "fuzz":
            return shlex.join(["tileir", "fuzz", "--program", "program.mlir", *self.engine_words])
        words = ["tileir", "fuzz", "--source", str(spec["source"]), "--first", str(spec["seed"]), "--count", "1"]
        if spec["source"] == "valid":
            grammar = ProgramGrammar.of_json(spec)
            words += ["--statements", str(grammar.statements), *self.engine_words]
            words += [word for kind, weight in grammar.weights for word in ("--weight", f"{kind}={weight}")]
            words += [] if grammar.swarm == SWARM else ["--swarm", str(grammar.swarm)]
        return shlex.join(words)


def operation_names(text: str) -> frozenset[str]:
    """Return the operations in a program. Reduced programs with different ones show different faults, whatever is
    said."""
    return frozenset(op.spec.name for op in parse(text).walk())


def write_bucket(place: Path, bucket: Bucket, program: str | None, small: str | None) -> None:
    """Write the files of a bucket into the folder `place`.

    ``report.json`` with the finding and the command; ``program.mlir`` and ``reduced.mlir`` where there are these.
    """
    place.mkdir(parents=True, exist_ok=True)
    for name, version in (("program.mlir", program), ("reduced.mlir", small)):
        if version is not None:
            (place / name).write_text(version, encoding="utf-8")
    size = None if small is None else operation_count(parse(small))
    report = {**vars(bucket.finding), "job": dict(bucket.job.spec), "command": bucket.command, "operations": size}
    if size is not None:
        report["reduced"] = shlex.join(["tileir", "fuzz", "--program", "reduced.mlir", *bucket.engine_words])
    (place / "report.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


REDUCTION_SECONDS = 300.0
"""The time after which a reduction stops; its progress is kept."""


def program_in(bucket: Bucket) -> str | None:
    """Return the program of a seed, a faulty one with the line of its launch; None of a given one, which is not
    reduced."""
    spec = bucket.job.spec
    if bucket.job.kind != "fuzz":
        return None
    seed = cast(int, spec["seed"])
    if spec["source"] == "faulty":
        return with_launch_line(faulty_program(seed))
    return to_text(program_of(seed, ProgramGrammar.of_json(spec)))


def reduced_program(text: str, finding: EngineFinding, limits: JobLimits) -> str:
    """Return the smallest program found on which an engine has an alike finding.

    It has defined behaviour if the program in `text` has it. A faulty program keeps what its launch needs of the line
    that says so, and the targets go on stopping where they did: in the operations that the finding names.
    """
    end = time.monotonic() + REDUCTION_SECONDS
    wanted, defined = signature(finding), _shows(text, finding, limits)[1]

    def fails(version: str) -> bool:
        if time.monotonic() > end:
            return False
        signatures, is_defined = _shows(version, finding, limits)
        return wanted in signatures and (is_defined or not defined)

    faulty = with_launch_read(text)
    if faulty is not None:
        return _reduced_faulty(faulty, fails)
    valid = _with_items(parse(text), 1)
    return to_text(reduced(parse(text), lambda version: fails(to_text(version)), valid))


def _with_items(module: Module, most: int) -> Callable[[Module], bool]:
    return lambda version: len(version.items) <= most and len(_entries(version)) == 1 and verify(version).ok


def _shows(text: str, finding: EngineFinding, limits: JobLimits) -> tuple[set[str], bool]:
    """Return the signatures of a program's findings, and whether its behaviour is defined."""
    job = program_job(text, [finding.engine])
    found = attempt(job.kind, job.text, job.content, limits)
    defined = found.result is None or bool(found.result.answer["defined"])
    return {signature(one) for one in findings_in(found)}, defined


def _entries(module: Module) -> list[Entry]:
    return [item for item in module.items if isinstance(item, Entry)]


# ---------------------------------------------------------------- faulty programs


def _reduced_faulty(faulty: FaultyProgram, fails: Callable[[str], bool]) -> str:
    """Return a smaller program, on fewer arguments, and then with smaller ones."""
    module = parse(faulty.text)
    (entry,) = _entries(module)
    arguments = dict(zip(entry.body.arg_names, faulty.arguments))

    def with_arguments(version: Module) -> str:
        names = _entries(version)[0].body.arg_names
        kept = [arguments[name] for name in names]
        return with_launch_line(replace(faulty, text=to_text(version), arguments=kept))

    small = reduced(module, lambda version: fails(with_arguments(version)), _with_items(module, len(module.items)))
    reached = with_launch_read(with_arguments(small))
    assert reached is not None, "a faulty program has its line"
    return with_launch_line(_smaller_launch(reached, lambda version: fails(with_launch_line(version))))


def _smaller_launch(faulty: FaultyProgram, fails: Callable[[FaultyProgram], bool]) -> FaultyProgram:
    """Return the launch with nothing in it that could be smaller. Each step makes one thing smaller for good."""
    while True:
        found = next((version for version in _smaller_launches(faulty) if fails(version)), None)
        if found is None:
            return faulty
        faulty = found


def _smaller_launches(faulty: FaultyProgram) -> Iterator[FaultyProgram]:
    if faulty.grid > 1:
        yield replace(faulty, grid=1)
    for at, argument in enumerate(faulty.arguments):
        for smaller in _smaller_arguments(argument):
            yield replace(faulty, arguments=[*faulty.arguments[:at], smaller, *faulty.arguments[at + 1 :]])


def _smaller_arguments(argument: FaultyArray | int) -> Sequence[FaultyArray | int]:
    if isinstance(argument, int):
        return [smaller for smaller in dict.fromkeys((0, 1, argument // 2)) if abs(smaller) < abs(argument)]
    counts = [count for count in dict.fromkeys((1, argument.count // 2)) if 0 < count < argument.count]
    plain = [replace(argument, writable=True)] if not argument.writable else []
    if argument.layout:
        plain.append(replace(argument, layout=[]))
    return [*(replace(argument, count=count) for count in counts), *plain]
