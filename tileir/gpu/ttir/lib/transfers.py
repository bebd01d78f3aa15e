"""Loads and stores of tiles through tiles of pointers, in global and block memory, with the memory form of elements."""

from __future__ import annotations

from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import I32, TtirValue
from tileir.gpu.ttir.lib import scalars
from tileir.gpu.ttir.lowering import HIDDEN_ALIGNMENT, BlockMemory, TtirLowering
from tileir.ir import types as t
from tileir.ir.attributes import MemoryOrdering, MemoryScope
from tileir.ir.core import Op

SEMANTICS = {
    MemoryOrdering.RELAXED: 1,
    MemoryOrdering.ACQUIRE: 2,
    MemoryOrdering.RELEASE: 3,
    MemoryOrdering.ACQ_REL: 4,
}
"""The numbers of Triton's orderings."""

SCOPES = {MemoryScope.DEVICE: 1, MemoryScope.TL_BLK: 2, MemoryScope.SYS: 3}
"""The numbers of Triton's scopes. A tile block is one block of the hardware."""


def load(
    lowering: TtirLowering,
    pointers: TtirValue,
    mask: TtirValue | None = None,
    other: TtirValue | None = None,
    ordering: MemoryOrdering = MemoryOrdering.WEAK,
    scope: MemoryScope | None = None,
) -> TtirValue:
    """Return the elements at `pointers`. Where `mask` is false nothing is read, and the result is `other`, or 0."""
    build = lowering.build
    result = pointers.type.of(pointers.type.pointee)
    if mask is not None and other is None:
        other = build.bits(result, 0)
    if scope is not None:
        return _atomic_load(lowering, pointers, mask, other, ordering, scope)
    operands = [pointers] if mask is None or other is None else [pointers, mask, other]
    masked = int(len(operands) > 1)
    return build.op("tt.load", *operands, type=result, operandSegmentSizes=(1, masked, masked), isVolatile=False)


def _atomic_load(
    lowering: TtirLowering,
    pointers: TtirValue,
    mask: TtirValue | None,
    other: TtirValue | None,
    ordering: MemoryOrdering,
    scope: MemoryScope,
) -> TtirValue:
    build, element = lowering.build, pointers.type.pointee
    places = _as_words(build, pointers)
    chosen = build.truth(True, pointers.type.shape) if mask is None else mask
    type = places.type.of(places.type.pointee)
    sem, number = SEMANTICS[ordering], SCOPES[scope]
    found = build.bitcast(build.op("tt.atomic_load", places, chosen, type=type, sem=sem, scope=number), element)
    return found if mask is None or other is None else build.select(mask, found, other)


def store(
    lowering: TtirLowering,
    pointers: TtirValue,
    elements: TtirValue,
    mask: TtirValue | None = None,
    ordering: MemoryOrdering = MemoryOrdering.WEAK,
    scope: MemoryScope | None = None,
) -> None:
    """Write the elements at `pointers` where `mask` is true."""
    build = lowering.build
    if scope is None:
        build.effect("tt.store", pointers, elements, *(() if mask is None else (mask,)))
        return
    places = _as_words(build, pointers)
    chosen = build.truth(True, pointers.type.shape) if mask is None else mask
    words = build.bitcast(elements, places.type.pointee)
    sem, number = SEMANTICS[ordering], SCOPES[scope]
    build.effect("tt.atomic_store", places, words, chosen, sem=sem, scope=number)


def _as_words(build: Builder, pointers: TtirValue) -> TtirValue:
    """Return pointers to integers instead of floats: strong accesses are about bits."""
    element = pointers.type.of(pointers.type.pointee)
    return build.bitcast(pointers, f"!tt.ptr<i{element.bits}>") if element.is_float else pointers


BLOCK_MEMORY = BlockMemory(0)
"""Stands for the memory of blocks while its size is not known yet."""


def block_memory(lowering: TtirLowering, size: int) -> TtirValue:
    """Return the address of `size` more bytes that this block has for itself, a multiple of `HIDDEN_ALIGNMENT`."""
    before, own = lowering.block_memory, -(-size // HIDDEN_ALIGNMENT) * HIDDEN_ALIGNMENT
    lowering.block_memory += own
    return _part(lowering, before, own)


def _part(lowering: TtirLowering, before: int, size: int) -> TtirValue:
    """Return this block's part of memory, behind `before` bytes for every block, with `size` bytes for each."""
    blocks, own = _grid(lowering)
    base = lowering.parameter(BLOCK_MEMORY)
    skipped = scalars.product(lowering, blocks, scalars.number(lowering, before))
    offset = scalars.product(lowering, own, scalars.number(lowering, size))
    return scalars.moved(lowering, base, scalars.total(lowering, skipped, offset))


def _grid(lowering: TtirLowering) -> tuple[TtirValue, TtirValue]:
    """Return the number of blocks, and the linear number of this one."""
    build = lowering.build
    places, extents = (
        [scalars.unsigned(lowering, build.op(name, type=I32, axis=axis)) for axis in range(3)]
        for name in ("tt.get_program_id", "tt.get_num_programs")
    )
    count, own = extents[2], places[2]
    for place, extent in ((places[1], extents[1]), (places[0], extents[0])):
        own = scalars.total(lowering, scalars.product(lowering, own, extent), place)
        count = scalars.product(lowering, count, extent)
    return count, own


def aligned(lowering: TtirLowering, address: TtirValue, alignment: int) -> TtirValue:
    """Return the next multiple of `alignment`."""
    build = lowering.build
    number = build.cast("tt.ptr_to_int", address, "i64")
    up = build.op(
        "arith.andi",
        build.op("arith.subi", scalars.number(lowering, 0), number),
        scalars.number(lowering, alignment - 1),
    )
    return scalars.moved(lowering, address, up)


def from_memory(build: Builder, element: t.ElementType | t.PointerType, loaded: TtirValue) -> TtirValue:
    """Return elements as tiles hold them, from what was loaded."""
    if element is t.I1:
        return build.compare("ne", loaded, build.integer(loaded.type, 0))
    if element is t.TF32:
        words = build.bitcast(loaded, "i32")
        return build.bitcast(build.op("arith.andi", words, build.integer(words.type, t.TF32_MASK)), "f32")
    return loaded


def to_memory(build: Builder, element: t.ElementType | t.PointerType, tile: TtirValue) -> TtirValue:
    """Return the content of memory for elements as tiles hold them."""
    return build.resized(tile, "i8", signed=False) if element is t.I1 else tile


def padding(lowering: TtirLowering, op: Op, view: t.TileViewType) -> int:
    """Return the bits that elements outside read as, as they would lie in memory; 0 where the view does not say."""
    found = view.element.padding_bits(view.padding or t.PaddingValue.ZERO)
    if found is None:
        assert view.padding is not None
        raise lowering.unsupported(op, f"pads with {view.padding.text}, which {view.element.name} does not have")
    return found
