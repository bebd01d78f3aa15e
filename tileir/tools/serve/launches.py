"""The panes of a launch: its results, the view of it, and what the sanitizer finds."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from tileir.command_line.argument_words import Given, assigned, given_values
from tileir.command_line.fill import ArrayWord, FileWord, shown
from tileir.ir.diagnostics import Diagnostic, Trap
from tileir.ir.escaping import shown_lines
from tileir.ir.loc import Location, SourceLoc, file_position
from tileir.ir.storage import dtype_of
from tileir.ir.usage import UsageError
from tileir.runtime.grid import checked_grid
from tileir.runtime.module import Kernel
from tileir.sanitize.launch import sanitize
from tileir.tools.interpreted import bound_arguments, placed
from tileir.tools.serve.limits import ServeLimits
from tileir.tools.serve.panes import PROGRAM, LinkedText, joined
from tileir.tools.view.api import view_bound
from tileir.tools.view.data import ArrayValues
from tileir.tools.view.pictures import Picture

MOST_OUTPUT = 1 << 16
"""Characters that a kernel may print."""
_TARGETS = ("cpu", "interp")


class PrintedText(io.StringIO):
    """The output of kernels, up to a number of characters."""

    def write(self, text: str) -> int:
        room = MOST_OUTPUT - self.tell()
        if room > 0:
            super().write(text[:room])
        return len(text)


def ran(
    kernel: Kernel, grid: str, words: Sequence[str], target: str, limits: ServeLimits
) -> tuple[list[LinkedText], list[Diagnostic], list[dict[str, Any]]]:
    """Run the kernel: what it printed and its arrays, what ended it, and pictures of the arrays."""
    if target not in _TARGETS:
        raise UsageError(f"target: expected {' or '.join(_TARGETS)}, got '{target}'")
    given = _given(kernel, words, limits)
    output, found = PrintedText(), []
    try:
        values = [one.value for one in given]
        kernel.launch(_grid(kernel, grid), *values, target=target, output=output, timeout=limits.launch)
    except Trap as error:
        found.append(_trap(error))
    parts = [joined((line, 0) for line in output.getvalue().rstrip().split("\n"))] if output.getvalue() else []
    parts += [LinkedText(_content(one), [0] * (_content(one).count("\n") + 1), one.name) for one in given if _is(one)]
    shown = [LinkedText(part.text, part.lines, part.title or "printed") for part in parts]
    return shown, found, list(_pictures(kernel, grid, values))


def _pictures(kernel: Kernel, grid: str, values: Sequence[object]) -> Iterator[dict[str, Any]]:
    """Yield the arrays as pictures."""
    launch = placed(kernel, *bound_arguments(kernel, _grid(kernel, grid), values))
    for one in launch.arrays:
        cells = ArrayValues.of(Picture.of(one.name, one.array))
        if cells is not None:
            yield {"name": one.name, **ArrayValues(cells.cells, None).to_json()}


def viewed(kernel: Kernel, grid: str, words: Sequence[str], limits: ServeLimits) -> tuple[str, list[Diagnostic]]:
    """Return the page of the view, and what ended the launch."""
    values = [one.value for one in _given(kernel, words, limits)]
    found = view_bound(kernel, *bound_arguments(kernel, _grid(kernel, grid), values))
    return found.html, [] if found.trap is None else [_trap(found.trap)]


def sanitized(
    kernel: Kernel, grid: str, words: Sequence[str], limits: ServeLimits
) -> tuple[list[LinkedText], list[Diagnostic]]:
    """Return the findings of the sanitizer, as text and at their lines."""
    given = _given(kernel, words, limits)
    values = [one.value for one in given]
    try:
        report = sanitize(kernel, _grid(kernel, grid), *values, output=PrintedText(), timeout=limits.launch)
    except Trap as error:
        return [joined([(shown_lines(str(error.message)), _line(error.loc))])], [_trap(error)]
    rows = [(f"{one.severity}: {one.kind}: {one.message}", _line(one.loc)) for one in report]
    found = [Diagnostic(one.kind, one.message, one.loc, severity=one.severity) for one in report]
    return [joined([(shown_lines(text), line) for text, line in rows] or [("nothing found", 0)])], found


def _grid(kernel: Kernel, text: str) -> tuple[int, int, int]:
    try:
        return checked_grid([int(extent) for extent in text.split(",")], kernel.name)
    except (TypeError, ValueError):
        raise UsageError(f"grid: expected 1 to 3 positive integers such as 4,2, got '{text[:40]}'") from None


def _given(kernel: Kernel, words: Sequence[str], limits: ServeLimits) -> list[Given]:
    """Return the arguments, which may be no files and no larger than there is room for."""
    total = 0
    for word in assigned(words, [parameter.name for parameter in kernel.parameters]):
        if isinstance(word, FileWord):
            raise UsageError("arrays from files: expected an array such as f32[64]:randn, as pages read no files")
        if isinstance(word, ArrayWord):
            total += prod(word.shape) * dtype_of(word.element).itemsize
    if total > limits.array:
        raise UsageError(f"arrays of {total} bytes: expected {limits.array} at most")
    return given_values(kernel, words, 0)


def _is(one: Given) -> bool:
    return isinstance(one.value, np.ndarray)


def _content(one: Given) -> str:
    array = one.array
    return f"{one.element.name}{list(array.shape)}\n{shown(array, one.element)}"


def _line(loc: Location) -> int:
    place = file_position(loc)
    if isinstance(place, SourceLoc) and place.source.name == PROGRAM:
        return place.source.position(place.offset)[0]
    return 0


def _trap(error: Trap) -> Diagnostic:
    return Diagnostic("trap", str(error.message), error.loc)
