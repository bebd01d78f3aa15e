"""Rules of the operations outside the public set (operations 8)."""

from __future__ import annotations

from tileir.ir.attributes import OpaqueAttr
from tileir.ir.core import Op, Value
from tileir.ir.declare import Relation
from tileir.ir.types import I32, PaddingValue, TensorViewType, TileType, tile
from tileir.ops.extension import Call, ExternElementwise, Func, GatherLoad, Generate, ScatterStore
from tileir.verify.kinds import value_text
from tileir.verify.rule import Fault, Rules, Scope, counted, listed, shown, type_list
from tileir.verify.structure import differs
from tileir.verify.symbols import signature_of

rules = Rules()

Rows = GatherLoad | ScatterStore


# ---------------------------------------------------------------- calls


@rules("E0806", Call, contextual=True)
def callee_exists(op: Call, scope: Scope) -> Fault | None:
    found = scope.symbols.get(op.callee)
    if isinstance(found, Func):
        return None
    got = "not defined" if found is None else f"of kind '{found.spec.name}'"
    notes = () if found is None else shown(f"@{op.callee} is defined here", found.loc)
    return Fault("attribute 'callee'", "a function of the module", f"@{op.callee}, which is {got}", notes)


@rules("E0807", Call, contextual=True)
def call_signature(op: Call, scope: Scope) -> Fault | None:
    callee = scope.symbols.get(op.callee)
    signature = None if callee is None else signature_of(callee)
    if callee is None or signature is None:
        return None
    notes = shown(f"@{op.callee} is defined here", callee.loc)
    for what, wanted, values in (("operands", signature.inputs, op.args), ("results", signature.results, op.outputs)):
        found = tuple(value.type for value in values)
        if found != wanted:
            return Fault(what, f"those of @{op.callee}, {type_list(wanted)}", type_list(found), notes)
    return None


@rules("E0808", Call, contextual=True)
def no_recursion(op: Call, scope: Scope) -> Fault | None:
    callee, caller = scope.symbols.get(op.callee), _function(op)
    if callee is None or caller is None or not scope.symbols.recursive(caller, callee):
        return None
    return Fault("callee", f"a function that does not lead back to @{caller.attributes['sym_name']}", f"@{op.callee}")


def _function(op: Op) -> Op | None:
    parent = op.parent_op
    while parent is not None and not isinstance(parent, Func):
        parent = parent.parent_op
    return parent


# ---------------------------------------------------------------- functions of the host


@rules("E0205", ExternElementwise)
def some_operands(op: ExternElementwise, scope: Scope) -> Fault | None:
    return None if op.args else Fault("", "at least one operand", "none")


@rules("E0209", ExternElementwise)
def one_shape(op: ExternElementwise, scope: Scope) -> Fault | None:
    first = op.args[0].type
    others = [(f"operand 'args[{index}]'", value.type) for index, value in enumerate(op.args)]
    for what, type in [*others, ("result", op.result.type)]:
        if type.shape != first.shape:
            return differs(what, type, Relation.SHAPE, "operand 'args[0]'", first)
    return None


@rules("E0470", ExternElementwise)
def named_function(op: ExternElementwise, scope: Scope) -> Fault | None:
    return None if op.symbol else Fault("attribute 'symbol'", "the name of a function", "an empty string")


# ---------------------------------------------------------------- generate


@rules("E0471", Generate, contextual=True)
def generated_indices(op: Generate, scope: Scope) -> Fault | None:
    rank, args = op.result.type.rank, op.body.args
    if len(args) != rank:
        return Fault("body", f"{counted(rank, 'argument')}, one per dimension of {op.result.type!r}", str(len(args)))
    for index, arg in enumerate(args):
        if arg.type is not tile(I32):
            return Fault(f"body argument {index}", "tile<i32>", repr(arg.type))
    return None


# ---------------------------------------------------------------- gather and scatter


@rules("E0473", GatherLoad, ScatterStore)
def row_dimension(op: Rows, scope: Scope) -> Fault | None:
    rank = _view(op).rank
    return None if 0 <= op.dim < rank else Fault("attribute 'dim'", f"a dimension in [0, {rank})", str(op.dim))


@rules("E0474", GatherLoad, ScatterStore)
def row_tile(op: Rows, scope: Scope) -> Fault | None:
    what, type = _tile(op)
    view = _view(op)
    if type.rank == view.rank and type.element is view.element:
        return None
    return Fault(what, f"a tile of rank {view.rank} of {view.element!r}, as {view!r}", repr(type))


@rules("E0475", GatherLoad, ScatterStore)
def row_count(op: Rows, scope: Scope) -> Fault | None:
    _, type = _tile(op)
    wanted, found = type.shape[op.dim], op.index.type.count
    if wanted == found:
        return None
    return Fault("operand 'index'", f"{wanted} elements, one per row of {type!r}", repr(op.index.type))


@rules("E0476", GatherLoad, ScatterStore)
def offset_count(op: Rows, scope: Scope) -> Fault | None:
    wanted, found = _view(op).rank - 1, len(op.offsets)
    expected = f"{counted(wanted, 'value')}, one per dimension other than {op.dim}"
    return None if wanted == found else Fault("operand 'offsets'", expected, str(found))


@rules("E0477", GatherLoad, ScatterStore)
def offset_types(op: Rows, scope: Scope) -> Fault | None:
    offsets: list[Value] = op.offsets
    for index, value in enumerate(offsets):
        if value.type is not offsets[0].type:
            what = f"operand 'offsets[{index}]'"
            return differs(what, value.type, Relation.TYPE, "operand 'offsets[0]'", offsets[0].type)
    return None


@rules("E0478", GatherLoad)
def fill_value(op: GatherLoad, scope: Scope) -> Fault | None:
    found = op.fill_value
    words = [case.text for case in PaddingValue]
    if found is None or (isinstance(found, OpaqueAttr) and found.keyword in words):
        return None
    return Fault("attribute 'fillValue'", listed(words), value_text(found))


def _view(op: Rows) -> TensorViewType:
    return op.source.type if isinstance(op, GatherLoad) else op.destination.type


def _tile(op: Rows) -> tuple[str, TileType]:
    return ("result", op.result.type) if isinstance(op, GatherLoad) else ("operand 'src'", op.source.type)
