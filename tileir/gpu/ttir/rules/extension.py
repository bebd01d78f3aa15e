"""TTIR of operations of early documents (spec: extension#operations): functions, generated tiles, rows, the barrier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tileir.analysis.effects import MemoryAccess
from tileir.analysis.structure import RegionExit
from tileir.gpu.ttir.ir.code import TtirValue
from tileir.gpu.ttir.lib.libdevice import PREFIX, SIGNATURES, library_function
from tileir.gpu.ttir.lib.regions import placeholder, run
from tileir.gpu.ttir.lib.words import bits_of, from_bits
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.ir import core
from tileir.ir import types as t
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.escaping import shown
from tileir.ir.rules import Rules
from tileir.ir.traits import ELEMENTWISE
from tileir.ops import extension, views

rules: Rules[Lower] = Rules()


# ---------------------------------------------------------------- generated tiles


@rules(extension.Generate)
def lower_generate(lowering: TtirLowering, op: extension.Generate) -> TtirValue:
    if not op.result.type.shape:
        return run(lowering, op.body.ops).values[RegionExit.YIELD][0]
    if all(map(_is_elementwise, op.body.ops[:-1])):
        return _Widened(lowering, op.result.type.shape).run(op)
    return _element_by_element(lowering, op)


def _is_elementwise(op: core.Op) -> bool:
    """Return whether it works on tensors in place of scalars, or is the same for all elements."""
    if op.regions or not all(isinstance(result.type, t.TileType) and not result.type.shape for result in op.results):
        return False
    return ELEMENTWISE in op.spec.traits or not op.operands


@dataclass
class _Widened:
    """A body with tensors of `shape` for what differs from element to element."""

    lowering: TtirLowering
    shape: tuple[int, ...]
    wide: dict[core.Value, core.Value] = field(default_factory=dict)
    """The tensors, by the scalars that they stand for."""

    def run(self, op: extension.Generate) -> TtirValue:
        build = self.lowering.build
        *operations, end = op.body.ops
        for axis, argument in enumerate(op.body.args):
            self._stand(argument, build.positions(axis, *self.shape))
        for inner in operations:
            if inner.operands:
                self._lower(inner)
            else:
                self.lowering.lower(inner)
        return self.lowering.value(self._wide(end.operands[0]))

    def _lower(self, op: core.Op) -> None:
        """Lower the operation on tensors."""
        types: list[t.Type] = [self._type(result) for result in op.results]
        operands = [self._wide(operand) for operand in op.operands]
        widened = type(op)(operands, types, op.attributes, (), op.loc, op.segments)
        self.lowering.lower(widened)
        self.wide.update(zip(op.results, widened.results))

    def _wide(self, value: core.Value) -> core.Value:
        """Return the tensor for a scalar; of one that is the same for all elements a splat."""
        if value not in self.wide:
            self._stand(value, self.lowering.build.splat(self.lowering.value(value), *self.shape))
        return self.wide[value]

    def _stand(self, scalar: core.Value, tensor: TtirValue) -> None:
        self.wide[scalar] = core.Value(self._type(scalar), scalar.owner, scalar.index)
        self.lowering.bind(self.wide[scalar], tensor)

    def _type(self, scalar: core.Value) -> t.TileType:
        return t.TileType(self.shape, scalar.tile.element)


def _element_by_element(lowering: TtirLowering, op: extension.Generate) -> TtirValue:
    """Emit a loop that puts one element after the other into the tile."""
    build, type = lowering.build, lowering.type_of(op.result)
    numbers = build.numbers(*type.shape)

    def step(number: TtirValue, carried: Sequence[TtirValue]) -> list[TtirValue]:
        for argument, position in zip(op.body.args, build.places(number, *type.shape)):
            lowering.bind(argument, position)
        element = run(lowering, op.body.ops).values[RegionExit.YIELD][0]
        build.loc = op.loc
        here = build.compare("eq", numbers, build.like(number, numbers))
        return [build.select(here, build.like(element, carried[0]), carried[0])]

    return build.repeated(type.count, [placeholder(build, type)], step)[0]


# ---------------------------------------------------------------- functions


@rules(extension.Asin)
def lower_asin(lowering: TtirLowering, op: extension.Asin) -> TtirValue:
    return library_function(lowering.build, "asin", lowering.value(op.source))


@rules(extension.ExternElementwise)
def lower_extern_elementwise(lowering: TtirLowering, op: extension.ExternElementwise) -> TtirValue:
    _require_signature(lowering, op)
    return lowering.build.op(
        "tt.extern_elementwise",
        *lowering.tiles(op.args),
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
