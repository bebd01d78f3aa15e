"""The arguments of a launch: what a kernel is compiled for, and what its entry is given.

Knows: which Python values `ct.launch` takes for which annotation, the order of an entry's parameters (an array is its
pointer, its extents and its strides; a list is a table of arrays and its length; constants are not passed), and the
calling convention that a signature needs.
Does not know: what is measured on an array (`arrays`), nor how a kernel is compiled (`export`).

Binding a value gives a key. Keys of one parameter are equal exactly when the kernel can be used again, and a key is
enough to make the library's constraint.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, cast

import numpy as np

from tileir.cutile.arrays import ArrayClass, IndexOverflow, Layout, Layouts, NegativeStride, is_known, shared
from tileir.cutile.errors import Place
from tileir.runtime.arguments import Argument, ArrayArgument, ScalarArgument
from tileir.runtime.arrays import CPU, Array, described, from_numpy

if TYPE_CHECKING:
    from cuda.tile import kernel as TileKernel
    from cuda.tile._annotated_function import LeafAnnotationNode, ParameterAnnotationNode
    from cuda.tile.compilation import KernelSignature


_NUMBERS = (bool, int, float)


class OnGpu(Exception):
    """An array in the memory of a GPU that the target does not use: this launch is not for it."""


class Key(Protocol):
    """What a kernel is compiled for in one argument."""

    def constraint(self, shared: frozenset[int]) -> Any:
        """The library's constraint; `shared` are the numbers of the arrays whose memory is shared."""


@dataclass(frozen=True)
class ConstantKey:
    """A value that is part of the kernel. 1, True and 1.0 are three values, 0.0 and -0.0 are two, and NaN is one."""

    type: type
    bits: int | bytes
    value: bool | int | float = field(compare=False)

    @staticmethod
    def of(value: bool | int | float) -> ConstantKey:
        if isinstance(value, float):
            return ConstantKey(float, struct.pack("=d", value), float(value))
        kind = bool if isinstance(value, bool) else int
        return ConstantKey(kind, int(value), kind(value))

    def constraint(self, shared: frozenset[int]) -> Any:
        from cuda.tile.compilation import ConstantConstraint

        return ConstantConstraint(self.value)


@dataclass(frozen=True)
class ScalarKey:
    """A number that is passed; `dtype` is the library's name of its type."""

    dtype: str

    def constraint(self, shared: frozenset[int]) -> Any:
        import cuda.tile as ct
        from cuda.tile.compilation import ScalarConstraint

        return ScalarConstraint(getattr(ct, self.dtype))


@dataclass(frozen=True)
class ArrayKey:
    """An array; `number` counts arrays and lists of a launch."""

    kind: ArrayClass
    number: int

    def constraint(self, shared: frozenset[int]) -> Any:
        return self.kind.constraint(self.number in shared)


@dataclass(frozen=True)
class ListKey:
    """A list of arrays that have `kind` in common. Its table is ours alone; its elements may be one array twice."""

    kind: ArrayClass
    number: int

    def constraint(self, shared: frozenset[int]) -> Any:
        from cuda.tile.compilation import ListConstraint

        element = self.kind.constraint(self.number in shared)
        return ListConstraint(element, alias_groups=(), elements_may_alias=True)


@dataclass(frozen=True)
class TupleKey:
    items: tuple[Key, ...]

    def constraint(self, shared: frozenset[int]) -> Any:
        from cuda.tile.compilation import TupleConstraint

        return TupleConstraint([item.constraint(shared) for item in self.items])


@dataclass
class Binding:
    """What becomes of the arguments of one launch; `devices` are those whose memory the target uses."""

    devices: tuple[str, ...]
    arguments: list[Argument] = field(default_factory=list)
    spans: list[tuple[int, int, int]] = field(default_factory=list)
    """Begin, end and number of every array."""
    numbers: int = 0

    def number(self) -> int:
        self.numbers += 1
        return self.numbers


class Parameter(Protocol):
    """A parameter of a kernel, or an item of one that is a tuple."""

    def bind(self, value: object, binding: Binding) -> Key:
        """Add the entry's arguments for `value` to `binding`. Raises TypeError, ValueError, OverflowError, `OnGpu`."""


class LeafParameter:
    """A parameter whose annotation is not a tuple; a tuple it is given has that annotation in each item."""

    def __init__(self, place: Place, annotation: LeafAnnotationNode) -> None:
        self._place = place
        self._annotation = annotation
        self._items: dict[int, LeafParameter] = {}
        self._array_keys: dict[tuple[int, int], ArrayKey] = {}
        self.bind: Callable[[object, Binding], Key] = self._constant if annotation.constant else self._value

    def _constant(self, value: object, binding: Binding) -> Key:
        if isinstance(value, _NUMBERS):
            return ConstantKey.of(value)
        if isinstance(value, tuple):
            return self._tuple(value, binding)
        raise self._place.type_error("a constant: bool, int, float, or a tuple of them", value)

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
            raise self._place.type_error("a plain tuple", value)
        return TupleKey(tuple(self._item(index).bind(item, binding) for index, item in enumerate(value)))

    def _item(self, index: int) -> LeafParameter:
        if index not in self._items:
            self._items[index] = LeafParameter(self._place.item(index), self._annotation)
        return self._items[index]

    # ------------------------------------------------------------ numbers

    def _scalar(self, value: bool | int | float, binding: Binding) -> Key:
        key, make = self._kind_of(value)
        try:
            number = make(value)
        except OverflowError:
            hint = "" if self._is_wide else " (ct.ScalarInt64 as its annotation makes it 64 bits wide)"
            raise self._place.error(OverflowError, f"an integer that fits {key.dtype}{hint}", str(value)) from None
        binding.arguments.append(ScalarArgument(self._place.path, number))
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
    def _layouts(self) -> Layouts:
        return Layouts(self._place.path, getattr(self._annotation, "array", None))

    @cached_property
    def _element_layouts(self) -> Layouts:
        annotation = getattr(self._annotation, "list", None)
        return Layouts(self._place.path, None if annotation is None else annotation.element)

    def _array(self, value: object, binding: Binding) -> Key:
        array = self._described(value, binding.devices)
        layout = self._layout(array, self._layouts)
        number = binding.number()
        binding.arguments.append(ArrayArgument(self._place.path, array))
        binding.arguments += layout.scalars
        binding.spans.append((array.address, array.address + layout.reach, number))
        return self._array_key(layout.kind, number)

    def _array_key(self, kind: ArrayClass, number: int) -> ArrayKey:
        """One key for one kind, found again by identity: `Layouts` keeps the kinds."""
        key = self._array_keys.get((id(kind), number))
        if key is None:
            key = self._array_keys[id(kind), number] = ArrayKey(kind, number)
        return key

    def _described(self, value: object, devices: tuple[str, ...]) -> Array:
        array = described(value, devices)
        if array is None:
            raise self._place.type_error("a number, an array, or a tuple or list of arrays", value)
        if array.device not in devices and array.device.partition(":")[0] not in devices:
            self._complain_about_device(array, devices)
        if not is_known(array.dtype):
            raise self._place.error(TypeError, "an array of an element type that cuTile has", array.dtype_name)
        if not array.writable:
            raise self._place.error(ValueError, "a writable array", "a read-only one (pass a copy of it)")
        return array

    def _complain_about_device(self, array: Array, devices: tuple[str, ...]) -> NoReturn:
        if array.device != CPU:
            raise OnGpu(array.device)
        expected = f"an array in the memory of device {' or '.join(devices)}, which the target uses"
        raise self._place.error(ValueError, expected, f"one on device {CPU}")

    def _layout(self, array: Array, layouts: Layouts) -> Layout:
        try:
            return layouts.of(array)
        except NegativeStride:
            raise self._place.error(
                ValueError, "an array without negative strides", f"strides of {array.strides} bytes"
            ) from None
        except IndexOverflow:
            expected = "extents and strides that fit int32 (ct.IndexedWithInt64 as its annotation allows more)"
            got = f"shape {array.shape} with strides of {array.strides} bytes"
            raise self._place.error(OverflowError, expected, got) from None

    # ------------------------------------------------------------ lists

    def _list(self, value: list, binding: Binding) -> Key:
        """A list is passed as a table with a row for each array: address, extents, strides, 64 bits each."""
        if not value:
            raise self._place.error(TypeError, "a list of at least one array", "an empty list")
        arrays = [self._described(item, binding.devices) for item in value]
        self._require_alike(arrays)
        layouts = [self._layout(array, self._element_layouts) for array in arrays]
        number = binding.number()
        spans = zip(arrays, layouts)
        binding.spans += [(array.address, array.address + layout.reach, number) for array, layout in spans]
        self._pass_table(arrays, layouts, binding)
        return ListKey(_joined(layouts), number)

    def _require_alike(self, arrays: Sequence[Array]) -> None:
        first = arrays[0]
        for array in arrays[1:]:
            if len(array.shape) != len(first.shape) or array.dtype != first.dtype:
                expected = f"arrays of one rank and element type ({len(first.shape)}, {first.dtype_name})"
                raise self._place.error(TypeError, expected, f"one of {len(array.shape)}, {array.dtype_name}")

    def _pass_table(self, arrays: Sequence[Array], layouts: Sequence[Layout], binding: Binding) -> None:
        rows = [
            (array.address, *(int(scalar.value) for scalar in layout.scalars)) for array, layout in zip(arrays, layouts)
        ]
        path = self._place.path
        elements = tuple(ArrayArgument(f"{path}[{index}]", array) for index, array in enumerate(arrays))
        table = from_numpy(np.array(rows, np.int64))
        binding.arguments.append(ArrayArgument(path, table, elements))
        binding.arguments.append(ScalarArgument(f"len({path})", np.int32(len(arrays))))


class TupleParameter:
    """A parameter annotated as a tuple: `items` for each item, or one that stands for any number of them."""

    def __init__(self, place: Place, items: Sequence[Parameter] | None, each: Callable[[int], Parameter]) -> None:
        self._place = place
        self._items = items
        self._each = each
        self._made: dict[int, Parameter] = {}

    def bind(self, value: object, binding: Binding) -> Key:
        if type(value) is not tuple:
            raise self._place.type_error("a tuple, as it is annotated", value)
        if self._items is not None and len(value) != len(self._items):
            raise self._place.error(TypeError, f"a tuple of {len(self._items)} items", f"one of {len(value)}")
        return TupleKey(tuple(self._item(index).bind(item, binding) for index, item in enumerate(value)))

    def _item(self, index: int) -> Parameter:
        if self._items is not None:
            return self._items[index]
        if index not in self._made:
            self._made[index] = self._each(index)
        return self._made[index]


class Parameters:
    """All parameters of a kernel."""

    def __init__(self, kernel: TileKernel, devices: tuple[str, ...]) -> None:
        """``devices`` are those whose memory the target uses."""
        self._devices = devices
        function = kernel._annotated_function
        self.kernel = function.pyfunc.__name__
        places = [Place(self.kernel, name) for name in function.pysig.parameters]
        self._parameters = [_parameter(place, node) for place, node in zip(places, function.parameter_annotations)]

    def bind(self, arguments: Sequence[object]) -> tuple[tuple, Binding]:
        """The key of a launch, whole, and its arguments. Raises TypeError, ValueError, OverflowError, `OnGpu`."""
        if len(arguments) != len(self._parameters):
            self._complain_about_number(len(arguments))
        binding = Binding(self._devices)
        keys = tuple([parameter.bind(value, binding) for parameter, value in zip(self._parameters, arguments)])
        return (keys, shared(binding.spans)), binding

    def _complain_about_number(self, got: int) -> NoReturn:
        count = len(self._parameters)
        raise TypeError(
            f"kernel '{self.kernel}': expected {count} argument{'' if count == 1 else 's'}, got {got}"
            " (cuTile has no default values at launch)"
        )


def signature(key: tuple, symbol: str) -> KernelSignature:
    """The library's signature for the key of a launch, in the oldest calling convention that has all it needs."""
    from cuda.tile.compilation import CallingConvention, KernelSignature

    keys, shared_arrays = cast("tuple[tuple[Key, ...], frozenset[int]]", key)
    constraints = [item.constraint(shared_arrays) for item in keys]
    try:
        return KernelSignature(constraints, CallingConvention.cutile_python_v1(), symbol)
    except ValueError:
        return KernelSignature(constraints, CallingConvention.cutile_python_v2(), symbol)


def _parameter(place: Place, node: ParameterAnnotationNode) -> Parameter:
    """A parameter by the kind of its annotation, which the library names."""
    kind = node.KIND
    if kind == "homogeneous_tuple":
        return TupleParameter(place, None, lambda index: _parameter(place.item(index), node.each))
    if kind == "heterogeneous_tuple":
        items = [_parameter(place.item(index), item) for index, item in enumerate(node.items)]
        return TupleParameter(place, items, lambda index: items[index])
    return LeafParameter(place, node)


def _joined(layouts: Sequence[Layout]) -> ArrayClass:
    kind = layouts[0].kind
    for layout in layouts[1:]:
        if layout.kind is not kind:
            kind = kind.joined(layout.kind)
    return kind


_BOOL, _INT32, _INT64, _FLOAT32 = ScalarKey("bool_"), ScalarKey("int32"), ScalarKey("int64"), ScalarKey("float32")
