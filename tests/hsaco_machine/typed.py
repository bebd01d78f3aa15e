"""Values of AMD's pseudo-code: bits with a type, one for each lane.

Bits lie in 64-bit words. Floats of 16, 32 and 64 bits are added, subtracted, multiplied and divided as NumPy does,
which is to nearest even with subnormals; `fma` is rounded once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.numerics import rounding

Array = np.ndarray
_FLOATS = {16: np.float16, 32: np.float32, 64: np.float64}
_ELEMENTS = {16: t.F16, 32: t.F32, 64: t.F64}
TYPE = re.compile(r"(bf|[uifb])(\d+)")


class PseudoFault(Exception):
    """Pseudo-code that the machine cannot run, or that does what it must not."""


@dataclass(frozen=True)
class Typed:
    """``raw`` has ``width`` bits in each uint64, the others 0. ``kind``: u, i (two's complement), f, or b for any."""

    raw: Array
    width: int
    kind: str = "b"

    @property
    def signed(self) -> Array:
        """As int64."""
        shift = np.uint64(64 - self.width)
        return (self.raw << shift).astype(np.int64) >> np.int64(64 - self.width)

    @property
    def number(self) -> Array:
        """As NumPy's numbers of the type."""
        if self.kind == "f":
            return self.raw.astype(f"u{self.width // 8}").view(_FLOATS[self.width])
        return self.signed if self.kind == "i" else self.raw

    @property
    def truth(self) -> Array:
        return (self.number != 0) if self.kind == "f" else self.raw != 0

    def of(self, kind: str, width: int) -> Typed:
        """The low bits read as another type; a signed integer is extended by its sign."""
        if kind == "bf":
            return from_number((self.raw & mask_of(16)).astype(np.uint32).__lshift__(16).view(np.float32))
        raw = self.signed.view(np.uint64) if self.kind == "i" and width > self.width else self.raw
        return Typed(raw & mask_of(width), width, kind)

    def bits(self, high: int, low: int) -> Typed:
        width = high - low + 1
        return Typed((self.raw >> np.uint64(low)) & mask_of(width), width, "u")


def mask_of(width: int) -> np.uint64:
    return np.uint64((1 << min(width, 64)) - 1)


def integer(value: int, width: int = 32, kind: str = "i") -> Typed:
    return Typed(np.array([value & ((1 << width) - 1)], np.uint64), width, kind)


def from_number(values: Array) -> Typed:
    """Floats of NumPy."""
    width = values.dtype.itemsize * 8
    contiguous = np.ascontiguousarray(values)
    return Typed(contiguous.view(f"u{width // 8}").astype(np.uint64), width, "f")


def truth(values: Array) -> Typed:
    return Typed(values.astype(np.uint64), 1, "u")


def as_float(value: Typed, width: int) -> Typed:
    """A float in another format, to nearest even."""
    if value.kind != "f":
        raise PseudoFault(f"expected a float, got {value.kind}{value.width}")
    return value if value.width == width else from_number(value.number.astype(_FLOATS[width]))


def converted(value: Typed, kind: str, width: int) -> Typed:
    """For an assignment or a cast: floats to floats by value, all else by bits."""
    if kind == "f" and value.kind == "f":
        return as_float(value, width)
    return value.of(kind, width)


# ---------------------------------------------------------------- operators


def _common(first: Typed, second: Typed) -> tuple[Typed, Typed]:
    if "f" in (first.kind, second.kind):
        width = max(value.width for value in (first, second) if value.kind == "f")
        return _floating(first, width), _floating(second, width)
    width = max(first.width, second.width, 32)
    kind = "u" if "u" in (first.kind, second.kind) else "i" if "i" in (first.kind, second.kind) else "u"
    return tuple(Typed(value.of(kind, width).raw, width, kind) for value in (first, second))  # type: ignore[return-value]


def _floating(value: Typed, width: int) -> Typed:
    return as_float(value, width) if value.kind == "f" else from_number(value.number.astype(_FLOATS[width]))


_ARITHMETIC = {"+": np.add, "-": np.subtract, "*": np.multiply}
_COMPARED = {
    "==": np.equal, "!=": np.not_equal, "<>": np.not_equal, "<": np.less, ">": np.greater, "<=": np.less_equal,
    ">=": np.greater_equal,
}  # fmt: skip
_BITWISE = {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}


def operated(name: str, first: Typed, second: Typed) -> Typed:
    """A binary operator."""
    if name in ("<<", ">>"):
        return _shifted(name, first, second)
    if name in ("&&", "||"):
        return truth(first.truth & second.truth if name == "&&" else first.truth | second.truth)
    if name == "**":
        return from_number(np.power(first.number.astype(np.float64), second.number.astype(np.float64)))
    a, b = _common(first, second)
    if name in _COMPARED:
        if name == "<>" and a.kind == "f":
            return truth((a.number < b.number) | (a.number > b.number))
        return truth(_COMPARED[name](a.number, b.number))
    if a.kind == "f":
        with np.errstate(all="ignore"):
            if name == "/":
                return from_number(np.divide(a.number, b.number))
            return from_number(_ARITHMETIC[name](a.number, b.number))
    if name in _BITWISE:
        width = max(first.width, second.width)
        return Typed(_BITWISE[name](a.raw, b.raw) & mask_of(width), width, a.kind)
    if name == "/":
        return Typed((a.number // b.number).astype(np.uint64) & mask_of(a.width), a.width, a.kind)
    if name == "%":
        return Typed((a.number % b.number).astype(np.uint64) & mask_of(a.width), a.width, a.kind)
    return Typed(_ARITHMETIC[name](a.raw, b.raw) & mask_of(a.width), a.width, a.kind)


def _shifted(name: str, first: Typed, second: Typed) -> Typed:
    amount = second.raw
    width = max(first.width, 32)
    wide = first.of(first.kind if first.kind != "b" else "u", width)
    few = np.minimum(amount, np.uint64(63))
    if name == "<<":
        raw = np.where(amount < 64, wide.raw << few, np.uint64(0))
    elif wide.kind == "i":
        raw = (wide.signed >> few.astype(np.int64)).view(np.uint64)
    else:
        raw = np.where(amount < 64, wide.raw >> few, np.uint64(0))
    return Typed(raw & mask_of(width), width, wide.kind)


def negated(value: Typed) -> Typed:
    if value.kind == "f":
        return Typed(value.raw ^ np.uint64(1 << value.width - 1), value.width, "f")
    return Typed((~value.raw + np.uint64(1)) & mask_of(value.width), value.width, value.kind)


def inverted(value: Typed) -> Typed:
    return Typed(~value.raw & mask_of(value.width), value.width, value.kind)


def joined(high: Typed, low: Typed) -> Typed:
    """``{ high, low }``."""
    return Typed((high.raw << np.uint64(low.width)) | low.raw, high.width + low.width, "u")


def chosen(condition: Array, first: Typed, second: Typed) -> Typed:
    """Lane by lane, in the type of the wider one."""
    if first.kind == "f" or second.kind == "f":
        width = max(value.width for value in (first, second) if value.kind == "f")
        first, second = _floating(first, width), _floating(second, width)
    model = first if first.width >= second.width else second
    raw = np.where(condition, first.of(model.kind, model.width).raw, second.of(model.kind, model.width).raw)
    return Typed(raw, model.width, model.kind)


def fma(x: Typed, y: Typed, z: Typed, mode: Rounding = Rounding.NEAREST_EVEN) -> Typed:
    width = max(x.width, y.width, z.width)
    operands = (as_float(value, width).number for value in (x, y, z))
    shape = np.broadcast_shapes(x.raw.shape, y.raw.shape, z.raw.shape)
    return from_number(rounding.fma(_ELEMENTS[width], mode)(*(np.broadcast_to(value, shape) for value in operands)))
