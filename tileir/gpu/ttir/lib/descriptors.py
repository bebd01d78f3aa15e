"""Tiles copied by the tensor memory accelerator, which takes a descriptor of the tensor (sm_90 and later).

Where it is legal. The tensor has one dimension of static stride 1, all other strides and the address are known to be
multiples of 16 bytes, extents are below 2^31, there are 1 to 5 dimensions, a row of the tile has at least 16 bytes, and
padding is zero or, for floats of 16 and 32 bits, NaN. Accesses are weak. The accelerator does not see what threads of
the block have written before (`TokenOrder.follows_write`), nor they what it writes, whose end nobody waits for: no
token orders a store by it and another access. An extent that a launch can compute counts as below 2^31, as a launch
takes other code for one that is not.

Who makes it. The launcher does, if it can compute the whole tensor from the parameters (`gpu.descriptors`). Otherwise
every tile block does, in scratch memory and behind two fences.

Where it pays. A descriptor that a block makes costs it about a microsecond, and a copy is only fast if it is
started ahead of time. Triton's pipeliner does that for tiles which a loop multiplies, and for no others. So descriptors
serve loads of tiles of rank 2 or more, in loops that multiply large tiles; and they are made in front of the loop. A
small tile comes with the large one that it is multiplied with: two ways of copying in one loop wait for each other.
The sums of such a loop go through shared memory to become rows of 16 bytes for each thread either way; a descriptor
saves the addresses and the tests of large tiles that the edge of the tensor may cross (docs/gpu.md has the figures).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tileir.analysis.ranges import Range
from tileir.analysis.structure import enclosing_loop
from tileir.gpu.descriptors import ALIGNMENT, DescriptorParameter
from tileir.gpu.ttir.analysis.hints import allows_tma, bytes_of, comes_of_products
from tileir.gpu.ttir.forms import LoweredTensorView, LoweredTileView, stored
from tileir.gpu.ttir.ir.code import I32, TtirType, TtirValue
from tileir.gpu.ttir.lib import scalars
from tileir.gpu.ttir.lib.tiling import MAX_I32
from tileir.gpu.ttir.lowering import TtirLowering
from tileir.ir import types as t
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Op
from tileir.ops import views

MAX_RANK = 5
MAX_STRIDE = 1 << 40
"""Bytes."""

MIN_TILES = 8192
"""The fewest bytes of tiles which an iteration multiplies that are worth descriptors."""

MIN_STORED = 16384
"""The fewest bytes of a tile that is worth a descriptor to store it."""

PADDING_CODES = {None: 1, t.PaddingValue.ZERO: 1, t.PaddingValue.NAN: 2}
NAN_ELEMENTS = (t.F16, t.BF16, t.F32, t.TF32)


# ---------------------------------------------------------------- making


def described(lowering: TtirLowering, op: Op, view: LoweredTileView) -> LoweredTileView:
    """Return the view that `op` makes; if it is legal and pays, with a descriptor and extents that are known to fit."""
    users = lowering.users.of(op.results[0])
    if not any(_is_wanted(lowering, op, view, user) for user in users) or not is_legal(lowering, view):
        return view
    told = None if lowering.by_address else _parameter(lowering, view)
    if told is None:
        for extent in view.tensor.shape:
            _require_narrow(lowering, extent)
    shape = tuple(_promised(lowering, extent) for extent in view.tensor.shape)
    descriptor = _made_by_block(lowering, view, shape) if told is None else lowering.descriptor(told)
    return replace(view, tensor=replace(view.tensor, shape=shape), descriptor=descriptor)


def _is_wanted(lowering: TtirLowering, op: Op, view: LoweredTileView, user: Op) -> bool:
    """Return whether an access through the view that `op` makes gains by a descriptor."""
    if isinstance(user, views.LoadView):
        return loads(lowering, user) and enclosing_loop(user) is not enclosing_loop(op)
    return isinstance(user, views.StoreView) and stores(lowering, user, view)


def is_legal(lowering: TtirLowering, view: LoweredTileView) -> bool:
    """Return whether the hardware takes a descriptor of the view."""
    type, known = view.type, lowering.known
    size = _element_bytes(type)
    if isinstance(type, t.GatherScatterViewType) or type.element is t.F4E2M1FN or not 1 <= type.rank <= MAX_RANK:
        return False
    if type.padding not in PADDING_CODES or (type.padding is t.PaddingValue.NAN and type.element not in NAN_ELEMENTS):
        return False
    inner = _unit_dim(view.tensor)
    if inner is None or _tile_extent(type, inner) * size < ALIGNMENT:
        return False
    outer = [known.of(stride) for dim, stride in enumerate(view.tensor.strides) if dim != inner]
    if lowering.by_address and any(stride.low <= 0 for stride in outer):
        return False
    return (
        lowering.arch.has_descriptors
        and known.divisor(view.tensor.base) >= ALIGNMENT
        and all(stride.divisor * size >= ALIGNMENT and _is_within(stride, MAX_STRIDE // size) for stride in outer)
        and all(_is_reachable(lowering, extent) for extent in view.tensor.shape)
    )


def _is_reachable(lowering: TtirLowering, extent: TtirValue) -> bool:
    """Return whether signed coordinates reach all of an extent, or a launch can check that they do."""
    if _is_within(lowering.known.of(extent), 1 << 31):
        return True
    is_told = _is_within(lowering.known.of(extent), 1 << 32) and not lowering.by_address
    return is_told and lowering.expression(extent) is not None


def _is_within(known: Range, limit: int) -> bool:
    return known.low >= 0 and known.high < limit


def _unit_dim(tensor: LoweredTensorView) -> int | None:
    """Return the dimension of the tensor whose elements lie side by side."""
    units = [dim for dim, stride in enumerate(tensor.type.strides) if stride == 1]
    return units[-1] if units else None


def _tile_extent(view: t.TileViewType, dim: int) -> int:
    """Return the extent of a tile along a dimension of the tensor."""
    return view.tile_shape[view.tensor_dims.index(dim)]


def memory_order(tensor: LoweredTensorView) -> list[int]:
    """Return the dimensions of the tensor as the hardware takes them: the one without gaps last."""
    inner = _unit_dim(tensor)
    assert inner is not None
    return [*(dim for dim in range(tensor.type.rank) if dim != inner), inner]


def _parameter(lowering: TtirLowering, view: LoweredTileView) -> DescriptorParameter | None:
    """Return the descriptor that launches make; None if they cannot."""
    dims, tensor = memory_order(view.tensor), view.tensor
    numbers = [tensor.base, *(tensor.shape[dim] for dim in dims), *(tensor.strides[dim] for dim in dims[:-1])]
    told = [expression for number in numbers if (expression := lowering.expression(number)) is not None]
    if len(told) < len(numbers):
        return None
    size, pads_with_nan = _element_bytes(view.type), view.type.padding is t.PaddingValue.NAN
    extents, strides = tuple(told[1 : 1 + len(dims)]), tuple(told[1 + len(dims) :])
    return DescriptorParameter(_descriptor_type(view), size, told[0], extents, strides, pads_with_nan)


def _element_bytes(view: t.TileViewType) -> int:
    return TtirType(stored(view.element)).bits // 8


def _descriptor_type(view: LoweredTileView) -> str:
    extents = "x".join(str(_tile_extent(view.type, dim)) for dim in memory_order(view.tensor))
    return f"!tt.tensordesc<{extents}x{stored(view.type.element)}>"


def _promised(lowering: TtirLowering, extent: TtirValue) -> TtirValue:
    """Return an extent that a launch has found to be below 2^31 as an i64 that is known to be."""
    known = lowering.known.of(extent)
    if known.high <= MAX_I32:
        return extent
    narrow = scalars.narrowed(lowering, extent)
    lowering.known.promise(narrow, known.divisor, 0, MAX_I32)
    return lowering.build.resized(narrow, "i64", signed=True)


def _made_by_block(lowering: TtirLowering, view: LoweredTileView, shape: Sequence[TtirValue]) -> TtirValue:
    """Return a descriptor that each tile block makes, of a tensor with these extents."""
    dims = memory_order(view.tensor)
    return lowering.build.op(
        "tt.make_tensor_descriptor",
        view.tensor.base,
        *(_described(lowering, shape[dim]) for dim in dims),
        *(view.tensor.strides[dim] for dim in dims),
        type=TtirType(_descriptor_type(view)),
        operandSegmentSizes=(1, len(dims), len(dims)),
        padding=PADDING_CODES[view.type.padding],
    )


def _require_narrow(lowering: TtirLowering, extent: TtirValue) -> None:
    """Have launches require an extent below 2^31; whoever passes a larger one nevertheless ends the kernel."""
    build = lowering.build
    if lowering.known.of(extent).high > MAX_I32:
        told = lowering.expression(extent)
        assert told is not None, extent
        lowering.narrow.append(told)
        with build.where(build.compare("ugt", extent, scalars.number(lowering, MAX_I32))):
            build.asm("trap;", "=r", [], I32, pure=False)


def _described(lowering: TtirLowering, extent: TtirValue) -> TtirValue:
    """Return an extent as the hardware takes it, an i32 from 1 on. For an extent of 0 see `_is_empty`."""
    narrow = scalars.narrowed(lowering, extent)
    if lowering.known.of(extent).low > 0:
        return narrow
    return lowering.build.op("arith.maxsi", narrow, lowering.build.integer(I32, 1))


# ---------------------------------------------------------------- where it pays


def loads(lowering: TtirLowering, op: views.LoadView) -> bool:
    """Return whether a load may go through a descriptor and gains by it."""
    if enclosing_loop(op) is None or lowering.order.follows_write(op) or not _is_simple(lowering, op):
        return False
    assert op.parent is not None
    beside = [load.tile for load in op.parent.ops if isinstance(load, views.LoadView)]
    multiplied = lowering.users.multiplied
    return multiplied(op.tile) and sum(bytes_of(tile) for tile in beside if multiplied(tile)) >= MIN_TILES


def _is_simple(lowering: TtirLowering, op: views.LoadView | views.StoreView) -> bool:
    """Return whether an access is weak and has a tile of two dimensions or more, and no hint is against it."""
    weak = op.memory_ordering_semantics is MemoryOrdering.WEAK
    wide = [extent for extent in op.view.type.tile_shape if extent > 1]
    return weak and len(wide) > 1 and allows_tma(op, lowering.arch)


def stores(lowering: TtirLowering, op: views.StoreView, view: LoweredTileView) -> bool:
    """Return whether a store may go through a descriptor and gains by it. The tile goes through shared memory, and in a
    loop would take it from the pipeline of the next iteration."""
    order = lowering.order
    is_ordered = order.follows_access(op) or order.is_followed(op)
    if enclosing_loop(op) is not None or is_ordered or not _is_simple(lowering, op):
        return False
    has_size = MIN_STORED <= bytes_of(op.tile) <= lowering.arch.shared_memory // 2
    return has_size and _may_be_cut(lowering, view) and comes_of_products(op.tile)


def _may_be_cut(lowering: TtirLowering, view: LoweredTileView) -> bool:
    """Return whether the edge of the tensor may run through a tile."""
    type = view.type
    extents = [lowering.known.divisor(view.tensor.shape[dim]) for dim in type.tensor_dims]
    return any(min(extents[at], type.tile_steps[at]) < count for at, count in enumerate(type.tile_shape))


# ---------------------------------------------------------------- copying


@dataclass(frozen=True)
class _Box:
    """The part of a tensor that a copy is about: its first coordinates, in the order of memory (`memory_order`); the
    dimensions of the tile in that order; and those of them that have more than one element."""

    starts: Sequence[TtirValue]
    order: Sequence[int]
    kept: Sequence[int]


def _box(lowering: TtirLowering, view: LoweredTileView, indices: Sequence[TtirValue]) -> _Box:
    """Return the box of the tile at `indices`."""
    build, dims, counts, steps = lowering.build, view.type.tensor_dims, view.type.tile_shape, view.type.tile_steps
    order = [dims.index(dim) for dim in memory_order(view.tensor)]
    starts = [_coordinate(lowering, indices[position], steps[position]) for position in order]
    empty = _is_empty(lowering, view.tensor)
    if empty is not None:
        starts[0] = build.select(empty, build.integer(I32, MAX_I32), starts[0])
    return _Box(starts, order, [position for position in order if counts[position] > 1])


def _coordinate(lowering: TtirLowering, index: TtirValue, step: int) -> TtirValue:
    """Return the start of the tile at `index` along a dimension. Beyond all extents it does not matter how far."""
    build, known, last = lowering.build, lowering.known.of(index), MAX_I32 // step
    narrow = build.resized(index, "i32", signed=False)
    start = build.op("arith.muli", narrow, build.integer(I32, step))
    if known.low >= 0 and known.high <= last:
        return start
    reachable = build.compare("ule", index, build.integer(index.type, last))
    return build.select(reachable, start, build.integer(I32, MAX_I32))


def _is_empty(lowering: TtirLowering, tensor: LoweredTensorView) -> TtirValue | None:
    """Emit an i1 that is set if the tensor has no elements; None if it surely has some."""
    build = lowering.build
    found: TtirValue | None = None
    for extent in tensor.shape:
        if lowering.known.of(extent).low <= 0:
            test = build.compare("eq", extent, scalars.number(lowering, 0))
            found = test if found is None else build.op("arith.ori", found, test)
    return found


def loaded(lowering: TtirLowering, view: LoweredTileView, indices: Sequence[TtirValue]) -> TtirValue:
    """Return the tile at `indices` as it lies in memory, without dimensions of one element."""
    assert view.descriptor is not None
    build, counts, box = lowering.build, view.type.tile_shape, _box(lowering, view, indices)
    type = TtirType(stored(view.type.element), tuple(counts[position] for position in box.order))
    tile = build.op("tt.descriptor_load", view.descriptor, *box.starts, type=type, cache=1, evict=1)
    tile = build.reshape(tile, *(counts[position] for position in box.kept))
    return build.transpose(tile, *(box.kept.index(position) for position in sorted(box.kept)))


def store(lowering: TtirLowering, view: LoweredTileView, indices: Sequence[TtirValue], tile: TtirValue) -> None:
    """Write the elements of a tile, as they lie in memory and without dimensions of one element, that lie in the
    tensor."""
    assert view.descriptor is not None
    build, box = lowering.build, _box(lowering, view, indices)
    tile = build.transpose(tile, *(sorted(box.kept).index(position) for position in box.kept))
    tile = build.reshape(tile, *(view.type.tile_shape[position] for position in box.order))
    build.effect("tt.descriptor_store", view.descriptor, tile, *box.starts)
