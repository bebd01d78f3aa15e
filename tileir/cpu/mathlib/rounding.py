"""Float arithmetic rounded once: add, sub, mul, div, sqrt and fma of f16, bf16, f32 and f64 in the four IEEE modes.

Knows: for each operation, type and mode a straight-line evaluation that is exactly rounded. Narrow types are evaluated
in a wider one where the second rounding is harmless (Figueroa, 1995: p' >= 2p + 2) or made so by rounding to odd.
Does not know: directed rounding of f64, which has no wider type (`cpu.mathlib.directed`); `approx` and `full`.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from tileir.cpu.emit.algebra import Real
from tileir.cpu.emit.elements import Num, is_native
from tileir.cpu.emit.formulas import Compute, Formula, held, real, rounded
from tileir.cpu.mathlib import directed
from tileir.cpu.mathlib.error_free import Pair, away_from_zero, signed_zero, sum_pair, to_odd
from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.ir.core import Op
from tileir.ir.formats import FloatFormat

ByMode = Callable[[t.ElementType, Rounding], Compute]
_SMALLEST_NORMAL_F32 = 2.0**-126


def add(element: t.ElementType, mode: Rounding) -> Compute:
    if mode is Rounding.NEAREST_EVEN:
        return _nearest(element, Real.__add__)
    if element is t.F64:
        return _direct(lambda x, y: directed.add(x, y, mode))
    return _narrowed(element, mode, lambda x, y: _odd_sum(mode, x, y))


def sub(element: t.ElementType, mode: Rounding) -> Compute:
    if mode is Rounding.NEAREST_EVEN:
        return _nearest(element, Real.__sub__)
    if element is t.F64:
        return _direct(lambda x, y: directed.add(x, -y, mode))
    return _narrowed(element, mode, lambda x, y: _odd_sum(mode, x, -y))


def mul(element: t.ElementType, mode: Rounding) -> Compute:
    """The product of two narrow numbers is exact in f64; that of two f16 is in f32 too."""
    if mode is Rounding.NEAREST_EVEN:
        return _nearest(element, _bf16_product if element is t.BF16 else Real.__mul__)
    if element is t.F64:
        return _direct(lambda x, y: directed.mul(x, y, mode))
    return _narrowed(element, mode, Real.__mul__)


def div(element: t.ElementType, mode: Rounding) -> Compute:
    """The quotient of two bf16 can be subnormal in f32, where a second rounding would show: that takes f64."""
    if mode is Rounding.NEAREST_EVEN:
        quotient = Real.__truediv__
        return _narrowed(element, mode, quotient) if element is t.BF16 else _nearest(element, quotient)
    if element is t.F64:
        return _direct(lambda x, y: directed.div(x, y, mode))
    return _narrowed(element, mode, _odd_quotient)


def sqrt(element: t.ElementType, mode: Rounding) -> Compute:
    if mode is Rounding.NEAREST_EVEN:
        return _nearest(element, Real.root)
    if element is t.F64:
        return _direct(lambda x: directed.sqrt(x, mode))
    return _narrowed(element, mode, _odd_root)


def fma(element: t.ElementType, mode: Rounding) -> Compute:
    if is_native(element) and mode is Rounding.NEAREST_EVEN:
        return _direct(Real.times_plus)
    if element is t.F64:
        return _direct(lambda x, y, addend: directed.fma(x, y, addend, mode))
    return _narrowed(element, mode, lambda x, y, addend: _odd_sum(mode, x * y, addend))


def _nearest(element: t.ElementType, formula: Formula) -> Compute:
    """`formula` in the working type of `element`, whose rounding leaves the one to `element` single."""
    return lambda builder, *numbers: rounded(element, formula(*(real(builder, number) for number in numbers)))


def _direct(formula: Formula) -> Compute:
    """`formula` on f64, or on f32 where it rounds by itself."""
    return lambda builder, *numbers: held(numbers[0].element, formula(*(real(builder, number) for number in numbers)))


def _narrowed(element: t.ElementType, mode: Rounding, formula: Formula) -> Compute:
    """`formula`, which is exact or rounds to odd in f64, then rounded to `element`."""

    def compute(builder: ir.IRBuilder, *numbers: Num) -> Num:
        return narrowed(element, mode, formula(*(real(builder, number).double() for number in numbers)))

    return compute


# ---------------------------------------------------------------- evaluation without a second rounding


def _bf16_product(x: Real, y: Real) -> Real:
    """The product of two bf16 in f32: exact, but below the normal f32, where it is rounded to a bf16 at once.

    Adding a number whose last bit has the weight of the smallest bf16 rounds the product there.
    """
    product = x * y
    anchor = 1.5 * 2.0 ** (-133 + 23)
    tiny = (x.times_plus(y, anchor) - anchor).with_sign_of(product)
    return (abs(product) < _SMALLEST_NORMAL_F32).choose(tiny, product)


def _odd_sum(mode: Rounding, x: Real, y: Real) -> Real:
    return signed_zero(mode, x, y, to_odd(sum_pair(x, y)))


def _odd_quotient(x: Real, y: Real) -> Real:
    """For magnitudes far from overflow and underflow. The remainder has the sign of the error, seen through y."""
    quotient = x / y
    rest = (-quotient).times_plus(y, x)
    sign = (y.pattern() & (1 << 63)) ^ rest.pattern()
    return to_odd(Pair(quotient, sign.as_real()))


def _odd_root(x: Real) -> Real:
    root = x.root()
    return to_odd(Pair(root, (-root).times_plus(root, x)))


# ---------------------------------------------------------------- rounding of an f64 to a narrower type


def narrowed(element: t.ElementType, mode: Rounding, x: Real) -> Num:
    """An f64 rounded once to a narrower type with infinities, or to nearest even to one that saturates."""
    if element is t.F64:
        return held(element, x)
    if element is t.F32 and mode is Rounding.NEAREST_EVEN:
        return held(element, x.single())
    return rounded(element, on_grid(x, element, mode).single())


def on_grid(x: Real, element: t.ElementType, mode: Rounding) -> Real:
    """The f64 `x` rounded to the precision and exponents of `element`, still as an f64.

    To nearest even, a magnitude beyond the largest finite one is left there: encoding gives it its due.
    """
    layout = element.layout
    magnitude = abs(x).at_most(layout.max_finite * 4)
    nearest, step = _nearest_on_grid(magnitude, layout)
    if mode is not Rounding.NEAREST_EVEN:
        nearest = _moved(x, magnitude, nearest, step, layout, mode)
    return nearest.signed_as(x)


def _nearest_on_grid(magnitude: Real, layout: FloatFormat) -> tuple[Real, Real]:
    """The multiple of `step`, the distance of neighbours in the format, that is nearest to the magnitude.

    Adding 2^52 steps leaves no bits below one step; the sum is rounded there.
    """
    smallest = (1 - layout.bias + 1023) << 52
    binade = (magnitude.pattern() & (0x7FF << 52)).unsigned_maximum(smallest)
    anchor = (binade + ((52 - layout.fraction) << 52)).as_real()
    step = (binade - (layout.fraction << 52)).as_real()
    return (magnitude + anchor) - anchor, step


def _moved(x: Real, magnitude: Real, nearest: Real, step: Real, layout: FloatFormat, mode: Rounding) -> Real:
    """The neighbour of the magnitude that `mode` asks for."""
    below = (nearest > magnitude).choose(nearest - step, nearest)
    above = (below < magnitude).choose(below + step, below)
    if mode is Rounding.NEAREST_AWAY:
        return ((magnitude - below) * 2.0 >= step).choose(above, below)
    away = away_from_zero(x.is_negative(), mode)
    largest = x.of(layout.max_finite)
    finite = abs(x) < float("inf")
    limited = (finite & (below > largest)).choose(largest, below)
    return away.choose(above, limited)


# ---------------------------------------------------------------- flush to zero


def flushed(number: Num, builder: ir.IRBuilder) -> Num:
    """An f32 with a subnormal replaced by zero of the same sign."""
    x = real(builder, number)
    zero = (x.pattern() & (1 << 31)).as_real()
    return held(t.F32, (abs(x) < _SMALLEST_NORMAL_F32).choose(zero, x))


def flushing(compute: Compute) -> Compute:
    """`compute` on f32 with subnormal operands and results flushed."""

    def flush(builder: ir.IRBuilder, *numbers: Num) -> Num:
        return flushed(compute(builder, *(flushed(number, builder) for number in numbers)), builder)

    return flush


def flushing_if_asked(op: Op, compute: Compute) -> Compute:
    """`compute`, with subnormals flushed if the operation asks for it."""
    return flushing(compute) if op.attributes.get("flush_to_zero") else compute
