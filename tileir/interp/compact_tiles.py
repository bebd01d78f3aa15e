"""Tiles that a few numbers describe: integers and addresses that grow evenly, and masks that are boxes.

    %offsets = addi %rows, %columns     128 * block_x * stride + stride * i + j        AffineTile
    %inside = andi %row, %column        begin[0] <= i < end[0] and begin[1] <= j < end[1]        BoxMask

Their results are exact: what would wrap around, or is no such tile, is None.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileir.ir import types as t
from tileir.ir.storage import dtype_of
from tileir.ir.types.tiles import kept_dimensions

Numbers = tuple[int, ...]


class CompactTile:
    """A tile that is not an array. It is immutable; its array is made on first use."""

    __slots__ = ("_array", "shape")

    shape: Numbers
    _array: np.ndarray | None

    def expanded(self) -> np.ndarray:
        """Return the tile as an array of its shape and of the dtype of its elements, not to be written to."""
        if self._array is None:
            self._array = self._made()
        return self._array

    def _made(self) -> np.ndarray:
        raise NotImplementedError

    def broadcast(self, shape: Numbers) -> CompactTile:
        """Return the tile repeated along its dimensions of extent 1."""
        raise NotImplementedError

    def reshaped(self, shape: Numbers) -> CompactTile | None:
        """Return the tile with dimensions of extent 1 added and dropped, or one whose elements are all the same."""
        raise NotImplementedError

    def permuted(self, axes: Sequence[int]) -> CompactTile:
        """Return the tile whose dimension k is dimension ``axes[k]`` of this one."""
        raise NotImplementedError


def expanded(value: object) -> object:
    """Return a value as every rule takes it."""
    return value.expanded() if isinstance(value, CompactTile) else value


class NumberType:
    """The numbers that an element of a type can be, read as signed; addresses are unsigned."""

    __slots__ = ("dtype", "high", "low")

    def __init__(self, element: t.ElementType | t.PointerType) -> None:
        signed = not isinstance(element, t.PointerType)
        bits = element.memory_bits
        self.low = -(1 << (bits - 1)) if signed else 0
        self.high = (1 << (bits - signed)) - 1
        self.dtype = dtype_of(element)

    def tile(self, base: int, strides: Numbers, shape: Numbers) -> AffineTile | None:
        """Return the tile of these elements; None if one of them is no number of this type."""
        low = high = base
        for stride, extent in zip(strides, shape):
            if stride < 0:
                low += stride * (extent - 1)
            else:
                high += stride * (extent - 1)
        return AffineTile(base, strides, shape, self, low) if self.low <= low and high <= self.high else None


class AffineTile(CompactTile):
    """Integers or addresses: element (i, j, ...) is ``base + i * strides[0] + j * strides[1] + ...``, without wrapping.

    ``low`` is the smallest of them. The stride of a dimension of extent 1 is 0.
    """

    __slots__ = ("base", "low", "strides", "type")

    def __init__(self, base: int, strides: Numbers, shape: Numbers, type: NumberType, low: int) -> None:
        self.base = base
        self.strides = strides
        self.shape = shape
        self.type = type
        self.low = low
        self._array = None

    def _made(self) -> np.ndarray:
        """Return the elements as an array; sums are taken modulo 2^64 and lose no bit."""
        total = np.array(self.base % (1 << 64), np.uint64).reshape((1,) * len(self.shape))
        for dim, (stride, extent) in enumerate(zip(self.strides, self.shape)):
            if stride:
                column = (extent,) + (1,) * (len(self.shape) - dim - 1)
                steps = np.arange(extent, dtype=np.uint64) * np.uint64(stride % (1 << 64))
                total = total + steps.reshape(column)
        return np.broadcast_to(total.astype(self.type.dtype), self.shape)

    @property
    def uniform(self) -> bool:
        """True if all elements are the same."""
        return not any(self.strides)

    def plus(self, other: AffineTile, times: int = 1) -> AffineTile | None:
        """Return the sum with a multiple of another tile."""
        strides = tuple([one + two * times for one, two in zip(self.strides, other.strides)])
        return self.type.tile(self.base + other.base * times, strides, self.shape)

    def scaled(self, factor: int) -> AffineTile | None:
        strides = tuple([stride * factor for stride in self.strides])
        return self.type.tile(self.base * factor, strides, self.shape)

    def retyped(self, type: NumberType) -> AffineTile | None:
        """Return the same numbers in another type."""
        return type.tile(self.base, self.strides, self.shape)

    def broadcast(self, shape: Numbers) -> AffineTile:
        return AffineTile(self.base, self.strides, shape, self.type, self.low)

    def reshaped(self, shape: Numbers) -> AffineTile | None:
        if self.uniform:
            return AffineTile(self.base, (0,) * len(shape), shape, self.type, self.low)
        places = kept_dimensions(self.shape, shape)
        if places is None:
            return None
        strides = tuple([0 if dim is None else self.strides[dim] for dim in places])
        return AffineTile(self.base, strides, shape, self.type, self.low)

    def permuted(self, axes: Sequence[int]) -> AffineTile:
        strides, shape = tuple([self.strides[axis] for axis in axes]), tuple([self.shape[axis] for axis in axes])
        return AffineTile(self.base, strides, shape, self.type, self.low)

    def below(self, other: AffineTile, slack: int) -> BoxMask | None:
        """Return the mask of elements less than another tile's plus `slack`; None if that depends on two dimensions."""
        distance = other.base + slack - self.base
        begin, end, depends = [0] * len(self.shape), list(self.shape), False
        for dim, (own, others) in enumerate(zip(self.strides, other.strides)):
            rise = own - others
            if rise and depends:
                return None
            if rise > 0:
                end[dim] = min(max(-(-distance // rise), 0), end[dim])
            elif rise < 0:
                begin[dim] = min(max(distance // rise + 1, 0), end[dim])
            depends |= rise != 0
        if not depends and distance <= 0:
            return BoxMask.none(self.shape)
        return BoxMask.of(tuple(begin), tuple(end), self.shape)


class BoxMask(CompactTile):
    """A mask that is 1 where ``begin[d] <= index[d] < end[d]`` in every dimension; where it is nowhere, both are 0."""

    __slots__ = ("begin", "end")

    def __init__(self, begin: Numbers, end: Numbers, shape: Numbers) -> None:
        self.begin = begin
        self.end = end
        self.shape = shape
        self._array = None

    @classmethod
    def of(cls, begin: Numbers, end: Numbers, shape: Numbers) -> BoxMask:
        for first, last in zip(begin, end):
            if first >= last:
                return cls.none(shape)
        return cls(begin, end, shape)

    @classmethod
    def none(cls, shape: Numbers) -> BoxMask:
        """Return the mask that is 0 everywhere."""
        nowhere = (0,) * len(shape)
        return cls(nowhere, nowhere, shape)

    @classmethod
    def all(cls, shape: Numbers) -> BoxMask:
        """Return the mask that is 1 everywhere."""
        return cls((0,) * len(shape), shape, shape)

    def _made(self) -> np.ndarray:
        mask = np.zeros(self.shape, np.bool_)
        mask[self.selector] = True
        return mask

    @property
    def full(self) -> bool:
        return self.end == self.shape and not any(self.begin)

    @property
    def empty(self) -> bool:
        return self.end[0] == 0

    @property
    def counts(self) -> Numbers:
        """The extents of the box."""
        return tuple([last - first for first, last in zip(self.begin, self.end)])

    @property
    def selector(self) -> tuple[slice, ...]:
        """Picks the box out of the tile."""
        return tuple(map(slice, self.begin, self.end))

    def both(self, other: BoxMask) -> BoxMask:
        """Return the mask of elements that are 1 in both."""
        begin, end = tuple(map(max, self.begin, other.begin)), tuple(map(min, self.end, other.end))
        return BoxMask.of(begin, end, self.shape)

    def broadcast(self, shape: Numbers) -> BoxMask:
        if self.empty:
            return BoxMask.none(shape)
        kept = [old == new for old, new in zip(self.shape, shape)]
        end = tuple([last if same else extent for same, last, extent in zip(kept, self.end, shape)])
        return BoxMask(self.begin, end, shape)

    def reshaped(self, shape: Numbers) -> BoxMask | None:
        if self.empty or self.full:
            return BoxMask.none(shape) if self.empty else BoxMask.all(shape)
        places = kept_dimensions(self.shape, shape)
        if places is None:
            return None
        begin = tuple([0 if dim is None else self.begin[dim] for dim in places])
        end = tuple([1 if dim is None else self.end[dim] for dim in places])
        return BoxMask(begin, end, shape)

    def permuted(self, axes: Sequence[int]) -> BoxMask:
        picked = [tuple([numbers[axis] for axis in axes]) for numbers in (self.begin, self.end, self.shape)]
        return BoxMask(*picked)


def holds_numbers(element: t.Type) -> bool:
    """Return whether a tile of this element type can be affine."""
    return isinstance(element, t.PointerType) or element in (t.I8, t.I16, t.I32, t.I64)
