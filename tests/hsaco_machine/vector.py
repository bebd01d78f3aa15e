"""Vector instructions: their results by AMD's pseudo-code, and where these go."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.hsaco_machine import decode
from tests.hsaco_machine.expressions import Frame
from tests.hsaco_machine.operands import (
    PARTS,
    Operands,
    destination,
    half_of,
    high_selection,
    mask_destination,
    operands,
    register_of,
)
from tests.hsaco_machine.pseudo import compiled
from tests.hsaco_machine.special import SPECIAL
from tests.hsaco_machine.typed import Array, Typed, integer, mask_of
from tests.hsaco_machine.wave import EXEC, VCC, VECTOR, Wave, field_of
from tests.ttir_machine import MachineFault
from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.numerics import rounding

MODES = (Rounding.NEAREST_EVEN, Rounding.POSITIVE_INF, Rounding.NEGATIVE_INF, Rounding.ZERO)


def run(wave: Wave, instruction: Any) -> None:
    """One vector instruction."""
    if type(instruction).__name__.startswith("VOPD"):
        _run_pair(wave, instruction)
        return
    name = decode.name_of(instruction.op)
    special = SPECIAL.get(name)
    if special is not None:
        special(wave, instruction)
        return
    _compute(wave, instruction, name)


# ---------------------------------------------------------------- by pseudo-code


def frame_of(wave: Wave, given: Operands, carry: int, old: Array) -> Frame:
    """The variables that pseudo-code reads. `carry` is the register of the mask that it calls VCC."""
    variables = {f"S{number}": Typed(value, 64, "b") for number, value in enumerate(given.values)}
    variables["D0"] = Typed(old, 64, "b")
    variables["SIMM32"] = integer(given.literal, 32, "u")
    variables["laneId"] = Typed(np.arange(wave.lanes, dtype=np.uint64), 32, "u")
    variables["WAVE_MODE"] = variables["IEEE"] = integer(1, 1, "u")
    variables["WAVE64"], variables["WAVE32"] = (integer(int(wave.lanes == count), 1, "u") for count in (64, 32))
    variables["OPSEL"] = variables["OPSEL_HI"] = integer(0, 3, "u")
    return Frame(variables, wave.active, {"VCC": wave.mask_at(carry), "EXEC": wave.active})


def _compute(wave: Wave, instruction: Any, name: str) -> None:
    given = operands(wave, instruction)
    target, bits = destination(instruction)
    carry = _carry_in(instruction)
    where, high = half_of(instruction, target, 3, bits)
    is_mask = where < VECTOR
    old = np.zeros(wave.lanes, np.uint64) if is_mask else wave.read(where, max(bits, 32))
    frame = frame_of(wave, given, carry, old >> np.uint64(16) if high else old)
    _packed_fields(frame, instruction)
    _executed(wave, frame, instruction, name, given)
    for register, mask in frame.written_bits.items():
        wave.set_mask(_mask_register(instruction, register, where), mask)
    if name.startswith("V_S_"):  # functions of RDNA 4 that a vector unit computes of a scalar
        wave.write_scalar(where, int(frame.variables["D0"].raw.ravel()[0]), 32)
    if "D0" in frame.written and not is_mask:
        value = _limited(instruction, name, frame.variables["D0"], given)
        if high:
            value = (old & np.uint64(0xFFFF)) | ((value & np.uint64(0xFFFF)) << np.uint64(16))
        if bits == 16 and wave.family == "cdna":
            value = value & np.uint64(0xFFFF)
        mask = wave.active if given.writes is None else wave.active & given.writes
        wave.write(where, _inserted(instruction, value, old), max(bits, 32), mask)


def _executed(wave: Wave, frame: Frame, instruction: Any, name: str, given: Operands) -> None:
    mode = MODES[(wave.mode >> 2) & 3]
    if mode is not Rounding.NEAREST_EVEN and name in _DIRECTED:
        sources = [value.view(np.float64) for value in given.values]
        with np.errstate(all="ignore"):
            found = _DIRECTED[name](t.F64, mode)(*sources)
        frame.assign("D0", Typed(found.view(np.uint64), 64, "f"))
        return
    with np.errstate(all="ignore"):
        compiled(decode.pseudo_code(wave.family, instruction.op))(frame)


_DIRECTED = {"V_ADD_F64": rounding.add, "V_MUL_F64": rounding.mul, "V_FMA_F64": rounding.fma}


def _packed_fields(frame: Frame, instruction: Any) -> None:
    """Halves and signs of packed operands, as the pseudo-code of single halves expects them in place."""
    if "VOP3P" not in type(instruction).__name__:
        return
    low, high = field_of(instruction, "opsel", 0), high_selection(instruction)
    frame.variables["OPSEL"], frame.variables["OPSEL_HI"] = integer(low, 3, "u"), integer(high, 3, "u")
    name = decode.name_of(instruction.op)
    if not name.startswith("V_PK_"):
        return
    wide = "F32" in name or "B32" in name
    for position in range(3):
        if f"S{position}" in frame.variables:
            raw = frame.variables[f"S{position}"].raw
            found = _arranged(
                instruction, raw, position, 32 if wide else 16, (low >> position) & 1, (high >> position) & 1
            )
            frame.variables[f"S{position}"] = Typed(found, 64, "b")


def _arranged(instruction: Any, raw: Array, position: int, width: int, low: int, high: int) -> Array:
    parts = [(raw >> np.uint64(width * chosen)) & mask_of(width) for chosen in (low, high)]
    sign = np.uint64(1 << width - 1)
    for half, name in enumerate(("neg", "neg_hi")):
        if (field_of(instruction, name, 0) >> position) & 1:
            parts[half] = parts[half] ^ sign
    return parts[0] | parts[1] << np.uint64(width)


def _carry_in(instruction: Any) -> int:
    """The register of the mask that pseudo-code reads as VCC."""
    name = instruction.op.name
    third = hasattr(type(instruction), "src2") and (
        "CNDMASK" in name or "_CI_" in name or "ADDC" in name or "SUBB" in name
    )
    return register_of(instruction, "src2") if third else VCC


def _mask_register(instruction: Any, written: str, destination: int) -> int:
    """The register that a mask goes to."""
    if written == "EXEC":
        return EXEC
    if written == "VCC":
        return mask_destination(instruction)
    return destination


def _limited(instruction: Any, name: str, value: Typed, given: Operands) -> Array:
    """The result with its modifiers."""
    scale = field_of(instruction, "omod", 0)
    clamp = field_of(instruction, "clmp", field_of(instruction, "clamp", 0))
    if not scale and not clamp:
        return value.raw
    if name in ("V_SUB_NC_U32", "V_ADD_NC_U32", "V_SUB_U32", "V_ADD_U32"):
        x, y = (operand.astype(np.int64) for operand in given.values)
        return np.clip(x - y if "SUB" in name else x + y, 0, (1 << 32) - 1).astype(np.uint64)
    if value.kind != "f" or scale:
        raise MachineFault(f"the machine does not know the modifiers of {name}")
    number = np.nan_to_num(np.clip(value.number, 0, 1), nan=0.0).astype(value.number.dtype)
    return np.ascontiguousarray(number).view(f"u{value.width // 8}").astype(np.uint64)


def _inserted(instruction: Any, value: Array, old: Array) -> Array:
    """The result where SDWA puts it: the rest is 0, or what had been there."""
    if not hasattr(type(instruction), "dst_sel"):
        return value
    first, width = PARTS[int(instruction.dst_sel)]
    placed = (value & mask_of(width)) << np.uint64(first)
    if width == 32:
        return placed
    if int(instruction.dst_unused) == 1:
        raise MachineFault("the machine does not know SDWA that extends its result")
    kept = old & ~(mask_of(width) << np.uint64(first)) if int(instruction.dst_unused) == 2 else np.uint64(0)
    return placed | kept


# ---------------------------------------------------------------- two in one


def _run_pair(wave: Wave, instruction: Any) -> None:
    """Both halves read their operands before either writes."""
    results = [_half_of_pair(wave, instruction, letter) for letter in "xy"]
    for register, value in results:
        wave.write(register, value, 32, wave.active)


def _half_of_pair(wave: Wave, instruction: Any, letter: str) -> tuple[int, Array]:
    op = getattr(instruction, f"op{letter}")
    name = op.name.replace("V_DUAL_", "V_")
    literal = field_of(instruction, "literal", 0) or 0
    registers = [register_of(instruction, f"src{letter}0"), register_of(instruction, f"vsrc{letter}1")]
    text = decode.pseudo_code_named(wave.family, name)
    values = [wave.read(register, 32, literal) for number, register in enumerate(registers) if f"S{number}" in text]
    target = int(getattr(instruction, f"vdst{letter}").offset)
    frame = frame_of(wave, Operands(values, [32, 32], literal), VCC, wave.read(target, 32))
    with np.errstate(all="ignore"):
        compiled(text)(frame)
    return target, frame.variables["D0"].raw
