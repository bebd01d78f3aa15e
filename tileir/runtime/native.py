"""The target ``cpu``: native code on the memory of this process."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, cast
from weakref import WeakSet, ref

import numpy as np

from tileir.analysis.effects import MemoryAccess
from tileir.cache import shared_cache
from tileir.cpu.emit.record import ENTRY, CheckLevel
from tileir.cpu.run.execution import Launcher, ParameterWords, Runner
from tileir.cpu.run.launch import HostCall, Settings
from tileir.cpu.run.program import NativeProgram, NativeSource, compiled
from tileir.cpu.run.threads import default_threads
from tileir.host import extern
from tileir.host.address_space import AccessFault, AddressSpace, DescribedAccess
from tileir.host.allocation import Allocation, Runs
from tileir.host.limits import MAX_ITERATIONS
from tileir.host.printing import Output, formatter, write
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.diagnostics import Coordinates, UnsupportedError
from tileir.ir.digest import items_digest
from tileir.ir.escaping import shown
from tileir.ir.loc import FileLoc, SourceLoc, file_position
from tileir.ops.calls import Func, functions_of
from tileir.ops.extension import ExternElementwise
from tileir.ops.misc import PrintTko
from tileir.ops.module import Entry
from tileir.ops.views import MakeTensorView
from tileir.runtime.arguments import (
    INTEGERS,
    Argument,
    ArrayArgument,
    Bind,
    PointerArgument,
    ScalarArgument,
    lowest_and_mask,
    plain_dtypes,
)
from tileir.runtime.arrays import CPU, plain_types
from tileir.runtime.exact import exact_kernel
from tileir.runtime.grid import Grid, GridLike, checked_grid
from tileir.runtime.memory import GlobalStorage, give_memory
from tileir.runtime.module import DirectRun, Kernel, Run, Target, bind
from tileir.runtime.options import (
    Check,
    LaunchOptions,
    NativeOptions,
    check_level,
    checked,
    flag,
    optimizes,
)

if TYPE_CHECKING:
    from tileir.cpu.llvm.metadata import CodePlace
    from tileir.cpu.lowering.functions import Instruments
    from tileir.cpu.run.traps import FaultyAccess

_LEVELS = {False: CheckLevel.OFF, True: CheckLevel.ON, "strict": CheckLevel.STRICT}


class Native(Target):
    """Compiles kernels with LLVM; a launch checks memory accesses and promises unless it is told not to."""

    name = "cpu"
    description = "native code through LLVM; memory accesses are checked unless told otherwise"
    devices: tuple[str, ...] = (CPU,)
    gives_output = True

    def prepare(self, kernel: Kernel, check: Check, options: LaunchOptions) -> Run:
        """Prepare a launch; for the options see `options.NativeOptions`.

        For strict checks, which look for what rewrites leave out, a program is never rewritten.
        """
        checks, rewrites, described = (
            _LEVELS[check_level(check)],
            optimizes(options),
            flag("debug_info", options.get("debug_info")),
        )

        def launches() -> NativeLaunches:
            made = described_program(kernel, checks) if described else program_of(kernel, checks, rewrites)
            return NativeLaunches(kernel, made)

        prepared = kernel.memo(("cpu", checks, rewrites, described), launches)
        settings = prepared.settings(options) if options else prepared.usual
        return prepared.runs(settings, lambda values: bind(kernel, values, self))


class NativeLaunches:
    """Launches of a compiled kernel; `usual` are the settings of those without options."""

    def __init__(self, kernel: Kernel, program: NativeProgram) -> None:
        self.kernel, self.program = kernel, program
        globals = len(kernel.module.globals.placed)
        memories = globals + sum(parameter.pointee is not None for parameter in kernel.parameters)
        self.runner = Runner(self.program, len(kernel.parameters) + globals + ENTRY * memories + 3)
        self.usual = self.settings({})

    def settings(self, options: LaunchOptions) -> Settings:
        given = checked(options, NativeOptions, Native.name)
        return Settings(
            given.get("threads") or default_threads(),
            _host(given.get("output")),
            given.get("max_iterations", MAX_ITERATIONS),
            self.kernel.module.source,
            given.get("timeout"),
            given.get("progress"),
        )

    def runs(self, settings: Settings, bind: Bind | None = None) -> NativeRun:
        """Return what launches with these settings: directly where it can, if there is a `bind` for other values."""
        return NativeRun(self, settings, bind)


def _never(grid: GridLike, values: Sequence[object]) -> bool:
    return False


class NativeRun(DirectRun):
    """Launches a kernel with settings."""

    def __init__(self, launches: NativeLaunches, settings: Settings, bind: Bind | None, pointers: bytes = b"p") -> None:
        if settings.timeout is not None or settings.progress is not None:
            bind = None  # each launch begins by itself
        self._launches, self._settings, self._bind, self._pointers = launches, settings, bind, pointers
        self._storage = launches.kernel.module.globals
        self._made_for: tuple[object, ...] = ()
        self.direct = _never

    def in_storages(self, bind: Bind) -> NativeRun:
        """Return a run whose `direct` lends the whole storage of each tensor, as `bind` does."""
        return NativeRun(self._launches, self._settings, bind, pointers=b"s")

    def __call__(self, grid: Grid, arguments: Sequence[Argument]) -> None:
        if self.direct(grid, tuple(arguments)):
            return
        if self._launches.program.prints:
            _require_registered(self._launches.program)
        given = NativeArguments(arguments, self._storage)
        self._launches.runner.run(grid, given.slots, self._settings, given)
        libraries = plain_types()
        if self._bind is not None and libraries != self._made_for:
            self._made_for = libraries
            self.direct = self._launcher(self._bind, libraries) or _never
            _direct_runs.add(self)

    def forget(self) -> None:
        """Have `direct` made again: after a fork, and after a launch that did not end well."""
        self.direct, self._made_for = _never, ()

    def _launcher(self, bind: Bind, libraries: tuple[object, object, object]) -> Launcher | None:
        kernel, storage = self._launches.kernel, self._storage
        words = _parameter_words(kernel, len(storage.addresses), self._pointers)
        mine = ref(self)  # which holds the launcher

        def memory(grid: object, values: tuple[object, ...]) -> tuple[Grid, NativeArguments]:
            run = mine()
            if run is not None:
                run.forget()
            bound = [value for value in values if isinstance(value, _BOUND)]
            arguments = bound if len(bound) == len(values) else bind(values)
            return checked_grid(cast(GridLike, grid), kernel.name), NativeArguments(arguments, storage)

        bounds = [0] * (ENTRY * sum(kind == self._pointers for kind, *_ in words))
        slots = _slots([0] * len(words), storage, bounds)
        return self._launches.runner.launcher(words, (*libraries, frozenset(_BOUND)), slots, self._settings, memory)


_BOUND = ArrayArgument, PointerArgument, ScalarArgument
_direct_runs: WeakSet[NativeRun] = WeakSet()


def _forget_all() -> None:
    for run in _direct_runs:
        run.forget()


if hasattr(os, "register_at_fork"):
    # A child has none of the threads and arenas that its parent has.
    os.register_at_fork(after_in_child=_forget_all)


def _parameter_words(kernel: Kernel, globals: int, pointers: bytes) -> list[ParameterWords]:
    """Describe the parameters for a launcher, which takes `pointers` of this kind."""
    words: list[ParameterWords] = []
    bounds = len(kernel.parameters) + globals
    for parameter in kernel.parameters:
        if parameter.pointee is not None:
            words.append((pointers, bounds, 0, 0, plain_dtypes(parameter.pointee)))
            bounds += ENTRY
        elif parameter.element in INTEGERS:
            words.append((b"i", 0, *lowest_and_mask(parameter.element), set()))
        else:
            words.append((b"f" if parameter.element is t.F32 else b"x", 0, 0, 0, set()))
    return words


def _host(output: Output) -> HostCall:
    """Services of the host for native code: printing to `output`, the functions that `tileir.register_extern` names."""

    def call(op: Op, tiles: list[np.ndarray]) -> np.ndarray | None:
        if isinstance(op, ExternElementwise):
            elements = [value.type.element for value in op.args]
            return extern.apply(op.symbol, tuple(tiles), elements, op.result.type.element)
        assert isinstance(op, PrintTko)
        text, _ = formatter(op.text, [value.type.element for value in op.args])
        write(output, text(tiles))
        return None

    return call


def _require_registered(program: NativeProgram) -> None:
    """Raise UnsupportedError for a function of the host that nobody has registered."""
    for op in program.prints:
        if isinstance(op, ExternElementwise) and not extern.is_registered(op.symbol):
            what = f"'{op.spec.name}': no host function is registered as '{shown(op.symbol)}'"
            raise UnsupportedError(what, Native.name, op.loc)


# ---------------------------------------------------------------- arguments and memory


class NativeArguments:
    """Arguments of a launch for native code.

    `slots` are the low 8 bytes of each argument, the address of each global, and the bounds of all memory.
    """

    __slots__ = ("_arguments", "_further", "_layouts", "_storage", "slots")

    def __init__(self, arguments: Sequence[Argument], storage: GlobalStorage) -> None:
        self._arguments, self._storage = arguments, storage
        table: list[int] = []
        further: list[int] = []
        spaced: list[ArrayArgument] = []
        for argument in arguments:
            if argument.bounds:
                table += argument.bounds
                if argument.bounds[1] != argument.bounds[3]:
                    spaced.append(cast(ArrayArgument, argument))
                for lent in argument.reaches:
                    further += lent.bounds
                    if lent.bounds[1] != lent.bounds[3]:
                        spaced.append(lent)
        self._further = _words(further)
        self._layouts = _words([*chain(*map(_layouts, spaced)), 0]) if spaced else None
        others = len(further) // ENTRY, _address(self._further), _address(self._layouts)
        self.slots = _slots([argument.bits for argument in arguments], storage, table, others)

    def access_fault(self, access: FaultyAccess) -> AccessFault:
        """The fault of the access, in the words that serve all targets."""
        return self._space(access.meant, access.block).fault_at(access.address, *_described(access))

    def overclaim(self, op: MakeTensorView, address: int, size: int, begin: int, end: int) -> AccessFault | None:
        """Return the fault of a view that claims too much, in the words that all targets use."""
        return self._space((begin, end)).overclaim(address, size, op.result.type.element)

    def _space(self, meant: tuple[int, int] | None, block: Coordinates | None = None) -> AddressSpace:
        """The memory of the launch, and that of an `alloca` of a tile block that was meant."""
        space = AddressSpace()
        give_memory(space, self._arguments, self._storage)
        if meant is not None and space.find(meant[0]) is None:
            begin, end = meant
            space.add(Allocation("alloca", begin, (Runs(0, end - begin),), owner=block))
        return space


def _slots(
    bits: Sequence[int], storage: GlobalStorage, table: Sequence[int], others: tuple[int, int, int] = (0, 0, 0)
) -> tuple[int, ...]:
    """Return the slots of a record: arguments, globals, the bounds of both, where further bounds and layouts are."""
    return (*bits, *storage.addresses.values(), *table, *storage.bounds, *others)


def _address(words: ctypes.Array[ctypes.c_uint64] | None) -> int:
    return 0 if words is None else ctypes.addressof(words)


def _words(numbers: Sequence[int]) -> ctypes.Array[ctypes.c_uint64] | None:
    return (ctypes.c_uint64 * len(numbers))(*numbers) if numbers else None


def _layouts(argument: ArrayArgument) -> Iterator[int]:
    """The words of the layouts of an array with gaps (`cpu.memory.lookup`)."""
    array = argument.array
    for run in array.runs:
        begin, end = array.address + run.start, array.address + run.end
        yield from (begin, end, end if array.writable else begin, end, run.length, len(run.extents))
        for dimension in zip(reversed(run.extents), reversed(run.strides)):
            yield from dimension


def _described(access: FaultyAccess) -> tuple[DescribedAccess, tuple[int, ...]]:
    """The access in the words of a message, and the index of the tile element."""
    made = MemoryAccess.of(access.op)
    through = made.address.type
    if isinstance(through, t.TileType):
        element, shape = t.checked_cast(through.element, t.PointerType).pointee, through.shape
    else:
        moved = made.result if made.value is None else made.value
        assert moved is not None
        element, shape = moved.tile.number, moved.tile.shape
    verb = "update" if made.updates else "store" if made.writes else "load"
    index = tuple(int(at) for at in np.unravel_index(access.lane, shape)) if shape else ()
    return DescribedAccess(element, access.block, verb), index


# ---------------------------------------------------------------- programs


def source_of(kernel: Kernel, checks: CheckLevel, rewrites: bool) -> NativeSource:
    """The source of the code of a kernel, which is rewritten exactly if `rewrites` is set."""

    def items() -> tuple[Entry, list[Func]]:
        made = exact_kernel(kernel, native=True) if rewrites else kernel
        return made.entry, functions_of(made.module)

    digest = items_digest([kernel.entry, *functions_of(kernel.module)])
    return NativeSource(kernel.name, digest, tuple(kernel.module.globals.addresses), checks, items, rewrites)


def program_of(
    kernel: Kernel,
    checks: CheckLevel = CheckLevel.ON,
    rewrites: bool = True,
    instruments: Instruments | None = None,
) -> NativeProgram:
    """The compiled kernel, from the cache if it is there. Raises UnsupportedError for what has no native code.

    If it `rewrites`, it is rewritten exactly before, but for strict checks, which look for what rewrites leave out, and
    for instruments, which are told of the operations as they are.
    """
    rewrites = rewrites and checks is not CheckLevel.STRICT and instruments is None
    return compiled(source_of(kernel, checks, rewrites), shared_cache(), instruments)


def described_program(kernel: Kernel, checks: CheckLevel = CheckLevel.ON) -> NativeProgram:
    """The compiled kernel, whose lines debuggers and `perf` know. Raises UnsupportedError where they cannot.

    LLVM's loader tells GDB of the code by itself.
    """
    from tileir.cpu.llvm.object_files import NoLines
    from tileir.cpu.lowering.functions import Instruments
    from tileir.cpu.run.profiling import write_names

    source = kernel.module.source
    file = _path(source.name) if source is not None else f"{kernel.name}.tileirbc"
    program = program_of(kernel, checks, instruments=Instruments(_place_of, file))
    try:
        write_names(kernel.name, program.map, program.base)
    except NoLines as error:
        raise UnsupportedError(f"debug_info: {error}", "cpu") from None
    return program


def _place_of(op: Op) -> CodePlace | None:
    """The place of an operation in its file: the Python file, for what was made of one."""
    from tileir.cpu.llvm.metadata import CodePlace

    place = file_position(op.loc)
    if isinstance(place, SourceLoc):
        return CodePlace(_path(place.source.name), *place.source.position(place.offset))
    return CodePlace(_path(place.file), place.line, place.column) if isinstance(place, FileLoc) else None


@cache
def _path(name: str) -> str:
    """The name of a file, such that a debugger finds it from anywhere."""
    return os.path.abspath(name) if os.path.exists(name) else name
