"""Warps: registers, and lanes on their way through a function, which may part and meet again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.ptx_machine.integers import CARRYING, carried, computed
from tests.ptx_machine.matrix import LANES
from tests.ptx_machine.program import Function, Immediate, Operand, Place, Program, Register, Statement, Symbol, Vector
from tests.ttir_machine.memory import Memory
from tests.ttir_machine.ptx_instructions import FLOATS, Call
from tests.ttir_machine.values import GARBAGE, Array, MachineFault

MAX_STEPS = 2_000_000
"""Statements of a warp after which it counts as hanging."""
_WORDS = {1: np.dtype(np.bool_), 8: np.dtype(np.uint8), 16: np.dtype(np.uint16), 32: np.dtype(np.uint32),
          64: np.dtype(np.uint64)}  # fmt: skip


@dataclass
class Block:
    """The memory and the numbers that the warps of a tile block share; addresses of shared memory are from 0."""

    program: Program
    memory: Memory
    shared: Array
    symbols: dict[str, int]
    parameters: dict[str, int]


@dataclass
class Copies:
    """Asynchronous copies of a warp: those not yet in a group, and the groups that have not been waited for."""

    open: list[Callable[[], None]] = field(default_factory=list)
    groups: list[list[Callable[[], None]]] = field(default_factory=list)


Effect = Callable[["Warp", Statement, Array], None]


class Warp:
    """The lanes of a warp in a function; those at one statement are `paths`, by its number."""

    def __init__(self, block: Block, function: Function, special: dict[str, Array], effects: dict[str, Effect]) -> None:
        self.block, self.function, self.special, self.effects = block, function, special, effects
        self.registers: dict[str, Array] = {}
        self.passed: dict[str, Array] = {
            name: np.full(LANES, value, np.uint64) for name, value in block.parameters.items()
        }
        self.local = np.full((LANES, max(function.local, 16)), GARBAGE, np.uint8)
        self.paths: dict[int, Array] = {0: np.ones(LANES, np.bool_)}
        self.waiting: dict[int, Array] = {}
        self.copies = Copies()
        self.carry = np.zeros(LANES, np.bool_)
        self.steps = 0

    def run(self) -> None:
        """Run until all lanes have ended or wait at a barrier."""
        statements = self.function.statements
        while self.paths:
            number = min(self.paths)
            lanes = self.paths.pop(number)
            if number == len(statements):
                continue
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise MachineFault("a warp does not end")
            statement = statements[number]
            active = lanes
            if statement.guard is not None:
                active = lanes & (self.read(statement.guard) != statement.negated)
            self._step(statement, number, lanes, active)

    def release(self) -> None:
        """Let the lanes at a barrier go on."""
        self.paths, self.waiting = self.waiting, {}

    def _step(self, statement: Statement, number: int, lanes: Array, active: Array) -> None:
        base = statement.call.base
        rest = lanes
        if base == "bra":
            (target,) = statement.operands
            assert isinstance(target, Symbol)
            self._go(self.paths, self.function.labels[target.name], active)
            rest = lanes & ~active
        elif base in ("ret", "exit"):
            rest = lanes & ~active
        elif base == "bar":
            self._go(self.waiting, number + 1, active)
            rest = lanes & ~active
        elif active.any():
            self._execute(statement, active)
        self._go(self.paths, number + 1, rest)

    def _go(self, paths: dict[int, Array], number: int, lanes: Array) -> None:
        if lanes.any():
            paths[number] = paths[number] | lanes if number in paths else lanes

    def _execute(self, statement: Statement, active: Array) -> None:
        call = statement.call
        if call.base == "trap":
            raise MachineFault("the PTX stops at a trap")
        effect = self.effects.get(call.base)
        if effect is not None:
            effect(self, statement, active)
            return
        target, *sources = statement.operands
        if call.base == "mov":
            self.write(target, self._moved(call, target, sources[0]), active)
            return
        types = _operand_types(call, len(sources))
        with np.errstate(all="ignore"):
            values = [self.read(source, type) for source, type in zip(sources, types)]
            if "cc" in call.modifiers or call.base in CARRYING:
                found, carry = carried(call, values, self.carry)
                self.carry = np.where(active, carry, self.carry) if "cc" in call.modifiers else self.carry
            else:
                found = computed(call, values)
            self.write(target, found, active, call.type.startswith("s") and call.base == "cvt")

    def _moved(self, call: Call, target: Operand, source: Operand) -> Array:
        """The bits of a move, which may put registers together or take one apart."""
        if isinstance(source, Vector):
            return self._joined(source)
        return self.read(source, call.type if not isinstance(target, Vector) else None)

    def _joined(self, vector: Vector) -> Array:
        parts = [self.read(part) for part in vector.parts]
        return np.ascontiguousarray(np.stack(parts, axis=1)).view(f"u{parts[0].itemsize * len(parts)}")[:, 0]

    # ------------------------------------------------------------ operands

    def read(self, operand: Operand, type: str | None = None) -> Array:
        """Return the bits of an operand in all lanes, as many as a type has."""
        if isinstance(operand, Immediate):
            bits = 64 if type in (None, "pred") else int(_number(type))
            found = np.full(LANES, operand.bits & ((1 << bits) - 1), _WORDS[bits])
            return found.astype(np.bool_) if type == "pred" else found
        if isinstance(operand, Register):
            found = self.registers.get(operand.name)  # type: ignore[assignment]
            if found is None:
                raise MachineFault(f"the PTX reads {operand.name}, which is not set")
        elif isinstance(operand, Symbol):
            found = self._symbol(operand.name)
        elif isinstance(operand, Vector):
            return self._joined(operand)
        else:
            return self.address(operand)
        if type is None or type == "pred":
            return found
        return found if found.itemsize * 8 <= int(_number(type)) else found.astype(_WORDS[int(_number(type))])

    def _symbol(self, name: str) -> Array:
        if name in self.special:
            return self.special[name]
        if name in self.passed:
            return self.passed[name]
        if name.startswith(("__local_depot", "global_smem")):
            return np.zeros(LANES, np.uint64)
        if name not in self.block.symbols:
            raise MachineFault(f"the PTX names {name}, which is not there")
        return np.full(LANES, self.block.symbols[name], np.uint64)

    def address(self, place: Operand) -> Array:
        assert isinstance(place, Place), place
        return self.read(place.base).astype(np.uint64) + np.uint64(place.offset & ((1 << 64) - 1))

    def write(self, target: Operand, bits: Array, active: Array, signed: bool = False) -> None:
        """Set a register, or the registers of a vector from the low bits on, in the lanes that are active."""
        if isinstance(target, Vector):
            size = bits.itemsize // len(target.parts)
            parts = np.ascontiguousarray(bits).view(f"u{size}").reshape(LANES, -1)
            for place, part in enumerate(target.parts):
                self.write(part, parts[:, place], active)
            return
        assert isinstance(target, Register), target
        if not target.bits:
            return
        dtype = _WORDS[target.bits]
        bits = np.broadcast_to(bits, (LANES,))
        if bits.dtype != dtype:
            if dtype == np.bool_ or bits.itemsize > dtype.itemsize:
                raise MachineFault(f"{8 * bits.itemsize} bits for {target.name}, which has {target.bits}")
            bits = (
                bits.view(f"i{bits.itemsize}").astype(f"i{dtype.itemsize}").view(dtype)
                if signed
                else bits.astype(dtype)
            )
        if not active.all():
            before = self.registers.get(target.name)
            if before is None:
                before = np.full((LANES, dtype.itemsize), GARBAGE, np.uint8).view(dtype)[:, 0]
            bits = np.where(active, bits, before)
        self.registers[target.name] = bits


def _number(type: str) -> str:
    return {"bf16": "16", "tf32": "32"}.get(type) or "".join(letter for letter in type if letter.isdigit())


def _operand_types(call: Call, count: int) -> Sequence[str | None]:
    """Return the type that each operand is read as."""
    if call.base == "cvt":
        return [call.types[-1] if call.types else None] * count
    if call.base == "selp":
        return [call.type, call.type, "pred"]
    if call.base in ("shl", "shr", "bfe"):
        return [call.type, *["u32"] * (count - 1)]
    if call.base == "mad" and "wide" in call.modifiers:
        return [call.type, call.type, f"{call.type[0]}{2 * int(call.type[1:])}"]
    if call.base in ("shf", "prmt"):
        return ["b32"] * count
    assert not call.types or call.type in FLOATS or call.type[0] in "busp", call.text
    return [call.type] * count
