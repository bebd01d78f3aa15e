"""Findings in buckets: those that look alike, a reduced program of each, and the command that shows it again.

Knows: when two findings are alike, how a program is reduced under isolation, and the files of a bucket. Does not know:
engines, nor how the search makes programs smaller (`runtime.shrinking`).
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from tileir.farm.isolation import attempt
from tileir.farm.job import Attempt, Ending, FarmJob, JobLimits
from tileir.fuzz.engines import EngineFinding
from tileir.fuzz.jobs import SWARM, ProgramGrammar, program_job, program_of
from tileir.ir.core import Module
from tileir.runtime.shrinking import operation_count, reduced
from tileir.text.printer import to_text
from tileir.verify import verify

REDUCTION_SECONDS = 300.0
"""The time after which a reduction is broken off; what was reached is kept."""
_VARIABLE = re.compile(r"0x[0-9a-f]+|-?\d+(\.\d+)?(e[-+]?\d+)?|%\w+|\bnan\b|-?\binf\b|\b(true|false)\b", re.IGNORECASE)


def findings_in(attempt: Attempt) -> list[EngineFinding]:
    """The findings of a job, also of one that died: then of the engine that ran last."""
    if attempt.ending is Ending.DONE and attempt.result is not None:
        listed = cast("list[dict[str, str]]", attempt.result.answer["findings"])
        return [EngineFinding(**found) for found in listed]
    if attempt.ending is Ending.LOST:
        return []
    engines = re.findall(r"^engine (\S+)$", attempt.log, re.MULTILINE)
    return [EngineFinding(engines[-1] if engines else "generator", attempt.ending.value, attempt.reason)]


def signature(finding: EngineFinding) -> str:
    """What alike findings have in common: engine, kind, and the text without its numbers and names."""
    return f"{finding.engine} {finding.kind}: {_VARIABLE.sub('_', finding.text)[:160]}"


def bucket_name(finding: EngineFinding) -> str:
    """A short name of a bucket, fit for a folder."""
    digest = hashlib.sha256(signature(finding).encode("utf-8", "replace")).hexdigest()[:8]
    return f"{finding.engine}-{finding.kind}-{digest}".replace(" ", "-")


@dataclass(frozen=True)
class Bucket:
    """The first finding of a kind, the job that gave it, and how many more there were."""

    finding: EngineFinding
    job: FarmJob
    count: int = 1

    @property
    def command(self) -> str:
        """The command that shows the finding again."""
        spec = self.job.spec
        if self.job.kind != "fuzz":
            return f"tileir fuzz --program program.mlir --engines {self.finding.engine}"
        words = ["tileir", "fuzz", "--source", str(spec["source"]), "--first", str(spec["seed"]), "--count", "1"]
        if spec["source"] == "valid":
            grammar = ProgramGrammar.of_json(spec)
            words += ["--statements", str(grammar.statements), "--engines", self.finding.engine]
            words += [word for kind, weight in grammar.weights for word in ("--weight", f"{kind}={weight}")]
            words += [] if grammar.swarm == SWARM else ["--swarm", str(grammar.swarm)]
        return shlex.join(words)


def reduced_program(module: Module, finding: EngineFinding, limits: JobLimits) -> Module:
    """The smallest program found on which an engine has an alike finding, with defined behaviour if `module` has it.

    Every version is tried in a process of its own.
    """
    end = time.monotonic() + REDUCTION_SECONDS
    wanted, defined = signature(finding), _shows(module, finding, limits)[1]

    def fails(version: Module) -> bool:
        if time.monotonic() > end:
            return False
        signatures, is_defined = _shows(version, finding, limits)
        return wanted in signatures and (is_defined or not defined)

    return reduced(module, fails, lambda version: len(version.items) == 1 and verify(version).ok)


def _shows(module: Module, finding: EngineFinding, limits: JobLimits) -> tuple[set[str], bool]:
    """The signatures of what is found on a program, and whether its behaviour is defined."""
    job = program_job(to_text(module), [finding.engine])
    found = attempt(job.kind, job.text, job.content, limits)
    defined = found.result is None or bool(found.result.answer["defined"])
    return {signature(one) for one in findings_in(found)}, defined


def program_in(bucket: Bucket) -> Module | None:
    """The program of a finding; None of a faulty or a given one, which are not reduced."""
    spec = bucket.job.spec
    if bucket.job.kind != "fuzz" or spec["source"] != "valid":
        return None
    return program_of(cast(int, spec["seed"]), ProgramGrammar.of_json(spec))


def operation_names(module: Module) -> frozenset[str]:
    """The operations in a program. Reduced programs with different ones show different faults, whatever is said."""
    return frozenset(op.spec.name for op in module.walk())


def write_bucket(place: Path, bucket: Bucket, module: Module | None, small: Module | None) -> None:
    """Write the files of a bucket into the folder `place`.

    ``report.json`` with the finding and the command; ``program.mlir`` and ``reduced.mlir`` where there are these.
    """
    place.mkdir(parents=True, exist_ok=True)
    for name, version in (("program.mlir", module), ("reduced.mlir", small)):
        if version is not None:
            (place / name).write_text(to_text(version), encoding="utf-8")
    size = None if small is None else operation_count(small)
    report = {**vars(bucket.finding), "job": dict(bucket.job.spec), "command": bucket.command, "operations": size}
    if size is not None:
        report["reduced"] = f"tileir fuzz --program reduced.mlir --engines {bucket.finding.engine}"
    (place / "report.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
