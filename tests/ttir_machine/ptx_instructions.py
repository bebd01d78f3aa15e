"""Instructions of PTX, computed as its manual says.

Combinations that PTX does not have are faults.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.ttir_machine.elementwise import rounded_integer
from tests.ttir_machine.values import Array, MachineFault
from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.ir.storage import dtype_of
from tileir.numerics import bits, formats, rounding

MODES = {
    "rn": Rounding.NEAREST_EVEN,
    "rz": Rounding.ZERO,
    "rm": Rounding.NEGATIVE_INF,
    "rp": Rounding.POSITIVE_INF,
}
FLOATS = {"f16": t.F16, "bf16": t.BF16, "f32": t.F32, "tf32": t.TF32, "f64": t.F64}
_INTEGERS = {f"{letter}{size}": np.dtype(f"{'i' if letter == 's' else 'u'}{size // 8}") for letter in "sub"
             for size in (8, 16, 32, 64)}  # fmt: skip


@dataclass(frozen=True)
class Call:
    """An instruction: ``add.rz.ftz.f32`` is `add` with the modifiers rz and ftz and the type f32."""

    text: str
    base: str
    modifiers: frozenset[str]
    types: tuple[str, ...]

    @staticmethod
    def parse(text: str) -> Call:
        base, *rest = text.split(".")
        types = tuple(part for part in rest if part in FLOATS or part in _INTEGERS or part == "pred")
        return Call(text, base, frozenset(part for part in rest if part not in types), types)

    @property
    def type(self) -> str:
        return self.types[-1]

    @property
    def flushes(self) -> bool:
        return "ftz" in self.modifiers

    @property
    def mode(self) -> Rounding:
        """The rounding written; to nearest even if none is."""
        found = [MODES[part] for part in self.modifiers if part in MODES]
        return found[0] if found else Rounding.NEAREST_EVEN

    def refuse(self, why: str) -> MachineFault:
        return MachineFault(f"PTX '{self.text}': {why}")


Rule = Callable[..., Array]


def view(x: Array, type: str) -> Array:
    """Bits as numbers of a type, whose size they must have unless they are an immediate."""
    if type == "pred":
        return x.astype(np.bool_)
    dtype = dtype_of(FLOATS[type]) if type in FLOATS else _INTEGERS[type]
    if x.dtype.itemsize != dtype.itemsize:
        if x.shape or type in FLOATS:
            raise MachineFault(f"a PTX register of {8 * x.dtype.itemsize} bits as {type}")
        x = x.astype(f"u{dtype.itemsize}")
    return x.view(dtype)


def pattern(x: Array) -> Array:
    return x if x.dtype == np.bool_ else np.asarray(x).view(f"u{x.dtype.itemsize}")


def called(call: Call, operands: list[Array]) -> Array:
    """The bits of the result."""
    if call.base == "cvt":
        return pattern(_converted(call, view(operands[0], call.types[1])))
    if call.base == "setp":
        return _compared(call, *(view(x, call.type) for x in operands))
    if call.base == "selp":
        return np.where(operands[2], *operands[:2])
    if call.text == "rcp.approx.ftz.f64":
        return pattern(_rough_reciprocal(view(operands[0], "f64")))
    rules = _FLOAT_RULES if call.types and call.type in FLOATS else _INTEGER_RULES
    if call.base not in rules:
        raise call.refuse("the machine does not know this instruction")
    values = [view(x, call.type) for x in operands]
    if call.flushes:
        values = [_flushed(call, x) for x in values]
    result = np.asarray(rules[call.base](call, *values))
    if call.flushes:
        result = _flushed(call, result)
    return pattern(_saturated(result) if "sat" in call.modifiers else result)


def _flushed(call: Call, x: Array) -> Array:
    if x.dtype != np.float32:
        raise call.refuse("only f32 is flushed")
    return rounding.flushed(x)


def _saturated(x: Array) -> Array:
    return np.where(np.isnan(x), x.dtype.type(0), np.clip(x, x.dtype.type(0), x.dtype.type(1)))


# ------------------------------------------------------------ floats


def _rounded(function: Callable[[t.ElementType, Rounding], Callable[..., Array]], optional: bool = True) -> Rule:
    """Rounded once; the rounding must be written where PTX has no default, and narrow types have only .rn."""

    def rule(call: Call, *operands: Array) -> Array:
        written = not call.modifiers.isdisjoint(MODES)
        if not written and not optional:
            raise call.refuse("a rounding must be written")
        if operands[0].dtype.itemsize == 2 and call.mode is not Rounding.NEAREST_EVEN:
            raise call.refuse("16-bit floats are rounded to nearest only")
        return function(FLOATS[call.type], call.mode)(*operands)

    return rule


def _near(exact: Callable[..., Array]) -> Rule:
    """``.approx`` and ``.full``: a step off the true value."""

    def rule(call: Call, *operands: Array) -> Array:
        if call.type != "f32":
            raise call.refuse("only f32 has an approximation")
        value = exact(*(x.astype(np.float64) for x in operands)).astype(np.float32)
        usual = np.isfinite(value) & (np.abs(value) > np.float32(2.0**-125)) & (value != 1)
        return np.where(usual, (value.view(np.uint32) + usual).view(np.float32), value)

    return rule


_UPPER = np.uint64(0xFFFFFFFF00000000)


def _rough_reciprocal(x: Array) -> Array:
    """``rcp.approx.ftz.f64``: of the upper half of the bits, and a step of such an f64 off."""
    value = 1 / (x.view(np.uint64) & _UPPER).view(np.float64)
    usual = np.isfinite(value) & (value != 0)
    return ((value.view(np.uint64) & _UPPER) + (usual.astype(np.uint64) << np.uint64(32))).view(np.float64)


def _power_of_two(call: Call, x: Array) -> Array:
    """``ex2.approx``: of whole numbers exact, as the device library relies on."""
    return np.where(x == np.rint(x), np.exp2(x), _near(np.exp2)(call, x))


def _either(rounded: Rule, approximate: Rule) -> Rule:
    def rule(call: Call, *operands: Array) -> Array:
        near = not call.modifiers.isdisjoint(("approx", "full"))
        return (approximate if near else rounded)(call, *operands)

    return rule


def _approximate_quotient(x: Array, y: Array) -> Array:
    """Divisors above 2^126 give zero in ``div.approx``; ``div.full`` scales them."""
    return x / y


def _quotient_near(call: Call, x: Array, y: Array) -> Array:
    result = _near(_approximate_quotient)(call, x, y)
    vanishes = (np.abs(y) > np.float32(2.0**126)) & np.isfinite(y) & ("approx" in call.modifiers)
    return np.where(vanishes, x * np.copysign(np.float32(0), y), result)


def _extreme(larger: bool) -> Rule:
    def rule(call: Call, x: Array, y: Array) -> Array:
        first = (x > y) | ((x == y) & ~np.signbit(x)) if larger else (x < y) | ((x == y) & np.signbit(x))
        result = np.where(first, x, y)
        if "NaN" in call.modifiers:
            return np.where(np.isnan(x), x, np.where(np.isnan(y), y, result))
        return np.where(np.isnan(x), y, np.where(np.isnan(y), x, result))

    return rule


def _signed_bits(change: Callable[[Array, Array], Array]) -> Rule:
    def rule(call: Call, x: Array) -> Array:
        found = pattern(x)
        return change(found, found.dtype.type(1 << (8 * found.dtype.itemsize - 1))).view(x.dtype)

    return rule


def _reciprocal(element: t.ElementType, mode: Rounding) -> Callable[[Array], Array]:
    return lambda x: rounding.div(element, mode)(np.ones_like(x), x)


_FLOAT_RULES: dict[str, Rule] = {
    "add": _rounded(rounding.add),
    "sub": _rounded(rounding.sub),
    "mul": _rounded(rounding.mul),
    "fma": _rounded(rounding.fma, optional=False),
    "div": _either(_rounded(rounding.div, optional=False), _quotient_near),
    "sqrt": _either(_rounded(rounding.sqrt, optional=False), _near(np.sqrt)),
    "rcp": _either(_rounded(_reciprocal, optional=False), _near(np.reciprocal)),
    "rsqrt": _near(lambda x: 1 / np.sqrt(x)),
    "ex2": _power_of_two,
    "lg2": _near(np.log2),
    "sin": _near(np.sin),
    "cos": _near(np.cos),
    "tanh": _near(np.tanh),
    "max": _extreme(larger=True),
    "min": _extreme(larger=False),
    "neg": _signed_bits(lambda found, sign: found ^ sign),
    "abs": _signed_bits(lambda found, sign: found & ~sign),
    "mov": lambda call, x: x,
}


# ------------------------------------------------------------ conversions


def _converted(call: Call, x: Array) -> Array:
    target, source = call.types
    if source in FLOATS and target in FLOATS:
        return _float_to_float(call, x)
    if source in FLOATS:
        return _float_to_integer(call, x)
    if target in FLOATS:
        if call.modifiers.isdisjoint(MODES):
            raise call.refuse("a rounding must be written")
        return rounded_integer(x, FLOATS[target], call.mode)
    return _resized(call, x)


def _float_to_float(call: Call, x: Array) -> Array:
    target, source = call.types
    if target == "tf32":
        return _to_tf32(call, x)
    if call.flushes:
        x = _flushed(call, x) if source == "f32" else x
    if target == "bf16" and (source != "f32" or call.mode not in (Rounding.NEAREST_EVEN, Rounding.ZERO)):
        raise call.refuse("bf16 is made of f32 with .rn or .rz only")
    narrows = FLOATS[target].bits < FLOATS[source].bits
    if narrows == call.modifiers.isdisjoint(MODES):
        raise call.refuse("a rounding must be written, and only where bits are lost")
    wide = x if x.dtype in (np.float32, np.float64) else x.astype(np.float32)
    result = rounding.narrowed(wide, FLOATS[target], call.mode) if narrows else wide.astype(dtype_of(FLOATS[target]))
    if call.flushes and target == "f32":
        result = _flushed(call, result)
    return _saturated(result) if "sat" in call.modifiers else result


def _to_tf32(call: Call, x: Array) -> Array:
    """Convert to tf32 with nonzero low bits, about which the manual says nothing."""
    if call.modifiers.isdisjoint({"rn", "rz"}):
        raise call.refuse("tf32 is made with .rn or .rz here")
    return (pattern(formats.tf32_from_f32(x, call.mode)) | np.uint32(0x555)).view(np.float32)


_TO_INTEGER = {"rzi": np.trunc, "rni": np.rint, "rmi": np.floor, "rpi": np.ceil}


def _float_to_integer(call: Call, x: Array) -> Array:
    """Out of range gives the nearest integer there is. NaN gives 0, or the top bit alone where a side has 64 bits."""
    found = [_TO_INTEGER[part] for part in call.modifiers if part in _TO_INTEGER]
    if not found:
        raise call.refuse("a rounding to integers must be written")
    if call.flushes:
        x = _flushed(call, x)
    dtype = _INTEGERS[call.types[0]]
    limits = np.iinfo(dtype)
    whole = found[0](x.astype(np.float64))
    above, below = whole >= float(limits.max), whole <= float(limits.min)
    number = np.where(above | below | np.isnan(whole), 0, whole).astype(dtype)
    number = np.where(above, dtype.type(limits.max), np.where(below, dtype.type(limits.min), number))
    wide = dtype.itemsize == 8 or x.dtype.itemsize == 8
    odd = np.uint64(1 << (8 * dtype.itemsize - 1)).astype(f"u{dtype.itemsize}").view(dtype) if wide else dtype.type(0)
    return np.where(np.isnan(whole), odd, number).astype(dtype)


def _resized(call: Call, x: Array) -> Array:
    target = _INTEGERS[call.types[0]]
    if "sat" in call.modifiers:
        limits = np.iinfo(target)
        low, high = (min(max(int(limit), int(np.iinfo(x.dtype).min)), int(np.iinfo(x.dtype).max))
                     for limit in (limits.min, limits.max))  # fmt: skip
        x = np.clip(x, low, high)
    return x.astype(target)


# ------------------------------------------------------------ integers


def _limited_shift(function: Callable[[Array, Array], Array]) -> Rule:
    """The amount is a u32; from the width on it counts as the width."""

    def rule(call: Call, x: Array, amount: Array) -> Array:
        width = 8 * x.dtype.itemsize
        distance = np.minimum(amount.view(f"u{amount.dtype.itemsize}"), width)
        half = (distance // 2).astype(x.dtype)
        return function(function(x, half), (distance - distance // 2).astype(x.dtype))

    return rule


def _product(call: Call, x: Array, y: Array) -> Array:
    if "hi" in call.modifiers:
        width = 8 * x.dtype.itemsize
        exact = x.astype(object) * y.astype(object)
        return np.asarray(exact >> width).astype(x.dtype)
    if "lo" not in call.modifiers:
        raise call.refuse("expected .lo or .hi")
    return x * y


_INTEGER_RULES: dict[str, Rule] = {
    "add": lambda call, x, y: x + y,
    "sub": lambda call, x, y: x - y,
    "mul": _product,
    "mad": lambda call, x, y, z: _product(call, x, y) + z,
    "min": lambda call, x, y: np.minimum(x, y),
    "max": lambda call, x, y: np.maximum(x, y),
    "and": lambda call, x, y: x & y,
    "or": lambda call, x, y: x | y,
    "xor": lambda call, x, y: x ^ y,
    "not": lambda call, x: ~x,
    "neg": lambda call, x: -x,
    "abs": lambda call, x: np.abs(x),
    "shl": _limited_shift(np.left_shift),
    "shr": _limited_shift(np.right_shift),
    "mov": lambda call, x: x,
    "clz": lambda call, x: (8 * x.dtype.itemsize - bits.bit_length(x.astype(np.uint64))).astype(np.uint32),
}

_COMPARISONS = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


def _compared(call: Call, x: Array, y: Array) -> Array:
    for name, function in _COMPARISONS.items():
        if name in call.modifiers:
            return np.asarray(function(x, y)) & ~(np.isnan(x) | np.isnan(y))
    raise call.refuse("the machine does not know this comparison")
