"""Reductions and scans with any combining region."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tileir.ir import types as t
from tileir.ir.attributes import ArrayAttr, Attribute, FloatAttr, IntegerAttr, Predicate, Signedness
from tileir.ir.core import Block, Op, Value
from tileir.ops.control import Yield
from tileir.ops.core import Select
from tileir.ops.floating import AddF, CmpF, MaxF, MinF, MulF
from tileir.ops.integer import AddI, AndI, CmpI, MaxI, MinI, MulI, OrI, XOrI
from tileir.ops.reduction import Reduce, Scan
from tileir.triton.importer.blocks import run
from tileir.triton.importer.building import float_bytes
from tileir.triton.importer.faults import mismatch
from tileir.triton.importer.importing import Importing, ImportRules, Results, integer
from tileir.triton.importer.syntax import MlirBlock, MlirOperation

rules = ImportRules()


@rules("tt.reduce", "tt.scan")
def fold(importing: Importing, op: MlirOperation) -> Results:
    """Convert the region, whose arguments are all left and then all right elements, to a body that takes them in pairs.

    Tile IR needs elements that are neutral for the body. Where none are known, a further operand marks the elements
    that exist: absent ones are neutral for any region.
    """
    sources = importing.operands(op)
    block = _only_block(op, sources)
    axis = integer(op, "axis")
    if not 0 <= axis < sources[0].tile.rank:
        raise mismatch(f"expected an axis below {sources[0].tile.rank}, got {axis}")
    body = _body(importing, op, block, sources, there=False)
    neutral = _neutral(body, [source.tile.number for source in sources])
    there = neutral is None
    if neutral is None:
        sources = [*sources, importing.build.integer(sources[0].tile.with_element(t.I1), 1)]
        body = _body(importing, op, block, sources, there=True)
        neutral = [_scalar(0, source.tile.number) for source in sources]
    results = _folded(importing, op, sources, axis, neutral, body)
    return results[: len(results) - there]


def _folded(
    importing: Importing,
    op: MlirOperation,
    sources: Sequence[Value],
    axis: int,
    neutral: Sequence[Attribute],
    body: Block,
) -> Sequence[Value]:
    importing.build.loc = op.loc
    fields = {"operands": sources, "dim": axis, "identities": ArrayAttr(tuple(neutral)), "body": body}
    if op.name == "tt.scan":
        reverse = op.attributes.get("reverse") is True
        return importing.build.insert(Scan, [source.type for source in sources], reverse=reverse, **fields)
    shape = [extent for dim, extent in enumerate(sources[0].tile.shape) if dim != axis]
    types = [t.TileType(shape, source.tile.element) for source in sources]
    return importing.build.insert(Reduce, types, **fields)


def _only_block(op: MlirOperation, sources: Sequence[Value]) -> MlirBlock:
    if len(op.regions) != 1 or len(op.regions[0]) != 1 or not sources:
        raise mismatch("expected operands, and a region of one block")
    (block,) = op.regions[0]
    if len(block.arguments) != 2 * len(sources):
        raise mismatch(f"expected a region with {2 * len(sources)} arguments, got {len(block.arguments)}")
    return block


def _body(importing: Importing, op: MlirOperation, block: MlirBlock, sources: Sequence[Value], there: bool) -> Block:
    """Return the region as a body; `there`: the last operand says which elements are there."""
    body = Block([t.tile(source.tile.number) for source in sources for _ in range(2)])
    count = len(sources) - there
    left, right = body.args[: 2 * count : 2], body.args[1 : 2 * count : 2]
    names = [argument.name for argument in block.arguments]
    with importing.inside(body), importing.scope(names, [*left, *right]):
        last = run(importing, block)
        if last.name != f"{op.name}.return":
            raise mismatch(f"expected the region to end in '{op.name}.return', got '{last.name}'")
        results = [importing.value(use) for use in last.operands]
        if there:
            results = _where_there(importing, body.args[-2:], left, right, results)
        importing.build.insert(Yield, operands=results)
    return body


def _where_there(
    importing: Importing, there: Sequence[Value], left: Sequence[Value], right: Sequence[Value], both: Sequence[Value]
) -> list[Value]:
    """Return the results where both elements are there, else the one that is; and whether one is."""
    build = importing.build
    results = [
        build.select(there[0], build.select(there[1], combined, lhs), rhs)
        for lhs, rhs, combined in zip(left, right, both)
    ]
    return [*results, build.same(OrI, *there)]


# ------------------------------------------------------------ neutral elements

LOWEST, HIGHEST = "lowest", "highest"
_NEUTRAL: dict[type[Op], int | str] = {
    AddF: 0, AddI: 0, MulF: 1, MulI: 1, AndI: -1, OrI: 0, XOrI: 0, MaxF: LOWEST, MinF: HIGHEST, MaxI: LOWEST,
    MinI: HIGHEST,
}  # fmt: skip
_BETTER = {
    Predicate.GREATER_THAN: LOWEST, Predicate.GREATER_THAN_OR_EQUAL: LOWEST, Predicate.LESS_THAN: HIGHEST,
    Predicate.LESS_THAN_OR_EQUAL: HIGHEST,
}  # fmt: skip


def _neutral(body: Block, elements: Sequence[t.ElementType]) -> list[Attribute] | None:
    """Return the elements that are neutral for a body, if it is known: one operation, or a choice of the larger or
    smaller first element with all that belongs to it, of equal ones the one with the lower index."""
    *made, last = body.ops
    if len(made) == 1 and len(elements) == 1 and {*made[0].operands} == {*body.args}:
        found = _NEUTRAL.get(type(made[0]))
        return None if found is None else [_extreme(found, elements[0], _is_signed(made[0]))]
    choices = [value.owner for value in last.operands]
    pairs = [{body.args[2 * index], body.args[2 * index + 1]} for index in range(len(elements))]
    if not all(isinstance(choice, Select) and {*choice.operands[1:]} == pair for choice, pair in zip(choices, pairs)):
        return None
    for op in made:
        if isinstance(op, CmpF | CmpI) and op.operands == tuple(body.args[:2]) and op.comparison_predicate in _BETTER:
            first = _extreme(_BETTER[op.comparison_predicate], elements[0], _is_signed(op))
            return [first, *(_extreme(HIGHEST, element, True) for element in elements[1:])]
    return None


def _is_signed(op: Op) -> bool:
    return op.attributes.get("signedness") is not Signedness.UNSIGNED


def _extreme(which: int | str, element: t.ElementType, signed: bool) -> Attribute:
    """Return a number, or the lowest or highest of a type."""
    if isinstance(which, int):
        return _scalar(which, element)
    sign = -1 if which == LOWEST else 1
    if element.is_float:
        layout = element.layout
        value = sign * (layout.max_finite if layout.infinity is None else math.inf)
        return _scalar(value, element)
    if not signed:
        return _scalar(0 if sign < 0 else -1, element)
    return _scalar(sign * (1 << element.bits - 1) - (sign > 0), element)


def _scalar(value: float, element: t.ElementType) -> Attribute:
    if element.is_float:
        return FloatAttr(int.from_bytes(float_bytes(value, element), "little"), element)
    return IntegerAttr(int(value) & 1 if element is t.I1 else int(value), element)
