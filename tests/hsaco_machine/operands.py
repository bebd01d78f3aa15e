"""Operands of vector instructions: their registers, and the effect of modifiers on their values.

Modifiers are signs, halves, lanes of neighbours, and parts that SDWA chooses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.hsaco_machine import decode
from tests.hsaco_machine.lanes import shuffled
from tests.hsaco_machine.typed import Array, mask_of
from tests.hsaco_machine.wave import VCC, VECTOR, Wave, field_of

_SOURCES = (("src0", "vsrc0"), ("src1", "vsrc1"), ("src2",))


@dataclass
class Operands:
    """The inputs of an instruction: sources as bits with their widths, the literal behind it, and the lanes that write
    (None: all that are active)."""

    values: list[Array]
    widths: list[int]
    literal: int
    writes: Array | None = None


def half_of(instruction: Any, register: int, position: int, bits: int) -> tuple[int, bool]:
    """The register of a 16-bit operand, and whether its upper half is meant."""
    if bits != 16 or "cdna" in type(instruction).__module__:
        return register, bool((field_of(instruction, "opsel", 0) >> position) & 1) and bits == 16
    if hasattr(type(instruction), "opsel"):
        return register, bool((instruction.opsel >> position) & 1)
    if register >= VECTOR + 128:
        return register - 128, True
    return register, False


def operands(wave: Wave, instruction: Any) -> Operands:
    widths = {**decode.widths_named(wave.family, decode.name_of(instruction.op)), **instruction.op_bits}
    literal = field_of(instruction, "literal", 0) or 0
    found = Operands([], [], literal)
    floating = "F" in decode.name_of(instruction.op).split("_")[-1] or "_F64" in instruction.op.name
    for position, names in enumerate(_SOURCES):
        name = next((one for one in names if hasattr(type(instruction), one)), None)
        if name is None or (bits := _width(wave, instruction, name, position, widths)) is None:
            continue
        number = register_of(instruction, name) - VECTOR * field_of(instruction, f"s{position}", 0) * bool(position)
        register, high = half_of(instruction, number, position, bits)
        if register == 250 and position == 0:
            value, found.writes = shuffled(wave, instruction)
        elif register == 249 and position == 0:
            value = wave.read(register_of(instruction, "vsrc0") - VECTOR * field_of(instruction, "s0", 0), 32)
        else:
            alone = "V_PK_" in instruction.op.name and 128 <= register < VECTOR
            is_whole = high or alone or "SDWA" in type(instruction).__name__
            value = wave.read(register, 32 if is_whole else min(bits, 64), literal, floating)
        if high:
            value = value >> np.uint64(16)
        value = _selected(instruction, value, position)
        found.values.append(_with_signs(instruction, value, position, min(bits, 64)))
        found.widths.append(min(bits, 64))
    return found


PARTS = ((0, 8), (8, 8), (16, 8), (24, 8), (0, 16), (16, 16), (0, 32))
"""The first bit and the bits of each choice of SDWA."""


def _selected(instruction: Any, value: Array, position: int) -> Array:
    """The part of an operand that SDWA chooses."""
    if "SDWA" not in type(instruction).__name__ or position > 1:
        return value
    first, width = PARTS[int(getattr(instruction, f"src{position}_sel"))]
    part = (value >> np.uint64(first)) & mask_of(width)
    if getattr(instruction, f"src{position}_sext"):
        shift = np.uint64(64 - width)
        part = ((part << shift).astype(np.int64) >> shift.astype(np.int64)).view(np.uint64) & mask_of(32)
    return part


def _width(wave: Wave, instruction: Any, name: str, position: int, widths: dict[str, int]) -> int | None:
    """The bits of a source; None if there is none. Where the tables do not tell, the pseudo-code does."""
    found = widths.get(name, widths.get(name.removeprefix("v")))
    if found is not None:
        return found
    types = re.findall(rf"\bS{position}\b(?:\.[a-z]+(\d+))?", decode.pseudo_code(wave.family, instruction.op))
    return max((int(bits or 32) for bits in types), default=None)


def register_of(instruction: Any, name: str) -> int:
    return int(getattr(instruction, name).offset)


def _with_signs(instruction: Any, value: Array, position: int, bits: int) -> Array:
    form = type(instruction).__name__
    if "VOP3P" in form:
        return value
    sign = np.uint64(1 << bits - 1)
    for modifier in ("abs", "neg"):
        alone = field_of(instruction, f"src{position}_{modifier}", 0) if "_DPP" in form or "SDWA" in form else 0
        if (field_of(instruction, modifier, 0) >> position) & 1 or alone:
            value = value & ~sign if modifier == "abs" else value ^ sign
    return value


def destination(instruction: Any) -> tuple[int, int]:
    """The register of the result and its bits."""
    if hasattr(type(instruction), "vdst"):
        return register_of(instruction, "vdst"), instruction.op_bits.get("vdst", 32)
    bits = instruction.op_bits.get("sdst", 32) if hasattr(type(instruction), "sdst") else 64
    return mask_destination(instruction), bits


def mask_destination(instruction: Any) -> int:
    """The scalar register that a mask goes to: VCC, unless another is named. SDWA says whether it names one."""
    named = hasattr(type(instruction), "sdst") and field_of(instruction, "sd", 1)
    return register_of(instruction, "sdst") if named else VCC


def high_selection(instruction: Any) -> int:
    """The halves chosen for the upper results: two bits and one that lies elsewhere."""
    return int(field_of(instruction, "opsel_hi", 3)) | int(field_of(instruction, "opsel_hi2", 1)) << 2
