"""A compiled entry: machine code, and what a launch needs beside it.

Facts are kept with the code in the cache, from which its operations are found again when one is asked for. What makes
code is imported only where code is made: a process that finds its code in the cache does not need it.
"""

from __future__ import annotations

import ctypes
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache as cached
from functools import cached_property
from typing import TYPE_CHECKING

from tileir.cache import Cache, key_of
from tileir.cpu.emit.record import (
    COLUMNS,
    DESTROY,
    DRIVER,
    JOINED_NAME,
    KERNEL_NAME,
    LIBRARY_FUNCTIONS,
    RESUME,
    CheckLevel,
    TrapKind,
    TrapSite,
)
from tileir.cpu.llvm.engine import Loaded, data_layout, host, is_large, object_code, toolchain
from tileir.cpu.llvm.object_files import CodeMap, code_map
from tileir.host.background import in_background
from tileir.host.stages import stage
from tileir.ir.core import Op, without_collection
from tileir.ops.module import Entry

# ---------------------------------------------------------------- the library of native code that kernels share


class LoadedLibrary:
    """The library in this process; `addresses` are those of the functions that kernels call, in order."""

    def __init__(self, code: bytes) -> None:
        self._loaded = Loaded(code, host(), (*LIBRARY_FUNCTIONS, DRIVER))
        self.addresses = tuple(self._loaded.addresses[name] for name in LIBRARY_FUNCTIONS)
        self.driver = self._loaded.addresses[DRIVER]


@cached
def loaded_library(cache: Cache) -> LoadedLibrary:
    """Return the library for this machine, from the cache if it is there; the compiler is imported only where it is
    not."""
    key = key_of(toolchain(), "library")
    found = cache.get(key)
    if found is not None:
        return LoadedLibrary(found[1])
    code = object_code(library_text(), host())
    cache.put(key, (b"", code))
    return LoadedLibrary(code)


def library_text() -> str:
    """Return the library in LLVM's language, for this machine. The emitter is imported only here."""
    from tileir.cpu.emit.driver import add_driver
    from tileir.cpu.memory.lookup import library

    module = library(host().triple, data_layout(host()))
    add_driver(module)
    return str(module)


# ---------------------------------------------------------------- programs


if TYPE_CHECKING:
    from tileir.cpu.lowering.functions import Instruments, LoweredKernel

DRIVER_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
RESUME_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
DESTROY_TYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@dataclass(frozen=True)
class Facts:
    """Facts kept with machine code: all that a launch needs and that would have to be lowered again to know.

    An operation is its number in the order in which `operations` lists them. A warning is the operation and the
    message; a trap site the operation, the message and the kind. Tile blocks are numbered in bands of so many
    `columns`; up to `most_joined` are run as one along `axis`, 0 if the code has no function for that. `drives`: the
    code has a driver of its own. `has_single`: it has the function for a single tile block, which is otherwise made
    when it is first needed.
    """

    arena_size: int
    prints: list[int]
    waiting: list[int]
    warnings: list[tuple[int, str]] = field(default_factory=list)
    traps: list[tuple[int, str, str]] = field(default_factory=list)
    columns: int = COLUMNS
    most_joined: int = 0
    axis: int = 0
    drives: bool = False
    has_single: bool = True

    @property
    def symbols(self) -> tuple[str, ...]:
        """The functions of the code that are called from outside."""
        single, joined = (KERNEL_NAME,) * self.has_single, (JOINED_NAME,) * bool(self.most_joined)
        return (*single, *joined, *(DRIVER,) * self.drives, *((RESUME, DESTROY) if self.waiting else ()))

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @staticmethod
    def from_bytes(data: bytes) -> Facts:
        return Facts(**json.loads(data))


Items = tuple[Entry, Sequence[Op]]
"""An entry, and the device functions of its module."""


@dataclass(frozen=True)
class NativeSource:
    """An entry that is to become code: its `name`, the globals in the order in which a launch gives their addresses,
    and a `digest` of all that the code depends on in the entry and the device functions.

    `items` makes the entry and the functions that are compiled, of the program as it is or, if it `rewrites` that, as
    it becomes; it is asked where there is no code yet, or an operation is to be named.
    """

    name: str
    digest: str
    global_names: tuple[str, ...]
    checks: CheckLevel
    items: Callable[[], Items]
    rewrites: bool = False


class NativeProgram:
    """Native code of one entry, ready to run.

    `waiting` are the loops in which its tile blocks may wait for each other and be set aside, `prints` the operations
    that the host carries out, `warnings` what it may warn of, all by the numbers that code has for them. `driver`,
    `resume` and `destroy` may be replaced by what calls them.
    """

    def __init__(self, source: NativeSource, facts: Facts, code: bytes, cache: Cache) -> None:
        self.name, self.arena_size, self.columns = source.name, facts.arena_size, facts.columns
        self._source, self._facts, self._code = source, facts, code
        self.waits = bool(facts.waiting)
        """True if its tile blocks may wait for each other."""
        self._library = loaded_library(cache)
        self._loaded = Loaded(code, host(), facts.symbols)
        self._cache, self._making = cache, threading.Lock()
        self._single = self._loaded if facts.has_single else None
        addresses = self._loaded.addresses
        functions = addresses.get(KERNEL_NAME, 0), addresses.get(JOINED_NAME, 0)
        self.code = (*self._library.addresses, *functions, facts.most_joined, facts.axis, facts.columns)
        """Its entries in the record of a launch (`cpu.emit.record`)."""
        self.driver = DRIVER_TYPE(addresses[DRIVER] if facts.drives else self._library.driver)
        if self.waits:
            self.resume = RESUME_TYPE(addresses[RESUME])
            self.destroy = DESTROY_TYPE(addresses[DESTROY])

    @property
    def driver_address(self) -> int:
        return ctypes.cast(self.driver, ctypes.c_void_p).value or 0

    @property
    def single(self) -> int:
        """The address of the function that runs a single tile block, which is made where it is not there yet, once:
        several threads may ask, and it runs as long as the program is alive."""
        with self._making:
            if self._single is None:
                self._single = Loaded(_single_code(self._source, self._cache), host(), (KERNEL_NAME,))
            return self._single.addresses[KERNEL_NAME]

    @cached_property
    def map(self) -> CodeMap:
        """The functions of the code, and its lines if it has any. Raises `NoLines`."""
        return code_map(self._code, KERNEL_NAME)

    @property
    def base(self) -> int:
        """The address of the first byte that `map` describes."""
        kernel = next(one for one in self.map.functions if one.name == KERNEL_NAME)
        return self._loaded.addresses[KERNEL_NAME] - kernel.begin

    @cached_property
    def waiting(self) -> list[Op]:
        return self._ops(self._facts.waiting)

    @cached_property
    def prints(self) -> list[Op]:
        return self._ops(self._facts.prints)

    @cached_property
    def traps(self) -> list[TrapSite]:
        ops = self._ops([number for number, _, _ in self._facts.traps])
        return [TrapSite(op, message, TrapKind(kind)) for op, (_, message, kind) in zip(ops, self._facts.traps)]

    @cached_property
    def warnings(self) -> list[tuple[Op, str]]:
        ops = self._ops([number for number, _ in self._facts.warnings])
        return [(op, message) for op, (_, message) in zip(ops, self._facts.warnings)]

    def _ops(self, numbers: Sequence[int]) -> list[Op]:
        """Return the operations of those numbers."""
        ops = operations(self._source.items()) if numbers else []
        return [ops[number] for number in numbers]


def operations(items: Items) -> list[Op]:
    """Return the operations that the code of an entry can come from, in program order."""
    entry, functions = items
    return [op for item in (entry, *functions) for op in item.walk()]


def lowered(
    entry: Entry,
    global_names: Sequence[str],
    checks: CheckLevel,
    instruments: Instruments | None = None,
    apart: bool = False,
) -> LoweredKernel:
    """Return the entry in LLVM's language; what runs several tile blocks as one may be `apart`.

    Raises UnsupportedError for what has no native code. The lowering is imported here, as a process that finds its
    code in the cache does not need it.
    """
    from tileir.cpu import plan
    from tileir.cpu.lowering.functions import PLAIN, lower_entry
    from tileir.cpu.rules import NATIVE_RULES

    used = instruments or PLAIN
    made = plan.plan_of(entry, checks, host(), used.watches_blocks)
    return lower_entry(entry, made, global_names, NATIVE_RULES, data_layout(host()), used, apart)


def compiled(source: NativeSource, cache: Cache, instruments: Instruments | None = None) -> NativeProgram:
    """Return the program of an entry: from the cache if it is there, else lowered and compiled for this machine.

    With instruments it is always compiled, and not kept: they have addresses of this process. Raises UnsupportedError
    for what has no native code.
    """
    key = _key(source)
    with stage("cache"):
        found = None if instruments else cache.get(key)
        if found is not None:
            facts, code = found
            return NativeProgram(source, Facts.from_bytes(facts), code, cache)
    made, text = _written(source, instruments)
    with stage("LLVM"):
        code = object_code(text, host()) if instruments else _kept_code(text, key, made.to_bytes(), cache)
    with stage("loading"):
        return NativeProgram(source, made, code, cache)


def _written(source: NativeSource, instruments: Instruments | None) -> tuple[Facts, str]:
    """Return the facts of an entry, and it in LLVM's language. Nothing else of the lowering lives longer: the first
    search for cycles finds it unused, and does not put it among what lives long."""
    with without_collection():
        with stage("optimiser"):
            items = source.items()
        with stage("lowering"):
            kernel = lowered(items[0], source.global_names, source.checks, instruments, apart=instruments is None)
            made, text = facts_of(kernel, operations(items)), str(kernel.joined or kernel.module)
            del kernel
    return made, text


def _single_code(source: NativeSource, cache: Cache) -> bytes:
    """Return the code of single tile blocks of an entry whose tile blocks run as one where they can."""
    key = key_of(_key(source), "single")
    found = cache.get(key)
    if found is not None:
        return found[1]
    with without_collection():
        text = str(lowered(source.items()[0], source.global_names, source.checks, apart=True).module)
    return _kept_code(text, key, b"", cache)


def _key(source: NativeSource) -> str:
    return key_of(toolchain(source.rewrites), source.checks.value, source.digest, *source.global_names)


def _kept_code(text: str, key: str, facts: bytes, cache: Cache) -> bytes:
    """Return the machine code of a module, which the cache holds from then on: an interrupt costs no finished work."""

    def kept() -> bytes:
        found = cache.get(key)
        if found is not None:
            return found[1]
        code = object_code(text, host())
        cache.put(key, (facts, code))
        return code

    return kept() if is_large(text) else in_background(kept)


def facts_of(kernel: LoweredKernel, ops: Sequence[Op]) -> Facts:
    """Return the facts of a lowered kernel that a launch needs; `ops` are those that `operations` lists."""
    number = {op: position for position, op in enumerate(ops)}
    traps = [(number[site.op], site.message, site.kind.value) for site in kernel.traps]
    prints, waiting = ([number[op] for op in listed] for listed in (kernel.prints, kernel.waiting))
    warnings = [(number[op], message) for op, message in kernel.warnings]
    plan, joined = kernel.plan, kernel.plan.coarsening
    most, axis = plan.most_joined, 0 if joined is None else joined.axis
    launches = plan.columns, most, axis, kernel.drives, kernel.joined is None
    return Facts(kernel.arena_size, prints, waiting, warnings, traps, *launches)
