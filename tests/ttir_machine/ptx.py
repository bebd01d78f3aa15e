"""``tt.elementwise_inline_asm``: the PTX that rules write, statement by statement on all lanes.

PTX with effects runs in every thread that has a copy of an element: here always in two.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from tests.ttir_machine.frame import Frame
from tests.ttir_machine.gcn import inline_asm as gcn_asm
from tests.ttir_machine.gcn import is_gcn
from tests.ttir_machine.ptx_instructions import Call, called
from tests.ttir_machine.ptx_memory import MEMORY_RULES
from tests.ttir_machine.values import GARBAGE, Array, Lanes, MachineFault, bits_of, from_bits, undefined
from tileir.gpu.ttir.ir.code import Instruction

_REGISTERS = {"h": 16, "r": 32, "l": 64, "f": 32, "d": 64, "b": 1, "c": 8}
"""The bits of a register by the letter of its constraint."""
_STATEMENT = re.compile(r"(?:@(!?)([%$\w]+)\s+)?([\w.:]+)\s*(.*)", re.DOTALL)
_IMMEDIATE = re.compile(r"(-?\d+)|0x([0-9a-fA-F]+)U?|0[fF]([0-9a-fA-F]{8})|0[dD]([0-9a-fA-F]{16})")


@dataclass
class _State:
    """The registers so far, as bits; those of predicates as bool."""

    frame: Frame
    shape: tuple[int, ...]
    registers: dict[str, Array] = field(default_factory=dict)


def inline_asm(frame: Frame, instruction: Instruction, *operands: Lanes) -> list[Lanes]:
    text, constraints = instruction.attributes["asm_string"], instruction.attributes["constraints"]
    assert isinstance(text, str) and isinstance(constraints, str)
    if is_gcn(constraints):
        return gcn_asm(instruction, *operands)
    if instruction.attributes["packed_element"] != 1:
        raise MachineFault("the machine knows inline PTX of one element at a time")
    letters = [part for part in constraints.split(",") if not part.startswith("~")]
    _require_registers(instruction, letters)
    shape = instruction.result_types[0].shape
    if frame.batched is not None:
        shape = np.broadcast_shapes(frame.batched, *(x.data.shape for x in operands))
    for _ in range(1 if instruction.attributes["pure"] else 2):
        state = _thread(frame, instruction, shape, operands)
        for statement in _statements(text):
            _execute(state, statement)
    return [_result(state, instruction, place).tainted(*operands) for place in range(len(instruction.results))]


def _thread(frame: Frame, instruction: Instruction, shape: tuple[int, ...], operands: tuple[Lanes, ...]) -> _State:
    """The registers at first: the operands, behind the results."""
    names = (f"${place + len(instruction.results)}" for place in range(len(operands)))
    return _State(frame, shape, {name: bits_of(operand.data) for name, operand in zip(names, operands)})


def _result(state: _State, instruction: Instruction, place: int) -> Lanes:
    type = instruction.result_types[place]
    found = state.registers.get(f"${place}")
    if found is None:
        return undefined(type.shaped(*state.shape))
    return Lanes(from_bits(np.broadcast_to(found, state.shape).astype(f"u{type.bits // 8}"), type.element))


def _require_registers(instruction: Instruction, letters: list[str]) -> None:
    """Each constraint must name a register as wide as its value."""
    types = [*instruction.result_types, *(operand.type for operand in instruction.operands)]
    outputs = [letter.startswith("=") for letter in letters]
    if len(letters) != len(types) or outputs != [place < len(instruction.results) for place in range(len(types))]:
        raise MachineFault(f"constraints {letters} for {list(map(str, types))}")
    for letter, type in zip(letters, types):
        if _REGISTERS[letter.lstrip("=&")] != type.bits:
            raise MachineFault(f"constraint {letter} for a value of {type.element}")


def _statements(text: str) -> list[str]:
    bare = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    if bare.strip().startswith("{") and bare.strip().endswith("}"):
        bare = bare.strip()[1:-1]
    return [statement.strip() for statement in bare.split(";") if statement.strip()]


def _execute(state: _State, statement: str) -> None:
    if statement.startswith(".reg"):
        return
    found = _STATEMENT.fullmatch(statement)
    if found is None:
        raise MachineFault(f"the machine cannot read the PTX '{statement}'")
    negated, guard, name, rest = found.groups()
    active = None if guard is None else _register(state, guard) != bool(negated)
    names = [name.strip() for name in _split(rest)]
    if name == "trap":
        if active is None or active.any():
            raise MachineFault("the PTX stops at a trap")
        return
    if name.split(".")[0] in MEMORY_RULES:
        _access(state, name, names, active)
        return
    target, *sources = names
    _set(state, target, called(Call.parse(name), [_operand(state, source) for source in sources]), active)


def _access(state: _State, name: str, names: list[str], active: Array | None) -> None:
    """An instruction on memory: the result, if it has one, comes first."""
    lanes = np.ones(state.shape, np.bool_) if active is None else np.broadcast_to(active, state.shape)
    base, *modifiers = name.split(".")
    targets = names[:1] if base in ("ld", "atom") or "ld_reduce" in modifiers else []
    sources = [np.broadcast_to(_operand(state, source), state.shape) for source in names[len(targets) :]]
    result = MEMORY_RULES[base](state.frame.memory, Call.parse(name), sources, lanes)
    if targets:
        assert result is not None
        _set(state, targets[0], result, active)


def _set(state: _State, target: str, value: Array, active: Array | None) -> None:
    if active is not None:
        value = np.where(active, value, state.registers.get(target, np.full_like(value, GARBAGE)))
    state.registers[target] = np.asarray(value)


def _split(rest: str) -> list[str]:
    """Operands between commas; ``[address]`` is one, braces are not known."""
    if "{" in rest:
        raise MachineFault(f"the machine does not know vector operands: '{rest}'")
    return [part for part in rest.split(",") if part.strip()]


def _operand(state: _State, text: str) -> Array:
    """A register, an immediate, or the register in ``[register]``."""
    text = text.strip().removeprefix("[").removesuffix("]").strip()
    number = _IMMEDIATE.fullmatch(text)
    if number is None:
        return _register(state, text)
    decimal, hexadecimal, single, double = number.groups()
    if single is not None:
        return np.asarray(int(single, 16), np.uint32)
    if double is not None:
        return np.asarray(int(double, 16), np.uint64)
    value = int(decimal) if decimal is not None else int(hexadecimal, 16)
    return np.asarray(value & 0xFFFFFFFFFFFFFFFF, np.uint64)


def _register(state: _State, name: str) -> Array:
    if name not in state.registers:
        raise MachineFault(f"the PTX reads {name}, which is not set")
    return state.registers[name]


RULES = {"tt.elementwise_inline_asm": inline_asm}
