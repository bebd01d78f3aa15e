"""Rules of views (spec: views#top, spec: types#tile-view-rules): how they are made, and how they are indexed."""

from __future__ import annotations

from tileir.ir.types import F4E2M1FN, GatherScatterViewType, TensorViewType
from tileir.ops.views import GetIndexSpaceShape, GetTensorShape, LoadView, MakeTensorView, StoreView
from tileir.verify.access import (
    LOAD,
    STORE,
    Access,
    accessed,
    add_ordering,
    inbounds_length,
    index_count,
    index_types,
    no_multicast_rule,
    same_types,
    scalar_indices,
    tile_rule,
)
from tileir.verify.hints import entries_are_dictionaries
from tileir.verify.rule import CheckContext, RuleTable, Violation, counted, defined

rules = RuleTable()


# ---------------------------------------------------------------- making views


@rules("E0630", MakeTensorView)
def base_pointee(op: MakeTensorView, context: CheckContext) -> Violation | None:
    wanted = op.result.type.element
    if op.base.type.pointer.pointee is wanted:
        return None
    what = "operand 'base'"
    return Violation(
        what, f"a pointer to {wanted!r}, the elements of the view", repr(op.base.type), defined(op.base, what)
    )


@rules("E0631", MakeTensorView)
def dynamic_counts(op: MakeTensorView, context: CheckContext) -> Violation | None:
    view: TensorViewType = op.result.type
    for name, entries in (("dynamicShape", view.shape), ("dynamicStrides", view.strides)):
        wanted, found = entries.count(None), len(getattr(op, name))
        if wanted != found:
            return Violation(f"operand '{name}'", f"{counted(wanted, 'value')}, one per '?' of {view!r}", str(found))
    return None


@rules("E0632", MakeTensorView)
def dynamic_types(op: MakeTensorView, context: CheckContext) -> Violation | None:
    values = [("dynamicShape", index, value) for index, value in enumerate(op.dynamicShape)]
    values += [("dynamicStrides", index, value) for index, value in enumerate(op.dynamicStrides)]
    return same_types(values)


@rules("E0633", MakeTensorView)
def pointer_attr_kept(op: MakeTensorView, context: CheckContext) -> Violation | None:
    if op.result.type.attr is op.base.type.pointer.attr:
        return None
    return Violation("result", f"the pointer attribute of 'base', {op.base.type!r}", repr(op.result.type))


@rules("E0634", GetTensorShape, GetIndexSpaceShape)
def extent_count(op: GetTensorShape | GetIndexSpaceShape, context: CheckContext) -> Violation | None:
    rank, found = op.src.type.rank, len(op.extents)
    if rank == found:
        return None
    return Violation("", f"{counted(rank, 'result')}, one per dimension of {op.src.type!r}", str(found))


# ---------------------------------------------------------------- accessing tiles


def packing_dimension(op: Access, context: CheckContext) -> Violation | None:
    """E0626: since 13.5 a view of 4-bit elements says by its strides along which dimension they are packed."""
    view, _ = accessed(op)
    strides = view.tensor_view.strides
    if context.level < (13, 5) or view.element is not F4E2M1FN or strides.count(1) == 1:
        return None
    return Violation(
        "operand 'view'", "exactly one static stride of 1 to pack f4E2M1FN along", f"{strides.count(1)} in {view!r}"
    )


def sparse_length(op: Access, context: CheckContext) -> Violation | None:
    """E0624: a gather/scatter view takes one row number per row of its tile."""
    view, indices = accessed(op)
    if not isinstance(view, GatherScatterViewType):
        return None
    wanted, index = view.tile_shape[view.sparse_dim], indices[view.sparse_dim]
    if index.type.count == wanted:
        return None
    what = f"operand 'index[{view.sparse_dim}]'"
    return Violation(what, f"{wanted} elements, the rows of {view.tile!r}", repr(index.type), defined(index, what))


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
