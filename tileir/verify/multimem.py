"""Rules of multicast memory (operations-2, 6)."""

from __future__ import annotations

from tileir.ir.attributes import MemoryOrdering, MultimemReduction
from tileir.ir.types import BF16, F16, F32, F64, I32, I64, ElementType, PartitionViewType, PointerAttr
from tileir.ops.multimem import MultimemLoadReduceView, MultimemReduceView, MultimemStoreView
from tileir.verify import views
from tileir.verify.memory import LOAD, STORE, add_ordering, ordering_rule
from tileir.verify.rule import Fault, Rules, Scope, listed

rules = Rules()

Access = MultimemLoadReduceView | MultimemReduceView | MultimemStoreView
Reduction = MultimemLoadReduceView | MultimemReduceView
_ALL = (MultimemLoadReduceView, MultimemReduceView, MultimemStoreView)
_INTEGERS = (I32, I64)
_FLOATS = (F16, BF16, F32, F64)


rules.add("E0621", views.index_count, *_ALL)
rules.add("E0620", views.tile_rule("reduced_values"), MultimemLoadReduceView)
rules.add("E0620", views.tile_rule("tile"), MultimemReduceView, MultimemStoreView)
rules.add("E0622", views.scalar_indices, *_ALL)
rules.add("E0623", views.index_types, *_ALL)


@rules("E0642", *_ALL)
def elements(op: Access, scope: Scope) -> Fault | None:
    if op.view.type.element in (*_INTEGERS, *_FLOATS):
        return None
    return Fault("operand 'view'", "elements of i32, i64, f16, bf16, f32 or f64", repr(op.view.type))


@rules("E0643", MultimemLoadReduceView, MultimemReduceView)
def reduction(op: Reduction, scope: Scope) -> Fault | None:
    allowed = _reduced(op)
    element = op.view.type.element
    if element in allowed:
        return None
    expected = f"elements of {listed(each.name for each in allowed)} for {op.reduction.text}"
    return Fault("operand 'view'", expected, repr(op.view.type))


def _reduced(op: Reduction) -> tuple[ElementType, ...]:
    if op.reduction is MultimemReduction.ADD:
        return (*_INTEGERS, *_FLOATS)
    is_load = isinstance(op, MultimemLoadReduceView)
    if is_load and op.reduction in (MultimemReduction.MIN, MultimemReduction.MAX):
        return (*_INTEGERS, F16, BF16)
    return _INTEGERS


@rules("E0641", *_ALL)
def multicast(op: Access, scope: Scope) -> Fault | None:
    if op.view.type.tensor_view.attr is PointerAttr.MULTICAST:
        return None
    hint = "the base pointer is of type tile<ptr<E, <multicast>>>"
    return Fault("operand 'view'", "a view of multicast memory", repr(op.view.type), hint=hint)


@rules("E0640", *_ALL)
def partitioned(op: Access, scope: Scope) -> Fault | None:
    if isinstance(op.view.type, PartitionViewType):
        return None
    return Fault("operand 'view'", "a partition_view", repr(op.view.type))


rules.add("E0625", views.inbounds_length, *_ALL)
add_ordering(rules, LOAD, MultimemLoadReduceView)
add_ordering(rules, STORE, MultimemStoreView)
rules.add("E0601", ordering_rule(MemoryOrdering.RELAXED, MemoryOrdering.RELEASE), MultimemReduceView)
