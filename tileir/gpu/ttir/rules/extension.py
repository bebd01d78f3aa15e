"""TTIR of operations of early documents (spec: extension#operations): functions, generated tiles, rows, the barrier."""

from __future__ import annotations

from collections.abc import Sequence

from tileir.analysis.effects import MemoryAccess
from tileir.gpu.ttir.ir.code import TtirValue
from tileir.gpu.ttir.lib.libdevice import PREFIX, SIGNATURES, library_function
from tileir.gpu.ttir.lib.regions import generated
from tileir.gpu.ttir.lib.words import bits_of, from_bits
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.ir import core
from tileir.ir import types as t
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.escaping import shown
from tileir.ir.rules import Rules
from tileir.ops import extension, views

rules: Rules[Lower] = Rules()


@rules(extension.Generate)
def lower_generate(lowering: TtirLowering, op: extension.Generate) -> TtirValue:
    return generated(lowering, op)


# ---------------------------------------------------------------- functions


@rules(extension.Asin)
def lower_asin(lowering: TtirLowering, op: extension.Asin) -> TtirValue:
    return library_function(lowering.build, "asin", lowering.value(op.source))


@rules(extension.ExternElementwise)
def lower_extern_elementwise(lowering: TtirLowering, op: extension.ExternElementwise) -> TtirValue:
    _require_signature(lowering, op)
    values = [lowering.value(value) for value in op.args]
    return lowering.build.op(
        "tt.extern_elementwise",
        *values,
        type=lowering.type_of(op.result),
        libname="",
        libpath="",
        symbol=op.symbol,
        pure=op.pure,
    )


def _require_signature(lowering: TtirLowering, op: extension.ExternElementwise) -> None:
    """Raise UnsupportedError for anything but a function of the device library with the types that it has."""
    found = tuple(_element(value) for value in op.args), _element(op.result)
    if not op.symbol.startswith(PREFIX):
        why = f", a function of the host: GPUs of NVIDIA have those named {PREFIX}..."
    elif lowering.build.vendor.library_prefix != PREFIX:
        why = ", a function for NVIDIA's GPUs"
    elif op.symbol not in SIGNATURES:
        why = ", which the device library does not have for numbers"
    elif found != SIGNATURES[op.symbol]:
        why = f": expected {_shown(*SIGNATURES[op.symbol])}, got {_shown(*found)}"
    else:
        return
    raise lowering.unsupported(op, f"calls '{shown(op.symbol)}'{why}")


def _element(value: core.Value) -> str:
    element = value.tile.element
    return "ptr" if isinstance(element, t.PointerType) else element.name


def _shown(operands: Sequence[str], result: str) -> str:
    return f"({', '.join(operands)}) -> {result}"


# ---------------------------------------------------------------- rows at arbitrary positions


@rules(extension.GatherLoad)
def lower_gather_load(lowering: TtirLowering, op: extension.GatherLoad) -> None:
    """Lower a weak load through the gather/scatter view that the operands describe."""
    load = views.LoadView.build(
        [op.result.type, t.TOKEN],
        op.loc,
        memory_ordering_semantics=MemoryOrdering.WEAK,
        view=_row_view(lowering, op.source, op.result.type, op.dim, op.padding, op),
        index=MemoryAccess.of(op).indices,
    )
    load.set_result(0, op.result)  # what is known of its users holds for the load
    lowering.lower(load)


@rules(extension.ScatterStore)
def lower_scatter_store(lowering: TtirLowering, op: extension.ScatterStore) -> None:
    """Lower a weak store through the gather/scatter view that the operands describe."""
    store = views.StoreView.build(
        [t.TOKEN],
        op.loc,
        memory_ordering_semantics=MemoryOrdering.WEAK,
        tile=op.source,
        view=_row_view(lowering, op.destination, op.source.type, op.dim, None, op),
        index=MemoryAccess.of(op).indices,
    )
    lowering.lower(store)


def _row_view(
    lowering: TtirLowering,
    tensor: core.Value,
    tile: t.TileType,
    dim: int,
    padding: t.PaddingValue | None,
    op: core.Op,
) -> core.Value:
    type = t.GatherScatterViewType(tile.shape, tensor.tensor_view, dim, padding)
    make = views.MakeGatherScatterView.build([type], op.loc, tensor_view=tensor)
    lowering.lower(make)
    return make.result


# ---------------------------------------------------------------- the barrier


@rules(extension.OptimizationBarrier)
def lower_optimization_barrier(lowering: TtirLowering, op: extension.OptimizationBarrier) -> TtirValue:
    """Emit a move by an instruction that the optimizer neither removes nor reads."""
    build, source = lowering.build, lowering.value(op.source)
    bits = bits_of(build, source)
    wide = bits if bits.type.bits == 64 else build.resized(bits, "i32", signed=False)
    moved = build.resized(build.vendor.opaque(wide), bits.type.element, signed=False)
    return from_bits(build, moved, source.type.element)
