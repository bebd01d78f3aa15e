"""A compiled entry: machine code, and what a launch needs beside it.

Knows: how an entry becomes loaded code, which facts about it are kept with the code, and how its operations are found
again from these. Does not know: how tile blocks are run (`cpu.run.execution`), files (`tileir.cache`), arrays
(`runtime.native`).
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from tileir.cache import Cache, key_of
from tileir.cpu.emit.driver import DESTROY, RESUME
from tileir.cpu.emit.driver import NAME as DRIVER
from tileir.cpu.emit.emitter import TrapKind, TrapSite
from tileir.cpu.emit.record import NO_LIBRARY
from tileir.cpu.llvm.engine import Loaded, data_layout, host, object_code, toolchain
from tileir.cpu.lowering.entry import PLAIN, Instruments, LoweredKernel, lower_entry
from tileir.cpu.lowering.state import CheckLevel
from tileir.cpu.rules import NATIVE_RULES
from tileir.cpu.run.library import loaded_library
from tileir.host.background import in_background
from tileir.ir.bulk import without_collection
from tileir.ir.core import Op
from tileir.ops.module import Entry

DRIVER_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
RESUME_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
DESTROY_TYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@dataclass(frozen=True)
class Facts:
    """Facts kept with machine code: all that a launch needs and that would have to be lowered again to know.

    `asks`: the code calls functions of the library. An operation is its number in the order in which `operations` lists
    them. A warning is the operation and the message; a trap site the operation, the message and the kind.
    """

    arena_size: int
    asks: bool
    prints: list[int]
    waiting: list[int]
    warnings: list[tuple[int, str]] = field(default_factory=list)
    traps: list[tuple[int, str, str]] = field(default_factory=list)

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @staticmethod
    def from_bytes(data: bytes) -> Facts:
        return Facts(**json.loads(data))


class NativeProgram:
    """Native code of one entry, ready to run.

    `waiting` are the loops in which its tile blocks may wait for each other and be set aside, `prints` the operations
    that the host carries out, `warnings` what it may warn of, all by the numbers that code has for them.
    """

    def __init__(self, entry: Entry, ops: Sequence[Op], facts: Facts, code: bytes, cache: Cache) -> None:
        self.name: str = entry.sym_name
        self.arena_size = facts.arena_size
        self.prints = [ops[number] for number in facts.prints]
        self.traps = [TrapSite(ops[number], message, TrapKind(kind)) for number, message, kind in facts.traps]
        self.warnings = [(ops[number], message) for number, message in facts.warnings]
        self.waiting = [ops[number] for number in facts.waiting]
        self.library = loaded_library(cache).addresses if facts.asks else NO_LIBRARY
        self._loaded = Loaded(code, host())
        self.driver = DRIVER_TYPE(self._loaded.address(DRIVER))
        self.waits = bool(self.waiting)
        """Whether its tile blocks may wait for each other."""
        if self.waiting:
            self.resume = RESUME_TYPE(self._loaded.address(RESUME))
            self.destroy = DESTROY_TYPE(self._loaded.address(DESTROY))


def operations(entry: Entry, functions: Sequence[Op]) -> list[Op]:
    """The operations that the code of `entry` can come from, in program order."""
    return [op for item in (entry, *functions) for op in item.walk()]


def lowered(
    entry: Entry, global_names: Sequence[str], checks: CheckLevel, instruments: Instruments = PLAIN
) -> LoweredKernel:
    """The entry in LLVM's language. Raises UnsupportedError for what has no native code."""
    return lower_entry(entry, global_names, NATIVE_RULES, host().triple, data_layout(host()), checks, instruments)


def compiled(
    entry: Entry, functions: Sequence[Op], global_names: Sequence[str], text: str, cache: Cache, checks: CheckLevel
) -> NativeProgram:
    """The program of an entry: from the cache if it is there, else lowered and compiled for this machine.

    `functions` are the device functions of its module; `global_names` the globals, in the order in which a launch gives
    their addresses; `text` says all that the code depends on in the entry and the functions. Raises UnsupportedError
    for what has no native code.
    """
    ops = operations(entry, functions)
    key = key_of(toolchain(), checks.value, text, *global_names)
    found = cache.get(key)
    if found is not None:
        facts, code = found
        return NativeProgram(entry, ops, Facts.from_bytes(facts), code, cache)
    with without_collection():
        kernel = lowered(entry, global_names, checks)
        made = facts_of(kernel, ops)
        text = str(kernel.module)
    code = in_background(lambda: _kept_code(text, key, made, cache))
    return NativeProgram(entry, ops, made, code, cache)


def _kept_code(text: str, key: str, facts: Facts, cache: Cache) -> bytes:
    """Machine code of a module, which the cache holds from then on: an interrupt costs no work that has been done."""
    found = cache.get(key)
    if found is not None:
        return found[1]
    code = object_code(text, host())
    cache.put(key, (facts.to_bytes(), code))
    return code


def facts_of(kernel: LoweredKernel, ops: Sequence[Op]) -> Facts:
    """What a launch has to know of a lowered kernel; `ops` are those that `operations` lists."""
    number = {op: position for position, op in enumerate(ops)}
    traps = [(number[site.op], site.message, site.kind.value) for site in kernel.traps]
    prints, waiting = ([number[op] for op in listed] for listed in (kernel.prints, kernel.waiting))
    warnings = [(number[op], message) for op, message in kernel.warnings]
    return Facts(kernel.arena_size, kernel.asks, prints, waiting, warnings, traps)
