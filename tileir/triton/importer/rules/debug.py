"""Promises, assertions, output and barriers."""

from __future__ import annotations

from tileir.ir import types as t
from tileir.ir.attributes import AssumePredicate, Bounded, DivBy, Predicate, Signedness
from tileir.ir.core import Value
from tileir.ops.control import Assert
from tileir.ops.core import GetTileBlockId
from tileir.ops.division import RemI
from tileir.ops.integer import AndI, CmpI
from tileir.ops.misc import Assume, PrintTko
from tileir.triton.importer.building import TileBuilder
from tileir.triton.importer.facts import constant
from tileir.triton.importer.faults import refused
from tileir.triton.importer.importing import Importing, ImportRules, Results, integers
from tileir.triton.importer.syntax import MlirOperation

rules = ImportRules()


@rules("llvm.intr.assume")
def assume(importing: Importing, op: MlirOperation) -> None:
    """Import the promises that follow from a condition, about values that it compares with constants."""
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
    """Return the value that a comparison with a constant is about, and what is so if it holds."""
    owner = condition.owner
    if not isinstance(owner, CmpI):
        return None
    value, number, predicate = owner.lhs, constant(owner.rhs), owner.comparison_predicate
    if number is None:
        value, number, predicate = owner.rhs, constant(owner.lhs), predicate.mirrored
    if number is None:
        return None
    if predicate is Predicate.EQUAL and number == 0 and isinstance(value.owner, RemI):
        divisor = constant(value.owner.rhs)
        return None if divisor is None or divisor & (divisor - 1) else (value.owner.lhs, DivBy(divisor))
    bounds = None if owner.signedness is Signedness.UNSIGNED else _bounds(predicate, number)
    return None if bounds is None else (value, bounds)


def _bounds(predicate: Predicate, number: int) -> Bounded | None:
    """Return the bounds of a value that compares in this way with a number."""
    return {
        Predicate.EQUAL: Bounded(number, number),
        Predicate.LESS_THAN: Bounded(None, number - 1),
        Predicate.LESS_THAN_OR_EQUAL: Bounded(None, number),
        Predicate.GREATER_THAN: Bounded(number + 1, None),
        Predicate.GREATER_THAN_OR_EQUAL: Bounded(number, None),
    }.get(predicate)


@rules("tt.print")
def output(importing: Importing, op: MlirOperation) -> None:
    """Import a line for each operand, in which the program says its place in the grid; one line without operands.

    Triton prints a line for each element instead.
    """
    build = importing.build
    values = importing.operands(op)
    prefix = op.words[0][0] if op.words else op.attributes.get("prefix", "")
    place = build.insert(GetTileBlockId, [t.tile(t.I32)] * 3)
    head = f"pid (%d, %d, %d){prefix}".replace("%d", "\0").replace("%", "%%").replace("\0", "%d")
    signed = integers(op, "isSigned") or [1] * len(values)
    for value, sign in zip(values, signed):
        shown, conversion = _shown(build, value, bool(sign), op.attributes.get("hex") is True)
        importing.access(PrintTko, writes=True, str=f"{head}{conversion}\n", args=[*place, shown])
    if not values:
        importing.access(PrintTko, writes=True, str=f"{head}\n", args=list(place))


def _shown(build: TileBuilder, value: Value, signed: bool, hexadecimal: bool) -> tuple[Value, str]:
    """Return a tile as it is printed, and the conversion of its elements."""
    element = value.tile.element
    if isinstance(element, t.PointerType):
        return value, "%p"
    if element.is_float and not hexadecimal:
        return build.converted(value, t.F32) if element.bits < 32 else value, "%f"
    bits = build.bits(value) if element.is_float else value
    wide = build.resized(bits, t.I32, signed) if element.bits < 32 else bits
    length = "ll" if element.bits == 64 else ""
    if hexadecimal:
        digits = max(1, element.bits // 4)
        return build.resized(bits, t.I32, False) if element.bits < 32 else bits, f"0x%0{digits}{length}x"
    return wide, f"%{length}{'d' if signed else 'u'}"


@rules("tt.elementwise_inline_asm")
def inline_assembly(importing: Importing, op: MlirOperation) -> Results:
    raise refused(
        "inline assembly is of one kind of GPU",
        "write what it computes with tl operations, or choose such a branch by tl.target_info",
    )


@rules("tt.assert")
def check(importing: Importing, op: MlirOperation) -> None:
    (condition,) = importing.operands(op, 1)
    message = op.attributes.get("message", op.words[0][0] if op.words else "")
    importing.build.insert(Assert, condition=condition, message=str(message))


@rules("ttg.barrier", "gpu.barrier")
def barrier(importing: Importing, op: MlirOperation) -> None:
    """Import nothing: a program has no threads, and accesses memory in order."""
