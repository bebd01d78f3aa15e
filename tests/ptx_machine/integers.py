"""Arithmetic of PTX that compilers write, but rules do not: wide products, carries, bit fields, other comparisons."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np

from tests.ttir_machine.ptx_instructions import FLOATS, Call, called, pattern, view
from tests.ttir_machine.values import Array
from tileir.ir import types as t
from tileir.numerics import rounding

Rule = Callable[..., Array]


def _wide(x: Array) -> Array:
    return x.astype(f"{x.dtype.kind}{2 * x.dtype.itemsize}")


def _product(call: Call, x: Array, y: Array) -> Array:
    x, y = view(x, call.type), view(y, call.type)
    return pattern(_wide(x) * _wide(y))


def _sum_of_product(call: Call, x: Array, y: Array, z: Array) -> Array:
    if "wide" in call.modifiers:
        return _product(call, x, y) + z
    part = Call.parse(f"mul.{'hi' if 'hi' in call.modifiers else 'lo'}.{call.type}")
    return called(part, [x, y]) + z


def _shifted(call: Call, x: Array, amount: Array) -> Array:
    """The amount is a u32; from the width on it counts as the width."""
    distance = np.minimum(amount, amount.dtype.type(8 * x.dtype.itemsize)).astype(x.dtype)
    return called(call, [x, distance])


CARRYING = ("addc", "madc")


def carried(call: Call, operands: list[Array], carry: Array) -> tuple[Array, Array]:
    """Return the bits of a sum, and what it carries: that of `add` and `mad`, or with what was carried before."""
    *factors, last = (x.astype(object) for x in operands)
    bits, taken = 8 * operands[0].dtype.itemsize, carry.astype(object) if call.base in CARRYING else 0
    total = factors[0]
    if len(factors) == 2:
        exact = factors[0] * factors[1]
        total = exact >> bits if "hi" in call.modifiers else exact & ((1 << bits) - 1)
    total = total + last + taken
    return (total & ((1 << bits) - 1)).astype(operands[0].dtype), (total >> bits).astype(np.bool_)


def _quotient(call: Call, x: Array, y: Array) -> Array:
    """Division rounds to zero; by zero it gives some value, here all ones."""
    x, y = view(x, call.type), view(y, call.type)
    divisor = np.where(y == 0, y.dtype.type(1), y)
    found = x // divisor
    found = np.where((x % divisor != 0) & ((x < 0) != (divisor < 0)), found + found.dtype.type(1), found)
    if call.base == "rem":
        found = x - found * divisor
    return pattern(np.where(y == 0, ~np.zeros_like(x), found).astype(x.dtype))


def _bit_field(call: Call, x: Array, position: Array, length: Array) -> Array:
    value = view(x, call.type)
    bits = 8 * value.dtype.itemsize
    wide = value.astype(object)
    first, count = (np.minimum(part.astype(np.int64) & 0xFF, bits) for part in (position, length))
    found = [(int(v) >> int(p)) & ((1 << int(n)) - 1) for v, p, n in np.broadcast(wide, first, count)]
    if call.type.startswith("s"):
        found = [
            f - (1 << int(n)) if n and f >> (int(n) - 1) else f
            for f, n in zip(found, np.broadcast_to(count, len(found)))
        ]
    return np.array([f & ((1 << bits) - 1) for f in found], x.dtype)


def _funnel(call: Call, low: Array, high: Array, distance: Array) -> Array:
    amount = (distance & np.uint32(31)) if "wrap" in call.modifiers else np.minimum(distance, np.uint32(32))
    both = (high.astype(np.uint64) << np.uint64(32)) | low.astype(np.uint64)
    if "l" in call.modifiers:
        return (both << amount.astype(np.uint64) >> np.uint64(32)).astype(np.uint32)
    return (both >> amount.astype(np.uint64)).astype(np.uint32)


def _permuted(call: Call, x: Array, y: Array, selection: Array) -> Array:
    both = (y.astype(np.uint64) << np.uint64(32)) | x.astype(np.uint64)
    result = np.zeros(np.broadcast_shapes(both.shape, selection.shape), np.uint32)
    for place in range(4):
        chosen = (selection >> np.uint32(4 * place)) & np.uint32(0xF)
        byte = (both >> (np.uint64(8) * (chosen & np.uint32(7)).astype(np.uint64))).astype(np.uint32) & np.uint32(0xFF)
        sign = np.where(byte & np.uint32(0x80), np.uint32(0xFF), np.uint32(0))
        result |= np.where(chosen & np.uint32(8), sign, byte) << np.uint32(8 * place)
    return result


def _with_sign(call: Call, sign: Array, x: Array) -> Array:
    return pattern(np.copysign(view(x, call.type), view(sign, call.type)))


_UNORDERED = {"equ": "eq", "neu": "ne", "ltu": "lt", "leu": "le", "gtu": "gt", "geu": "ge"}
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_COMPARISONS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
                "ge": np.greater_equal}  # fmt: skip


def _compared(call: Call, x: Array, y: Array) -> Array:
    x, y = view(x, call.type), view(y, call.type)
    if call.flushes:
        x, y = rounding.flushed(x), rounding.flushed(y)
    odd = (
        np.isnan(x) | np.isnan(y) if call.type in FLOATS else np.zeros(np.broadcast_shapes(x.shape, y.shape), np.bool_)
    )
    if "num" in call.modifiers or "nan" in call.modifiers:
        return odd if "nan" in call.modifiers else ~odd
    name = next(part for part in call.text.split(".")[1:] if part in _COMPARISONS | _UNORDERED | _UNSIGNED)
    found = np.asarray(_COMPARISONS[_UNORDERED.get(name, _UNSIGNED.get(name, name))](x, y))
    return found | odd if name in _UNORDERED else found & ~odd


_TO_WHOLE = {"rzi": np.trunc, "rni": np.rint, "rmi": np.floor, "rpi": np.ceil}


_BYTES = {"e4m3x2": ml_dtypes.float8_e4m3fn, "e5m2x2": ml_dtypes.float8_e5m2}


def _to_bytes(target: str, upper: Array, lower: Array) -> Array:
    """Two f32 as floats of 8 bits, at most the largest finite ones."""
    kind = _BYTES[target]
    limit = float(ml_dtypes.finfo(kind).max)
    with np.errstate(all="ignore"):
        high, low = (view(x, "f32").clip(-limit, limit).astype(kind).view(np.uint8) for x in (upper, lower))
    return high.astype(np.uint16) << np.uint16(8) | low


def _from_bytes(source: str, word: Array) -> Array:
    """Two floats of 8 bits as f16."""
    pairs = np.ascontiguousarray(word).view(_BYTES[source]).astype(np.float16)
    return pairs.view(np.uint32)


def _converted(call: Call, x: Array, *second: Array) -> Array:
    """A conversion. Two numbers become the halves of a word, the first one the upper half."""
    *_, to, found = call.text.split(".")
    if to in _BYTES and found == "f32":
        return _to_bytes(to, x, *second)
    if found in _BYTES and to == "f16x2":
        return _from_bytes(found, x)
    if call.text.split(".")[-2].endswith("x2"):
        narrow = Call.parse(call.text.replace("x2.", ".", 1))
        upper, lower = (called(narrow, [part]).astype(np.uint32) for part in (x, *second))
        return (upper << np.uint32(16)) | lower
    whole = [_TO_WHOLE[part] for part in call.modifiers if part in _TO_WHOLE]
    target, source = call.types
    if whole and target == source:
        value = view(x, source)
        return pattern(whole[0](rounding.flushed(value) if call.flushes else value))
    return called(call, [x])


def _rough_reciprocal(call: Call, x: Array) -> Array:
    """``rcp.approx.ftz.f64``: the upper half of the bits alone."""
    if call.text != "rcp.approx.ftz.f64":
        return called(call, [x])
    with np.errstate(all="ignore"):
        value = rounding.div(t.F64, call.mode)(np.ones(x.shape), view(x, "f64"))
    return pattern(value) & np.uint64(0xFFFFFFFF00000000)


RULES: dict[str, Rule] = {
    "shl": _shifted,
    "shr": _shifted,
    "mad": _sum_of_product,
    "div": lambda call, x, y: (called if call.type in FLOATS else _without_list(_quotient))(call, [x, y]),
    "rem": _quotient,
    "bfe": _bit_field,
    "shf": _funnel,
    "prmt": _permuted,
    "copysign": _with_sign,
    "setp": _compared,
    "cvt": _converted,
    "rcp": _rough_reciprocal,
    "cvta": lambda call, address: address,  # every space but `local` begins at 0
}


def _without_list(rule: Rule) -> Rule:
    return lambda call, operands: rule(call, *operands)


def _pairwise(call: Call, operands: list[Array]) -> Array:
    """Arithmetic of two numbers in each register."""
    single, size = Call.parse(call.text.removesuffix("x2")), operands[0].dtype.itemsize
    pairs = [np.ascontiguousarray(operand).view(f"u{size // 2}").reshape(-1, 2) for operand in operands]
    halves = [called(single, [np.ascontiguousarray(pair[:, half]) for pair in pairs]) for half in (0, 1)]
    return np.ascontiguousarray(np.stack(halves, axis=1)).view(f"u{size}")[:, 0]


def computed(call: Call, operands: list[Array]) -> Array:
    """Return the bits of the result of an instruction that computes, from those of its operands."""
    if call.text.endswith("x2") and call.base != "cvt":
        return _pairwise(call, operands)
    if call.base in ("min", "max") and len(operands) == 3:
        return called(call, [called(call, operands[:2]), operands[2]])
    if call.base == "mul" and "wide" in call.modifiers:
        return _product(call, *operands)
    rule = RULES.get(call.base)
    return called(call, operands) if rule is None else rule(call, *operands)
