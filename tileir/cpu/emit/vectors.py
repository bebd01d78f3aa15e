"""Vectors made of one number, and vectors whose elements change places: interleaved, and turned as a square.

Does not know: where vectors come from, nor what their elements are.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from tileir.cpu.emit.elements import I32


class Splat(ir.Constant):
    """A constant vector whose lanes all hold `element`."""

    def __init__(self, element: ir.Constant, lanes: int) -> None:
        super().__init__(ir.VectorType(element.type, lanes), None)
        self._element = element

    def _get_reference(self) -> str:
        return f"splat ({self._element.type} {self._element.get_reference()})"


def broadcast(builder: ir.IRBuilder, number: ir.Value, lanes: int) -> ir.Value:
    """A vector whose lanes all hold `number`."""
    undefined = Splat(ir.Constant(number.type, ir.Undefined), lanes)
    single = builder.insert_element(undefined, number, I32(0))
    return builder.shuffle_vector(single, undefined, Splat(I32(0), lanes))


def interleaved(builder: ir.IRBuilder, rows: Sequence[ir.Value]) -> ir.Value:
    """Element 0 of every row, then element 1 of every row, and so on; a power of two of rows."""
    if len(rows) == 1:
        return rows[0]
    even, odd = interleaved(builder, rows[::2]), interleaved(builder, rows[1::2])
    count = even.type.count
    order = [place for pair in zip(range(count), range(count, 2 * count)) for place in pair]
    return builder.shuffle_vector(even, odd, ir.Constant(ir.VectorType(I32, 2 * count), order))


def transposed(builder: ir.IRBuilder, rows: Sequence[ir.Value]) -> list[ir.Value]:
    """The columns of a square of vectors, by swapping halves of ever larger blocks across the diagonal."""
    size = len(rows)
    found = list(rows)
    distance = 1
    while distance < size:
        low = [c - distance + size if c & distance else c for c in range(size)]
        high = [c + size if c & distance else c + distance for c in range(size)]
        masks = [ir.Constant(ir.VectorType(I32, size), order) for order in (low, high)]
        for i in range(size):
            if not i & distance:
                pair = found[i], found[i + distance]
                found[i], found[i + distance] = (builder.shuffle_vector(*pair, mask) for mask in masks)
        distance *= 2
    return found
