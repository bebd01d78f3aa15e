"""Rules of `reduce` and `scan` (spec: reduction#reduce, spec: reduction#scan): dimensions, identities, body."""

from __future__ import annotations

from tileir.ir.attributes import Attribute, BoolAttr, FloatAttr, IntegerAttr
from tileir.ir.core import Value
from tileir.ir.types import BF16, F16, I1, TileType, Type
from tileir.ops.reduction import Reduce, Scan
from tileir.verify.kinds import value_text
from tileir.verify.rule import CheckContext, RuleTable, Violation, counted

rules = RuleTable()

Fold = Reduce | Scan


@rules("E0511", Reduce, Scan)
def not_negative(op: Fold, context: CheckContext) -> Violation | None:
    return None if op.dim >= 0 else Violation("attribute 'dim'", "0 or more", str(op.dim))


@rules("E0205", Reduce, Scan)
def some_operands(op: Fold, context: CheckContext) -> Violation | None:
    return None if op.sources else Violation("", "at least one operand", "none")


@rules("E0512", Reduce, Scan)
def result_per_operand(op: Fold, context: CheckContext) -> Violation | None:
    wanted, found = len(op.sources), len(op.outputs)
    return None if wanted == found else Violation("", f"{counted(wanted, 'result')}, one per operand", str(found))


@rules("E0513", Reduce, Scan)
def identity_per_operand(op: Fold, context: CheckContext) -> Violation | None:
    wanted, found = len(op.sources), len(op.identities)
    return None if wanted == found else Violation("attribute 'identities'", f"{wanted}, one per operand", str(found))


@rules("E0514", Reduce, Scan)
def identity_types(op: Fold, context: CheckContext) -> Violation | None:
    for index, (identity, source) in enumerate(zip(op.identities, op.sources)):
        wanted, found = source.type.element, _number_type(identity)
        if found is not wanted and {found, wanted} != {F16, BF16}:
            got = value_text(identity) if found is None else repr(found)
            return Violation(f"identity {index}", f"a number of {wanted!r}, as operand {index}", got)
    return None


@rules("E0511", Reduce, Scan)
def dimension(op: Fold, context: CheckContext) -> Violation | None:
    rank = op.sources[0].type.rank
    if op.dim < rank:
        return None
    expected = f"a dimension in [0, {rank})" if rank else "operands of rank 1 or more, to have a dimension"
    return Violation("attribute 'dim'", expected, str(op.dim))


@rules("E0510", Reduce, Scan)
def inferred_results(op: Fold, context: CheckContext) -> Violation | None:
    for index, (source, result) in enumerate(zip(op.sources, op.outputs)):
        shape = source.type.shape
        if isinstance(op, Reduce):
            shape = shape[: op.dim] + shape[op.dim + 1 :]
        if result.type.shape != shape or result.type.element is not source.type.element:
            how = f"{source.type!r} without dimension {op.dim}" if isinstance(op, Reduce) else f"as operand {index}"
            wanted = TileType(shape, source.type.element)
            return Violation(f"result {index}", f"{wanted!r}, {how}", repr(result.type))
    return None


def _number_type(identity: Attribute) -> Type | None:
    if isinstance(identity, BoolAttr):
        return I1
    return identity.type if isinstance(identity, IntegerAttr | FloatAttr) else None


# ---------------------------------------------------------------- block arguments


@rules("E0515", Reduce, Scan, contextual=True)
def body_argument_count(op: Fold, context: CheckContext) -> Violation | None:
    wanted, found = 2 * len(op.sources), len(op.body.args)
    return None if wanted == found else Violation("body", f"{wanted} arguments, two per operand", str(found))


@rules("E0516", Reduce, Scan, contextual=True)
def body_argument_types(op: Fold, context: CheckContext) -> Violation | None:
    for index, arg in enumerate(op.body.args):
        element = op.sources[index // 2].type.element
        if not _is_scalar_of(arg, element):
            return Violation(
                f"body argument {index}", f"a scalar tile of {element!r}, as operand {index // 2}", repr(arg.type)
            )
    return None


def _is_scalar_of(value: Value, element: Type) -> bool:
    type = value.type
    return isinstance(type, TileType) and not type.shape and type.element is element
