"""A compiled entry: machine code, and what a launch needs beside it.

Knows: how an entry becomes loaded code, which facts about it are kept with the code, and how its operations are found
again from these. Does not know: how tile blocks are run (`cpu.execution`), files (`tileir.cache`), arrays
(`runtime.native`).
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from tileir.cache import Cache, key_of
from tileir.cpu.driver import NAME as DRIVER
from tileir.cpu.emitter import TrapSite
from tileir.cpu.engine import Loaded, data_layout, host, object_code, toolchain
from tileir.cpu.lowering import Kernel, lower_entry
from tileir.cpu.pauses import waits
from tileir.cpu.rules import RULES
from tileir.ir.core import Op
from tileir.ops.control import Assert
from tileir.ops.module import Entry

DRIVER_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)


@dataclass(frozen=True)
class Facts:
    """What is kept with machine code: all that a launch needs and that would have to be lowered again to know.

    An operation is its number in the order in which `operations` lists them. A trap site is the operation, the message
    and the place of its evidence in the arena (-1 for none).
    """

    arena_size: int
    pauses: bool
    prints: list[int]
    traps: list[tuple[int, str, int]] = field(default_factory=list)

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @staticmethod
    def from_bytes(data: bytes) -> Facts:
        return Facts(**json.loads(data))


class Program:
    """Native code of one entry, ready to run. `waits`: its tile blocks may wait for each other."""

    def __init__(self, entry: Entry, ops: Sequence[Op], facts: Facts, code: bytes) -> None:
        self.name: str = entry.sym_name
        self.arena_size = facts.arena_size
        self.pauses = facts.pauses
        self.prints = [ops[number] for number in facts.prints]
        self.traps = [_site(ops[number], message, place) for number, message, place in facts.traps]
        self.waits = facts.pauses and waits(ops)
        self._loaded = Loaded(code, host())
        self.driver = DRIVER_TYPE(self._loaded.address(DRIVER))


def _site(op: Op, message: str, place: int) -> TrapSite:
    """The trap site as the lowering made it: evidence is always the condition of an `assert`."""
    if place < 0:
        return TrapSite(op, message)
    assert isinstance(op, Assert)
    return TrapSite(op, message, (place, op.condition.type))


def operations(entry: Entry, functions: Sequence[Op]) -> list[Op]:
    """The operations that the code of `entry` can come from, in program order."""
    return [op for item in (entry, *functions) for op in item.walk()]


def lowered(entry: Entry, global_names: Sequence[str]) -> Kernel:
    """The entry in LLVM's language. Raises UnsupportedError for what has no native code."""
    return lower_entry(entry, global_names, RULES, host().triple, data_layout(host()))


def compiled(entry: Entry, functions: Sequence[Op], global_names: Sequence[str], text: str, cache: Cache) -> Program:
    """The program of an entry: from the cache if it is there, else lowered and compiled for this machine.

    `functions` are the device functions of its module; `global_names` the globals, in the order in which a launch gives
    their addresses; `text` says all that the code depends on in the entry and the functions. Raises UnsupportedError
    for what has no native code.
    """
    ops = operations(entry, functions)
    key = key_of(toolchain(), text, *global_names)
    found = cache.get(key)
    if found is not None:
        facts, code = found
        return Program(entry, ops, Facts.from_bytes(facts), code)
    kernel = lowered(entry, global_names)
    made = _facts(kernel, ops)
    code = object_code(str(kernel.module), host())
    cache.put(key, (made.to_bytes(), code))
    return Program(entry, ops, made, code)


def _facts(kernel: Kernel, ops: Sequence[Op]) -> Facts:
    number = {op: position for position, op in enumerate(ops)}
    traps = [(number[site.op], site.message, site.evidence[0] if site.evidence else -1) for site in kernel.traps]
    return Facts(kernel.arena_size, kernel.pauses, [number[op] for op in kernel.prints], traps)
