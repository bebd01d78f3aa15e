"""Launches that CPython calls as machine code: the function, what it knows of this interpreter, and its callables.

Knows: how the function of `cpu.emit.direct_launch` is compiled once and kept like the library of kernels, whether this
interpreter and this NumPy lay objects out as it reads them, and how a built-in method is made of it with the C
interface of CPython. Does not know: what a plan says of arguments (`runtime.direct_rows`), nor how Python runs launches
(`cpu.run.execution`).

No compiled extension is needed, so that one wheel serves all systems. Where something is not as the function expects
(another implementation of Python, one without the interpreter's lock, objects laid out otherwise, no monotonic clock)
there are no direct launches, and all is left to Python.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import sysconfig
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache as cached
from typing import Any, TypeVar

import numpy as np

from tileir.cache import Cache, key_of
from tileir.cpu.emit.direct_record import (
    ARRAY_DATA,
    ARRAY_DTYPE,
    ARRAY_FLAGS,
    ARRAY_RANK,
    ARRAY_SHAPE,
    ARRAY_STRIDES,
    BYTES_PAYLOAD,
    CLOCK,
    ENTRY,
    FUNCTIONS,
    OBJECTS,
    PLAN,
    PLAN_OF_HOLDER,
    POP,
    PUSH,
    SEMAPHORES,
    SERVE,
    TABLE,
    TUPLE_ITEMS,
    TUPLE_SIZE,
    TYPE,
    WORD,
    WRITABLE,
)
from tileir.cpu.llvm.engine import Loaded, data_layout, host, object_code, toolchain
from tileir.cpu.run.arena import KEPT
from tileir.cpu.run.seats import Helper, Seat, Semaphores
from tileir.cpu.run.ticker import awake_word
from tileir.host import running
from tileir.host.planned import Planned

MOST_ROOM = 1 << 28
"""Bytes of an arena that is kept for direct launches: what needs more has more to do than to be launched. Products need
some 2^24, of which those of small matrices touch little."""
MOST_HELPERS = 255
"""Helpers that are made, however many threads a launch asks for."""
_LIST = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
_SERVE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
_FAST_CALL = 0x80 | 0x2
"""METH_FASTCALL | METH_KEYWORDS."""
_DLPACK_MAJOR = 1
SomeSeat = TypeVar("SomeSeat", bound=Seat)
DirectMethod = Callable[..., object]
"""``launch(grid, *arguments)``; gives NotImplemented, with nothing done, for what is not usual, unless that is for
another function."""


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class DirectLauncher:
    """The function in this process, its table, and the free arenas."""

    def __init__(self, code: bytes) -> None:
        self._loaded = Loaded(code, host(), (ENTRY, SERVE, PUSH, POP))
        self._push, self._pop = (_LIST(self._loaded.addresses[name]) for name in (PUSH, POP))
        self._table = (ctypes.c_int64 * len(TABLE))()
        self._objects = _objects()
        for name, value in {**_functions(), **{name: id(found) for name, found in self._objects.items()}}.items():
            self._set(name, value)
        self._set(CLOCK, _address(ctypes.CDLL(None).clock_gettime))
        self._set("awake", ctypes.addressof(awake_word()))
        self._semaphores = self._found_semaphores()
        self._seats: list[Seat] = []
        self._helpers: list[Helper] = []
        self._forgotten: list[Seat] = []
        """Those that a fork has found in use, perhaps by the thread that goes on."""
        self._definitions: dict[str, _MethodDef] = {}
        self._make = ctypes.pythonapi.PyCFunction_NewEx
        self._make.restype, self._make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)

    def _set(self, name: str, value: int) -> None:
        self._table[TABLE[name] // WORD] = value

    def _found_semaphores(self) -> Semaphores | None:
        """Those of the system; without them there are no helpers."""
        library = ctypes.CDLL(None)
        with suppress(AttributeError, OSError):
            found = Semaphores(library)
            for name in SEMAPHORES:
                self._set(name, _address(getattr(library, name)))
            return found
        return None

    @property
    def table(self) -> int:
        return ctypes.addressof(self._table)

    def method(
        self, holder: Planned, words: dict[str, int], rows: bytes, kept: Sequence[object], doc: str
    ) -> DirectMethod:
        """The built-in method `launch` of `holder`, with a plan of these words and rows; they refer to `kept`."""
        words = {**dict.fromkeys(PLAN, 0), **words, "table": self.table}
        plan = struct.pack(f"<{len(words)}q", *words.values()) + rows
        holder._plan = (plan, *kept, self)
        made: DirectMethod = self._make(ctypes.addressof(self._definition(doc)), holder, None)
        return made

    def _definition(self, doc: str) -> _MethodDef:
        """What CPython knows of a method with that documentation; it stays as long as the launcher."""
        if doc not in self._definitions:
            address = self._loaded.addresses[ENTRY]
            self._definitions[doc] = _MethodDef(b"launch", address, _FAST_CALL, doc.encode())
        return self._definitions[doc]

    # ------------------------------------------------------------ seats

    def provide(self, size: int, helpers: int = 0) -> None:
        """See to it that there are a free arena of that size and so many helpers, unless that is much."""
        if size > MOST_ROOM:
            return
        free = self._popped("seats", self._seats)
        if free is not None and free.arena.size >= size:
            self.back(free)
        else:
            if free is not None:
                self._drop(free)
            if len(self._seats) < KEPT:
                self._seats.append(Seat(size))
                self.back(self._seats[-1])
        if self._semaphores is not None and helpers <= MOST_HELPERS:
            self._provide_helpers(size, helpers)

    def _provide_helpers(self, size: int, count: int) -> None:
        """Keep so many free helpers, or make new ones for those that are missing or too small."""
        ready: list[Helper] = []
        while len(ready) < count:
            free = self._popped("helpers", self._helpers)
            if free is None:
                ready.append(self._new_helper(size))
            elif free.arena.size >= size:
                ready.append(free)
            else:
                self._helpers.remove(free)
                free.close()
        self.dismiss(ready)

    def _new_helper(self, size: int) -> Helper:
        assert self._semaphores is not None, "there are helpers"
        serve = _SERVE(self._loaded.addresses[SERVE])
        made = Helper(size, self._semaphores, lambda address: serve(self.table, address))
        self._helpers.append(made)
        return made

    def _popped(self, name: str, seats: Sequence[SomeSeat]) -> SomeSeat | None:
        """The first seat of a list, which leaves it."""
        address = self._pop(self.table + TABLE[name], 0)
        return next((seat for seat in seats if seat.address == address), None)

    def helpers_of(self, seat: Seat) -> list[Helper]:
        """The helpers that a launch on that seat has been given."""
        known, found = {helper.address: helper for helper in self._helpers}, []
        address = seat.word("helpers")
        for _ in range(seat.word("helped")):
            found.append(known[address])
            address = found[-1].word("next")
        return found

    def dismiss(self, helpers: Sequence[Helper]) -> None:
        """Let other launches have these helpers, but for those whose arena calls no more."""
        for helper in helpers:
            if helper.arena.usable:
                self._push(self.table + TABLE["helpers"], helper.address)
            elif helper in self._helpers:
                self._helpers.remove(helper)
                helper.close()

    def back(self, seat: Seat) -> None:
        """Let others use the seat; one whose arena calls no more is given up."""
        if seat.arena.usable:
            self._push(self.table + TABLE["seats"], seat.address)
        else:
            self._drop(seat)

    def _drop(self, seat: Seat) -> None:
        if seat in self._seats:
            self._seats.remove(seat)
        seat.arena.close()

    def forget_seats(self) -> None:
        """After a fork: what other threads of the parent launched is not at work here, nor does it end."""
        for name in ("seats", "helpers"):
            self._set(name, 0)
        self._forgotten += [*self._seats, *self._helpers]
        self._seats, self._helpers = [], []

    # ------------------------------------------------------------ tensors

    def notice_tensors(self) -> None:
        """Take tensors from now on if the program has imported torch, and that describes them for DLPack."""
        if "torch" not in sys.modules or self._table[TABLE["tensor"] // WORD]:
            return
        tensor = getattr(sys.modules["torch"], "Tensor", None)
        function = _to_dlpack(tensor)
        if function:
            self._objects["tensor"] = tensor
            self._set("to_dlpack", function)
            self._set("tensor", id(tensor))


def _objects() -> dict[str, object]:
    """The objects of the table; words in quotes are interned, as those in code are."""
    found: dict[str, object] = {
        kind.__name__: kind for kind in (int, float, tuple, np.ndarray, np.integer, np.floating)
    }
    found |= {"True": True, "False": False, "None": None, "NotImplemented": NotImplemented, "running": running.known()}
    found |= {name: sys.intern(name.strip("'")) for name in OBJECTS if name.startswith("'")}
    return found


def _functions() -> dict[str, int]:
    """Their addresses. Raises AttributeError for one that there is not."""
    return {name: _address(getattr(ctypes.pythonapi, name)) for name in FUNCTIONS}


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


class _ExchangeApi(ctypes.Structure):
    """DLPack's table of functions, version 1.2 and later (dlpack.h)."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        *((name, ctypes.c_void_p) for name in ("before", "allocate", "managed", "object")),
        ("to_dlpack", ctypes.c_void_p),
    )


def _to_dlpack(tensor: Any) -> int:
    """The function that describes a tensor of this class without keeping it; 0 if there is none."""
    capsule = getattr(tensor, "__dlpack_c_exchange_api__", None)
    if capsule is None or type(capsule).__name__ != "PyCapsule":
        return 0
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    try:
        found = _ExchangeApi.from_address(pointer(capsule, b"dlpack_exchange_api"))
    except ValueError:
        return 0
    return found.to_dlpack or 0 if found.major == _DLPACK_MAJOR else 0


# ---------------------------------------------------------------- whether there is one


@cached
def direct_launcher(cache: Cache) -> DirectLauncher | None:
    """The launcher of this process, from the cache or compiled for this machine; None where there is none."""
    if not _has_lock() or not hasattr(ctypes, "pythonapi"):
        return None
    with suppress(AttributeError, TypeError, OSError):
        if _is_laid_out_as_read():
            return _known(DirectLauncher(_code(cache)))
    return None


def _has_lock() -> bool:
    """Whether this is CPython on 64 bits with the interpreter's lock."""
    plain = not sysconfig.get_config_var("Py_GIL_DISABLED") and not hasattr(sys, "getobjects")
    return sys.implementation.name == "cpython" and plain and struct.calcsize("P") == WORD and os.name == "posix"


def _known(launcher: DirectLauncher) -> DirectLauncher:
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=launcher.forget_seats)
    return launcher


def _code(cache: Cache) -> bytes:
    """Machine code of the function; what makes it is imported where it is made."""
    key = key_of(toolchain(), "direct launch")
    found = cache.get(key)
    if found is not None:
        return found[1]
    code = object_code(text(), host())
    cache.put(key, (b"", code))
    return code


def text() -> str:
    """The function in LLVM's language, for this machine."""
    from llvmlite import ir

    from tileir.cpu.emit.direct_launch import add_direct_launch

    module = ir.Module("direct")
    module.triple, module.data_layout = host().triple, data_layout(host())
    add_direct_launch(module)
    return str(module)


def _is_laid_out_as_read() -> bool:
    """Whether objects have in memory what the function reads there, seen on some of each kind."""
    return _tuples_are() and all(map(_array_is, _samples()))


def _tuples_are() -> bool:
    given, payload, holder = (object(), object(), object()), bytes(range(16)), Planned()
    holder._plan = given
    return (
        _words(id(given) + TUPLE_SIZE, 4) == [3, *map(id, given)]
        and TUPLE_ITEMS == TUPLE_SIZE + WORD
        and ctypes.string_at(id(payload) + BYTES_PAYLOAD, 16) == payload
        and _words(id(holder) + PLAN_OF_HOLDER, 1) == [id(given)]
        and all(_words(id(value) + TYPE, 1) == [id(type(value))] for value in (given, 5, 0.5, holder, True))
    )


def _samples() -> list[np.ndarray]:
    read_only = np.arange(3, dtype=np.int8)
    read_only.flags.writeable = False
    wide = np.zeros((3, 4, 5), np.float32)
    return [wide, wide[1:, ::2], wide.T, np.zeros((), np.float64), read_only, np.zeros((0, 2), np.uint16)]


def _array_is(array: np.ndarray) -> bool:
    at: Callable[[int], int] = lambda place: _words(id(array) + place, 1)[0]  # noqa: E731
    rank, flags = (ctypes.c_int32.from_address(id(array) + place).value for place in (ARRAY_RANK, ARRAY_FLAGS))
    return (
        at(ARRAY_DATA) == array.__array_interface__["data"][0]
        and rank == array.ndim
        and _words(at(ARRAY_SHAPE), rank) == list(array.shape)
        and _words(at(ARRAY_STRIDES), rank) == list(array.strides)
        and at(ARRAY_DTYPE) == id(array.dtype)
        and bool(flags & WRITABLE) is array.flags.writeable
    )


def _words(address: int, count: int) -> list[int]:
    return list((ctypes.c_int64 * count).from_address(address)) if count else []
