"""``tt.reduce`` and ``tt.scan``: regions that join two elements, run on many lanes at a time.

A reduction joins lanes that are far apart, as warps do, so that one which is not associative and commutative does not
give the result of program order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tests.ttir_machine.frame import Frame
from tests.ttir_machine.values import Lanes
from tileir.gpu.ttir.ir.code import Instruction

Parts = list[Lanes]


def _axis(instruction: Instruction) -> int:
    axis = instruction.attributes["axis"]
    assert isinstance(axis, int)
    return axis


def _each(parts: Sequence[Lanes], move: Callable[[np.ndarray], np.ndarray]) -> Parts:
    return [part.moved(move) for part in parts]


def _join(frame: Frame, instruction: Instruction, first: Parts, second: Parts) -> Parts:
    return frame.batch(instruction.regions[0], [*first, *second], first[0].data.shape)


def _reduce(frame: Frame, instruction: Instruction, *operands: Lanes) -> Parts:
    """The halves of the axis are joined until one element is left."""
    axis = _axis(instruction)
    parts = _each(operands, lambda x: np.moveaxis(x, axis, 0))
    while parts[0].data.shape[0] > 1:
        lower, upper = (_each(parts, lambda x, half=half: np.split(x, 2)[half]) for half in (0, 1))  # type: ignore[misc]
        parts = _join(frame, instruction, lower, upper)
    return _each(parts, lambda x: x[0, ...])


def _scan(frame: Frame, instruction: Instruction, *operands: Lanes) -> Parts:
    """Every element joined with those before it, in log2 rounds that keep the order."""
    axis, backwards = _axis(instruction), bool(instruction.attributes["reverse"])
    parts = _each(operands, lambda x: np.flip(np.moveaxis(x, axis, 0), 0) if backwards else np.moveaxis(x, axis, 0))
    distance = 1
    while distance < parts[0].data.shape[0]:
        parts = _round(frame, instruction, parts, distance)
        distance *= 2
    return _each(parts, lambda x: np.moveaxis(np.flip(x, 0) if backwards else x, 0, axis))


def _round(frame: Frame, instruction: Instruction, parts: Parts, distance: int) -> Parts:
    earlier = _each(parts, lambda x: x[:-distance])
    later = _each(parts, lambda x: x[distance:])
    joined = _join(frame, instruction, earlier, later)
    return [_after(part, made, distance) for part, made in zip(parts, joined)]


def _after(part: Lanes, made: Lanes, distance: int) -> Lanes:
    """The first elements of `part`, then `made`."""
    data = np.concatenate((part.data[:distance], made.data))
    masks = [np.zeros(x.data.shape, np.bool_) if x.poison is None else x.poison for x in (part, made)]
    return Lanes(data, np.concatenate((masks[0][:distance], masks[1]))).tainted()


RULES = {"tt.reduce": _reduce, "tt.scan": _scan}
