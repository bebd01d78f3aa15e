"""Loads that are read in the loop of a store: what to do when both touch the same memory.

A fused loop reads one element, computes and writes one element. That equals "all reads, then all writes" unless the
loop writes what it has yet to read. Memory that is read at an index only for that index, from where it is written, is
safe; for any other load the memory ranges are compared when the code runs, and where they meet the load is copied to
the arena first.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from llvmlite import ir

from tileir.cpu.elements import I64, PTR, memory_bytes
from tileir.cpu.emitter import Emitter, either
from tileir.cpu.lowering import Lowering
from tileir.cpu.tiles import Window, fill, new_buffer
from tileir.ir.core import Op, Value
from tileir.ops.views import LoadView, StoreView


@contextmanager
def guarded(lowering: Lowering, op: Op, loads: list[Value], memory: Window) -> Iterator[None]:
    """While inside, the windows of `loads` may be read in a loop that writes `memory`."""
    emit = lowering.emit
    changed: list[tuple[Window, ir.Value, tuple[ir.Value, ...]]] = []
    with emit.region():
        for value in loads:
            window = lowering.values[value]
            in_place = lowering.fusion.read_in_place(value, op)
            if isinstance(window, Window) and window.shared and not (in_place and _same_place(value.op, op)):
                changed.append((window, window.base, window.strides))
                _copy_if_overlapping(emit, window, memory, in_place)
        yield
    for window, base, strides in changed:
        window.base, window.strides = base, strides


def _same_place(load: Op | None, store: Op) -> bool:
    """Whether both access the same tile of the same view."""
    if not (isinstance(load, LoadView) and isinstance(store, StoreView)):
        return False
    return load.view is store.view and all(mine is other for mine, other in zip(load.index, store.index))


def _copy_if_overlapping(emit: Emitter, window: Window, memory: Window, in_place: bool) -> None:
    """Copy a window that shares memory with `memory`; not where each element is read and written in one step."""
    builder = emit.builder
    begin, end = _range(emit, window)
    other_begin, other_end = _range(emit, memory)
    apart = builder.or_(builder.icmp_unsigned("<=", end, other_begin), builder.icmp_unsigned("<=", other_end, begin))
    if in_place and memory_bytes(window.element) == memory_bytes(memory.element):
        apart = builder.or_(apart, _identical(builder, window, memory))
    copy = new_buffer(emit, window.type)
    before = builder.block
    with builder.if_then(builder.not_(apart), likely=False):
        fill(emit, copy, window)
        copied = builder.block
    window.base = either(builder, PTR, (window.base, before), (copy.base, copied))
    window.strides = tuple(
        either(builder, I64, (mine, before), (dense, copied)) for mine, dense in zip(window.strides, copy.strides)
    )


def _identical(builder: ir.IRBuilder, window: Window, memory: Window) -> ir.Value:
    same = builder.icmp_unsigned("==", window.base, memory.base)
    for mine, other in zip(window.strides, memory.strides):
        same = builder.and_(same, builder.icmp_unsigned("==", mine, other))
    return same


def _range(emit: Emitter, window: Window) -> tuple[ir.Value, ir.Value]:
    """The first byte of the window and the one behind its last."""
    builder = emit.builder
    begin = builder.ptrtoint(window.base, I64)
    last: ir.Value = I64(0)
    for extent, stride in zip(window.type.shape, window.strides):
        last = builder.add(last, builder.mul(I64(extent - 1), stride))
    size = memory_bytes(window.element)
    return begin, builder.add(begin, builder.add(builder.mul(last, I64(size)), I64(size)))
