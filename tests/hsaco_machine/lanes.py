"""Operands taken from other lanes of the wave: DPP."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.hsaco_machine.typed import Array
from tests.hsaco_machine.wave import Wave, field_of
from tests.ttir_machine import MachineFault


def shuffled(wave: Wave, instruction: Any) -> tuple[Array, Array]:
    """The first operand of an instruction with DPP, and the lanes that write a result."""
    name = "vsrc0" if hasattr(type(instruction), "vsrc0") else "src0"
    register = int(getattr(instruction, name).offset)
    value = wave.read(register, 32)
    lanes = np.arange(wave.lanes)
    source = source_lanes(int(field_of(instruction, "dpp", field_of(instruction, "dpp_ctrl", 0))), lanes, wave.lanes)
    inside = (source >= 0) & (source < wave.lanes)
    reached = np.where(inside, source, 0)
    fetched = bool(field_of(instruction, "fi", 0))
    valid = inside & (wave.active[reached] | fetched)
    rows, banks = int(instruction.row_mask), int(instruction.bank_mask)
    writes = (((rows >> (lanes // 16)) & 1) & ((banks >> (lanes // 4 % 4)) & 1)).astype(np.bool_)
    if not instruction.bc:
        writes &= valid
    return np.where(valid, value[reached], np.uint64(0)), writes


def source_lanes(control: int, lanes: Array, count: int) -> Array:
    """The lane that each takes its operand from; -1 for none."""
    row, place = lanes // 16 * 16, lanes % 16
    if control < 0x100:
        return lanes // 4 * 4 + ((control >> 2 * (lanes % 4)) & 3)
    amount = control & 15
    if 0x101 <= control <= 0x10F:
        return np.where(place + amount < 16, lanes + amount, -1)
    if 0x111 <= control <= 0x11F:
        return np.where(place >= amount, lanes - amount, -1)
    if 0x121 <= control <= 0x12F:
        return row + (place - amount) % 16
    if control in (0x130, 0x134, 0x138, 0x13C):
        moved = lanes + (1 if control < 0x138 else -1)
        return moved % count if control & 4 else np.where(moved < count, moved, -1)
    if control == 0x140:
        return row + 15 - place
    if control == 0x141:
        return lanes // 8 * 8 + 7 - lanes % 8
    if 0x150 <= control <= 0x15F:
        return row + amount
    if 0x160 <= control <= 0x16F:
        return row + (place ^ amount)
    if control == 0x142:
        return np.where(lanes >= 16, row - 1, -1)
    if control == 0x143:
        return np.where(lanes >= 32, 31, -1)
    raise MachineFault(f"the machine does not know the DPP control {control:#x}")
