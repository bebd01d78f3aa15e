"""Rules of the bodies of `reduce`, `scan` and `experimental$generate` (spec: reduction#top, spec: extension#top)."""

from __future__ import annotations

from tileir.ir.core import Op
from tileir.ir.traits import NO_MEMORY_EFFECT, PURE, RECURSIVE_EFFECTS
from tileir.ir.types import TileType, Type
from tileir.ops.control import For, If, Loop
from tileir.ops.extension import ExternElementwise, Generate
from tileir.ops.reduction import Reduce, Scan
from tileir.verify.rule import CheckContext, Violation, counted, noted

BODIES = (Reduce, Scan, Generate)
"""The operations whose bodies may only compute."""


def body_values(op: Op, context: CheckContext) -> Violation | None:
    """E0517: what a body yields."""
    parent = op.parent_op
    if parent in context.unsound or not isinstance(parent, BODIES):
        return None
    wanted = [parent.result] if isinstance(parent, Generate) else parent.sources
    notes = noted(f"the '{parent.spec.name}' is here", parent.loc)
    if len(wanted) != len(op.operands):
        expected = f"{counted(len(wanted), 'operand')}, what '{parent.spec.name}' combines"
        return Violation("", expected, str(len(op.operands)), notes)
    for index, (value, tile) in enumerate(zip(op.operands, wanted)):
        if not _combines(parent, value.type, tile.type.element):
            expected = f"a {'scalar ' if isinstance(parent, Generate) else ''}tile of {tile.type.element!r}"
            return Violation(f"operand 'operands[{index}]'", expected, repr(value.type), notes)
    return None


def _combines(parent: Op, type: Type, element: Type) -> bool:
    """Return whether a type suits the body; the rank of a reduction's yield is not checked (spec: reduction#reduce)."""
    if not isinstance(type, TileType) or type.element is not element:
        return False
    return not (isinstance(parent, Generate) and type.shape)


def body_around(op: Op, outer: Op | None) -> Op | None:
    """Return the reduction whose body the regions of `op` belong to: through `if`, but not through loops."""
    if isinstance(op, BODIES):
        return op
    return outer if isinstance(op, If) else None


def effect_violation(op: Op, body: Op, context: CheckContext) -> Violation | None:
    """E0518: an operation in a body that does more than compute; up to 13.3 it had to be pure, too."""
    if op.spec.terminator or _allowed(op, context):
        return None
    notes = noted(f"the '{body.spec.name}' is here", body.loc)
    kind = "without memory effects" if context.level >= (13, 4) else "that are pure"
    hint = "bodies may hold 'if', 'reduce' and 'scan' since version 13.4" if _is_region(op) else None
    return Violation(
        f"cannot stand in the body of '{body.spec.name}', which takes operations {kind}", notes=notes, hint=hint
    )


def _is_region(op: Op) -> bool:
    return isinstance(op, If | Reduce | Scan)


def _allowed(op: Op, context: CheckContext) -> bool:
    traits = op.spec.traits
    if isinstance(op, ExternElementwise):
        return op.attributes.get("pure") is True
    if context.level < (13, 4):
        return PURE in traits
    if isinstance(op, For | Loop):
        return False
    return PURE in traits or NO_MEMORY_EFFECT in traits or RECURSIVE_EFFECTS in traits


def shape_violation(op: Op, body: Op) -> Violation | None:
    """E0472: `experimental$generate` computes scalars only."""
    if not isinstance(body, Generate):
        return None
    for value in op.results:
        if isinstance(value.type, TileType) and value.type.shape:
            return Violation("result", f"a scalar tile in the body of '{body.spec.name}'", repr(value.type))
    return None
