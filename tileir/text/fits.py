"""Whether an operation's own syntax can say all of it; if not, the operation is written in the generic form.

Knows: what custom syntax leaves out and the parser fills in: types that follow from others, terminators, counts.
Does not know: whether the program is valid. Every valid operation fits, but for a few that only bytecode or the generic
form can make (a padding value without a mask, index extents of several types).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from tileir.ir.attributes import Bounded, DivBy, MemoryOrdering, SameElements
from tileir.ir.core import Op, Value
from tileir.ir.declare import Operand, OpSpec, Relation, Result, Same, TerminatedBy, TypeFrom
from tileir.ir.rules import Rules
from tileir.ir.types import I4, FunctionType, PointerType, TensorViewType, TileType, Type
from tileir.ops.atomics import AtomicRedView
from tileir.ops.control import For, If, Loop
from tileir.ops.core import Constant, Reduce, Scan
from tileir.ops.extension import ExternElementwise, Func, GatherLoad, ScatterStore
from tileir.ops.memory import LoadPtr
from tileir.ops.misc import Assume
from tileir.ops.module import Entry, ModuleOp
from tileir.ops.multimem import MultimemLoadReduceView, MultimemReduceView, MultimemStoreView
from tileir.ops.views import GetIndexSpaceShape, GetTensorShape, LoadView, MakeTensorView, StoreView
from tileir.text.format import steps
from tileir.text.structured_text import pointer_attr

Check = Callable[[Op], bool]

_STATING = frozenset(("type", "repeated_type", "tail_type", "index_types", "exit_operands", "tail_colon_types"))


def fits(op: Op) -> bool:
    """Whether reading the operation's own syntax gives the operation back."""
    return can_be_written(op) and (type(op) not in _ambiguous or _ambiguous[type(op)](op))


def can_be_written(op: Op) -> bool:
    """Whether the operation's own syntax has a place for all of it, even if it may be read as something else."""
    spec = op.spec
    return (
        _counts_fit(op)
        and all(attr.name in op.attributes for attr in spec.attrs if attr.required)
        and all(check(op) for check in _type_checks(spec))
        and (not op.regions or _regions_fit(op))
        and (type(op) not in _special or _special[type(op)](op))
    )


def _counts_fit(op: Op) -> bool:
    spec = op.spec
    if len(op.operands) != sum(op.segments):
        return False
    results = not spec.results or spec.results[-1].variadic or len(op.results) == len(spec.results)
    sizes = zip(spec.operands, op.segments)
    return results and all(operand.variadic or size == 1 or (operand.optional and not size) for operand, size in sizes)


def _regions_fit(op: Op) -> bool:
    """Every region has its block, which ends with a terminator where the parser would add one."""
    rule: TerminatedBy | None = op.spec.trait(TerminatedBy)
    for declared, block in zip(op.spec.regions, op.regions):
        if block is None:
            if not declared.optional:
                return False
        elif rule is not None and not rule.written and block.terminator is None:
            return False
    return True


# ---------------------------------------------------------------- types that follow


@cache
def _type_checks(spec: OpSpec) -> tuple[Check, ...]:
    """For each field whose type the format does not state: whether it is the type the parser would find."""
    stated = {name for step in steps(spec.format or "") if step.kind in _STATING for name in step.fields}
    if spec.format is None:
        return ()
    fields: tuple[Operand | Result, ...] = (*spec.operands, *spec.results)
    checks = [_only_check(spec, field.name, field.constraint.only) for field in fields if field.constraint.only]
    for trait in spec.traits:
        if isinstance(trait, Same) and trait.relation is Relation.TYPE and not stated.issuperset(trait.fields):
            checks.append(_same_check(spec, trait.fields))
        elif isinstance(trait, TypeFrom):
            checks.append(_derived_check(spec, trait))
    return tuple(checks)


def _values(spec: OpSpec, name: str) -> Callable[[Op], list[Value]]:
    if name in spec.operand_index:
        position = spec.operand_index[name].position
        return lambda op: op.operand_group(position)
    result = next(result for result in spec.results if result.name == name)
    begin, end = result.position, None if result.variadic else result.position + 1
    return lambda op: op.results[begin:end]


def _only_check(spec: OpSpec, name: str, only: Type) -> Check:
    values = _values(spec, name)
    return lambda op: all(value.type is only for value in values(op))


def _same_check(spec: OpSpec, names: Iterable[str]) -> Check:
    groups = [_values(spec, name) for name in names]
    return lambda op: len({value.type for group in groups for value in group(op)}) <= 1


def _derived_check(spec: OpSpec, trait: TypeFrom) -> Check:
    targets, sources = _values(spec, trait.field), _values(spec, trait.source)
    return lambda op: targets(op)[0].type is trait.derive(sources(op)[0].type)


# ---------------------------------------------------------------- operations with more to say

_special: Rules[Check] = Rules()
_ambiguous: Rules[Check] = Rules()
"""Operations that have a text which reads as another operation; the vendor's disassembler writes it all the same."""


def _types(values: Iterable[Value]) -> list[Type]:
    return [value.type for value in values]


def _alike(values: Iterable[Value]) -> bool:
    return len(set(_types(values))) <= 1


@_special(Entry, Func)
def _function(op: Entry | Func) -> bool:
    type = op.function_type
    return isinstance(type, FunctionType) and _types(op.body.args) == list(type.inputs)


@_special(For)
def _for(op: For) -> bool:
    arguments = _types(op.body.args)
    bounds = _types([op.lower, op.upper, op.step]) == arguments[:1] * 3
    return bounds and _types(op.initial) == arguments[1:] == _types(op.results)


@_special(Loop)
def _loop(op: Loop) -> bool:
    return _types(op.body.args) == _types(op.initial)


@_special(If, ModuleOp)
def _no_arguments(op: Op) -> bool:
    return all(block is None or not block.args for block in op.regions)


@_special(Reduce, Scan, ExternElementwise)
def _combining(op: Op) -> bool:
    return bool(op.operands) and bool(op.results)


@_special(Assume)
def _assume(op: Assume) -> bool:
    return isinstance(op.predicate, DivBy | SameElements | Bounded)


@_special(Constant)
def _constant(op: Constant) -> bool:
    return op.value.type is op.result.type and op.value.type.element is not I4


@_ambiguous(LoadPtr)
def _load_ptr(op: LoadPtr) -> bool:
    return op.paddingValue is None or op.mask is not None


@_special(LoadView, StoreView, AtomicRedView, MultimemLoadReduceView, MultimemReduceView, MultimemStoreView)
def _through_view(op: LoadView) -> bool:
    return op.memory_scope is None or op.memory_ordering_semantics is not MemoryOrdering.WEAK


@_ambiguous(GetTensorShape, GetIndexSpaceShape)
def _extents(op: GetTensorShape) -> bool:
    return not op.discardable and _alike(op.extents)


@_special(GatherLoad, ScatterStore)
def _rows(op: GatherLoad) -> bool:
    return _alike(op.offsets)


@_special(MakeTensorView)
def _make_tensor_view(op: MakeTensorView) -> bool:
    type = op.result.type
    if not isinstance(type, TensorViewType) or not _alike(op.operands[1:]):
        return False
    dynamic = (type.shape.count(None), type.strides.count(None))
    pointer = TileType((), PointerType(type.element, pointer_attr(op.base.type)))
    return op.base.type is pointer and dynamic == op.segments[1:]
