"""The library of native functions for the rare accesses that no quick check proves harmless.

It is compiled once for all kernels (`cpu.run.program`); `cpu.memory.checks` decides when to call it.

All have the type ``i32 (ptr arguments, ptr arena, ptr facts, ptr words, i32 site)``. `arguments` are the slots of the
launch, `facts` what is known at compile time, `words` what is not, both i64:

    facts   0 BOUNDS_SLOT   1 BOUNDS_COUNT   2 END   3 SIZE   4 BITS   5 RANK, or how many lanes   6 ... extents
    words   0 OWN, the table of the block's allocations   1 how many   2 and 3 MEANT   then, by function:

    held    4 its address  5 -                      6 ... dimensions    1 if all elements of a box lie in one memory
    reach   4 -            5 the tensor's address   6 ... dimensions    `site` or `site + 1` (see below) or 0
    box     4 its address  5 the tensor's address   6 ... dimensions    likewise, or `site + 2`
    lanes   4 where the addresses are in the arena   5 where bytes that choose lanes are, 0 for all   `site` or 0

A dimension of a box is the first coordinate, the number of coordinates and the stride. The result is the number of the
trap site, with its evidence in the arena: a largest offset beyond 63 bits, an address beyond 64 bits, an element that
may not be accessed.

A table of memory is an array of entries of four i64: an address, the end of what may be read from there, the end of
what may be written, the end of all of it. END selects one of the first two, as the bytes from the beginning of an
entry. Where these are the address itself though there is more, the memory has gaps, and layouts say what belongs to it,
one after the other:

    0 ... 3 an entry, gaps included   4 LENGTH of a run   5 DIMS   6 ... extent and stride of each, in bytes

A layout is a run of bytes, repeated along each dimension. They come longest stride first, and each leads past all that
is repeated along those behind it, so that a byte is found by divisions. A word 0 follows the last layout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from llvmlite import ir

from tileir.cpu.emit.elements import I1, I8, I32, I64, PTR
from tileir.cpu.emit.record import ENTRY, EVIDENCE, LIBRARY_FUNCTIONS

WORDS = 3
"""Words of a dimension."""
ENDS = END, WRITABLE_END = 8, 16
HELD, REACH, BOX, LANES = LIBRARY_FUNCTIONS
FUNCTION = ir.FunctionType(I32, [PTR, PTR, PTR, PTR, I32])
MAX_OFFSET = (1 << 63) - 1
"""The largest element offset of a view (spec: undefined#catalogue)."""
FARTHEST = 1 << 60
"""Bytes that no memory has: a box of as many is not looked at further."""
I128 = ir.IntType(128)
_BOUNDS_SLOT, _BOUNDS_COUNT, _END, _SIZE, _BITS, _COUNT, _EXTENTS = range(7)
_OWN, _OWN_COUNT, _MEANT_BEGIN, _MEANT_END, _ADDRESS, _SECOND, _DIMENSIONS = range(7)
_LENGTH, _DIMS, _FIRST_DIM = range(ENTRY, ENTRY + 3)


def library(triple: str, layout: str) -> ir.Module:
    """Return the module of all functions of the library."""
    module = ir.Module("tileir.library")
    module.triple, module.data_layout = triple, layout
    for name, define in zip(LIBRARY_FUNCTIONS, (_define_held, _define_reach, _define_box, _define_lanes)):
        define(_LibraryFunction(ir.Function(module, FUNCTION, name)))
    return module


class _LibraryFunction:
    """A function of the library under construction, with its arguments."""

    def __init__(self, function: ir.Function) -> None:
        self.function, self.module = function, function.module
        self.builder = ir.IRBuilder(function.append_basic_block())
        self.arguments, self.arena, self.facts, self.words, self.site = function.args

    def fact(self, number: int | ir.Value) -> ir.Value:
        return self.load(self.facts, number)

    def word(self, number: int | ir.Value) -> ir.Value:
        return self.load(self.words, number)

    def load(self, place: ir.Value, number: int | ir.Value) -> ir.Value:
        return _word(self.builder, place, number)

    def holds(self, address: ir.Value, length: ir.Value, rank: ir.Value) -> ir.Value:
        """Emit a test of whether all elements of a box of `rank` dimensions, `length` bytes from first to last, lie in
        one memory of the launch or the tile block.
        """
        builder, end = self.builder, self.fact(_END)
        first, count = self.fact(_BOUNDS_SLOT), self.fact(_BOUNDS_COUNT)
        further = builder.add(first, builder.mul(count, I64(ENTRY)))
        tables = (
            (builder.ptrtoint(builder.gep(self.arguments, [first], source_etype=I64), I64), count),
            (self.load(self.arguments, builder.add(further, I64(1))), self.load(self.arguments, further)),
            (self.word(_OWN), self.word(_OWN_COUNT)),
        )
        layouts = builder.inttoptr(self.load(self.arguments, builder.add(further, I64(2))), PTR)
        with builder.goto_entry_block():
            found = builder.alloca(I1)
        builder.store(builder.call(_in_layouts(self.module), [layouts, self.facts, self.words, address, rank]), found)
        for table, entries in tables:
            with builder.if_then(builder.not_(builder.load(found, typ=I1))):
                place = builder.inttoptr(table, PTR)
                builder.store(builder.call(_in_table(self.module), [place, entries, end, address, length]), found)
        return builder.load(found, typ=I1)

    def aligned(self, address: ir.Value) -> ir.Value:
        loose = self.builder.and_(address, self.builder.sub(self.fact(_SIZE), I64(1)))
        return self.builder.icmp_unsigned("==", loose, I64(0))

    def bytes_of(self, elements: ir.Value) -> ir.Value:
        """Return the bytes that so many elements, an i128, take."""
        bits = self.builder.zext(self.fact(_BITS), I128)
        return self.builder.lshr(self.builder.mul(elements, bits), I128(3))

    def leave(self, number: int, evidence: Sequence[ir.Value]) -> None:
        """Emit a return of the trap site that is so many after the first."""
        for position, word in enumerate(evidence):
            self.builder.store(word, self.builder.gep(self.arena, [I64(EVIDENCE + 8 * position)], source_etype=I8))
        self.builder.ret(self.builder.add(self.site, I32(number)))

    def check_lane(self, lane: ir.Value, address: ir.Value, number: int) -> None:
        """Leave if the element at an address may not be accessed."""
        usable = self.builder.and_(self.aligned(address), self.holds(address, self.fact(_SIZE), I64(0)))
        with self.builder.if_then(self.builder.not_(usable)):
            self.leave(number, (lane, address, self.word(_MEANT_BEGIN), self.word(_MEANT_END)))

    @contextmanager
    def dimensions(self) -> Iterator[tuple[ir.Value, ...]]:
        """Emit a loop over the first coordinate, the count and the stride of each dimension, as i128."""
        with counted(self.builder, self.fact(_COUNT)) as dim:
            place = self.builder.add(I64(_DIMENSIONS), self.builder.mul(dim, I64(WORDS)))
            words = [self.word(self.builder.add(place, I64(number))) for number in range(WORDS)]
            yield tuple(self.builder.zext(word, I128) for word in words)

    def total(self, term: Callable[..., ir.Value]) -> ir.Value:
        """Return the sum of a term over all dimensions, as an i128."""
        sum_ = self.builder.alloca(I128)
        self.builder.store(I128(0), sum_)
        with self.dimensions() as dimension:
            self.builder.store(self.builder.add(self.builder.load(sum_, typ=I128), term(*dimension)), sum_)
        return self.builder.load(sum_, typ=I128)

    def largest_offset(self) -> ir.Value:
        """Return the largest element offset, as an i128; leaves if it is too large."""
        builder = self.builder
        last = self.total(lambda start, count, stride: _times(builder, builder.add(start, count), stride))
        with builder.if_then(builder.icmp_unsigned(">", last, I128(MAX_OFFSET))):
            self.leave(0, (builder.trunc(last, I64), builder.trunc(builder.lshr(last, I128(64)), I64)))
        return last

    def holds_box(self) -> ir.Value:
        """Emit a test of whether all elements of the box are aligned and lie in one memory."""
        builder, base = self.builder, self.word(_ADDRESS)
        span = self.bytes_of(self.total(lambda start, count, stride: _times(builder, count, stride)))
        near = builder.icmp_unsigned("<", span, I128(FARTHEST))
        length = builder.add(builder.trunc(span, I64), self.fact(_SIZE))
        held = self.holds(base, length, self.fact(_COUNT))
        return builder.and_(near, builder.and_(self.aligned(base), held))

    def check_reach(self, last: ir.Value) -> None:
        """Leave if the address of the element at the offset `last` is beyond 64 bits."""
        builder, tensor = self.builder, self.word(_SECOND)
        address = builder.add(builder.zext(tensor, I128), self.bytes_of(last))
        with builder.if_then(builder.icmp_unsigned("!=", builder.lshr(address, I128(64)), I128(0))):
            self.leave(1, (builder.trunc(last, I64), tensor))


def _word(builder: ir.IRBuilder, place: ir.Value, number: int | ir.Value) -> ir.Value:
    """Return the i64 at that position from a place on."""
    position = I64(number) if isinstance(number, int) else number
    return builder.load(builder.gep(place, [position], source_etype=I64), typ=I64)


def _times(builder: ir.IRBuilder, end: ir.Value, stride: ir.Value) -> ir.Value:
    """Return the offset of the last of some coordinates that end before `end`."""
    return builder.mul(builder.sub(end, I128(1)), stride)


def _define_held(made: _LibraryFunction) -> None:
    made.builder.ret(made.builder.zext(made.holds_box(), I32))


def _define_reach(made: _LibraryFunction) -> None:
    made.check_reach(made.largest_offset())
    made.builder.ret(I32(0))


def _define_box(made: _LibraryFunction) -> None:
    builder = made.builder
    with made.dimensions() as (_, count, _), builder.if_then(builder.icmp_unsigned("==", count, I128(0))):
        builder.ret(I32(0))
    made.check_reach(made.largest_offset())
    with builder.if_then(made.holds_box()):
        builder.ret(I32(0))
    _check_elements(made, made.word(_ADDRESS))
    builder.ret(I32(0))


def _check_elements(made: _LibraryFunction, base: ir.Value) -> None:
    """Check every element of a box in row-major order of its tile, except those outside the tensor."""
    builder, rank = made.builder, made.fact(_COUNT)
    lanes, rest, offset, inside = (builder.alloca(kind) for kind in (I64, I64, I64, I1))
    builder.store(I64(1), lanes)
    with counted(builder, rank) as dim:
        extent = made.fact(builder.add(dim, I64(_EXTENTS)))
        builder.store(builder.mul(builder.load(lanes, typ=I64), extent), lanes)
    with counted(builder, builder.load(lanes, typ=I64)) as lane:
        for cell, start in ((rest, lane), (offset, I64(0)), (inside, I1(1))):
            builder.store(start, cell)
        with counted(builder, rank) as behind:
            dim = builder.sub(builder.sub(rank, I64(1)), behind)
            _take_position(made, dim, rest, offset, inside)
        with builder.if_then(builder.load(inside, typ=I1)):
            distance = made.bytes_of(builder.zext(builder.load(offset, typ=I64), I128))
            made.check_lane(lane, builder.add(base, builder.trunc(distance, I64)), 2)


def _take_position(made: _LibraryFunction, dim: ir.Value, rest: ir.Value, offset: ir.Value, inside: ir.Value) -> None:
    """Split the position along a dimension off the rest, and add its offset."""
    builder = made.builder
    extent, place = made.fact(builder.add(dim, I64(_EXTENTS))), builder.mul(dim, I64(WORDS))
    count, stride = (made.word(builder.add(place, I64(_DIMENSIONS + number))) for number in (1, 2))
    left = builder.load(rest, typ=I64)
    position = builder.urem(left, extent)
    builder.store(builder.udiv(left, extent), rest)
    builder.store(builder.add(builder.load(offset, typ=I64), builder.mul(position, stride)), offset)
    below = builder.icmp_unsigned("<", position, count)
    builder.store(builder.and_(builder.load(inside, typ=I1), below), inside)


def _define_lanes(made: _LibraryFunction) -> None:
    builder = made.builder
    addresses, active = (builder.gep(made.arena, [made.word(word)], source_etype=I8) for word in (_ADDRESS, _SECOND))
    with builder.if_then(builder.icmp_unsigned("==", made.word(_SECOND), I64(0))):
        with counted(builder, made.fact(_COUNT)) as lane:
            made.check_lane(lane, made.load(addresses, lane), 0)
        builder.ret(I32(0))
    with counted(builder, made.fact(_COUNT)) as lane:
        chosen = builder.load(builder.gep(active, [lane], source_etype=I8), typ=I8)
        with builder.if_then(builder.icmp_unsigned("!=", chosen, I8(0))):
            made.check_lane(lane, made.load(addresses, lane), 0)
    builder.ret(I32(0))


def _in_table(module: ir.Module) -> ir.Function:
    """Make ``in_table(table, entries, end, address, length)``: whether the bytes lie in one entry."""
    function = declared(module, "tileir.in_table", I1, (PTR, I64, I64, I64, I64))
    if function.blocks:
        return function
    table, entries, end, address, length = function.args
    builder = ir.IRBuilder(function.append_basic_block())
    with counted(builder, entries) as entry:
        place = builder.gep(table, [builder.mul(entry, I64(8 * ENTRY))], source_etype=I8)
        begin = builder.load(place, typ=I64)
        limit = builder.load(builder.gep(place, [end], source_etype=I8), typ=I64)
        at, span = builder.sub(address, begin), builder.sub(limit, begin)
        starts = builder.icmp_unsigned("<=", at, span)
        ends = builder.icmp_unsigned("<=", length, builder.sub(span, at))
        with builder.if_then(builder.and_(starts, ends)):
            builder.ret(I1(1))
    builder.ret(I1(0))
    return function


def _in_layouts(module: ir.Module) -> ir.Function:
    """Make ``in_layouts(layouts, facts, words, address, rank)``: whether all elements of a box lie in one of the
    layouts."""
    function = declared(module, "tileir.in_layouts", I1, (PTR, PTR, PTR, I64, I64))
    if function.blocks:
        return function
    layouts, facts, words, address, rank = function.args
    builder = ir.IRBuilder(function.append_basic_block())
    end = _word(builder, facts, _END)
    head, body, after = (function.append_basic_block() for _ in range(3))
    before = builder.block
    builder.branch(head)
    builder.position_at_end(head)
    layout = builder.phi(PTR)
    layout.add_incoming(layouts, before)
    with builder.if_then(builder.icmp_unsigned("==", layout, PTR(None))):
        builder.ret(I1(0))
    begin = _word(builder, layout, 0)
    builder.cbranch(builder.icmp_unsigned("!=", begin, I64(0)), body, after)
    builder.position_at_end(body)
    limit = builder.load(builder.gep(layout, [end], source_etype=I8), typ=I64)
    offset = builder.sub(address, begin)
    near = builder.icmp_unsigned("<", offset, builder.sub(limit, begin))
    with builder.if_then(near), builder.if_then(builder.call(_in_layout(module), [layout, facts, words, offset, rank])):
        builder.ret(I1(1))
    behind = builder.add(builder.mul(_word(builder, layout, _DIMS), I64(2)), I64(_FIRST_DIM))
    layout.add_incoming(builder.gep(layout, [behind], source_etype=I64), builder.block)
    builder.branch(head)
    builder.position_at_end(after)
    builder.ret(I1(0))
    return function


def _in_layout(module: ir.Module) -> ir.Function:
    """Make ``in_layout(layout, facts, words, offset, rank)``: whether all elements of a box from an offset on lie in
    it.

    Steps along each dimension of the box are split into steps along each of the layout and a rest within a run: the box
    lies in it if the farthest of each do. Distances count bits, as two elements may share a byte.
    """
    function = declared(module, "tileir.in_layout", I1, (PTR, PTR, PTR, I64, I64))
    layout, facts, words, offset, rank = function.args
    builder = ir.IRBuilder(function.append_basic_block())
    dims, split = _word(builder, layout, _DIMS), _split(module)
    farthest = builder.alloca(I64, size=builder.add(dims, I64(1)))
    with counted(builder, builder.add(dims, I64(1))) as dim:
        builder.store(I64(0), builder.gep(farthest, [dim], source_etype=I64))
    builder.call(split, [layout, farthest, builder.mul(offset, I64(8)), I64(1)])
    with counted(builder, rank) as dim:
        place = builder.add(I64(_DIMENSIONS), builder.mul(dim, I64(WORDS)))
        count, stride = (_word(builder, words, builder.add(place, I64(number))) for number in (1, 2))
        step, times = builder.mul(stride, _word(builder, facts, _BITS)), builder.sub(count, I64(1))
        with builder.if_then(builder.icmp_unsigned("!=", times, I64(0))):
            builder.call(split, [layout, farthest, step, times])
    with counted(builder, dims) as dim:
        extent = _word(builder, layout, builder.add(builder.mul(dim, I64(2)), I64(_FIRST_DIM)))
        with builder.if_then(builder.icmp_unsigned(">=", _word(builder, farthest, dim), extent)):
            builder.ret(I1(0))
    last = builder.lshr(_word(builder, farthest, dims), I64(3))
    end = builder.add(last, _word(builder, facts, _SIZE))
    builder.ret(builder.icmp_unsigned("<=", end, _word(builder, layout, _LENGTH)))
    return function


def _split(module: ir.Module) -> ir.Function:
    """Make ``split(layout, farthest, step, times)``: add `times` steps of `step` along each dimension."""
    function = declared(module, "tileir.split", ir.VoidType(), (PTR, PTR, I64, I64))
    layout, farthest, step, times = function.args
    builder = ir.IRBuilder(function.append_basic_block())
    rest = builder.alloca(I64)
    builder.store(step, rest)

    def add(dim: ir.Value, steps: ir.Value) -> None:
        place = builder.gep(farthest, [dim], source_etype=I64)
        builder.store(builder.add(builder.load(place, typ=I64), builder.mul(steps, times)), place)

    dims = _word(builder, layout, _DIMS)
    with counted(builder, dims) as dim:
        stride = _word(builder, layout, builder.add(builder.mul(dim, I64(2)), I64(_FIRST_DIM + 1)))
        bits, left = builder.mul(stride, I64(8)), builder.load(rest, typ=I64)
        add(dim, builder.udiv(left, bits))
        builder.store(builder.urem(left, bits), rest)
    add(dims, builder.load(rest, typ=I64))
    builder.ret_void()
    return function


def declared(module: ir.Module, name: str, result: ir.Type, parameters: Sequence[ir.Type]) -> ir.Function:
    """Return the function of that name, made without a body if the module has none."""
    found = module.globals.get(name)
    if found is None:
        found = ir.Function(module, ir.FunctionType(result, parameters), name)
        found.linkage = "internal"
        found.attributes.add("noinline")
        found.attributes.add("cold")
    return found


@contextmanager
def counted(builder: ir.IRBuilder, count: ir.Value) -> Iterator[ir.Value]:
    """Emit a loop over the numbers below `count`, which may be 0."""
    before = builder.block
    head, body, after = (builder.append_basic_block() for _ in range(3))
    builder.branch(head)
    builder.position_at_end(head)
    position = builder.phi(I64)
    position.add_incoming(I64(0), before)
    builder.cbranch(builder.icmp_unsigned("<", position, count), body, after)
    builder.position_at_end(body)
    yield position
    position.add_incoming(builder.add(position, I64(1)), builder.block)
    builder.branch(head)
    builder.position_at_end(after)
