"""Coarsening: tile blocks that follow one another along an axis of the grid, run as one with longer tiles.

A kernel that loads tiles, computes each element from elements and stores one tile, or several in one loop, does the
same for `n` neighbouring tile blocks as one tile block whose tiles are `n` times as long along the dimension whose
start follows the axis. In memory such tiles are long rows, however narrow those of a single tile block are. Tile blocks
have no order among themselves, and each one's loads stay before its stores.

`coarsening_of` finds the kernels for which that holds, and the values whose tiles become longer. The number of tile
blocks that are joined is chosen at run time (`cpu.emit.driver`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tileir.analysis.affine import Affines
from tileir.analysis.effects import MemoryAccess, access_of
from tileir.analysis.expressions import Expression
from tileir.analysis.region import is_view_box, source_dims
from tileir.analysis.symbols import BlockId, Lane
from tileir.cpu.analysis.fusion import Fusion
from tileir.cpu.analysis.loads import LoadPlacement, Loads
from tileir.ir import types as t
from tileir.ir.core import Block, Op, Value
from tileir.ir.traits import ELEMENTWISE, PURE
from tileir.ops import control, core, integer, misc, pointers, shapes, views

AXES = (0, 1)
"""The axes of the grid along which tile blocks may be numbered in a row (`cpu.emit.record`)."""
_PER_LAUNCH = (
    core.GetNumTileBlocks,
    core.GetGlobal,
    core.Constant,
    core.Iota,
    views.MakeTensorView,
    views.MakePartitionView,
    views.MakeStridedView,
    views.GetTensorShape,
    views.GetIndexSpaceShape,
    misc.Assume,
    pointers.MakeToken,
    pointers.JoinTokens,
)
"""Operations that do the same for every tile block if their operands are the same."""
_REPEATED = (integer.CmpI, integer.AndI)
"""Operations of masks, which cost little to repeat: mostly nobody reads what they compute (`cpu.memory.guards`)."""
_LINEAR = (core.Offset, integer.AddI, integer.SubI, integer.MulI, shapes.Broadcast, shapes.Reshape)


@dataclass(frozen=True)
class Coarsening:
    """The axis of the grid along which tile blocks may be joined, and the dimension along which each dependent tile,
    and each access to one, gets longer."""

    axis: int
    dims: Mapping[Value, int]
    accesses: Mapping[Op, int]

    @property
    def largest(self) -> int:
        """Elements of the largest tile."""
        return max(access.tile.count for access in map(MemoryAccess.of, self.accesses))


class _Unsuited(Exception):
    """A value or an operation rules coarsening out along an axis."""


def coarsening_of(body: Block, fusion: Fusion, known: Affines, loads: Loads) -> Coarsening | None:
    """Return how tile blocks of an entry may be joined; None if they may not."""
    writes = [access.op for access in map(access_of, body.ops) if access is not None and access.writes]
    if not writes or writes != list(fusion.joint(writes[0])) or any(op.regions for op in body.ops):
        return None
    for axis in AXES:
        try:
            return _Longer(axis, fusion, known, loads).of(body, writes)
        except _Unsuited:
            continue
    return None


@dataclass
class _Longer:
    """The values of an entry, one after the other, when tile blocks are joined along `axis`.

    A value in `dims` is that of the joined tile blocks side by side. One in `moving` differs from tile block to tile
    block otherwise. Any other is the same for all of them, and `varies` says along which dimensions its elements
    differ.
    """

    axis: int
    fusion: Fusion
    known: Affines
    loads: Loads
    dims: dict[Value, int] = field(default_factory=dict)
    accesses: dict[Op, int] = field(default_factory=dict)
    moving: set[Value] = field(default_factory=set)
    varies: dict[Value, frozenset[int]] = field(default_factory=dict)
    linear: set[Value] = field(default_factory=set)
    """Values computed by sums and products of the index of an element, which hold beyond the end of the tile."""

    def of(self, body: Block, stores: Sequence[Op]) -> Coarsening:
        """Return the longer tiles and accesses. Raises _Unsuited. The stores have to be the last accesses."""
        for op in body.ops:
            if stores[-1] in self.accesses and access_of(op) is not None:
                raise _Unsuited
            self._visit(op)
        if len({self.accesses[store] for store in stores}) > 1:
            raise _Unsuited
        return Coarsening(self.axis, self.dims, self.accesses)

    def _visit(self, op: Op) -> None:
        access = access_of(op)
        if access is not None:
            self._access(access)
        elif isinstance(op, core.GetTileBlockId):
            self.moving.add(op.results[self.axis])
            self.linear.add(op.results[self.axis])
        elif isinstance(op, shapes.Broadcast | shapes.Reshape):
            self._move(op)
        elif ELEMENTWISE in op.spec.traits and PURE in op.spec.traits and not isinstance(op, misc.Assume):
            self._elementwise(op)
        elif isinstance(op, (*_PER_LAUNCH, control.Return)):
            self._per_launch(op)
        else:
            raise _Unsuited
        for value in op.results:
            if self._is_linear(op, value):
                self.linear.add(value)
            self._check_form(value)

    def _is_linear(self, op: Op, value: Value) -> bool:
        if isinstance(op, core.Iota) or (isinstance(value.type, t.TileType) and value.type.count == 1):
            return True
        if value not in self.dims and value not in self.moving and not self._varies(value):
            return True
        is_extended = (operand in self.linear or isinstance(operand.owner, Block) for operand in op.operands)
        return isinstance(op, _LINEAR) and all(is_extended)

    def _check_form(self, value: Value) -> None:
        """Require that a tile that differs between tile blocks is an expression: there is no place for a longer one."""
        if not isinstance(value.type, t.TileType) or value.type.count == 1:
            return
        assert value.op is not None, "a result"
        stays = self.fusion.fused(value)
        if access_of(value.op) is not None:
            stays = self.loads.placement(value) is not LoadPlacement.AT_ONCE
        repeated = value in self.dims and isinstance(value.op, _REPEATED)
        if (value in self.dims or value in self.moving) and not stays and not repeated:
            raise _Unsuited

    # ------------------------------------------------------------ operations

    def _per_launch(self, op: Op) -> None:
        if any(value in self.dims or value in self.moving for value in op.operands):
            raise _Unsuited
        for value in op.results:
            self._same(value)

    def _same(self, value: Value) -> None:
        """Require the same tile for all tile blocks; its elements may be anything, except that those of a splat are
        equal."""
        if isinstance(value.type, t.TileType):
            splat = isinstance(value.op, core.Constant) and value.op.value.is_splat
            self.varies[value] = frozenset() if splat else _long(value.type)

    def _move(self, op: shapes.Broadcast | shapes.Reshape) -> None:
        """Follow elements to other places."""
        source, result, dims = op.source, op.result, source_dims(op)
        if dims is not None:
            self.varies[result] = frozenset(dim for dim, own in enumerate(dims) if own in self._varies(source))
        else:
            self.varies[result] = _long(result.tile) if self._varies(source) else frozenset()
        if source in self.dims:
            if dims is None:
                raise _Unsuited
            self.dims[result] = dims.index(self.dims[source])
        elif source in self.moving:
            self.moving.add(result)

    def _elementwise(self, op: Op) -> None:
        (result,) = op.results
        dims = {self.dims[value] for value in op.operands if value in self.dims}
        varies = frozenset[int]().union(*(self._varies(value) for value in op.operands))
        self.varies[result] = varies
        if not dims and not any(value in self.moving for value in op.operands):
            return
        if not any(value in self.moving for value in op.operands) and len(dims) == 1 and self._suit(op, *dims):
            self.dims[result] = next(iter(dims))
            return
        dim = self._side_by_side(result) if self._is_linear(op, result) else None
        if dim is not None:
            self.dims[result] = dim
        elif dims:
            raise _Unsuited
        else:
            self.moving.add(result)

    def _suit(self, op: Op, dim: int) -> bool:
        """Return whether each operand that is the same for all tile blocks is also constant along the dimension."""
        return all(value in self.dims or dim not in self._varies(value) for value in op.operands)

    def _side_by_side(self, value: Value) -> int | None:
        """Return the dimension along which integers or pointers go on in the next tile block as they do in this one."""
        type = value.tile
        if not isinstance(type.element, t.PointerType) and not type.element.is_int:
            return None
        affine = self.known.of(value)
        if affine.needs or (growth := affine.form.step(BlockId(self.axis))) is None:
            return None
        for dim, extent in enumerate(type.shape):
            step = affine.form.step(Lane(dim, extent)) if extent > 1 else None
            if step is not None and step.is_constant and step.constant != 0 and growth == step * extent:
                return dim
        return None

    def _varies(self, value: Value) -> frozenset[int]:
        if value in self.dims:
            return frozenset()
        return self.varies.get(value, frozenset())

    # ------------------------------------------------------------ memory

    def _access(self, access: MemoryAccess) -> None:
        if access.is_strong or access.updates:
            raise _Unsuited
        dim = self._view_dim(access) if access.indices else self._pointer_dim(access)
        if dim is not None:
            self.accesses[access.op] = dim
        if access.writes:
            self._store(access, dim)
        elif access.result is not None and dim is not None:
            self.dims[access.result] = dim
        elif access.result is not None:
            if any(value in self.moving or value in self.dims for value in (access.mask, access.padding) if value):
                raise _Unsuited
            self.varies[access.result] = _long(access.result.tile)

    def _store(self, access: MemoryAccess, dim: int | None) -> None:
        value = access.value
        if dim is None or value is None or value in self.moving:
            raise _Unsuited
        if self.dims.get(value, dim) != dim or dim in self._varies(value):
            raise _Unsuited

    def _view_dim(self, access: MemoryAccess) -> int | None:
        """Return the dimension of the tile that follows the axis; None if all tile blocks access the same tile."""
        view = access.address.type
        following = [dim for dim, index in enumerate(access.indices) if index in self.moving or index in self.dims]
        if not following:
            return None
        if (
            not is_view_box(access)
            or not isinstance(view, t.PartitionViewType | t.StridedViewType)
            or len(following) > 1
        ):
            raise _Unsuited
        (dim,) = following
        affine = self.known.of(access.indices[dim])
        counts = not affine.needs and affine.form.step(BlockId(self.axis)) == Expression(1, {})
        unit = view.tensor_view.strides[view.tensor_dims[dim]] == 1
        if not counts or not unit or view.tile_steps[dim] != view.tile_shape[dim] or view.tile_shape[dim] == 1:
            raise _Unsuited
        return dim

    def _pointer_dim(self, access: MemoryAccess) -> int | None:
        """Return the dimension along which an access through pointers gets longer."""
        address, others = access.address, [value for value in (access.mask, access.padding) if value is not None]
        if address in self.moving or any(value in self.moving for value in others):
            raise _Unsuited
        dim = self.dims.get(address)
        if dim is None:
            return None
        region = self.loads.regions[access.op]
        apart = [value for value in others if self.dims.get(value, dim) != dim or dim in self._varies(value)]
        unit = region.static_steps[dim] == region.bytes
        if apart or not unit or not region.is_box or region.has_front:
            raise _Unsuited
        return dim


def _long(type: t.TileType) -> frozenset[int]:
    """Return the dimensions of more than one element."""
    return frozenset(dim for dim, extent in enumerate(type.shape) if extent > 1)
