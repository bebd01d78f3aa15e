"""Views: making them, asking their shapes, loading and storing tiles through them (spec: views#top).

A tile that lies in one piece of memory is copied as one strided box; single addresses are computed only where that is
not possible, and to say what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tileir.host import undefined
from tileir.interp.api import BlockState, EffectRule, PureRule
from tileir.interp.cells import CELLS, CheckedAccess, padding_value
from tileir.interp.faults import Fault
from tileir.interp.memory import Memory
from tileir.interp.tiling import Part, TensorView, TileView, check_reach, element_width, locator
from tileir.ir import types as t
from tileir.ir.core import Op, Value
from tileir.ir.diagnostics import Coordinates, UnsupportedError
from tileir.ir.rules import Rules
from tileir.ir.storage import DTYPES, dtype_of
from tileir.ops.views import (
    GetIndexSpaceShape,
    GetTensorShape,
    LoadView,
    MakeGatherScatterView,
    MakePartitionView,
    MakeStridedView,
    MakeTensorView,
    StoreView,
)

__all__ = ["Part", "TensorView", "TileView", "effects", "load_tile", "pure", "store_tile", "window"]

TARGET = "interp"
MAX_EXTENT = 1 << 63

pure: Rules[PureRule] = Rules()
effects: Rules[EffectRule] = Rules()


# ---------------------------------------------------------------- making views


@effects(MakeTensorView)
def make_tensor_view(op: MakeTensorView) -> Callable[..., object]:
    view, element = op.result.type, op.result.type.element
    shape_masks, stride_masks = _masks(op.dynamicShape), _masks(op.dynamicStrides)

    def run(
        block: BlockState, base: np.ndarray, shape: tuple[np.ndarray, ...], strides: tuple[np.ndarray, ...]
    ) -> TensorView:
        extents = _filled(op, block, "extent", view.shape, shape, shape_masks)
        made = TensorView(int(base), extents, _filled(op, block, "stride", view.strides, strides, stride_masks))
        wrong = block.memory.overclaim(made.base, element.memory_size(made.reach), element)
        if wrong is not None:
            block.overclaimed(op, wrong)
        return made

    return run


def _masks(values: Sequence[Value]) -> tuple[int, ...]:
    return tuple((1 << element_width(value)) - 1 for value in values)


def _filled(
    op: Op,
    block: BlockState,
    what: str,
    static: tuple[t.Dim, ...],
    dynamic: tuple[np.ndarray, ...],
    masks: tuple[int, ...],
) -> tuple[int, ...]:
    """Return the static entries with the operands, read as unsigned, in the places of the dynamic ones."""
    given = iter([int(value) & mask for value, mask in zip(dynamic, masks)])
    entries = tuple(next(given) if entry is None else entry for entry in static)
    for dim, entry in enumerate(entries):
        if not 0 < entry < MAX_EXTENT:
            _check_entry(op, block, what, entry, dim)
    return entries


def _check_entry(op: Op, block: BlockState, what: str, entry: int, dim: int) -> None:
    if entry:
        raise Fault(undefined.too_large(what, entry, dim))
    block.undefined(op, undefined.not_positive(what, dim))


@pure(MakePartitionView, MakeStridedView, MakeGatherScatterView)
def make_tile_view(op: MakePartitionView) -> Callable[..., object]:
    type = op.result.type
    return lambda tensor: TileView(tensor, type)


# ---------------------------------------------------------------- asking views


@pure(GetTensorShape)
def get_tensor_shape(op: GetTensorShape) -> Callable[..., object]:
    give = _giver(op)
    return lambda tensor: give(tensor.shape)


@pure(GetIndexSpaceShape)
def get_index_space_shape(op: GetIndexSpaceShape) -> Callable[..., object]:
    give, view = _giver(op), op.src.type
    dims, steps = view.tensor_dims, view.tile_steps
    return lambda view: give([-(-view.tensor.shape[dim] // step) for dim, step in zip(dims, steps)])


def _giver(op: Op) -> Callable[..., object]:
    """Return a function that turns extents into the results of `op`: the low bits of each, as tiles of the result
    types."""
    dtypes = [dtype_of(result.type.element) for result in op.results if isinstance(result.type, t.TileType)]

    def give(extents: tuple[int, ...]) -> object:
        results = tuple(_low_bits(extent, dtype) for extent, dtype in zip(extents, dtypes))
        return results if len(results) != 1 else results[0]

    return give


def _low_bits(value: int, dtype: np.dtype) -> np.ndarray:
    if dtype == np.bool_:
        return np.array(bool(value & 1))
    return np.array(value & ((1 << 8 * dtype.itemsize) - 1), f"u{dtype.itemsize}").view(dtype)


# ---------------------------------------------------------------- loading and storing tiles


def window(block: BlockState, tensor: TensorView, part: Part, access: CheckedAccess) -> np.ndarray | None:
    """Return the box of `part` in memory, in place; None if memory has to be asked element by element."""
    size = access.cell.size
    strides = tuple([stride * size for stride in part.strides])
    return block.memory.window(tensor.base + part.start * size, part.counts, strides, access)


def scattered(
    tensor: TensorView, part: Part, size: int, shape: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the address of each element of the tile, and a mask of those that lie in the tensor (None: all)."""
    check_reach(tensor, part, 8 * size)
    addresses = np.uint64(tensor.base) + part.offsets().view(np.uint64) * np.uint64(size)
    if part.full:
        return addresses, None
    tile, mask = np.zeros(shape, np.uint64), np.zeros(shape, np.bool_)
    tile[part.selector], mask[part.selector] = addresses, True
    return tile, mask


def load_tile(
    block: BlockState, tensor: TensorView, part: Part, element: t.ElementType, outside: np.ndarray
) -> np.ndarray:
    """Return the tile at `part`; `outside` is the tile of padding that its other elements come from."""
    access = CheckedAccess(CELLS[element], block.id, "load")
    raw = window(block, tensor, part, access)
    if raw is None:
        addresses, mask = scattered(tensor, part, access.cell.size, outside.shape)
        return block.memory.load(addresses, element, mask, outside, block.id)
    if part.sparse is not None:
        raw = raw[part.sparse.along_rows]
    if part.full:
        return raw.copy() if access.cell.plain and part.sparse is None else access.cell.to_tile(raw)
    tile = outside.copy()
    tile[part.selector] = access.cell.to_tile(raw)
    return tile


def store_tile(block: BlockState, tensor: TensorView, part: Part, element: t.ElementType, tile: np.ndarray) -> None:
    """Write the elements of `tile` that lie in the tensor; of equal addresses the last in row-major order wins."""
    access = CheckedAccess(CELLS[element], block.id, "store")
    raw = window(block, tensor, part, access) if part.distinct else None
    if raw is None:
        addresses, mask = scattered(tensor, part, access.cell.size, tile.shape)
        block.memory.store(addresses, tile, element, mask, block.id)
        return
    values = access.cell.to_memory(tile if part.full else tile[part.selector])
    if part.sparse is None:
        raw[...] = values
    else:
        raw[part.sparse.along_rows] = values


def outside_tile(op: Op, view: t.TileViewType) -> np.ndarray:
    """Return a tile that lies outside the tensor in whole, as a load reads it. Not to be written to."""
    value = padding_value(view.element, view.padding)
    if value is None:
        padding = view.padding.text if view.padding is not None else "zero"
        raise UnsupportedError(f"'{op.spec.name}': {view.element.name} has no padding value {padding}", TARGET, op.loc)
    return np.full(view.tile_shape, value, DTYPES[view.element])


@effects(LoadView)
def load_view(op: LoadView) -> Callable[..., object]:
    view = op.view.type
    element, outside, unpadded = view.element, outside_tile(op, view), view.padding is None
    locate = locator(op, view, op.index, op.inbounds)
    load = load_nibbles if element is t.F4E2M1FN else load_tile

    def run(block: BlockState, view: TileView, index: tuple[np.ndarray, ...], token: None) -> tuple[np.ndarray, None]:
        part = locate(block, view.tensor, index)
        if unpadded and block.options.strict and (part is None or not part.full):
            block.warn(op, undefined.UNPADDED_VIEW)
        return (outside if part is None else load(block, view.tensor, part, element, outside)), None

    return run


@effects(StoreView)
def store_view(op: StoreView) -> Callable[..., object]:
    element = op.view.type.element
    locate = locator(op, op.view.type, op.index, op.inbounds)
    store = store_nibbles if element is t.F4E2M1FN else store_tile

    def run(block: BlockState, tile: np.ndarray, view: TileView, index: tuple[np.ndarray, ...], token: None) -> None:
        part = locate(block, view.tensor, index)
        if part is not None:
            store(block, view.tensor, part, element, tile)

    return run


def load_nibbles(
    block: BlockState, tensor: TensorView, part: Part, element: t.ElementType, outside: np.ndarray
) -> np.ndarray:
    """Load a tile of elements of half a byte."""
    check_reach(tensor, part, element.memory_bits)
    values = read_nibbles(block.memory, tensor.base, part.offsets(), block.id)
    if part.full:
        return values
    tile = outside.copy()
    tile[part.selector] = values
    return tile


def store_nibbles(block: BlockState, tensor: TensorView, part: Part, element: t.ElementType, tile: np.ndarray) -> None:
    """Store a tile of elements of half a byte."""
    check_reach(tensor, part, element.memory_bits)
    values = tile if part.full else tile[part.selector]
    write_nibbles(block.memory, tensor.base, part.offsets(), values, block.id)


ONE = np.int64(1)
LOW, HIGH = np.uint8(0x0F), np.uint8(0xF0)
FOUR = np.uint8(4)


def _byte_addresses(base: int, offsets: np.ndarray) -> np.ndarray:
    return np.uint64(base) + (offsets >> ONE).view(np.uint64)


def read_nibbles(memory: Memory, base: int, offsets: np.ndarray, block: Coordinates) -> np.ndarray:
    """Return the elements at `offsets` (int64, counting elements from address `base`)."""
    raw = memory.read(_byte_addresses(base, offsets), CheckedAccess(CELLS[t.F4E2M1FN], block, "load"))
    return np.where(offsets & ONE, raw >> FOUR, raw & LOW).view(DTYPES[t.F4E2M1FN])


def write_nibbles(memory: Memory, base: int, offsets: np.ndarray, values: np.ndarray, block: Coordinates) -> None:
    """Write `values` at `offsets`. The two elements of a byte are not written at once: first all even ones."""
    places = memory.resolve(_byte_addresses(base, offsets).ravel(), CheckedAccess(CELLS[t.F4E2M1FN], block, "store"))
    memory.changes += 1
    bits, odd = values.view(np.uint8).ravel(), (offsets & ONE == 1).ravel()
    for part in places:
        lanes = slice(None) if part.lanes is None else part.lanes
        _write(part.flat, part.where, bits[lanes], ~odd[lanes], HIGH, np.uint8(0))
        _write(part.flat, part.where, bits[lanes], odd[lanes], LOW, FOUR)


def _write(
    flat: np.ndarray, where: np.ndarray | int, bits: np.ndarray, chosen: np.ndarray, kept: np.uint8, shift: np.uint8
) -> None:
    """Put the chosen `bits`, moved up by `shift`, beside the `kept` ones of their bytes."""
    places = np.asarray(where)[chosen]
    flat[places] = (flat[places] & kept) | (bits[chosen] << shift)
