"""Tensors reduced along an axis, joined, halved and repeated, and their parts by number."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import I32, TtirAttribute, TtirBlock, TtirType, TtirValue
from tileir.gpu.ttir.lib.words import bits_of, from_bits, known_constant

Combine = Callable[[list[TtirValue], list[TtirValue]], Sequence[TtirValue]]
"""Emits the combination of two elements of each operand, scalars."""

_AS_BYTES = ("i1", "f8E4M3FN", "f8E5M2")


def _exchanged(build: Builder, value: TtirValue) -> TtirValue:
    """Return a value in the type in which threads exchange it."""
    if value.type.element == "i1":
        return build.resized(value, "i8", signed=False)
    return build.bitcast(value, "i8") if value.type.element in _AS_BYTES else value


def _received(build: Builder, value: TtirValue, element: str) -> TtirValue:
    """Return the value of type `element` that was exchanged as `value`."""
    if element == "i1":
        return build.resized(value, element, signed=False)
    return build.bitcast(value, element)


def combination(build: Builder, elements: Sequence[str], combine: Combine, scans: bool = False) -> TtirBlock:
    """Return the region of a reduction or scan."""
    exchanged = [TtirType("i8" if element in _AS_BYTES else element) for element in elements]
    with build.region(*exchanged, *exchanged) as block:
        arguments = [
            _received(build, value, element) for value, element in zip(block.arguments, (*elements, *elements))
        ]
        results = combine(arguments[: len(elements)], arguments[len(elements) :])
        end = "tt.scan.return" if scans else "tt.reduce.return"
        build.effect(end, *(_exchanged(build, result) for result in results))
    return block


def folded(
    build: Builder, values: Sequence[TtirValue], axis: int, region: TtirBlock, reverse: bool | None = None
) -> list[TtirValue]:
    """Combine the elements of the values along `axis` by a region.

    A reduction leaves values without the axis, scalars where that was the only one. A scan, if `reverse` is given,
    leaves in each place the combination of the elements up to it or, if it is true, from it on.
    """
    shape, operands = values[0].type.shape, [_exchanged(build, value) for value in values]
    attributes: dict[str, TtirAttribute] = {"axis": axis}
    if reverse is None:
        name, shape = "tt.reduce", _along(shape, axis)
    else:
        name, attributes = "tt.scan", attributes | {"reverse": reverse}
    types = [operand.type.shaped(*shape) for operand in operands]
    results = build.insert(name, operands, types, attributes, [region])
    return [_received(build, result, value.type.element) for result, value in zip(results, values)]


def reduced(build: Builder, value: TtirValue, axis: int, instruction: str) -> TtirValue:
    """Return a tensor of integers without `axis`, along which an instruction combines its elements."""
    region = combination(build, [value.type.element], lambda first, second: [build.op(instruction, *first, *second)])
    return folded(build, [value], axis, region)[0]


SPLITS = 2
"""The most halvings of a tensor for a part whose number is known; with more, the part is searched for."""


def _along(shape: Sequence[int], axis: int, *extents: int) -> tuple[int, ...]:
    """Return the shape with `extents` in place of `axis`."""
    return (*shape[:axis], *extents, *shape[axis + 1 :])


def joined(build: Builder, first: TtirValue, second: TtirValue, axis: int, by_turns: bool = False) -> TtirValue:
    """Return two tensors of one shape behind each other along `axis`, or their elements by turns."""
    shape = first.type.shape
    rank, at = len(shape), axis + by_turns
    pairs = build.op("tt.join", first, second, type=first.type.shaped(*shape, 2))
    ordered = build.transpose(pairs, *range(at), rank, *range(at, rank))
    return build.reshape(ordered, *_along(shape, axis, 2 * shape[axis]))


def repeated(build: Builder, value: TtirValue, *shape: int) -> TtirValue:
    """Return the tensor again and again along each axis until it has `shape`."""
    parts = [extent for pair in zip((1,) * len(shape), value.type.shape) for extent in pair]
    copies = [extent for whole, part in zip(shape, value.type.shape) for extent in (whole // part, part)]
    return build.reshape(build.broadcast(build.reshape(value, *parts), *copies), *shape)


def padded(build: Builder, value: TtirValue, *shape: int) -> TtirValue:
    """Return the tensor in the first part of one of `shape`, whose other elements are 0."""
    if value.type.shape == shape:
        return value
    zeros = [build.integer(I32, 0) for _ in shape]
    return put(build, build.bits(value.type.shaped(*shape), 0), value, zeros)


def cropped(build: Builder, value: TtirValue, *shape: int) -> TtirValue:
    """Return the first part of the tensor that has `shape`."""
    return taken(build, value, shape, [build.integer(I32, 0) for _ in shape])


# ---------------------------------------------------------------- parts by number


def put(build: Builder, whole: TtirValue, part: TtirValue, numbers: Sequence[TtirValue]) -> TtirValue:
    """Return the tensor `whole` with its part of the given numbers, an i32 per axis, replaced."""
    shape = whole.type.shape
    smaller = [axis for axis, extent in enumerate(part.type.shape) if extent != shape[axis]]
    tests = (_is_in_part(build, shape, axis, part.type.shape[axis], numbers[axis]) for axis in smaller)
    inside = build.all_true(*tests)
    return part if inside is None else build.select(inside, repeated(build, part, *shape), whole)


def _is_in_part(build: Builder, shape: Sequence[int], axis: int, extent: int, number: TtirValue) -> TtirValue:
    """Mark the part of `number` along `axis` in a tensor of `shape`, if parts have `extent` elements there."""
    places = build.range(shape[axis])
    parts = build.op("arith.shrui", places, build.integer(places.type, extent.bit_length() - 1))
    line = build.compare("eq", parts, build.like(number, parts))
    return build.broadcast(build.reshape(line, *_along((1,) * len(shape), axis, shape[axis])), *shape)


def taken(build: Builder, whole: TtirValue, shape: Sequence[int], numbers: Sequence[TtirValue]) -> TtirValue:
    """Return the part of `shape` that has the given numbers, an i32 per axis. Zeros if there is none of the number."""
    if whole.type.shape == tuple(shape):
        return whole
    element = whole.type.element
    bits = bits_of(build, whole)
    for axis, (extent, number) in enumerate(zip(shape, numbers)):
        known, count = known_constant(number), bits.type.shape[axis] // extent
        if known is not None and known < count <= 1 << SPLITS:
            bits = _split_off(build, bits, axis, count, known)
        elif count > 1:
            bits = _searched(build, bits, axis, extent, number)
    return from_bits(build, bits, element)


def _split_off(build: Builder, value: TtirValue, axis: int, count: int, number: int) -> TtirValue:
    """Return the part of `number`, by halves."""
    while count > 1:
        count //= 2
        value = halves(build, value, axis)[number // count]
        number %= count
    return value


def parts(build: Builder, value: TtirValue, axis: int, count: int) -> list[TtirValue]:
    """Return the tensor in `count` equal parts along `axis`."""
    if count == 1:
        return [value]
    return [part for half in halves(build, value, axis) for part in parts(build, half, axis, count // 2)]


def halves(build: Builder, value: TtirValue, axis: int, by_turns: bool = False) -> list[TtirValue]:
    """Return the lower and the upper half of a tensor along `axis`, or its even and its odd elements."""
    shape, count = value.type.shape, value.type.shape[axis] // 2
    pairs = build.reshape(value, *_along(shape, axis, *((count, 2) if by_turns else (2, count))))
    rest = [dim for dim in range(len(shape) + 1) if dim != axis + by_turns]
    type = value.type.shaped(*_along(shape, axis, count))
    return build.insert("tt.split", [build.transpose(pairs, *rest, axis + by_turns)], [type, type])


def _searched(build: Builder, bits: TtirValue, axis: int, extent: int, number: TtirValue) -> TtirValue:
    """Return the part of `number`: the only one that is not zeroed, of those merged."""
    shape = bits.type.shape
    parts = build.reshape(bits, *_along(shape, axis, shape[axis] // extent, extent))
    wanted = _is_in_part(build, parts.type.shape, axis, 1, number)
    return reduced(build, build.select(wanted, parts, build.integer(parts.type, 0)), axis, "arith.ori")
