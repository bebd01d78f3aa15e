"""The memory that one access of a tile block touches: its `Region`, described once for all readers.

    %at = offset %base, %rows * %stride + %columns : tile<16x64xptr<f32>>      base     memory_0 + 64 * stride * block_x
    %in = cmpi less_than %columns, %width, signed : tile<16x64xi1>             steps    (4 * stride, 4)
    load_ptr_tko weak %at, %in                                                 guards   an edge along dimension 1

A region with a step along every dimension is a *box*, one with elements side by side along one dimension has *rows*,
any other is *scattered*. An access through a view touches a box guarded by the extents of the tensor, or rows that lie
anywhere along one dimension.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeGuard

from tileir.analysis.affine import (
    is_even,
    is_even_along,
    is_uniform,
    is_uniform_along,
    lane_steps,
    unit_dimension,
    wraps_by_dimension,
)
from tileir.analysis.effects import MemoryAccess
from tileir.analysis.expressions import Expression, Symbol, TooLarge, number
from tileir.analysis.forms import Affine, Forms, Needs, Reading, Remainder, Tensor, lanes, relaned
from tileir.analysis.structure import is_visible
from tileir.ir import types as t
from tileir.ir.core import Op, Value
from tileir.ir.types.tiles import kept_dimensions
from tileir.ops import integer, misc, shapes

MOST_PARTS = 32
"""Parts of a mask that are told apart."""
MOST_LOOKS = 64
"""Operations that are looked at for the parts of a mask, or for whether it is the same along a dimension."""
_LOGIC = (integer.CmpI, integer.AndI, integer.OrI, integer.XOrI)

Dims = tuple[int | None, ...]
"""For each dimension of a tile, the dimension of another tile that its elements come from; None if they are equal along
it."""


# ---------------------------------------------------------------- masks


@dataclass(frozen=True)
class MaskPart:
    """A tile of i1, one of those that all have to be 1 where a mask is.

    `dims` has the dimension of the part for each one of the mask.
    """

    value: Value
    dims: Dims


def parts_of(mask: Value) -> list[MaskPart]:
    """Return the parts whose conjunction a mask is, each once."""
    found: dict[MaskPart, None] = {}
    waiting, seen = [MaskPart(mask, tuple(range(mask.tile.rank)))], set[MaskPart]()
    while waiting:
        part = waiting.pop()
        if part in seen:
            continue
        seen.add(part)
        op = part.value.op
        if isinstance(op, integer.AndI):
            waiting += [MaskPart(side, part.dims) for side in (op.rhs, op.lhs)]
        elif isinstance(op, misc.Assume):
            waiting.append(MaskPart(op.value, part.dims))
        elif op is not None and (inner := source_dims(op)) is not None:
            waiting.append(MaskPart(op.operands[0], tuple(None if dim is None else inner[dim] for dim in part.dims)))
        else:
            found[part] = None
        if len(found) > MOST_PARTS or len(seen) > MOST_LOOKS:
            return [MaskPart(mask, tuple(range(mask.tile.rank)))]
    return list(found)


def source_dims(op: Op) -> Dims | None:
    """Return the dimension of the source for each of the result, if an operation moves elements; None if it is not so
    simple."""
    if isinstance(op, shapes.Broadcast):
        pairs = enumerate(zip(op.source.tile.shape, op.result.tile.shape))
        return tuple(dim if own == extent else None for dim, (own, extent) in pairs)
    if isinstance(op, shapes.Permute):
        return tuple(op.permutation)
    if isinstance(op, shapes.Reshape):
        return kept_dimensions(op.source.tile.shape, op.result.tile.shape)
    return None


@dataclass(frozen=True)
class Edge:
    """A guard: a comparison that leaves the first elements of the tile along `dim`, or the last; None: all, or none.

    `own` is that dimension in the comparison itself, along which its lesser side rises by 1, or its greater side if it
    leaves the last elements (`front`). `dims`: those of the comparison, where each row along `dim` ends in a place of
    its own; None if all end in the same.
    """

    comparison: integer.CmpI
    own: int | None
    dim: int | None
    dims: Dims | None = None
    front: bool = False


def sides_of(op: integer.CmpI) -> tuple[Value, Value]:
    """Return the side of an inequality that is less where it holds, and the other one."""
    return (op.rhs, op.lhs) if op.comparison_predicate.is_greater else (op.lhs, op.rhs)


def is_strict(op: integer.CmpI) -> bool:
    """Return whether an inequality is false for equal numbers."""
    return op.comparison_predicate.is_strict


def edge_of(part: MaskPart, known: Forms) -> Edge | None:
    """Return the edge that a part of a mask is; None if it is none."""
    op = part.value.op
    if not _is_inequality(op):
        return None
    (less, more), extents = map(known.of, sides_of(op)), op.lhs.tile.shape
    front = is_uniform(less)
    rising, level = (more, less) if front else (less, more)
    if not is_uniform(level):
        return None
    if is_uniform(rising):
        return Edge(op, None, None)
    own = _rises(rising, extents)
    if own is None or not is_even(rising, extents) or extents[own] > 1 << (op.lhs.tile.number.bits - 1):
        return None
    others = (other for other in range(len(extents)) if other != own)
    if own not in part.dims or not all(is_uniform_along(rising, dim, extents) for dim in others):
        return None
    return Edge(op, own, part.dims.index(own), front=front)


def end_of_rows(part: MaskPart, dim: int, known: Forms) -> Edge | None:
    """Return the guard that ends each row along `dim`, in a place that depends on the row; None if a part of a mask is
    none."""
    op, own = part.value.op, part.dims[dim]
    if own is None or not _is_inequality(op):
        return None
    (less, more), extents = map(known.of, sides_of(op)), op.lhs.tile.shape
    rises = _constant(lane_steps(less.form, extents)[own]) == 1 and is_even_along(less, own, extents)
    if not rises or not is_uniform_along(more, own, extents) or extents[own] > 1 << (op.lhs.tile.number.bits - 1):
        return None
    return Edge(op, own, dim, part.dims)


def _is_inequality(op: Op | None) -> TypeGuard[integer.CmpI]:
    return isinstance(op, integer.CmpI) and op.comparison_predicate.is_order and op.lhs.tile.number.bits >= 8


def _rises(side: Affine, extents: Sequence[int]) -> int | None:
    """Return the only dimension along which elements change: by 1."""
    constants = [_constant(step) for step in lane_steps(side.form, extents)]
    moving = [dim for dim, extent in enumerate(extents) if extent > 1 and constants[dim] != 0]
    return moving[0] if len(moving) == 1 and constants[moving[0]] == 1 else None


def _constant(step: Expression | None) -> int | None:
    return step.constant if step is not None and step.is_constant else None


# ---------------------------------------------------------------- regions


@dataclass(frozen=True)
class ViewAxis:
    """A dimension of a tile of a view: that of the tensor, its extent and stride, and the coordinate of an element.

    An index that is negative when read as signed is beyond tensors of an extent up to `limit`. ``promised``: by the
    program, that no element lies outside.
    """

    dim: int
    extent: Reading
    stride: Reading
    index: Reading
    element: Expression
    limit: int
    promised: bool


def is_view_box(access: MemoryAccess) -> bool:
    """Return whether an access moves a tile of a view that is a box of its tensor."""
    view = access.address.type
    if access.is_strong or not isinstance(view, t.PartitionViewType | t.StridedViewType):
        return False
    return view.element is not t.F4E2M1FN


class Region:
    """The memory that an access touches: elements of `bits` bits, as a tile of `extents`.

    Expensive properties are computed when they are asked for.
    """

    def __init__(self, access: MemoryAccess, known: Forms) -> None:
        self.access = access
        self.extents = access.tile.shape
        self.through_pointers = isinstance(access.address.type, t.TileType)
        self.bits = max(8, self.element.memory_bits) if self.through_pointers else self.element.memory_bits
        self._known = known

    @property
    def element(self) -> t.ElementType | t.PointerType:
        type = self.access.address.type
        if isinstance(type, t.TensorViewType | t.TileViewType):
            return type.element
        return self.access.address.tile.pointer.pointee

    @property
    def bytes(self) -> int:
        """Bytes that one element touches."""
        return max(1, self.bits // 8)

    # ------------------------------------------------------------ addresses

    @cached_property
    def address(self) -> Affine:
        """The address of an element, over the lanes of the tile. Of elements that share bytes of a tensor it is that of
        the first of them, plus their number. Raises `TooLarge`."""
        if self.through_pointers:
            return self._known.of(self.access.address)
        base = self.tensor.base
        form, needs = base.form * max(1, 8 // self.bits), base.needs
        for axis in self.axes:
            form += axis.element * axis.stride.form * self.bytes
            needs |= axis.index.needs | axis.stride.needs
        return Affine(form, base.bits, needs)

    @property
    def base(self) -> Expression:
        """The address of the first element."""
        return relaned(self.address.form, (number(0),) * len(self.extents))

    @property
    def known_base(self) -> Expression | None:
        """The address of the first element; None if it is that of a value nothing is known of, or is too large."""
        if self.access.address not in self._known:
            return None
        try:
            return self.base
        except TooLarge:
            return None

    @cached_property
    def _rising(self) -> tuple[Affine, tuple[Remainder, ...]]:
        """The address where no remainder in it starts again within the tile, and those remainders, as tiles that the
        access can see."""
        found: dict[Remainder, None] = {}

        def risen(symbol: Symbol) -> Expression | None:
            rising = self._known.rising(symbol)
            if rising is None or not is_visible(rising[0].value, self.access.op):
                return None
            found[rising[0]] = None
            return rising[1]

        address = self.address
        try:
            needs = frozenset(need.of(need.form.substituted(risen)) for need in address.needs)
            return Affine(address.form.substituted(risen), address.bits, needs), tuple(found)
        except TooLarge:
            return address, ()

    @property
    def remainders(self) -> tuple[Remainder, ...]:
        """Tiles that must not start again for the steps to be right: at the border of a matrix, the rows ``(first +
        iota) % rows`` of a tile do."""
        return self._rising[1]

    @property
    def wraps_by_dimension(self) -> bool:
        """True if the ends of each dimension show whether addresses step evenly."""
        return wraps_by_dimension(self._rising[0], self.extents)

    @cached_property
    def steps(self) -> tuple[Expression | None, ...]:
        """The bytes between neighbours along each dimension, where they are the same all over the tile if no one of
        the `remainders` starts again."""
        return lane_steps(self._rising[0].form, self.extents)

    @property
    def static_steps(self) -> list[int | None]:
        """Return the steps that are known numbers."""
        return [_constant(step) for step in self.steps]

    @property
    def needs(self) -> Needs:
        """Return the conditions under which the address is right: nothing wraps around."""
        return self.address.needs

    @property
    def tensor(self) -> Tensor:
        """The tensor of an access through a view."""
        return self._known.tensor(self.access.address)

    @cached_property
    def axes(self) -> tuple[ViewAxis, ...]:
        """The dimensions of a tile of a view."""
        sparse, shape, tensor = self.access.sparse_dim, self.extents, self.tensor
        promised = self.access.op.attributes.get("inbounds") or (False,) * len(shape)
        dims: Sequence[int] = range(len(shape))
        steps: Sequence[int] = (1,) * len(shape)
        if sparse is None:
            view = self.access.address.tile_view
            dims, steps = view.tensor_dims, view.tile_steps
        axes = []
        for at, (dim, step, index, own) in enumerate(zip(dims, steps, self.access.indices, lanes(shape))):
            position = self._known.of(index)
            reading = position.unsigned if position.unsigned.needs == position.needs else position.signed
            if at == sparse:
                needs = frozenset(need.of(relaned(need.form, (own,))) for need in reading.needs)
                reading = Reading(relaned(reading.form, (own,)), needs)
            element = reading.form if at == sparse else reading.form * step + own
            limit = step << (position.bits - 1)
            axes.append(ViewAxis(dim, tensor.extents[dim], tensor.strides[dim], reading, element, limit, promised[at]))
        return tuple(axes)

    # ------------------------------------------------------------ guards

    @cached_property
    def parts(self) -> list[MaskPart]:
        """The parts of the mask."""
        return [] if self.access.mask is None else parts_of(self.access.mask)

    @cached_property
    def edges(self) -> list[Edge] | None:
        """The guards of an access through pointers; None if any of them is no edge."""
        found = [edge_of(part, self._known) for part in self.parts]
        edges = [edge for edge in found if edge is not None]
        return edges if len(edges) == len(found) else None

    @property
    def has_front(self) -> bool:
        """True if a guard leaves out the first elements along a dimension."""
        return any(edge.front for edge in self.edges or ())

    def ends_along(self, dim: int) -> list[Edge] | None:
        """Return the guards that end rows along `dim`, if the others are the same all along a row."""
        ends = []
        for part in self.parts:
            if not self._is_same_along(part, dim):
                edge = edge_of(part, self._known) or end_of_rows(part, dim, self._known)
                if edge is None or edge.dim != dim or edge.front:
                    return None
                ends.append(edge)
        return ends

    def _is_same_along(self, part: MaskPart, dim: int) -> bool:
        own = part.dims[dim]
        return own is None or self._has_equal_elements(part.value, own)

    def _has_equal_elements(self, value: Value, dim: int) -> bool:
        """Return whether the elements of a tile of integers are equal along a dimension."""
        waiting, seen = [value], {value}
        while waiting:
            one = waiting.pop()
            if not is_uniform_along(self._known.of(one), dim, one.tile.shape):
                if not isinstance(one.op, _LOGIC) or len(seen) > MOST_LOOKS:
                    return False
                sides = [side for side in one.op.operands if side not in seen]
                seen.update(sides)
                waiting += sides
        return True

    # ------------------------------------------------------------ kinds

    @property
    def is_weak_tile(self) -> bool:
        """True if the access goes through several pointers to whole bytes, and others do not access them meanwhile."""
        pointers = self.through_pointers and not self.access.is_strong and self.access.address.tile.count > 1
        return pointers and self.element.memory_bits >= 8

    @cached_property
    def steps_evenly(self) -> bool:
        """True if addresses are a start plus a multiple of each index, as far as the program shows.

        The corners of the tile, and those of `remainders`, show at run time whether they wrap around.
        """
        return is_even(self._rising[0], self.extents)

    @property
    def is_even(self) -> bool:
        """True if a weak access to several elements steps evenly."""
        return self.is_weak_tile and self.steps_evenly

    @cached_property
    def is_box(self) -> bool:
        """True if the region is a box whose guards leave neighbours along each dimension, to be written the first ones.

        Elements lie side by side along a dimension, and none in front of another of a lower index.
        """
        if not self.through_pointers:
            return is_view_box(self.access)
        if not self.is_even or self.edges is None or (self.access.writes and self.has_front):
            return False
        steps = [step for step, extent in zip(self.static_steps, self.extents) if extent > 1]
        return self.bytes in steps and all(step is None or (step >= 0 and step % self.bytes == 0) for step in steps)

    @cached_property
    def row_dimension(self) -> int | None:
        """The last dimension along which pointers lead to elements side by side."""
        dim = unit_dimension(self.address, self.extents, self.bytes)
        return dim if dim is not None and is_even_along(self.address, dim, self.extents) else None
