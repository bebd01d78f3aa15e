"""Rules of the operations outside the public set (spec: extension#operations)."""

from __future__ import annotations

from tileir.ir.attributes import OpaqueAttr
from tileir.ir.traits import Relation
from tileir.ir.types import I32, PaddingValue, TensorViewType, TileType, tile
from tileir.ops.extension import ExternElementwise, GatherLoad, Generate, ScatterStore
from tileir.verify.kinds import value_text
from tileir.verify.rule import CheckContext, RuleTable, Violation, counted, listed
from tileir.verify.structure import differs

rules = RuleTable()

Rows = GatherLoad | ScatterStore


# ---------------------------------------------------------------- functions of the host


@rules("E0205", ExternElementwise)
def some_operands(op: ExternElementwise, context: CheckContext) -> Violation | None:
    return None if op.args else Violation("", "at least one operand", "none")


@rules("E0209", ExternElementwise)
def one_shape(op: ExternElementwise, context: CheckContext) -> Violation | None:
    first = op.args[0].type
    others = [(f"operand 'args[{index}]'", value.type) for index, value in enumerate(op.args)]
    for what, type in [*others, ("result", op.result.type)]:
        if type.shape != first.shape:
            return differs(what, type, Relation.SHAPE, "operand 'args[0]'", first)
    return None


@rules("E0470", ExternElementwise)
def named_function(op: ExternElementwise, context: CheckContext) -> Violation | None:
    return None if op.symbol else Violation("attribute 'symbol'", "the name of a function", "an empty string")


# ---------------------------------------------------------------- generate


@rules("E0471", Generate, contextual=True)
def generated_indices(op: Generate, context: CheckContext) -> Violation | None:
    rank, args = op.result.type.rank, op.body.args
    if len(args) != rank:
        return Violation(
            "body", f"{counted(rank, 'argument')}, one per dimension of {op.result.type!r}", str(len(args))
        )
    for index, arg in enumerate(args):
        if arg.type is not tile(I32):
            return Violation(f"body argument {index}", "tile<i32>", repr(arg.type))
    return None


# ---------------------------------------------------------------- gather and scatter


@rules("E0473", GatherLoad, ScatterStore)
def row_dimension(op: Rows, context: CheckContext) -> Violation | None:
    rank = _view(op).rank
    return None if 0 <= op.dim < rank else Violation("attribute 'dim'", f"a dimension in [0, {rank})", str(op.dim))


@rules("E0474", GatherLoad, ScatterStore)
def row_tile(op: Rows, context: CheckContext) -> Violation | None:
    what, type = _tile(op)
    view = _view(op)
    if type.rank == view.rank and type.element is view.element:
        return None
    return Violation(what, f"a tile of rank {view.rank} of {view.element!r}, as {view!r}", repr(type))


@rules("E0475", GatherLoad, ScatterStore)
def row_count(op: Rows, context: CheckContext) -> Violation | None:
    _, type = _tile(op)
    wanted, found = type.shape[op.dim], op.index.type.count
    if wanted == found:
        return None
    return Violation("operand 'index'", f"{wanted} elements, one per row of {type!r}", repr(op.index.type))


@rules("E0476", GatherLoad, ScatterStore)
def offset_count(op: Rows, context: CheckContext) -> Violation | None:
    wanted, found = _view(op).rank - 1, len(op.offsets)
    expected = f"{counted(wanted, 'value')}, one per dimension other than {op.dim}"
    return None if wanted == found else Violation("operand 'offsets'", expected, str(found))


@rules("E0477", GatherLoad, ScatterStore)
def offset_types(op: Rows, context: CheckContext) -> Violation | None:
    offsets = op.offsets
    for index, value in enumerate(offsets):
        if value.type is not offsets[0].type:
            what = f"operand 'offsets[{index}]'"
            return differs(what, value.type, Relation.TYPE, "operand 'offsets[0]'", offsets[0].type)
    return None


@rules("E0478", GatherLoad)
def fill_value(op: GatherLoad, context: CheckContext) -> Violation | None:
    found = op.fill_value
    words = [case.text for case in PaddingValue]
    if found is None or (isinstance(found, OpaqueAttr) and found.keyword in words):
        return None
    return Violation("attribute 'fillValue'", listed(words), value_text(found))


def _view(op: Rows) -> TensorViewType:
    return op.source.type if isinstance(op, GatherLoad) else op.destination.type


def _tile(op: Rows) -> tuple[str, TileType]:
    return ("result", op.result.type) if isinstance(op, GatherLoad) else ("operand 'src'", op.source.type)
