"""Native code for calls of device functions (operations 8): the code of the function stands where it is called.

Results cross from each `return` to the caller in slots, as from the branches of an `if`.
"""

from __future__ import annotations

from tileir.cpu.control import read_into, slots_of
from tileir.cpu.fusion import Fusion
from tileir.cpu.lowering import Lower, Lowering, Target
from tileir.cpu.tiles import Lowered, Tile, materialized
from tileir.ir.core import Block, Op
from tileir.ir.rules import Rules
from tileir.ops.extension import Call, Func

rules: Rules[Lower] = Rules()


@rules(Call)
def lower_call(lowering: Lowering, op: Call) -> None:
    lowering.settle_all(op)
    function = _callee(op)
    for parameter, argument in zip(function.body.args, op.args):
        lowering.values[parameter] = _argument(lowering, lowering.values[argument])
    results = slots_of(lowering, op.outputs)
    end = lowering.builder.append_basic_block("returned")
    _inline(lowering, function.body, Target(end, results))
    lowering.builder.position_at_end(end)
    read_into(lowering, results, op.outputs)


def _argument(lowering: Lowering, value: Lowered) -> Lowered:
    return materialized(lowering.emit, value) if isinstance(value, Tile) else value


def _inline(lowering: Lowering, body: Block, end: Target) -> None:
    """The code of a function, with decisions of its own about what fuses; each `return` jumps to `end`."""
    caller, lowering.fusion = lowering.fusion, Fusion(body)
    lowering.returns.append(end)
    with lowering.emit.region():
        lowering.run(body)
    lowering.returns.pop()
    lowering.pending.clear()
    lowering.fusion = caller


def _callee(op: Call) -> Func:
    """The function of that name in the module; the verifier has seen that there is one."""
    return next(item for item in _module_block(op).ops if isinstance(item, Func) and item.sym_name == op.callee)


def _module_block(op: Op) -> Block:
    block = op.parent
    while block is not None and block.parent is not None and block.parent.parent is not None:
        block = block.parent.parent
    assert block is not None
    return block
