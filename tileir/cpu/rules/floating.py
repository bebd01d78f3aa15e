"""Native code for the floating-point chapter (spec: floating#top).

Knows: which formula an operation with its attributes and element type stands for. Does not know: arithmetic
(`cpu.mathlib`).
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.emit.algebra import Real
from tileir.cpu.emit.elements import Num
from tileir.cpu.emit.tiles import Compute, Formula, condition, held, real
from tileir.cpu.lowering.elementwise import PREDICATES, element_of, pointwise, reals
from tileir.cpu.lowering.state import Lower, Lowering
from tileir.cpu.mathlib import arithmetic
from tileir.cpu.mathlib.arithmetic import flushing_if_asked
from tileir.ir import types as t
from tileir.ir.attributes import Ordering, Rounding
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops.floating import AbsF, AddF, Ceil, CmpF, DivF, Floor, Fma, MaxF, MinF, MulF, NegF, RemF, Sqrt, SubF

rules: Rules[Lower] = Rules()

_ROUNDED: dict[type[Op], arithmetic.ByMode] = {
    AddF: arithmetic.add,
    SubF: arithmetic.sub,
    MulF: arithmetic.mul,
    Fma: arithmetic.fma,
}
_EXACT: dict[type[Op], Formula] = {
    AbsF: abs,
    Ceil: lambda x: x.ceil().with_sign_of(x),
    Floor: lambda x: x.floor().with_sign_of(x),
    NegF: Real.__neg__,
}
"""An integral part has its sign anyway; said, it keeps LLVM from doing f16 without vectors."""
_EXTREMES: dict[type[Op], str] = {MaxF: "llvm.maximum", MinF: "llvm.minimum"}
"""With `propagate_nan`. LLVM's functions without, ``maximumnum`` and ``minimumnum``, give NaN on x86 for some pairs of
a NaN and what is known to be a number."""
_APPROX_DIVISOR_LIMIT = 2.0**126


def _bind(lowering: Lowering, op: Op, compute: Compute) -> None:
    """Bind the result, with subnormals flushed if the operation asks for it."""
    pointwise(lowering, op, flushing_if_asked(op, compute))


# ---------------------------------------------------------------- arithmetic


@rules(*_ROUNDED)
def lower_rounded(lowering: Lowering, op: AddF | SubF | MulF | Fma) -> None:
    _bind(lowering, op, _ROUNDED[type(op)](element_of(op), op.rounding_mode))


@rules(DivF)
def lower_divf(lowering: Lowering, op: DivF) -> None:
    """`full` is no less accurate than to nearest even allows."""
    if op.rounding_mode is Rounding.APPROX:
        _bind(lowering, op, _approximate_quotient)
        return
    mode = Rounding.NEAREST_EVEN if op.rounding_mode is Rounding.FULL else op.rounding_mode
    _bind(lowering, op, arithmetic.div(element_of(op), mode))


def _approximate_quotient(builder: ir.IRBuilder, lhs: Num, rhs: Num) -> Num:
    """Above 2^126 the reciprocal of the divisor is flushed to zero."""
    dividend, divisor = real(builder, lhs), real(builder, rhs)
    vanishing = abs(divisor) > _APPROX_DIVISOR_LIMIT
    zero = dividend * divisor.of(0.0).with_sign_of(divisor)
    return held(t.F32, vanishing.choose(zero, dividend / divisor))


@rules(Sqrt)
def lower_sqrt(lowering: Lowering, op: Sqrt) -> None:
    mode = Rounding.NEAREST_EVEN if op.rounding_mode is Rounding.APPROX else op.rounding_mode
    _bind(lowering, op, arithmetic.sqrt(element_of(op), mode))


# ---------------------------------------------------------------- exact operations


@rules(*_EXACT)
def lower_exact(lowering: Lowering, op: Op) -> None:
    reals(lowering, op, _EXACT[type(op)], exact=True)


@rules(RemF)
def lower_remf(lowering: Lowering, op: RemF) -> None:
    formula = arithmetic.remainder_f64 if element_of(op) is t.F64 else arithmetic.remainder_f32
    reals(lowering, op, formula, exact=True)


@rules(*_EXTREMES)
def lower_extreme(lowering: Lowering, op: MaxF | MinF) -> None:
    element, intrinsic = element_of(op), _EXTREMES[type(op)]

    def compute(builder: ir.IRBuilder, lhs: Num, rhs: Num) -> Num:
        left, right = real(builder, lhs), real(builder, rhs)
        if not op.propagate_nan:
            left, right = left.is_nan().choose(right, left), right.is_nan().choose(left, right)
        return held(element, left.extreme(intrinsic, right))

    _bind(lowering, op, compute)


@rules(CmpF)
def lower_cmpf(lowering: Lowering, op: CmpF) -> None:
    predicate = PREDICATES[op.comparison_predicate]
    compared = Real.compared if op.comparison_ordering is Ordering.ORDERED else Real.compared_or_unordered

    def compute(builder: ir.IRBuilder, lhs: Num, rhs: Num) -> Num:
        return condition(compared(real(builder, lhs), predicate, real(builder, rhs)))

    pointwise(lowering, op, compute)
