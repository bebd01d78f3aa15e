"""Functions of lanes: the ``math`` dialect, the device library, and the exact ones of ``tt``.

Functions that are only promised to be near are made to be off by a step, so that no test passes by their luck.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from tests.ttir_machine.elementwise import (
    ELEMENTS,
    NEAREST,
    Rule,
    approximate,
    arithmetic_type,
    element_of,
    exact,
    extreme,
)
from tests.ttir_machine.values import Array, Lanes, MachineFault, as_integer, signed, unsigned, width
from tileir.gpu.ttir.ir.code import Instruction
from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.numerics import bits, conversion, formats, integers, rounding

Function = Callable[..., Array]

_NEAR: dict[str, Function] = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10,
    "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "pow": np.power, "rsqrt": lambda x: 1 / np.sqrt(x), "cbrt": np.cbrt,
    "hypot": np.hypot, "exp10": lambda x: np.power(10.0, x),
}  # fmt: skip
_EXACT: dict[str, Function] = {
    "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "rint": np.rint, "nearbyint": np.rint, "fabs": np.abs,
    "fmod": np.fmod, "copysign": np.copysign,
}  # fmt: skip
_MODES = {"rn": NEAREST, "rz": Rounding.ZERO, "rd": Rounding.NEGATIVE_INF, "ru": Rounding.POSITIVE_INF}
_ROUNDED = {
    "add": rounding.add, "sub": rounding.sub, "mul": rounding.mul, "div": rounding.div, "sqrt": rounding.sqrt,
    "fma": rounding.fma,
}  # fmt: skip


def near(function: Function) -> Rule:
    """The true value rounded, and a step off unless it is a number of the type."""

    def rule(instruction: Instruction, *operands: Array) -> Array:
        element = arithmetic_type(instruction)
        wide = np.longdouble if element is t.F64 else np.float64
        value = np.asarray(function(*(_number(x).astype(wide) for x in operands)))
        found = value.astype(np.float64)
        result = found if element is t.F64 else rounding.narrowed(found, element, NEAREST)
        return np.where(result.astype(wide) == value, result, approximate(instruction, result))

    return rule


def _number(x: Array) -> Array:
    return signed(x) if x.dtype.kind == "u" else x


def unrounded(function: Function) -> Rule:
    """A function whose values need no rounding."""

    def rule(instruction: Instruction, *operands: Array) -> Array:
        wide = operands[0].dtype if operands[0].dtype in (np.float32, np.float64) else np.dtype(np.float32)
        return np.asarray(function(*(x.astype(wide) for x in operands))).astype(operands[0].dtype)

    return rule


# ------------------------------------------------------------ the device library

_OCML_NAME = re.compile(r"__ocml_(\w+)_(f32|f64)")
_ROUNDED_NAME = re.compile(r"__nv_(f|d)?(add|sub|mul|div|sqrt|fma)(f)?_(rn|rz|rd|ru)")


def library_rule(symbol: str) -> Rule:
    """The rule of a function of the device library. Raises MachineFault for one not known."""
    rounded = _ROUNDED_NAME.fullmatch(symbol)
    if rounded is not None:
        element = t.F32 if rounded[1] == "f" or rounded[3] == "f" else t.F64
        return _of_type(element, _in_mode(_ROUNDED[rounded[2]], _MODES[rounded[4]]))
    if (ocml := _OCML_NAME.fullmatch(symbol)) is not None and ocml[1] in _LIBRARY:
        return _of_type(t.F32 if ocml[2] == "f32" else t.F64, _LIBRARY[ocml[1]])
    name = symbol.removeprefix("__nv_")
    for base, element in ((name, t.F64), (name.removesuffix("f"), t.F32)):
        if base in _LIBRARY and (element is t.F64 or name.endswith("f")):
            return _of_type(element, _LIBRARY[base])
    if name in _INTEGER_LIBRARY:
        return _INTEGER_LIBRARY[name]
    raise MachineFault(f"the machine does not know the library function {symbol}")


def _in_mode(function: Callable[[t.ElementType, Rounding], Function], mode: Rounding) -> Rule:
    return lambda instruction, *operands: function(arithmetic_type(instruction), mode)(*operands)


def _of_type(element: t.ElementType, rule: Rule) -> Rule:
    """`rule`, whose result must be of `element`: the library has a function for each type."""

    def checked(instruction: Instruction, *operands: Array) -> Array | Lanes:
        if element_of(instruction) != element.name:
            raise MachineFault(
                f"{instruction.attributes['symbol']} gives {element.name}, not {element_of(instruction)}"
            )
        return rule(instruction, *operands)

    return checked


_LIBRARY: dict[str, Rule] = {
    **{name: near(function) for name, function in _NEAR.items()},
    **{name: unrounded(function) for name, function in _EXACT.items()},
    "powi": near(np.power),
    "sqrt": near(np.sqrt),
    "fma": exact(lambda element, mode: rounding.fma(element, mode)),
    "fmax": extreme(larger=True, propagates=False),
    "fmin": extreme(larger=False, propagates=False),
}


def _count_leading_zeros(instruction: Instruction, x: Array) -> Array:
    return as_integer(width(x) - bits.bit_length(unsigned(x).astype(np.uint64)), element_of(instruction))


def _high_product(instruction: Instruction, x: Array, y: Array) -> Array:
    return integers.multiply_high(x, y)


_INTEGER_LIBRARY: dict[str, Rule] = {
    "clz": _count_leading_zeros,
    "clzll": _count_leading_zeros,
    "umulhi": _high_product,
    "umul64hi": _high_product,
}


def _library(instruction: Instruction, *operands: Array) -> Array | Lanes:
    symbol = instruction.attributes["symbol"]
    assert isinstance(symbol, str)
    return library_rule(symbol)(instruction, *operands)


# ------------------------------------------------------------ the tile dialect


def _precise(function: Callable[[t.ElementType, Rounding], Function]) -> Rule:
    """Rounded to nearest; only f32 and f64 have it."""

    def rule(instruction: Instruction, *operands: Array) -> Array:
        if element_of(instruction) != "f32":
            raise MachineFault(f"'{instruction.name}' has no code for {element_of(instruction)}")
        return exact(function)(instruction, *operands)  # type: ignore[return-value]

    return rule


_FLOATS = {**ELEMENTS, "f8E4M3FN": t.F8E4M3FN, "f8E5M2": t.F8E5M2}
_FP_TO_FP_MODES = (Rounding.ZERO, NEAREST)


def _convert(instruction: Instruction, x: Array) -> Array:
    """Convert between floats; one of the two may have 8 bits, and narrowing to 8 bits saturates. f64 has no code."""
    source = _FLOATS[instruction.operands[0].type.element]
    target = _FLOATS[element_of(instruction)]
    if t.F64 in (source, target):
        raise MachineFault("'tt.fp_to_fp' has no code for f64")
    number = instruction.attributes.get("rounding")
    if target.bits > source.bits:
        return formats.widened(x, source).astype(np.float32) if target is t.F32 else _narrow(x, source, target, NEAREST)
    if not isinstance(number, int):
        raise MachineFault("'tt.fp_to_fp' to fewer bits wants a rounding")
    return _narrow(x, source, target, _FP_TO_FP_MODES[number])


def _narrow(x: Array, source: t.ElementType, target: t.ElementType, mode: Rounding) -> Array:
    return conversion.float_to_float(source, target, mode)(x)


def _root(instruction: Instruction, x: Array) -> Array | Lanes:
    """``sqrt.approx.f32``, but ``sqrt.rn.f64``."""
    return (exact(rounding.sqrt) if element_of(instruction) == "f64" else near(np.sqrt))(instruction, x)


def _absolute_integer(instruction: Instruction, x: Array) -> Array:
    return as_integer(np.abs(signed(x)), element_of(instruction))


def _power_of_two(instruction: Instruction, x: Array) -> Array:
    """As Triton's compiler has it for AMD: with subnormals as zeros."""
    return rounding.flushed(near(np.exp2)(instruction, rounding.flushed(x)))


_MATH_NEAR = ("exp", "log", "log2", "sin", "cos", "rsqrt", "tanh")

RULES: dict[str, Rule] = {
    **{f"math.{name}": near(_NEAR[name]) for name in _MATH_NEAR},
    "math.exp2": _power_of_two,
    "math.sqrt": _root,
    "math.absf": unrounded(np.abs),
    "math.absi": _absolute_integer,
    "math.ceil": unrounded(np.ceil),
    "math.floor": unrounded(np.floor),
    "math.fma": exact(rounding.fma),
    "tt.precise_divf": _precise(rounding.div),
    "tt.precise_sqrt": _precise(rounding.sqrt),
    "tt.mulhiui": _high_product,
    "tt.fp_to_fp": _convert,
    "tt.extern_elementwise": _library,
}
