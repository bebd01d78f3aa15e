"""Rules of atomic operations and of multicast memory (spec: atomics#top, spec: multimem#top)."""

from __future__ import annotations

from tileir.ir.attributes import AtomicMode, MemoryOrdering, MemoryScope, MultimemReduction
from tileir.ir.core import Op
from tileir.ir.types import (
    BF16,
    F16,
    F32,
    F64,
    I32,
    I64,
    ElementType,
    GatherScatterViewType,
    PartitionViewType,
    PointerAttr,
)
from tileir.ops.atomics import AtomicCas, AtomicRedView, AtomicRmw
from tileir.ops.multimem import MultimemLoadReduceView, MultimemReduceView, MultimemStoreView
from tileir.verify.access import (
    LOAD,
    STORE,
    add_ordering,
    inbounds_length,
    index_count,
    index_types,
    no_multicast_rule,
    ordering_rule,
    pointee_rule,
    scalar_indices,
    tile_rule,
)
from tileir.verify.rule import CheckContext, RuleTable, Violation, listed

rules = RuleTable()

_STRONG = (MemoryOrdering.RELAXED, MemoryOrdering.ACQUIRE, MemoryOrdering.RELEASE, MemoryOrdering.ACQ_REL)
_WIDE = (I32, I64, F32, F64)

rules.add("E0604", pointee_rule("pointers", "arg"), AtomicRmw)
rules.add("E0604", pointee_rule("pointers", "val"), AtomicCas)


@rules("E0611", AtomicCas)
def compared_elements(op: AtomicCas, context: CheckContext) -> Violation | None:
    if op.val.type.element in _WIDE:
        return None
    return Violation("operand 'val'", "elements of i32, i64, f32 or f64", repr(op.val.type))


# ---------------------------------------------------------------- reductions through a view


@rules("E0612", AtomicRedView)
def not_gathered(op: AtomicRedView, context: CheckContext) -> Violation | None:
    if not isinstance(op.view.type, GatherScatterViewType):
        return None
    return Violation("operand 'view'", "a partition_view or strided_view", repr(op.view.type))


@rules("E0613", AtomicRedView)
def not_padded(op: AtomicRedView, context: CheckContext) -> Violation | None:
    """Since 13.5 padding is accepted: elements outside the tensor are skipped anyway."""
    if op.view.type.padding is None or context.level >= (13, 5):
        return None
    return Violation("operand 'view'", "a view without padding_value", repr(op.view.type))


rules.add("E0620", tile_rule("value"), AtomicRedView)
rules.add("E0625", inbounds_length, AtomicRedView)


@rules("E0615", AtomicRedView)
def no_exchange(op: AtomicRedView, context: CheckContext) -> Violation | None:
    if op.mode is not AtomicMode.XCHG:
        return None
    modes = listed([mode.text for mode in AtomicMode if mode is not AtomicMode.XCHG])
    return Violation(
        "attribute 'mode'", modes, op.mode.text, hint="the old values that an exchange gives are not returned"
    )


@rules("E0610", AtomicRmw, AtomicRedView)
def mode_elements(op: AtomicRmw | AtomicRedView, context: CheckContext) -> Violation | None:
    what, value = ("arg", op.arg) if isinstance(op, AtomicRmw) else ("value", op.value)
    allowed = _elements(op.mode, context)
    if value.type.element in allowed:
        return None
    expected = f"elements of {listed(element.name for element in allowed)} for mode {op.mode.text}"
    return Violation(f"operand '{what}'", expected, repr(value.type), hint=_mode_hint(op, value.type.element))


def _elements(mode: AtomicMode, context: CheckContext) -> tuple[ElementType, ...]:
    if mode is AtomicMode.XCHG:
        return _WIDE
    if mode is AtomicMode.ADDF:
        return (F16, BF16, F32, F64) if context.level >= (13, 3) else (F16, F32, F64)
    return (I32, I64)


def _mode_hint(op: Op, element: object) -> str | None:
    mode = op.attributes["mode"]
    if mode is AtomicMode.ADD and element in (F16, BF16, F32, F64):
        return "mode addf adds floats"
    return "mode add adds integers" if mode is AtomicMode.ADDF and element in (I32, I64) else None


rules.add("E0601", ordering_rule(*_STRONG), AtomicRmw, AtomicCas)
rules.add("E0601", ordering_rule(MemoryOrdering.RELAXED), AtomicRedView)


@rules("E0616", AtomicRedView)
def scope_in_device(op: AtomicRedView, context: CheckContext) -> Violation | None:
    if op.memory_scope is not MemoryScope.SYS:
        return None
    return Violation("attribute 'memory_scope'", "tl_blk or device", "sys")


rules.add("E0621", index_count, AtomicRedView)
rules.add("E0622", scalar_indices, AtomicRedView)
rules.add("E0609", no_multicast_rule("pointers"), AtomicRmw, AtomicCas)
rules.add("E0609", no_multicast_rule("view"), AtomicRedView)


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
