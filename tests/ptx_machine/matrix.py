"""Products of matrices on a warp: ``mma.sync`` (PTX ISA: warp-level matrix fragments).

Each lane holds parts of the matrices: `group` is its number over four, `thread` the rest. Products are added in f64 and
rounded once, which is closer than a GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from tests.ttir_machine.ptx_instructions import Call
from tests.ttir_machine.values import Array

LANES = 32
_LANE = np.arange(LANES)
_GROUP, _THREAD = _LANE // 4, _LANE % 4
DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "f32": np.float32, "f64": np.float64,
           "s8": np.int8, "u8": np.uint8, "s32": np.int32, "e4m3": ml_dtypes.float8_e4m3fn,
          "e5m2": ml_dtypes.float8_e5m2}  # fmt: skip


@dataclass(frozen=True)
class _Shape:
    """Rows, columns and depth of a product, and so many elements of a factor side by side in a register."""

    m: int
    n: int
    k: int
    packed: int

    def left(self) -> tuple[Array, Array]:
        """Rows and depths of the elements of the left factor, by lane and place."""
        count = self.m * self.k // LANES
        place = np.arange(count)
        rows, step = self.m // 8, place // self.packed
        return (
            _GROUP[:, None] + 8 * (step % rows),
            self.packed * _THREAD[:, None] + place % self.packed + 4 * self.packed * (step // rows),
        )

    def right(self) -> tuple[Array, Array]:
        """Depths and columns of the elements of the right factor."""
        place = np.arange(self.k * self.n // LANES)
        depth = self.packed * _THREAD[:, None] + place % self.packed + 4 * self.packed * (place // self.packed)
        return depth, np.broadcast_to(_GROUP[:, None], depth.shape)

    def sums(self) -> tuple[Array, Array]:
        place = np.arange(self.m * self.n // LANES)
        rows = _GROUP[:, None] + 8 * (place // 2)
        return rows, np.broadcast_to(2 * _THREAD[:, None] + place % 2, rows.shape)


_SHAPES = {
    ("m16n8k16", 2): _Shape(16, 8, 16, 2),
    ("m16n8k8", 2): _Shape(16, 8, 8, 2),
    ("m16n8k8", 4): _Shape(16, 8, 8, 1),
    ("m16n8k4", 4): _Shape(16, 8, 4, 1),
    ("m16n8k32", 1): _Shape(16, 8, 32, 4),
    ("m16n8k16", 1): _Shape(16, 8, 16, 4),
    ("m8n8k4", 8): _Shape(8, 8, 4, 1),
}
"""By name and bytes of an element."""


def product(call: Call, a: Sequence[Array], b: Sequence[Array], c: Sequence[Array]) -> list[Array]:
    """Return the registers of the sums; each of the others is given by its registers, as bits of all lanes."""
    result, left, right, sums = call.text.split(".")[-4:]
    name = next((part for part in call.modifiers if part.startswith("m") and part[1].isdigit()), "")
    dtype = np.dtype(DTYPES.get(left, np.void))
    shape = _SHAPES.get((name, dtype.itemsize))
    if shape is None or not {"row", "col"} <= call.modifiers or result != sums:
        raise call.refuse("the machine does not know this product")
    working = np.int64 if dtype.kind in "iu" and left != "bf16" else np.float64
    x, y, z = (np.zeros(size, working) for size in ((shape.m, shape.k), (shape.k, shape.n), (shape.m, shape.n)))
    x[shape.left()] = elements(a, left)
    y[shape.right()] = elements(b, right)
    z[shape.sums()] = elements(c, sums)
    with np.errstate(all="ignore"):
        total = x @ y + z
    if working is np.int64:
        total = _kept(total, "satfinite" in call.modifiers)
    with np.errstate(over="ignore"):
        found = np.ascontiguousarray(total[shape.sums()].astype(DTYPES[result]))
    return list(found.view(c[0].dtype).T)


def _kept(total: Array, saturates: bool) -> Array:
    limits = np.iinfo(np.int32)
    return np.clip(total, limits.min, limits.max) if saturates else total.astype(np.int32).astype(np.int64)


def elements(registers: Sequence[Array], type: str) -> Array:
    """Return the elements of each lane in order."""
    words = np.ascontiguousarray(np.stack(registers, axis=1))
    if type == "tf32":
        words = words & np.uint32(0xFFFFE000)
    found = words.view(DTYPES[type])
    return found.astype(np.int64) if found.dtype.kind in "iu" else found.astype(np.float64)
