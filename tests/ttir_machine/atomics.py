"""Atomic instructions of the TTIR machine.

Blocks take turns, and all see the same memory, so orders and scopes have no effect.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.ttir_machine.access import active_lanes, addresses_of, chosen_lanes, spread
from tests.ttir_machine.elementwise import ELEMENTS, NEAREST
from tests.ttir_machine.frame import Frame
from tests.ttir_machine.values import Array, Lanes, MachineFault, dtype_of, signed, undefined
from tileir.gpu.ttir.ir.code import Instruction
from tileir.numerics import rounding

Update = Callable[..., "Array | None"]
"""The new element, from the one in memory and the operands; None if nothing is written."""


def _float_sum(x: Array, y: Array) -> Array:
    """Of f32 subnormals are flushed, of other types not."""
    element = next(found for found in ELEMENTS.values() if dtype_of(found.name) == x.dtype)
    function = rounding.add(element, NEAREST)
    return (rounding.flushing(function) if x.dtype == np.float32 else function)(x, y)


UPDATES: dict[int, Update] = {
    1: np.bitwise_and,
    2: np.bitwise_or,
    3: np.bitwise_xor,
    4: np.add,
    5: _float_sum,
    6: lambda x, y: np.maximum(signed(x), signed(y)).view(x.dtype),
    7: lambda x, y: np.minimum(signed(x), signed(y)).view(x.dtype),
    8: np.maximum,
    9: np.minimum,
    10: lambda x, y: y,
}
"""By the number of the operation: and, or, xor, add, fadd, max, min, umax, umin, exchange."""


def _element(instruction: Instruction) -> str:
    return instruction.operands[0].type.pointee


def _update(frame: Frame, instruction: Instruction, pointer: Lanes, value: Lanes, mask: Lanes | None = None) -> Lanes:
    number = instruction.attributes["atomic_rmw_op"]
    assert isinstance(number, int)
    if (value.data.dtype.kind == "u") == (number == 5):
        raise MachineFault(f"atomic operation {number} of {_element(instruction)}")
    return _each(frame, instruction, UPDATES[number], pointer, [value], mask)


def _swap(frame: Frame, instruction: Instruction, pointer: Lanes, expected: Lanes, value: Lanes) -> Lanes:
    """Floats are compared by their bits."""

    def update(old: Array, compared: Array, new: Array) -> Array | None:
        return new if old.tobytes() == compared.tobytes() else None

    return _each(frame, instruction, update, pointer, [expected, value], None)


def _each(
    frame: Frame,
    instruction: Instruction,
    update: Update,
    pointer: Lanes,
    values: list[Lanes],
    mask: Lanes | None,
) -> Lanes:
    """Lane after lane; lanes without a mask bit have no defined result."""
    active = active_lanes(mask, pointer.data.shape)
    addresses = addresses_of(pointer, active)
    chosen = [chosen_lanes(value, active).required("an operand of an atomic operation") for value in values]
    element = _element(instruction)
    old = frame.memory.load(addresses, element)
    for lane in range(addresses.size):
        place = addresses[lane : lane + 1]
        old[lane : lane + 1] = found = frame.memory.load(place, element)
        new = update(found, *(value[lane : lane + 1] for value in chosen))
        if new is not None:
            frame.memory.store(place, new, element)
    return spread(old, active, undefined(instruction.result_types[0]))


def _load(frame: Frame, instruction: Instruction, pointer: Lanes, mask: Lanes) -> Lanes:
    active = active_lanes(mask, pointer.data.shape)
    values = frame.memory.load(addresses_of(pointer, active), _element(instruction))
    return spread(values, active, undefined(instruction.result_types[0]))


def _store(frame: Frame, instruction: Instruction, pointer: Lanes, value: Lanes, mask: Lanes) -> list[Lanes]:
    active = active_lanes(mask, pointer.data.shape)
    elements = chosen_lanes(value, active).required("a stored value")
    frame.memory.store(addresses_of(pointer, active), elements, _element(instruction))
    return []


RULES = {
    "tt.atomic_rmw": _update,
    "tt.atomic_cas": _swap,
    "tt.atomic_load": _load,
    "tt.atomic_store": _store,
}
