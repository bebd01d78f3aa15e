"""Native code for the miscellaneous chapter (specification 8.12) and globals: promises, output, addresses."""

from __future__ import annotations

from tileir.cpu.elements import I64, PTR, Num
from tileir.cpu.hosts import call_host
from tileir.cpu.lowering import Lower, Lowering
from tileir.cpu.tiles import Scalar
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops import core, extension, misc

rules: Rules[Lower] = Rules()


@rules(misc.Assume, extension.OptimizationBarrier)
def lower_identity(lowering: Lowering, op: Op) -> None:
    """A promise costs nothing here; what it promises is not used."""
    lowering.values[op.results[0]] = lowering.values[op.operands[0]]


@rules(misc.PrintTko)
def lower_print(lowering: Lowering, op: misc.PrintTko) -> None:
    lowering.settle(op)
    call_host(lowering, op, [lowering.tile(value) for value in op.args])
    lowering.values[op.result_token] = None


@rules(core.GetGlobal)
def lower_get_global(lowering: Lowering, op: core.GetGlobal) -> None:
    type = op.result.type
    assert isinstance(type, t.TileType)
    address = lowering.slot(lowering.global_slots[op.symbol])
    number = Num(type.element, wide=I64(0), base=lowering.builder.inttoptr(address, PTR))
    lowering.values[op.result] = Scalar(type, number)
