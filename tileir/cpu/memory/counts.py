"""Where a tile begins along one dimension of its tensor, and how much of it lies inside.

Knows: the index mapping of partition and strided views (spec: views#index-mapping); an index is unsigned. Does not
know: what is read and written there.
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.emit.elements import I64
from tileir.cpu.emit.emitter import Extent, as_register
from tileir.cpu.lowering.state import Lowering
from tileir.ir.core import Value


def start_of(lowering: Lowering, index: Value, step: int) -> ir.Value:
    """The first coordinate of the tile at `index`."""
    return lowering.builder.mul(lowering.unsigned(index), I64(step))


def count_inside(
    lowering: Lowering, index: Value, step: int, extent: ir.Value, size: Extent
) -> tuple[ir.Value, ir.Value]:
    """How many of the `size` elements of a tile lie in the tensor, and whether all do. None does where the start wraps
    around."""
    builder = lowering.builder
    start = start_of(lowering, index, step)
    reachable = builder.icmp_unsigned("<=", lowering.unsigned(index), I64(((1 << 64) - 1) // step))
    inside = builder.and_(reachable, builder.icmp_unsigned("<", start, extent))
    left = builder.select(inside, builder.sub(extent, start), I64(0))
    whole = builder.icmp_unsigned(">=", left, as_register(size))
    return builder.select(whole, as_register(size), left), whole
