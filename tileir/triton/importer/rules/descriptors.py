"""Tensor descriptors: blocks of a tensor in memory, at any offsets; what is outside the tensor reads as zero or NaN.

Blocks go through views: of a partition where the offsets are known as multiples of the block, which may also lie wholly
outside, and of tiles that begin anywhere where the offsets are not negative, as those of views never are. Other blocks
go through pointers with a mask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce

from tileir.ir import types as t
from tileir.ir.attributes import AtomicMode, MemoryOrdering, MemoryScope, Predicate, Signedness
from tileir.ir.core import Value
from tileir.ops.atomics import AtomicRmw
from tileir.ops.core import Iota, Offset
from tileir.ops.division import DivI
from tileir.ops.integer import AddI, AndI, MulI
from tileir.ops.pointers import LoadPtr, StorePtr
from tileir.ops.views import (
    LoadView,
    MakeGatherScatterView,
    MakePartitionView,
    MakeStridedView,
    MakeTensorView,
    StoreView,
)
from tileir.triton.importer.facts import constant, fact
from tileir.triton.importer.faults import mismatch, refused
from tileir.triton.importer.importing import (
    Importing,
    ImportRules,
    Results,
    TensorDescriptor,
    integers,
    keyword,
    one_of,
)
from tileir.triton.importer.syntax import MlirDescriptor, MlirOperation
from tileir.triton.importer.types import flat_types

rules = ImportRules()
WEAK = MemoryOrdering.WEAK


@rules("tt.make_tensor_descriptor")
def make(importing: Importing, op: MlirOperation) -> Results:
    *_, type = [None, *op.types, *op.result_types]
    parts = importing.operands(op)
    if not isinstance(type, MlirDescriptor) or len(parts) != 1 + 2 * len(type.shape):
        raise mismatch("expected an address, and an extent and a stride for each dimension of the result")
    return importing.descriptor(type, parts, nan=_pads_with_nan(op))


def _pads_with_nan(op: MlirOperation) -> bool:
    return keyword(op, "padding", ("zero", "nan"), first=1) == "nan"


@rules("tt.make_tensor_ptr")
def make_block_pointer(importing: Importing, op: MlirOperation) -> Results:
    *_, type = [None, *op.types, *op.result_types]
    parts = importing.operands(op)
    if not isinstance(type, MlirDescriptor) or len(parts) != len(flat_types(type)):
        raise mismatch("expected an address, and an extent, a stride and an offset for each dimension of the result")
    return importing.descriptor(type, parts)


@rules("tt.advance")
def advance(importing: Importing, op: MlirOperation) -> Results:
    """Return a block pointer with these numbers of elements added to its offsets."""
    pointer, steps = _descriptor(importing, op), [importing.value(use) for use in op.operands[1:]]
    if len(steps) != len(pointer.offsets):
        raise mismatch(f"expected an offset for each of {len(pointer.offsets)} dimensions")
    offsets = (importing.build.same(AddI, offset, step) for offset, step in zip(pointer.offsets, steps))
    return replace(pointer, offsets=tuple(offsets))


def load_at(importing: Importing, op: MlirOperation, pointer: TensorDescriptor) -> Value:
    """Load the block of a block pointer; bounds hold in the dimensions that the operation names."""
    return load_block(importing, replace(pointer, nan=_pads_with_nan(op)), pointer.offsets, _checked(op, pointer))


def store_at(importing: Importing, op: MlirOperation, pointer: TensorDescriptor, value: Value) -> None:
    """Store the block of a block pointer; bounds hold in the dimensions that the operation names."""
    store_block(importing, pointer, pointer.offsets, value, _checked(op, pointer))


def _checked(op: MlirOperation, pointer: TensorDescriptor) -> tuple[int, ...]:
    """Return the dimensions of a block in which bounds hold."""
    dims, rank = integers(op, "boundaryCheck"), len(pointer.offsets)
    wrong = next((dim for dim in dims if not 0 <= dim < rank), None)
    if wrong is not None:
        raise mismatch(f"expected dimensions below {rank} as attribute 'boundaryCheck', got {wrong}")
    return dims


@rules("tt.descriptor_load")
def load(importing: Importing, op: MlirOperation) -> Results:
    descriptor, offsets, _ = _operands(importing, op)
    found = load_block(importing, descriptor, offsets)
    return importing.build.reshaped(found, importing.result_type(op).shape)


@rules("tt.descriptor_store")
def store(importing: Importing, op: MlirOperation) -> None:
    descriptor, offsets, values = _operands(importing, op)
    store_block(importing, descriptor, offsets, importing.build.reshaped(values[0], descriptor.type.shape))


@rules("tt.descriptor_gather")
def gather(importing: Importing, op: MlirOperation) -> Results:
    descriptor, rows, offsets = _rows(importing, op)
    return load_block(importing, descriptor, [rows, offsets[0]])


@rules("tt.descriptor_scatter")
def scatter(importing: Importing, op: MlirOperation) -> None:
    descriptor, rows, (column, value) = _rows(importing, op)
    store_block(importing, descriptor, [rows, column], value)


_KINDS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
"""Kinds in the order of their numbers, from 1, in the generic form."""


@rules("tt.descriptor_reduce")
def update(importing: Importing, op: MlirOperation) -> None:
    """Import an update: each element of the block combined with memory, by an operation of its own."""
    descriptor, offsets, values = _operands(importing, op)
    pointers, mask = _pointers(importing, descriptor, offsets)
    mode = _mode(one_of(op, "kind", _KINDS, first=1, index=0).upper(), descriptor)
    value = importing.build.reshaped(values[0], descriptor.type.shape)
    importing.access(
        AtomicRmw, value.type, writes=True, pointers=pointers, arg=value, mask=mask, mode=mode,
        memory_ordering_semantics=MemoryOrdering.RELAXED, memory_scope=MemoryScope.DEVICE,
    )  # fmt: skip


def _mode(kind: str, descriptor: TensorDescriptor) -> AtomicMode:
    """Return the mode of an atomic operation, by the kind and the element type, which says whether integers have
    signs."""
    element = str(descriptor.type.element)
    if kind in ("INC", "DEC"):
        raise refused(f"Tile IR has no atomic '{kind.lower()}'", "use atomic_add")
    if "f" not in element:
        return AtomicMode[f"U{kind}" if element.startswith("u") and kind in ("MIN", "MAX") else kind]
    if kind != "ADD":
        raise refused(f"Tile IR has no atomic '{kind.lower()}' of floats", "combine the blocks in the kernel")
    return AtomicMode.ADDF


# ------------------------------------------------------------ operands


def _descriptor(importing: Importing, op: MlirOperation) -> TensorDescriptor:
    found = importing.imported(op.operands[0]) if op.operands else None
    if not isinstance(found, TensorDescriptor):
        raise mismatch("expected a tensor descriptor as the first operand")
    return found


def _operands(importing: Importing, op: MlirOperation) -> tuple[TensorDescriptor, list[Value], list[Value]]:
    """Return the descriptor, an offset for each dimension, and tensors."""
    descriptor = _descriptor(importing, op)
    others = [importing.value(use) for use in op.operands[1:]]
    offsets = [value for value in others if not value.tile.shape]
    tensors = [value for value in others if value.tile.shape]
    if len(offsets) != len(descriptor.type.shape) or len(tensors) != (0 if op.name.endswith("load") else 1):
        raise mismatch(f"expected an offset for each of {len(descriptor.type.shape)} dimensions")
    return descriptor, offsets, tensors


def _rows(importing: Importing, op: MlirOperation) -> tuple[TensorDescriptor, Value, list[Value]]:
    """Return the descriptor, numbers of rows, the first column, and what is stored."""
    descriptor = _descriptor(importing, op)
    rows, *others = (importing.value(use) for use in op.operands[1:])
    if len(descriptor.type.shape) != 2 or len(others) != 1 + op.name.endswith("scatter"):
        raise mismatch("expected a descriptor of two dimensions, numbers of rows and a column")
    shape = (rows.tile.count, descriptor.type.shape[1])
    return replace(descriptor, type=MlirDescriptor(shape, descriptor.type.element)), rows, others


# ------------------------------------------------------------ blocks


def load_block(
    importing: Importing, descriptor: TensorDescriptor, offsets: Sequence[Value], checked: Sequence[int] | None = None
) -> Value:
    """Return the block that begins at the offsets, or consists of the rows that the first of them numbers.

    Bounds hold in the dimensions `checked`, by default in all.
    """
    build, element = importing.build, descriptor.base.tile.pointer.pointee
    type = t.TileType(descriptor.type.shape, element)
    viewed = _viewed(importing, descriptor, offsets, checked)
    if viewed is not None:
        view, index = viewed
        return importing.access(LoadView, type, writes=False, view=view, index=index, memory_ordering_semantics=WEAK)[0]
    pointers, mask = _pointers(importing, descriptor, offsets, checked)
    bits = element.padding_bits(descriptor.padding) or 0
    padding = None if mask is None else build.dense(type, bits.to_bytes(element.byte_size, "little"))
    (found,) = importing.access(
        LoadPtr, type, writes=False, source=pointers, mask=mask, paddingValue=padding, memory_ordering_semantics=WEAK
    )
    return found


def store_block(
    importing: Importing,
    descriptor: TensorDescriptor,
    offsets: Sequence[Value],
    value: Value,
    checked: Sequence[int] | None = None,
) -> None:
    """Store what of a block lies in the tensor, by its bounds in the dimensions `checked`, by default in all."""
    viewed = _viewed(importing, descriptor, offsets, checked)
    if viewed is not None:
        view, index = viewed
        importing.access(StoreView, writes=True, tile=value, view=view, index=index, memory_ordering_semantics=WEAK)
        return
    pointers, mask = _pointers(importing, descriptor, offsets, checked)
    importing.access(
        StorePtr, writes=True, destination=pointers, value=value, mask=mask, memory_ordering_semantics=WEAK
    )


def _viewed(
    importing: Importing, descriptor: TensorDescriptor, offsets: Sequence[Value], checked: Sequence[int] | None
) -> tuple[Value, list[Value]] | None:
    """Return a view of blocks and the index of the one at the offsets; None if no view is known to have it."""
    build, shape = importing.build, descriptor.type.shape
    if checked is not None and set(checked) != set(range(len(shape))):
        return None
    facts = [fact(offset) for offset in offsets]
    if offsets[0].tile.shape:
        if not facts[1].nonnegative:
            return None
        tensor = _tensor_view(importing, descriptor)
        type: t.TileViewType = t.GatherScatterViewType(shape, tensor.type, 0, descriptor.padding)
        return build.op(MakeGatherScatterView, type, tensor_view=tensor), list(offsets)
    if all(one.divisor % extent == 0 for one, extent in zip(facts, shape)):
        tensor = _tensor_view(importing, descriptor)
        type = t.PartitionViewType(shape, tensor.type, descriptor.padding)
        index = [_divided(importing, offset, extent) for offset, extent in zip(offsets, shape)]
        return build.op(MakePartitionView, type, tensor_view=tensor), index
    if all(one.nonnegative for one in facts):
        tensor = _tensor_view(importing, descriptor)
        type = t.StridedViewType(shape, [1] * len(shape), tensor.type, descriptor.padding)
        return build.op(MakeStridedView, type, tensor_view=tensor), list(offsets)
    return None


def _tensor_view(importing: Importing, descriptor: TensorDescriptor) -> Value:
    """Return the whole tensor; what is constant of extents and strides stands in the type."""
    build = importing.build
    extents = [_positive(value) for value in descriptor.shape]
    strides = [_positive(value) for value in descriptor.strides]
    if not descriptor.offsets:
        strides[-1] = 1  # as Triton asks of descriptors
    wide = [build.resized(value, t.I64, signed=True) for value, one in zip(descriptor.shape, extents) if one is None]
    steps = [value for value, one in zip(descriptor.strides, strides) if one is None]
    type = t.TensorViewType(descriptor.base.tile.pointer.pointee, extents, strides)
    return build.op(MakeTensorView, type, base=descriptor.base, dynamicShape=wide, dynamicStrides=steps)


def _positive(value: Value) -> int | None:
    number = constant(value)
    return number if number is not None and number > 0 else None


def _divided(importing: Importing, offset: Value, extent: int) -> Value:
    """Return a multiple of an extent, divided by it."""
    build, owner = importing.build, offset.owner
    if isinstance(owner, MulI):
        for value, factor in ((owner.lhs, constant(owner.rhs)), (owner.rhs, constant(owner.lhs))):
            if factor is not None and factor % extent == 0:
                return value if factor == extent else _times(importing, value, factor // extent)
    if extent == 1:
        return offset
    number = constant(offset)
    if number is not None:
        return build.integer(offset.tile, number // extent)
    return build.same(DivI, offset, build.integer(offset.tile, extent), signedness=Signedness.SIGNED)


def _times(importing: Importing, value: Value, factor: int) -> Value:
    return importing.build.same(MulI, value, importing.build.integer(value.tile, factor))


def _pointers(
    importing: Importing,
    descriptor: TensorDescriptor,
    offsets: Sequence[Value],
    checked: Sequence[int] | None = None,
) -> tuple[Value, Value | None]:
    """Return pointers to the elements of a block, and which of them lie in the tensor; None if no bounds hold."""
    build, shape = importing.build, descriptor.type.shape
    pointers, masks = build.broadcast(descriptor.base, shape), []
    for dim, offset in enumerate(offsets):
        at = _coordinates(importing, offset, dim, shape)
        if checked is None or dim in checked:
            masks.append(build.broadcast(_inside(importing, at, descriptor.shape[dim]), shape))
        step = build.same(MulI, at, build.broadcast(descriptor.strides[dim], at.tile.shape))
        pointers = build.op(Offset, pointers.type, ptr=pointers, offset=build.broadcast(step, shape))
    return pointers, reduce(partial(build.same, AndI), masks) if masks else None


def _inside(importing: Importing, at: Value, extent: Value) -> Value:
    """Return which coordinates of one dimension lie in the tensor."""
    build = importing.build
    end = build.broadcast(build.resized(extent, t.I64, signed=True), at.tile.shape)
    inside = build.compare(Predicate.LESS_THAN, at, end)
    begun = build.compare(Predicate.GREATER_THAN_OR_EQUAL, at, build.integer(at.tile, 0))
    return build.same(AndI, begun, inside)


def _coordinates(importing: Importing, offset: Value, dim: int, shape: Sequence[int]) -> Value:
    """Return the coordinates of a block's elements in one dimension, as i64 along it."""
    build = importing.build
    along = [extent if axis == dim else 1 for axis, extent in enumerate(shape)]
    wide = build.resized(offset, t.I64, signed=True)
    if not offset.tile.shape:
        numbers = build.op(Iota, t.tile(t.I64, shape[dim]))
        wide = build.same(AddI, build.broadcast(wide, numbers.tile.shape), numbers)
    return build.reshaped(wide, along)
