"""Arguments of GPU launches, bound in the little time that a launch may take.

Knows: the two kinds of arguments that nearly all launches have, torch tensors and integers, by a short way. Does not
know: everything else about arguments and how a wrong one is reported (`arguments`), which the long way is for.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple, cast

from tileir.ir import types as t
from tileir.runtime.arguments import Argument, ArrayArgument, Binder, Parameter, binder
from tileir.runtime.arrays import CPU, Array, address_of_tensor


class Located(NamedTuple):
    """An address, and the device that it is on."""

    address: int
    place: str


Ready = Located | int
"""Result of the short way: an address, or a scalar as the unsigned number that has its bits."""


def gpu_binder(parameter: Parameter, devices: tuple[str, ...], target: str) -> Binder:
    """`arguments.binder` with the short way in front: what it gives may also be `Ready`."""
    usual = binder(parameter, devices, target)
    ty = t.checked_cast(parameter.type, t.TileType)
    if isinstance(ty.element, t.PointerType):
        return _tensor_binder(usual)
    return _integer_binder(usual, ty.element) if ty.element.is_int and ty.element.bits >= 8 else usual


def _tensor_binder(usual: Binder) -> Binder:
    """Tensors of an element type and a device that have been taken before are taken at once."""
    tensors: set[type] = set()
    taken: dict[tuple[Any, Any, Any], str] = {}

    def bind(value: Any) -> Argument | Ready:
        if type(value) in tensors:
            place = taken.get((value.dtype, value.device, value.layout))
            if place is not None and not value.is_neg() and (address := address_of_tensor(value)):
                return Located(address, place)
        argument = usual(value)
        if isinstance(argument, ArrayArgument) and hasattr(value, "is_neg"):
            tensors.add(type(value))
            taken[value.dtype, value.device, value.layout] = argument.array.device
        return argument

    return cast(Binder, bind)


def _integer_binder(usual: Binder, element: t.ElementType) -> Binder:
    mask = (1 << element.bits) - 1
    low = -(1 << element.bits - 1)

    def bind(value: object) -> Argument | Ready:
        return value & mask if type(value) is int and low <= value <= mask else usual(value)

    return cast(Binder, bind)


def gathered(arguments: Sequence[Argument | Ready]) -> tuple[list[int], list[str], dict[int, bytes]]:
    """The values of the parameters as unsigned numbers that have their bits; the devices that arrays are on, each as
    often as it follows another one; and, by position, the content of tables of addresses, which are not there yet."""
    values: list[int] = []
    place, places = "", []
    tables = {}
    for argument in arguments:
        if isinstance(argument, int):
            values.append(argument)
            continue
        if isinstance(argument, Located):
            value, found = argument
        else:
            value, found = argument.bits, _place(argument) or place
            if isinstance(argument, ArrayArgument) and argument.reaches:
                tables[len(values)] = _content(argument.array)
        values.append(value)
        if found is not place:
            place = found
            places.append(place)
    return values, places, tables


def _place(argument: Argument) -> str:
    """The device that an argument, or what its addresses lead to, is on; empty where there are no addresses."""
    if isinstance(argument, ArrayArgument):
        return argument.reaches[0].array.device if argument.reaches else argument.array.device
    return ""


def _content(array: Array) -> bytes:
    """The bytes of a table that a launch has made in the memory of this process."""
    assert array.device == CPU and array.contiguous
    return ctypes.string_at(array.address, array.itemsize * prod(array.shape))
