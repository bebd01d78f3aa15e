"""The profile of a launch as a table for a terminal."""

from __future__ import annotations

import io

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from tileir.ir.escaping import shown, shown_lines
from tileir.tools.profile.report import ProfileReport, ProfileSums

_COLUMNS = ("line", "time", "share", "ran", "bytes", "flop", "flop/byte", "of peak flop/s", "of peak byte/s", "source")
_LEFT = frozenset(("source",))
_WIDEST = 1000
_SOURCE = 60


def text(profile: ProfileReport, everything: bool = False) -> str:
    """Return the whole page. A line is shown if it takes time, moves bytes or has flops, or else if `everything` is."""
    parts = [_head(profile)]
    for file in profile.files[: None if everything else 1]:
        parts.append(_table(profile, file, everything))
    parts += [_loops(profile), *_tail(profile)]
    return "\n".join(part for part in parts if part)


def _head(profile: ProfileReport) -> str:
    grid = " x ".join(map(str, profile.grid))
    peaks = profile.peaks
    reads = f"{peaks.bytes / 1e9:.4g} GB/s from memory, {peaks.cached / 1e9:.4g} GB/s from the first cache"
    runs = f"{profile.runs} launches under samples"
    return shown_lines(
        f"@{profile.kernel}, grid {grid}, {profile.threads} threads: {duration(profile.seconds)} a launch, {runs}\n"
        f"measured peaks: {peaks.flops / 1e9:.4g} GFLOP/s in f32, {reads}"
    )


def _table(profile: ProfileReport, file: str, everything: bool) -> str:
    source = profile.lines.sources[file].text.split("\n")
    rows = []
    for place, sums in profile.by_line.items():
        if place.file == file and (everything or sums.samples or sums.bytes or sums.flops or sums.waits):
            line = source[place.line - 1].strip() if place.line <= len(source) else ""
            rows.append([str(place.line), *_cells(profile, sums), shown(line[:_SOURCE])])
    return shown(file) + "\n" + _drawn(list(_COLUMNS), rows)


def _cells(profile: ProfileReport, sums: ProfileSums) -> list[str]:
    whole = profile.total.seconds
    intensity = sums.intensity
    return [
        "" if sums.seconds is None else duration(sums.seconds),
        f"{sums.seconds / whole:.1%}" if sums.seconds is not None and whole else "",
        str(sums.count),
        amount(sums.bytes),
        amount(sums.flops),
        "" if intensity is None else f"{intensity:.3g}",
        _share(profile.flop_share(sums)),
        _byte_share(profile, sums),
    ]


def _loops(profile: ProfileReport) -> str:
    rows = []
    for one in profile.loops:
        line = "" if one.place is None else str(one.place.line)
        rows.append([line, *_cells(profile, one.sums), shown(one.name)])
    return "the kernel and its loops\n" + _drawn([*_COLUMNS[:-1], "what"], rows)


def _tail(profile: ProfileReport) -> list[str]:
    found = []
    for op, sums in profile.ops:
        if sums.waits:
            where = ", ".join(f"line {place.line}" for place in profile.lines.of(op)[:1])
            times = f"{sums.waits:.4g} times a launch, for {duration(sums.waited)} in all"
            found.append(f"tile blocks waited in '{op.spec.name}' ({where}) {times}")
    if profile.elsewhere:
        what = "outside of operations, or waiting for a processor"
        found.append(f"{what}: {duration(profile.elsewhere)} of thread time a launch")
    return [*found, *profile.notes]


def _drawn(headings: list[str], rows: list[list[str]]) -> str:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="left" if heading in _LEFT or heading == "what" else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    stream = io.StringIO()
    Console(file=stream, width=_WIDEST, highlight=False, emoji=False, markup=False, color_system=None).print(table)
    return "\n".join(line.rstrip() for line in stream.getvalue().strip("\n").split("\n"))


def duration(seconds: float) -> str:
    """Return a time in four digits at most."""
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def amount(number: int) -> str:
    """Return a number with a decimal prefix; nothing for 0."""
    if not number:
        return ""
    for scale, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= scale:
            return f"{number / scale:.4g} {unit}"
    return str(number)


def _byte_share(profile: ProfileReport, sums: ProfileSums) -> str:
    """Return the share of the roof that is above: that of memory, or of the first cache where it is exceeded.

    A time of few samples may exceed both, and says nothing.
    """
    share = profile.byte_share(sums)
    if share is None or share <= 1.0:
        return _share(share)
    cached = profile.cache_share(sums)
    return f"{_share(cached)} of cache" if cached is not None and cached <= 1.0 else ""


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"
