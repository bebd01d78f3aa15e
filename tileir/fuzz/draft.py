"""A random program being written: its statements, the values in reach, and the contents of its arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from tileir.fuzz.trials import aligned
from tileir.ir import types as t
from tileir.ir.attributes import DenseElements, MemoryOrdering, MemoryScope
from tileir.ir.core import Block, Op, Value
from tileir.ir.storage import DTYPES
from tileir.ops import core

SIDE = 24
"""Arrays hold SIDE x SIDE elements; tiles cross their edges."""


def numbers(element: t.ElementType, count: int, seed: int) -> np.ndarray:
    """Return elements of a constant or an array: small numbers, large ones, odd ones."""
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
    """Return the arguments of a generated program: i1 with other bytes than 0 and 1, tf32 with all bits."""
    made = []
    for element in elements:
        content = numbers(element, SIDE * SIDE, 3)
        if element is t.I1:
            content = np.random.default_rng(5).integers(0, 3, SIDE * SIDE).astype(np.uint8)
        if element is t.TF32:
            content = numbers(t.F32, SIDE * SIDE, 3)
        made.append(aligned(content))
    return made


T = TypeVar("T")
INTS = (t.I1, t.I8, t.I16, t.I32, t.I64)
FLOATS = (t.F16, t.BF16, t.F32, t.F64)
STORED = (*INTS, *FLOATS, t.TF32, t.F8E4M3FN, t.F8E5M2)
SHAPES: tuple[tuple[int, ...], ...] = (
    (), (1,), (4,), (8,), (16,), (4, 4), (2, 8), (8, 2), (1, 8), (8, 1), (16, 16), (2, 2, 4)
)  # fmt: skip
WEAK = MemoryOrdering.WEAK
Order = tuple[MemoryOrdering, MemoryScope | None]
"""The ordering of an access, and among whom it holds."""
ACQUIRE: Order = (MemoryOrdering.ACQUIRE, MemoryScope.DEVICE)


class Choose(Protocol):
    """Gives one of a sequence, and prefers the first ones when it shrinks."""

    def __call__(self, options: Sequence[T], /) -> T: ...


@dataclass
class ProgramScope:
    """Values that may be used, newest last, and the token of the last memory operation."""

    block: Block
    values: list[Value]
    token: Value
    depth: int = 0


class ProgramDraft:
    """``choose(options)`` gives one of a sequence, and prefers the first ones when it shrinks."""

    def __init__(self, choose: Choose, elements: Sequence[t.ElementType]) -> None:
        self.choose = choose
        self.elements = elements
        self.bases: dict[t.ElementType, Value] = {}
        self.scope: ProgramScope

    def emit(self, op: Op) -> Value | None:
        self.scope.block.append(op)
        for result in op.results:
            if isinstance(result.type, t.TokenType):
                self.scope.token = result
            elif isinstance(result.type, t.TileType) and isinstance(result.tile.number, t.ElementType):
                self.scope.values.append(result)
        return op.results[0] if op.results else None

    def make(self, op: Op) -> Value:
        value = self.emit(op)
        assert value is not None
        return value

    def statement(self) -> None:
        """Add one statement."""
        raise NotImplementedError

    def store_tile(self, tile: Value) -> None:
        """Store a tile somewhere."""
        raise NotImplementedError

    # ------------------------------------------------------------ values

    def pick(self, accepts: Callable[[t.TileType], bool]) -> Value | None:
        found = [value for value in reversed(self.scope.values) if accepts(value.tile)]
        return self.choose(found) if found else None

    def any_of(self, elements: Sequence[t.ElementType]) -> Value | None:
        return self.pick(lambda type: type.element in elements)

    def like(self, type: t.TileType) -> Value:
        """Return a value of that type: one there is, or a new one."""
        found = [value for value in reversed(self.scope.values) if value.type is type]
        return self.choose([*found[:4], None]) or self.constant(type)

    def constant(self, type: t.TileType) -> Value:
        seed = self.choose(range(4))
        count = type.count if self.choose((True, False)) else 1
        data = numbers(type.number, count, seed)
        return self.make(core.Constant.build([type], value=DenseElements.of(type, data.tobytes())))

    def number(self, value: int, element: t.ElementType = t.I32) -> Value:
        data = np.array(value, DTYPES[element]).tobytes()
        return self.make(core.Constant.build([t.tile(element)], value=DenseElements(t.tile(element), data)))
