"""Native code for views (spec: views#top) and multicast memory with a single replica (spec: multimem#top)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from llvmlite import ir

from tileir.analysis.effects import MemoryAccess
from tileir.cpu.emit.elements import I64
from tileir.cpu.emit.record import TrapKind
from tileir.cpu.emit.tiles import NativeTensorView, NativeTileView, pointer_to
from tileir.cpu.lowering.reports import warn_if
from tileir.cpu.lowering.state import Lower, Lowering
from tileir.cpu.memory.checks import check_claim, fit_of
from tileir.cpu.memory.loads import load
from tileir.cpu.memory.stores import reduce_into_view, store
from tileir.cpu.memory.strict import check_edges
from tileir.host import undefined
from tileir.ir import types as t
from tileir.ir.core import Op, Value
from tileir.ir.rules import Rules
from tileir.ops import multimem, views

rules: Rules[Lower] = Rules()
strict: Rules[Lower] = Rules()


# ---------------------------------------------------------------- making views


@rules(views.MakeTensorView)
def lower_make_tensor_view(lowering: Lowering, op: views.MakeTensorView) -> None:
    type = op.result.type
    base = pointer_to(lowering.builder, lowering.scalar(op.base))
    extents = _entries(lowering, type.shape, op.dynamicShape)
    strides = _entries(lowering, type.strides, op.dynamicStrides)
    for what, static, given, entries in (
        ("extent", type.shape, op.dynamicShape, extents),
        ("stride", type.strides, op.dynamicStrides, strides),
    ):
        _check_entries(lowering, op, what, static, given, entries)
    view = NativeTensorView(base, extents, strides)
    fit = fit_of(lowering, op.base, op.result, view, type.element)
    lowering.values[op.result] = replace(view, fit=fit)
    if lowering.strict:
        check_claim(lowering, op, view)


def _check_entries(
    lowering: Lowering,
    op: Op,
    what: str,
    static: tuple[t.Dim, ...],
    given: Sequence[Value],
    entries: Sequence[ir.Value],
) -> None:
    """Trap at a dynamic extent or stride of 2^63 or more, which only an i64 can hold; in strict mode also at 0."""
    builder, emit = lowering.builder, lowering.emit
    dynamic = [dim for dim, entry in enumerate(static) if entry is None]
    for dim, value in zip(dynamic, given):
        entry = entries[dim]
        if lowering.checked and value.tile.number.bits == 64:
            too_large = builder.icmp_signed("<", entry, I64(0))
            emit.trap_with(too_large, op, undefined.too_large(what, "{}", dim), TrapKind.NUMBER, [entry])
        if lowering.strict:
            emit.trap_if(builder.icmp_unsigned("==", entry, I64(0)), op, undefined.not_positive(what, dim))


def _entries(lowering: Lowering, static: tuple[t.Dim, ...], dynamic: Sequence[Value]) -> tuple[ir.Value, ...]:
    given = iter([lowering.unsigned(value) for value in dynamic])
    return tuple(next(given) if entry is None else I64(entry) for entry in static)


@rules(views.MakePartitionView, views.MakeStridedView, views.MakeGatherScatterView)
def lower_make_tile_view(lowering: Lowering, op: views.MakePartitionView) -> None:
    lowering.values[op.result] = NativeTileView(lowering.tensor_view(op.tensor_view), op.result.type)


# ---------------------------------------------------------------- asking views


@rules(views.GetTensorShape)
def lower_get_tensor_shape(lowering: Lowering, op: views.GetTensorShape) -> None:
    _bind_extents(lowering, op.extents, lowering.tensor_view(op.src).extents)


@rules(views.GetIndexSpaceShape)
def lower_get_index_space_shape(lowering: Lowering, op: views.GetIndexSpaceShape) -> None:
    view = lowering.tile_view(op.src)
    builder = lowering.builder
    extents = [view.tensor.extents[dim] for dim in view.type.tensor_dims]
    counts = []
    for extent, step in zip(extents, view.type.tile_steps):
        whole = builder.udiv(extent, I64(step))
        rest = builder.icmp_unsigned("!=", builder.urem(extent, I64(step)), I64(0))
        counts.append(builder.add(whole, builder.zext(rest, I64)))
    _bind_extents(lowering, op.extents, counts)


def _bind_extents(lowering: Lowering, results: Sequence[Value], extents: Sequence[ir.Value]) -> None:
    for result, extent in zip(results, extents):
        bits = result.tile.number.bits
        lowering.bind_number(result, extent if bits == 64 else lowering.builder.trunc(extent, ir.IntType(bits)))


# ---------------------------------------------------------------- accessing tiles


@rules(views.LoadView, multimem.MultimemLoadReduceView)
def lower_load(lowering: Lowering, op: Op) -> None:
    """Lower a load; one that reduces over a single replica gives what is there."""
    load(lowering, MemoryAccess.of(op))


@rules(views.StoreView, multimem.MultimemStoreView)
def lower_store(lowering: Lowering, op: Op) -> None:
    store(lowering, MemoryAccess.of(op))


@strict(views.LoadView)
def check_load(lowering: Lowering, op: views.LoadView) -> None:
    whole = check_edges(lowering, op)
    if op.view.type.padding is None:
        warn_if(lowering, lowering.builder.not_(whole), op, undefined.UNPADDED_VIEW)


@strict(views.StoreView)
def check_store(lowering: Lowering, op: views.StoreView) -> None:
    check_edges(lowering, op)


@rules(multimem.MultimemReduceView)
def lower_reduce(lowering: Lowering, op: multimem.MultimemReduceView) -> None:
    reduce_into_view(lowering, MemoryAccess.of(op), op.reduction.atomic_mode(op.view.type.element.is_float))


@strict(multimem.MultimemLoadReduceView, multimem.MultimemReduceView, multimem.MultimemStoreView)
def check_access(lowering: Lowering, op: Op) -> None:
    check_edges(lowering, op)
