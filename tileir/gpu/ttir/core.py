"""TTIR of the core operations (specification 8.3)."""

from __future__ import annotations

from tileir.gpu.ttir.code import I32
from tileir.gpu.ttir.lowering import Lower, Lowering
from tileir.ir.rules import Rules
from tileir.ops import core

rules: Rules[Lower] = Rules()


@rules(core.GetTileBlockId, core.GetNumTileBlocks)
def lower_grid(lowering: Lowering, op: core.GetTileBlockId) -> None:
    name = "tt.get_program_id" if isinstance(op, core.GetTileBlockId) else "tt.get_num_programs"
    for axis, result in enumerate(op.results):
        lowering.bind(result, lowering.build.op(name, type=I32, axis=axis))


@rules(core.Iota)
def lower_iota(lowering: Lowering, op: core.Iota) -> None:
    type = lowering.type_of(op.result)
    counted = lowering.build.range(type.count)
    lowering.bind(op.result, lowering.build.resized(counted, type.element, signed=False))
