"""Functions: of ``math``, and of device libraries by their names."""

from __future__ import annotations

import re
from inspect import signature

from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.ir.core import Op
from tileir.ir.diagnostics import did_you_mean
from tileir.ops.floating import AbsF, AddF, Ceil, DivF, Floor, Fma, MaxF, MinF, MulF, RemF, Sqrt, SubF
from tileir.ops.functions import Atan2, Cos, Cosh, Exp, Exp2, FPowF, Log, Log2, Rsqrt, Sin, Sinh, Tan, Tanh
from tileir.triton.importer.algebra import TileNumber
from tileir.triton.importer.faults import REFUSED, ImportFault, mismatch
from tileir.triton.importer.formulas import FORMULAS, Formula, rint, trunc
from tileir.triton.importer.importing import Importing, ImportRules, Results
from tileir.triton.importer.rules.arithmetic import widened
from tileir.triton.importer.syntax import MlirOperation

rules = ImportRules()

SAME: dict[str, type[Op]] = {
    "atan2": Atan2, "ceil": Ceil, "cos": Cos, "cosh": Cosh, "exp": Exp, "exp2": Exp2, "fabs": AbsF, "fdivide": DivF,
    "floor": Floor, "fma": Fma, "fmax": MaxF, "fmin": MinF, "fmod": RemF, "log": Log, "log2": Log2, "pow": FPowF,
    "rsqrt": Rsqrt, "sin": Sin, "sinh": Sinh, "sqrt": Sqrt, "tan": Tan, "tanh": Tanh,
}  # fmt: skip
"""Functions that are one operation."""
MATH = {
    "acos": "acos", "acosh": "acosh", "asin": "asin", "asinh": "asinh", "atan": "atan", "atan2": "atan2",
    "atanh": "atanh", "cbrt": "cbrt", "copysign": "copysign", "cos": "cos", "cosh": "cosh", "ctlz": "clz",
    "ctpop": "popc", "erf": "erf", "erfc": "erfc", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "fpowi": "powi",
    "isfinite": "isfinite", "isinf": "isinf", "isnan": "isnan", "log": "log", "log10": "log10", "log1p": "log1p",
    "log2": "log2", "powf": "pow", "round": "round", "roundeven": "rint", "rsqrt": "rsqrt", "sin": "sin",
    "sinh": "sinh", "tan": "tan", "tanh": "tanh", "trunc": "trunc",
}  # fmt: skip
"""Operations of the dialect ``math``, and the functions that they are."""


def same(cls: type[Op]) -> Formula:
    return lambda first, *others: first.apply(cls, *others)


@rules(*(f"math.{name}" for name in MATH))
def function_of_math(importing: Importing, op: MlirOperation) -> Results:
    name = MATH[op.name.removeprefix("math.")]
    return _applied(importing, op, same(SAME[name]) if name in SAME else FORMULAS[name])


@rules("tt.extern_elementwise")
def function_of_library(importing: Importing, op: MlirOperation) -> Results:
    symbol = op.attributes.get("symbol")
    if not isinstance(symbol, str):
        raise mismatch("expected the name of a function as attribute 'symbol'")
    formula = _found(symbol)
    if formula is None:
        hint = did_you_mean(_stem(symbol), [*SAME, *FORMULAS]) or "write what it computes with tl operations"
        raise ImportFault(REFUSED, f"expected a function that is known here, got '{symbol}'", hint=hint)
    return _applied(importing, op, formula)


def _applied(importing: Importing, op: MlirOperation, formula: Formula) -> Results:
    """Return the result of a formula; floats of eight bits are computed in f16."""
    build, operands = importing.build, importing.operands(op)
    numbers = [TileNumber(build, widened(build, operand)) for operand in operands]
    try:
        signature(formula).bind(*numbers)
    except TypeError:
        raise mismatch(f"expected another number of operands than {len(operands)}") from None
    found = formula(*numbers)
    element = importing.element(op)
    return found.to(element, signed=found.element is not t.I1).value


# ------------------------------------------------------------ names


def _found(symbol: str) -> Formula | None:
    """Return the function of a name: ``__nv_`` or ``__ocml_``, the function, and the type that it is of."""
    stem = _stem(symbol)
    for pattern, make in _PATTERNS:
        match = pattern.fullmatch(stem)
        if match is not None:
            return make(*match.groups())
    for name in (stem, stem.removesuffix("ll"), stem[:-1] if stem.endswith(("f", "d")) else stem):
        if name in SAME:
            return same(SAME[name])
        if name in FORMULAS:
            return FORMULAS[name]
    return None


def _stem(symbol: str) -> str:
    stem = re.sub(r"^__nv_(?:fast_)?|^__ocml_(?:native_)?", "", symbol)
    return re.sub(r"_f(?:16|32|64)$", "", stem) if symbol.startswith("__ocml_") else stem


_MODES = {"rn": Rounding.NEAREST_EVEN, "rz": Rounding.ZERO, "rd": Rounding.NEGATIVE_INF, "ru": Rounding.POSITIVE_INF}
_ROUNDED = {"add": AddF, "sub": SubF, "mul": MulF, "div": DivF, "sqrt": Sqrt, "ma": Fma, "maf": Fma}
_INTEGERS = {"int": (t.I32, True), "uint": (t.I32, False), "ll": (t.I64, True), "ull": (t.I64, False)}
_WHOLE: dict[str, Formula] = {"rn": rint, "rz": trunc, "rd": TileNumber.floor, "ru": TileNumber.ceil}


def _rounded(name: str, mode: str) -> Formula:
    if name == "rsqrt":
        return same(Rsqrt)
    if name == "rcp":
        return lambda x: x.like(1.0).apply(DivF, x, rounding_mode=_MODES[mode])
    return lambda first, *others: first.apply(_ROUNDED[name], *others, rounding_mode=_MODES[mode])


def _to_integer(name: str, mode: str) -> Formula:
    element, signed = _INTEGERS[name]
    return lambda x: _WHOLE[mode](x).to(element, signed)


def _to_float(source: str, target: str, mode: str) -> Formula | None:
    """Return a conversion from 32 bits by way of f64, which has them all, or from 64 bits to nearest only."""
    element, signed = t.F64 if target == "double" else t.F32, _INTEGERS[source][1]
    if mode == "rn" or (element is t.F64 and source in ("int", "uint")):
        return lambda x: x.to(element, signed)
    if source in ("ll", "ull"):
        return None
    return lambda x: x.to(t.F64, signed).to(element, rounding=_MODES[mode])


def _narrowed(mode: str) -> Formula:
    return lambda x: x.to(t.F32, rounding=_MODES[mode])


_AS_FLOAT: Formula = lambda x: x.float  # noqa: E731
_AS_BITS: Formula = lambda x: x.bits  # noqa: E731
_PATTERNS = (
    (re.compile(r"[fd]?(add|sub|mul|div|sqrt|rcp|rsqrt|maf?)_(r[nzdu])"), _rounded),
    (re.compile(r"(?:float|double)2(u?int|u?ll)_(r[nzdu])"), _to_integer),
    (re.compile(r"(u?int|u?ll)2(float|double)_(r[nzdu])"), _to_float),
    (re.compile(r"double2float_(r[nzdu])"), _narrowed),
    (re.compile(r"(?:u?int_as_float|longlong_as_double)"), lambda: _AS_FLOAT),
    (re.compile(r"(?:float_as_u?int|double_as_longlong)"), lambda: _AS_BITS),
)
