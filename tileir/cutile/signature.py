"""The arguments of a launch: their keys, and the arguments of the entry.

An array is passed as its pointer, its extents and its strides; a list as a table of arrays and its length; constants
are not passed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np

from tileir.cutile.arrays import (
    DIVISOR,
    ArrayClass,
    ArrayLayout,
    ArrayLayouts,
    compiles_for_one,
    is_known,
    shared,
)
from tileir.cutile.errors import Place, cutile_type_name, type_name, worded
from tileir.cutile.keys import ConstantKey, Key, ListKey, ScalarKey, TupleKey
from tileir.runtime.arguments import GONE, Argument, ArrayArgument, ScalarArgument, impossible
from tileir.runtime.arrays import CPU, Array, described, from_numpy, plain_memory

if TYPE_CHECKING:
    from cuda.tile import kernel as TileKernel
    from cuda.tile._annotated_function import LeafAnnotationNode, ParameterAnnotationNode


_NUMBERS = (bool, int, float)
_TOO_LARGE = "Python int too large to convert to C "


class OnGpu(Exception):
    """An array in the memory of a GPU that the target does not use: this launch is not for it."""


@dataclass
class Binding:
    """The arguments of one launch, made ready; `devices` are those whose memory the target uses."""

    devices: tuple[str, ...]
    arguments: list[Argument] = field(default_factory=list)
    spans: list[tuple[int, int, int]] = field(default_factory=list)
    """Begin, end and number of every array."""
    numbers: int = 0
    read_only: list[tuple[Place, int | None]] = field(default_factory=list)
    """Arrays that a kernel must not write: each with the position of its argument, None if it is in a list."""

    def add(self, array: ArrayArgument, scalars: tuple[ScalarArgument, ...], begin: int, end: int) -> None:
        """Pass an array, which reaches from `begin` to `end`, and the scalars after its pointer."""
        self.arguments += array, *scalars
        self.numbers += 1
        self.spans.append((begin, end, self.numbers))


class ParameterBinder(Protocol):
    """A parameter of a kernel, or an item of one that is a tuple."""

    def bind(self, value: object, binding: Binding) -> Key:
        """Add the entry's arguments for `value` to `binding`. Raises TypeError, ValueError, OverflowError, `OnGpu`."""


class LeafParameter:
    """A parameter whose annotation is not a tuple; a tuple it is given has that annotation in each item."""

    def __init__(self, place: Place, annotation: LeafAnnotationNode, for_one: bool) -> None:
        self._place = place
        self._for_one = for_one
        self._annotation = annotation
        self._items: dict[int, LeafParameter] = {}
        self._plain: dict[tuple[object, ...], ArrayLayout] = {}
        """Layouts of plain arrays that have been taken, by all that they depend on."""
        self._plain_lists: dict[tuple[object, ...], list[ArrayLayout]] = {}
        """The same for lists of such arrays."""
        self.bind: Callable[[object, Binding], Key] = self._constant if annotation.constant else self._value

    def _constant(self, value: object, binding: Binding) -> Key:
        if isinstance(value, _NUMBERS):
            return self._checked_constant(value)
        if type(value) is tuple:
            return self._tuple(value, binding)
        cutile = f"Could not interpret object of type '{cutile_type_name(value)}' as a constant."
        raise self._place.invalid("a constant: bool, int, float, or a tuple of them", value, cutile)

    def _checked_constant(self, value: bool | int | float) -> Key:
        if not isinstance(value, float) and not -(1 << 63) <= value < 1 << 64:
            limit = "can't convert negative value to unsigned int" if value < 0 else _TOO_LARGE + "unsigned long"
            raise self._place.error(OverflowError, "a constant in [-2^63, 2^64)", hex(value), limit)
        return _integer_constant(value) if isinstance(value, int) else ConstantKey.of(value)

    def _value(self, value: object, binding: Binding) -> Key:
        if isinstance(value, _NUMBERS):
            return self._scalar(value, binding)
        if isinstance(value, tuple):
            return self._tuple(value, binding)
        if isinstance(value, list):
            return self._list(value, binding)
        return self._array(value, binding)

    def _tuple(self, value: tuple, binding: Binding) -> Key:
        if type(value) is not tuple:
            cutile = f"'{cutile_type_name(value)}' is a subclass of 'tuple'. Only plain tuples are accepted."
            raise self._place.invalid("a plain tuple", value, cutile)
        return TupleKey(tuple(self._item(index).bind(item, binding) for index, item in enumerate(value)))

    def _item(self, index: int) -> LeafParameter:
        if index not in self._items:
            self._items[index] = LeafParameter(self._place.item(index), self._annotation, self._for_one)
        return self._items[index]

    # ------------------------------------------------------------ numbers

    def _scalar(self, value: bool | int | float, binding: Binding) -> Key:
        if type(value) not in _NUMBERS:  # code of its own may move an array that has been looked at
            value = int.__int__(value) if isinstance(value, int) else float.__float__(value)
        key, make = self._kind_of(value)
        try:
            with np.errstate(over="ignore"):
                number = make(value)
        except OverflowError:
            hint = "" if self._is_wide else " (ct.ScalarInt64 as its annotation makes it 64 bits wide)"
            expected, cutile = f"an integer that fits {key.dtype}{hint}", f"{_TOO_LARGE}{key.dtype}_t"
            raise self._place.error(OverflowError, expected, hex(value), cutile) from None  # type: ignore[arg-type]
        binding.arguments.append(ScalarArgument.of(self._place.path, number))
        return key

    def _kind_of(self, value: bool | int | float) -> tuple[ScalarKey, Callable[[Any], np.generic]]:
        if isinstance(value, bool):
            return _BOOL, np.bool_
        if isinstance(value, int):
            return (_INT64, np.int64) if self._is_wide else (_INT32, np.int32)
        return _FLOAT32, np.float32

    @cached_property
    def _is_wide(self) -> bool:
        scalar = getattr(self._annotation, "scalar", None)
        return scalar is not None and scalar.dtype.bitwidth == 64

    # ------------------------------------------------------------ arrays

    @cached_property
    def _layouts(self) -> ArrayLayouts:
        return ArrayLayouts(self._place, getattr(self._annotation, "array", None), self._for_one)

    @cached_property
    def _element_layouts(self) -> ArrayLayouts:
        annotation = getattr(self._annotation, "list", None)
        return ArrayLayouts(self._place, None if annotation is None else annotation.element, self._for_one)

    def _array(self, value: Any, binding: Binding) -> Key:
        """Return the key of an array; a second array in plain memory of one layout takes few steps."""
        plain = plain_memory(value) if CPU in binding.devices else None
        if plain is None:
            return self._any_array(value, binding).kind
        begin, end = plain
        looks = _looks(value, begin)
        layout = self._plain.get(looks)
        if layout is None:
            if len(self._plain) >= ArrayLayouts.LIMIT:
                self._plain.clear()
            layout = self._plain[looks] = self._any_array(value, binding)
        else:
            binding.add(_plain_argument(self._place.path, value, begin, end), layout.scalars, begin, end)
        return layout.kind

    def _any_array(self, value: object, binding: Binding) -> ArrayLayout:
        array = described(value, binding.devices)
        if array is None:
            cutile = f"Objects of type '{cutile_type_name(value)}' are not supported."
            raise self._place.invalid("a number, an array, or a tuple or list of arrays", value, cutile)
        self._check(array, binding.devices)
        layout = self._layouts.of(array)
        if not array.writable:
            binding.read_only.append((self._place, len(binding.arguments)))
        argument = ArrayArgument.of(self._place.path, array)
        binding.add(argument, layout.scalars, array.address, array.address + layout.reach)
        return layout

    def _check(self, array: Array, devices: tuple[str, ...]) -> None:
        if array.device not in devices and array.device.partition(":")[0] not in devices:
            self._complain_about_device(array, devices)
        if not is_known(array.dtype):
            expected = "an array of an element type that cuTile has"
            raise self._place.error(TypeError, expected, array.dtype_name, "Unsupported array dtype")
        if array.is_impossible:
            raise self._place.error(ValueError, *impossible(array))
        if array.is_gone:
            raise self._place.error(ValueError, *GONE)

    def _complain_about_device(self, array: Array, devices: tuple[str, ...]) -> NoReturn:
        if array.device != CPU:
            raise OnGpu(array.device)
        expected = f"an array in the memory of device {' or '.join(devices)}, which the target uses"
        raise self._place.error(ValueError, expected, f"one on device {CPU}")

    # ------------------------------------------------------------ lists

    def _list(self, value: list, binding: Binding) -> Key:
        """Return the key of a list; a second list of arrays in plain memory of the same layouts takes few steps."""
        plain = [plain_memory(item) if CPU in binding.devices else None for item in value]
        if not plain or None in plain:
            return self._pass_table(*self._any_list(value, binding), binding)
        items = [(item, *memory) for item, memory in zip(value, plain) if memory is not None]
        looks = tuple([_looks(item, begin) for item, begin, _ in items])
        layouts = self._plain_lists.get(looks)
        if layouts is None:
            if len(self._plain_lists) >= ArrayLayouts.LIMIT:
                self._plain_lists.clear()
            arguments, layouts = self._any_list(value, binding)
            self._plain_lists[looks] = layouts
        else:
            path = self._place.path
            arguments = [_plain_argument(f"{path}[{index}]", *item) for index, item in enumerate(items)]
        return self._pass_table(arguments, layouts, binding)

    def _any_list(self, value: list, binding: Binding) -> tuple[list[ArrayArgument], list[ArrayLayout]]:
        arrays = self._arrays_of(value, binding.devices)
        if not all(array.writable for array in arrays):
            binding.read_only.append((self._place, None))
        layouts, path = self._element_layouts.of_list(arrays), self._place.path
        return [ArrayArgument.of(f"{path}[{index}]", array) for index, array in enumerate(arrays)], layouts

    def _arrays_of(self, value: list, devices: tuple[str, ...]) -> list[Array]:
        """Return the items of a list, which are arrays of one rank and element type."""
        expected = "a list of at least one array, all of one rank and element type"
        if not value:
            cutile = "Empty lists are not supported as kernel arguments"
            raise self._place.error(TypeError, expected, "an empty list", cutile)
        arrays = [self._array_in_list(index, item, devices) for index, item in enumerate(value)]
        first = arrays[0]
        for array in arrays[1:]:
            got = f"a list with {_named(first)} and {_named(array)}"
            if array.dtype != first.dtype:
                raise self._place.error(TypeError, expected, got, "Arrays in list vary in data type")
            if len(array.shape) != len(first.shape):
                raise self._place.error(TypeError, expected, got, "Arrays in list vary in rank")
        return arrays

    def _array_in_list(self, index: int, item: object, devices: tuple[str, ...]) -> Array:
        known = (*_NUMBERS, list)
        array = None if isinstance(item, known) else described(item, devices)
        if array is None:
            name = cutile_type_name(item)
            cutile = f"Invalid list item #{index}: unsupported object type '{name}'"
            if isinstance(item, known):
                cutile = f"Expected list items to be arrays, got {name}"
            raise self._place.item(index).error(TypeError, "an array", name, cutile)
        self._check(array, devices)
        return array

    def _pass_table(
        self, arguments: Sequence[ArrayArgument], layouts: Sequence[ArrayLayout], binding: Binding
    ) -> ListKey:
        """Pass a list as a table with a row for each array: address, extents, strides, 64 bits each."""
        binding.numbers += 1
        both = list(zip(arguments, layouts))
        binding.spans += [(argument.bits, argument.bits + layout.reach, binding.numbers) for argument, layout in both]
        rows = [(argument.bits, *[scalar.bits for scalar in layout.scalars]) for argument, layout in both]
        path, table = self._place.path, from_numpy(np.array(rows, np.int64))
        binding.arguments.append(ArrayArgument.of(path, table, tuple(arguments)))
        binding.arguments.append(ScalarArgument.of(f"len({path})", np.int32(len(arguments))))
        return ListKey(_joined(layouts))


class TupleParameter:
    """A parameter annotated as a tuple of `count` items, or of any number; `make` gives the parameter of each."""

    def __init__(self, place: Place, count: int | None, make: Callable[[int], ParameterBinder]) -> None:
        self._place, self._count, self._make = place, count, make
        self._items: dict[int, ParameterBinder] = {}

    def bind(self, value: object, binding: Binding) -> Key:
        if type(value) is not tuple:
            cutile = "Received a non-tuple argument for a parameter annotated as a tuple"
            raise self._place.error(TypeError, "a tuple, as it is annotated", type_name(value), cutile)
        wanted, got = self._count, len(value)
        if wanted is not None and wanted != got:
            cutile = f"Received a tuple of length {got} for a parameter annotated as a tuple of length {wanted}"
            raise self._place.error(TypeError, f"a tuple of {wanted} items", f"one of {got}", cutile)
        return TupleKey(tuple(self._item(index).bind(item, binding) for index, item in enumerate(value)))

    def _item(self, index: int) -> ParameterBinder:
        if index not in self._items:
            self._items[index] = self._make(index)
        return self._items[index]


class KernelParameters:
    """The parameters of a kernel."""

    def __init__(self, kernel: TileKernel, devices: tuple[str, ...], for_one: bool | None = None) -> None:
        """``devices`` are those whose memory the target uses; `for_one`: kernels are compiled for extents of 1.

        By default they are where the library's launch compiles for them.
        """
        for_one = compiles_for_one() if for_one is None else for_one
        self._devices = devices
        function = kernel._annotated_function
        self.kernel = function.pyfunc.__name__
        names = function.pysig.parameters
        places = [Place(self.kernel, name, f"kernel argument #{index}") for index, name in enumerate(names)]
        annotated = zip(places, function.parameter_annotations)
        self._parameters = [_parameter(place, node, for_one) for place, node in annotated]

    def bind(self, arguments: Sequence[object]) -> tuple[tuple, Binding]:
        """Return the key of a launch, whole, and its arguments. Raises TypeError, ValueError, OverflowError,
        `OnGpu`."""
        if len(arguments) != len(self._parameters):
            self._complain_about_number(len(arguments))
        binding = Binding(self._devices)
        keys = tuple([parameter.bind(value, binding) for parameter, value in zip(self._parameters, arguments)])
        return (keys, shared(binding.spans)), binding

    def _complain_about_number(self, got: int) -> NoReturn:
        count = len(self._parameters)
        cutile = f"Kernel expects {count} argument{'' if count == 1 else 's'}"
        cutile += f" but {got} {'was' if got == 1 else 'were'} given"
        raise worded(TypeError, cutile, f"kernel '{self.kernel}'; cuTile has no default values at launch")


def _parameter(place: Place, node: ParameterAnnotationNode, for_one: bool) -> ParameterBinder:
    """Return a parameter by the kind of its annotation, which the library names."""
    kind = node.KIND
    if kind == "homogeneous_tuple":
        return TupleParameter(place, None, lambda index: _parameter(place.item(index), node.each, for_one))
    if kind == "heterogeneous_tuple":
        items = node.items
        return TupleParameter(place, len(items), lambda index: _parameter(place.item(index), items[index], for_one))
    return LeafParameter(place, node, for_one)


def _looks(value: Any, begin: int) -> tuple[object, ...]:
    """Return all that the layout of a plain array that begins at an address depends on."""
    strides = value.strides if type(value) is np.ndarray else value.stride()
    return value.dtype, value.shape, strides, begin % DIVISOR == 0


def _plain_argument(name: str, value: object, begin: int, end: int) -> ArrayArgument:
    return tuple.__new__(ArrayArgument, (name, begin, (begin, end, end, end), CPU, value, ()))


def _joined(layouts: Sequence[ArrayLayout]) -> ArrayClass:
    kind = layouts[0].kind
    for layout in layouts[1:]:
        if layout.kind is not kind:
            kind = kind.joined(layout.kind)
    return kind


def _named(array: Array) -> str:
    return f"{array.dtype_name} of rank {len(array.shape)}"


@lru_cache(maxsize=256, typed=True)
def _integer_constant(value: int) -> ConstantKey:
    return ConstantKey.of(value)


_BOOL, _INT32, _INT64, _FLOAT32 = ScalarKey("bool_"), ScalarKey("int32"), ScalarKey("int64"), ScalarKey("float32")
