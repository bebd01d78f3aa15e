"""Products of matrices: the places of elements in the registers of a wave.

The layouts are those of RDNA 3 for waves of 32 lanes, and of CDNA 3 (instruction set documents: WMMA, MFMA). A sum of
products is rounded once here; the precision in which hardware adds is not documented.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tests.hsaco_machine import decode
from tests.hsaco_machine.typed import Array
from tests.hsaco_machine.wave import VECTOR, Wave, field_of
from tests.ttir_machine import MachineFault

_WMMA = re.compile(r"V_WMMA_(F32|F16|BF16|I32)_16X16X16_(F16|BF16|IU8)")
_MFMA = re.compile(r"V_MFMA_(F32|I32)_(16X16|32X32)X(\d+)_(F16|BF16|BF16_1K|I8|F32|XF32)")


def is_product(name: str) -> bool:
    return name.startswith(("V_WMMA", "V_MFMA"))


def run(wave: Wave, instruction: Any) -> None:
    name = decode.name_of(instruction.op)
    if wave.family == "rdna3" and (found := _WMMA.fullmatch(name)) is not None:
        _wmma(wave, instruction, found[1], found[2])
        return
    if wave.family == "rdna4" and (found := _WMMA.fullmatch(name)) is not None:
        _wmma_in_halves(wave, instruction, found[1], found[2])
        return
    if wave.family == "cdna" and (found := _MFMA.fullmatch(name)) is not None:
        _mfma(wave, instruction, found[1], int(found[2][:2]), found[4])
        return
    raise MachineFault(f"the machine does not know {name}")


def elements(words: Array, kind: str, signed: bool = True) -> Array:
    """The numbers in registers, for each lane: words of shape (registers, lanes) as f64 of shape (lanes, elements)."""
    packed = np.ascontiguousarray(words.T)
    if kind == "F16":
        return packed.view(np.float16).astype(np.float64)
    if kind.startswith("BF16"):
        return (packed.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
    if kind in ("IU8", "I8"):
        return packed.view(np.int8 if signed else np.uint8).astype(np.float64)
    return packed.view({"F32": np.float32, "XF32": np.float32, "F64": np.float64, "I32": np.int32}[kind]).astype(
        np.float64
    )


def _registers(wave: Wave, register: int, count: int) -> Array:
    return np.stack([wave.word(register + place) for place in range(count)])


def _addend(wave: Wave, register: int, count: int) -> Array:
    if register >= VECTOR:
        return _registers(wave, register, count)
    value = wave.read_scalar(register, 32)
    return np.full((count, wave.lanes), value, np.uint32)


def _wmma(wave: Wave, instruction: Any, result: str, factor: str) -> None:
    """Lane l has row l mod 16 of A and column l mod 16 of B; register r of a sum has rows 2r and 2r + 1 in halves."""
    if result not in ("F32", "I32") or not wave.active.all() or field_of(instruction, "clmp", 0):
        raise MachineFault(f"the machine does not know {instruction.op.name} with these operands")
    count = instruction.op_regs["src0"]
    negated = int(field_of(instruction, "neg", 0))
    if factor != "IU8" and (negated or field_of(instruction, "neg_hi", 0)):
        raise MachineFault("the machine does not know products with signs")
    a, b = (
        elements(_registers(wave, int(getattr(instruction, name).offset), count), factor, bool((negated >> place) & 1))
        for place, name in enumerate(("src0", "src1"))
    )
    rows, columns = a[:16], b[:16]
    kind = np.float32 if result == "F32" else np.int32
    words = _addend(wave, int(instruction.src2.offset), 8)
    with np.errstate(all="ignore"):
        products = rows @ columns.T
        for place in range(8):
            row = 2 * place + np.arange(wave.lanes) // 16
            total = products[row, np.arange(wave.lanes) % 16] + words[place].view(kind).astype(np.float64)
            wave.write_word(int(instruction.vdst.offset) + place, _word(total, result), wave.active)


def _wmma_in_halves(wave: Wave, instruction: Any, result: str, factor: str) -> None:
    """Of RDNA 4: the upper half of the wave has the upper half of the depth, and the lower rows of the sums."""
    negated = int(field_of(instruction, "neg", 0))
    if result not in ("F32", "I32") or not wave.active.all() or (negated and factor != "IU8"):
        raise MachineFault(f"the machine does not know {instruction.op.name} with these operands")
    count = instruction.op_regs["src0"]
    a, b = (
        elements(_registers(wave, int(getattr(instruction, name).offset), count), factor, bool((negated >> place) & 1))
        for place, name in enumerate(("src0", "src1"))
    )
    rows, columns = (np.concatenate([one[:16], one[16:]], axis=1) for one in (a, b))
    lanes, kind = np.arange(wave.lanes), np.float32 if result == "F32" else np.int32
    words = _addend(wave, int(instruction.src2.offset), 8)
    with np.errstate(all="ignore"):
        products = rows @ columns.T
        for place in range(8):
            total = products[place + 8 * (lanes // 16), lanes % 16] + words[place].view(kind).astype(np.float64)
            wave.write_word(int(instruction.vdst.offset) + place, _word(total, result), wave.active)


def _mfma(wave: Wave, instruction: Any, result: str, size: int, factor: str) -> None:
    """Lane l has row or column l mod `size`, and of the other dimension as many elements from (l / `size`) times their
    number on. Sums lie in groups of four rows: register r of lane l has row 8 (r / 4) + 4 (l / 32) + r mod 4 of 32, or
    row 4 (l / 16) + r of 16."""
    if not wave.active.all() or any(
        field_of(instruction, name, 0) for name in ("cbsz", "abid", "acc", "acc_cd", "blgp")
    ):
        raise MachineFault(f"the machine does not know {instruction.op.name} with these operands")
    count = instruction.op_regs["src0"]
    a, b = (
        elements(_registers(wave, int(getattr(instruction, name).offset), count), factor) for name in ("src0", "src1")
    )
    each, groups = a.shape[1], wave.lanes // size
    rows, columns = (one.reshape(groups, size, each).transpose(1, 0, 2).reshape(size, groups * each) for one in (a, b))
    with np.errstate(all="ignore"):
        products = rows @ columns.T
        _write_sums(wave, instruction, result, size, products)


def _write_sums(wave: Wave, instruction: Any, result: str, size: int, products: Array) -> None:
    lanes, registers = np.arange(wave.lanes), size * size // wave.lanes
    words = _addend(wave, int(instruction.src2.offset), registers)
    kind = np.float32 if result == "F32" else np.int32
    for place in range(registers):
        row = 8 * (place // 4) + 4 * (lanes // 32) + place % 4 if size == 32 else 4 * (lanes // 16) + place
        total = products[row, lanes % size] + words[place].view(kind).astype(np.float64)
        wave.write_word(int(instruction.vdst.offset) + place, _word(total, result), wave.active)


def _word(total: Array, result: str) -> Array:
    if result == "I32":
        return total.astype(np.int64).astype(np.uint32)
    return total.astype(np.float32).view(np.uint32)
