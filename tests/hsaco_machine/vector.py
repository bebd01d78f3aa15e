"""Vector instructions: operands and results around the pseudo-code, and those that pseudo-code does not cover.

Knows: modifiers of operands (signs, halves, lanes of neighbours), where masks of lanes go, pairs of instructions in
one, and what moves between lanes. Does not know: matrices (`matrix`), memory (`access`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.hsaco_machine import decode
from tests.hsaco_machine.lanes import shuffled
from tests.hsaco_machine.pseudo import Frame, compiled
from tests.hsaco_machine.typed import Array, Typed, integer, mask_of
from tests.hsaco_machine.wave import EXEC, VCC, VECTOR, Wave, field_of
from tests.ttir_machine import MachineFault
from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.numerics import rounding

MODES = (Rounding.NEAREST_EVEN, Rounding.POSITIVE_INF, Rounding.NEGATIVE_INF, Rounding.ZERO)
_SOURCES = (("src0", "vsrc0"), ("src1", "vsrc1"), ("src2",))


@dataclass
class Operands:
    """What an instruction is given: sources as bits with their widths, the literal behind it, and the lanes that write
    (None: all that are active)."""

    values: list[Array]
    widths: list[int]
    literal: int
    writes: Array | None = None


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


# ---------------------------------------------------------------- operands


def _half(instruction: Any, register: int, position: int, bits: int) -> tuple[int, bool]:
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
        register, high = _half(instruction, _register(instruction, name), position, bits)
        if register == 250 and position == 0:
            value, found.writes = shuffled(wave, instruction)
        elif register == 249 and position == 0:
            value = wave.read(_register(instruction, "vsrc0"), 32)
        else:
            alone = "V_PK_" in instruction.op.name and 128 <= register < VECTOR
            value = wave.read(register, 32 if high or alone else min(bits, 64), literal, floating)
        if high:
            value = value >> np.uint64(16)
        value = _selected(instruction, value, position)
        found.values.append(_with_signs(instruction, value, position, min(bits, 64)))
        found.widths.append(min(bits, 64))
    return found


_PARTS = ((0, 8), (8, 8), (16, 8), (24, 8), (0, 16), (16, 16), (0, 32))
"""The first bit and the bits of each choice of SDWA."""


def _selected(instruction: Any, value: Array, position: int) -> Array:
    """The part of an operand that SDWA chooses."""
    if "SDWA" not in type(instruction).__name__ or position > 1:
        return value
    first, width = _PARTS[int(getattr(instruction, f"src{position}_sel"))]
    part = (value >> np.uint64(first)) & mask_of(width)
    if getattr(instruction, f"src{position}_sext"):
        shift = np.uint64(64 - width)
        part = ((part << shift).astype(np.int64) >> shift.astype(np.int64)).view(np.uint64) & mask_of(32)
    return part


def _inserted(instruction: Any, value: Array, old: Array) -> Array:
    """The result where SDWA puts it: the rest is 0, or what had been there."""
    if not hasattr(type(instruction), "dst_sel"):
        return value
    first, width = _PARTS[int(instruction.dst_sel)]
    placed = (value & mask_of(width)) << np.uint64(first)
    if width == 32:
        return placed
    if int(instruction.dst_unused) == 1:
        raise MachineFault("the machine does not know SDWA that extends its result")
    kept = old & ~(mask_of(width) << np.uint64(first)) if int(instruction.dst_unused) == 2 else np.uint64(0)
    return placed | kept


def _width(wave: Wave, instruction: Any, name: str, position: int, widths: dict[str, int]) -> int | None:
    """The bits of a source; None if there is none. Where the tables do not tell, the pseudo-code does."""
    found = widths.get(name, widths.get(name.removeprefix("v")))
    if found is not None:
        return found
    types = re.findall(rf"\bS{position}\b(?:\.[a-z]+(\d+))?", decode.pseudo_code(wave.family, instruction.op))
    return max((int(bits or 32) for bits in types), default=None)


def _register(instruction: Any, name: str) -> int:
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
    destination, bits = _destination(instruction)
    carry = _carry_in(instruction)
    where, high = _half(instruction, destination, 3, bits)
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
    low, high = field_of(instruction, "opsel", 0), _high_selection(instruction)
    frame.variables["OPSEL"], frame.variables["OPSEL_HI"] = integer(low, 3, "u"), integer(high, 3, "u")
    name = decode.name_of(instruction.op)
    if "MIX" in name:
        _mixed_signs(frame, instruction)
        return
    if not name.startswith("V_PK_") or name == "V_PK_MOV_B32":  # whose pseudo-code chooses halves itself
        return
    wide = "F32" in name or "B32" in name
    for position in range(3):
        if f"S{position}" in frame.variables:
            raw = frame.variables[f"S{position}"].raw
            found = _arranged(
                instruction, raw, position, 32 if wide else 16, (low >> position) & 1, (high >> position) & 1
            )
            frame.variables[f"S{position}"] = Typed(found, 64, "b")


def _high_selection(instruction: Any) -> int:
    """The halves chosen for the upper results: two bits and one that lies elsewhere."""
    return int(field_of(instruction, "opsel_hi", 3)) | int(field_of(instruction, "opsel_hi2", 1)) << 2


def _arranged(instruction: Any, raw: Array, position: int, width: int, low: int, high: int) -> Array:
    parts = [(raw >> np.uint64(width * chosen)) & mask_of(width) for chosen in (low, high)]
    sign = np.uint64(1 << width - 1)
    for half, name in enumerate(("neg", "neg_hi")):
        if (field_of(instruction, name, 0) >> position) & 1:
            parts[half] = parts[half] ^ sign
    return parts[0] | parts[1] << np.uint64(width)


def _mixed_signs(frame: Frame, instruction: Any) -> None:
    raise MachineFault(f"the machine does not know {instruction.op.name}")


def _destination(instruction: Any) -> tuple[int, int]:
    """The register of the result and its bits."""
    for name in ("vdst", "sdst"):
        if hasattr(type(instruction), name):
            return _register(instruction, name), instruction.op_bits.get(name, 32)
    return VCC, 64


def _carry_in(instruction: Any) -> int:
    """The register of the mask that pseudo-code reads as VCC."""
    name = instruction.op.name
    third = hasattr(type(instruction), "src2") and (
        "CNDMASK" in name or "_CI_" in name or "ADDC" in name or "SUBB" in name
    )
    return _register(instruction, "src2") if third else VCC


def _mask_register(instruction: Any, written: str, destination: int) -> int:
    """The register that a mask goes to."""
    if written == "EXEC":
        return EXEC
    if written == "VCC":
        return _register(instruction, "sdst") if hasattr(type(instruction), "sdst") else VCC
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
    registers = [_register(instruction, f"src{letter}0"), _register(instruction, f"vsrc{letter}1")]
    text = decode.pseudo_code_named(wave.family, name)
    values = [wave.read(register, 32, literal) for number, register in enumerate(registers) if f"S{number}" in text]
    target = int(getattr(instruction, f"vdst{letter}").offset)
    frame = frame_of(wave, Operands(values, [32, 32], literal), VCC, wave.read(target, 32))
    with np.errstate(all="ignore"):
        compiled(text)(frame)
    return target, frame.variables["D0"].raw


# ---------------------------------------------------------------- what pseudo-code does not cover


def _read_first_lane(wave: Wave, instruction: Any) -> None:
    active = np.flatnonzero(wave.active)
    lane = int(active[0]) if active.size else 0
    _to_scalar(wave, instruction, lane)


def _read_lane(wave: Wave, instruction: Any) -> None:
    lane = wave.read_scalar(_register(instruction, "src1"), 32, field_of(instruction, "literal", 0) or 0)
    _to_scalar(wave, instruction, lane % wave.lanes)


def _to_scalar(wave: Wave, instruction: Any, lane: int) -> None:
    found = wave.read(_register(instruction, "src0"), 32)
    target = _destination(instruction)[0]
    wave.write_scalar(target - VECTOR if target >= VECTOR else target, int(found[lane]), 32)  # CDNA has it as v


def _write_lane(wave: Wave, instruction: Any) -> None:
    literal = field_of(instruction, "literal", 0) or 0
    value = wave.read_scalar(_register(instruction, "src0"), 32, literal)
    lane = wave.read_scalar(_register(instruction, "src1"), 32, literal) % wave.lanes
    mask = np.arange(wave.lanes) == lane
    wave.write_word(_register(instruction, "vdst"), np.full(wave.lanes, value, np.uint32), mask)


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
    wave.write(_register(instruction, "vdst"), found, 32, wave.active)


def _permute_lanes(wave: Wave, instruction: Any, other_row: bool) -> None:
    """Each lane takes a lane of its row of 16, or of the row beside it, by a table in two scalars."""
    source = wave.read(_register(instruction, "src0"), 32)
    literal = field_of(instruction, "literal", 0) or 0
    low, high = (wave.read_scalar(_register(instruction, name), 32, literal) for name in ("src1", "src2"))
    table = low | high << 32
    lanes = np.arange(wave.lanes)
    chosen = np.array([(table >> 4 * int(lane % 16)) & 15 for lane in lanes])
    row = (lanes // 16) ^ int(other_row)
    source_lane = row * 16 + chosen
    fetched_inactive = field_of(instruction, "opsel", 0) & 1
    valid = wave.active[source_lane] | bool(fetched_inactive)
    value = np.where(valid, source[source_lane], wave.read(_register(instruction, "vdst"), 32))
    wave.write(_register(instruction, "vdst"), value, 32, wave.active)


def _multiply_add_64(wave: Wave, instruction: Any) -> None:
    given = operands(wave, instruction)
    x, y, z = given.values
    if "I64" in instruction.op.name:
        x, y = ((value.astype(np.uint32).view(np.int32).astype(np.int64)).view(np.uint64) for value in (x, y))
    product = x * y
    total = product + z
    wave.write(_register(instruction, "vdst"), total, 64, wave.active)
    wave.set_mask(_register(instruction, "sdst"), (total < product) & wave.active)


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
        fields = [np.frexp(np.abs(one.astype(np.longdouble)))[1] for one in (divisor, dividend)]
        inverse = np.abs(1 / divisor.astype(np.longdouble)) < least
        quotient = np.abs(dividend.astype(np.longdouble) / divisor.astype(np.longdouble)) < least
        up, down = np.ldexp(value, by), np.ldexp(value, -by)
    is_divisor, is_dividend = value == divisor, value == dividend
    subnormal = (np.abs(divisor.astype(np.float64)) < least) & (divisor != 0)
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
    wave.write(_register(instruction, "vdst"), raw, width, wave.active)
    wave.set_mask(_register(instruction, "sdst"), scaled & wave.active)


def _scale(wave: Wave, instruction: Any) -> None:
    """``ldexp``, whose power alone may be out of range."""
    given = operands(wave, instruction)
    width = 64 if "F64" in instruction.op.name else 16 if "F16" in instruction.op.name else 32
    number = Typed(given.values[0] & mask_of(width), width, "f").number
    exponent = Typed(given.values[1] & mask_of(32), 32, "i").signed
    with np.errstate(all="ignore"):
        found = np.ldexp(number, np.clip(exponent, -5000, 5000).astype(np.int32))
    raw = np.ascontiguousarray(found).view(f"u{width // 8}").astype(np.uint64)
    wave.write(_register(instruction, "vdst"), raw, width, wave.active)


def _round_even(wave: Wave, instruction: Any) -> None:
    """The pseudo-code adds a half, which large odd numbers do not survive."""
    given = operands(wave, instruction)
    width = given.widths[0]
    found = np.rint(Typed(given.values[0], width, "f").number)
    raw = np.ascontiguousarray(found).view(f"u{width // 8}").astype(np.uint64)
    wave.write(_register(instruction, "vdst"), raw, width, wave.active)


Special = Callable[[Wave, Any], None]
SPECIAL: dict[str, Special] = {
    "V_NOP": lambda wave, instruction: None,
    "V_READFIRSTLANE_B32": _read_first_lane,
    "V_READLANE_B32": _read_lane,
    "V_WRITELANE_B32": _write_lane,
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
}
