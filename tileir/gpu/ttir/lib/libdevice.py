"""Functions of Triton's libdevice, and arithmetic with a rounding mode or flush-to-zero."""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
    "float -> float": """
        acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi cyl_bessel_i0 cyl_bessel_i1 erf erfc erfcinv
        erfcx erfinv exp exp10 exp2 expm1 fabs floor j0 j1 lgamma log log10 log1p log2 logb nearbyint normcdf
        normcdfinv rcbrt rint round rsqrt sin sinh sinpi sqrt tan tanh tgamma trunc y0 y1
    """,
    "float -> i32": "ilogb",
    "float -> i64": "llrint llround",
    "float float -> float": "atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder rhypot",
    "float float float -> float": "fma norm3d rnorm3d",
    "float float float float -> float": "norm4d rnorm4d",
    "float i32 -> float": "ldexp powi scalbn",
    "i32 float -> float": "jn yn",
    "f32 -> f32": """
        fast_cosf fast_exp10f fast_expf fast_log10f fast_log2f fast_logf fast_sinf fast_tanf fast_tanhf frcp_r*
        frsqrt_rn fsqrt_r* saturatef
    """,
    "f32 -> i16": "float2half_rn",
    "f32 -> i32": "finitef float2int_r* float2uint_r* float_as_int float_as_uint isinff isnanf signbitf",
    "f32 -> i64": "float2ll_r* float2ull_r*",
    "f32 f32 -> f32": "fadd_r* fast_fdividef fast_powf fdiv_r* fmul_r* fsub_r*",
    "f32 f32 f32 -> f32": "fmaf_ieee_r* fmaf_r*",
    "f64 -> f32": "double2float_r*",
    "f64 -> f64": "drcp_r* dsqrt_r* rcp64h",
    "f64 -> i32": "double2hiint double2int_r* double2loint double2uint_r* isfinited isinfd isnand signbitd",
    "f64 -> i64": "double2ll_r* double2ull_r* double_as_longlong",
    "f64 f64 -> f64": "dadd_r* ddiv_r* dmul_r* dsub_r*",
    "f64 f64 f64 -> f64": "fma_r*",
    "i16 -> f32": "half2float",
    "i32 -> f32": "int2float_r* int_as_float uint2float_r* uint_as_float",
    "i32 -> f64": "int2double_rn uint2double_rn",
    "i32 -> i32": "abs brev clz ffs popc",
    "i32 i32 -> f64": "hiloint2double",
    "i32 i32 -> i32": "hadd max min mul24 mulhi rhadd uhadd umax umin umul24 umulhi urhadd",
    "i32 i32 i32 -> i32": "byte_perm sad usad",
    "i64 -> f32": "ll2float_r* ull2float_r*",
    "i64 -> f64": "ll2double_r* longlong_as_double ull2double_r*",
    "i64 -> i32": "clzll ffsll popcll",
    "i64 -> i64": "brevll llabs",
    "i64 i64 -> i64": "llmax llmin mul64hi ullmax ullmin umul64hi",
}
"""The names without the prefix, by the types of the operands and that of the result. ``float`` stands for f64, and for
f32 with an ``f`` behind the name; ``_r*`` stands for the roundings ``_rd _rn _ru _rz``."""


def _signatures() -> Iterator[tuple[str, tuple[tuple[str, ...], str]]]:
    for types, names in _NAMES.items():
        for element, suffix in (("f64", ""), ("f32", "f")) if "float" in types else (("", ""),):
            operands, result = types.replace("float", element).split(" -> ")
            for name in names.split():
                for rounding in "dnuz" if name.endswith("*") else ("",):
                    yield f"{PREFIX}{name.replace('*', rounding)}{suffix}", (tuple(operands.split()), result)


SIGNATURES = dict(_signatures())
"""The types of the operands and that of the result, by name."""


def library_function(build: Builder, name: str, *operands: TtirValue) -> TtirValue:
    """Return a function of the device library; that of f32 stands in for the narrow types."""
    if operands[0].type.element == "f64":
        return build.vendor.library(name, *operands)
    return through_f32(build, lambda *wide: build.vendor.library(name, *wide), *operands)
