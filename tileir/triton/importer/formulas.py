"""Functions of device libraries, as formulas of operations that Tile IR has.

Those that are `_wide` are computed in f64 and rounded to the type of the operand, so that they are as good as those of
a library; of f64 their error is a few units in the last place, of the gamma function as many as it has digits before
the point.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from operator import add, mul

from tileir.ir import types as t
from tileir.ir.attributes import Predicate, Signedness
from tileir.ops.division import DivI
from tileir.ops.floating import RemF
from tileir.ops.functions import Atan2, FPowF, FPowI, Sin
from tileir.ops.integer import MulhiI
from tileir.triton.importer.algebra import TileNumber, polynomial, where

Formula = Callable[..., TileNumber]

# ------------------------------------------------------------ rounding and parts of floats


def _sign_like(magnitude: TileNumber, sign: TileNumber) -> TileNumber:
    """Return the magnitude with the sign of the other."""
    top = 1 << magnitude.element.bits - 1
    return _float((magnitude.bits & (top - 1)) | (sign.bits & -top), magnitude)


def _float(bits: TileNumber, like: TileNumber) -> TileNumber:
    return TileNumber(bits.build, bits.build.bitcast(bits.value, like.element))


def trunc(x: TileNumber) -> TileNumber:
    return _sign_like(abs(x).floor(), x)


def _round(x: TileNumber) -> TileNumber:
    """Round to the nearest integer, halves away from zero."""
    below = abs(x).floor()
    return _sign_like(where(abs(x) - below >= 0.5, below + 1.0, below), x)


def rint(x: TileNumber) -> TileNumber:
    """Round to the nearest integer, halves to even: adding and subtracting a large number leaves no room for a
    fraction."""
    size = float(1 << x.element.layout.fraction)
    return _sign_like(where(abs(x) < size, abs(x) + size - size, abs(x)), x)


def _exponent(x: TileNumber) -> TileNumber:
    """Return the exponent of a finite f64 that is not 0, as i32."""
    small = abs(x) < 2.0**-1022
    scaled = where(small, x * 2.0**54, x)
    exponent = ((scaled.bits.shifted_right(52)) & 0x7FF) - 1023
    return where(small, exponent - 54, exponent).to(t.I32)


def _logb(x: TileNumber) -> TileNumber:
    finite = where(x.equals(0.0), -math.inf, _exponent(x).to(t.F64))
    return where(abs(x) < math.inf, finite, x * x)


def _ilogb(x: TileNumber) -> TileNumber:
    """Return the exponent; the least integer for 0 and NaN, the greatest for infinities."""
    exponent = _exponent(x.to(t.F64))
    special = where(abs(x).equals(math.inf), exponent.like((1 << 31) - 1), -1 << 31)
    return where((abs(x) < math.inf) & x.differs(0.0), exponent, special)


def _power_of_two(exponent: TileNumber) -> TileNumber:
    """Return an f64 of an exponent in its range."""
    return ((exponent.to(t.I64) + 1023) << 52).float


def _ldexp(x: TileNumber, exponent: TileNumber) -> TileNumber:
    """Scale in three steps, none of which overflows unless the result does."""
    clipped = where(exponent > 2100, 2100, where(exponent < -2100, -2100, exponent))
    third = TileNumber(x.build, x.build.same(DivI, clipped.value, clipped.like(3).value, signedness=Signedness.SIGNED))
    step = _power_of_two(third)
    return x.to(t.F64) * step * step * _power_of_two(clipped - third * 2)


def _nextafter(x: TileNumber, y: TileNumber) -> TileNumber:
    bits = x.bits
    outwards = where(x > 0.0, y > x, y < x)
    moved = _float(where(outwards, bits + 1, bits - 1), x)
    moved = where(x.equals(0.0), _sign_like(_float(bits.like(1), x), y), moved)
    return where(x.equals(y), y, where(x.equals(x) & y.equals(y), moved, x + y))


def _remainder(x: TileNumber, y: TileNumber) -> TileNumber:
    """Return the remainder of the nearest multiple; of two equally near, the even one."""
    size = abs(y)
    rest = abs(x).apply(RemF, where(size * 2.0 < math.inf, size * 2.0, size))
    half = size * 0.5
    once = where(rest > half, rest - size, rest)
    twice = where((rest > half) & (once >= half), once - size, once)
    return where(x.bits < 0, -twice, twice)


# ------------------------------------------------------------ exponentials, logarithms, powers, angles


def _expm1(x: TileNumber) -> TileNumber:
    """Correct ``exp(x) - 1`` by its logarithm, which suffers the same cancellation."""
    power = x.exp()
    exact = where(power.equals(1.0), x, (power - 1.0) * x / power.log())
    return where(abs(power - 1.0) < 1.0, exact, power - 1.0)


def _log1p(x: TileNumber) -> TileNumber:
    total = x + 1.0
    exact = where(total.equals(1.0), x, total.log() * (x / (total - 1.0)))
    return where(total < math.inf, exact, total.log())


def _cbrt(x: TileNumber) -> TileNumber:
    size = abs(x)
    root = (size.log2() * (1.0 / 3.0)).exp2()
    root = root - (root * root * root - size) / (root * root * 3.0)
    return where((size > 0.0) & (size < math.inf), _sign_like(root, x), x)


def _norm(*parts: TileNumber) -> TileNumber:
    """Return the root of the sum of squares without overflow; infinite if one part is, even beside a NaN."""
    sizes = [abs(part) for part in parts]
    largest = reduce(TileNumber.maximum, sizes)
    exponent = where((largest > 0.0) & (largest < math.inf), _exponent(largest), 0)
    exponent = where(exponent > 1000, 1000, where(exponent < -1000, -1000, exponent))
    down, up = _power_of_two(-exponent), _power_of_two(exponent)
    total = reduce(add, [(size * down) * (size * down) for size in sizes]).sqrt() * up
    return where(largest.equals(math.inf), largest, total)


def _asin(x: TileNumber) -> TileNumber:
    return x.apply(Atan2, ((1.0 - x) * (x + 1.0)).sqrt())


def _acos(x: TileNumber) -> TileNumber:
    return ((1.0 - x) * (x + 1.0)).sqrt().apply(Atan2, x)


def _asinh(x: TileNumber) -> TileNumber:
    size = abs(x)
    near = _log1p(size + size * size / ((size * size + 1.0).sqrt() + 1.0))
    return _sign_like(where(size < 2.0**400, near, size.log() + math.log(2.0)), x)


def _acosh(x: TileNumber) -> TileNumber:
    over = x - 1.0
    near = _log1p(over + (over * 2.0 + over * over).sqrt())
    found = where(x < 2.0**400, near, x.log() + math.log(2.0))
    return where(x < 1.0, math.nan, found)


def _atanh(x: TileNumber) -> TileNumber:
    size = abs(x)
    return _sign_like(_log1p(size * 2.0 / (1.0 - size)) * 0.5, x)


def _sinpi(x: TileNumber) -> TileNumber:
    """Return the sine of half turns, of at most a quarter turn: exactly 0 at integers."""
    rest = _remainder(x, x.like(2.0))
    rest = where(abs(rest) > 0.5, _sign_like(1.0 - abs(rest), rest), rest)
    return (rest * math.pi).apply(Sin)


def _cospi(x: TileNumber) -> TileNumber:
    """Return the cosine of half turns as a sine of what is left to a quarter turn: exactly 0 there."""
    return ((0.5 - abs(_remainder(x, x.like(2.0)))) * math.pi).apply(Sin)


# ------------------------------------------------------------ error function, gamma function

_ERF = (
    1.128379167095512574, -0.3761263890318374806, 0.1128379167095487867, -0.02686617064507679325,
    0.005223977624818014467, -0.0008548326980833789905, 0.0001205533111164271092, -0.00001492559526683118157,
    1.646100048412136803e-6, -1.635031270105469501e-7, 1.465977527404743581e-8, -1.137284885679167367e-9,
    5.957176147748911404e-11,
)  # fmt: skip
"""``erf(x) / x`` in powers of x * x, to 1: interpolated at the zeros of a Chebyshev polynomial, as the next three."""
_ERF_F32 = (
    1.128379166, -0.3761262667, 0.1128359472, -0.02685421201, 0.005189087423, -0.0008016864287, 7.875875063e-5,
)  # fmt: skip
_LOG2_ERFC_F32 = (
    0.0004618615767, -1.630582171, -0.9115323113, -0.1588119898, 0.03811764189, -0.006866645969, 0.0008610085165,
    -6.644770978e-5, 2.361910227e-6,
)  # fmt: skip
"""``log2(1 - erf(x))`` from 1 to 4."""
_ERFCX = (
    1.232995118625552543, -0.1396211168405624874, 0.01537965210261016195, 0.06809705425468620783,
    -0.1010390660358529367, 0.09373283499865172095, -0.06633036582050367062, 0.0371675155318431963,
    -0.01619773397992425837, 0.005031970032548695012, -0.00075777371418388841, -0.00019925700412184814,
    0.0001506231178516206954, -0.00002439811794207995095, -0.00001122514035444965691, 5.707239573693257427e-6,
    2.980596055322768856e-7, -8.218020654813044798e-7, 7.111912428010423483e-8, 1.068344292674458649e-7,
    -1.635738398212476799e-8, -1.254482540385551874e-8, 1.571215363831906372e-9, 9.655408225482863737e-10,
)  # fmt: skip
"""``exp(x * x) * (1 - erf(x)) * (1 + 2 * x)`` in powers of ``(x - 4) / (x + 4)``, from 0 on."""


def _erf(x: TileNumber) -> TileNumber:
    """Return the error function; f32 and narrower types are computed in f32, as many kernels consist of little else."""
    size = abs(x)
    if x.element is t.F64:
        near, far = polynomial(size * size, _ERF) * size, 1.0 - _erfc_positive(size.maximum(1.0))
    else:
        near = polynomial(size * size, _ERF_F32) * size
        far = 1.0 - polynomial(size.minimum(4.0), _LOG2_ERFC_F32).exp2()
    return where(x.equals(x), _sign_like(where(size < 1.0, near, far), x), x)


def _erfcx_positive(x: TileNumber) -> TileNumber:
    """Return the scaled complementary error function of numbers that are not negative."""
    bounded = x.minimum(1e300)
    return polynomial((bounded - 4.0) / (bounded + 4.0), _ERFCX) / (bounded * 2.0 + 1.0)


def _erfc_positive(x: TileNumber) -> TileNumber:
    """Return the complementary error function of numbers that are not negative; the square has a tail of its own, as
    its exponential is of the whole."""
    bounded = x.minimum(30.0)
    square = bounded * bounded
    tail = bounded.fma(bounded, -square)
    return (-square).exp() * (1.0 - tail) * _erfcx_positive(bounded)


def _erfc(x: TileNumber) -> TileNumber:
    far = _erfc_positive(abs(x).maximum(0.5))
    found = where(x < 0.0, 2.0 - far, far)
    return where(x.equals(x), where(abs(x) < 0.5, 1.0 - _erf(x), found), x)


def _erfcx(x: TileNumber) -> TileNumber:
    positive = _erfcx_positive(abs(x))
    return where(x.equals(x), where(x < 0.0, (x * x).exp() * 2.0 - positive, positive), x)


def _erfinv(x: TileNumber) -> TileNumber:
    """Return the inverse error function, from an estimate right to three digits, by steps that each triple the
    digits."""
    y = _inverse_estimate((1.0 - x) * (x + 1.0), abs(x))
    for _ in range(2):
        y = _inverse_step(y, where(y < 0.5, _erf(y) - abs(x), (1.0 - abs(x)) - _erfc(y)))
    inside = where(abs(x) < 1.0, y, where(abs(x).equals(1.0), math.inf, x - x + math.nan))
    return _sign_like(inside, x)


def _erfcinv(x: TileNumber) -> TileNumber:
    small = where(x < 1.0, x, 2.0 - x)
    y = _inverse_estimate(small * (2.0 - small), 1.0 - small)
    for _ in range(3):
        y = _inverse_step(y, small - _erfc(y))
    inside = where((small > 0.0) & (small <= 1.0), y, where(small.equals(0.0), math.inf, x - x + math.nan))
    return where(x < 1.0, inside, -inside)


def _inverse_estimate(product: TileNumber, size: TileNumber) -> TileNumber:
    """Return Winitzki's approximation of the inverse of erf, of ``1 - x * x`` and ``x``."""
    logarithm = product.log()
    half = logarithm * 0.5 + 2.0 / (math.pi * 0.147)
    root = ((half * half - logarithm * (1.0 / 0.147)).sqrt() - half).maximum(0.0).sqrt()
    return where(size < 1e-3, size * (math.sqrt(math.pi) / 2.0), root)


def _inverse_step(y: TileNumber, error: TileNumber) -> TileNumber:
    """Return a step of Halley's; `error` is that of erf at `y`."""
    step = error / ((-(y * y)).exp() * (2.0 / math.sqrt(math.pi)))
    return y - where(abs(step) < 1.0, step / (y * step + 1.0), 0.0)


def _normcdf(x: TileNumber) -> TileNumber:
    return _erfc(x * -math.sqrt(0.5)) * 0.5


def _normcdfinv(x: TileNumber) -> TileNumber:
    return _erfcinv(x * 2.0) * -math.sqrt(2.0)


_STIRLING = tuple(
    number / denominator
    for number, denominator in ((1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360), (1, 156))
)
"""Coefficients of Stirling's series: of ``1 / x`` and its odd powers."""


def _lgamma_from_half(x: TileNumber) -> TileNumber:
    """Return log-gamma of numbers from 1/2 on: Stirling's series from 10 on; below that by the factors up to there."""
    small = x < 10.0
    factors = reduce(mul, [x + float(index) for index in range(10)])
    far = where(small, x + 10.0, x)
    inverse = 1.0 / far
    tail = polynomial(inverse * inverse, _STIRLING) * inverse
    found = (far - 0.5) * far.log() - far + (0.5 * math.log(2.0 * math.pi)) + tail
    return where(small, found - factors.log(), where(far < math.inf, found, far))


def _lgamma(x: TileNumber) -> TileNumber:
    reflected = x < 0.5
    sine = abs(_sinpi(x))
    mirrored = math.log(math.pi) - sine.log() - _lgamma_from_half(1.0 - x)
    found = where(reflected, mirrored, _lgamma_from_half(x))
    found = where(x.equals(1.0) | x.equals(2.0), 0.0, found)
    return where(abs(x).equals(math.inf), abs(x), found)


def _tgamma(x: TileNumber) -> TileNumber:
    sine = _sinpi(x)
    mirrored = math.pi / (sine * _lgamma_from_half(1.0 - x).exp())
    pole = x.equals(x.floor()) & (x < 0.0)
    found = where(x < 0.5, mirrored, _lgamma_from_half(x).exp())
    return where(pole | x.equals(-math.inf), math.nan, where(x.equals(0.0), 1.0 / x, found))


# ------------------------------------------------------------ integers


def _popc(x: TileNumber) -> TileNumber:
    """Return the number of bits that are 1: of pairs, of fours, of bytes, and the sum of bytes in the highest."""
    ones = (1 << x.element.bits) - 1
    third, fifth, seventeenth, bytes_ = ones // 3, ones // 5, ones // 17, ones // 255
    x = x - (x.shifted_right(1) & third)
    x = (x & fifth) + (x.shifted_right(2) & fifth)
    x = (x + x.shifted_right(4)) & seventeenth
    return (x * bytes_).shifted_right(x.element.bits - 8).to(t.I32)


def _clz(x: TileNumber) -> TileNumber:
    """Return the zeros above the highest bit: those left when all below it are ones."""
    width = 1
    while width < x.element.bits:
        x = x | x.shifted_right(width)
        width *= 2
    return _popc(~x)


def _ffs(x: TileNumber) -> TileNumber:
    """Return the place of the lowest bit, from 1; 0 of 0."""
    return where(x.equals(0), 0, _popc(x ^ (x - 1)))


def _brev(x: TileNumber) -> TileNumber:
    width, ones = x.element.bits // 2, (1 << x.element.bits) - 1
    mask = ones
    while width:
        mask ^= mask << width & ones
        x = (x.shifted_right(width) & mask) | ((x & mask) << width)
        width //= 2
    return x


def _byte_perm(x: TileNumber, y: TileNumber, selector: TileNumber) -> TileNumber:
    both = x.to(t.I64, signed=False) | (y.to(t.I64, signed=False) << 32)
    parts = [
        (both.shifted_right((selector.shifted_right(4 * index) & 7).to(t.I64) * 8) & 255) << 8 * index
        for index in range(4)
    ]
    return reduce(TileNumber.__or__, parts).to(t.I32)


def _mulhi(x: TileNumber, y: TileNumber) -> TileNumber:
    high = x.apply(MulhiI, y)
    return high - where(x < 0, y, 0) - where(y < 0, x, 0)


def _mul24(signed: bool) -> Formula:
    """Return the product of the low 24 bits."""
    low = (lambda x: (x << 8) >> 8) if signed else (lambda x: x & 0xFFFFFF)
    return lambda x, y: low(x) * low(y)


def _difference(signed: bool) -> Formula:
    """Return ``|x - y| + z``."""

    def formula(x: TileNumber, y: TileNumber, z: TileNumber) -> TileNumber:
        return where(x.compare(Predicate.LESS_THAN, y, signed), y - x, x - y) + z

    return formula


# ------------------------------------------------------------ the table


def _wide(formula: Formula) -> Formula:
    """Return the formula in f64, rounded to the type of the first operand."""
    return lambda *operands: formula(*(one.to(t.F64) for one in operands)).to(operands[0].element)


def _whole(rounding: Callable[[TileNumber], TileNumber], element: t.ElementType, signed: bool = True) -> Formula:
    """Return an integer of a float, rounded before."""
    return lambda x: rounding(x).to(element, signed)


FORMULAS: dict[str, Formula] = {
    "abs": abs,
    "acos": _wide(_acos),
    "acosh": _wide(_acosh),
    "asin": _wide(_asin),
    "asinh": _wide(_asinh),
    "atan": lambda x: x.apply(Atan2, 1.0),
    "atanh": _wide(_atanh),
    "brev": _brev,
    "byte_perm": _byte_perm,
    "cbrt": _wide(_cbrt),
    "clz": _clz,
    "copysign": _sign_like,
    "cospi": _wide(_cospi),
    "double2hiint": lambda x: x.bits.shifted_right(32).to(t.I32),
    "double2loint": lambda x: x.bits.to(t.I32),
    "erf": _erf,
    "erfc": _wide(_erfc),
    "erfcinv": _wide(_erfcinv),
    "erfcx": _wide(_erfcx),
    "erfinv": _wide(_erfinv),
    "exp10": lambda x: x.like(10.0).apply(FPowF, x),
    "expm1": _expm1,
    "fdim": lambda x, y: where(x <= y, 0.0, x - y),
    "ffs": _ffs,
    "hadd": lambda x, y: (x & y) + ((x ^ y) >> 1),
    "hiloint2double": lambda high, low: ((high.to(t.I64) << 32) | low.to(t.I64, signed=False)).float,
    "hypot": _wide(_norm),
    "ilogb": _ilogb,
    "finite": lambda x: abs(x) < math.inf,
    "isfinite": lambda x: abs(x) < math.inf,
    "isinf": lambda x: abs(x).equals(math.inf),
    "isnan": lambda x: x.differs(x),
    "ldexp": lambda x, n: _ldexp(x, n).to(x.element),
    "lgamma": _wide(_lgamma),
    "llabs": abs,
    "llrint": _whole(rint, t.I64),
    "llround": _whole(_round, t.I64),
    "log10": _wide(lambda x: x.log() * (1.0 / math.log(10.0))),
    "log1p": _log1p,
    "logb": _wide(_logb),
    "mul24": _mul24(True),
    "mul64hi": _mulhi,
    "mulhi": _mulhi,
    "nearbyint": rint,
    "nextafter": _nextafter,
    "norm3d": _wide(_norm),
    "norm4d": _wide(_norm),
    "normcdf": _wide(_normcdf),
    "normcdfinv": _wide(_normcdfinv),
    "popc": _popc,
    "powi": lambda x, n: x.apply(FPowI, n),
    "rcbrt": _wide(lambda x: 1.0 / _cbrt(x)),
    "remainder": _remainder,
    "rhadd": lambda x, y: (x | y) - ((x ^ y) >> 1),
    "rhypot": _wide(lambda *parts: 1.0 / _norm(*parts)),
    "rint": rint,
    "rnorm3d": _wide(lambda *parts: 1.0 / _norm(*parts)),
    "rnorm4d": _wide(lambda *parts: 1.0 / _norm(*parts)),
    "round": _round,
    "sad": _difference(True),
    "saturate": lambda x: x.maximum(0.0).minimum(1.0),
    "scalbn": lambda x, n: _ldexp(x, n).to(x.element),
    "signbit": lambda x: x.bits < 0,
    "sinpi": _wide(_sinpi),
    "tgamma": _wide(_tgamma),
    "trunc": trunc,
    "uhadd": lambda x, y: (x & y) + (x ^ y).shifted_right(1),
    "umul24": _mul24(False),
    "umul64hi": lambda x, y: x.apply(MulhiI, y),
    "umulhi": lambda x, y: x.apply(MulhiI, y),
    "urhadd": lambda x, y: (x | y) - (x ^ y).shifted_right(1),
    "usad": _difference(False),
}
