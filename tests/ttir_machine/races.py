"""Races within a block: accesses to the same memory that no barrier orders.

A barrier must stand between two instructions that use the same bytes, one of them writing. That is more than Tile IR
asks for, so it is looked for only in programs in which tokens order everything. No two instructions count as run by the
same thread, and other blocks are not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.ttir_machine.memory import Memory
from tests.ttir_machine.values import Array, MachineFault, dtype_of
from tileir.gpu.ttir.ir.code import Instruction


@dataclass(frozen=True)
class _Access:
    """One execution of an instruction, by its number: the bytes it accessed, sorted."""

    number: int
    name: str
    writes: bool
    used: Array


class RaceDetector(Memory):
    """The memory of a launch as one block uses it."""

    def __init__(self, memory: Memory) -> None:
        vars(self).update(vars(memory))
        self._number = 0
        self._name = ""
        self._pending: list[_Access] = []
        self._past: list[_Access] = []
        """Before the last barrier."""

    def begin(self, instruction: Instruction) -> None:
        self._number += 1
        self._name = instruction.name

    def barrier(self) -> None:
        self._past += self._pending
        self._pending = []

    def load(self, addresses: Array, element: str) -> Array:
        self._note(addresses, element, writes=False)
        return super().load(addresses, element)

    def store(self, addresses: Array, elements: Array, element: str) -> None:
        self._note(addresses, element, writes=True)
        super().store(addresses, elements, element)

    def _note(self, addresses: Array, element: str, writes: bool) -> None:
        size = dtype_of(element).itemsize
        used = np.unique(addresses.reshape(-1, 1) + np.arange(size, dtype=np.uint64))
        access = _Access(self._number, self._name, writes, used)
        for earlier in self._pending:
            if _meet(earlier, access):
                raise MachineFault(f"no barrier after the '{earlier.name}' that uses the same memory")
        for earlier in self._past:
            if _is_engine(earlier) != _is_engine(access) and earlier.writes and _meet(earlier, access):
                raise MachineFault(f"no fence of proxies after the '{earlier.name}' that writes the same memory")
        self._pending.append(access)


def _is_engine(access: _Access) -> bool:
    """Return whether the tensor memory accelerator makes the access; a barrier does not order it after the threads'
    accesses."""
    return access.name.startswith("tt.descriptor_")


def _meet(first: _Access, second: _Access) -> bool:
    """Return whether two instructions use the same bytes, and not only read them."""
    if first.number == second.number or not (first.writes or second.writes):
        return False
    if not (first.used.size and second.used.size):
        return False
    apart = first.used[-1] < second.used[0] or second.used[-1] < first.used[0]
    return not apart and bool(np.intersect1d(first.used, second.used, assume_unique=True).size)
