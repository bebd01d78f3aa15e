"""Findings in buckets: those that look alike, a reduced program of each, and the command that shows it again.

Knows: when two findings are alike, and the files of a bucket. Does not know: engines, nor how a program is reduced
(`reducing`).
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from tileir.farm.job import Attempt, Ending, FarmJob
from tileir.fuzz.engines import EngineFinding
from tileir.fuzz.jobs import SWARM, ProgramGrammar
from tileir.fuzz.shrinking import operation_count
from tileir.text.parser import parse

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
    """What alike findings have in common: engine, kind, and the first line without its numbers and names."""
    said = finding.text.strip().partition("\n")[0]
    return f"{finding.engine} {finding.kind}: {_VARIABLE.sub('_', said)[:160]}"


def bucket_name(finding: EngineFinding) -> str:
    """A short name of a bucket, fit for a folder."""
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
    """The operations in a program. Reduced programs with different ones show different faults, whatever is said."""
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
