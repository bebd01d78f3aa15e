"""A promise that cuTile writes although it need not hold: strides of axes of one element.

The library gives a view an axis of extent 1 and assumes its stride divisible by 16 bytes, whatever it is, as no address
depends on it. An interpreter that checks assumptions must not report the user's arrays for it.
"""

from __future__ import annotations

from tileir.ir.core import Module
from tileir.ops.misc import Assume
from tileir.ops.views import MakeTensorView


def drop_promises_of_single_strides(module: Module) -> None:
    """Let views take the strides of such axes as they are. The module is changed: it must be nobody else's yet."""
    passed: set[Assume] = set()
    for op in module.walk():
        if isinstance(op, MakeTensorView):
            passed |= _passed_by(op)
    used = {operand for op in module.walk() for operand in op.operands}
    for promise in passed:
        if promise.result not in used and promise.parent is not None:
            promise.parent.ops.remove(promise)


def _passed_by(view: MakeTensorView) -> set[Assume]:
    """Return the assumptions that the strides of a view no longer go through."""
    type = view.result.type
    axes = [axis for axis, stride in enumerate(type.strides) if stride is None]
    passed: set[Assume] = set()
    for place, axis in enumerate(axes, len(view.operands) - len(axes)):
        promise = view.operands[place].op
        if type.shape[axis] == 1 and isinstance(promise, Assume):
            view.set_operand(place, promise.value)
            passed.add(promise)
    return passed
