"""Products in `for` loops whose right factors other tile blocks read again, like the keys and values of attention.

Such a factor is loaded in the loop, whose iterations take different tiles, but the same ones in many tile blocks. What
the launch leaves as it is is packed once then, and tile blocks that read the same tiles follow one another.

Knows: which factors these are. Does not know: where their panels stand (`cpu.matmul.repeated`), how it is known what
the launch leaves as it is (`cpu.lowering.kept`), nor how tile blocks are ordered (`cpu.analysis.block_order`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from tileir.analysis.structure import is_visible
from tileir.cpu.analysis.block_order import band_of
from tileir.cpu.llvm.engine import host
from tileir.cpu.lowering.kept import is_shared, kept_view, load_of, stays_in_array, unchanged_by_block
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.matmul.direct import FEW
from tileir.cpu.matmul.kept_panels import Panels
from tileir.cpu.matmul.microkernel import Shape
from tileir.cpu.matmul.products import is_swapped, product_of
from tileir.cpu.matmul.repeated import Repeated, repeated
from tileir.ops import control, matmul, views


def reserve_repeated(lowering: Lowering) -> None:
    """Set memory aside, where an entry begins, for the panels of such products, if tile blocks can be ordered so."""
    found = dict(_products(lowering))
    indices = [load.index[at] for loop, load in found.values() for at in _fixed(loop, load)]
    band = band_of(lowering.fusion.operations, indices) if found else None
    if band is not None:
        lowering.band = band
        for op in found:
            lowering.repeated[op] = _panels(lowering, op)


def _products(lowering: Lowering) -> Iterator[tuple[matmul.MmaF, tuple[control.For, views.LoadView]]]:
    """The products that are not deferred, with their loops and the loads of the right factors."""
    for op in lowering.fusion.operations:
        if isinstance(op, matmul.MmaF) and op not in lowering.deferrals and _is_matrix(op):
            loop, load = op.parent_op, load_of(op.rhs)
            if isinstance(loop, control.For) and load is not None and load.parent is loop.body:
                yield op, (loop, load)


def _is_matrix(op: matmul.MmaF) -> bool:
    """Whether the result is one matrix of many rows."""
    *batch, rows, columns = op.acc.tile.shape
    return prod(batch) == 1 and rows > FEW and not is_swapped(rows, columns, host())


def _fixed(loop: control.For, load: views.LoadView) -> list[int]:
    """The dimensions of a view along which all iterations take the same tile."""
    return [position for position, index in enumerate(load.index) if is_visible(index, loop)]


def _panels(lowering: Lowering, op: matmul.MmaF) -> Repeated:
    *_, rows, columns = op.acc.tile.shape
    return repeated(lowering.emit, product_of(op, host()), Shape(rows, columns, op.lhs.tile.shape[-1]))


def begin_repeated(lowering: Lowering, loop: control.For) -> None:
    """Find out, in front of a loop, which factors stay: others are packed each time."""
    for op in loop.body.ops:
        if isinstance(op, matmul.MmaF) and op in lowering.repeated:
            found = lowering.repeated[op]
            found.begin(lowering.builder)
            lowering.repeated[op] = replace(found, right=_kept(lowering, loop, op, found))


def _kept(lowering: Lowering, loop: control.For, op: matmul.MmaF, found: Repeated) -> Panels:
    """The panels of a right factor, told whether they stay."""
    load, view = load_of(op.rhs), kept_view(lowering, loop, op.rhs)
    if load is None or view is None:
        return found.right
    stays = lowering.builder.and_(unchanged_by_block(lowering, loop), stays_in_array(view))
    stays = lowering.builder.and_(stays, is_shared(lowering, view, _fixed(loop, load)))
    return replace(found.right, kept=stays)
