"""``tileir tune``: search for the fastest configuration of a template or of a cuTile function."""

from __future__ import annotations

import argparse
import json
import threading
from pathlib import Path
from typing import Any

from tileir.cli import FINE, UsageError, files, show
from tileir.cli.farm import add_attempts, checked_workers, limits_of_jobs
from tileir.cli.options import add_target, chosen_target
from tileir.cli.progress import clear_line
from tileir.command_line import argument_words
from tileir.tune.candidates import TuneTask
from tileir.tune.record import TuneRecord, picture, place_of
from tileir.tune.search import SEARCHES, search_of
from tileir.tune.space import CONSTANT, LEVEL, OPTION, PointValue, TuneSpace, values_of
from tileir.tune.tuner import Tuner, declared_values

_SHOWN = 20


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a template, or SCRIPT.py:NAME for a cuTile kernel or function")
    parser.add_argument("arguments", nargs="*", default=[], metavar="ARG", help="arguments of the kernel, see below")
    parser.add_argument("--kernel", metavar="NAME", help="which entry of a template that has several")
    parser.add_argument("--grid", metavar="X[,Y[,Z]]", help="number of tile blocks along each axis")
    text = "a parameter and its values; repeatable"
    parser.add_argument("--space", action="append", default=[], metavar="NAME=A,B", help=text)
    text = "an option of the launch and its values: threads, warps, stages; repeatable"
    parser.add_argument("--option", action="append", default=[], metavar="NAME=A,B", help=text)
    text = "try the program made for this scalar argument alone, too; repeatable"
    parser.add_argument("--constant", action="append", default=[], metavar="NAME", help=text)
    parser.add_argument("--optimise", metavar="A,B", help="levels of the optimiser to try, such as 0,2")
    parser.add_argument("--search", choices=SEARCHES, default="exhaustive", help="how (default: exhaustive)")
    parser.add_argument("--trials", type=int, metavar="N", help="most configurations (default 32; exhaustive: all)")
    text = "keep Optuna's study in this file, of SQLite; one that is there goes on"
    parser.add_argument("--study", type=Path, metavar="FILE", help=text)
    parser.add_argument("--seconds", type=float, default=10.0, metavar="S", help="time of a race (default 10)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of fills, search and order (default 0)")
    text = "target whose result of the first configuration is right (default: the target itself)"
    parser.add_argument("--reference", metavar="TARGET", help=text)
    parser.add_argument("--name", metavar="NAME", help="keep the record for tileir.tuned(NAME)")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the record, as JSON")
    parser.add_argument("--picture", metavar="FILE", help="write a picture of the times, as SVG")
    parser.add_argument("--workers", type=int, metavar="N", help="processes that compile (default: the processors)")
    add_target(parser)
    add_attempts(parser)
    parser.epilog = f"""\
{{{{NAME}}}} in the template, in --grid and in arguments stands for the value of a parameter; so do sums, products,
quotients (//) and remainders of them, and in --grid scalar arguments. The first value of each is the configuration
that the others must agree with; those that do not, or that crash or hang, are left out before anything is timed.

{argument_words.GRAMMAR}
examples:
  tileir tune scale.mlir.in --space TILE=64,256,1024 --grid '{{{{(n + TILE - 1) // TILE}}}}' f32[100000]:randn n=100000
  tileir tune gemm.mlir.in --space M=32,64 --space N=32,64 --option threads=1,2 --grid ... --name gemm ...
  tileir tune matmul.py:search f32[512,512]:randn f32[512,512]:randn f32[512,512]
  tileir tune add.py:add --space T=64,256 --grid '{{{{4096 // T}}}}' f32[4096] f32[4096] f32[4096] '{{{{T}}}}'
"""


def run(options: argparse.Namespace) -> int:
    target, limits, count = chosen_target(options.target), limits_of_jobs(options), checked_workers(options)
    reference = chosen_target(options.reference or options.target).name
    for name in ("trials", "seconds"):
        value = getattr(options, name)
        if value is not None and not 0 < value <= threading.TIMEOUT_MAX:
            raise UsageError(f"--{name}: expected a positive number, got {value}")
    task = _task(options, target.name)
    space = _space(options, declared_values(task, limits) if task.function else {})
    name = options.name or Path(options.file.rpartition(":")[0] or options.file).name.partition(".")[0]
    kept = place_of(options.name) if options.name else None
    search = search_of(options.search, space, options.trials, options.seed, options.study)
    tuner = Tuner(task, limits, count, options.seconds, options.seed, show.line)
    about: dict[str, Any] = {"space": {key: list(values) for key, values in space.values.items()}}
    record = tuner.tune(name, search, reference, {**about, "search": options.search, "seed": options.seed})
    clear_line()
    _show(record)
    _write(record, options, kept)
    return FINE


def _space(options: argparse.Namespace, declared: dict[str, tuple[PointValue, ...]]) -> TuneSpace:
    """Return the space given on the command line, completed by the values that a script declares."""
    values: dict[str, tuple[PointValue, ...]] = {}
    words = [(word, "space", "") for word in options.space] + [(word, "option", OPTION) for word in options.option]
    words += [(f"{name}=false,true", "constant", CONSTANT) for name in options.constant]
    if options.optimise is not None:
        words.append((f"{LEVEL}={options.optimise}", "optimise", ""))
    for word, option, prefix in words:
        name, found = values_of(word, option)
        if prefix + name in values:
            raise UsageError(f"--{option}: '{name}' is given twice")
        values[prefix + name] = found
    values = {**{name: found for name, found in declared.items() if name not in values}, **values}
    if not values:
        raise UsageError("nothing to tune: expected --space, --option, --constant or --optimise")
    return TuneSpace(values)


def _task(options: argparse.Namespace, target: str) -> TuneTask:
    script, _, function = options.file.rpartition(":")
    grid, words = options.grid, tuple(options.arguments)
    if script.endswith(".py"):
        if options.constant or options.optimise or options.kernel:
            raise UsageError("--constant, --optimise and --kernel are for templates")
        if not Path(script).is_file():
            raise UsageError(f"cannot read '{script}': no such file")
        if grid is None and options.space:
            raise UsageError("--space: needs --grid; without it, the space is that of the function's own search")
        return TuneTask(str(Path(script).resolve()), function, None, grid or "", words, target, options.seed)
    if grid is None:
        raise UsageError("--grid: expected 1 to 3 extents, as this is no function with a search of its own")
    text = files.read(options.file).decode("utf-8", "surrogateescape")
    return TuneTask(text, "", options.kernel, grid, words, target, options.seed)


def _show(record: TuneRecord) -> None:
    columns = {"configuration": "left", "median": "right", "95 % interval": "left", "samples": "right", "": "left"}
    rows: list[list[str]] = [_row(row) for row in record.rows[:_SHOWN]]
    show.print_table(show.table(columns, rows))  # type: ignore[arg-type]
    if len(record.rows) > _SHOWN:
        show.line(f"and {len(record.rows) - _SHOWN} more")


def _row(row: dict[str, Any]) -> list[str]:
    name = " ".join(f"{key}={json.dumps(value)}" for key, value in row["point"].items())
    if "median" not in row:
        return [name, "", "", "", f"{row['state']}: {row['reason']}"[:80]]
    low, median, high = (f"{row[key] * 1e3:.4g} ms" for key in ("low", "median", "high"))
    return [name, median, f"{low} to {high}", str(row["samples"]), "" if row["left"] is None else "left early"]


def _write(record: TuneRecord, options: argparse.Namespace, kept: Path | None) -> None:
    text = json.dumps(record.to_json(), indent=1) + "\n"
    if kept is not None:
        try:
            kept.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write '{kept}': {files.reason(error)}") from None
        files.write(str(kept), text)
    if options.output is not None:
        files.write(options.output, text)
    if options.picture is not None:
        files.write(options.picture, picture(record))
