"""Rules of views (operations-2, 5; types and syntax 4.5): how they are made, and how they are indexed."""

from __future__ import annotations

from tileir.ir.core import Op, Value
from tileir.ir.types import F4E2M1FN, GatherScatterViewType, TensorViewType, TileViewType
from tileir.ops.views import GetIndexSpaceShape, GetTensorShape, LoadView, MakeTensorView, StoreView
from tileir.verify.hints import entries_are_dictionaries
from tileir.verify.memory import LOAD, STORE, add_ordering, no_multicast_rule
from tileir.verify.rule import Check, Fault, Rules, Scope, counted, defined

rules = Rules()


# ---------------------------------------------------------------- making views


@rules("E0630", MakeTensorView)
def base_pointee(op: MakeTensorView, scope: Scope) -> Fault | None:
    wanted = op.result.type.element
    if op.base.type.element.pointee is wanted:
        return None
    what = "operand 'base'"
    return Fault(what, f"a pointer to {wanted!r}, the elements of the view", repr(op.base.type), defined(op.base, what))


@rules("E0631", MakeTensorView)
def dynamic_counts(op: MakeTensorView, scope: Scope) -> Fault | None:
    view: TensorViewType = op.result.type
    for name, entries in (("dynamicShape", view.shape), ("dynamicStrides", view.strides)):
        wanted, found = entries.count(None), len(getattr(op, name))
        if wanted != found:
            return Fault(f"operand '{name}'", f"{counted(wanted, 'value')}, one per '?' of {view!r}", str(found))
    return None


@rules("E0632", MakeTensorView)
def dynamic_types(op: MakeTensorView, scope: Scope) -> Fault | None:
    values = [("dynamicShape", index, value) for index, value in enumerate(op.dynamicShape)]
    values += [("dynamicStrides", index, value) for index, value in enumerate(op.dynamicStrides)]
    return _same_types(values)


def _same_types(values: list[tuple[str, int, Value]]) -> Fault | None:
    for name, index, value in values[1:]:
        if value.type is not values[0][2].type:
            what = f"operand '{name}[{index}]'"
            first = f"operand '{values[0][0]}[{values[0][1]}]'"
            return Fault(what, f"{values[0][2].type!r}, as {first}", repr(value.type), defined(value, what))
    return None


@rules("E0633", MakeTensorView)
def pointer_attr_kept(op: MakeTensorView, scope: Scope) -> Fault | None:
    if op.result.type.attr is op.base.type.element.attr:
        return None
    return Fault("result", f"the pointer attribute of 'base', {op.base.type!r}", repr(op.result.type))


@rules("E0634", GetTensorShape, GetIndexSpaceShape)
def extent_count(op: GetTensorShape | GetIndexSpaceShape, scope: Scope) -> Fault | None:
    rank, found = op.src.type.rank, len(op.extents)
    if rank == found:
        return None
    return Fault("", f"{counted(rank, 'result')}, one per dimension of {op.src.type!r}", str(found))


# ---------------------------------------------------------------- accessing tiles


def index_count(op: Op, scope: Scope) -> Fault | None:
    """E0621."""
    view, indices = _access(op)
    wanted, found = view.rank, len(indices)
    if wanted == found:
        return None
    return Fault("operand 'index'", f"{counted(wanted, 'value')}, as {view!r} has tiles of that rank", str(found))


def tile_rule(name: str) -> Check:
    """E0620: what is loaded or stored, operand or result `name`, is a tile of the view."""

    def check(op: Op, scope: Scope) -> Fault | None:
        view, found = op.view.type, getattr(op, name)  # type: ignore[attr-defined]
        if found.type is view.tile:
            return None
        what = f"{'result' if found.owner is op else 'operand'} '{name}'"
        return Fault(what, f"{view.tile!r}, the tile of {view!r}", repr(found.type))

    return check


def packing_dimension(op: Op, scope: Scope) -> Fault | None:
    """E0626: since 13.5 a view of 4-bit elements says by its strides along which dimension they are packed."""
    view, _ = _access(op)
    strides = view.tensor_view.strides
    if scope.level < (13, 5) or view.element is not F4E2M1FN or strides.count(1) == 1:
        return None
    return Fault(
        "operand 'view'", "exactly one static stride of 1 to pack f4E2M1FN along", f"{strides.count(1)} in {view!r}"
    )


def scalar_indices(op: Op, scope: Scope) -> Fault | None:
    """E0622: every index is a scalar, except the rows of a gather/scatter view."""
    view, indices = _access(op)
    sparse = view.sparse_dim if isinstance(view, GatherScatterViewType) else None
    for position, index in enumerate(indices):
        if len(index.type.shape) != (position == sparse):  # type: ignore[attr-defined]
            wanted = "a tile of rank 1, as this is the view's sparse_dim" if position == sparse else "a scalar tile"
            what = f"operand 'index[{position}]'"
            return Fault(what, wanted, repr(index.type), defined(index, what))
    return None


def index_types(op: Op, scope: Scope) -> Fault | None:
    """E0623: scalar indices have one type."""
    view, indices = _access(op)
    sparse = view.sparse_dim if isinstance(view, GatherScatterViewType) else None
    return _same_types([("index", position, value) for position, value in enumerate(indices) if position != sparse])


def sparse_length(op: Op, scope: Scope) -> Fault | None:
    """E0624: a gather/scatter view takes one row number per row of its tile."""
    view, indices = _access(op)
    if not isinstance(view, GatherScatterViewType):
        return None
    wanted, index = view.tile_shape[view.sparse_dim], indices[view.sparse_dim]
    if index.type.count == wanted:  # type: ignore[attr-defined]
        return None
    what = f"operand 'index[{view.sparse_dim}]'"
    return Fault(what, f"{wanted} elements, the rows of {view.tile!r}", repr(index.type), defined(index, what))


def inbounds_length(op: Op, scope: Scope) -> Fault | None:
    """E0625: one boolean per index; absent means false for all."""
    found = op.attributes.get("inbounds")
    wanted = len(_access(op)[1])
    if found is None or len(found) == wanted:
        return None
    return Fault("attribute 'inbounds'", f"{counted(wanted, 'value')}, one per index", str(len(found)))


def _access(op: Op) -> tuple[TileViewType, list[Value]]:
    return op.view.type, op.index  # type: ignore[attr-defined]


rules.add("E0621", index_count, LoadView, StoreView)
rules.add("E0620", tile_rule("tile"), LoadView, StoreView)
rules.add("E0626", packing_dimension, LoadView, StoreView)
rules.add("E0622", scalar_indices, LoadView, StoreView)
rules.add("E0624", sparse_length, LoadView, StoreView)
rules.add("E0623", index_types, LoadView, StoreView)
rules.add("E0830", entries_are_dictionaries, LoadView, StoreView)
rules.add("E0609", no_multicast_rule("view"), LoadView, StoreView)
rules.add("E0625", inbounds_length, LoadView, StoreView)
add_ordering(rules, LOAD, LoadView)
add_ordering(rules, STORE, StoreView)
