"""Expressions of what a kernel is given: parameters, its place in the grid, memory, and views of that memory.

Knows: the symbols of parameters, grid and memory; one rule per operation that makes a view or asks for its extents.
Does not know: arithmetic (`analysis.arithmetic`).
"""

from __future__ import annotations

from collections.abc import Sequence

from tileir.analysis.expressions import number, of
from tileir.analysis.forms import Affine, Form, Forms, Reading, Rule, Tensor, Tiles, width
from tileir.analysis.symbols import BlockId, GridExtent, ScalarParameter, Storage, StorageKind, ceiling
from tileir.ir import types as t
from tileir.ir.core import Op, Value
from tileir.ir.rules import Rules
from tileir.ops import core, views

rules: Rules[Rule] = Rules()


def parameter(argument: Value, index: int) -> Affine:
    """The form of a parameter that is a scalar integer or pointer."""
    pointer = isinstance(argument.tile.element, t.PointerType)
    symbol = Storage(StorageKind.PARAMETER, index) if pointer else ScalarParameter(index, width(argument))
    return Affine(of(symbol), width(argument))


@rules(core.GetTileBlockId)
def _block_id(op: Op, known: Forms) -> tuple[Form, ...]:
    return tuple(Affine(of(BlockId(axis)), 32) for axis in range(3))


@rules(core.GetNumTileBlocks)
def _grid_extents(op: Op, known: Forms) -> tuple[Form, ...]:
    return tuple(Affine(of(GridExtent(axis)), 32) for axis in range(3))


@rules(core.GetGlobal)
def _global(op: core.GetGlobal, known: Forms) -> Form:
    return Affine(of(Storage(StorageKind.GLOBAL, 0, op.symbol)), 64)


@rules(views.MakeTensorView)
def _tensor(op: views.MakeTensorView, known: Forms) -> Form:
    extents = _filled(op.result.type.shape, op.dynamicShape, known)
    return Tensor(op.result.type, known.of(op.base), extents, _filled(op.result.type.strides, op.dynamicStrides, known))


def _filled(static: Sequence[t.Dim], dynamic: Sequence[Value], known: Forms) -> tuple[Reading, ...]:
    """The static entries with the operands, read as unsigned, in the places of the dynamic ones."""
    given = iter(dynamic)
    return tuple(known.of(next(given)).unsigned if entry is None else Reading(number(entry)) for entry in static)


@rules(views.MakePartitionView, views.MakeStridedView, views.MakeGatherScatterView)
def _tiles(op: views.MakePartitionView, known: Forms) -> Form:
    return Tiles(op.result.type, known.tensor(op.tensor_view))


@rules(views.GetTensorShape)
def _shape(op: views.GetTensorShape, known: Forms) -> tuple[Form, ...]:
    """The low bits of the extents."""
    extents = known.tensor(op.src).extents
    return tuple(Affine(extent.form, width(result), extent.needs) for extent, result in zip(extents, op.results))


@rules(views.GetIndexSpaceShape)
def _index_space(op: views.GetIndexSpaceShape, known: Forms) -> tuple[Form, ...]:
    """The low bits of the extents in tiles, rounded up."""
    extents = known.tensor(op.src).extents
    counts = [
        ceiling(extents[dim].form, number(step), extents[dim].needs)
        for dim, step in zip(op.src.tile_view.tensor_dims, op.src.tile_view.tile_steps)
    ]
    return tuple(Affine(count, width(result)) for count, result in zip(counts, op.results))
