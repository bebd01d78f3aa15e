"""Operands for differential tests: special patterns, random patterns, and numbers near one another."""

from __future__ import annotations

import numpy as np

from tileir.ir import types as t
from tileir.ir.storage import bits_dtype, dtype_of

COUNT = 2048


def operands(element: t.ElementType | t.PointerType, count: int, seed: int = 1) -> list[np.ndarray]:
    """`count` arrays of `COUNT` elements; the second and third are often near the first, so that sums cancel."""
    if isinstance(element, t.PointerType):
        return [integers(t.I64, seed + place).view(np.uint64) for place in range(count)]
    if element.is_int:
        return [integers(element, seed + place) for place in range(count)]
    first = patterns(element, seed)
    rest = [near(first, element, seed + place) for place in range(1, count)]
    return [floats(bits, element) for bits in (first, *rest)]


def integers(element: t.ElementType, seed: int) -> np.ndarray:
    """Random integers of every magnitude, and the extreme ones."""
    generator = np.random.default_rng(seed)
    raw = generator.integers(0, 1 << 64, COUNT, np.uint64) >> generator.integers(0, 64, COUNT, np.uint64)
    raw = np.where(generator.random(COUNT) < 0.5, raw, ~raw)
    edge = np.uint64(1 << (element.bits - 1))
    special = np.array([0, 1, 2, 3, 7, ~np.uint64(0), edge, edge - np.uint64(1), edge + np.uint64(1)], np.uint64)
    raw = np.where(generator.random(COUNT) < 0.25, generator.choice(special, COUNT), raw)
    if element is t.I1:
        return (raw & np.uint64(1)).astype(np.bool_)
    if element is t.I4:
        return ((raw & np.uint64(15)).astype(np.int8) ^ np.int8(8)) - np.int8(8)
    return raw.astype(f"u{element.bits // 8}").view(dtype_of(element))


def patterns(element: t.ElementType, seed: int) -> np.ndarray:
    """Patterns of a float type; every one of a small type."""
    layout = element.format
    assert layout is not None
    generator = np.random.default_rng(seed)
    width = layout.signed + layout.exponent + layout.fraction
    raw = generator.integers(0, 1 << 64, COUNT, np.uint64) & np.uint64((1 << width) - 1)
    if width <= 8:
        raw[: 1 << width] = np.arange(1 << width)
        return raw
    special = _special(element)
    raw = np.where(generator.random(COUNT) < 0.2, generator.choice(special, COUNT), raw)
    usual = np.uint64(layout.bias - 3 << layout.fraction) + (raw & np.uint64((8 << layout.fraction) - 1))
    usual |= raw & np.uint64(1 << (width - 1))
    raw = np.where(generator.random(COUNT) < 0.3, usual, raw)
    raw[: len(special)] = special
    return raw


def _special(element: t.ElementType) -> np.ndarray:
    """Zeros, infinities, NaN, and the ends of the subnormals, the normals and the simple numbers."""
    layout = element.format
    one = layout.bias << layout.fraction
    step, ones = 1 << layout.fraction, (1 << layout.exponent) - 1 << layout.fraction
    found = [0, 1, 2, 3, step - 1, step, step + 1, ones - 2, ones - 1, ones, ones | step >> 1]
    found += [one, one + 1, one - 1, one + step, one + step // 2, one - step, one + 2 * step, 2 * one - step]
    magnitudes = np.array(found, np.uint64)
    return np.concatenate([magnitudes, magnitudes | np.uint64(1 << (layout.exponent + layout.fraction))])


def near(bits: np.ndarray, element: t.ElementType, seed: int) -> np.ndarray:
    """Patterns some binades and bits away from `bits`, of either sign; a third are unrelated."""
    layout = element.format
    generator = np.random.default_rng(seed)
    width = layout.exponent + layout.fraction
    if width <= 8:
        return generator.permutation(bits)
    binades = generator.choice([0, 0, 0, 1, -1, 2, layout.precision, -layout.precision], COUNT) << layout.fraction
    moved = (bits & np.uint64((1 << width) - 1)).astype(np.int64) + binades + generator.integers(-2, 3, COUNT)
    largest = ((1 << layout.exponent) - 1) << layout.fraction
    magnitude = np.clip(moved, 0, largest).astype(np.uint64)
    related = magnitude | (generator.integers(0, 2, COUNT).astype(np.uint64) << np.uint64(width))
    return np.where(generator.random(COUNT) < 0.67, related, patterns(element, seed + 100))


def floats(bits: np.ndarray, element: t.ElementType) -> np.ndarray:
    shifted = bits << np.uint64(13) if element is t.TF32 else bits
    return shifted.astype(bits_dtype(element)).view(dtype_of(element))


# ---------------------------------------------------------------- comparison


def differing(actual: np.ndarray, expected: np.ndarray, element: t.ElementType | t.PointerType) -> np.ndarray:
    """Mask of the patterns that differ; any NaN equals any NaN."""
    size = actual.dtype.itemsize
    unequal = actual.view(f"u{size}") != expected.view(f"u{size}")
    if isinstance(element, t.PointerType) or element.is_int or element is t.FNV8E5M3FNU:
        return unequal
    return unequal & ~(is_nan(actual) & is_nan(expected))


def is_nan(x: np.ndarray) -> np.ndarray:
    return np.isnan(x.astype(np.float64))


def ulps(actual: np.ndarray, expected: np.ndarray, element: t.ElementType) -> np.ndarray:
    """Distance in patterns; 0 for two NaN, huge where only one is NaN or the signs differ."""
    left, right = (x.view(bits_dtype(element)).astype(np.uint64) for x in (actual, expected))
    apart = np.maximum(left, right) - np.minimum(left, right)
    one_nan = is_nan(actual) != is_nan(expected)
    return np.where(is_nan(actual) & is_nan(expected), 0, np.where(one_nan, np.uint64(1 << 62), apart))
