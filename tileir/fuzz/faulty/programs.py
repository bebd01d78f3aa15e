"""Faulty programs from seeds, with the line that launches each."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

from tileir.fuzz.faulty.accesses import (
    carried,
    chosen,
    computed,
    computed_address,
    gathered,
    pointers,
    rows_of_a_view,
    storage,
    view,
)
from tileir.fuzz.faulty.draft import ELEMENTS, FaultyArray, FaultyDraft, FaultyProgram

KINDS: tuple[Callable[[FaultyDraft], None], ...] = (
    view,
    view,
    rows_of_a_view,
    pointers,
    pointers,
    gathered,
    computed_address,
    chosen,
    carried,
    storage,
    computed,
)


def program(seed: int) -> FaultyProgram:
    """Return the program of that seed."""
    random = Random(seed)
    draft = FaultyDraft(random)
    random.choice(KINDS)(draft)
    return FaultyProgram(draft.text(), draft.grid, draft.arguments, seed)


MARK = "// launch: "
_MOST = 1 << 20
"""Elements of an array, and tile blocks, at most."""


def with_launch_line(faulty: FaultyProgram) -> str:
    """Return the text of a program, behind the line of its launch."""
    arguments = [dict(vars(one)) if isinstance(one, FaultyArray) else one for one in faulty.arguments]
    line = json.dumps({"seed": faulty.seed, "grid": faulty.grid, "arguments": arguments})
    return f"{MARK}{line}\n{faulty.text}"


def with_launch_read(text: str) -> FaultyProgram | None:
    """Return the program of a text that begins with such a line; None of any other. Raises ValueError for a damaged
    line."""
    line, _, program = text.partition("\n")
    if not line.startswith(MARK):
        return None
    try:
        said = json.loads(line.removeprefix(MARK))
        seed, grid = _number(said["seed"], 0, 1 << 64), _number(said["grid"], 1, _MOST)
        arguments = [_argument(one) for one in said["arguments"]]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"'{MARK.strip()}': expected the JSON of a report of tileir fuzz: {error}") from None
    return FaultyProgram(program, grid, arguments, seed)


def _argument(said: object) -> FaultyArray | int:
    if isinstance(said, dict):
        array = FaultyArray(**said)
        _number(array.count, 0, _MOST)
        if array.below is not None:
            _number(array.below, 1, 1 << 31)
        for extent, stride in array.layout:
            _number(extent, 0, _MOST)
            _number(stride, 1, _MOST)
        _number(array.reach, 0, _MOST)
        if array.element not in ELEMENTS:
            raise ValueError(f"no element type '{array.element}'; there are {', '.join(ELEMENTS)}")
        return array
    return _number(said, -(1 << 31), (1 << 32) - 1)


def _number(said: object, least: int, most: int) -> int:
    if type(said) is not int or not least <= said <= most:
        raise ValueError(f"expected a number from {least} to {most}, got {said!r}")
    return said
