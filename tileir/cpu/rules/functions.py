"""Native code for the mathematical functions (spec: functions#top).

Knows: which formula a function with its element type stands for. Does not know: the formulas (`cpu.mathlib`).
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.emit.elements import DOUBLE, Num
from tileir.cpu.emit.tiles import Formula, integer, real, rounded
from tileir.cpu.lowering.elementwise import element_of, pointwise
from tileir.cpu.lowering.state import Lower, Lowering
from tileir.cpu.mathlib import exponential, trigonometric
from tileir.cpu.mathlib.arithmetic import flushing_if_asked
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops.functions import Atan2, Cos, Cosh, Exp, Exp2, FPowF, FPowI, Log, Log2, Rsqrt, Sin, Sinh, Tan, Tanh

rules: Rules[Lower] = Rules()

_FUNCTIONS: dict[type[Op], tuple[Formula, Formula]] = {
    Atan2: (trigonometric.atan2_f32, trigonometric.atan2_f64),
    Cos: (trigonometric.cos_f32, trigonometric.cos_f64),
    Cosh: (exponential.cosh_f32, exponential.cosh_f64),
    Exp: (exponential.exp_f32, exponential.exp_f64),
    Exp2: (exponential.exp2_f32, exponential.exp2_f64),
    FPowF: (exponential.pow_f32, exponential.pow_f64),
    Log: (exponential.log_f32, exponential.log_f64),
    Log2: (exponential.log2_f32, exponential.log2_f64),
    Rsqrt: (exponential.rsqrt_f32, exponential.rsqrt_f64),
    Sin: (trigonometric.sin_f32, trigonometric.sin_f64),
    Sinh: (exponential.sinh_f32, exponential.sinh_f64),
    Tan: (trigonometric.tan_f32, trigonometric.tan_f64),
    Tanh: (exponential.tanh_f32, exponential.tanh_f64),
}
"""For f32 and narrower types, and for f64. `approx` and `full` are served alike."""


@rules(*_FUNCTIONS)
def lower_function(lowering: Lowering, op: Op) -> None:
    element = element_of(op)
    narrow, wide = _FUNCTIONS[type(op)]
    formula = wide if element is t.F64 else narrow

    def compute(builder: ir.IRBuilder, *numbers: Num) -> Num:
        return rounded(element, formula(*(real(builder, number) for number in numbers)))

    pointwise(lowering, op, flushing_if_asked(op, compute))


@rules(FPowI)
def lower_fpowi(lowering: Lowering, op: FPowI) -> None:
    element = element_of(op)
    formula = exponential.pow_f64 if element is t.F64 else exponential.pow_f32

    def compute(builder: ir.IRBuilder, source: Num, exponent: Num) -> Num:
        number = integer(builder, exponent).converted(DOUBLE)
        return rounded(element, formula(real(builder, source), number))

    pointwise(lowering, op, compute)
