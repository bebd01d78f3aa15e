"""The roofline of a launch, in SVG: how far its loops and lines are from what the machine can do.

See Williams, Waterman and Patterson, "Roofline: an
insightful visual performance model", CACM 52 (2009).
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from dataclasses import dataclass

from tileir.tools.profile.report import ProfileReport, ProfileSums

_WIDTH, _HEIGHT = 760, 460
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 40, 55
_DECADES_BELOW = 4
_LETTER, _NAME = 14, 130
"""The height of a line of text, and the width that a name may have."""
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#1f2328}.grid{stroke:#8884}.roof{stroke:#0969da;stroke-width:2;fill:none}"
    ".page{fill:#fff}.dot{fill:#cf222e}.line{fill:#8250df}.faint{fill:#656d76}"
    "@media(prefers-color-scheme:dark){.page{fill:#0d1117}text{fill:#e6edf3}.faint{fill:#8b949e}.roof{stroke:#4493f8}.dot{fill:#ff7b72}"
    ".line{fill:#d2a8ff}}"
)

_PAGE = '<rect class="page" width="100%" height="100%"/>'


@dataclass(frozen=True)
class _Point:
    """A part of the program: flops for each byte, and flops in a second on all threads."""

    name: str
    kind: str
    intensity: float
    rate: float


@dataclass(frozen=True)
class _Axis:
    """Powers of ten from `low` to `high` between two places."""

    low: int
    high: int
    begin: float
    end: float

    def at(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.begin + min(1.0, max(0.0, share)) * (self.end - self.begin)

    def ticks(self) -> Iterator[tuple[float, str]]:
        for power in range(self.low, self.high + 1):
            yield self.at(10.0**power), f"{10.0**power:g}"


def roofline(profile: ProfileReport) -> str:
    """Return the document. Parts without flops, bytes or time are not in it."""
    points = list(_points(profile))
    ridges = [profile.peaks.flops / profile.peaks.bytes, profile.peaks.flops / profile.peaks.cached]
    spots = [*ridges, 0.1, 100.0, *(one.intensity for one in points)]
    across = _Axis(*_powers(spots), _LEFT, _WIDTH - _RIGHT)
    top = math.ceil(math.log10(profile.peaks.flops / 1e9) + 0.1)
    lows = [math.floor(math.log10(one.rate / 1e9)) for one in points if one.rate]
    up = _Axis(min([top - _DECADES_BELOW, *lows]), top, _HEIGHT - _BOTTOM, _TOP)
    peak = (across.end, up.at(profile.peaks.flops / 1e9) - 6)
    parts = [*_frame(across, up, profile), *_roof(across, up, profile, peak), *_drawn(across, up, points, peak)]
    body = "\n".join(parts)
    size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{_STYLE}</style>{_PAGE}\n{body}\n</svg>\n'


def _powers(values: list[float]) -> tuple[int, int]:
    return math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))


def _points(profile: ProfileReport) -> Iterator[_Point]:
    for one in profile.loops:
        where = "" if one.place is None else f" line {one.place.line}"
        yield from _point(profile, one.name if one.name.startswith("@") else one.name + where, "dot", one.sums)
    for place, sums in profile.by_line.items():
        if place.file == profile.files[0]:
            yield from _point(profile, f"line {place.line}", "line", sums)


def _point(profile: ProfileReport, name: str, kind: str, sums: ProfileSums) -> Iterator[_Point]:
    share = profile.flop_share(sums)
    if sums.intensity is not None and share is not None:
        yield _Point(name, kind, sums.intensity, share * profile.peaks.flops)


def _frame(across: _Axis, up: _Axis, profile: ProfileReport) -> Iterator[str]:
    for x, text in across.ticks():
        yield f'<path class="grid" d="M{x:.1f} {_TOP}V{_HEIGHT - _BOTTOM}"/>'
        yield f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{text}</text>'
    for y, text in up.ticks():
        yield f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    title = html.escape(f"@{profile.kernel}, {profile.threads} threads")
    yield f'<text x="{_LEFT}" y="22" font-weight="600">{title}</text>'
    yield f'<text x="{middle}" y="{_HEIGHT - 14}" text-anchor="middle" class="faint">flop/byte</text>'
    place = f'transform="translate(16 {_HEIGHT / 2}) rotate(-90)"'
    yield f'<text {place} text-anchor="middle" class="faint">GFLOP/s</text>'


def _roof(across: _Axis, up: _Axis, profile: ProfileReport, peak: tuple[float, float]) -> Iterator[str]:
    """Yield the lines of memory and of the cache up to their ridges, then that of arithmetic, whose text ends at
    `peak`."""
    flops = profile.peaks.flops
    for rate, source in ((profile.peaks.bytes, "memory"), (profile.peaks.cached, "the first cache")):
        lowest = max(10.0**across.low, 10.0**up.low * 1e9 / rate)
        low = across.at(lowest), up.at(lowest * rate / 1e9)
        x, y = across.at(flops / rate), up.at(flops / 1e9)
        yield f'<path class="roof" d="M{low[0]:.1f} {low[1]:.1f}L{x:.1f} {y:.1f}H{across.end:.1f}"/>'
        middle = f"translate({(low[0] + x) / 2:.1f} {(low[1] + y) / 2 - 8:.1f})"
        label = f'transform="{middle} rotate({_angle(low, (x, y)):.1f})"'
        yield f'<text {label} text-anchor="middle">{rate / 1e9:.4g} GB/s from {source}</text>'
    yield f'<text x="{peak[0]:.1f}" y="{peak[1]:.1f}" text-anchor="end">{flops / 1e9:.4g} GFLOP/s in f32</text>'


def _angle(begin: tuple[float, float], end: tuple[float, float]) -> float:
    return math.degrees(math.atan2(end[1] - begin[1], end[0] - begin[0]))


def _drawn(across: _Axis, up: _Axis, points: list[_Point], peak: tuple[float, float]) -> Iterator[str]:
    """Yield the points. Names that would lie on each other, or on that of the peak, go below."""
    taken = [peak]
    for one in points:
        x, y = across.at(one.intensity), up.at(one.rate / 1e9)
        tip = html.escape(f"{one.name}: {one.intensity:.3g} flop/byte, {one.rate / 1e9:.4g} GFLOP/s")
        yield f'<circle class="{one.kind}" cx="{x:.1f}" cy="{y:.1f}" r="5"><title>{tip}</title></circle>'
        low = y + 18
        while any(abs(low - other) < _LETTER and abs(x - beside) < _NAME for beside, other in taken):
            low += _LETTER
        taken.append((x, low))
        side = "end" if x > _WIDTH - _NAME else "start"
        yield f'<text x="{x:.1f}" y="{low:.1f}" text-anchor="{side}">{html.escape(one.name)}</text>'
