"""Integers, pointers and views of a kernel as expressions of what it is given, before it runs.

    %row = addi %block_x_times_128, %iota : tile<128xi32>      128 * block_x + lane_0, modulo 2^32
    %at = offset %base, %row : ...                             memory_0 + 512 * block_x + 4 * lane_0, if no row wraps

    known = Affines(kernel.entry.body)
    known.of(row).form, known.range(row), known.axes(row)

Knows: all that can be asked of a value: its expression of parameters, tile block ids, turns of loops and the index of
an element; bounds and divisors; how neighbours in a tile differ.
Does not know: how that is found (`analysis.walk`), nor what operations do to memory (`analysis.footprint`).
"""

from __future__ import annotations

from tileir.analysis import ranges
from tileir.analysis.axes import AxisInfo, axes
from tileir.analysis.carried import Progress
from tileir.analysis.expressions import Symbol
from tileir.analysis.forms import Affine
from tileir.analysis.ranges import Range
from tileir.analysis.walk import Visitor, Walk
from tileir.ir.attributes import Signedness
from tileir.ir.core import Block, Value
from tileir.ir.types import PointerType


class Affines:
    """The values of one function, the body of an entry or of a device function."""

    def __init__(self, body: Block, visit: Visitor | None = None) -> None:
        """`visit` is called for each operation of the function when its operands are known."""
        self._walk = Walk(body, visit)

    def of(self, value: Value) -> Affine:
        """A tile of integers or pointers."""
        return self._walk.known.of(value)

    def promised_range(self, symbol: Symbol) -> Range:
        """Bounds of a symbol, with what the program promises of it."""
        return self._walk.promises.range(symbol)

    def move(self, argument: Value) -> Progress | None:
        """The progress of a value that a loop carries, which is `argument` in its body; None if it is not seen."""
        return self._walk.moves.get(argument)

    def range(self, value: Value) -> Range:
        """Bounds of the elements, read as signed, that hold if the program keeps its promises."""
        found, known = self.of(value), self._walk.promises.range
        limits = ranges.signed(found.bits)
        if not all(need.promised or need.holds(known) for need in found.needs):
            return limits
        exact = found.form.range_if(known)
        kept = Signedness.SIGNED in found.promised
        return ranges.intersection(exact, limits) if kept else ranges.wrapped(exact, found.bits)

    def axes(self, value: Value) -> tuple[AxisInfo, ...]:
        """The groups of neighbours along each dimension; of addresses, those of neighbours in memory."""
        element = value.tile.element
        unit = element.pointee.alignment if isinstance(element, PointerType) else 1
        return axes(self.of(value).form, value.tile.shape, self._walk.promises.range, unit)
