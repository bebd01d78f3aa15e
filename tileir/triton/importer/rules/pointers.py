"""Pointers, and loads and stores through them."""

from __future__ import annotations

from tileir.ir import types as t
from tileir.ir.attributes import MemoryOrdering, MemoryScope
from tileir.ir.core import Value
from tileir.ops.conversion import IntToPtr, PtrToInt
from tileir.ops.core import Offset
from tileir.ops.pointers import LoadPtr, StorePtr
from tileir.triton.importer.importing import Importing, Results
from tileir.triton.importer.rules.table import Table
from tileir.triton.importer.syntax import MlirOperation, MlirPointer, MlirTensor

rules = Table()


@rules("tt.addptr")
def add(importing: Importing, op: MlirOperation) -> Results:
    pointer, offset = importing.operands(op, 2)
    return importing.build.op(Offset, pointer.type, ptr=pointer, offset=offset)


@rules("tt.load")
def load(importing: Importing, op: MlirOperation) -> Results:
    """Import a weak load; a volatile one, with which kernels wait for each other, is a relaxed one of the device."""
    pointer, *others = importing.operands(op, 1, 2, 3)
    mask, padding = [*others, None, None][:2]
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


def _loaded(importing: Importing, op: MlirOperation, found: Value) -> Value:
    """Return the loaded value: a pointer if the written type of the address points to pointers."""
    written = op.types[0] if op.types else None
    pointer = written.element if isinstance(written, MlirTensor) else written
    if isinstance(pointer, MlirPointer) and isinstance(pointer.pointee, MlirPointer):
        return importing.build.cast(IntToPtr, found, importing.tile(pointer.pointee).element)
    return found


@rules("tt.store")
def store(importing: Importing, op: MlirOperation) -> None:
    pointer, value, *masks = importing.operands(op, 2, 3)
    importing.access(
        StorePtr, writes=True, destination=pointer, value=in_memory(importing, value), mask=masks[0] if masks else None,
        memory_ordering_semantics=MemoryOrdering.WEAK,
    )  # fmt: skip


def in_memory(importing: Importing, value: Value) -> Value:
    """Return a value as it lies in memory: pointers as addresses."""
    return importing.build.cast(PtrToInt, value, t.I64) if isinstance(value.tile.element, t.PointerType) else value
