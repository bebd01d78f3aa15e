"""``tileir farm``: many launches on many workers, with a store of what came of them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tileir.cli import FAULT, FINE, UsageError, files, show
from tileir.cli.options import add_level
from tileir.cli.progress import clear_line
from tileir.farm.driver import drive
from tileir.farm.executors import PLACES, opened
from tileir.farm.job import SETTLED, Attempt, Ending, FarmJob, JobLimits
from tileir.farm.launching import launch_job
from tileir.farm.store import STATES, WAITING, JobRow, JobStore
from tileir.ir.diagnostics import DiagnosticError
from tileir.runtime.module import Module

ACTIONS = ("run", "resume", "status", "results")
_LIMITS = JobLimits()


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=ACTIONS, help="what to do; see below")
    parser.add_argument("store", metavar="STORE", help="the file that jobs and results are kept in")
    parser.add_argument("jobs", metavar="JOBS", nargs="?", help="run: a file of jobs, a JSON object a line; - is stdin")
    add_workers(parser)
    add_attempts(parser)
    parser.add_argument("--retry", action="store_true", help="resume: let crashed, hung and failed jobs wait again")
    parser.add_argument("--state", choices=STATES, metavar="STATE", help=f"results: only of {', '.join(STATES)}")
    parser.add_argument("--json", action="store_true", help="status, results: as JSON, a result a line")
    parser.add_argument("--save", metavar="FOLDER", help="results: write the arrays that jobs keep into a folder")
    add_level(parser)
    parser.epilog = """\
run      adds the jobs of a file to the store, and runs what is not done yet
resume   runs what is not done yet
status   counts jobs by state
results  lists what came of the jobs

A job is a launch; its fields are those of the command line of 'tileir run':
  {"program": "add.mlir", "grid": [8], "arguments": ["x=f32[1024]:randn", "y=f32[1024]", "1024"]}
and, where wanted: kernel, target, seed, check, options (threads, max_iterations, mode ...), keep (arrays to be kept).
Each job runs in a process of its own. One that crashes, hangs or takes too much memory is tried again, then recorded
with the reason. The status is 1 if a job has no answer.

examples:
  tileir farm run sweep.db jobs.jsonl --workers 8
  tileir farm run sweep.db jobs.jsonl --on dask:tcp://10.0.0.1:8786
  tileir farm status sweep.db
  tileir farm results sweep.db --state crashed
"""


def add_workers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--on", default="processes", metavar="PLACE", help=f"workers: {PLACES} (default processes)")
    parser.add_argument("--workers", type=int, metavar="N", help="how many on this machine (default: its processors)")


def add_attempts(parser: argparse.ArgumentParser, seconds: float = _LIMITS.seconds) -> None:
    parser.add_argument("--timeout", type=float, default=seconds, metavar="S", help=f"of a job (default {seconds:g})")
    parser.add_argument("--memory", type=int, default=4096, metavar="MIB", help="of a job (default 4096); 0: no limit")
    parser.add_argument("--tries", type=int, default=_LIMITS.tries, metavar="N", help="of a job that dies (default 2)")


def limits_of_jobs(options: argparse.Namespace) -> JobLimits:
    """Return the choice of `add_attempts`."""
    for name in ("timeout", "tries"):
        if not getattr(options, name) > 0:
            raise UsageError(f"--{name}: expected a positive number, got {getattr(options, name)}")
    if options.memory < 0:
        raise UsageError(f"--memory: expected a number of MiB, got {options.memory}")
    return JobLimits(options.timeout, options.memory << 20 or None, options.tries)


def checked_workers(options: argparse.Namespace) -> int | None:
    """Return the choice of ``--workers``."""
    if options.workers is not None and options.workers < 1:
        raise UsageError(f"--workers: expected a positive number, got {options.workers}")
    count: int | None = options.workers
    return count


def run(options: argparse.Namespace) -> int:
    if (options.jobs is None) == (options.action == "run"):
        raise UsageError("expected a file of jobs for 'run', and for nothing else")
    if options.action in ("run", "resume"):
        return _run(options)
    with JobStore(options.store, create=False) as store:
        return _status(store, options) if options.action == "status" else _results(store, options)


# ---------------------------------------------------------------- running


def _run(options: argparse.Namespace) -> int:
    jobs = list(_jobs(options)) if options.jobs is not None else []
    limits, count = limits_of_jobs(options), checked_workers(options)
    with JobStore(options.store, create=options.action == "run") as store:
        store.add(jobs)
        if options.retry:
            store.retry(STATES)
        with opened(options.on, count) as workers:
            drive(store, workers, limits=limits, report=_Progress(store))
        clear_line()
        return _status(store, options)


def _jobs(options: argparse.Namespace) -> Iterator[FarmJob]:
    """Yield the jobs of a file. Raises UsageError with the line of one that is wrong."""

    @cache
    def program(path: str) -> Module:
        return files.verified(path, options.level)

    name = files.display_name(options.jobs)
    text = files.read(options.jobs).decode("utf-8", "surrogateescape")
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                fields = json.loads(line)
                if not isinstance(fields, dict) or not isinstance(fields.get("program"), str):
                    raise UsageError("expected a JSON object with a field 'program'")
                yield launch_job(program(fields.pop("program")), fields)
            except json.JSONDecodeError as error:
                raise UsageError(f"{name}:{number}: expected a JSON object, got what is no JSON ({error})") from None
            except (UsageError, ValueError) as error:
                raise UsageError(f"{name}:{number}: {error}") from None
            except DiagnosticError as error:
                raise UsageError(f"{name}:{number}: the program is not valid:\n{error}") from None


class _Progress:
    """Shows how far the jobs are, where somebody looks on."""

    def __init__(self, store: JobStore) -> None:
        counts = store.counts()
        self.total, self.done = sum(counts.values()), sum(counts.values()) - counts.get(WAITING, 0)
        self.seen = sys.stderr.isatty()

    def __call__(self, job: FarmJob, attempt: Attempt, state: str) -> None:
        self.done += state != WAITING
        if self.seen:
            print(f"\r{self.done} of {self.total} jobs", end="", file=sys.stderr, flush=True)


# ---------------------------------------------------------------- showing


def _status(store: JobStore, options: argparse.Namespace) -> int:
    counts, conflicts = store.counts(), store.conflicts()
    if options.json:
        print(json.dumps({"jobs": sum(counts.values()), **counts, "conflicts": len(conflicts)}))
    else:
        states = ", ".join(f"{count} {state}" for state, count in counts.items())
        show.line(f"{show.counted(sum(counts.values()), 'job')}{': ' if states else ''}{states}")
        for key, kept, other in conflicts:
            show.line(f"job {key[:12]} gave two answers: {kept} and {other}")
    finished = counts.get(Ending.DONE.value, 0) == sum(counts.values())
    return FINE if finished and not conflicts else FAULT


def _results(store: JobStore, options: argparse.Namespace) -> int:
    for row in store.rows(options.state):
        if options.json:
            print(json.dumps(row.to_json()))
        else:
            show.line(_line(row))
        if options.save is not None:
            _save(Path(options.save), row, store)
    return FINE


def _line(row: JobRow) -> str:
    what = " ".join(map(str, row.spec.get("arguments", ()))) if row.kind == "launch" else json.dumps(row.spec)  # type: ignore[arg-type]
    name = f"@{row.spec['kernel']} on {row.spec['target']}" if row.kind == "launch" else row.kind
    came = json.dumps(row.answer) if row.state == Ending.DONE.value else row.reason.strip()
    tries = f" after {row.tries} tries" if row.state not in (WAITING, *(ending.value for ending in SETTLED)) else ""
    return f"{row.key[:12]} {name} {what}: {row.state}{tries}{': ' if came else ''}{came}"


def _save(folder: Path, row: JobRow, store: JobStore) -> None:
    for name, data in store.files(row.key).items():
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write '{folder}': {files.reason(error)}") from None
        files.write(str(folder / f"{row.key[:12]}-{name}"), data)
