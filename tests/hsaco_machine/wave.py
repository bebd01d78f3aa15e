"""A wave: its registers, and what it still waits for.

A register that a load has not filled yet must not be used.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.hsaco_machine.typed import Array
from tests.ttir_machine import MachineFault

VECTOR = 256
"""The number of the first vector register among operands."""
VCC, EXEC, LITERAL, SCC, EXECZ, VCCZ = 106, 126, 255, 253, 252, 251
_FLOATS = {240: 0.5, 241: -0.5, 242: 1.0, 243: -1.0, 244: 2.0, 245: -2.0, 246: 4.0, 247: -4.0, 248: 0.15915494309189532}
_KINDS = {16: np.float16, 32: np.float32, 64: np.float64}


@dataclass(frozen=True)
class Waited:
    """Something that has been started: the registers that it fills, and whether others may end before it."""

    registers: frozenset[int]
    ordered: bool


@dataclass
class Wave:
    """``counters`` are what has not been waited for, by the counter that tells of its end."""

    family: str
    lanes: int
    number: int
    pc: int
    scalars: Array
    vectors: Array
    scratch: Array
    scc: bool = False
    mode: int = 0xF0
    ended: bool = False
    at_barrier: bool = False
    counters: dict[str, deque[Waited]] = field(default_factory=dict)

    # ------------------------------------------------------------ masks of lanes

    @property
    def active(self) -> Array:
        return self.mask_at(EXEC)

    def mask_at(self, register: int) -> Array:
        """A mask of lanes in one or two scalar registers, or a constant."""
        self.require_ready([register])
        if self.is_null(register):
            bits = 0
        elif register >= 128:
            bits = self._constant(register, 64, 0)
        else:
            bits = int(self.scalars[register]) | int(self.scalars[register + 1]) << 32
        return ((bits >> np.arange(self.lanes, dtype=object)) & 1).astype(np.bool_)

    def set_mask(self, register: int, mask: Array) -> None:
        if self.is_null(register):
            return
        bits = sum(1 << int(lane) for lane in np.flatnonzero(mask))
        self.write_scalar(register, bits, self.lanes)

    # ------------------------------------------------------------ scalar registers

    @property
    def m0(self) -> int:
        return 124 if self.family == "cdna" else 125

    def is_null(self, register: int) -> bool:
        return register == 124 and self.family != "cdna"

    def read_scalar(self, register: int, bits: int, literal: int = 0, floating: bool = False) -> int:
        """The value of a scalar operand as a number without sign."""
        if register >= 128:
            return self._constant(register, bits, literal, floating)
        count = max(1, -(-bits // 32))
        self.require_ready(range(register, register + count))
        if self.is_null(register):
            return 0
        words = self.scalars[register : register + count]
        found = sum(int(word) << 32 * place for place, word in enumerate(words))
        return found & ((1 << bits) - 1)

    def write_scalar(self, register: int, value: int, bits: int) -> None:
        if self.is_null(register):
            return
        count = max(1, -(-bits // 32))
        self.require_ready(range(register, register + count))
        for place in range(count):
            self.scalars[register + place] = (value >> 32 * place) & 0xFFFFFFFF

    def _constant(self, register: int, bits: int, literal: int, floating: bool = False) -> int:
        if register <= 192:
            return register - 128
        if register <= 208:
            return (192 - register) & ((1 << bits) - 1)
        if register in _FLOATS:
            return int(np.array(_FLOATS[register], _KINDS[bits]).view(f"u{bits // 8}"))
        if register == LITERAL:
            return literal << 32 if bits == 64 and floating else literal & ((1 << bits) - 1)
        flags = {SCC: self.scc, EXECZ: not self.active.any(), VCCZ: not self.mask_at(VCC).any()}
        if register in flags:
            return int(flags[register])
        raise MachineFault(f"the machine does not know operand {register}")

    # ------------------------------------------------------------ vector registers

    def read(self, register: int, bits: int, literal: int = 0, floating: bool = False) -> Array:
        """The value of an operand of a vector instruction, up to 64 bits, for each lane."""
        if register < VECTOR:
            value = self.read_scalar(register, bits, literal, floating)
            return np.full(self.lanes, value, np.uint64)
        low = self.word(register).astype(np.uint64)
        if bits <= 32:
            return low & np.uint64((1 << bits) - 1)
        return low | self.word(register + 1).astype(np.uint64) << np.uint64(32)

    def word(self, register: int) -> Array:
        """One vector register."""
        self.require_ready([register])
        return self.vectors[register - VECTOR]

    def write(self, register: int, value: Array, bits: int, mask: Array) -> None:
        for place in range(max(1, -(-bits // 32))):
            part = (value >> np.uint64(32 * place)).astype(np.uint32)
            self.write_word(register + place, part, mask)

    def write_word(self, register: int, word: Array, mask: Array) -> None:
        self.require_ready([register])
        self.vectors[register - VECTOR] = np.where(mask, word, self.vectors[register - VECTOR])

    def fill_word(self, register: int, word: Array) -> None:
        """Write what a load brings: loads of one kind end in order, so one may follow another into a register."""
        self.vectors[register - VECTOR] = np.where(self.active, word, self.vectors[register - VECTOR])

    # ------------------------------------------------------------ waiting

    def require_ready(self, registers: Iterable[int]) -> None:
        """Fault if a register is used before what fills it has been waited for."""
        wanted = set(registers)
        for counter, started in self.counters.items():
            for one in started:
                if not wanted.isdisjoint(one.registers):
                    found = min(wanted & one.registers)
                    name = f"v{found - VECTOR}" if found >= VECTOR else f"s{found}"
                    raise MachineFault(f"{name} is used before {counter} tells that it has been loaded")

    def start(self, counter: str, registers: Iterable[int], ordered: bool = True) -> None:
        self.counters.setdefault(counter, deque()).append(Waited(frozenset(registers), ordered))

    def wait(self, counter: str, left: int) -> None:
        """Wait until only `left` of the started operations are under way: the last ones, if they end in order."""
        started = self.counters.get(counter, deque())
        if left and not all(one.ordered for one in started):
            return
        while len(started) > left:
            started.popleft()


def field_of(instruction: Any, name: str, default: Any = None) -> Any:
    """A field of an instruction, if its encoding has it."""
    return getattr(instruction, name) if hasattr(type(instruction), name) else default
