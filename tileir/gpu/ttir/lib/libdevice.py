"""Functions of Triton's libdevice, and arithmetic with a rounding mode or flush-to-zero."""

from __future__ import annotations

from collections.abc import Callable

from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import TtirValue
from tileir.gpu.ttir.lib import narrow
from tileir.gpu.ttir.lib.words import word_of
from tileir.ir import types as t
from tileir.ir.attributes import Rounding

_NEAREST = {"add": "arith.addf", "sub": "arith.subf", "mul": "arith.mulf", "fma": "math.fma"}
_NARROW = {"f16": t.F16, "bf16": t.BF16}


def through_f32(build: Builder, function: Callable[..., TtirValue], *operands: TtirValue) -> TtirValue:
    """Apply `function` of f32 to operands of f16, bf16 or f32; the result is rounded to nearest even to their type."""
    result = function(*(build.cast("arith.extf", operand, "f32") for operand in operands))
    return build.cast("arith.truncf", result, operands[0].type.element)


def rounded(build: Builder, name: str, mode: Rounding, flush: bool, *operands: TtirValue) -> TtirValue:
    """Emit ``add sub mul div fma sqrt`` rounded in `mode`; `flush` treats subnormals as zeros (f32)."""
    element = operands[0].type.element
    if mode is Rounding.NEAREST_EVEN and not flush:
        return _nearest(build, name, *operands)
    if element not in _NARROW:
        return build.vendor.rounded(name, mode, flush, *operands)
    wide = (build.cast("arith.extf", operand, "f32") for operand in operands)
    nearly = build.vendor.rounded(name, mode, False, *wide)
    return narrow.encoded(build, nearly, _NARROW[element], mode)


def _nearest(build: Builder, name: str, *operands: TtirValue) -> TtirValue:
    """Round to nearest even. Of narrow types, quotients and roots are rounded to f32 first, which has more than twice
    their precision (Figueroa, 1995). That holds for quotients that are subnormal too, of bf16 even in f32: two
    numbers of 8 bits have no quotient so near to the middle of two others. The f32 instructions without ``precise``
    are approximate.
    """
    if name in _NEAREST:
        return build.op(_NEAREST[name], *operands)
    if operands[0].type.element == "f64":
        return build.op("arith.divf" if name == "div" else "math.sqrt", *operands)
    precise = "tt.precise_divf" if name == "div" else "tt.precise_sqrt"
    return through_f32(build, lambda *wide: build.op(precise, *wide), *operands)


def wide_quotient(build: Builder, dividend: TtirValue, divisor: TtirValue) -> TtirValue:
    """Divide an f32 tile, rounded to nearest even, by one whose axes of extent 1 are repeated.

    One reciprocal in f64 serves all elements of a divisor. It is made too large by 0.49 to 2.51 last places, so that a
    product with it lies above the quotient v in magnitude, by less than 5 last places; p is that product, rounded. A
    number m of 25 bits, as f32 and the middle of two f32 are, is v itself or more than 8 last places from it, as m
    times the divisor has at most 49 bits. So p without its last 3 bits is m if v is, and lies on the same side of m as
    v if not: f32 makes the same of it as of v. That holds for subnormal results, which have fewer bits, as well.
    """
    wide = build.cast("arith.extf", divisor, "f64")
    reciprocal = build.vendor.reciprocal(wide)
    above = build.op("arith.mulf", reciprocal, build.float(wide.type, 1 + 2.0**-52))
    factors = build.broadcast(above, *dividend.type.shape)
    product = build.op("arith.mulf", build.cast("arith.extf", dividend, "f64"), factors)
    return build.cast("arith.truncf", (word_of(build, product) & -8).as_float("f64"), "f32")


PREFIX = "__nv_"

_NAMES = {
    "f32 -> f32": """
        acosf acoshf asinf asinhf atanf atanhf cbrtf ceilf cosf coshf cospif cyl_bessel_i0f cyl_bessel_i1f erfcf
        erfcinvf erfcxf erff erfinvf exp10f exp2f expf expm1f fabsf fast_cosf fast_exp10f fast_expf fast_log10f
        fast_log2f fast_logf fast_sinf fast_tanf fast_tanhf floorf frcp_rd frcp_rn frcp_ru frcp_rz frsqrt_rn
        fsqrt_rd fsqrt_rn fsqrt_ru fsqrt_rz j0f j1f lgammaf log10f log1pf log2f logbf logf nearbyintf normcdff
        normcdfinvf rcbrtf rintf roundf rsqrtf saturatef sinf sinhf sinpif sqrtf tanf tanhf tgammaf truncf y0f
        y1f
    """,
    "f32 -> i16": "float2half_rn",
    "f32 -> i32": """
        finitef float2int_rd float2int_rn float2int_ru float2int_rz float2uint_rd float2uint_rn float2uint_ru
        float2uint_rz float_as_int float_as_uint ilogbf isinff isnanf signbitf
    """,
    "f32 -> i64": """
        float2ll_rd float2ll_rn float2ll_ru float2ll_rz float2ull_rd float2ull_rn float2ull_ru float2ull_rz
        llrintf llroundf
    """,
    "f32 f32 -> f32": """
        atan2f copysignf fadd_rd fadd_rn fadd_ru fadd_rz fast_fdividef fast_powf fdimf fdiv_rd fdiv_rn fdiv_ru
        fdiv_rz fmaxf fminf fmodf fmul_rd fmul_rn fmul_ru fmul_rz fsub_rd fsub_rn fsub_ru fsub_rz hypotf
        nextafterf powf remainderf rhypotf
    """,
    "f32 f32 f32 -> f32": """
        fmaf fmaf_ieee_rd fmaf_ieee_rn fmaf_ieee_ru fmaf_ieee_rz fmaf_rd fmaf_rn fmaf_ru fmaf_rz norm3df
        rnorm3df
    """,
    "f32 f32 f32 f32 -> f32": "norm4df rnorm4df",
    "f32 i32 -> f32": "ldexpf powif scalbnf",
    "f64 -> f32": "double2float_rd double2float_rn double2float_ru double2float_rz",
    "f64 -> f64": """
        acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi cyl_bessel_i0 cyl_bessel_i1 drcp_rd drcp_rn
        drcp_ru drcp_rz dsqrt_rd dsqrt_rn dsqrt_ru dsqrt_rz erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1
        fabs floor j0 j1 lgamma log log10 log1p log2 logb nearbyint normcdf normcdfinv rcbrt rcp64h rint round
        rsqrt sin sinh sinpi sqrt tan tanh tgamma trunc y0 y1
    """,
    "f64 -> i32": """
        double2hiint double2int_rd double2int_rn double2int_ru double2int_rz double2loint double2uint_rd
        double2uint_rn double2uint_ru double2uint_rz ilogb isfinited isinfd isnand signbitd
    """,
    "f64 -> i64": """
        double2ll_rd double2ll_rn double2ll_ru double2ll_rz double2ull_rd double2ull_rn double2ull_ru
        double2ull_rz double_as_longlong llrint llround
    """,
    "f64 f64 -> f64": """
        atan2 copysign dadd_rd dadd_rn dadd_ru dadd_rz ddiv_rd ddiv_rn ddiv_ru ddiv_rz dmul_rd dmul_rn dmul_ru
        dmul_rz dsub_rd dsub_rn dsub_ru dsub_rz fdim fmax fmin fmod hypot nextafter pow remainder rhypot
    """,
    "f64 f64 f64 -> f64": "fma fma_rd fma_rn fma_ru fma_rz norm3d rnorm3d",
    "f64 f64 f64 f64 -> f64": "norm4d rnorm4d",
    "f64 i32 -> f64": "ldexp powi scalbn",
    "i16 -> f32": "half2float",
    "i32 -> f32": """
        int2float_rd int2float_rn int2float_ru int2float_rz int_as_float uint2float_rd uint2float_rn
        uint2float_ru uint2float_rz uint_as_float
    """,
    "i32 -> f64": "int2double_rn uint2double_rn",
    "i32 -> i32": "abs brev clz ffs popc",
    "i32 f32 -> f32": "jnf ynf",
    "i32 f64 -> f64": "jn yn",
    "i32 i32 -> f64": "hiloint2double",
    "i32 i32 -> i32": "hadd max min mul24 mulhi rhadd uhadd umax umin umul24 umulhi urhadd",
    "i32 i32 i32 -> i32": "byte_perm sad usad",
    "i64 -> f32": "ll2float_rd ll2float_rn ll2float_ru ll2float_rz ull2float_rd ull2float_rn ull2float_ru ull2float_rz",
    "i64 -> f64": """
        ll2double_rd ll2double_rn ll2double_ru ll2double_rz longlong_as_double ull2double_rd ull2double_rn
        ull2double_ru ull2double_rz
    """,
    "i64 -> i32": "clzll ffsll popcll",
    "i64 -> i64": "brevll llabs",
    "i64 i64 -> i64": "llmax llmin mul64hi ullmax ullmin umul64hi",
}
"""The names without the prefix, by the types of the operands and that of the result."""

SIGNATURES: dict[str, tuple[tuple[str, ...], str]] = {
    PREFIX + name: (tuple(types.split(" -> ")[0].split()), types.split(" -> ")[1])
    for types, names in _NAMES.items()
    for name in names.split()
}
"""The types of the operands and that of the result, by name."""


def library_function(build: Builder, name: str, *operands: TtirValue) -> TtirValue:
    """Return a function of the device library; that of f32 stands in for the narrow types."""
    if operands[0].type.element == "f64":
        return build.vendor.library(name, *operands)
    return through_f32(build, lambda *wide: build.vendor.library(name, *wide), *operands)
