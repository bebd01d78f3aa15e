"""Rules of multicast memory (spec: multimem#verification)."""

from __future__ import annotations

from tileir.ir.attributes import MemoryOrdering, MultimemReduction
from tileir.ir.types import BF16, F16, F32, F64, I32, I64, ElementType, PartitionViewType, PointerAttr
from tileir.ops.multimem import MultimemLoadReduceView, MultimemReduceView, MultimemStoreView
from tileir.verify.access import LOAD, STORE, add_ordering, ordering_rule
from tileir.verify.rule import CheckContext, RuleTable, Violation, listed
from tileir.verify.view_access import inbounds_length, index_count, index_types, scalar_indices, tile_rule

rules = RuleTable()

Access = MultimemLoadReduceView | MultimemReduceView | MultimemStoreView
Reduction = MultimemLoadReduceView | MultimemReduceView
_ALL = (MultimemLoadReduceView, MultimemReduceView, MultimemStoreView)
_INTEGERS = (I32, I64)
_FLOATS = (F16, BF16, F32, F64)


rules.add("E0621", index_count, *_ALL)
rules.add("E0620", tile_rule("reduced_values"), MultimemLoadReduceView)
rules.add("E0620", tile_rule("tile"), MultimemReduceView, MultimemStoreView)
rules.add("E0622", scalar_indices, *_ALL)
rules.add("E0623", index_types, *_ALL)


@rules("E0642", *_ALL)
def elements(op: Access, context: CheckContext) -> Violation | None:
    if op.view.type.element in (*_INTEGERS, *_FLOATS):
        return None
    return Violation("operand 'view'", "elements of i32, i64, f16, bf16, f32 or f64", repr(op.view.type))


@rules("E0643", MultimemLoadReduceView, MultimemReduceView)
def reduction(op: Reduction, context: CheckContext) -> Violation | None:
    allowed = _reduced(op)
    element = op.view.type.element
    if element in allowed:
        return None
    expected = f"elements of {listed(each.name for each in allowed)} for {op.reduction.text}"
    return Violation("operand 'view'", expected, repr(op.view.type))


def _reduced(op: Reduction) -> tuple[ElementType, ...]:
    if op.reduction is MultimemReduction.ADD:
        return (*_INTEGERS, *_FLOATS)
    is_load = isinstance(op, MultimemLoadReduceView)
    if is_load and op.reduction in (MultimemReduction.MIN, MultimemReduction.MAX):
        return (*_INTEGERS, F16, BF16)
    return _INTEGERS


@rules("E0641", *_ALL)
def multicast(op: Access, context: CheckContext) -> Violation | None:
    if op.view.type.tensor_view.attr is PointerAttr.MULTICAST:
        return None
    hint = "the base pointer is of type tile<ptr<E, <multicast>>>"
    return Violation("operand 'view'", "a view of multicast memory", repr(op.view.type), hint=hint)


@rules("E0640", *_ALL)
def partitioned(op: Access, context: CheckContext) -> Violation | None:
    if isinstance(op.view.type, PartitionViewType):
        return None
    return Violation("operand 'view'", "a partition_view", repr(op.view.type))


rules.add("E0625", inbounds_length, *_ALL)
add_ordering(rules, LOAD, MultimemLoadReduceView)
add_ordering(rules, STORE, MultimemStoreView)
rules.add("E0601", ordering_rule(MemoryOrdering.RELAXED, MemoryOrdering.RELEASE), MultimemReduceView)
