"""Vector instructions that pseudo-code does not cover, or covers wrongly: moves between lanes, and the steps of a
division.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tests.hsaco_machine.operands import destination, high_selection, operands, register_of
from tests.hsaco_machine.typed import Typed, fma, from_number, mask_of
from tests.hsaco_machine.wave import VECTOR, Wave, field_of
from tests.ttir_machine import MachineFault


def _read_first_lane(wave: Wave, instruction: Any) -> None:
    active = np.flatnonzero(wave.active)
    lane = int(active[0]) if active.size else 0
    _to_scalar(wave, instruction, lane)


def _read_lane(wave: Wave, instruction: Any) -> None:
    lane = wave.read_scalar(register_of(instruction, "src1"), 32, field_of(instruction, "literal", 0) or 0)
    _to_scalar(wave, instruction, lane % wave.lanes)


def _to_scalar(wave: Wave, instruction: Any, lane: int) -> None:
    found = wave.read(register_of(instruction, "src0"), 32)
    target = destination(instruction)[0]
    wave.write_scalar(target - VECTOR if target >= VECTOR else target, int(found[lane]), 32)  # CDNA has it as v


def _write_lane(wave: Wave, instruction: Any) -> None:
    literal = field_of(instruction, "literal", 0) or 0
    value = wave.read_scalar(register_of(instruction, "src0"), 32, literal)
    lane = wave.read_scalar(register_of(instruction, "src1"), 32, literal) % wave.lanes
    mask = np.arange(wave.lanes) == lane
    wave.write_word(register_of(instruction, "vdst"), np.full(wave.lanes, value, np.uint32), mask)


def _permute_bytes(wave: Wave, instruction: Any) -> None:
    given = operands(wave, instruction)
    both = given.values[0] << np.uint64(32) | given.values[1]
    found = np.zeros(wave.lanes, np.uint64)
    for place in range(4):
        chosen = (given.values[2] >> np.uint64(8 * place)) & np.uint64(0xFF)
        if ((chosen > 7) & (chosen < 12)).any():
            raise MachineFault("the machine does not know signs chosen by V_PERM_B32")
        byte = (both >> (np.minimum(chosen, 7) * np.uint64(8))) & np.uint64(0xFF)
        byte = np.where(chosen == 12, 0, np.where(chosen > 12, 0xFF, byte)).astype(np.uint64)
        found |= byte << np.uint64(8 * place)
    wave.write(register_of(instruction, "vdst"), found, 32, wave.active)


def _permute_lanes(wave: Wave, instruction: Any, other_row: bool) -> None:
    """Each lane takes a lane of its row of 16, or of the row beside it, by a table in two scalars."""
    source = wave.read(register_of(instruction, "src0"), 32)
    literal = field_of(instruction, "literal", 0) or 0
    low, high = (wave.read_scalar(register_of(instruction, name), 32, literal) for name in ("src1", "src2"))
    table = low | high << 32
    lanes = np.arange(wave.lanes)
    chosen = np.array([(table >> 4 * int(lane % 16)) & 15 for lane in lanes])
    row = (lanes // 16) ^ int(other_row)
    source_lane = row * 16 + chosen
    fetched_inactive = field_of(instruction, "opsel", 0) & 1
    valid = wave.active[source_lane] | bool(fetched_inactive)
    value = np.where(valid, source[source_lane], wave.read(register_of(instruction, "vdst"), 32))
    wave.write(register_of(instruction, "vdst"), value, 32, wave.active)


def _multiply_add_64(wave: Wave, instruction: Any) -> None:
    given = operands(wave, instruction)
    x, y, z = given.values
    if "I64" in instruction.op.name:
        x, y = ((value.astype(np.uint32).view(np.int32).astype(np.int64)).view(np.uint64) for value in (x, y))
    product = x * y
    total = product + z
    wave.write(register_of(instruction, "vdst"), total, 64, wave.active)
    wave.set_mask(register_of(instruction, "sdst"), (total < product) & wave.active)


def _divide_scale(wave: Wave, instruction: Any) -> None:
    """Scales operands of a division so that no step of it leaves the range of numbers."""
    given = operands(wave, instruction)
    width = 64 if "F64" in instruction.op.name else 32
    kind = np.float64 if width == 64 else np.float32
    value, divisor, dividend = (one.astype(f"u{width // 8}").view(kind) for one in given.values)
    near, by, tiny = (96, 64, 23) if width == 32 else (768, 128, 53)
    least = np.float64(np.finfo(kind).tiny)
    bias = 126 if width == 32 else 1022
    with np.errstate(all="ignore"):
        subnormal = (np.abs(divisor.astype(np.float64)) < least) & (divisor != 0)
        fields = [np.frexp(np.abs(one.astype(np.longdouble)))[1] for one in (divisor, dividend)]
        inverse = np.abs(1 / divisor.astype(np.longdouble)) < least
        quotient = np.abs(dividend.astype(np.longdouble) / divisor.astype(np.longdouble)) < least
        up, down = np.ldexp(value, by), np.ldexp(value, -by)
    is_divisor, is_dividend = value == divisor, value == dividend
    zero = (divisor == 0) | (dividend == 0)
    conditions = [
        zero, fields[1] - fields[0] >= near, subnormal, inverse & quotient, inverse, quotient, fields[1] + bias <= tiny,
    ]  # fmt: skip
    results = [
        np.full_like(value, np.nan), np.where(is_divisor, up, value), up, np.where(is_divisor, up, value), down,
        np.where(is_dividend, up, value), up,
    ]  # fmt: skip
    flags = [False, True, False, True, False, True, False]
    found = np.select(conditions, results, value)
    scaled = np.select(conditions, [np.full(wave.lanes, flag) for flag in flags], False)
    raw = np.ascontiguousarray(found.astype(kind)).view(f"u{width // 8}").astype(np.uint64)
    wave.write(register_of(instruction, "vdst"), raw, width, wave.active)
    wave.set_mask(register_of(instruction, "sdst"), scaled & wave.active)


def _scale(wave: Wave, instruction: Any) -> None:
    """``ldexp``, whose power alone may be out of range."""
    given = operands(wave, instruction)
    width = 64 if "F64" in instruction.op.name else 16 if "F16" in instruction.op.name else 32
    number = Typed(given.values[0] & mask_of(width), width, "f").number
    exponent = Typed(given.values[1] & mask_of(32), 32, "i").signed
    with np.errstate(all="ignore"):
        found = np.ldexp(number, np.clip(exponent, -5000, 5000).astype(np.int32))
    raw = np.ascontiguousarray(found).view(f"u{width // 8}").astype(np.uint64)
    wave.write(register_of(instruction, "vdst"), raw, width, wave.active)


def _round_even(wave: Wave, instruction: Any) -> None:
    """The pseudo-code adds a half, which large odd numbers do not survive."""
    given = operands(wave, instruction)
    width = given.widths[0]
    found = np.rint(Typed(given.values[0], width, "f").number)
    raw = np.ascontiguousarray(found).view(f"u{width // 8}").astype(np.uint64)
    wave.write(register_of(instruction, "vdst"), raw, width, wave.active)


def _move_halves(wave: Wave, instruction: Any) -> None:
    """The pseudo-code takes the upper half of what it says has 32 bits."""
    chosen = field_of(instruction, "opsel", 0)
    low, high = (
        (value >> np.uint64(32 * ((chosen >> position) & 1))) & mask_of(32)
        for position, value in enumerate(operands(wave, instruction).values[:2])
    )
    wave.write(register_of(instruction, "vdst"), low | high << np.uint64(32), 64, wave.active)


_MIXED = ("_F32", "LO_F16", "HI_F16")


def _mix(wave: Wave, instruction: Any, result: str) -> None:
    """A sum of a product in f32, of numbers that are f32 or either half of a register in f16."""
    if field_of(instruction, "clmp", field_of(instruction, "clamp", 0)):
        raise MachineFault(f"the machine does not know the modifiers of {instruction.op.name}")
    total = fma(*(_mixed(wave, instruction, position) for position in range(3)))
    target = register_of(instruction, "vdst")
    if result == "_F32":
        wave.write(target, total.raw, 32, wave.active)
        return
    half = from_number(total.number.astype(np.float16)).raw
    shift = np.uint64(16 if result == "HI_F16" else 0)
    kept = wave.read(target, 32) & ~(mask_of(16) << shift)
    wave.write(target, kept | half << shift, 32, wave.active)


def _mixed(wave: Wave, instruction: Any, position: int) -> Typed:
    """One of the numbers. The bits that give packed halves their signs are here the sign and the absolute value."""
    register = register_of(instruction, f"src{position}")
    is_half = (high_selection(instruction) >> position) & 1
    if is_half and 128 < register < VECTOR:
        raise MachineFault(f"the machine does not know constants of {instruction.op.name} in f16")
    raw = wave.read(register, 32, field_of(instruction, "literal", 0) or 0, True)
    if is_half:
        raw = raw >> np.uint64(16 * ((field_of(instruction, "opsel", 0) >> position) & 1))
    with np.errstate(all="ignore"):
        number = Typed(raw & mask_of(16 if is_half else 32), 16 if is_half else 32, "f").number.astype(np.float32)
    if (field_of(instruction, "neg_hi", 0) >> position) & 1:
        number = np.abs(number)
    return from_number(-number if (field_of(instruction, "neg", 0) >> position) & 1 else number)


Special = Callable[[Wave, Any], None]
SPECIAL: dict[str, Special] = {
    "V_NOP": lambda wave, instruction: None,
    "V_READFIRSTLANE_B32": _read_first_lane,
    "V_READLANE_B32": _read_lane,
    "V_WRITELANE_B32": _write_lane,
    "V_PK_MOV_B32": _move_halves,
    "V_PERM_B32": _permute_bytes,
    "V_PERMLANE16_B32": lambda wave, instruction: _permute_lanes(wave, instruction, False),
    "V_PERMLANEX16_B32": lambda wave, instruction: _permute_lanes(wave, instruction, True),
    "V_MAD_U64_U32": _multiply_add_64,
    "V_MAD_I64_I32": _multiply_add_64,
    "V_MAD_CO_U64_U32": _multiply_add_64,
    "V_DIV_SCALE_F32": _divide_scale,
    "V_DIV_SCALE_F64": _divide_scale,
    "V_LDEXP_F32": _scale,
    "V_LDEXP_F64": _scale,
    "V_RNDNE_F32": _round_even,
    "V_RNDNE_F64": _round_even,
    **{f"V_FMA_MIX{result}": partial(_mix, result=result) for result in _MIXED},
}
