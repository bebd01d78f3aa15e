"""Vectors: made of one number, interleaved, transposed as a square, with lanes masked off, as bf16."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from llvmlite import ir

from tileir.cpu.emit.algebra import call_intrinsic, call_named, type_suffix
from tileir.cpu.emit.elements import FLOAT, I1, I16, I32, BFloat, Splat, all_like, encode
from tileir.cpu.emit.vectorizability import WideFunction
from tileir.ir import types as t
from tileir.ir.formats import FloatFormat

CACHE_LINE = 64
"""Bytes of a line of the cache."""
_SECOND_LEVEL, _DATA = 2, 1
"""The cache to fetch into, and what is fetched, as ``llvm.prefetch`` counts."""


def prefetch(builder: ir.IRBuilder, address: ir.Value) -> None:
    """Prefetch the cache line at an address, which need not be memory."""
    call_named(builder, "llvm.prefetch.p0", ir.VoidType(), [address, I32(0), I32(_SECOND_LEVEL), I32(_DATA)])


def broadcast(builder: ir.IRBuilder, number: ir.Value, lanes: int) -> ir.Value:
    """Return a vector whose lanes all hold `number`."""
    undefined = Splat(ir.Constant(number.type, ir.Undefined), lanes)
    single = builder.insert_element(undefined, number, I32(0))
    return builder.shuffle_vector(single, undefined, Splat(I32(0), lanes))


def interleaved(builder: ir.IRBuilder, rows: Sequence[ir.Value]) -> ir.Value:
    """Return element 0 of every row, then element 1 of every row, and so on; a power of two of rows."""
    if len(rows) == 1:
        return rows[0]
    even, odd = interleaved(builder, rows[::2]), interleaved(builder, rows[1::2])
    count = even.type.count
    order = [place for pair in zip(range(count), range(count, 2 * count)) for place in pair]
    return builder.shuffle_vector(even, odd, ir.Constant(ir.VectorType(I32, 2 * count), order))


def transposed(builder: ir.IRBuilder, rows: Sequence[ir.Value]) -> list[ir.Value]:
    """Return the columns of a square of vectors, by swapping halves of ever larger blocks across the diagonal."""
    size = len(rows)
    found = list(rows)
    distance = 1
    while distance < size:
        masks = swaps(size, distance)
        for i in range(size):
            if not i & distance:
                pair = found[i], found[i + distance]
                found[i], found[i + distance] = (builder.shuffle_vector(*pair, mask) for mask in masks)
        distance *= 2
    return found


def swaps(size: int, distance: int) -> list[ir.Constant]:
    """Return the shuffles of two vectors that swap blocks of `distance` elements across the diagonal."""
    low = [c - distance + size if c & distance else c for c in range(size)]
    high = [c + size if c & distance else c + distance for c in range(size)]
    return [ir.Constant(ir.VectorType(I32, size), order) for order in (low, high)]


# ---------------------------------------------------------------- masks


def lanes_below(builder: ir.IRBuilder, count: ir.Value, lanes: int) -> ir.Value:
    """Return the mask of as many lanes, from the first one on, as `count`, an i64, says; it may be negative or too
    many."""
    counts = broadcast(builder, builder.trunc(count, I32), lanes)
    return builder.icmp_signed("<", ir.Constant(counts.type, list(range(lanes))), counts)


def load_masked(
    builder: ir.IRBuilder,
    address: ir.Value,
    mask: ir.Value,
    vector: ir.VectorType,
    align: int,
    outside: ir.Constant | None = None,
) -> ir.Value:
    """Return elements where the mask is 1, and `outside` or zeros elsewhere, where nothing is read."""
    name, number = f"llvm.masked.load.{type_suffix(vector)}.p0", outside or ir.Constant(vector.element, None)
    return call_named(builder, name, vector, [address, I32(align), mask, Splat(number, vector.count)])


def gather_masked(
    builder: ir.IRBuilder,
    addresses: ir.Value,
    mask: ir.Value,
    vector: ir.VectorType,
    align: int,
    outside: ir.Constant | None = None,
) -> ir.Value:
    """Load a vector likewise, from one address per lane."""
    name = f"llvm.masked.gather.{type_suffix(vector)}.v{vector.count}p0"
    elsewhere = Splat(outside or ir.Constant(vector.element, None), vector.count)
    return call_named(builder, name, vector, [addresses, I32(align), mask, elsewhere])


def scatter_masked(builder: ir.IRBuilder, value: ir.Value, addresses: ir.Value, mask: ir.Value, align: int) -> ir.Value:
    """Write elements to an address for each lane, where the mask is 1, the first lane first."""
    name = f"llvm.masked.scatter.{type_suffix(value.type)}.v{value.type.count}p0"
    return call_named(builder, name, ir.VoidType(), [value, addresses, I32(align), mask])


def store_masked(builder: ir.IRBuilder, value: ir.Value, address: ir.Value, mask: ir.Value, align: int) -> ir.Value:
    """Write the elements where the mask is 1."""
    name = f"llvm.masked.store.{type_suffix(value.type)}.p0"
    return call_named(builder, name, ir.VoidType(), [value, address, I32(align), mask])


# ---------------------------------------------------------------- f32 as bf16


_ROUNDED, _BF16_LANES = "round.bf16", 16
_NAN_OR_SUBNORMAL = 0x01 | 0x20 | 0x80


def rounded_to_bf16(builder: ir.IRBuilder, number: ir.Value) -> ir.Value:
    """Return the pattern of bf16 nearest to an f32; loops on vectors round by an instruction for it."""
    function = builder.module.globals.get(_ROUNDED)
    if function is None:
        function = WideFunction(builder.module, ir.FunctionType(I16, [FLOAT]), _ROUNDED, _vectors_rounded_to_bf16)
        inside = _begun(function)
        inside.ret(encode(inside, t.BF16, function.args[0]))
    return builder.call(function, [number])


def _vectors_rounded_to_bf16(scalar: ir.Function, lanes: int) -> ir.Function:
    """Return a function of vectors. The instruction reads subnormal numbers as zero and keeps bits of a NaN, so vectors
    with one of those are rounded by arithmetic."""
    numbers, patterns = ir.VectorType(FLOAT, lanes), ir.VectorType(I16, lanes)
    function = ir.Function(scalar.module, ir.FunctionType(patterns, [numbers]), f"{scalar.name}.{lanes}")
    builder, (number,) = _begun(function), function.args
    if lanes not in (_BF16_LANES, 2 * _BF16_LANES):
        builder.ret(encode(builder, t.BF16, number))
        return function
    firsts = range(0, lanes, _BF16_LANES)
    parts = [_lanes(builder, number, number, range(first, first + _BF16_LANES)) for first in firsts]
    flags, vector = ir.VectorType(I1, _BF16_LANES), ir.VectorType(BFloat(), _BF16_LANES)
    classes, rounding = "llvm.x86.avx512.fpclass.ps.512", "llvm.x86.avx512bf16.cvtneps2bf16.512"
    special = [call_named(builder, classes, flags, [part, I32(_NAN_OR_SUBNORMAL)]) for part in parts]
    any_special = call_intrinsic(builder, "llvm.vector.reduce.or", I1, [reduce(builder.or_, special)])
    with builder.if_then(any_special, likely=False):
        builder.ret(encode(builder, t.BF16, number))
    found = [call_named(builder, rounding, vector, [part]) for part in parts]
    builder.ret(builder.bitcast(_lanes(builder, found[0], found[-1], range(lanes)), patterns))
    return function


def _begun(function: ir.Function) -> ir.IRBuilder:
    function.linkage = "internal"
    function.attributes.add("alwaysinline")
    return ir.IRBuilder(function.append_basic_block())


def _lanes(builder: ir.IRBuilder, left: ir.Value, right: ir.Value, numbers: range) -> ir.Value:
    """Return chosen lanes of two vectors, numbered through."""
    places = ir.Constant(ir.VectorType(I32, len(numbers)), list(numbers))
    return builder.shuffle_vector(left, right, places)


# ---------------------------------------------------------------- f8 as bf16


BF16_BIAS, BF16_FRACTION = 127, 7
BF16_NAN = 0x7FC0
LOOKED_UP = 32
"""Entries of a table, as many as a vector has."""


def f8_as_bf16(builder: ir.IRBuilder, element: t.ElementType, loaded: ir.Value) -> ir.Value:
    """Return a vector of patterns of bf16, of at most 32 patterns of an f8 format; a NaN gives one."""
    layout, count = element.layout, loaded.type.count
    words = builder.zext(loaded, ir.VectorType(I16, count))
    magnitude = builder.and_(words, all_like(0x7F, words))
    shift = BF16_FRACTION - layout.fraction
    moved = builder.shl(magnitude, all_like(shift, words))
    normal = builder.add(moved, all_like((BF16_BIAS - layout.bias) << BF16_FRACTION, words))
    is_small = builder.icmp_unsigned("<", magnitude, all_like(1 << layout.fraction, words))
    found = builder.select(is_small, _looked_up(builder, _subnormal_numbers(layout), magnitude), normal)
    if element is t.F8E5M2:
        special, kept = 0x7C, builder.or_(moved, all_like(0x7F80, words))
    else:
        special, kept = 0x7F, all_like(BF16_NAN, words)
    found = builder.select(builder.icmp_unsigned(">=", magnitude, all_like(special, words)), kept, found)
    sign = builder.shl(builder.and_(words, all_like(0x80, words)), all_like(8, words))
    return builder.or_(found, sign)


def _subnormal_numbers(layout: FloatFormat) -> list[int]:
    """Return the patterns of the numbers below the smallest normal one of a format, which are normal in bf16."""
    patterns = [0]
    for number in range(1, 1 << layout.fraction):
        top = number.bit_length() - 1
        exponent = BF16_BIAS + 1 - layout.bias - layout.fraction + top
        patterns.append((exponent << BF16_FRACTION) + ((number << (BF16_FRACTION - top)) & 0x7F))
    return patterns


def _looked_up(builder: ir.IRBuilder, table: Sequence[int], places: ir.Value) -> ir.Value:
    """Return the entry of a table for each place, which may be any number where it is not used."""
    vector, count = ir.VectorType(I16, LOOKED_UP), places.type.count
    entries = ir.Constant(vector, [*table, *[0] * (LOOKED_UP - len(table))])
    operands = [entries, _resized(builder, places, LOOKED_UP)]
    found = call_named(builder, "llvm.x86.avx512.permvar.hi.512", vector, operands)
    return _resized(builder, found, count)


def _resized(builder: ir.IRBuilder, vector: ir.Value, count: int) -> ir.Value:
    """Return the first elements of a vector, or all and more."""
    size = vector.type.count
    if size == count:
        return vector
    order = ir.Constant(ir.VectorType(I32, count), [place % size for place in range(count)])
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), order)
