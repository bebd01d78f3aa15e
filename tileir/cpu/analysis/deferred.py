"""Products of a `for` loop that may be made for several iterations at once, as the loop itself never looks at the sums.

Such a product is the only operation that reads the sums which the loop carries, and what it makes of them is only
carried on. Its factors are read where it stands, so that all other operations keep their order; nobody can tell when
they are multiplied.

Knows: which products these are. Does not know: how many iterations are put together (`cpu.matmul.deferred`).
"""

from __future__ import annotations

from tileir.analysis.structure import carried_arguments, enclosing_loop
from tileir.cpu.analysis.fusion import Fusion
from tileir.ir.core import Op, Value
from tileir.ops import control, core, matmul

DeferredProduct = matmul.MmaF | matmul.MmaI


def deferred_products(fusion: Fusion, loop: control.For) -> list[DeferredProduct]:
    """The products in the body of a loop that may be deferred."""
    *operations, end = loop.body.ops
    if not isinstance(end, control.Continue) or any(_continues(loop, op) for op in operations):
        return []
    return [op for op in operations if isinstance(op, DeferredProduct) and _only_carried(fusion, loop, op, end)]


def is_float_zero(value: Value) -> bool:
    """Whether all elements of a value are the float 0.0."""
    return value.tile.number.is_float and is_zero(value)


def is_zero(value: Value) -> bool:
    """Whether all elements of a value are a constant 0, of floats the positive one."""
    return isinstance(value.op, core.Constant) and value.op.value.is_zero


def first_sums(loop: control.For, product: DeferredProduct) -> Value:
    """The sums of a product that may be deferred, in front of its loop."""
    return dict(zip(carried_arguments(loop), loop.initial))[product.acc]


def _only_carried(fusion: Fusion, loop: control.For, product: DeferredProduct, end: control.Continue) -> bool:
    """Whether the sums come from the last iteration and go to the next one, unread."""
    if not (fusion.used_once(product.acc) and fusion.used_once(product.result)):
        return False
    return any(
        given is product.result and carried is product.acc
        for given, carried in zip(end.operands, carried_arguments(loop))
    )


def _continues(loop: control.For, op: Op) -> bool:
    """Whether an operation of the body may begin the next iteration."""
    return any(isinstance(inner, control.Continue) and enclosing_loop(inner) is loop for inner in op.walk())
