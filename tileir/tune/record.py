"""Records of tuning: what was measured, where, and how a launch uses it."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, cast

import numpy as np

from tileir.cache import default_directory
from tileir.host.limits import processors
from tileir.ir.usage import UsageError
from tileir.runtime.module import launch_kernel
from tileir.runtime.options import Check, LaunchOptions, separated
from tileir.tune.candidates import TuneTask, grid_of, kernel_of, options_of, parameters_of
from tileir.tune.space import CONSTANT, Point

FORMAT = 1
_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_PACKAGES = ("tileir", "numpy", "llvmlite", "triton", "cuda-tile", "nvidia-cuda-tileiras", "optuna")


def machine() -> dict[str, object]:
    """Return the machine and the versions that figures belong to."""
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "processors": processors(),
        "python": platform.python_version(),
        "versions": {name: found for name in _PACKAGES if (found := _version(name)) is not None},
    }


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        return next(line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def place_of(name: str) -> Path:
    """Return the file of the record `name`. Raises UsageError for what is no name, or without a place for it."""
    directory = default_directory()
    if not _NAME.fullmatch(name):
        raise UsageError(f"name of a record: expected letters, digits and . _ -, got '{name}'")
    if directory is None:
        raise UsageError("no place for records: set TILEIR_CACHE_DIR, or name a file")
    return directory / "tuned" / f"{name}.json"


@dataclass(frozen=True)
class TuneRecord:
    """The result of tuning. `rows` are the points that were tried, the fastest first.

    Attributes
    ----------
    name : str
        Its name.
    task : TuneTask
        What was tuned.
    rows : tuple of dict
        Of each point ``point``, ``state`` (``right``, or how it failed), ``reason``, and of those that were timed
        ``median``, ``low``, ``high`` in seconds and ``samples``.
    about : dict
        The search, the machine, versions.
    """

    name: str
    task: TuneTask
    rows: tuple[dict[str, Any], ...]
    about: dict[str, Any]

    @property
    def point(self) -> Point:
        """The fastest configuration."""
        return cast(Point, self.rows[0]["point"])

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "name": self.name,
            "best": dict(self.point),
            "task": self.task.to_json(),
            "rows": list(self.rows),
            **self.about,
        }

    def launch(self, *args: object, target: str | None = None, check: Check = True, **named: object) -> None:
        """Launch the fastest program of a template on other arguments.

        Parameters
        ----------
        *args : object
            Arguments in the order of the parameters, as for `Kernel.launch`.
        target : str or None
            Where; the target that was tuned for if None.
        check : bool or "strict"
            As for `Kernel.launch`.
        **named : object
            Arguments by name, and options of the target, which go before those of the record.

        Raises
        ------
        UsageError
            If the record is of a cuTile function, which a script launches with `point` itself.
        """
        if self.task.function:
            raise UsageError(f"record '{self.name}' is of a cuTile function: launch it with the parameters in 'point'")
        where = target or self.task.target
        # A program made for one value of an argument is no program for another.
        general = {name: value for name, value in self.point.items() if not name.startswith(CONSTANT)}
        kernel = kernel_of(self.task, general, {})
        names = [parameter.name for parameter in kernel.parameters]
        values, options = separated(kernel.name, names, args, named)
        scalars = {name: value for name, value in zip(names, values) if isinstance(value, int | float | np.integer)}
        grid = grid_of(self.task.grid, {**cast(Point, scalars), **parameters_of(general)})
        own = options_of(general) if where == self.task.target else LaunchOptions()
        launch_kernel(kernel, grid, values, where, check, cast(LaunchOptions, {**own, **options}))


def tuned(name: str, file: str | Path | None = None) -> TuneRecord:
    """Give the record of that name that ``tileir tune --name`` made, or the one in a file.

    Parameters
    ----------
    name : str
        The name.
    file : str, Path or None
        The file; None for the place of names.

    Returns
    -------
    TuneRecord
        The record, whose `launch` runs the fastest program.

    Raises
    ------
    UsageError
        If there is none, or it is no record.
    """
    path = place_of(name) if file is None else Path(file)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data.get("format") != FORMAT:
            raise ValueError(f"expected format {FORMAT}, got {data.get('format')!r}")
        about = {name: data[name] for name in data.keys() - {"format", "name", "best", "task", "rows"}}
        return TuneRecord(data["name"], TuneTask.of_json(data["task"]), tuple(data["rows"]), about)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"no record '{name}': {reason}; 'tileir tune --name {name}' makes one") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"'{path}' is no record of 'tileir tune': {error}") from None


def picture(record: TuneRecord) -> str:
    """Return an SVG of the medians with their intervals, a row for each point that was timed, the fastest on top."""
    from html import escape

    timed = [row for row in record.rows if "median" in row]
    scale = 560 / max((row["high"] for row in timed), default=1.0)
    parts = []
    for at, row in enumerate(timed):
        y, (low, median, high) = 30 + 18 * at, (row[name] * scale for name in ("low", "median", "high"))
        label = escape(", ".join(f"{name}={value}" for name, value in row["point"].items()) or "-")
        parts.append(
            f'<text x="4" y="{y + 4}">{label}</text><rect x="300" y="{y - 5}" width="{median:.1f}" height="10"/>'
            f'<path d="M{300 + low:.1f} {y}H{300 + high:.1f}"/>'
            f'<text x="{306 + high:.1f}" y="{y + 4}">{row["median"] * 1e3:.4g} ms</text>'
        )
    style = "text{font:11px sans-serif}rect{fill:#7aa6da}path{stroke:#222;stroke-width:2}"
    title = escape(f"{record.name}: medians and 95 % intervals on {record.task.target}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="980" height="{40 + 18 * len(timed)}"><style>{style}</style>'
        f'<text x="4" y="14">{title}</text>{"".join(parts)}</svg>\n'
    )


def ordered(rows: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return rows from fastest to slowest, untimed ones last."""
    return tuple(sorted(rows, key=lambda row: (row.get("left") is not None, row.get("median", float("inf")))))
