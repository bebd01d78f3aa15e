"""Promises, assertions, output and barriers."""

from __future__ import annotations

from tileir.ir.attributes import AssumePredicate, Bounded, DivBy, Predicate, Signedness
from tileir.ir.core import Value
from tileir.ops.control import Assert
from tileir.ops.core import Constant
from tileir.ops.division import RemI
from tileir.ops.integer import AndI, CmpI
from tileir.ops.misc import Assume
from tileir.ops.shapes import Broadcast, Reshape
from tileir.triton.importer.importing import Importing
from tileir.triton.importer.rules.table import Table
from tileir.triton.importer.syntax import MlirOperation

rules = Table()


@rules("llvm.intr.assume")
def assume(importing: Importing, op: MlirOperation) -> None:
    """The promises that follow from a condition, about values that it compares with constants."""
    for condition in _conjunction(importing.operands(op, 1)[0]):
        promise = _promise(condition)
        if promise is not None:
            _promised(importing, *promise)


def _promised(importing: Importing, value: Value, predicate: AssumePredicate) -> None:
    """Let `value` stand with this promise from here on."""
    names = [name for scope in importing.scopes for name, lowered in scope.items() if lowered is value]
    made = importing.build.op(Assume, value.type, predicate=predicate, value=value)
    importing.scopes[-1].update(dict.fromkeys(names, made))


def _conjunction(condition: Value) -> list[Value]:
    owner = condition.owner
    if not isinstance(owner, AndI):
        return [condition]
    return [part for operand in (owner.lhs, owner.rhs) for part in _conjunction(operand)]


def _promise(condition: Value) -> tuple[Value, AssumePredicate] | None:
    """The value that a comparison with a constant is about, and what is so if it holds."""
    owner = condition.owner
    if not isinstance(owner, CmpI):
        return None
    value, number, predicate = owner.lhs, _number(owner.rhs), owner.comparison_predicate
    if number is None:
        value, number, predicate = owner.rhs, _number(owner.lhs), _MIRRORED.get(predicate, predicate)
    if number is None:
        return None
    if predicate is Predicate.EQUAL and number == 0 and isinstance(value.owner, RemI):
        divisor = _number(value.owner.rhs)
        return None if divisor is None or divisor & (divisor - 1) else (value.owner.lhs, DivBy(divisor))
    bounds = None if owner.signedness is Signedness.UNSIGNED else _bounds(predicate, number)
    return None if bounds is None else (value, bounds)


_MIRRORED = {
    Predicate.LESS_THAN: Predicate.GREATER_THAN,
    Predicate.GREATER_THAN: Predicate.LESS_THAN,
    Predicate.LESS_THAN_OR_EQUAL: Predicate.GREATER_THAN_OR_EQUAL,
    Predicate.GREATER_THAN_OR_EQUAL: Predicate.LESS_THAN_OR_EQUAL,
}


def _bounds(predicate: Predicate, number: int) -> Bounded | None:
    """The bounds of a value that compares in this way with a number."""
    return {
        Predicate.EQUAL: Bounded(number, number),
        Predicate.LESS_THAN: Bounded(None, number - 1),
        Predicate.LESS_THAN_OR_EQUAL: Bounded(None, number),
        Predicate.GREATER_THAN: Bounded(number + 1, None),
        Predicate.GREATER_THAN_OR_EQUAL: Bounded(number, None),
    }.get(predicate)


def _number(value: Value) -> int | None:
    """The number that all elements are, if they are constant integers."""
    owner = value.owner
    while isinstance(owner, Broadcast | Reshape):
        owner = owner.source.owner
    if not isinstance(owner, Constant) or not owner.value.is_splat or not owner.value.element.is_int:
        return None
    return int.from_bytes(owner.value.data, "little", signed=True)


@rules("tt.assert")
def check(importing: Importing, op: MlirOperation) -> None:
    (condition,) = importing.operands(op, 1)
    message = op.attributes.get("message", op.words[0][0] if op.words else "")
    importing.build.insert(Assert, condition=condition, message=str(message))


@rules("ttg.barrier", "gpu.barrier")
def barrier(importing: Importing, op: MlirOperation) -> None:
    """Nothing: a program has no threads, and accesses memory in order."""
