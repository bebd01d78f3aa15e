"""``tt.reduce`` and ``tt.scan`` for any combination of elements.

Knows: how the two are spelt, and which elements they carry: an i1 and a float of 8 bits travel as an i8, which Triton's
compiler can shuffle between threads. Does not know: Tile IR.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import TtirAttribute, TtirBlock, TtirType, TtirValue

Combine = Callable[[list[TtirValue], list[TtirValue]], Sequence[TtirValue]]
"""Emits the combination of two elements of each operand, scalars."""

_AS_BYTES = ("i1", "f8E4M3FN", "f8E5M2")


def traveller(build: Builder, value: TtirValue) -> TtirValue:
    """The value as it travels between threads."""
    if value.type.element == "i1":
        return build.resized(value, "i8", signed=False)
    return build.bitcast(value, "i8") if value.type.element in _AS_BYTES else value


def arrived(build: Builder, value: TtirValue, element: str) -> TtirValue:
    """The value of type `element` that travelled as `value`."""
    if element == "i1":
        return build.resized(value, element, signed=False)
    return build.bitcast(value, element)


def combination(build: Builder, elements: Sequence[str], combine: Combine, end: str) -> TtirBlock:
    """The region of a reduction or scan; `end` is its last instruction."""
    travelling = [TtirType("i8" if element in _AS_BYTES else element) for element in elements]
    with build.region(*travelling, *travelling) as block:
        arguments = [arrived(build, value, element) for value, element in zip(block.arguments, (*elements, *elements))]
        results = combine(arguments[: len(elements)], arguments[len(elements) :])
        build.effect(end, *(traveller(build, result) for result in results))
    return block


def reduced(build: Builder, values: Sequence[TtirValue], axis: int, region: TtirBlock) -> list[TtirValue]:
    """The values without `axis`, along which their elements are combined; scalars where that was the only one."""
    return _folded(build, "tt.reduce", values, axis, region, {})


def scanned(
    build: Builder, values: Sequence[TtirValue], axis: int, reverse: bool, region: TtirBlock
) -> list[TtirValue]:
    """In each place the combination of the elements up to it along `axis`, or, if `reverse`, from it on."""
    return _folded(build, "tt.scan", values, axis, region, {"reverse": reverse})


REDUCE_END, SCAN_END = "tt.reduce.return", "tt.scan.return"


def _folded(
    build: Builder,
    name: str,
    values: Sequence[TtirValue],
    axis: int,
    region: TtirBlock,
    attributes: dict[str, TtirAttribute],
) -> list[TtirValue]:
    shape = values[0].type.shape
    left = (*shape[:axis], *shape[axis + 1 :]) if name == "tt.reduce" else shape
    operands = [traveller(build, value) for value in values]
    types = [operand.type.shaped(*left) for operand in operands]
    results = build.insert(name, operands, types, {"axis": axis, **attributes}, [region])
    return [arrived(build, result, value.type.element) for result, value in zip(results, values)]


def merged(build: Builder, value: TtirValue, axis: int) -> TtirValue:
    """The bitwise or of the elements along `axis`."""

    def either(first: list[TtirValue], second: list[TtirValue]) -> list[TtirValue]:
        return [build.op("arith.ori", first[0], second[0])]

    (result,) = reduced(build, [value], axis, combination(build, [value.type.element], either, REDUCE_END))
    return result
