"""Reading and writing elements at addresses, as weakly or as strongly as asked (spec: implementations#gpu).

Knows: the instructions for each ordering and scope. Does not know: where the addresses come from, nor what elements in
memory mean to tiles (`cells`).

Weak accesses are ``ld`` and ``st``, in vectors where addresses allow. The others are one instruction for each element,
done by one thread, which hands the element on to the others: ``ld.relaxed`` and ``st.relaxed``, with a fence behind an
acquire and in front of a release.
"""

from __future__ import annotations

from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import TtirValue
from tileir.gpu.ttir.lowering import TtirLowering
from tileir.ir.attributes import MemoryOrdering, MemoryScope

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
    """The elements at `pointers`. Where `mask` is false nothing is read, and the result is `other`, or 0."""
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
    """Pointers to integers instead of floats: strong accesses are about bits."""
    element = pointers.type.of(pointers.type.pointee)
    return build.bitcast(pointers, f"!tt.ptr<i{element.bits}>") if element.is_float else pointers
