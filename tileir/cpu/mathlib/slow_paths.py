"""Rare slow cases of a function, out of the way of the loop that computes it.

A scalar function corrects a result where its arguments need it. Forms of it for vectors test all lanes at once, so that
a loop stays on vectors and branches only where a lane is in need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from tileir.cpu.emit.algebra import Flag, Real, call_intrinsic
from tileir.cpu.emit.elements import FLOAT, I1, I32
from tileir.cpu.emit.vectorizability import WideFunction

_ATTRIBUTES = ("memory(none)", "nounwind", "willreturn")

Needs = Callable[..., Flag]
"""Maps the arguments, scalars or vectors, to a flag that is set where they need the slow case."""
Slow = Callable[..., Real]
"""Maps scalar arguments to the result; it may branch."""


def corrected(name: str, fast: Real, arguments: Sequence[Real], needs: Needs, slow: Slow) -> Real:
    """Return `fast`, but `slow` of the arguments where they need it. `name` stands for `needs` and `slow`."""
    builder, kind = fast.builder, "f32" if fast.type == FLOAT else "f64"
    name = f"math.{name}.{kind}"
    function = builder.module.globals.get(name)
    if function is None:
        function = _scalar_form(builder.module, name, fast.type, len(arguments), needs, slow)
    return Real(builder, builder.call(function, [fast.value, *(argument.value for argument in arguments)]))


def _begun(function: ir.Function) -> ir.IRBuilder:
    function.linkage = "internal"
    function.attributes.update(("noinline", *_ATTRIBUTES))
    return ir.IRBuilder(function.append_basic_block())


def _scalar_form(module: ir.Module, name: str, type: ir.Type, count: int, needs: Needs, slow: Slow) -> ir.Function:
    kind = ir.FunctionType(type, [type] * (count + 1))
    function = WideFunction(module, kind, name, lambda scalar, lanes: _vector_form(scalar, lanes, count, needs))
    builder = _begun(function)
    fast, *arguments = (Real(builder, argument) for argument in function.args)
    _return_one(builder, needs(*arguments).value, fast.value, lambda: slow(*arguments).value)
    return function


def _return_one(builder: ir.IRBuilder, needed: ir.Value, fast: ir.Value, slow: Callable[[], ir.Value]) -> None:
    """End a function with `fast`, or where it is needed with what `slow` computes."""
    before = builder.block
    with builder.if_then(needed, likely=False):
        result = slow()
        after = builder.block
    merged = builder.phi(fast.type)
    merged.add_incoming(fast, before)
    merged.add_incoming(result, after)
    builder.ret(merged)


def _vector_form(scalar: ir.Function, lanes: int, count: int, needs: Needs) -> ir.Function:
    """Return `fast` unless a lane needs more; then the scalar function for every lane, one after the other."""
    type = ir.VectorType(scalar.return_value.type, lanes)
    kind = ir.FunctionType(type, [type] * (count + 1))
    function = ir.Function(scalar.module, kind, f"{scalar.name}.{lanes}")
    builder = _begun(function)
    mask = needs(*(Real(builder, argument) for argument in function.args[1:])).value
    any_lane = call_intrinsic(builder, "llvm.vector.reduce.or", I1, [mask])
    _return_one(builder, any_lane, function.args[0], lambda: _one_by_one(builder, scalar, function.args, lanes))
    return function


def _one_by_one(builder: ir.IRBuilder, scalar: ir.Function, arguments: Sequence[ir.Value], lanes: int) -> ir.Value:
    before, body, end = builder.block, builder.append_basic_block("lane"), builder.append_basic_block("lanes")
    builder.branch(body)
    builder.position_at_end(body)
    lane, result = builder.phi(I32), builder.phi(arguments[0].type)
    found = builder.call(scalar, [builder.extract_element(argument, lane) for argument in arguments])
    changed = builder.insert_element(result, found, lane)
    following = builder.add(lane, I32(1))
    for phi, start, again in ((lane, I32(0), following), (result, arguments[0], changed)):
        phi.add_incoming(start, before)
        phi.add_incoming(again, body)
    builder.cbranch(builder.icmp_unsigned("<", following, I32(lanes)), body, end)
    builder.position_at_end(end)
    return changed
