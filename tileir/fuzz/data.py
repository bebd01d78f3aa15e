"""The numbers in generated programs and in the arrays that they are run on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileir.fuzz.trials import aligned
from tileir.ir import types as t
from tileir.ir.storage import DTYPES

SIDE = 24
"""Arrays hold SIDE x SIDE elements; tiles cross their edges."""


def numbers(element: t.ElementType, count: int, seed: int) -> np.ndarray:
    """Elements of a constant or an array: small numbers, large ones, odd ones."""
    random = np.random.default_rng(seed)
    if element is t.I1:
        return random.integers(0, 2, count).astype(np.bool_)
    if element.is_int:
        wide = random.integers(-(1 << 62), 1 << 62, count) if seed % 2 else random.integers(-8, 8, count)
        return wide.astype(DTYPES[element])
    values = random.standard_normal(count) * (1.0 if seed % 2 else 100.0)
    if seed == 3:
        values[::3] = np.resize([-0.0, np.inf, np.nan, -np.inf, 0.0], values[::3].size)
    with np.errstate(all="ignore"):
        result = values.astype(DTYPES[element])
    return (result.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32) if element is t.TF32 else result


def arrays(elements: Sequence[t.ElementType]) -> list[np.ndarray]:
    """The arguments of a generated program: i1 with other bytes than 0 and 1, tf32 with all bits."""
    made = []
    for element in elements:
        content = numbers(element, SIDE * SIDE, 3)
        if element is t.I1:
            content = np.random.default_rng(5).integers(0, 3, SIDE * SIDE).astype(np.uint8)
        if element is t.TF32:
            content = numbers(t.F32, SIDE * SIDE, 3)
        made.append(aligned(content))
    return made
