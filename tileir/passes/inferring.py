"""The passes ``infer``, ``infer-assume``, ``infer-inbounds``: write down what a program implies but does not say.

Promises, static extents and flags follow from the ranges of values (`analysis.affine`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tileir.analysis import ranges
from tileir.analysis.affine import Affines
from tileir.analysis.structure import Uses
from tileir.ir import types as t
from tileir.ir.attributes import AssumePredicate, Bounded, DivBy, Overflow
from tileir.ir.core import Module, Op, Value
from tileir.ops.atomics import AtomicRedView
from tileir.ops.integer import AddI, MulI, SubI
from tileir.ops.misc import Assume
from tileir.ops.module import Entry
from tileir.ops.views import (
    GetIndexSpaceShape,
    GetTensorShape,
    LoadView,
    MakeGatherScatterView,
    MakePartitionView,
    MakeStridedView,
    MakeTensorView,
    StoreView,
)
from tileir.passes.facts import constant_of, splat_of
from tileir.passes.rebuilding import ChangeLog, Exactness, Rebuilding, Row
from tileir.passes.redundancy import CLOSED

NO_WRAP = Row(
    "no-signed-wrap", "infer", "addi, subi, muli without overflow flag", "the same with overflow<no_signed_wrap>",
    Exactness.PROMISED, "the exact result fits the type for all values of the operands",
    "the ranges of the operands are known, from constants, tile block ids, loops and promises",
)  # fmt: skip
STATIC = Row(
    "static-extent", "infer", "make_tensor_view shape = [C], strides = [D] : tensor_view<?, strides=[?]>",
    "make_tensor_view : tensor_view<C, strides=[D]>", Exactness.EXACT,
    "the number is the same whether the type or an operand says it",
    "C and D are positive, and the view is used by views and accesses only",
)  # fmt: skip
INBOUNDS = Row(
    "inbounds", "infer-inbounds", "load_view_tko, store_view_tko without inbounds", "the same with inbounds",
    Exactness.PROMISED, "no element of the tile can lie outside the tensor",
    "extents are static and the range of each index is known; needs language 13.4",
)  # fmt: skip
DIVISIBLE = Row(
    "divisible", "infer-assume", "make_tensor_view with an extent or stride x",
    "make_tensor_view with assume div_by<D>, x",
    Exactness.PROMISED, "x is a multiple of D for all values of what it is computed from", "D > 1 is known of x",
)  # fmt: skip
BOUNDED = Row(
    "bounded", "infer-assume", "make_tensor_view with an extent or stride x",
    "make_tensor_view with assume bounded<L, H>, x", Exactness.PROMISED,
    "x lies between L and H for all values of what it is computed from", "L >= 0 or H is known of x",
)  # fmt: skip
ALIGNED = Row(
    "aligned", "infer-assume", "make_tensor_view p", "make_tensor_view (assume div_by<D>, p)", Exactness.PROMISED,
    "p is a multiple of D bytes for all values of what it is computed from",
    "that is known of p, and D is more than the size of an element",
)  # fmt: skip
ROWS = (NO_WRAP, STATIC)
ASSUME_ROWS = (DIVISIBLE, BOUNDED, ALIGNED)
INBOUNDS_ROWS = (INBOUNDS,)

_MAKERS = (MakePartitionView, MakeStridedView, MakeGatherScatterView)
_USERS = (*_MAKERS, LoadView, StoreView, AtomicRedView, GetTensorShape, GetIndexSpaceShape)


class _Ranged(Rebuilding):
    """A walk that knows the ranges of integers."""

    def __init__(self, log: ChangeLog) -> None:
        super().__init__(log)
        self.known: Affines | None = None

    def visit(self, op: Op) -> None:
        around = self.known
        if isinstance(op, Entry):
            self.known = Affines(op.body)
        elif isinstance(op, CLOSED):
            self.known = None  # The analysis does not look into bodies that run for elements.
        super().visit(op)
        self.known = around

    def bounds(self, value: Value) -> tuple[int, int] | None:
        """Return the bounds of the elements, read as signed; None if there are no numbers, as in a place never
        reached."""
        if self.known is None:
            return None
        found = self.known.range(value)
        return (found.low, found.high) if found.low <= found.high else None


class Inferring(_Ranged):
    """The walk that adds overflow flags and static extents."""

    def module(self, module: Module) -> Module:
        self.uses = Uses([module.op])
        return super().module(module)

    def copy(self, op: Op) -> Op:
        made = super().copy(op)
        if (
            isinstance(op, AddI | SubI | MulI)
            and op.overflow is Overflow.NONE
            and self.log.allows(NO_WRAP)
            and self._fits(op)
        ):
            made.attributes["overflow"] = Overflow.NO_SIGNED_WRAP
            self.log.note(NO_WRAP, op, made.results)
        elif isinstance(op, _MAKERS):
            view = op.results[0].tile_view
            _retype(made, view.of_tensor(made.operands[0].tensor_view, view.padding))
        elif isinstance(op, MakeTensorView) and self._is_plain(op.result):
            self._make_static(op, made)
        return made

    def _fits(self, op: AddI | SubI | MulI) -> bool:
        """Return whether the exact result of an operation fits its type."""
        if self.bounds(op.lhs) is None or self.bounds(op.rhs) is None or op.result.tile.number.bits == 1:
            return False
        return self.known is not None and self.known.fits(op)

    # ------------------------------------------------------------ static extents

    def _is_plain(self, view: Value) -> bool:
        """Return whether a view is used by views and accesses only, so that it may have another type."""
        return all(
            isinstance(user, _USERS) and (not isinstance(user, _MAKERS) or self._is_plain(user.results[0]))
            for user in self.uses.of(view)
        )

    def _make_static(self, op: MakeTensorView, made: Op) -> None:
        type = op.result.tensor_view
        if type.element is t.F4E2M1FN:
            return
        shape, extents = _static(type.shape, made.operand_group(1))
        strides, steps = _static(type.strides, made.operand_group(2))
        if len(extents) + len(steps) == len(made.operands) - 1:
            return
        made.operands = (made.operands[0], *extents, *steps)
        made.segments = (1, len(extents), len(steps))
        _retype(made, t.TensorViewType(type.element, shape, strides, type.attr))
        self.log.note(STATIC, op, made.results)


def _static(entries: Sequence[int | None], operands: Sequence[Value]) -> tuple[list[int | None], list[Value]]:
    """Return extents or strides with constant operands put into the type, and the operands that are left."""
    found: list[int | None] = []
    left: list[Value] = []
    given = iter(operands)
    for entry in entries:
        if entry is not None:
            found.append(entry)
            continue
        value = next(given)
        number = splat_of(value)
        usable = number is not None and 0 < number < 1 << 63
        found.append(number if usable else None)
        left += [] if usable else [value]
    return found, left


def _retype(op: Op, type: t.Type) -> None:
    if op.results[0].type is not type:
        op.results = (Value(type, op, 0),)


class InferringAssume(_Ranged):
    """The walk that tells what is known of addresses, extents and strides."""

    def visit(self, op: Op) -> None:
        if not isinstance(op, MakeTensorView) or self.known is None:
            super().visit(op)
            return
        before = self.given(op.operands)
        for value in dict.fromkeys(op.operands[1:]):
            self._assume(op, value)
        self._align(op)
        super().visit(op)
        self.bind(op.operands, before)  # Others may stand where the promise cannot be seen.

    def _assume(self, op: MakeTensorView, value: Value) -> None:
        """Promise what is known of an operand, unless that has been promised."""
        if constant_of(value) is not None or self.known is None:
            return
        found = self.known.range(value)
        limits = ranges.signed(value.tile.number.bits)
        if found.low > found.high:
            return
        promised = set(_promises(value))
        divisor = min(found.divisor, 1 << 30)
        if divisor > 1 and not any(isinstance(one, DivBy) and one.divisor >= divisor for one in promised):
            self._promise(DIVISIBLE, op, value, DivBy(divisor))
        bounds = Bounded(
            found.low if found.low > limits.low else None, found.high if found.high < limits.high else None
        )
        if (found.low >= 0 or bounds.upper is not None) and not any(isinstance(one, Bounded) for one in promised):
            self._promise(BOUNDED, op, value, bounds)

    def _align(self, op: MakeTensorView) -> None:
        """Promise what is known of the address, unless that has been promised."""
        assert self.known is not None, "the operation stands in an entry"
        divisor = min(self.known.range(op.base).divisor, 1 << 30)
        if divisor > op.base.tile.pointer.pointee.byte_size and not any(
            isinstance(one, DivBy) and one.divisor >= divisor for one in _promises(op.base)
        ):
            self._promise(ALIGNED, op, op.base, DivBy(divisor))

    def _promise(self, row: Row, op: MakeTensorView, value: Value, predicate: DivBy | Bounded) -> None:
        now = self.values[value]
        made = self.emit(Assume.build([now.type], self.place(op.loc), predicate=predicate, value=now))
        self.bind([value], made)
        self.log.note(row, op, made)


def _promises(value: Value) -> Iterator[AssumePredicate]:
    """Yield the promises that a value has passed through."""
    while isinstance(value.owner, Assume):
        yield value.owner.predicate
        value = value.owner.value


class InferringInbounds(_Ranged):
    """The walk that promises what is certain of tiles of views."""

    def copy(self, op: Op) -> Op:
        made = super().copy(op)
        if isinstance(op, LoadView | StoreView) and not any(op.inbounds) and self._lies_inside(op):
            made.attributes["inbounds"] = (True,) * len(op.index)
            self.log.note(INBOUNDS, op, made.results)
        return made

    def _lies_inside(self, op: LoadView | StoreView) -> bool:
        view = op.view.type
        if not isinstance(view, t.PartitionViewType | t.StridedViewType):
            return False
        for at, index in enumerate(op.index):
            extent, found = view.tensor_view.shape[view.tensor_dims[at]], self.bounds(index)
            if extent is None or found is None or found[0] < 0:
                return False
            if found[1] * view.tile_steps[at] + view.tile_shape[at] > extent:
                return False
        return True
