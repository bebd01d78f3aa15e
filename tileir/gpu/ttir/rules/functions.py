"""TTIR of the functions without an exact result: exp, log, powers, trigonometry (spec: functions#top).

Each takes the cheapest evaluation within its bound (spec: functions#accuracy), which is the one published for the CUDA
device library. f32 and f64 are left to that library, which keeps subnormals (`compiler.EXACT`), but for what one PTX
instruction does within the bound: `exp2` and `rsqrt` of f32 (2 ulp each), and what is asked for as `approx`. f16 and
bf16 are evaluated in f32 and rounded to nearest even, where an error far below the narrow type's last place is as good
as none.
"""

from __future__ import annotations

import math

from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import TtirValue
from tileir.gpu.ttir.lib.libdevice import library_function, through_f32
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.ir.attributes import Rounding
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops.functions import Atan2, Cos, Cosh, Exp, Exp2, FPowF, FPowI, Log, Log2, Rsqrt, Sin, Sinh, Tan, Tanh

rules: Rules[Lower] = Rules()

_NAMES: dict[type[Op], str] = {
    Atan2: "atan2",
    Cos: "cos",
    Cosh: "cosh",
    FPowF: "pow",
    Log: "log",
    Log2: "log2",
    Sin: "sin",
    Sinh: "sinh",
    Tan: "tan",
}
"""Names in the device library. `atan2` has the ordinate first there too."""

_INSTRUCTIONS: dict[type[Op], tuple[str, str]] = {Exp2: ("exp2", "ex2.approx"), Rsqrt: ("rsqrt", "rsqrt.approx")}
"""The name in the device library, and the instruction for f32."""
_MOST_PARITY = 1 << 23
"""Up to twice this, f32 holds every integer."""


@rules(*_NAMES)
def lower_function(lowering: TtirLowering, op: Op) -> None:
    operands = [lowering.value(operand) for operand in op.operands]
    lowering.bind(op.results[0], library_function(lowering.build, _NAMES[type(op)], *operands))


@rules(*_INSTRUCTIONS)
def lower_instruction(lowering: TtirLowering, op: Exp2 | Rsqrt) -> None:
    """Emit one instruction of at most 2 ulp, the bound, over the whole range of f32 including subnormals."""
    build, source = lowering.build, lowering.value(op.source)
    name, instruction = _INSTRUCTIONS[type(op)]
    if source.type.element == "f64":
        result = library_function(build, name, source)
    else:
        flush = bool(op.flush_to_zero)
        result = through_f32(build, lambda x: build.vendor.approximate(build, instruction, flush, x), source)
    lowering.bind(op.result, result)


@rules(Exp)
def lower_exp(lowering: TtirLowering, op: Exp) -> None:
    """Lower the exponential: `approx` is a power of two whose exponent is rounded to f32, so the error grows with the
    argument.

    For f16 and bf16 that serves as well: before the result overflows or vanishes, the exponent is below 2^8 and its
    error below 2^-17, which is a 2^6-th of the last place of f16 (whose exponents end at 25) and a 2^9-th of bf16's.
    """
    build, source = lowering.build, lowering.value(op.source)
    if op.rounding_mode is Rounding.APPROX or source.type.element in ("f16", "bf16"):
        result = through_f32(build, lambda x: _power_of_two_of_scaled(build, x), source)
    else:
        result = library_function(build, "exp", source)
    lowering.bind(op.result, result)


def _power_of_two_of_scaled(build: Builder, x: TtirValue) -> TtirValue:
    scaled = build.op("arith.mulf", x, build.float(x.type, math.log2(math.e)))
    return build.vendor.approximate(build, "ex2.approx", False, scaled)


@rules(Tanh)
def lower_tanh(lowering: TtirLowering, op: Tanh) -> None:
    build, source = lowering.build, lowering.value(op.source)
    approximate = op.rounding_mode is Rounding.APPROX
    if approximate:
        result = build.vendor.approximate(build, "tanh.approx", False, source)
    else:
        result = library_function(build, "tanh", source)
    lowering.bind(op.result, result)


@rules(FPowI)
def lower_fpowi(lowering: TtirLowering, op: FPowI) -> None:
    """Call `pow`, where the exponent is exact: the library's own powers of integer exponents round at every factor."""
    build, source = lowering.build, lowering.value(op.source)
    exponent = lowering.value(op.exponent)
    long = exponent.type.element == "i32"
    exponent = build.resized(exponent, "i32", signed=True)
    element = source.type.element
    if element == "f64" or (element == "f32" and long):
        result = _power(build, build.cast("arith.extf", source, "f64"), exponent)
        result = build.cast("arith.truncf", result, element)
    else:
        short = _shortened(build, exponent) if long else exponent
        result = through_f32(build, lambda x: _power(build, x, short), source)
    lowering.bind(op.result, result)


def _power(build: Builder, source: TtirValue, exponent: TtirValue) -> TtirValue:
    return library_function(build, "pow", source, build.cast("arith.sitofp", exponent, source.type.element))


def _shortened(build: Builder, exponent: TtirValue) -> TtirValue:
    """Return an exponent that f32 holds, for f16 and bf16: any other than 1 and -1 overflows or vanishes before 2^23,
    of those two the parity decides."""
    low, high, one = (build.integer(exponent.type, value) for value in (-_MOST_PARITY, _MOST_PARITY, 1))
    limited = build.op("arith.minsi", build.op("arith.maxsi", exponent, low), high)
    return build.op("arith.ori", limited, build.op("arith.andi", exponent, one))
