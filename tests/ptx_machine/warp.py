"""Warps: registers, and lanes on their way through a function, which may part and meet again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from tests.ptx_machine.copy_engine import Barrier, has_ended
from tests.ptx_machine.integers import CARRYING, carried, computed
from tests.ptx_machine.matrix import LANES
from tests.ptx_machine.program import Function, Immediate, Operand, Place, Program, Register, Statement, Symbol, Vector
from tests.ttir_machine.memory import Memory
from tests.ttir_machine.ptx_instructions import FLOATS, Call
from tests.ttir_machine.values import GARBAGE, Array, MachineFault
from tileir.gpu.descriptors import TensorMap

COLUMNS = 512
"""Columns of the tensor memory."""
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
    tensors: dict[int, TensorMap] = field(default_factory=dict)
    """Those that descriptors describe, by the address of the descriptor."""
    barriers: dict[int, Barrier] = field(default_factory=dict)
    """Barriers in shared memory, by their addresses."""
    tensor_memory: Array = field(default_factory=lambda: np.full((LANES * 4, COLUMNS), 0x7FF7BEEF, np.uint32))
    columns: dict[int, int] = field(default_factory=dict)
    """Columns of the tensor memory that are allocated: how many from which one on."""


@dataclass
class PutOff:
    """Asynchronous work of a warp: that not yet in a group, and the groups that have not been waited for."""

    open: list[Callable[[], None]] = field(default_factory=list)
    groups: list[list[Callable[[], None]]] = field(default_factory=list)
    committed: int = 0
    """Groups that have been made."""

    def commit(self) -> None:
        """Make a group of what is open."""
        self.groups.append(self.open)
        self.open = []
        self.committed += 1

    def keep(self, count: int) -> None:
        """Do the work of all groups but the last `count`."""
        while len(self.groups) > count:
            for work in self.groups.pop(0):
                work()

    def finish(self, number: int) -> None:
        """Do the work of the first `number` groups."""
        self.keep(self.committed - number)


BlockBarrier = tuple[int, int | None]
"""The number of a barrier of the block, and how many threads it waits for; None for all."""

Effect = Callable[["Warp", Statement, Array], None]


class Warp:
    """The lanes of a warp in a function; those at one statement are `paths`, by its number."""

    def __init__(
        self, block: Block, function: Function, special: dict[str, Array], effects: dict[str, Effect], number: int = 0
    ) -> None:
        self.block, self.function, self.special, self.effects = block, function, special, effects
        self.registers: dict[str, Array] = {}
        self.passed: dict[str, Array] = {
            name: np.full(LANES, value, np.uint64) for name, value in block.parameters.items()
        }
        self.local = np.full((LANES, max(function.local, 16)), GARBAGE, np.uint8)
        self.paths: dict[int, Array] = {0: np.ones(LANES, np.bool_)}
        self.waiting: dict[BlockBarrier, dict[int, Array]] = {}
        self.ended = np.zeros(LANES, np.bool_)
        self.polling: dict[int, Array] = {}
        """Lanes that wait for a barrier in shared memory."""
        self.number = number
        self.copies, self.stores, self.products = PutOff(), PutOff(), PutOff()
        self.kept = PutOff()
        """Stores to tensor memory."""
        self.carry = np.zeros(LANES, np.bool_)
        self.steps = 0

    def run(self) -> None:
        """Run until all lanes have ended or wait at a barrier."""
        statements = self.function.statements
        while self.paths:
            number = min(self.paths)
            lanes = self.paths.pop(number)
            if number == len(statements):
                self.ended |= lanes
                continue
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise MachineFault("a warp does not end")
            statement = statements[number]
            active = lanes
            if statement.guard is not None:
                active = lanes & (self.read(statement.guard) != statement.negated)
            self._step(statement, number, lanes, active)

    def arrived(self, barrier: BlockBarrier) -> int:
        """Return how many lanes wait at a barrier."""
        return sum(int(lanes.sum()) for lanes in self.waiting.get(barrier, {}).values())

    def release(self, barrier: BlockBarrier) -> None:
        """Let the lanes at a barrier go on."""
        for number, lanes in self.waiting.pop(barrier, {}).items():
            self._go(self.paths, number, lanes)

    def look_again(self) -> None:
        """Let the lanes that wait for a barrier in shared memory look at it again."""
        polling, self.polling = self.polling, {}
        for number, lanes in polling.items():
            self._go(self.paths, number, lanes)

    def require_end(self) -> None:
        """Raise MachineFault if something has not been waited for that others may see, or that changes registers."""
        if any(found.open or any(found.groups) for found in (self.stores, self.products)):
            raise MachineFault("a warp ends before asynchronous work that it has started")

    def _step(self, statement: Statement, number: int, lanes: Array, active: Array) -> None:
        base = statement.call.base
        rest = lanes
        if base == "bra":
            (target,) = statement.operands
            assert isinstance(target, Symbol)
            self._go(self.paths, self.function.labels[target.name], active)
            rest = lanes & ~active
        elif base == "brx":
            index, names = statement.operands
            assert isinstance(names, Symbol)
            chosen = self.read(index)
            for place in np.unique(chosen[active]).tolist():
                target = self.function.labels[self.function.targets[names.name][place]]
                self._go(self.paths, target, active & (chosen == place))
            rest = lanes & ~active
        elif base in ("ret", "exit"):
            self.ended |= active
            rest = lanes & ~active
        elif base in ("bar", "barrier") and "warp" not in statement.call.modifiers:
            numbers = [int(self.read(operand)[0]) for operand in statement.operands]
            barrier = numbers[0], numbers[1] if len(numbers) > 1 else None
            self._go(self.waiting.setdefault(barrier, {}), number + 1, active)
            rest = lanes & ~active
        elif "try_wait" in statement.call.modifiers:
            if not has_ended(self, statement, active):
                self._go(self.polling, number, active)
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
            packs = call.base == "cvt" and len(sources) == 2
            values = [self.read(source, type, may_be_noise=packs) for source, type in zip(sources, types)]
            if "cc" in call.modifiers or call.base in CARRYING:
                found, carry = carried(call, values, self.carry)
                self.carry = np.where(active, carry, self.carry) if "cc" in call.modifiers else self.carry
            else:
                found = computed(call, values)
            is_signed = bool(call.types) and call.type.startswith("s")
            self.write(target, found, active, is_signed and call.base == "cvt")

    def _moved(self, call: Call, target: Operand, source: Operand) -> Array:
        """The bits of a move, which may put registers together or take one apart."""
        if isinstance(source, Vector):
            return self._joined(source)
        return self.read(source, call.type if not isinstance(target, Vector) else None)

    def _joined(self, vector: Vector) -> Array:
        some = any(isinstance(part, Register) and part.name in self.registers for part in vector.parts)
        parts = [self.read(part, may_be_noise=some) for part in vector.parts]
        return np.ascontiguousarray(np.stack(parts, axis=1)).view(f"u{parts[0].itemsize * len(parts)}")[:, 0]

    # ------------------------------------------------------------ operands

    def read(self, operand: Operand, type: str | None = None, may_be_noise: bool = False) -> Array:
        """Return the bits of an operand in all lanes, as many as a type has. A register that is not set `may_be_noise`
        where half of the result is not used."""
        if isinstance(operand, Immediate):
            bits = 64 if type in (None, "pred") else _number(type)
            found = np.full(LANES, operand.bits & ((1 << bits) - 1), _WORDS[bits])
            return found.astype(np.bool_) if type == "pred" else found
        if isinstance(operand, Register):
            found = self.registers.get(operand.name)  # type: ignore[assignment]
            if found is None and not may_be_noise:
                raise MachineFault(f"the PTX reads {operand.name}, which is not set")
            if found is None:
                found = _noise(operand.bits)
        elif isinstance(operand, Symbol):
            found = self._symbol(operand.name)
        elif isinstance(operand, Vector):
            return self._joined(operand)
        else:
            return self.address(operand)
        if type is None or type == "pred":
            return found
        bits = _number(type)
        return found if found.itemsize * 8 <= bits else found.astype(_WORDS[bits])

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
        if bits.shape != (LANES,):
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
                before = _noise(target.bits)
            bits = np.where(active, bits, before)
        self.registers[target.name] = bits


def _noise(bits: int) -> Array:
    """Return what stands in a register that no lane has set."""
    dtype = _WORDS[bits]
    return np.full((LANES, dtype.itemsize), GARBAGE, np.uint8).view(dtype)[:, 0]


@cache
def _number(type: str) -> int:
    """Return the bits of a type."""
    return int({"bf16": "16", "tf32": "32"}.get(type) or "".join(letter for letter in type if letter.isdigit()))


@cache
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
    if call.text.endswith("x2"):
        return [None] * count
    assert call.types, call.text
    assert call.type in FLOATS or call.type[0] in "busp", call.text
    return [call.type] * count
