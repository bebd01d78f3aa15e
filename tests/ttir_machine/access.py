"""Loads and stores of the TTIR machine."""

from __future__ import annotations

import numpy as np

from tests.ttir_machine.frame import Frame
from tests.ttir_machine.values import Array, Lanes, undefined
from tileir.gpu.ttir.ir.code import Instruction


def active_lanes(mask: Lanes | None, shape: tuple[int, ...]) -> Array:
    """Mask of the lanes that take part."""
    if mask is None:
        return np.ones(shape, np.bool_)
    return np.broadcast_to(mask.required("the mask of a memory access"), shape)


def addresses_of(pointer: Lanes, active: Array) -> Array:
    """The addresses of the active lanes, as a line."""
    return chosen_lanes(pointer, active).required("the address of a memory access")


def chosen_lanes(lanes: Lanes, active: Array) -> Lanes:
    """The active lanes, as a line."""
    return lanes.moved(lambda x: np.atleast_1d(x)[np.atleast_1d(active)])


def spread(values: Array, active: Array, rest: Lanes) -> Lanes:
    """`values` in the active lanes, in the others those of `rest`."""
    data = np.atleast_1d(rest.data.copy())
    lanes = np.atleast_1d(active)
    data[lanes] = values
    poison = None if rest.poison is None else np.atleast_1d(rest.poison) & ~lanes
    return Lanes(data, poison).moved(lambda x: x.reshape(rest.data.shape)).tainted()


def _load(frame: Frame, instruction: Instruction, *operands: Lanes) -> Lanes:
    """Lanes without a mask bit hold `other`; without an `other` they are undefined."""
    segments = instruction.attributes["operandSegmentSizes"]
    assert isinstance(segments, tuple)
    given = iter(operands)
    pointer, mask, other = (next(given) if count else None for count in segments)
    assert pointer is not None
    type = instruction.result_types[0]
    active = active_lanes(mask, pointer.data.shape)
    values = frame.memory.load(addresses_of(pointer, active), type.element)
    return spread(values, active, undefined(type) if other is None else other)


def _store(
    frame: Frame, instruction: Instruction, pointer: Lanes, value: Lanes, mask: Lanes | None = None
) -> list[Lanes]:
    active = active_lanes(mask, pointer.data.shape)
    elements = chosen_lanes(value, active).required("a stored value")
    frame.memory.store(addresses_of(pointer, active), elements, instruction.operands[1].type.element)
    return []


def _barrier(frame: Frame, instruction: Instruction) -> list[Lanes]:
    frame.memory.barrier()
    return []


def _nothing(frame: Frame, instruction: Instruction) -> list[Lanes]:
    """Of other grids there are none."""
    return []


RULES = {
    "tt.load": _load,
    "tt.store": _store,
    "ttg.barrier": _barrier,
    "tt.grid_dependency_wait": _nothing,
    "tt.grid_dependency_launch_dependents": _nothing,
}
