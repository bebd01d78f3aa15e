"""Descriptors of tensors: tiles copied by the tensor memory accelerator (sm_90 and later).

Bounds, padding, and the hardware's demands on address, strides and tile are checked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.ttir_machine.frame import Frame
from tests.ttir_machine.values import Array, Lanes, MachineFault, dtype_of, signed
from tileir.gpu.ttir.ir.code import Instruction

_ALIGNMENT = 16
"""Of the address and of all strides but the last, in bytes; and the fewest bytes in the last axis of a tile."""
_NAN = 2
_MAX_EXTENT = 256
"""Of a tile along one axis, for one copy; longer ones are cut up by the compiler."""


@dataclass(frozen=True)
class Descriptor:
    """A tensor in memory: extents in elements, strides in bytes."""

    address: int
    element: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    pads_with_nan: bool


def _make(frame: Frame, instruction: Instruction, base: Lanes, *rest: Lanes) -> Lanes:
    numbers = [int(signed(x.required("a field of a descriptor"))) for x in rest]
    rank = len(numbers) // 2
    element = instruction.operands[0].type.pointee
    size = dtype_of(element).itemsize
    strides = tuple(number * size for number in numbers[rank:])
    descriptor = Descriptor(
        int(base.required("the address of a descriptor")),
        element,
        tuple(numbers[:rank]),
        strides,
        instruction.attributes.get("padding") == _NAN,
    )
    return lanes_of(checked(descriptor, instruction.result_types[0].element))


def lanes_of(descriptor: Descriptor) -> Lanes:
    found: Array = np.empty((), object)
    found[()] = descriptor
    return Lanes(found)


def _described(lanes: Lanes) -> Descriptor:
    found = lanes.data.item()
    assert isinstance(found, Descriptor)
    return found


def checked(descriptor: Descriptor, type: str) -> Descriptor:
    """The descriptor, if the hardware has it as that type. Raises MachineFault."""
    tile = [int(extent) for extent in type.removeprefix("!tt.tensordesc<").split("x")[:-1]]
    size = dtype_of(descriptor.element).itemsize
    checks = {
        "at most 5 axes": 1 <= len(tile) <= 5,
        "an address that is a multiple of 16": descriptor.address % _ALIGNMENT == 0,
        "strides that are multiples of 16 bytes": all(
            stride > 0 and stride % _ALIGNMENT == 0 and stride < 1 << 40 for stride in descriptor.strides[:-1]
        ),
        "a last axis without gaps": descriptor.strides[-1] == size,
        "at least 16 bytes in the last axis of a tile": tile[-1] * size >= _ALIGNMENT,
        "extents from 1 to 2^32": all(1 <= extent <= 1 << 32 for extent in descriptor.shape),
    }
    for what, holds in checks.items():
        if not holds:
            raise MachineFault(f"a descriptor wants {what}: {descriptor} as {type}")
    return descriptor


def _places(descriptor: Descriptor, tile: tuple[int, ...], offsets: tuple[Lanes, ...]) -> tuple[Array, Array]:
    """The address of each element of a tile, and whether it lies in the tensor."""
    addresses: Array = np.full(tile, descriptor.address, np.int64)
    inside: Array = np.ones(tile, np.bool_)
    for axis, offset in enumerate(offsets):
        line = np.arange(tile[axis]) + int(signed(offset.required("the place of a tile")))
        line = line.reshape([-1 if other == axis else 1 for other in range(len(tile))])
        inside = inside & (line >= 0) & (line < descriptor.shape[axis])
        addresses = addresses + line * descriptor.strides[axis]
    return addresses.astype(np.uint64), inside


def _load(frame: Frame, instruction: Instruction, source: Lanes, *offsets: Lanes) -> Lanes:
    """Elements outside are zero, or NaN."""
    descriptor = _described(source)
    type = instruction.result_types[0]
    tile = (1,) * (len(offsets) - len(type.shape)) + type.shape
    addresses, inside = _places(descriptor, tile, offsets)
    dtype = dtype_of(type.element)
    values = np.full(tile, np.nan).astype(dtype) if descriptor.pads_with_nan else np.zeros(tile, dtype)
    values[inside] = frame.memory.load(addresses[inside], type.element)
    return Lanes(values.reshape(type.shape))


def _store(frame: Frame, instruction: Instruction, target: Lanes, value: Lanes, *offsets: Lanes) -> list[Lanes]:
    descriptor = _described(target)
    tile = value.required("a stored tile")
    tile = tile.reshape((1,) * (len(offsets) - tile.ndim) + tile.shape)
    addresses, inside = _places(descriptor, tile.shape, offsets)
    frame.memory.store(addresses[inside], tile[inside], descriptor.element)
    return []


RULES = {"tt.make_tensor_descriptor": _make, "tt.descriptor_load": _load, "tt.descriptor_store": _store}
