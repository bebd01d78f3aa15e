"""A test of whether an operation can be printed in its custom syntax, which leaves out what the parser can fill in.

Nearly every valid operation can; the rest, which only bytecode or generic text produce, print in generic form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from tileir.ir.attributes import Bounded, DivBy, MemoryOrdering, SameElements
from tileir.ir.core import Op, Value
from tileir.ir.rules import Rules
from tileir.ir.spec import OpSpec
from tileir.ir.traits import TerminatedBy
from tileir.ir.types import I4, FunctionType, PointerType, TensorViewType, TileType, Type
from tileir.ops.atomics import AtomicRedView
from tileir.ops.calls import Func
from tileir.ops.control import For, If, Loop
from tileir.ops.core import Constant
from tileir.ops.extension import ExternElementwise, GatherLoad, ScatterStore
from tileir.ops.misc import Assume
from tileir.ops.module import Entry, ModuleOp
from tileir.ops.multimem import MultimemLoadReduceView, MultimemReduceView, MultimemStoreView
from tileir.ops.pointers import LoadPtr
from tileir.ops.reduction import Reduce, Scan
from tileir.ops.views import GetIndexSpaceShape, GetTensorShape, LoadView, MakeTensorView, StoreView
from tileir.text.syntax.directive import ValuesOf, values_of
from tileir.text.syntax.format import inference
from tileir.text.syntax.views import pointer_attr

Check = Callable[[Op], bool]


def is_expressible(op: Op) -> bool:
    """Return whether reading the operation's own syntax gives the operation back."""
    return is_writable(op) and (type(op) not in _ambiguous or _ambiguous[type(op)](op))


def is_writable(op: Op) -> bool:
    """Return whether the operation's own syntax has a place for all of it, even if it may be read as something else."""
    spec = op.spec
    return (
        _is_counted(op)
        and all(attr.name in op.attributes for attr in spec.attrs if attr.required)
        and all(check(op) for check in _type_checks(spec))
        and (not op.regions or _has_regions(op))
        and (type(op) not in _special or _special[type(op)](op))
    )


def _is_counted(op: Op) -> bool:
    spec = op.spec
    if len(op.operands) != sum(op.segments):
        return False
    defined = len(op.defines) if isinstance(op.defines, tuple) else 1
    results = not spec.results or spec.results[-1].variadic or defined == len(spec.results)
    sizes = zip(spec.operands, op.segments)
    return results and all(operand.variadic or size == 1 or (operand.optional and not size) for operand, size in sizes)


def _has_regions(op: Op) -> bool:
    """Return whether every region has its block, which ends with a terminator where the parser would add one."""
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
    """Return, for each field whose type the format does not state, a check that it is the type the parser would
    find."""
    if spec.format is None:
        return ()
    only, copies = inference(spec)
    values = [values_of(spec, field.name) for field in (*spec.operands, *spec.results)]
    checks = [_only_check(values[slot], type) for slot, type in enumerate(only) if type is not None]
    return (*checks, *(_copy_check(values[target], values[source], derive) for target, source, derive in copies))


def _only_check(values: ValuesOf, only: Type) -> Check:
    return lambda op: all(value.type is only for value in values(op))


def _copy_check(targets: ValuesOf, sources: ValuesOf, derive: Callable[[Type], Type | None] | None) -> Check:
    def check(op: Op) -> bool:
        type = sources(op)[0].type
        return all(value.type is (type if derive is None else derive(type)) for value in targets(op))

    return check


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
