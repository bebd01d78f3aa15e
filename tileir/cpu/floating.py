"""Native code for the floating-point chapter (specification 8.7).

Knows: which formula an operation with its attributes and element type stands for. Does not know: arithmetic
(`cpu.rounding`), functions (`cpu.mathlib`).
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu import rounding
from tileir.cpu.algebra import Real
from tileir.cpu.elements import DOUBLE, Num
from tileir.cpu.elementwise import (
    PREDICATES,
    Compute,
    Formula,
    condition,
    element_of,
    held,
    pointwise,
    real,
    reals,
    rounded,
    whole,
)
from tileir.cpu.lowering import Lower, Lowering
from tileir.cpu.mathlib import arctangent, exponential, logarithm, power, remainder, root, trigonometric
from tileir.cpu.rounding import flushing
from tileir.ir import types as t
from tileir.ir.attributes import Ordering, Rounding
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops.floating import (
    AbsF,
    AddF,
    Atan2,
    Ceil,
    CmpF,
    Cos,
    Cosh,
    DivF,
    Exp,
    Exp2,
    Floor,
    Fma,
    FPowF,
    FPowI,
    Log,
    Log2,
    MaxF,
    MinF,
    MulF,
    NegF,
    RemF,
    Rsqrt,
    Sin,
    Sinh,
    Sqrt,
    SubF,
    Tan,
    Tanh,
)

rules: Rules[Lower] = Rules()

_ROUNDED: dict[type[Op], rounding.ByMode] = {
    AddF: rounding.add,
    SubF: rounding.sub,
    MulF: rounding.mul,
    Fma: rounding.fma,
}
_FUNCTIONS: dict[type[Op], tuple[Formula, Formula]] = {
    Atan2: (arctangent.atan2_f32, arctangent.atan2_f64),
    Cos: (trigonometric.cos_f32, trigonometric.cos_f64),
    Cosh: (exponential.cosh_f32, exponential.cosh_f64),
    Exp: (exponential.exp_f32, exponential.exp_f64),
    Exp2: (exponential.exp2_f32, exponential.exp2_f64),
    FPowF: (power.pow_f32, power.pow_f64),
    Log: (logarithm.log_f32, logarithm.log_f64),
    Log2: (logarithm.log2_f32, logarithm.log2_f64),
    Rsqrt: (root.rsqrt_f32, root.rsqrt_f64),
    Sin: (trigonometric.sin_f32, trigonometric.sin_f64),
    Sinh: (exponential.sinh_f32, exponential.sinh_f64),
    Tan: (trigonometric.tan_f32, trigonometric.tan_f64),
    Tanh: (exponential.tanh_f32, exponential.tanh_f64),
}
"""For f32 and narrower types, and for f64. `approx` and `full` are served alike."""
_EXACT: dict[type[Op], Formula] = {
    AbsF: abs,
    Ceil: lambda x: x.ceil().with_sign_of(x),
    Floor: lambda x: x.floor().with_sign_of(x),
    NegF: Real.__neg__,
}
"""An integral part has its sign anyway; said, it keeps LLVM from doing f16 without vectors."""
_EXTREMES = {
    (MaxF, False): "llvm.maximumnum",
    (MaxF, True): "llvm.maximum",
    (MinF, False): "llvm.minimumnum",
    (MinF, True): "llvm.minimum",
}
_APPROX_DIVISOR_LIMIT = 2.0**126


def _bind(lowering: Lowering, op: Op, compute: Compute) -> None:
    """Bind the result, with subnormals flushed if the operation asks for it."""
    pointwise(lowering, op, flushing(compute) if op.attributes.get("flush_to_zero") else compute)


# ---------------------------------------------------------------- arithmetic


@rules(AddF, SubF, MulF, Fma)
def lower_rounded(lowering: Lowering, op: AddF | SubF | MulF | Fma) -> None:
    _bind(lowering, op, _ROUNDED[type(op)](element_of(op), op.rounding_mode))


@rules(DivF)
def lower_divf(lowering: Lowering, op: DivF) -> None:
    """`full` is no less accurate than to nearest even allows."""
    if op.rounding_mode is Rounding.APPROX:
        _bind(lowering, op, _approximate_quotient)
        return
    mode = Rounding.NEAREST_EVEN if op.rounding_mode is Rounding.FULL else op.rounding_mode
    _bind(lowering, op, rounding.div(element_of(op), mode))


def _approximate_quotient(builder: ir.IRBuilder, lhs: Num, rhs: Num) -> Num:
    """Above 2^126 the reciprocal of the divisor is flushed to zero."""
    dividend, divisor = real(builder, lhs), real(builder, rhs)
    vanishing = abs(divisor) > _APPROX_DIVISOR_LIMIT
    zero = dividend * divisor.of(0.0).with_sign_of(divisor)
    return held(t.F32, vanishing.choose(zero, dividend / divisor))


@rules(Sqrt)
def lower_sqrt(lowering: Lowering, op: Sqrt) -> None:
    mode = Rounding.NEAREST_EVEN if op.rounding_mode is Rounding.APPROX else op.rounding_mode
    _bind(lowering, op, rounding.sqrt(element_of(op), mode))


# ---------------------------------------------------------------- functions


@rules(Atan2, Cos, Cosh, Exp, Exp2, FPowF, Log, Log2, Rsqrt, Sin, Sinh, Tan, Tanh)
def lower_function(lowering: Lowering, op: Op) -> None:
    element = element_of(op)
    narrow, wide = _FUNCTIONS[type(op)]
    formula = wide if element is t.F64 else narrow

    def compute(builder: ir.IRBuilder, *numbers: Num) -> Num:
        return rounded(element, formula(*(real(builder, number) for number in numbers)))

    _bind(lowering, op, compute)


@rules(FPowI)
def lower_fpowi(lowering: Lowering, op: FPowI) -> None:
    element = element_of(op)
    formula = power.pow_f64 if element is t.F64 else power.pow_f32

    def compute(builder: ir.IRBuilder, source: Num, exponent: Num) -> Num:
        number = whole(builder, exponent).converted(DOUBLE)
        return rounded(element, formula(real(builder, source), number))

    pointwise(lowering, op, compute)


# ---------------------------------------------------------------- exact operations


@rules(AbsF, Ceil, Floor, NegF)
def lower_exact(lowering: Lowering, op: Op) -> None:
    reals(lowering, op, _EXACT[type(op)], exact=True)


@rules(RemF)
def lower_remf(lowering: Lowering, op: RemF) -> None:
    formula = remainder.remainder_f64 if element_of(op) is t.F64 else remainder.remainder_f32
    reals(lowering, op, formula, exact=True)


@rules(MaxF, MinF)
def lower_extreme(lowering: Lowering, op: MaxF | MinF) -> None:
    element, intrinsic = element_of(op), _EXTREMES[type(op), op.propagate_nan]

    def compute(builder: ir.IRBuilder, lhs: Num, rhs: Num) -> Num:
        return held(element, real(builder, lhs).extreme(intrinsic, real(builder, rhs)))

    _bind(lowering, op, compute)


@rules(CmpF)
def lower_cmpf(lowering: Lowering, op: CmpF) -> None:
    predicate = PREDICATES[op.comparison_predicate]
    compared = Real.compared if op.comparison_ordering is Ordering.ORDERED else Real.compared_or_unordered

    def compute(builder: ir.IRBuilder, lhs: Num, rhs: Num) -> Num:
        return condition(compared(real(builder, lhs), predicate, real(builder, rhs)))

    pointwise(lowering, op, compute)
