"""The order of tile blocks in which those that read the same tiles follow one another.

Knows: along which axes of the grid an index changes, and what that asks of the order. Does not know: what is gained by
it (`cpu.lowering.repeated`), nor how tile blocks are numbered (`cpu.emit.record`).
"""

from __future__ import annotations

from collections.abc import Iterable

from tileir.analysis.structure import home_of
from tileir.cpu.emit.record import COLUMNS
from tileir.ir.core import Op, Value
from tileir.ops import core
from tileir.ops.module import Entry

ALL_COLUMNS = 1 << 20
"""Columns of a band as wide as the grid, or nearly so."""
_ANYWHERE = frozenset(range(3))


def band_of(operations: Iterable[Op], indices: Iterable[Value]) -> int | None:
    """Columns of a band in which tile blocks that follow one another mostly have the same `indices`.

    `operations` are those of an entry in program order. None if the indices change along both x and y.
    """
    known = _axes(operations)
    axes = frozenset[int]().union(*(known.get(index, _ANYWHERE) for index in indices))
    if {0, 1} <= axes:
        return None
    return 1 if 1 in axes else ALL_COLUMNS if 0 in axes else COLUMNS


def _axes(operations: Iterable[Op]) -> dict[Value, frozenset[int]]:
    """The axes of the grid along which values change; what a region gives or is given may change along any."""
    known: dict[Value, frozenset[int]] = {}
    for op in operations:
        if isinstance(op, core.GetTileBlockId):
            known.update((result, frozenset([axis])) for axis, result in enumerate(op.results))
        elif not op.regions:
            given = frozenset[int]().union(*(known.get(value, _of_outside(value)) for value in op.operands))
            known.update((result, given) for result in op.results)
    return known


def _of_outside(value: Value) -> frozenset[int]:
    """The axes of a value that no such operation makes: a parameter is the same for all tile blocks."""
    home = home_of(value)
    return frozenset() if home is not None and isinstance(home.parent, Entry) else _ANYWHERE
