"""Rules of `reduce`, `scan` and the body that they share with `experimental$generate` (operations 3.15, 3.17, 8).

Knows: dimensions, identities, block arguments, what a body yields, and which operations may stand in it.
"""

from __future__ import annotations

from tileir.ir.attributes import Attribute, BoolAttr, FloatAttr, IntegerAttr
from tileir.ir.core import Op, Value
from tileir.ir.declare import NO_MEMORY_EFFECT, PURE, RECURSIVE_EFFECTS
from tileir.ir.types import BF16, F16, I1, ElementType, TileType, Type
from tileir.ops.control import For, If, Loop, Yield
from tileir.ops.core import Reduce, Scan
from tileir.ops.extension import ExternElementwise, Generate
from tileir.verify.kinds import value_text
from tileir.verify.rule import Fault, Rules, Scope, counted, shown

rules = Rules()

Fold = Reduce | Scan
BODIES = (Reduce, Scan, Generate)
"""The operations whose bodies may only compute."""


@rules("E0511", Reduce, Scan)
def not_negative(op: Fold, scope: Scope) -> Fault | None:
    return None if op.dim >= 0 else Fault("attribute 'dim'", "0 or more", str(op.dim))


@rules("E0205", Reduce, Scan)
def some_operands(op: Fold, scope: Scope) -> Fault | None:
    return None if op.sources else Fault("", "at least one operand", "none")


@rules("E0512", Reduce, Scan)
def result_per_operand(op: Fold, scope: Scope) -> Fault | None:
    wanted, found = len(op.sources), len(op.outputs)
    return None if wanted == found else Fault("", f"{counted(wanted, 'result')}, one per operand", str(found))


@rules("E0513", Reduce, Scan)
def identity_per_operand(op: Fold, scope: Scope) -> Fault | None:
    wanted, found = len(op.sources), len(op.identities)
    return None if wanted == found else Fault("attribute 'identities'", f"{wanted}, one per operand", str(found))


@rules("E0514", Reduce, Scan)
def identity_types(op: Fold, scope: Scope) -> Fault | None:
    for index, (identity, source) in enumerate(zip(op.identities, op.sources)):
        wanted, found = source.type.element, _number_type(identity)
        if found is not wanted and {found, wanted} != {F16, BF16}:
            got = value_text(identity) if found is None else repr(found)
            return Fault(f"identity {index}", f"a number of {wanted!r}, as operand {index}", got)
    return None


@rules("E0511", Reduce, Scan)
def dimension(op: Fold, scope: Scope) -> Fault | None:
    rank = op.sources[0].type.rank
    if op.dim < rank:
        return None
    expected = f"a dimension in [0, {rank})" if rank else "operands of rank 1 or more, to have a dimension"
    return Fault("attribute 'dim'", expected, str(op.dim))


@rules("E0510", Reduce, Scan)
def inferred_results(op: Fold, scope: Scope) -> Fault | None:
    for index, (source, result) in enumerate(zip(op.sources, op.outputs)):
        shape = source.type.shape
        if isinstance(op, Reduce):
            shape = shape[: op.dim] + shape[op.dim + 1 :]
        if result.type.shape != shape or result.type.element is not source.type.element:
            wanted = f"{' x '.join(map(str, shape)) or 'a scalar'} of {source.type.element!r}, from {source.type!r}"
            return Fault(f"result {index}", wanted, repr(result.type))
    return None


def _number_type(identity: Attribute) -> Type | None:
    if isinstance(identity, BoolAttr):
        return I1
    return identity.type if isinstance(identity, IntegerAttr | FloatAttr) else None


# ---------------------------------------------------------------- block arguments


@rules("E0515", Reduce, Scan, contextual=True)
def body_argument_count(op: Fold, scope: Scope) -> Fault | None:
    wanted, found = 2 * len(op.sources), len(op.body.args)
    return None if wanted == found else Fault("body", f"{wanted} arguments, two per operand", str(found))


@rules("E0516", Reduce, Scan, contextual=True)
def body_argument_types(op: Fold, scope: Scope) -> Fault | None:
    for index, arg in enumerate(op.body.args):
        element = op.sources[index // 2].type.element
        if not _is_scalar_of(arg, element):
            return Fault(
                f"body argument {index}", f"a scalar tile of {element!r}, as operand {index // 2}", repr(arg.type)
            )
    return None


def _is_scalar_of(value: Value, element: Type) -> bool:
    type = value.type
    return isinstance(type, TileType) and not type.shape and type.element is element


# ---------------------------------------------------------------- what a body yields


@rules("E0517", Yield, contextual=True)
def body_values(op: Yield, scope: Scope) -> Fault | None:
    parent = op.parent_op
    if parent in scope.unsound or not isinstance(parent, BODIES):
        return None
    wanted = [parent.result] if isinstance(parent, Generate) else parent.sources
    notes = shown(f"the '{parent.spec.name}' is here", parent.loc)
    if len(wanted) != len(op.operands):
        expected = f"{counted(len(wanted), 'operand')}, what '{parent.spec.name}' combines"
        return Fault("", expected, str(len(op.operands)), notes)
    for index, (value, tile) in enumerate(zip(op.operands, wanted)):
        if not _combines(parent, value.type, tile.type.element):
            expected = f"a {'scalar ' if isinstance(parent, Generate) else ''}tile of {tile.type.element!r}"
            return Fault(f"operand 'operands[{index}]'", expected, repr(value.type), notes)
    return None


def _combines(parent: Op, type: Type, element: ElementType) -> bool:
    """The rank of what a reduction yields is not checked (operations 3.15)."""
    is_tile = isinstance(type, TileType) and type.element is element
    return is_tile and not (isinstance(parent, Generate) and type.shape)  # type: ignore[attr-defined]


# ---------------------------------------------------------------- what may stand in a body


def body_around(op: Op, outer: Op | None) -> Op | None:
    """The reduction whose body the regions of `op` belong to: through `if`, but not through loops."""
    if isinstance(op, BODIES):
        return op
    return outer if isinstance(op, If) else None


def effect_fault(op: Op, body: Op, scope: Scope) -> Fault | None:
    """E0518: an operation in a body that does more than compute; up to 13.3 it had to be pure, too."""
    if op.spec.terminator or _allowed(op, scope):
        return None
    notes = shown(f"the '{body.spec.name}' is here", body.loc)
    kind = "without memory effects" if scope.level >= (13, 4) else "that are pure"
    hint = "bodies may hold 'if', 'reduce' and 'scan' since version 13.4" if _is_region(op) else None
    return Fault(
        f"cannot stand in the body of '{body.spec.name}', which takes operations {kind}", notes=notes, hint=hint
    )


def _is_region(op: Op) -> bool:
    return isinstance(op, If | Reduce | Scan)


def _allowed(op: Op, scope: Scope) -> bool:
    traits = op.spec.traits
    if isinstance(op, ExternElementwise):
        return op.attributes.get("pure") is True
    if scope.level < (13, 4):
        return PURE in traits
    if isinstance(op, For | Loop):
        return False
    return PURE in traits or NO_MEMORY_EFFECT in traits or RECURSIVE_EFFECTS in traits


def shape_fault(op: Op, body: Op) -> Fault | None:
    """E0472: `experimental$generate` computes scalars only."""
    if not isinstance(body, Generate):
        return None
    for value in op.results:
        if isinstance(value.type, TileType) and value.type.shape:
            return Fault("result", f"a scalar tile in the body of '{body.spec.name}'", repr(value.type))
    return None
