"""Native code for operations of early documents (operations 8): arc sine, rows through tensor views, host functions."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from tileir.cpu.elements import Num
from tileir.cpu.elementwise import element_of, pointwise, real, rounded
from tileir.cpu.hosts import call_host
from tileir.cpu.lowering import Lower, Lowering
from tileir.cpu.mathlib.arctangent import atan2_f64
from tileir.cpu.places import Places, gathered, row_places, scatter
from tileir.cpu.tensors import tensor_view
from tileir.cpu.tiles import new_buffer
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Value
from tileir.ir.rules import Rules
from tileir.ir.types import F64, PaddingValue
from tileir.ops import extension

rules: Rules[Lower] = Rules()

RowAccess = extension.GatherLoad | extension.ScatterStore


@rules(extension.Asin)
def lower_asin(lowering: Lowering, op: extension.Asin) -> None:
    """The angle whose sine is x has the cosine sqrt(1 - x^2): NaN where that is the root of a negative number."""
    element = element_of(op)

    def compute(builder: ir.IRBuilder, source: Num) -> Num:
        sine = real(builder, source).double()
        angle = atan2_f64(sine, ((1.0 - sine) * (1.0 + sine)).root())
        return rounded(element, angle if element is F64 else angle.single())

    pointwise(lowering, op, compute)


@rules(extension.GatherLoad)
def lower_gather_load(lowering: Lowering, op: extension.GatherLoad) -> None:
    """A weak load through the gather/scatter view that the operands describe."""
    padding = None if op.fill_value is None else PaddingValue[op.fill_value.keyword.upper()]
    where = _places(lowering, op, op.source)
    lowering.values[op.result] = gathered(lowering, op.result.type, where, padding, MemoryOrdering.WEAK)


@rules(extension.ScatterStore)
def lower_scatter_store(lowering: Lowering, op: extension.ScatterStore) -> None:
    lowering.settle_all(op)
    where = _places(lowering, op, op.destination)
    scatter(lowering, lowering.tile(op.source), where, MemoryOrdering.WEAK)
    lowering.values[op.result_token] = None


def _places(lowering: Lowering, op: RowAccess, tensor: Value) -> Places:
    """The index of the view: the rows at `dim`, the offsets in the other dimensions."""
    index: Sequence[Value] = [*op.offsets[: op.dim], op.index, *op.offsets[op.dim :]]
    return row_places(lowering, tensor_view(lowering, tensor), op.dim, index)


@rules(extension.ExternElementwise)
def lower_extern_elementwise(lowering: Lowering, op: extension.ExternElementwise) -> None:
    """The process that launched the kernel applies the function to whole tiles."""
    result = new_buffer(lowering.emit, op.result.type)
    call_host(lowering, op, [lowering.tile(value) for value in op.args], result)
    lowering.values[op.result] = result
