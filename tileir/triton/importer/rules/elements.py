"""Elements of tensors by their position: gather, histogram, and a region that is run for each."""

from __future__ import annotations

from collections.abc import Sequence

from tileir.ir import types as t
from tileir.ir.attributes import AtomicMode, MemoryOrdering, MemoryScope, Predicate
from tileir.ir.core import Value
from tileir.ops.atomics import AtomicRmw
from tileir.ops.control import Continue, For
from tileir.ops.conversion import IntToPtr, PtrToInt
from tileir.ops.core import Iota, Offset
from tileir.ops.integer import AddI, AndI, MulI
from tileir.ops.pointers import Alloca, LoadPtr, StorePtr
from tileir.ops.shapes import Extract, Insert
from tileir.triton.importer.building import TileBuilder
from tileir.triton.importer.faults import mismatch
from tileir.triton.importer.importing import (
    Importing,
    ImportRules,
    Results,
    TensorDescriptor,
    integer,
    loop_body,
    parts_of_all,
)
from tileir.triton.importer.rules.control import run_body
from tileir.triton.importer.rules.descriptors import load_at, store_at
from tileir.triton.importer.syntax import MlirOperation, MlirPointer, MlirTensor, MlirType

rules = ImportRules()
WEAK = MemoryOrdering.WEAK


@rules("tt.gather")
def gather(importing: Importing, op: MlirOperation) -> Results:
    """Import a gather by way of the program's own memory."""
    build, (source, index) = importing.build, importing.operands(op, 2)
    axis = integer(op, "axis")
    if not 0 <= axis < source.tile.rank or index.tile.rank != source.tile.rank:
        raise mismatch(f"expected an axis below {source.tile.rank}, and as many dimensions in the indices")
    stored, shape = in_memory(importing, source), source.tile.shape
    base = _own_memory(build, stored.tile.number, stored.tile.count)
    everywhere = _pointers(build, base, [_along(build, shape, dim) for dim in range(source.tile.rank)], shape)
    (token,) = build.insert(StorePtr, [t.TOKEN], destination=everywhere, value=stored, memory_ordering_semantics=WEAK)
    at = [index if dim == axis else _along(build, index.tile.shape, dim) for dim in range(index.tile.rank)]
    type = index.tile.with_element(stored.tile.element)
    pointers = _pointers(build, base, at, shape)
    found, _ = build.insert(LoadPtr, [type, t.TOKEN], source=pointers, token=token, memory_ordering_semantics=WEAK)
    return found if stored is source else build.cast(IntToPtr, found, source.tile.element)


def _own_memory(build: TileBuilder, element: t.ElementType, count: int) -> Value:
    return build.op(Alloca, t.tile(t.PointerType(element)), num_elem=count, alignment=element.byte_size)


def _along(build: TileBuilder, shape: Sequence[int], dim: int) -> Value:
    """Return the position of each element in one dimension."""
    numbers = build.op(Iota, t.tile(t.I32, shape[dim]))
    line = build.reshaped(numbers, [extent if axis == dim else 1 for axis, extent in enumerate(shape)])
    return build.broadcast(line, shape)


def _pointers(build: TileBuilder, base: Value, at: Sequence[Value], shape: Sequence[int]) -> Value:
    """Return pointers to elements of a tile of a shape that lies in memory, by their positions."""
    offset: Value | None = None
    for position, extent in zip(at, shape):
        position = build.resized(position, t.I32, signed=True)
        if offset is not None:
            offset = build.same(MulI, offset, build.integer(offset.tile, extent))
        offset = position if offset is None else build.same(AddI, offset, position)
    assert offset is not None, "a tensor has dimensions"
    pointers = build.broadcast(base, offset.tile.shape)
    return build.op(Offset, pointers.type, ptr=pointers, offset=offset)


@rules("tt.histogram")
def histogram(importing: Importing, op: MlirOperation) -> Results:
    """Import a histogram, counted in memory of the program's own; numbers of no bin, undefined in Triton, are not
    counted."""
    build, ((source,), (mask,)) = importing.build, importing.with_optional(op, 1, 1)
    type = importing.result_type(op)
    base = _own_memory(build, type.number, type.count)
    bins = _pointers(build, base, [_along(build, type.shape, 0)], type.shape)
    (token,) = build.insert(
        StorePtr, [t.TOKEN], destination=bins, value=build.integer(type, 0), memory_ordering_semantics=WEAK
    )
    counted = build.compare(Predicate.LESS_THAN, source, build.integer(source.tile, type.count), signed=False)
    mask = counted if mask is None else build.same(AndI, counted, mask)
    one = build.integer(source.tile.with_element(type.element), 1)
    _, token = build.insert(
        AtomicRmw, [one.type, t.TOKEN], pointers=_pointers(build, base, [source], type.shape), arg=one,
        mask=mask, token=token, mode=AtomicMode.ADD, memory_ordering_semantics=MemoryOrdering.RELAXED,
        memory_scope=MemoryScope.TL_BLK,
    )  # fmt: skip
    return build.insert(LoadPtr, [type, t.TOKEN], source=bins, token=token, memory_ordering_semantics=WEAK)[0]


# ------------------------------------------------------------ a region for each element


@rules("tt.map_elementwise")
def map_elements(importing: Importing, op: MlirOperation) -> Results:
    """Import a map: without control flow the region is run on whole tensors, else for some elements after the
    others."""
    sources = importing.operands(op)
    pack = integer(op, "pack", 1)
    if not sources or len(op.regions) != 1 or pack < 1 or sources[0].tile.count % pack:
        raise mismatch("expected operands, a region, and a number of elements that divides theirs")
    if len(op.regions[0][0].arguments) != pack * len(sources):
        raise mismatch(f"expected a region with {pack * len(sources)} arguments")
    straight = len(op.regions[0]) == 1 and not any(
        inner.regions or inner.name == "tt.call" for inner in op.regions[0][0].operations
    )
    if straight and pack == 1:
        return _on_tensors(importing, op, sources)
    return _in_turn(importing, op, sources, pack)


def _on_tensors(importing: Importing, op: MlirOperation, sources: Sequence[Value]) -> Results:
    names = [argument.name for argument in op.regions[0][0].arguments]
    importing.lifted, outer = sources[0].tile.shape, importing.lifted
    try:
        with importing.scope(names, sources):
            return run_body(importing, op.regions[0], op, ())
    finally:
        importing.lifted = outer


def _in_turn(importing: Importing, op: MlirOperation, sources: Sequence[Value], pack: int) -> Results:
    """Return a loop that takes `pack` elements of each operand at a time."""
    build, shape, count = importing.build, sources[0].tile.shape, sources[0].tile.count
    flat = [build.reshaped(source, (count,)) for source in sources]
    results = [importing.result_type(op, index) for index in range(len(op.results))]
    carried = [build.zero(t.tile(type.element, count)) for type in results]
    body = loop_body(importing, op, carried, [t.tile(t.I32)])
    with body.inside():
        body.end(Continue, _turn(importing, op, flat, body.block.args, pack))
    build.loc = op.loc
    zero, one, end = (build.integer(t.tile(t.I32), number) for number in (0, 1, count // pack))
    types = [value.type for value in carried]
    found = body.made(For, op.loc, types, lowerBound=zero, upperBound=end, step=one)
    return [build.reshaped(result, shape) for result in found]


def _turn(
    importing: Importing, op: MlirOperation, sources: Sequence[Value], arguments: Sequence[Value], pack: int
) -> list[Value]:
    """Import one turn of the loop, counted by the first argument; the others get its elements."""
    build, counter = importing.build, arguments[0]
    first = build.same(MulI, counter, build.integer(counter.tile, pack)) if pack > 1 else counter
    places = [build.same(AddI, first, build.integer(counter.tile, index)) if index else first for index in range(pack)]
    given = [
        build.reshaped(build.op(Extract, t.tile(source.tile.element, 1), source=source, indices=[place]), ())
        for source in sources
        for place in places
    ]
    elements = [_scalar(type) for type in op.result_types for _ in places]
    with importing.scope([argument.name for argument in op.regions[0][0].arguments], given):
        found = run_body(importing, op.regions[0], op, elements)
    made = list(arguments[1 : 1 + len(op.result_types)])
    for index, value in enumerate(parts_of_all(found)):
        tile = made[index // pack]
        one = build.reshaped(value, (1,))
        made[index // pack] = build.op(Insert, tile.type, source=one, destination=tile, indices=[places[index % pack]])
    return made


def _scalar(type: MlirType) -> MlirType:
    if not isinstance(type, MlirTensor):
        raise mismatch("expected tensors as results")
    return type.element


# ---------------------------------------------------------------- pointers


@rules("tt.addptr")
def add(importing: Importing, op: MlirOperation) -> Results:
    pointer, offset = importing.operands(op, 2)
    return importing.build.op(Offset, pointer.type, ptr=pointer, offset=offset)


@rules("tt.load")
def load(importing: Importing, op: MlirOperation) -> Results:
    """Import a weak load; a volatile one, with which kernels wait for each other, is a relaxed one of the device."""
    block = _block_pointer(importing, op)
    if block is not None:
        return load_at(importing, op, block)
    (pointer,), (mask, padding) = importing.with_optional(op, 1, 2)
    if padding is not None:
        padding = in_memory(importing, padding)
    volatile = op.attributes.get("isVolatile") is True
    type = pointer.tile.with_element(pointer.tile.pointer.pointee)
    (found,) = importing.access(
        LoadPtr, type, writes=volatile, source=pointer, mask=mask, paddingValue=padding,
        memory_ordering_semantics=MemoryOrdering.RELAXED if volatile else MemoryOrdering.WEAK,
        memory_scope=MemoryScope.DEVICE if volatile else None,
    )  # fmt: skip
    return _loaded(importing, op, found)


def _block_pointer(importing: Importing, op: MlirOperation) -> TensorDescriptor | None:
    found = importing.imported(op.operands[0]) if op.operands else None
    return found if isinstance(found, TensorDescriptor) and found.offsets else None


def _loaded(importing: Importing, op: MlirOperation, found: Value) -> Value:
    """Return the loaded value: a pointer if the written type of the address points to pointers."""
    written = op.types[0] if op.types else None
    pointer = written.element if isinstance(written, MlirTensor) else written
    if isinstance(pointer, MlirPointer) and isinstance(pointer.pointee, MlirPointer):
        return importing.build.cast(IntToPtr, found, importing.tile(pointer.pointee).element)
    return found


@rules("tt.store")
def store(importing: Importing, op: MlirOperation) -> None:
    block = _block_pointer(importing, op)
    if block is not None and len(op.operands) == 2:
        store_at(importing, op, block, importing.value(op.operands[1]))
        return
    (pointer, value), (mask,) = importing.with_optional(op, 2, 1)
    importing.access(
        StorePtr, writes=True, destination=pointer, value=in_memory(importing, value), mask=mask,
        memory_ordering_semantics=MemoryOrdering.WEAK,
    )  # fmt: skip


def in_memory(importing: Importing, value: Value) -> Value:
    """Return a value as it lies in memory: pointers as addresses."""
    return importing.build.cast(PtrToInt, value, t.I64) if isinstance(value.tile.element, t.PointerType) else value
