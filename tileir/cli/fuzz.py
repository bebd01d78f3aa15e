"""``tileir fuzz``: programs made from seeds, on engines that must agree on them."""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from tileir.cli import FAULT, FINE, UsageError, files, show
from tileir.cli.farm import add_attempts, add_workers, checked_workers, limits_of_jobs
from tileir.cli.progress import clear_line
from tileir.farm.driver import drive
from tileir.farm.executors import opened
from tileir.farm.job import Attempt, FarmJob, JobLimits
from tileir.farm.store import WAITING, JobStore
from tileir.fuzz.builder import WEIGHED
from tileir.fuzz.engines import ENGINES, VENDORS, default_engines, engine_of
from tileir.fuzz.faulty.programs import MARK, with_launch_read
from tileir.fuzz.jobs import SOURCES, SWARM, ProgramGrammar, program_job, seed_job
from tileir.fuzz.reducing import (
    Bucket,
    bucket_name,
    findings_in,
    operation_names,
    program_in,
    reduced_program,
    write_bucket,
)
from tileir.fuzz.shrinking import operation_count
from tileir.gpu import vendor
from tileir.ir.versions import NEWEST
from tileir.runtime.module import Module
from tileir.text.parser import parse
from tileir.text.printer import to_text

STATEMENTS = 14
MOST_WEIGHT = 1000
SECONDS = 120.0
REDUCED = 6
"""The number of findings of a bucket that are reduced: a tool with one message for all faults puts several into one
bucket."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, metavar="N", help="begin no program after so long (default: for ever)")
    parser.add_argument("--count", type=int, metavar="N", help="how many seeds (default: without end)")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="the first seed (default 0)")
    parser.add_argument("--source", choices=(*SOURCES, "both"), default="both", help="kind of programs (default both)")
    parser.add_argument(
        "--engines", metavar="A,B", help=f"of {', '.join(ENGINES)}, or MODULE:FUNCTION (default: all that are here)"
    )
    parser.add_argument(
        "--statements", type=int, default=STATEMENTS, metavar="N", help="in a valid program (default 14)"
    )
    text = f"how often a kind of statement comes, 0 for never; repeatable; kinds: {', '.join(WEIGHED)}"
    parser.add_argument("--weight", action="append", default=[], metavar="KIND=N", help=text)
    text = f"one valid program of N has all kinds of statements, the others about half (default {SWARM}; 1: all have)"
    parser.add_argument("--swarm", type=int, default=SWARM, metavar="N", help=text)
    parser.add_argument("--program", metavar="FILE", help="try this program instead of generated ones")
    parser.add_argument("--findings", default="fuzz-findings", metavar="FOLDER", help="where findings are written")
    parser.add_argument("--no-reduce", action="store_true", help="leave the programs of findings as they are")
    parser.add_argument("--store", metavar="STORE", help="keep what was tried, and try only what is not in there")
    add_workers(parser)
    add_attempts(parser, SECONDS)
    parser.epilog = f"""\
Valid programs are run on the interpreter and compared with all engines: text and bytecode round trips, the optimiser,
native code with and without checks, optimised or not; {VENDORS[0]} to {VENDORS[-1]} are the vendor's assembler, which
must take them. Faulty programs access memory wrongly: interpreter and native code must stop at the same place. A seed
means the same program on every machine. Findings that look alike go into one bucket, a folder with the report, the
program of the first, and that program reduced; the first line of a faulty one says what it is launched with. The status
is 1 if there are any.

examples:
  tileir fuzz --seconds 600
  tileir fuzz --count 1000 --first 5000 --source valid --engines cpu,cpu-O2
  tileir fuzz --program fuzz-findings/cpu-difference-1f2e3d4c/reduced.mlir --engines cpu
  tileir fuzz --on dask:tcp://10.0.0.1:8786 --store nightly.db
"""


def run(options: argparse.Namespace) -> int:
    engines, count, limits = _engines(options), checked_workers(options), limits_of_jobs(options)
    if options.statements < 1 or (options.count is not None and options.count < 1):
        raise UsageError("--statements, --count: expected a positive number")
    if not 0 <= options.first < 1 << 63:
        raise UsageError(f"--first: expected a seed of at most 63 bits that is not negative, got {options.first}")
    if options.swarm < 1:
        raise UsageError(f"--swarm: expected a positive number, got {options.swarm}")
    if options.seconds is not None and not options.seconds > 0:
        raise UsageError(f"--seconds: expected a positive number, got {options.seconds}")
    jobs = _jobs(options, engines)
    campaign = _Campaign(Path(options.findings), limits, not options.no_reduce)
    temporary = tempfile.TemporaryDirectory(prefix="tileir-fuzz-") if options.store is None else nullcontext(None)
    with temporary as folder, JobStore(options.store or f"{folder}/store.db") as store:
        try:
            with opened(options.on, count) as workers:
                drive(store, workers, jobs, limits, campaign.report, options.seconds)
        except KeyboardInterrupt:
            clear_line()
    return campaign.summary()


def _engines(options: argparse.Namespace) -> tuple[str, ...]:
    if options.engines is None:
        return default_engines()
    chosen = tuple(options.engines.split(","))
    for name in chosen:
        _require_engine(name)
    if set(chosen) & set(VENDORS) and vendor.program() is None:
        raise UsageError("needs the vendor's assembler: pip install nvidia-cuda-tileiras")
    return chosen


def _require_engine(name: str) -> None:
    """Raise UsageError where there is no such engine."""
    if name not in ENGINES and ":" not in name:
        raise UsageError(f"no engine '{name}'; there are {', '.join(ENGINES)}, and MODULE:FUNCTION")
    if ":" in name:
        try:
            engine_of(name)
        except ValueError as error:
            raise UsageError(str(error)) from None


def _jobs(options: argparse.Namespace, engines: tuple[str, ...]) -> Iterator[FarmJob]:
    if options.program is not None:
        module = files.verified(options.program, NEWEST)
        if len(module.kernels) != 1:
            raise UsageError(f"'{options.program}': expected one entry, got {len(module.kernels)}")
        return iter([program_job(_launched_text(module) or to_text(module), engines)])
    sources = SOURCES if options.source == "both" else (options.source,)
    seeds = itertools.count(options.first)
    chosen = seeds if options.count is None else itertools.islice(seeds, options.count)
    grammar = ProgramGrammar(options.statements, _weights(options.weight), options.swarm)
    return (seed_job(seed, source, grammar, engines) for seed in chosen for source in sources)


def _launched_text(module: Module) -> str | None:
    """Return the text of a faulty program, whose first line says its launch; None of another. Raises UsageError."""
    text = "" if module.source is None else module.source.text
    try:
        faulty = with_launch_read(text)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if faulty is None:
        return None
    (kernel,) = module.kernels.values()
    expected, got = len(kernel.parameters), len(faulty.arguments)
    if expected != got:
        raise UsageError(f"'{MARK.strip()}': expected {show.counted(expected, 'argument')}, got {got}")
    return text


def _weights(words: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Return the kinds of statements with their weights. Raises UsageError."""
    weights = {}
    for word in words:
        kind, _, number = word.partition("=")
        if kind not in WEIGHED or not number.isascii() or not number.isdigit() or int(number) > MOST_WEIGHT:
            raise UsageError(f"--weight: expected a kind of statement and 0 to {MOST_WEIGHT}, got '{word}'")
        weights[kind] = int(number)
    return tuple(sorted(weights.items()))


class _Campaign:
    """Counts programs, puts findings into buckets, and writes each new bucket."""

    def __init__(self, folder: Path, limits: JobLimits, reduce: bool) -> None:
        self.folder = folder
        self.limits = replace(limits, tries=1)
        self.reduce = reduce
        self.programs = 0
        self.buckets: dict[str, Bucket] = {}
        self.shapes: dict[str, set[frozenset[str]]] = {}
        """The operations in the reduced programs of each bucket."""
        self.shown = sys.stderr.isatty()

    def report(self, job: FarmJob, attempt: Attempt, state: str) -> None:
        if state == WAITING:
            return
        self.programs += 1
        for finding in findings_in(attempt):
            self._add(Bucket(finding, job))
        if self.shown:
            print(f"\r{self.programs} programs, {len(self.buckets)} findings", end="", file=sys.stderr, flush=True)

    def _add(self, bucket: Bucket) -> None:
        name = bucket_name(bucket.finding)
        known = self.buckets.get(name)
        self.buckets[name] = bucket if known is None else replace(known, count=known.count + 1)
        if known is not None and (known.count >= REDUCED or not self.reduce):
            return
        program = program_in(bucket)
        shapes = self.shapes.setdefault(name, set())
        if known is None:
            clear_line()
            show.line(f"{name}: {bucket.finding.text}\n  {bucket.command}")
            sys.stdout.flush()
            self._write(name, bucket, program, None)
        if program is not None and self.reduce and bucket.finding.engine != "generator":
            small = reduced_program(program, bucket.finding, self.limits)
            shape = operation_names(small)
            if shape not in shapes:
                shapes.add(shape)
                self._write(name if len(shapes) == 1 else f"{name}-{len(shapes)}", bucket, program, small)

    def _write(self, name: str, bucket: Bucket, program: str | None, small: str | None) -> None:
        try:
            write_bucket(self.folder / name, bucket, program, small)
        except OSError as error:
            raise UsageError(f"cannot write '{self.folder}': {files.reason(error)}") from None
        if small is not None:
            clear_line()
            show.line(
                f"  {self.folder / name}/reduced.mlir: {show.counted(operation_count(parse(small)), 'operation')}"
            )
            sys.stdout.flush()

    def summary(self) -> int:
        clear_line()
        counted = show.counted(self.programs, "program")
        show.line(f"{counted}, {show.counted(len(self.buckets), 'finding')}")
        for name, bucket in self.buckets.items():
            show.line(f"  {name}: {bucket.count} times")
        return FAULT if self.buckets else FINE
