"""TTIR of the floating-point operations with an exact result (spec: floating#top), and of `divf` and `sqrt` in full.

`approx` and `full` are, or are as near as, the PTX instructions from which the specification takes its bounds
(spec: floating#semantics, spec: functions#accuracy): ``div.approx.f32`` (2 ulp, and zero for divisors above 2^126),
``div.full.f32`` (2 ulp), ``sqrt.approx.f32`` (about 2^-23).
"""

from __future__ import annotations

from tileir.gpu.ttir.forms import PREDICATES
from tileir.gpu.ttir.lib.libdevice import library_function, rounded
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.ir.attributes import Ordering, Rounding
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops.floating import (
    AbsF,
    AddF,
    Ceil,
    CmpF,
    DivF,
    Floor,
    Fma,
    MaxF,
    MinF,
    MulF,
    NegF,
    RemF,
    Sqrt,
    SubF,
)

rules: Rules[Lower] = Rules()

_ROUNDED: dict[type[Op], str] = {AddF: "add", SubF: "sub", MulF: "mul", DivF: "div", Fma: "fma", Sqrt: "sqrt"}
_EXACT: dict[type[Op], str] = {AbsF: "math.absf", Ceil: "math.ceil", Floor: "math.floor"}
_EXTREMES: dict[type[Op], tuple[str, str]] = {
    MaxF: ("arith.maxnumf", "arith.maximumf"),
    MinF: ("arith.minnumf", "arith.minimumf"),
}
"""Without and with `propagate_nan`."""


@rules(*_ROUNDED)
def lower_rounded(lowering: TtirLowering, op: AddF | SubF | MulF | DivF | Fma | Sqrt) -> None:
    operands = [lowering.value(operand) for operand in op.operands]
    name, mode, flush = _ROUNDED[type(op)], op.rounding_mode, op.flush_to_zero
    if mode in (Rounding.APPROX, Rounding.FULL):
        result = lowering.build.vendor.approximate(lowering.build, f"{name}.{mode.text}", flush, *operands)
    else:
        result = rounded(lowering.build, name, mode, flush, *operands)
    lowering.bind(op.results[0], result)


@rules(*_EXACT)
def lower_exact(lowering: TtirLowering, op: AbsF | Ceil | Floor) -> None:
    lowering.bind(op.result, lowering.build.op(_EXACT[type(op)], lowering.value(op.source)))


@rules(NegF)
def lower_negf(lowering: TtirLowering, op: NegF) -> None:
    """Flip the sign bit: Triton knows ``arith.negf`` only since 3.9."""
    build, source = lowering.build, lowering.value(op.source)
    bits = build.bitcast(source, f"i{source.type.bits}")
    sign = build.bits(bits.type, 1 << (bits.type.bits - 1))
    lowering.bind(op.result, build.bitcast(build.op("arith.xori", bits, sign), source.type.element))


@rules(*_EXTREMES)
def lower_extreme(lowering: TtirLowering, op: MaxF | MinF) -> None:
    """Emit ``max`` and ``min`` of PTX, where +0 is above -0 and a NaN loses, or with ``.NaN`` wins: LLVM makes them of
    the instructions of TTIR, and where ``.NaN`` is missing (f64) adds its effect."""
    build, lhs, rhs = lowering.build, lowering.value(op.lhs), lowering.value(op.rhs)
    if op.flush_to_zero:
        name = "max" if isinstance(op, MaxF) else "min"
        result = build.vendor.extreme(build, name, op.propagate_nan, lhs, rhs)
    else:
        result = build.op(_EXTREMES[type(op)][op.propagate_nan], lhs, rhs)
    lowering.bind(op.result, result)


@rules(CmpF)
def lower_cmpf(lowering: TtirLowering, op: CmpF) -> None:
    letter = "o" if op.comparison_ordering is Ordering.ORDERED else "u"
    predicate = letter + PREDICATES[op.comparison_predicate]
    lowering.bind(op.result, lowering.build.compare_float(predicate, lowering.value(op.lhs), lowering.value(op.rhs)))


@rules(RemF)
def lower_remf(lowering: TtirLowering, op: RemF) -> None:
    """Call the device library's ``fmod``, which is exact; ``arith.remf`` is not where the quotient is large."""
    build, operands = lowering.build, (lowering.value(op.lhs), lowering.value(op.rhs))
    lowering.bind(op.result, library_function(build, "fmod", *operands))
