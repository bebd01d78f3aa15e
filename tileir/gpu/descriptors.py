"""Descriptors of tensors for the copy engine (TMA) which a launch encodes and passes as parameters.

The code has a `DescriptorParameter`: how a launch computes the tensor. Triton's compiler adds the `CopyLayout`: how
tiles lie in shared memory. Both together and the arguments of a launch are a `TensorMap`, which the driver encodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tileir.gpu.expressions import Arguments, Expression, evaluated, parameters_in, read

DESCRIPTOR_BYTES = 128
ALIGNMENT = 16
"""Bytes that addresses and strides are multiples of."""
MAX_EXTENT = (1 << 31) - 1
"""The last coordinate that code can name."""
MAX_STRIDE = (1 << 40) - 1
"""Bytes."""


class DescribedTensor(NamedTuple):
    """A tensor in memory: its address, the extents of its dimensions in elements, and the strides of all but the last
    in bytes."""

    address: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True)
class DescriptorParameter:
    """A parameter that is the descriptor of a tensor whose last dimension has no gaps.

    ``type`` is the TTIR type, and ``size`` the bytes of an element. ``strides``, of all dimensions but the last, are in
    elements. Elements outside the tensor are NaN if ``pads_with_nan``, zero otherwise.
    """

    type: str
    size: int
    address: Expression
    extents: tuple[Expression, ...]
    strides: tuple[Expression, ...]
    pads_with_nan: bool = False

    def tensor(self, arguments: Arguments) -> DescribedTensor | None:
        """Return the tensor of a launch; None if the hardware has no descriptor of it."""
        address = evaluated(self.address, arguments)
        extents = tuple(evaluated(extent, arguments) for extent in self.extents)
        strides = tuple(evaluated(stride, arguments) * self.size for stride in self.strides)
        if 0 in extents:  # no element is touched, the address may be null and strides 0
            return DescribedTensor(ALIGNMENT, (1,) * len(extents), (ALIGNMENT,) * len(strides))
        fits = max(extents) <= MAX_EXTENT and all(0 < stride <= MAX_STRIDE for stride in strides)
        is_aligned = not any(number % ALIGNMENT for number in (address, *strides))
        return DescribedTensor(address, extents, strides) if fits and is_aligned else None

    def parameters(self) -> set[int]:
        """Return the positions of the parameters that the tensor depends on."""
        return set().union(*map(parameters_in, (self.address, *self.extents, *self.strides)))

    def to_parts(self) -> list[object]:
        """Return what JSON can write."""
        return [self.type, self.size, self.address, self.extents, self.strides, self.pads_with_nan]

    @staticmethod
    def from_parts(parts: Sequence[Any]) -> DescriptorParameter:
        type, size, address, extents, strides, pads_with_nan = parts
        extents, strides = (tuple(map(read, several)) for several in (extents, strides))
        return DescriptorParameter(type, size, read(address), extents, strides, pads_with_nan)


_DATA_TYPES = {8: 10, 9: 8, 10: 9}
"""Element types by Triton's number, as code on the device has it, to that of the driver (``CUtensorMapDataType``); all
others have the same."""


class CopyLayout(NamedTuple):
    """How a tile lies in shared memory: the type of an element (``CUtensorMapDataType``), the box that one copy moves,
    and the swizzling (``CUtensorMapSwizzle``)."""

    element: int
    box: tuple[int, ...]
    swizzle: int

    @staticmethod
    def of(facts: Mapping[str, Any]) -> CopyLayout:
        """Return the layout that Triton's compiler names."""
        element = facts["elem_type"]
        return CopyLayout(_DATA_TYPES.get(element, element), tuple(facts["block_size"]), facts["swizzle"])


class TensorMap(NamedTuple):
    """What the driver encodes (``cuTensorMapEncodeTiled``): of the dimensions, the one without gaps comes first."""

    element: int
    address: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int
    pads_with_nan: bool
    size: int
    """Bytes of an element."""


def tensor_map(descriptor: DescriptorParameter, layout: CopyLayout, arguments: Arguments) -> TensorMap | None:
    """Return what a launch has the driver encode; None if the hardware has no descriptor of the tensor."""
    tensor = descriptor.tensor(arguments)
    if tensor is None:
        return None
    address, *several = tensor
    extents, strides, box = (tuple(reversed(numbers)) for numbers in (*several, layout.box))
    how = layout.swizzle, descriptor.pads_with_nan, descriptor.size
    return TensorMap(layout.element, address, extents, strides, box, *how)


def reach_of(described: TensorMap) -> int:
    """Return the bytes up to the first one of the last element of a tensor."""
    strides = described.size, *described.strides
    return 1 + sum((extent - 1) * stride for extent, stride in zip(described.extents, strides))
