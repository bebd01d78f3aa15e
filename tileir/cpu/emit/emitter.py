"""The LLVM function under construction: loops over tile shapes, arena buffers, functions that are shared.

The arena is one buffer per thread whose size is known when the kernel is compiled: buffers are given out at constant
offsets and handed back when the region they were made in is left.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from types import MappingProxyType
from typing import Any

from llvmlite import ir

from tileir.cpu.emit.algebra import Int, call_named
from tileir.cpu.emit.coroutines import Coroutine
from tileir.cpu.emit.elements import I1, I8, I32, I64, PTR, Num
from tileir.cpu.emit.exits import RARE, attend, field_of, wanted
from tileir.cpu.emit.record import (
    ABANDON,
    ABANDONED,
    CHANGES,
    EVIDENCE,
    EVIDENCE_PLACE,
    MOST_WORDS,
    SET_ASIDE,
    STATUS,
    WAITING,
    TrapKind,
    TrapSite,
)
from tileir.cpu.emit.vectorizability import BlockLoop, GuardedLoad
from tileir.cpu.emit.widening import widen
from tileir.cpu.llvm.engine import Host
from tileir.cpu.llvm.metadata import DebugLines
from tileir.cpu.llvm.printing import NativeFunction, NativeModule
from tileir.host import limits
from tileir.ir.core import Op

ARENA_ALIGNMENT = 64
STRIP = 1 << 14
"""Elements of a loop nest between two safepoints."""
SHORT_ROW = 8
"""Rows of fewer elements are gone through together."""

_NO_EVIDENCE: Mapping[int, ir.Value] = MappingProxyType({})

Index = tuple[ir.Value, ...]
Extent = Any
"""A number of iterations: an ``int``, or an i64 register (llvmlite is untyped)."""


@dataclass(frozen=True)
class CollectingCell:
    """A stack cell in which iterations of a loop nest collect an integer, in any order: the loop may run on vectors."""

    builder: ir.IRBuilder
    cell: ir.Value
    type: ir.Type

    def add(self, join: Callable[[Int, Int], Int], value: ir.Value) -> None:
        """Join a value to what has been collected so far."""
        self.builder.store(join(Int(self.builder, self.value), Int(self.builder, value)).value, self.cell)

    @property
    def value(self) -> ir.Value:
        """What has been collected, loaded where the builder stands."""
        return self.builder.load(self.cell, typ=self.type)


@dataclass
class Emitter:
    """`builder` stands where code goes next."""

    function: ir.Function
    builder: ir.IRBuilder
    arena: ir.Value
    exit: ir.Block
    status: ir.Value
    coroutine: Coroutine | None = None
    """Set if the kernel may wait for other tile blocks: it can be set aside, and counts what it changes."""
    arena_used: int = ARENA_ALIGNMENT
    arena_size: int = ARENA_ALIGNMENT
    traps: list[TrapSite] = field(default_factory=list)
    stops: dict[tuple[int, ...], tuple[ir.Block, Sequence[ir.Value]]] = field(default_factory=dict)
    """The blocks in which traps end, by the places of their evidence."""
    memo: dict[object, tuple[object, Num]] = field(default_factory=dict)
    """Elements computed at an index, valid where the builder stands; each entry keeps what its key names alive."""
    functions: dict[Hashable, ir.Function] = field(default_factory=dict)
    """The functions of `shared`."""
    _independent: set[int] | None = None
    """The accesses of the innermost loop nest that no other iteration depends on, by their identities."""
    guarded: dict[ir.Instruction, GuardedLoad] = field(default_factory=dict)
    """The loads that read an element of memory only where it may be read."""
    streamed: set[ir.Instruction] = field(default_factory=set)
    """The stores that bypass the cache where they become vectors, which are aligned."""
    ahead: dict[ir.Instruction, tuple[ir.Value, ...]] = field(default_factory=dict)
    """For loads and stores, the distances in bytes to memory that is prefetched with them."""
    _fetching: dict[tuple[ir.Value, ...], tuple[int, set[Index]]] = field(default_factory=dict)
    """The loop that prefetches memory at distances, and the elements with which it does so."""
    _rare: bool = False
    _compact: bool = False
    _loops: int = 0
    """Begun so far."""
    frame: ir.Value | None = None
    """The beginning of a function's buffers in the arena, an i64; None where the arena begins."""
    counts_changes: bool = False
    """True if changes by the tile block are counted, as others may wait for them."""
    lines: DebugLines | None = None
    """Set if the code is to say which operation each instruction comes from."""

    def __post_init__(self) -> None:
        self.counts_changes = self.coroutine is not None

    @property
    def module(self) -> NativeModule:
        return self.function.module

    @property
    def target(self) -> Host:
        """The processor that the code is for."""
        return self.module.target

    # ------------------------------------------------------------ arena

    def buffer(self, size: int) -> ir.Value:
        """Return arena space of `size` bytes, aligned for vectors, until the region around is left.

        Raises UnsupportedError if that is more than the memory of this machine.
        """
        offset = self.arena_used
        self.arena_used += -(-size // ARENA_ALIGNMENT) * ARENA_ALIGNMENT
        self.arena_size = max(self.arena_size, self.arena_used)
        if self.arena_size > limits.physical_memory():
            raise limits.no_memory(self.arena_size)
        return self.builder.gep(self.arena, [self._at(offset)], source_etype=I8)

    def free_place(self) -> ir.Value:
        """Return the place in the arena of the next buffer, an i64."""
        return self._at(self.arena_used)

    def _at(self, offset: int) -> ir.Value:
        return I64(offset) if self.frame is None else self.builder.add(self.frame, I64(offset))

    @contextmanager
    def region(self) -> Iterator[None]:
        """Free the buffers made inside at the end; remembered elements do not leave it."""
        used, memo = self.arena_used, self.memo
        self.memo = {}
        yield
        self.arena_used, self.memo = used, memo

    def stack(self, type: ir.Type, count: int = 1) -> ir.Value:
        """Return stack cells, made once per call of the function wherever the builder stands."""
        with self.builder.goto_entry_block():
            return self.builder.alloca(type, None if count == 1 else count)

    def collector(self, start: ir.Value) -> CollectingCell:
        """Return a stack cell that holds `start`, in which iterations collect."""
        cell = self.stack(start.type)
        self.builder.store(start, cell)
        return CollectingCell(self.builder, cell, start.type)

    def stack_bytes(self, size: int) -> ir.Value:
        """Return the address of `size` bytes on the stack, which LLVM may keep in registers."""
        with self.builder.goto_entry_block():
            memory = self.builder.alloca(ir.ArrayType(I8, size))
            memory.align = ARENA_ALIGNMENT
            # llvmlite takes a bitcast between pointers for none.
            return self.builder.inttoptr(self.builder.ptrtoint(memory, I64), PTR)

    # ------------------------------------------------------------ loops

    def loop_nest(self, shape: Sequence[Extent], body: Callable[[Index], None]) -> None:
        """Run `body` for every index of `shape`, last dimension fastest, in any order: iterations are independent.

        An extent is a number or an i64 register; every one is at least 1.
        """
        outer = len(shape) if self._rare or not self.target.has_masks else _outer(shape)
        with self.region(), self._parallel():
            if outer == len(shape):
                self._nest(list(shape), (), body)
                return
            inner = shape[outer:]

            def flat(index: Index) -> None:
                body((*index[:-1], *split(self.builder, index[-1], inner)))

            self._nest([*shape[:outer], prod(inner)], (), flat)

    @contextmanager
    def rarely(self) -> Iterator[None]:
        """Emit code that is hardly ever reached: its loop nests are not made for vectors."""
        outer, self._rare = self._rare, True
        yield
        self._rare = outer

    @contextmanager
    def compactly(self) -> Iterator[None]:
        """Emit loops that are hardly longer than a vector: those made for vectors have one body, in which some lanes
        count, if the processor has such, and they prefetch nothing."""
        outer, self._compact = self._compact, True
        yield
        self._compact = outer

    def _nest(self, rest: list[Extent], index: Index, body: Callable[[Index], None]) -> None:
        if not rest:
            body(index)
        elif rest[0] == 1:
            self._nest(rest[1:], (*index, I64(0)), body)
        else:
            with self._positions(rest[0], _elements(rest[1:])) as position:
                self._nest(rest[1:], (*index, position), body)

    @contextmanager
    def _positions(self, extent: Extent, inner: int | None) -> Iterator[ir.Value]:
        """Emit a loop of a nest, with safepoints if it is long; each iteration has `inner` elements.

        One whose length is in a register (`inner` may be None then) goes over one tile at most, which takes no time.
        """
        if not isinstance(extent, int) or inner is None or inner > STRIP or inner * extent <= STRIP:
            with self.counted(I64(0), as_register(extent), parallel=True) as position:
                yield position
            return
        strip, builder = max(1, STRIP // inner), self.builder
        with self.counted(I64(0), I64(-(-extent // strip)), parallel=True) as number:
            self.safepoint()
            if strip == 1:
                yield number
                return
            first = builder.mul(number, I64(strip), flags=("nuw", "nsw"))
            end: ir.Value = I64(strip)
            if extent % strip:  # a scan joins all blocks but the first
                rest = builder.sub(I64(extent), first)
                end = least(builder, rest, end)
            with self.counted(I64(0), end, parallel=True) as within:
                yield builder.add(first, within, flags=("nuw", "nsw"))

    @contextmanager
    def _parallel(self) -> Iterator[None]:
        outer, self._independent = self._independent, None if self._rare else set()
        yield
        self._independent = outer

    @contextmanager
    def counted(self, begin: ir.Value, end: ir.Value, step: int = 1, parallel: bool = False) -> Iterator[ir.Value]:
        """Emit a loop from `begin` while below `end`, which is known to run at least once.

        `parallel`: the accesses in it that are marked `independent` carry nothing between its iterations.
        """
        if _runs_once(begin, end, step):
            yield begin
            return
        builder = self.builder
        before = builder.block
        body = builder.append_basic_block("body")
        after = builder.append_basic_block("after")
        builder.branch(body)
        builder.position_at_end(body)
        position = builder.phi(I64)
        position.add_incoming(begin, before)
        number = self._loops = self._loops + 1
        outer, self.memo = self.memo, dict(self.memo)
        yield position
        self.memo = outer
        following = builder.add(position, I64(step), flags=("nuw", "nsw"))
        position.add_incoming(following, builder.block)
        builder.cbranch(builder.icmp_unsigned("<", following, end), body, after)
        is_innermost = number == self._loops and builder.block is body
        if parallel and self._independent is not None and is_innermost and step == 1:
            marked = self._independent, self.guarded, self.streamed, self.ahead
            loop = BlockLoop(before, body, after, position, begin, end, self._compact, *marked)
            widen(builder, loop, self.target)
        builder.position_at_end(after)

    def independent(self, access: ir.Instruction) -> ir.Instruction:
        """Mark a load or store as one that no other iteration of the loop nest around depends on."""
        if self._independent is not None:
            self._independent.add(id(access))
        return access

    def fetch_with(self, access: ir.Instruction, distances: tuple[ir.Value, ...]) -> None:
        """Prefetch memory at distances in bytes with a load or store."""
        if distances and not self._rare:
            self.ahead[access] = distances

    def fetch_once(self, load: ir.Instruction, distances: tuple[ir.Value, ...], index: Index) -> None:
        """Prefetch memory at distances with a load of the element at `index`, once, in the first loop that has such a
        load."""
        if not distances or self._rare or self._compact:
            return
        loop, fetched = self._fetching.setdefault(distances, (self._loops, set()))
        if loop == self._loops and index not in fetched:
            fetched.add(index)
            self.fetch_with(load, distances)

    @contextmanager
    def when(self, condition: ir.Value, likely: bool | None = None) -> Iterator[None]:
        """Emit code that runs only if `condition` holds; elements computed inside are not remembered outside."""
        with self.one_way(), self.builder.if_then(condition, likely=likely):
            yield

    @contextmanager
    def one_way(self) -> Iterator[None]:
        """Emit blocks that not all paths go through: elements computed inside are not remembered outside."""
        outer, self.memo = self.memo, dict(self.memo)
        yield
        self.memo = outer

    # ------------------------------------------------------------ traps

    def trap_if(self, condition: ir.Value, op: Op, message: str) -> None:
        """Stop the tile block and the launch when `condition` holds."""
        self.leave_if(condition, self.trap_sites(TrapSite(op, message)))

    def trap_at(self, condition: ir.Value, site: TrapSite, place: ir.Value) -> None:
        """Stop with a trap whose evidence lies at a place of the arena."""
        self.leave_if(condition, self.trap_sites(site), {EVIDENCE_PLACE: place})

    def trap_with(self, condition: ir.Value, op: Op, message: str, kind: TrapKind, words: Sequence[ir.Value]) -> None:
        """Stop as `trap_if` does; `words` are the evidence, all i64."""
        site = TrapSite(op, message, kind)
        if len(words) <= MOST_WORDS:
            evidence = {EVIDENCE + 8 * position: word for position, word in enumerate(words)}
            self.leave_if(condition, self.trap_sites(site), evidence)
            return
        place = self.free_place()
        buffer = self.buffer(8 * len(words))
        for position, word in enumerate(words):
            self.builder.store(word, self.builder.gep(buffer, [I64(8 * position)], source_etype=I8))
        self.trap_at(condition, site, place)

    def trap_sites(self, *sites: TrapSite) -> int:
        """Number sites for code that leaves with `leave_with`; gives the number of the first."""
        self.traps += sites
        return len(self.traps) - len(sites) + 1

    def leave_with(self, status: ir.Value) -> None:
        """Emit a return of `status` if it is not 0; whoever gave it has left the evidence."""
        self.leave_if(self.builder.icmp_unsigned("!=", status, I32(0)), status)

    def leave_if(
        self, condition: ir.Value, status: int | ir.Value, evidence: Mapping[int, ir.Value] = _NO_EVIDENCE
    ) -> None:
        """Emit a return of `status` when `condition` holds; leave words at places of the arena."""
        builder, here = self.builder, self.builder.block
        go_on = builder.append_basic_block("checked")
        stop, given = self._stop(tuple(evidence))
        builder.cbranch(condition, stop, go_on).set_weights(RARE)
        for word, value in zip(given, (I32(status) if isinstance(status, int) else status, *evidence.values())):
            word.add_incoming(value, here)
        builder.position_at_end(go_on)

    def _stop(self, places: tuple[int, ...]) -> tuple[ir.Block, Sequence[ir.Value]]:
        """Return the block that leaves words at those places of the arena, and its phis: the status, and the words."""
        if places not in self.stops:
            builder, here = self.builder, self.builder.block
            stop = builder.append_basic_block("trap")
            builder.position_at_end(stop)
            status, *words = builder.phi(I32), *(builder.phi(I64) for _ in places)
            for place, word in zip(places, words):
                builder.store(word, builder.gep(self.arena, [I64(place)], source_etype=I8))
            builder.store(status, self.status)
            builder.branch(self.exit)
            builder.position_at_end(here)
            self.stops[places] = stop, (status, *words)
        return self.stops[places]

    # ------------------------------------------------------------ safepoints, and changes that others wait for

    def safepoint(self) -> None:
        """Call the host if it wants that, and leave off if it says so."""
        builder = self.builder
        look, go_on = builder.append_basic_block("safepoint"), builder.append_basic_block("go_on")
        builder.cbranch(wanted(builder, self.arena), look, go_on).set_weights(RARE)
        builder.position_at_end(look)
        answer = builder.call(attend(self.module), [self.arena])
        self.leave_if(builder.icmp_unsigned("==", answer, I32(ABANDON)), ABANDONED)
        builder.branch(go_on)
        builder.position_at_end(go_on)

    def set_aside(self, loop: int) -> None:
        """Leave the tile block, which waits in the loop of that number, to go on with it later."""
        assert self.coroutine is not None
        builder = self.builder
        builder.store(I64(loop), field_of(builder, self.arena, WAITING))
        builder.store(I32(SET_ASIDE), field_of(builder, self.arena, STATUS))
        self.coroutine.suspend()

    def changed(self, condition: ir.Value | None = None) -> None:
        """Count a change, if `condition` holds, that others may wait for or that ends the waiting of this block."""
        if not self.counts_changes:
            return
        builder = self.builder
        place = field_of(builder, self.arena, CHANGES)
        more = I64(1) if condition is None else builder.zext(condition, I64)
        builder.store(builder.add(builder.load(place, typ=I64), more), place)

    # ------------------------------------------------------------ lines

    def describe(self, lines: DebugLines | None) -> None:
        """Have the instructions of this function say which lines they come from."""
        self.lines = lines
        if lines is not None:
            lines.begin(self.function)
            self.builder.debug_metadata = lines.start_of(self.function)

    @property
    def place(self) -> ir.DIValue | None:
        """The location that instructions get now."""
        found: ir.DIValue | None = self.builder.debug_metadata
        return found

    @contextmanager
    def at_place(self, place: ir.DIValue | None) -> Iterator[None]:
        """Attribute the instructions made inside to `place`; None leaves the place as it is."""
        outer = self.builder.debug_metadata
        self.builder.debug_metadata = place or outer
        yield
        self.builder.debug_metadata = outer

    # ------------------------------------------------------------ functions

    def shared(
        self, key: Hashable, arguments: Sequence[ir.Value], body: Callable[[Emitter, Sequence[ir.Value]], None]
    ) -> None:
        """Run `body`, which makes a function that all calls with an equal `key` share; one that is called once becomes
        a part of its caller. `body` is given an emitter for the function, which has no arena and no traps, and the
        function's arguments. Operations share no function where its instructions are to say whose they are.
        """
        key = key if self.lines is None else (key, id(self.place))
        function = self.functions.get(key)
        if function is None:
            types = [PTR if isinstance(argument.type, ir.PointerType) else argument.type for argument in arguments]
            function = self.functions[key] = self._function(types, body)
            function.attributes.add("alwaysinline")
        elif "alwaysinline" in function.attributes:
            function.attributes.remove("alwaysinline")
            function.attributes.add("noinline")
        self.builder.call(function, arguments)

    def _function(self, types: Sequence[ir.Type], body: Callable[[Emitter, Sequence[ir.Value]], None]) -> ir.Function:
        name = f"tileir.shared.{len(self.functions)}"
        function = NativeFunction(self.module, ir.FunctionType(ir.VoidType(), types), name)
        function.linkage = "internal"
        builder = ir.IRBuilder(function.append_basic_block("start"))
        nowhere = ir.Constant(PTR, None)
        inner = Emitter(function, builder, nowhere, function.entry_basic_block, nowhere, None, 0, 0)
        if self.lines is not None and self.place is not None:
            inner.lines, builder.debug_metadata = self.lines, self.lines.begin_shared(function, self.place)
        body(inner, function.args)
        assert not inner.arena_size and not inner.traps
        builder.ret_void()
        return function


def split(builder: ir.IRBuilder, linear: ir.Value, shape: Sequence[int]) -> Index:
    """Return the index of the element number `linear` in row-major order."""
    index, below = [], prod(shape)
    for extent in shape:
        below //= extent
        shifted = builder.lshr(linear, I64(below.bit_length() - 1))
        index.append(builder.and_(shifted, I64(extent - 1)) if extent > 1 else I64(0))
    return tuple(index)


def as_register(extent: Extent) -> ir.Value:
    return I64(extent) if isinstance(extent, int) else extent


def highest_index(builder: ir.IRBuilder, extent: Extent) -> ir.Value:
    """Return the extent minus one, an i64."""
    return I64(extent - 1) if isinstance(extent, int) else builder.sub(extent, I64(1))


def least(builder: ir.IRBuilder, one: ir.Value, other: ir.Value) -> ir.Value:
    """Return the lesser of two unsigned numbers."""
    return builder.select(builder.icmp_unsigned("<", one, other), one, other)


def at_least_one(builder: ir.IRBuilder, count: ir.Value) -> ir.Value:
    return builder.select(builder.icmp_unsigned("==", count, I64(0)), I64(1), count)


def as_i64(builder: ir.IRBuilder, number: ir.Value, signed: bool = False) -> ir.Value:
    """Return a number, read with or without a sign, as an i64."""
    if number.type == I64:
        return number
    return builder.sext(number, I64) if signed else builder.zext(number, I64)


def either(builder: ir.IRBuilder, type: ir.Type, *choices: tuple[ir.Value, ir.Block]) -> ir.Value:
    """Return the value that belongs to the block control came from; no choice where all are the same constant."""
    values = [value for value, _ in choices]
    if all(isinstance(value, ir.Constant) and value.constant == values[0].constant for value in values):
        return values[0]
    chosen = builder.phi(type)
    for value, block in choices:
        chosen.add_incoming(value, block)
    return chosen


def _runs_once(begin: ir.Value, end: ir.Value, step: int) -> bool:
    """Return whether a loop that runs at least once is known to run exactly once."""
    both = isinstance(begin, ir.Constant) and isinstance(end, ir.Constant)
    return bool(both and end.constant <= begin.constant + step)


def _outer(shape: Sequence[Extent]) -> int:
    """Return how many dimensions of a nest have loops of their own: not the last ones if rows are too short for a
    vector, which become one loop over the numbers of their elements."""
    outer = len(shape)
    while outer and _is_power_of_two(shape[outer - 1]) and prod(shape[outer - 1 :]) <= STRIP:
        outer -= 1
    rows = [extent for extent in shape[outer:] if extent != 1]
    return outer if len(rows) > 1 and rows[-1] < SHORT_ROW else len(shape)


def _is_power_of_two(extent: Extent) -> bool:
    return isinstance(extent, int) and extent.bit_count() == 1


def _elements(extents: Sequence[Extent]) -> int | None:
    """Return the number of elements of a nest, or None if it is only known at run time."""
    return prod(extents) if all(isinstance(extent, int) for extent in extents) else None


# ---------------------------------------------------------------- bytes of memory


def clear_bytes(builder: ir.IRBuilder, address: ir.Value, length: ir.Value) -> None:
    """Set bytes to 0."""
    call_named(builder, "llvm.memset.p0.i64", ir.VoidType(), [address, I8(0), length, I1(0)])
