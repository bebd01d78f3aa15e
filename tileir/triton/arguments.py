"""Arguments as Triton gives them to a launch: constants that are compiled in, tuples, descriptors, tensors, numbers."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from tileir.ir import types as t
from tileir.ir.escaping import shown, type_name
from tileir.ir.storage import DTYPES
from tileir.ops.conversion import IntToPtr
from tileir.runtime.arguments import (
    GONE,
    LOWEST,
    NEGATED,
    Argument,
    ArrayArgument,
    Pointer,
    PointerArgument,
    ScalarArgument,
    joint_binder,
    unusable,
)
from tileir.runtime.arrays import CPU, Array, described
from tileir.runtime.memory import Mapping as MemoryMapping
from tileir.runtime.memory import mapping_at
from tileir.runtime.module import Kernel

Signature = Any
"""A type in Triton's words, such as ``*fp32``, or a tuple of these."""
Bind = Callable[[Any], Argument]
Error = TypeVar("Error", TypeError, ValueError)
CONSTEXPR, DESCRIPTOR = "constexpr", "tensordesc"
MOST_ADDRESSES = 1 << 12
"""Elements of a tensor that are looked at for addresses."""
_new = tuple.__new__
"""Makes a named tuple in half the time, as in `runtime.arguments`."""


class KernelArguments:
    """Makes the arguments of a Tile IR kernel of those that Triton gives, which have these types by name."""

    def __init__(self, kernel: Kernel, signature: Mapping[Any, Signature]) -> None:
        self._signature = [(str(name), kind) for name, kind in signature.items()]
        self._passed = [index for index, (_, kind) in enumerate(self._signature) if kind != CONSTEXPR]
        names = [name for index in self._passed for name in _names(*self._signature[index])]
        give_names(kernel, names)
        parameters = kernel.parameters
        assert len(names) == len(parameters), "the importer makes a parameter for each"
        binders = [_binder(kernel.name, name, one.type) for name, one in zip(names, parameters)]
        reaches = any(isinstance(op, IntToPtr) for op in kernel.entry.walk())
        if reaches:
            binders = [_reaching(bind) if _points_to_i64(one.type) else bind for bind, one in zip(binders, parameters)]
        self._bind = joint_binder(parameters, binders)
        self._single = all(isinstance(kind, str) and not kind.startswith(DESCRIPTOR) for _, kind in self._signature)
        self.are_plain = self._single and not reaches
        """True if each is one value, and lends no memory but its own."""

    def passed(self, arguments: Sequence[object]) -> tuple[object, ...]:
        """Return the arguments that are no constants."""
        return tuple([arguments[index] for index in self._passed])

    def bind_passed(self, values: Sequence[object]) -> list[Argument]:
        """Bind the arguments that are no constants. Raises TypeError or ValueError naming kernel and argument."""
        if not self._single:
            kinds = [self._signature[index][1] for index in self._passed]
            values = [part for kind, value in zip(kinds, values) for part in _values(kind, value)]
        return self._bind(values)


def give_names(kernel: Kernel, names: Sequence[str]) -> None:
    """Name the parameters of a kernel that was read from bytecode, which keeps no names."""
    if not kernel.entry.body.arg_names:
        kernel.entry.body.arg_names = tuple(f"%{name}" for name in names)


def _names(name: str, kind: Signature) -> Iterator[str]:
    """Yield the name of each parameter that an argument becomes."""
    if isinstance(kind, tuple):
        for index, part in enumerate(kind):
            yield from _names(f"{name}[{index}]", part)
    elif kind.startswith(DESCRIPTOR):
        rank = _rank(kind)
        yield f"{name}.base"
        yield from (f"{name}.{word}[{axis}]" for word in ("shape", "strides") for axis in range(rank))
    elif kind != CONSTEXPR:
        yield name


def _rank(kind: str) -> int:
    """Return the rank of a descriptor: ``tensordesc<fp16[64, 32]>``."""
    return kind.partition("[")[2].partition("]")[0].count(",") + 1


def _values(kind: Signature, value: Any) -> Iterator[object]:
    """Yield the values that an argument becomes."""
    if isinstance(kind, tuple):
        for part, one in zip(kind, value):
            yield from _values(part, one)
    elif kind.startswith(DESCRIPTOR):
        if value.padding != "zero":
            raise ValueError("a tensor descriptor of the host: expected padding 'zero', got 'nan'")
        yield from (value.base, *value.shape, *value.strides)
    elif kind != CONSTEXPR:
        yield value


# ---------------------------------------------------------------- one argument


def _binder(kernel: str, name: str, type: t.Type) -> Bind:
    element = t.checked_cast(type, t.TileType).element
    if isinstance(element, t.PointerType):
        return _pointer_binder(kernel, name)
    return _float_binder(kernel, name, element) if element.is_float else _integer_binder(kernel, name, element)


def _fault(kind: type[Error], kernel: str, name: str, expected: str, got: str) -> Error:
    return kind(f"kernel '{shown(kernel)}', argument '{name}': expected {expected}, got {got}")


class HostArray:
    """An array of NumPy, or of any library that lends its memory, as an argument that Triton takes.

    Raises TypeError for what lends no memory of this process, ValueError for memory that cannot be used.
    """

    def __init__(self, value: object) -> None:
        array = described(value)
        if array is None or array.device != CPU or array.dtype is None:
            raise TypeError(f"expected an array in the memory of this process, got {type_name(value)}")
        wrong = unusable(array)
        if wrong is not None:
            raise ValueError("expected {}, got {}".format(*wrong))
        self.array = array
        self.dtype = array.dtype
        self.shape = array.shape

    def data_ptr(self) -> int:
        return self.array.address

    def stride(self) -> tuple[int, ...]:
        return self.array.steps


def _pointer_binder(kernel: str, name: str) -> Bind:
    def bind(value: Any) -> Argument:
        """Bind a tensor, which may be used as far as its storage reaches: kernels step from one to its neighbour
        there."""
        try:
            storage, on_cpu, negated = value.untyped_storage(), value.is_cpu, value.is_neg()
        except AttributeError:
            return _other_pointer(kernel, name, value)
        if not on_cpu:
            raise _fault(ValueError, kernel, name, "a tensor on the CPU", f"one on {value.device}")
        if negated:
            raise _fault(ValueError, kernel, name, "a tensor as it lies in memory", NEGATED)
        address, begin = value.data_ptr(), storage.data_ptr()
        end = begin + storage.nbytes()
        if address >= end and value.numel():
            raise _fault(ValueError, kernel, name, *GONE)
        return _new(ArrayArgument, (name, address, (begin, end, end, end), CPU, value, ()))

    return bind


def _other_pointer(kernel: str, name: str, value: Any) -> Argument:
    """Return an array that is wrapped, a tensor that Triton has wrapped to read its memory as another type, an
    address."""
    if isinstance(value, HostArray):
        return ArrayArgument.of(name, value.array)
    base = getattr(value, "base", None)
    if hasattr(base, "untyped_storage"):
        return _pointer_binder(kernel, name)(base)
    if isinstance(value, int):
        return PointerArgument.of(name, Pointer(value))
    raise _fault(TypeError, kernel, name, "a tensor", type_name(value))


def _points_to_i64(type: t.Type) -> bool:
    element = t.checked_cast(type, t.TileType).element
    return isinstance(element, t.PointerType) and element.pointee is t.I64


def _reaching(bind: Bind) -> Bind:
    """Return a binder for a tensor that may hold addresses, as the kernel makes pointers of integers: it may use the
    mapped memory they lie in."""

    def bind_with_memory(value: Any) -> Argument:
        argument = bind(value)
        if not isinstance(argument, ArrayArgument):
            return argument
        begin, readable, _, _ = argument.bounds
        count = min((readable - begin) // 8, MOST_ADDRESSES)
        found: list[MemoryMapping] = []
        for address in list((ctypes.c_uint64 * count).from_address(begin)):
            if address >= LOWEST and not any(one.start <= address < one.end for one in found):
                mapping = mapping_at(address)
                found += [] if mapping is None else [mapping]
        return argument._replace(reaches=tuple(map(_lent, found)))

    return bind_with_memory


def _lent(mapping: MemoryMapping) -> ArrayArgument:
    size = mapping.end - mapping.start
    byte = np.dtype(np.uint8)
    whole = Array(mapping.start, (size,), (1,), 1, byte, None, mapping.writable, CPU, True, None)
    return ArrayArgument.of("memory at an address that a tensor holds", whole)


def _integer_binder(kernel: str, name: str, element: t.ElementType) -> Bind:
    mask, dtype = (1 << element.bits) - 1, DTYPES[element]

    def bind(value: Any) -> Argument:
        """Return the low bits of an integer, as C takes it."""
        try:
            bits = operator.index(value) & mask
        except TypeError:
            raise _fault(TypeError, kernel, name, "an integer", type_name(value)) from None
        return _new(ScalarArgument, (name, bits, dtype, ()))

    return bind


def _float_binder(kernel: str, name: str, element: t.ElementType) -> Bind:
    number = DTYPES[element].type

    def bind(value: Any) -> Argument:
        """Return a number rounded to the parameter's type; what is too large becomes infinite, as in C."""
        try:
            with np.errstate(over="ignore"):
                return ScalarArgument.of(name, number(value))
        except (TypeError, ValueError):
            raise _fault(TypeError, kernel, name, "a number", type_name(value)) from None

    return bind
