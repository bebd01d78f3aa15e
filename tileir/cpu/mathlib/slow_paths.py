"""Rare slow cases of a function, out of the way of the loop that computes it.

Knows: how a scalar function is made that corrects a result where its arguments need it, together with forms of it for
vectors, which test all lanes at once. LLVM's loop vectoriser replaces a call of the scalar function by one of the forms
(its vector function ABI), so that a loop stays vectorised and branches only where a lane is in need.
Does not know: which functions, nor what their slow cases are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from tileir.cpu.emit.algebra import Flag, Real, call_intrinsic
from tileir.cpu.emit.elements import FLOAT, I1, I32, PTR

_LANES = (2, 4, 8, 16)
_ATTRIBUTES = ("memory(none)", "nounwind", "willreturn")
_RETAINED = "llvm.compiler.used"

Needs = Callable[..., Flag]
"""From the arguments, scalars or vectors, to where they need the slow case."""
Slow = Callable[..., Real]
"""From scalar arguments to the result; it may branch."""


class _CallAttributes(ir.instructions.CallInstrAttributes):
    """Attributes of a call that llvmlite has no names for."""

    def __init__(self, variants: str) -> None:
        super().__init__(["nounwind"])
        self._variants = variants

    def _to_list(self, typ: ir.Type) -> list[str]:
        return [*_ATTRIBUTES, f'"vector-function-abi-variant"="{self._variants}"']


def corrected(name: str, fast: Real, arguments: Sequence[Real], needs: Needs, slow: Slow) -> Real:
    """`fast`, but `slow` of the arguments where they need it. `name` stands for `needs` and `slow`."""
    builder, kind = fast.builder, "f32" if fast.type == FLOAT else "f64"
    name = f"math.{name}.{kind}"
    function = builder.module.globals.get(name)
    if function is None:
        function = _scalar_form(builder.module, name, fast.type, len(arguments), needs, slow)
        for lanes in _LANES:
            _vector_form(function, lanes, len(arguments), needs)
    call = builder.call(function, [fast.value, *(argument.value for argument in arguments)])
    call.attributes = _CallAttributes(_variants(name, len(arguments) + 1))
    return Real(builder, call)


def _variants(name: str, count: int) -> str:
    """The forms for vectors, as the vector function ABI names them."""
    return ",".join(f"_ZGV_LLVM_N{lanes}{'v' * count}_{name}({name}.{lanes})" for lanes in _LANES)


def _declared(module: ir.Module, name: str, type: ir.Type, count: int) -> tuple[ir.Function, ir.IRBuilder]:
    function = ir.Function(module, ir.FunctionType(type, [type] * (count + 1)), name)
    function.linkage = "internal"
    function.attributes.update(("noinline", *_ATTRIBUTES))
    return function, ir.IRBuilder(function.append_basic_block())


def _scalar_form(module: ir.Module, name: str, type: ir.Type, count: int, needs: Needs, slow: Slow) -> ir.Function:
    function, builder = _declared(module, name, type, count)
    fast, *arguments = (Real(builder, argument) for argument in function.args)
    before = builder.block
    with builder.if_then(needs(*arguments).value, likely=False):
        result = slow(*arguments).value
        after = builder.block
    merged = builder.phi(type)
    merged.add_incoming(fast.value, before)
    merged.add_incoming(result, after)
    builder.ret(merged)
    return function


def _vector_form(scalar: ir.Function, lanes: int, count: int, needs: Needs) -> None:
    """`fast` as it is unless a lane needs more; then the scalar function for every lane, one after the other."""
    type = ir.VectorType(scalar.return_value.type, lanes)
    function, builder = _declared(scalar.module, f"{scalar.name}.{lanes}", type, count)
    _retain(function)
    mask = needs(*(Real(builder, argument) for argument in function.args[1:])).value
    before = builder.block
    with builder.if_then(call_intrinsic(builder, "llvm.vector.reduce.or", I1, [mask]), likely=False):
        result = _one_by_one(builder, scalar, function.args, lanes)
        after = builder.block
    merged = builder.phi(type)
    merged.add_incoming(function.args[0], before)
    merged.add_incoming(result, after)
    builder.ret(merged)


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


def _retain(function: ir.Function) -> None:
    """Keep a function that only an attribute names until the vectoriser has run."""
    module = function.module
    kept = module.globals.get(_RETAINED)
    if kept is None:
        kept = ir.GlobalVariable(module, ir.ArrayType(PTR, 0), _RETAINED)
        kept.initializer = ir.Constant(kept.value_type, [])
        kept.linkage, kept.section = "appending", "llvm.metadata"
    functions = [*kept.initializer.constant, function]
    kept.value_type = ir.ArrayType(PTR, len(functions))
    kept.initializer = ir.Constant(kept.value_type, functions)
