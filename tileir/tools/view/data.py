"""The record of a launch as data for the page."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tileir.ir.core import Op, Value
from tileir.ir.diagnostics import Coordinates, Trap
from tileir.ir.loc import FileLoc, Location, SourceLoc, file_position
from tileir.ir.types import TokenType
from tileir.sanitize.findings import Finding
from tileir.text.names import written_names
from tileir.tools.program_lines import ProgramLines
from tileir.tools.view.pictures import Picture, reduced, values_of
from tileir.tools.view.record import CORNER, RecordedLaunch, TouchRecord, ValueRecord

if TYPE_CHECKING:
    from tileir.tools.profile.measure import LaunchMeasurement

MOST_CELLS = 512
"""Rows and columns of the picture of an array."""
SMALL = 1 << 14
"""Up to so many elements the values themselves are in the page."""
DIGITS = 6


@dataclass
class ArrayValues:
    """The values of an array at one time, as a picture."""

    cells: np.ndarray
    exact: list[float | None] | None

    @staticmethod
    def of(picture: Picture) -> ArrayValues | None:
        values = values_of(picture.array)
        if values is None:
            return None
        cells = reduced(values, picture.rows, picture.columns, MOST_CELLS)
        exact = [_number(value) for value in np.ravel(values).tolist()] if values.size <= SMALL else None
        return ArrayValues(cells, exact)

    def to_json(self) -> dict[str, Any]:
        """Return cells as bytes from the least to the largest value; 255 is one that is no number."""
        finite = self.cells[np.isfinite(self.cells)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        span = high - low or 1.0
        with np.errstate(all="ignore"):
            scaled = np.where(np.isfinite(self.cells), (self.cells - low) / span * 254, 255)
        data = base64.b64encode(scaled.astype(np.uint8).tobytes()).decode()
        rows, columns = self.cells.shape
        return {"rows": rows, "columns": columns, "low": low, "high": high, "cells": data, "exact": self.exact}


def page_data(
    name: str,
    grid: Coordinates,
    record: RecordedLaunch,
    lines: ProgramLines,
    before: Sequence[ArrayValues | None],
    findings: Sequence[Finding],
    notes: Iterable[str],
    trap: Trap | None,
    measured: LaunchMeasurement | None = None,
) -> dict[str, Any]:
    """Return everything that the page shows; `measured` is the launch on native code."""
    seconds = {} if measured is None else {op: measured.seconds_of(op) for op in measured.ops}
    times = {} if measured is None else _block_times(measured)
    ops = [{**_op(number, op, record, lines), "seconds": seconds.get(op)} for number, op in enumerate(record.ops)]
    found = [_finding(finding, lines) for finding in findings]
    if trap is not None:
        found.insert(0, _trap(trap, lines))
    return {
        "kernel": name,
        "grid": list(grid),
        "ops": ops,
        "edges": list(_token_edges(record.ops)),
        "files": [{"name": source.name, "text": source.text} for source in lines.sources.values()],
        "blocks": [
            [*one.id, one.operations, one.read, one.written, one.outside, round(one.seconds, 6), times.get(one.id, 0)]
            for one in record.blocks
        ],
        "time": any(one is not None for one in seconds.values()),
        "arrays": [_array(picture, earlier) for picture, earlier in zip(record.pictures, before)],
        "touched": _touched(record.touched),
        "values": [_value(one) for one in record.values],
        "findings": found,
        "notes": [*notes, *_limits(record)],
    }


def _block_times(measured: LaunchMeasurement) -> dict[Coordinates, float]:
    """Return the seconds that each tile block ran on native code."""
    times: dict[Coordinates, float] = {}
    for one in measured.blocks:
        times[one.block] = times.get(one.block, 0.0) + (one.end - one.begin) / 1e9
    return times


def _op(number: int, op: Op, record: RecordedLaunch, lines: ProgramLines) -> dict[str, Any]:
    sums = record.per_op[number]
    files = list(lines.sources)
    places = [[list(lines.sources).index(place.file), place.line] for place in lines.of(op)]
    assert files == list(lines.sources) or places, "a new file comes with a place"
    return {
        "name": op.spec.name,
        "places": places,
        "count": sums.count,
        "read": sums.read,
        "written": sums.written,
        "outside": sums.outside,
        "results": [result.type.text for result in op.results],
        "names": _result_names(op),
    }


def _result_names(op: Op) -> list[str]:
    """Return the names of the results: those in the program's text, else the declared ones."""
    written = written_names(op)
    if len(written) == len(op.results):
        return [f"%{name}" for name in written]
    if len(written) == 1:
        return [f"%{written[0]}#{number}" for number in range(len(op.results))]
    declared = op.spec.results
    return [declared[min(number, len(declared) - 1)].name for number in range(len(op.results))]


def _token_edges(ops: Sequence[Op]) -> Iterable[tuple[int, int]]:
    """Yield pairs of numbers: an operation and one that its token orders."""
    number = {op: at for at, op in enumerate(ops)}
    for at, op in enumerate(ops):
        for operand in op.operands:
            if isinstance(operand.type, TokenType) and operand.op in number:
                yield number[_made(operand)], at


def _made(token: Value) -> Op:
    assert token.op is not None
    return token.op


def _array(picture: Picture, before: ArrayValues | None) -> dict[str, Any]:
    after = ArrayValues.of(picture)
    changed = before is not None and after is not None and not np.array_equal(before.cells, after.cells, True)
    return {
        "name": picture.name,
        "shape": list(picture.array.shape),
        "dtype": picture.array.dtype_name,
        "rows": picture.rows,
        "columns": picture.columns,
        "before": None if before is None else before.to_json(),
        "after": None if after is None or not changed else after.to_json(),
    }


def _touched(records: Sequence[TouchRecord]) -> str:
    """Return eight numbers for each: tile block, operation (twice, plus one if exact), array, execution, rectangle."""
    rows = [(one.block, one.op * 2 + one.exact, one.array, one.turn, *one.rectangle) for one in records]
    table = np.array(rows, np.int32).reshape(len(rows), 8)
    return base64.b64encode(table.astype("<i4").tobytes()).decode()


def _value(one: ValueRecord) -> dict[str, Any]:
    tile = one.tile
    corner = tile.reshape(1, -1) if tile.ndim < 2 else tile.reshape(-1, tile.shape[-1])
    shown = corner[:CORNER, :CORNER]
    return {
        "block": one.block,
        "op": one.op,
        "turn": one.turn,
        "result": one.result,
        "shape": list(tile.shape),
        "corner": [[_number(value) for value in row] for row in shown.tolist()],
        **_extremes(tile),
    }


def _extremes(tile: np.ndarray) -> dict[str, Any]:
    with np.errstate(all="ignore"):
        numbers = tile.astype(np.float64) if tile.dtype != np.uint64 else tile.astype(object)
        if tile.dtype == np.uint64:
            return {"low": hex(int(tile.min())), "high": hex(int(tile.max())), "mean": None, "odd": 0}
        odd = int((~np.isfinite(numbers)).sum())
        finite = numbers[np.isfinite(numbers)]
    if not finite.size:
        return {"low": None, "high": None, "mean": None, "odd": odd}
    low, high, mean = (_number(float(value)) for value in (finite.min(), finite.max(), finite.mean()))
    return {"low": low, "high": high, "mean": mean, "odd": odd}


def _number(value: object) -> Any:
    """Return a number that JSON can hold: a float in a few digits, text for one that is none, or for a large
    integer."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value if abs(value) < 1 << 53 else hex(value)
    number = float(value)  # type: ignore[arg-type]
    return float(f"{number:.{DIGITS}g}") if np.isfinite(number) else str(number)


# ---------------------------------------------------------------- findings


def _finding(found: Finding, lines: ProgramLines) -> dict[str, Any]:
    data = found.to_json()
    data["places"] = _places(found.loc, lines)
    data["others"] = [] if found.other is None else _places(found.other, lines)
    return data


def _trap(trap: Trap, lines: ProgramLines) -> dict[str, Any]:
    return {
        "kind": "trap",
        "severity": "error",
        "message": trap.message,
        "array": trap.array,
        "blocks": [] if trap.block is None else [list(trap.block)],
        "places": _places(trap.loc, lines),
        "others": [],
        "op": trap.op,
        "hint": None,
        "because": None,
    }


def _places(loc: Location, lines: ProgramLines) -> list[list[int]]:
    place = file_position(loc)
    names = list(lines.sources)
    if isinstance(place, SourceLoc) and place.source.name in names:
        return [[names.index(place.source.name), place.source.position(place.offset)[0]]]
    if isinstance(place, FileLoc) and place.file in names:
        return [[names.index(place.file), place.line]]
    return []


def _limits(record: RecordedLaunch) -> Iterable[str]:
    if not record.complete:
        yield (
            f"more than {len(record.touched)} rectangles: of the rest, the page shows the one around each access of "
            "each tile block"
        )
    elif not all(one.exact for one in record.touched):
        yield "scattered accesses of very many pieces are shown as the rectangle around them"
