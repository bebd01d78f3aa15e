"""Scalar instructions: arithmetic by pseudo-code, branches, waiting, loads of scalars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.hsaco_machine import decode
from tests.hsaco_machine.expressions import Frame
from tests.hsaco_machine.pseudo import compiled
from tests.hsaco_machine.typed import Typed, integer
from tests.hsaco_machine.wave import EXEC, VCC, Wave, field_of
from tests.ttir_machine import MachineFault
from tests.ttir_machine.memory import Memory

MODE = 1
"""The number of the register that holds rounding and subnormals."""

LOADS, STORES, SHARED, SCALARS = "loads", "stores", "shared", "scalars"
COUNTERS = {
    "rdna3": {LOADS: "vmcnt", STORES: "vscnt", SHARED: "lgkmcnt", SCALARS: "lgkmcnt"},
    "rdna4": {LOADS: "loadcnt", STORES: "storecnt", SHARED: "dscnt", SCALARS: "kmcnt"},
    "cdna": {LOADS: "vmcnt", STORES: "vmcnt", SHARED: "lgkmcnt", SCALARS: "lgkmcnt"},
}
"""The counter that tells of the end of each kind of access."""

_NOTHING = (
    "S_NOP", "S_CLAUSE", "S_DELAY_ALU", "S_SENDMSG", "S_SET_INST_PREFETCH_DISTANCE", "S_WAITCNT_DEPCTR", "S_SETPRIO",
    "S_CODE_END", "S_WAIT_ALU", "S_ICACHE_INV", "S_SLEEP", "S_WAIT_IDLE", "S_TTRACEDATA", "S_SINGLEUSE_VDST",
    "S_INST_PREFETCH",
)  # fmt: skip
"""Instructions that change only the time."""


def run(wave: Wave, instruction: Any, memory: Memory) -> None:
    """One scalar instruction; `wave.pc` is behind it."""
    name = decode.name_of(instruction.op)
    if type(instruction).__name__.startswith("SMEM"):
        _load(wave, instruction, memory)
    elif name in _NOTHING:
        return
    elif name in SPECIAL:
        SPECIAL[name](wave, instruction)
    elif name.startswith("S_WAIT_"):
        _wait_for_named(wave, name, instruction.simm16)
    else:
        _compute(wave, instruction)


# ---------------------------------------------------------------- arithmetic


def _compute(wave: Wave, instruction: Any) -> None:
    variables = _variables(wave, instruction)
    frame = Frame(variables, np.ones(1, np.bool_))
    with np.errstate(all="ignore"):
        compiled(decode.pseudo_code(wave.family, instruction.op))(frame)
    if "SCC" in frame.written:
        wave.scc = bool(frame.variables["SCC"].raw.ravel()[0])
    for name, register in (("EXEC", EXEC), ("VCC", VCC)):
        if name in frame.written:
            wave.write_scalar(register, int(frame.variables[name].raw.ravel()[0]), wave.lanes)
    if "D0" in frame.written:
        bits = instruction.op_bits.get("sdst", 32)
        wave.write_scalar(_destination(instruction), int(frame.variables["D0"].raw.ravel()[0]), bits)


def _variables(wave: Wave, instruction: Any) -> dict[str, Typed]:
    bits, literal = instruction.op_bits, field_of(instruction, "literal", 0) or 0
    found = {
        "SCC": integer(int(wave.scc), 1, "u"),
        "EXEC": integer(wave.read_scalar(EXEC, wave.lanes), 64, "u"),
        "EXEC_LO": integer(wave.read_scalar(EXEC, 32), 32, "u"),
        "VCC": integer(wave.read_scalar(VCC, wave.lanes), 64, "u"),
        "PC": integer(wave.pc - 4, 64, "i"),
        "SIMM16": integer(field_of(instruction, "simm16", 0) & 0xFFFF, 16, "u"),
        "SIMM32": integer(literal, 32, "u"),
    }
    for number, name in enumerate(("ssrc0", "ssrc1")):
        if hasattr(type(instruction), name):
            width = bits.get(name, 32)
            value = wave.read_scalar(int(getattr(instruction, name).offset), width, literal)
            found[f"S{number}"] = Typed(np.array([value], np.uint64), 64, "b")
    if hasattr(type(instruction), "sdst"):
        value = wave.scalars[_destination(instruction)] if instruction.op_bits.get("sdst", 32) <= 32 else 0
        found["D0"] = Typed(np.array([value], np.uint64), 64, "b")
        found.setdefault("S0", found["D0"])
    form = type(instruction).__name__
    if form.startswith("SOPK") and "SIMM16" not in decode.pseudo_code(wave.family, instruction.op):
        found["S1" if "CMPK" in instruction.op.name else "S0"] = found["SIMM16"]
    return found


def _destination(instruction: Any) -> int:
    return int(instruction.sdst.offset)


# ---------------------------------------------------------------- control


def _jump(wave: Wave, instruction: Any) -> None:
    offset = instruction.simm16 - (1 << 16 if instruction.simm16 & 0x8000 else 0)
    wave.pc += 4 * offset


def _jump_if(holds: Callable[[Wave], bool]) -> Callable[[Wave, Any], None]:
    def run_branch(wave: Wave, instruction: Any) -> None:
        if holds(wave):
            _jump(wave, instruction)

    return run_branch


def _end(wave: Wave, instruction: Any) -> None:
    wave.ended = True


def _meet(wave: Wave, instruction: Any) -> None:
    wave.at_barrier = True


def _set_program_counter(wave: Wave, instruction: Any) -> None:
    wave.pc = wave.read_scalar(int(instruction.ssrc0.offset), 64)


def _swap_program_counter(wave: Wave, instruction: Any) -> None:
    target = wave.read_scalar(int(instruction.ssrc0.offset), 64)
    wave.write_scalar(_destination(instruction), wave.pc, 64)
    wave.pc = target


def _get_program_counter(wave: Wave, instruction: Any) -> None:
    wave.write_scalar(_destination(instruction), wave.pc, 64)


def _set_mode(wave: Wave, instruction: Any) -> None:
    """The part of the mode that an instruction names, to a constant or to a register."""
    register, offset, size = _part_of_state(instruction)
    if register != MODE:
        return
    constant = "IMM32" in instruction.op.name
    value = instruction.literal if constant else wave.read_scalar(_destination(instruction), 32)
    mask = ((1 << size) - 1) << offset
    wave.mode = (wave.mode & ~mask) | ((value << offset) & mask)


def _part_of_state(instruction: Any) -> tuple[int, int, int]:
    described = instruction.simm16
    return described & 63, (described >> 6) & 31, (described >> 11) + 1


# ---------------------------------------------------------------- waiting


def _wait(wave: Wave, instruction: Any) -> None:
    counts = instruction.simm16
    if wave.family == "cdna":
        loads, shared = (counts & 15) | ((counts >> 14) & 3) << 4, (counts >> 8) & 15
    else:
        loads, shared = (counts >> 10) & 63, (counts >> 4) & 63
    wave.wait("vmcnt", loads)
    wave.wait("lgkmcnt", shared)


def _wait_for_named(wave: Wave, name: str, left: int) -> None:
    """Waits of RDNA 4, for one counter or for two."""
    if name in ("S_WAIT_LOADCNT_DSCNT", "S_WAIT_STORECNT_DSCNT"):
        wave.wait(name.split("_")[2].lower(), (left >> 8) & 63)
        wave.wait("dscnt", left & 63)
        return
    wave.wait(name.removeprefix("S_WAIT_").lower(), left)


def _wait_for_stores(wave: Wave, instruction: Any) -> None:
    wave.wait("vscnt", instruction.simm16)


SPECIAL: dict[str, Callable[[Wave, Any], None]] = {
    "S_BRANCH": _jump,
    "S_CBRANCH_SCC0": _jump_if(lambda wave: not wave.scc),
    "S_CBRANCH_SCC1": _jump_if(lambda wave: wave.scc),
    "S_CBRANCH_VCCZ": _jump_if(lambda wave: not wave.mask_at(VCC).any()),
    "S_CBRANCH_VCCNZ": _jump_if(lambda wave: bool(wave.mask_at(VCC).any())),
    "S_CBRANCH_EXECZ": _jump_if(lambda wave: not wave.active.any()),
    "S_CBRANCH_EXECNZ": _jump_if(lambda wave: bool(wave.active.any())),
    "S_ENDPGM": _end,
    "S_BARRIER": _meet,
    "S_BARRIER_SIGNAL": lambda wave, instruction: None,
    "S_BARRIER_WAIT": _meet,
    "S_SETPC_B64": _set_program_counter,
    "S_SWAPPC_B64": _swap_program_counter,
    "S_GETPC_B64": _get_program_counter,
    "S_SETREG_IMM32_B32": _set_mode,
    "S_SETREG_B32": _set_mode,
    "S_WAITCNT": _wait,
    "S_WAITCNT_VSCNT": _wait_for_stores,
}


# ---------------------------------------------------------------- loads


def _load(wave: Wave, instruction: Any, memory: Memory) -> None:
    name = decode.name_of(instruction.op)
    if "LOAD" not in name:
        if "INV" in name or "PREFETCH" in name or "WB" in name:
            return
        raise MachineFault(f"the machine does not know {name}")
    bits = instruction.op_bits["sdata"]
    base = wave.read_scalar(int(instruction.sbase.offset), 64) & ~3
    address = base + _offset(wave, instruction)
    count = bits // 32
    words = memory.load(np.arange(address, address + 4 * count, 4, dtype=np.uint64), "i32")
    target = int(instruction.sdata.offset)
    wave.require_ready(range(target, target + count))
    wave.scalars[target : target + count] = words.view(np.uint32)
    wave.start(COUNTERS[wave.family][SCALARS], range(target, target + count), ordered=False)


def _offset(wave: Wave, instruction: Any) -> int:
    """The distance from the base: a constant of 21 or 24 bits and a register."""
    name = "offset" if hasattr(type(instruction), "offset") else "ioffset"
    field, constant = getattr(type(instruction), name), getattr(instruction, name)
    if constant >> (field.hi - field.lo):
        constant -= 1 << (field.hi - field.lo + 1)
    if wave.family == "cdna":
        enabled = field_of(instruction, "soffset_en", 0)
        register = wave.read_scalar(int(instruction.soffset.offset), 32) if enabled else 0
        return constant * int(field_of(instruction, "imm", 1)) + register
    return constant + wave.read_scalar(int(instruction.soffset.offset), 32)
