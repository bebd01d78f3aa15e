"""Conversion of launch arguments to kernel parameters, with errors that name kernel and parameter."""

from __future__ import annotations

import math
import operator
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, SupportsFloat, cast

import ml_dtypes
import numpy as np

from tileir.analysis.provenance import Writes
from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.ir.diagnostics import place_text
from tileir.ir.escaping import shown
from tileir.ir.storage import DTYPES
from tileir.numerics.formats import encoded
from tileir.runtime.arrays import (
    CPU,
    HIGHEST,
    TORCH_DTYPES,
    Array,
    address_of_tensor,
    described,
    plain_memory,
    plain_types,
)

LOWEST = 1 << 12
"""No address below it is memory of a process: null pointers and what is computed from them lie there."""


@dataclass(frozen=True)
class Pointer:
    """An address to be passed to a ``tile<ptr<E>>`` parameter as it is, of whatever element type.

    The caller vouches for the memory behind it.

    Attributes
    ----------
    address : int
        The address in bytes, an unsigned 64-bit number.
    size : int or None
        How many bytes a kernel may use there, which a checking target holds it to. Without a size it may use what lies
        in the arrays of the same launch, or else, if the address is in none of them, everything from the address to the
        end of the mapped memory it lies in.
    owner : object
        Anything that must stay alive as long as the pointer.

    Raises
    ------
    TypeError
        For an address that is no integer.
    ValueError
        For an address outside 64 bits, or a negative size.
    """

    __module__ = "tileir"

    address: int
    size: int | None = None
    owner: object = None

    def __post_init__(self) -> None:
        for name in ("address", "size"):
            value = getattr(self, name)
            if name == "size" and value is None:
                continue
            if not hasattr(value, "__index__"):
                raise TypeError(f"{name}: expected an integer, got {type(value).__name__}")
            object.__setattr__(self, name, operator.index(value))
        if not 0 <= self.address < 1 << 64:
            raise ValueError(f"address: expected an unsigned 64-bit integer, got {self.address}")
        if self.size is not None and not 0 <= self.size <= (1 << 64) - self.address:
            raise ValueError(f"size: expected bytes that end below 2^64, got {self.size}")


def may_be_memory(pointer: Pointer) -> bool:
    """Return whether there can be memory of the stated size at an address."""
    return pointer.address >= LOWEST and pointer.address + (pointer.size or 0) < HIGHEST


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel. `name` is the one in the text, or ``argN``."""

    kernel: str
    index: int
    name: str
    type: t.Type
    writes: Callable[[], Writes] = field(default=lambda: Writes((), None), compare=False, repr=False)
    """The parameters that its kernel writes."""

    @property
    def pointee(self) -> t.ElementType | None:
        """The element type that a pointer points to; None for other parameters."""
        element = self.type.element if isinstance(self.type, t.TileType) else None
        return element.pointee if isinstance(element, t.PointerType) else None

    @property
    def element(self) -> t.ElementType | None:
        """The element type of a number, or of what a pointer points to; None for what no launch can pass."""
        element = self.type.element if isinstance(self.type, t.TileType) else None
        return element.pointee if isinstance(element, t.PointerType) else element

    @property
    def text(self) -> str:
        """The parameter as signatures show it: ``x: tile<ptr<f32>>``."""
        return f"{shown(self.name)}: {self.type!r}"

    def type_error(self, expected: str, got: str) -> TypeError:
        return TypeError(self._text(expected, got))

    def value_error(self, expected: str, got: str) -> ValueError:
        return ValueError(self._text(expected, got))

    def _text(self, expected: str, got: str) -> str:
        place = f"kernel @{shown(self.kernel)}, parameter {self.index} '{shown(self.name)}' ({self.type!r})"
        return f"{place}: expected {expected}, got {got}"


Bounds = tuple[int, int, int, int]
"""The first address of a memory, the end of what may be read, the end of what may be written, the end of all of it."""
_EVERYWHERE = (1 << 64) - 1


class ArrayArgument(NamedTuple):
    """An array for a pointer parameter.

    `bits` is its address, as an unsigned number; `value` the array as it was given, or an `Array`; `reaches` are arrays
    whose addresses it holds, for a kernel that loads pointers. `bounds` may be empty in memory of a GPU.
    """

    name: str
    bits: int
    bounds: Bounds
    device: str
    value: object
    reaches: tuple[ArrayArgument, ...] = ()

    @staticmethod
    def of(name: str, array: Array, reaches: tuple[ArrayArgument, ...] = ()) -> ArrayArgument:
        return ArrayArgument(name, array.address, array.bounds, array.device, array, reaches)

    @property
    def array(self) -> Array:
        found = described(self.value)
        assert found is not None, "it was one when it was bound"
        return found


class PointerArgument(NamedTuple):
    """A raw address for a pointer parameter; `bits` is the address.

    Without a size it is the caller's word that all memory from there on may be used.
    """

    name: str
    bits: int
    bounds: Bounds
    pointer: Pointer
    reaches: tuple[ArrayArgument, ...] = ()

    @staticmethod
    def of(name: str, pointer: Pointer) -> PointerArgument:
        begin = pointer.address
        end = _EVERYWHERE if pointer.size is None else begin + pointer.size
        if not may_be_memory(pointer):
            end = begin
        return PointerArgument(name, begin, (begin, end, end, end), pointer)


class ScalarArgument(NamedTuple):
    """A number, of the dtype that holds the parameter's element type; `bits` are its bytes as an unsigned number."""

    name: str
    bits: int
    dtype: np.dtype
    bounds: tuple[()] = ()

    @staticmethod
    def of(name: str, value: np.generic) -> ScalarArgument:
        return ScalarArgument(name, int.from_bytes(value.tobytes(), "little"), value.dtype)

    @property
    def value(self) -> np.generic:
        content = self.bits.to_bytes(self.dtype.itemsize, "little")
        return np.frombuffer(content, self.dtype)[0]


Argument = ArrayArgument | PointerArgument | ScalarArgument


def mapped(arguments: Sequence[Argument]) -> list[np.memmap]:
    """Return the arrays that are files in memory."""
    arrays = (each.value for each in arguments if type(each) is ArrayArgument and type(each.value) is Array)
    return [array.owner for array in arrays if isinstance(array.owner, np.memmap)]


Binder = Callable[[object], Argument]
Bind = Callable[[Sequence[object]], list[Argument]]
"""Makes the arguments of a launch of the values that it is given."""
_new = tuple.__new__
"""Makes a named tuple in half the time: a launch makes one for each argument."""

_BYTES = (np.dtype(np.uint8),)
_EXTRA_DTYPES: dict[t.ElementType, tuple[np.dtype, ...]] = {
    t.I1: (np.dtype(np.uint8), np.dtype(np.int8)),
    t.I8: _BYTES,
    t.I16: (np.dtype(np.uint16),),
    t.I32: (np.dtype(np.uint32),),
    t.I64: (np.dtype(np.uint64),),
    t.F8E8M0FNU: _BYTES,
}


def accepted_dtypes(element: t.ElementType) -> tuple[np.dtype, ...]:
    """Return the dtypes of arrays that hold `element` in memory, the usual one first.

    f4E2M1FN and fnv8E5M3FNU have no dtype of their own in memory: they come as bytes, f4E2M1FN two to a byte.
    """
    if element is t.F4E2M1FN:
        return _BYTES
    return (DTYPES[element], *_EXTRA_DTYPES.get(element, ()))


def plain_dtypes(element: t.ElementType) -> set[object]:
    """Return the dtypes of the NumPy arrays that hold `element`, and of tensors once torch is imported."""
    accepted = accepted_dtypes(element)
    torch = sys.modules.get("torch")
    names = [name.removeprefix("torch.") for name, dtype in TORCH_DTYPES.items() if dtype in accepted]
    return {*accepted, *[getattr(torch, name, None) for name in names]} - {None}


def binder(parameter: Parameter, devices: Sequence[str], target: str) -> Binder:
    """Return the function that makes the argument of `parameter` of a Python value.

    ``devices`` are those whose memory the target can use: ``cpu``, or prefixes of device names.
    """
    element = parameter.element
    assert element is not None, "the verifier refuses entries with other parameters"
    if parameter.pointee is not None:
        return _pointer_binder(parameter, element, devices, target)
    return _scalar_binder(parameter, element)


def joint_binder(parameters: Sequence[Parameter], binders: Sequence[Binder]) -> Bind:
    """Return the function that makes the arguments of a launch of its values, by a binder for each parameter.

    What has code of its own, which may move arrays, is bound before plain arrays: numbers, then other objects.
    """
    in_order = sorted(enumerate(binders), key=lambda one: parameters[one[0]].pointee is not None)

    def bind(values: Sequence[object]) -> list[Argument]:
        bound: list[Any] = [None] * len(values)
        order, arrays = in_order, plain_types()[:2]
        usual = (*arrays, int, float, bool)
        if any(type(value) not in usual for value in values):
            order = sorted(order, key=lambda one: type(values[one[0]]) in arrays)
        for position, bind_one in order:
            bound[position] = bind_one(values[position])
        return bound

    return bind


# ---------------------------------------------------------------- pointers


def _pointer_binder(parameter: Parameter, element: t.ElementType, devices: Sequence[str], target: str) -> Binder:
    name, accepted = parameter.name, accepted_dtypes(element)

    def bind_any(value: object) -> Argument:
        array = described(value, devices)
        if array is None:
            if isinstance(value, Pointer):
                return PointerArgument.of(name, value)
            raise parameter.type_error(_wanted(element), _kind_of(value))
        if array.device not in devices:
            _check_device(parameter, array, devices, target)
        if array.dtype not in accepted:
            raise parameter.type_error(_wanted(element), _wrong_dtype(array, element))
        wrong = unusable(array)
        if wrong is not None:
            raise parameter.value_error(*wrong)
        if getattr(value, "requires_grad", False):
            raise parameter.value_error(*_GRADIENT)
        refused = None if array.writable else read_only(parameter.writes(), parameter.index)
        if refused is not None:
            raise parameter.value_error(*refused)
        return ArrayArgument.of(name, array)

    return _plain_binder(name, bind_any) if CPU in devices else _tensor_binder(name, bind_any)


def _plain_binder(name: str, bind_any: Binder) -> Binder:
    """Return a binder that takes plain arrays of a known dtype at once."""
    dtypes: set[object] = set()

    def bind(value: Any) -> Argument:
        plain = plain_memory(value)
        if plain is not None and value.dtype in dtypes:
            begin, end = plain
            return _new(ArrayArgument, (name, begin, (begin, end, end, end), CPU, value, ()))
        argument = bind_any(value)
        if plain is not None:
            dtypes.add(value.dtype)
        return argument

    return bind


def _tensor_binder(name: str, bind_any: Binder) -> Binder:
    """Return a binder that takes tensors of a known dtype, device and layout at once."""
    tensors: set[type] = set()
    taken: dict[tuple[Any, Any, Any], str] = {}

    def bind(value: Any) -> Argument:
        if type(value) in tensors:
            device = taken.get((value.dtype, value.device, value.layout))
            plain = device is not None and not (value.is_neg() or value.requires_grad)
            if plain and (address := address_of_tensor(value)):
                return _new(ArrayArgument, (name, address, (), device, value, ()))
        argument = bind_any(value)
        if isinstance(argument, ArrayArgument) and hasattr(value, "is_neg"):
            tensors.add(type(value))
            taken[value.dtype, value.device, value.layout] = argument.device
        return argument

    return bind


_GRADIENT = (
    "a tensor that does not require grad, as a kernel is no part of torch's graph: no gradient would flow through it",
    "one that does (pass x.detach(), and give the kernel a torch.autograd.Function of its own for gradients)",
)


def unusable(array: Array) -> tuple[str, str] | None:
    """Return the expected and the actual text for an array whose memory no kernel can use; None if it can."""
    if array.is_impossible:
        return impossible(array)
    if array.runs_backwards:
        return backwards(array)
    return GONE if array.is_gone else None


GONE = "an array whose memory is there", "one whose storage was freed, or whose file was cut"
"""The expected and the actual text for an array that is gone."""


def impossible(array: Array) -> tuple[str, str]:
    """Return the expected and the actual text for an array whose owner says what cannot be."""
    layout = f"shape {array.shape} and strides of {array.strides} bytes at address {array.address:#x}"
    return "an array that lies in this process's memory", f"one of {layout}"


def backwards(array: Array) -> tuple[str, str]:
    """Return the expected and the actual text for an array with negative strides."""
    return "an array without negative strides", f"strides of {array.strides} bytes"


def read_only(writes: Writes, position: int | None) -> tuple[str, str] | None:
    """Return the expected and the actual text for a read-only array; None if it is never written.

    `position` is that of the parameter, None for an array that is reached through another.
    """
    found = writes.to(position)
    if found is None:
        return None
    access, how = found
    place = place_text(access.op.loc)
    where = f" at {place}" if place else ""
    return f"a writable array, as '{access.op.spec.name}'{where} {how}", "a read-only one (pass a copy of it)"


def _check_device(parameter: Parameter, array: Array, devices: Sequence[str], target: str) -> None:
    if array.device.partition(":")[0] not in devices:
        memory = " or ".join(devices)
        raise parameter.value_error(
            f"memory of device {memory}, which target '{target}' uses", f"an array on device {array.device}"
        )


def _wanted(element: t.ElementType) -> str:
    names = " or ".join(str(dtype) for dtype in accepted_dtypes(element))
    packed = " with two elements to a byte, the even one in the low nibble" if element is t.F4E2M1FN else ""
    return f"an array of {names}{packed}"


def _wrong_dtype(array: Array, element: t.ElementType) -> str:
    swapped = array.dtype is not None and array.dtype.newbyteorder("=") in accepted_dtypes(element)
    name = f"{array.dtype_name} in the byte order of another machine" if swapped else array.dtype_name
    if element is t.F4E2M1FN and array.dtype == np.dtype(ml_dtypes.float4_e2m1fn):
        name += ", which takes a byte per element"
    return f"an array of {name}"


NEGATED = "a tensor that torch negates when it is read (pass x.resolve_neg())"


def is_negated(value: object) -> bool:
    """Return whether the elements of a tensor are those that lie in memory, of the other sign."""
    return hasattr(value, "is_neg") and bool(value.is_neg())


def _kind_of(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"the integer {value} (wrap an address in tileir.Pointer)"
    if value is None or isinstance(value, bool | float | complex | np.generic):
        return repr(value)
    if isinstance(value, np.ma.MaskedArray):
        return "a masked array, whose mask the kernel would not see (pass its data, or what filled(0) gives)"
    kind = type(value)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    if is_negated(value):
        return NEGATED
    return f"{name}, whose memory cannot be used in place"


# ---------------------------------------------------------------- scalars


INTEGERS = (t.I8, t.I16, t.I32, t.I64)


def lowest_and_mask(element: t.ElementType) -> tuple[int, int]:
    """Return the lowest integer that a parameter takes, and the mask of its bits."""
    return -(1 << element.bits - 1), (1 << element.bits) - 1


def _scalar_binder(parameter: Parameter, element: t.ElementType) -> Binder:
    name, dtype = parameter.name, DTYPES[element]
    bind_any = _any_scalar_binder(parameter, element)
    if element in INTEGERS:
        low, mask = lowest_and_mask(element)

        def bind_integer(value: object) -> Argument:
            if type(value) is int and low <= value < -low:
                return _new(ScalarArgument, (name, value & mask, dtype, ()))
            return bind_any(value)

        return bind_integer
    if element is not t.F32:
        return bind_any
    pack, unpack, largest = struct.Struct("<f").pack, struct.Struct("<I").unpack, float(np.finfo(np.float32).max)

    def bind_float(value: object) -> Argument:
        if type(value) is float and -largest <= value <= largest:
            return _new(ScalarArgument, (name, *unpack(pack(value)), dtype, ()))
        return bind_any(value)

    return bind_float


def _any_scalar_binder(parameter: Parameter, element: t.ElementType) -> Binder:
    kind = "a number" if element.is_float else "a bool, 0 or 1" if element is t.I1 else "an integer"
    name = parameter.name

    def bind(value: object) -> Argument:
        try:
            number = scalar(value, element)
        except DoesNotFit:
            raise parameter.value_error(f"{kind} that fits {element.name}", _misfit(value, element)) from None
        if number is None:
            got = type(value).__name__
            shows = isinstance(value, float | complex | str | np.generic)
            raise parameter.type_error(kind, f"{got} {value!r}" if shows else got)
        return ScalarArgument.of(name, number)

    return bind


def _misfit(value: object, element: t.ElementType) -> str:
    """Return the words for a number that does not fit, and how to pass its bits if these are meant."""
    bits = element.bits
    if not isinstance(value, int) or element.is_float or bits < 8 or not 0 <= value < 1 << bits:
        return _shown(value)
    return f"{value} (np.uint{bits}({value}) passes its bits)"


def _shown(value: object) -> str:
    text = str(value) if isinstance(value, int | float | np.generic) else repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


# ---------------------------------------------------------------- numbers


_NARROW_FLOATS = (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e8m0fnu)


class DoesNotFit(Exception):
    """A number that the element type cannot hold."""


def scalar(value: object, element: t.ElementType) -> np.generic | None:
    """Return `value` as a number of `element`; None if it is no number of the kind. Raises `DoesNotFit`.

    An integer fits if a signed one of that width holds it; an unsigned one of NumPy or torch of that width gives its
    bits. A float is rounded to nearest, and fits unless that makes an infinity of a finite number.
    """
    if element.is_float:
        number = _as_float(value)
        return None if number is None else _float(number, element)
    number = _as_int(value)
    return None if number is None else _integer(number, element, _is_unsigned(value, element.bits))


def _is_unsigned(value: object, bits: int) -> bool:
    """Return whether `value` is an unsigned integer of `bits` bits, by the name of its dtype."""
    return str(getattr(value, "dtype", "")).removeprefix("torch.") == f"uint{bits}"


def _as_int(value: object) -> int | None:
    if isinstance(value, np.bool_):
        return int(value)
    if getattr(value, "shape", ()) != ():
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def _as_float(value: object) -> float | None:
    if isinstance(value, (float, np.floating, *_NARROW_FLOATS)):
        return float(cast(SupportsFloat, value))
    number = _as_int(value)
    if number is None:
        return _single_float(value)
    try:
        return float(number)
    except OverflowError:
        raise DoesNotFit from None


def _single_float(value: object) -> float | None:
    """Return a NumPy array or torch tensor of rank 0 that holds a float."""
    if getattr(value, "shape", None) != () or not hasattr(value, "__float__"):
        return None
    try:
        return float(cast(SupportsFloat, value))
    except (TypeError, ValueError, RuntimeError):
        return None


def _integer(number: int, element: t.ElementType, unsigned: bool) -> np.generic:
    dtype = DTYPES[element]
    if element is t.I1 and number in (0, 1):
        return dtype.type(number)
    half = 1 << element.bits >> 1
    if not -half <= number < (2 * half if unsigned else half):
        raise DoesNotFit
    return dtype.type(number - 2 * half if number >= half else number)


def _float(number: float, element: t.ElementType) -> np.generic:
    """Return the nearest number of `element`; an infinity stays one."""
    if element is t.F64:
        return np.float64(number)
    layout = element.layout
    negative = math.copysign(1.0, number) < 0
    if not layout.signed and (negative or (number == 0 and element is t.F8E8M0FNU)):
        raise DoesNotFit
    if (math.isinf(number) and not layout.has_inf) or (math.isnan(number) and not layout.has_nan):
        raise DoesNotFit
    if abs(number) > _limit(element) and not math.isinf(number):
        raise DoesNotFit
    if math.isinf(number) or element in (t.F32, t.F16):
        return cast(np.generic, DTYPES[element].type(number))
    mode = Rounding.ZERO if element is t.F8E8M0FNU else Rounding.NEAREST_EVEN
    with np.errstate(all="ignore"):
        return cast(np.generic, encoded(np.array([number]), element, mode)[0])


@cache
def _limit(element: t.ElementType) -> float:
    """Return the largest magnitude that rounds to the largest finite number or below it."""
    layout = element.layout
    top = math.frexp(layout.max_finite)[1]
    half_step = math.ldexp(1.0, top - layout.precision - 1)
    return math.nextafter(layout.max_finite + half_step, 0.0)
