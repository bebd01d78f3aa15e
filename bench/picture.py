"""A picture of a sweep: speed beside the best peer's for each size, on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 300, 56, 16, 34, 64
LEAST, MOST = -4, 4
"""Powers of two at the ends of the scale; figures beyond are drawn at the end, with their number."""
_STYLE = "text{font:12px sans-serif;fill:#555}line{stroke:#ccc}.one{stroke:#777}.curve{fill:none;stroke:#2a6fb0}"


def drawn(title: str, points: Sequence[tuple[str, float]]) -> str:
    """The picture of sizes and ratios, in order. Above the line at 1 `tileir` is faster."""
    heading = escape(f"{title}: speed as a multiple of the best peer's")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{heading}">',
        f'<style>{_STYLE}</style><text x="{LEFT}" y="18">{heading}</text>',
        *(_level(power) for power in range(LEAST, MOST + 1)),
        _curve(points),
        *(_mark(index, len(points), *point) for index, point in enumerate(points)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _x(index: int, count: int) -> float:
    return LEFT + 24 + index * (WIDTH - LEFT - RIGHT - 48) / max(1, count - 1)


def _y(ratio: float) -> float:
    place = (min(MOST, max(LEAST, log2(ratio))) - LEAST) / (MOST - LEAST)
    return HEIGHT - BOTTOM - place * (HEIGHT - TOP - BOTTOM)


def _level(power: int) -> str:
    y, kind = _y(2.0**power), ' class="one"' if not power else ""
    line = f'<line{kind} x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
    return f'{line}<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{2.0**power:g}</text>'


def _curve(points: Sequence[tuple[str, float]]) -> str:
    places = (f"{_x(index, len(points)):.1f},{_y(ratio):.1f}" for index, (_, ratio) in enumerate(points))
    return f'<polyline class="curve" points="{" ".join(places)}"/>'


def _mark(index: int, count: int, size: str, ratio: float) -> str:
    x, y, foot = _x(index, count), _y(ratio), HEIGHT - BOTTOM + 16
    dot = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#2a6fb0"><title>{escape(size)}: {ratio:.2f}</title></circle>'
    figure = f'<text x="{x:.1f}" y="{y - 8:.1f}" text-anchor="middle">{ratio:.2f}</text>'
    turned = f'transform="rotate(-30 {x:.1f} {foot})"'
    return f'{dot}{figure}<text x="{x:.1f}" y="{foot}" text-anchor="end" {turned}>{escape(size)}</text>'
