"""Native code for operations of early documents (spec: extension#operations): arc sine, rows of views, generators."""

from __future__ import annotations

from llvmlite import ir

from tileir.analysis.effects import MemoryAccess
from tileir.cpu.emit.elements import I32, Num
from tileir.cpu.emit.emitter import Emitter, Index
from tileir.cpu.emit.tiles import ExpressionTile, new_buffer, real, rounded
from tileir.cpu.lowering.elementwise import element_of, pointwise
from tileir.cpu.lowering.safepoints import hand_over
from tileir.cpu.lowering.state import Lower, Lowering
from tileir.cpu.mathlib.trigonometric import atan2_f64
from tileir.cpu.memory.loads import load
from tileir.cpu.memory.stores import store
from tileir.ir import types as t
from tileir.ir.rules import Rules
from tileir.ops import extension

rules: Rules[Lower] = Rules()


@rules(extension.Asin)
def lower_asin(lowering: Lowering, op: extension.Asin) -> None:
    """Lower the arc sine: the angle whose sine is x has the cosine sqrt(1 - x^2), NaN where that is the root of a
    negative number."""
    element = element_of(op)

    def compute(builder: ir.IRBuilder, source: Num) -> Num:
        sine = real(builder, source).double()
        angle = atan2_f64(sine, ((1.0 - sine) * (1.0 + sine)).root())
        return rounded(element, angle if element is t.F64 else angle.single())

    pointwise(lowering, op, compute)


@rules(extension.GatherLoad)
def lower_gather_load(lowering: Lowering, op: extension.GatherLoad) -> None:
    """Lower a weak load through the gather/scatter view that the operands describe."""
    load(lowering, MemoryAccess.of(op))


@rules(extension.ScatterStore)
def lower_scatter_store(lowering: Lowering, op: extension.ScatterStore) -> None:
    store(lowering, MemoryAccess.of(op))


@rules(extension.ExternElementwise)
def lower_extern_elementwise(lowering: Lowering, op: extension.ExternElementwise) -> None:
    """Have the process that launched the kernel apply the function to whole tiles."""
    result = new_buffer(lowering.emit, op.result.type)
    hand_over(lowering, op, [lowering.tile(value) for value in op.args], result)
    lowering.values[op.result] = result


@rules(extension.Generate)
def lower_generate(lowering: Lowering, op: extension.Generate) -> None:
    type = op.result.type

    def compute(emit: Emitter, index: Index) -> Num:
        positions = [Num(t.I32, wide=emit.builder.trunc(at, I32)) for at in index]
        return lowering.combined(op.body, positions)[0]

    target = new_buffer(lowering.emit, type)
    source = ExpressionTile(type, compute)
    lowering.emit.loop_nest(type.shape, lambda index: target.put(lowering.emit, index, source.at(lowering.emit, index)))
    lowering.values[op.result] = target


@rules(extension.OptimizationBarrier)
def lower_optimization_barrier(lowering: Lowering, op: extension.OptimizationBarrier) -> None:
    lowering.values[op.result] = lowering.values[op.source]
