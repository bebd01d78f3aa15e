"""The globals of a loaded module in memory (spec: memory#globals).

Knows: how a dense initialiser becomes bytes, and that globals live and keep their contents as long as the module.
Does not know: how a kernel gets at them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tileir.host.limits import MAX_GLOBALS
from tileir.ir import types as t
from tileir.ir.attributes import DenseElements
from tileir.ir.core import Op
from tileir.ir.diagnostics import UnsupportedError
from tileir.numerics import nibbles
from tileir.ops.module import Global


@dataclass(frozen=True)
class Placed:
    """One global in memory: `size` bytes at `address`. `buffer` is the memory, and more for the alignment."""

    address: int
    size: int
    constant: bool
    buffer: np.ndarray

    @property
    def bounds(self) -> tuple[int, int, int, int]:
        """The first address, the end of what may be read, the end of what may be written, and that of all of it."""
        end = self.address + self.size
        return self.address, end, self.address if self.constant else end, end


class GlobalStorage:
    """The globals of a module by name, initialised once."""

    def __init__(self, items: Iterable[Op]) -> None:
        """Raises UnsupportedError if they take more than there may be."""
        globals = [item for item in items if isinstance(item, Global)]
        _require_room(globals)
        self.placed = {item.sym_name: _placed(item) for item in globals}
        self.addresses = {name: placed.address for name, placed in self.placed.items()}
        self.bounds = tuple(word for placed in self.placed.values() for word in placed.bounds)
        """Those of each, one after the other."""


def alignment_of(op: Global) -> int:
    """Alignment of a global in bytes: a power of two."""
    return max(op.value.element.alignment, 1 << max(0, op.alignment - 1).bit_length())


def _require_room(globals: Sequence[Global]) -> None:
    taken = 0
    for op in globals:
        taken += op.value.type.count * op.value.element.byte_size + alignment_of(op)
        if taken > MAX_GLOBALS:
            what = f"globals of {taken} bytes and more with their alignment: the limit of a module is {MAX_GLOBALS}"
            raise UnsupportedError(what, "host", op.loc)


def _placed(op: Global) -> Placed:
    image = memory_image(op.value)
    alignment = alignment_of(op)
    buffer = np.zeros(max(1, image.size) + alignment - 1, np.uint8)
    start: int = buffer.__array_interface__["data"][0]
    skip = -start % alignment
    buffer[skip : skip + image.size] = image
    return Placed(start + skip, image.size, op.constant, buffer)


def memory_image(value: DenseElements) -> np.ndarray:
    """The bytes of the elements as they lie in memory: as in the attribute, but f4E2M1FN two to a byte."""
    data = np.frombuffer(value.data, np.uint8)
    if value.is_splat:
        data = np.tile(data, value.type.count)
    if value.type.element is not t.F4E2M1FN:
        return data
    return nibbles.packed(data)
