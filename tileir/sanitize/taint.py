"""Values with elements that nobody wrote or that lie outside an array, and how these spread.

An element that cannot change the result leaves no mark: the branch of a `select` that is not taken, a factor zero, and
padding of the program's choice that an operation takes as its neutral element, such as ``x + 0``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from tileir.interp.api import Coordinates
from tileir.ir.attributes import Attribute, BoolAttr, FloatAttr, IntegerAttr
from tileir.ir.core import Block, Op, Value
from tileir.ir.storage import bits_dtype, dtype_of
from tileir.ir.traits import ELEMENTWISE
from tileir.ir.types import ElementType
from tileir.ops.control import For, Loop
from tileir.ops.core import Constant, Select
from tileir.ops.division import DivI
from tileir.ops.floating import AddF, DivF, Fma, MaxF, MinF, MulF, SubF
from tileir.ops.integer import AddI, AndI, MaxI, MinI, MulI, OrI, ShlI, ShrI, SubI, XOrI
from tileir.ops.matmul import MmaF, MmaI
from tileir.ops.misc import Assume
from tileir.ops.reduction import Reduce, Scan
from tileir.ops.shapes import Broadcast, Cat, Extract, Permute, Reshape
from tileir.sanitize.clocks import Site

Mask = np.ndarray


@dataclass(eq=False)
class Origin:
    """A load whose result holds elements that nobody wrote (`uninitialized`) or that it did not find (`padding`).

    The rest says where that was first so. ``chosen``: the program names the value of the padding, which is ``value``.
    """

    kind: str
    site: Site
    chosen: bool = False
    block: Coordinates = (0, 0, 0)
    array: str | None = None
    index: tuple[int, ...] | None = None
    value: object = None

    @property
    def absent(self) -> bool:
        """True for padding that the program chose, which is no part of a result that it leaves as it was. Other padding
        may be any number."""
        return self.kind == "padding" and self.chosen


@dataclass(frozen=True, eq=False)
class Marked:
    """A tile with elements from some origin: `marks` has a mask of the tile's shape for each origin."""

    value: np.ndarray
    marks: dict[Origin, Mask]

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.value, dtype)


def is_marked(values: Sequence[object]) -> bool:
    """Return whether any operand, or member of a variadic one, has marks."""
    for value in values:
        kind = type(value)
        if kind is Marked or (kind is tuple and is_marked(cast(tuple, value))):
            return True
    return False


def plain(value: object) -> object:
    """Return the value without its marks."""
    if type(value) is Marked:
        return value.value
    return tuple(map(plain, value)) if type(value) is tuple else value


def flattened(values: Sequence[object]) -> list[object]:
    return [one for value in values for one in (value if type(value) is tuple else (value,))]


def origins(values: Sequence[object]) -> list[Origin]:
    """Return every origin of any operand, once."""
    return list(dict.fromkeys(origin for value in values if isinstance(value, Marked) for origin in value.marks))


def shape_of(value: object) -> tuple[int, ...]:
    return np.asarray(value).shape


def marks_of(value: object, origin: Origin) -> Mask:
    """Return the mask of a value's elements with marks of `origin`; all False if there are none."""
    found = value.marks.get(origin) if isinstance(value, Marked) else None
    return np.zeros(shape_of(plain(value)), np.bool_) if found is None else found


def with_marks(value: object, marks: dict[Origin, Mask]) -> object:
    """Return the tile with its marks; itself if there are none."""
    left = {origin: mask for origin, mask in marks.items() if mask.any()}
    return Marked(np.asarray(value), left) if left else value


def merged(one: dict[Origin, Mask], other: dict[Origin, Mask]) -> dict[Origin, Mask]:
    return one | {origin: mask | one[origin] if origin in one else mask for origin, mask in other.items()}


Transfer = Callable[[Op, Callable[..., object], Sequence[object], object, Origin], Mask]
"""Maps an operation, its function, its operands with marks, its result and an origin to the marks of the result."""


def spread(op: Op, function: Callable[..., object], values: Sequence[object], result: object) -> object:
    """Return the result of ``function(*plain operands)`` with the marks that it gets from the operands."""
    found = origins(flattened(values))
    if isinstance(result, tuple):
        return tuple(_everywhere(one, found) for one in result)
    if not isinstance(result, np.ndarray | np.generic):
        return result
    transfer = _transfer(op)
    return with_marks(result, {origin: transfer(op, function, values, result, origin) for origin in found})


def _everywhere(value: object, found: list[Origin]) -> object:
    if not isinstance(value, np.ndarray | np.generic):
        return value
    return with_marks(value, {origin: np.ones(shape_of(value), np.bool_) for origin in found})


def _transfer(op: Op) -> Transfer:
    special = _SPECIAL.get(type(op))
    if special is not None:
        return special
    return _elementwise if ELEMENTWISE in op.spec.traits else _whole


def _whole(op: Op, function: Callable[..., object], values: Sequence[object], result: object, origin: Origin) -> Mask:
    return np.ones(shape_of(result), np.bool_)


def _elementwise(
    op: Op, function: Callable[..., object], values: Sequence[object], result: object, origin: Origin
) -> Mask:
    shape = shape_of(result)
    found = np.zeros(shape, np.bool_)
    for value in flattened(values):
        if isinstance(value, Marked):
            mask = marks_of(value, origin)
            if mask.shape not in (shape, ()):
                return np.ones(shape, np.bool_)
            found |= mask
    return found


def _selected(
    op: Op, function: Callable[..., object], values: Sequence[object], result: object, origin: Origin
) -> Mask:
    condition, then, otherwise = values
    chosen = np.where(plain(condition), marks_of(then, origin), marks_of(otherwise, origin))  # type: ignore[call-overload]
    mask: Mask = chosen | marks_of(condition, origin)
    return mask


def _product(op: Op, function: Callable[..., object], values: Sequence[object], result: object, origin: Origin) -> Mask:
    """Return the marks of a product: a factor that is zero without a mark decides the result."""
    left, right = values[0], values[1]
    mine, its = marks_of(left, origin), marks_of(right, origin)
    decided = (~mine & (plain(left) == 0)) | (~its & (plain(right) == 0))
    mask: Mask = _combined(op, function, values, result, origin) & ~(decided & (result == 0))
    return mask


def _combined(
    op: Op, function: Callable[..., object], values: Sequence[object], result: object, origin: Origin
) -> Mask:
    """Return the marks of an element-wise result: chosen padding that is neutral leaves an element as it was, but a
    constant is no element of an array."""
    found = _elementwise(op, function, values, result, origin)
    neutral = _NEUTRAL.get(type(op))
    if origin.absent and neutral is not None and len(values) == 2:
        for place in (0, 1) if type(op) not in _RIGHT else (0,):
            kept, padding = values[place], values[1 - place]
            if isinstance(op.operands[place].op, Constant):
                continue
            same = _bits(kept) == _bits(result)
            found = found & ~((np.asarray(plain(padding)) == neutral) & same & ~marks_of(kept, origin))
    return found


def _bits(value: object) -> np.ndarray:
    array = np.asarray(plain(value))
    return np.atleast_1d(array).view(f"u{array.itemsize}").reshape(array.shape)


def _moved(op: Op, function: Callable[..., object], values: Sequence[object], result: object, origin: Origin) -> Mask:
    """Return the marks moved by the operation itself, as it moves elements."""
    if any(isinstance(value, tuple) and is_marked(value) for value in values):
        return _whole(op, function, values, result, origin)
    tiles = [plain(value) if isinstance(value, tuple) else marks_of(value, origin) for value in values]
    return np.asarray(function(*tiles)).astype(np.bool_)


def _multiplied(
    op: Op, function: Callable[..., object], values: Sequence[object], result: object, origin: Origin
) -> Mask:
    """Return the mask of marked factor elements that count: for chosen padding, where zero would change the result."""
    counts = [marks_of(value, origin) for value in values]
    if origin.absent:
        counts = [mask & np.asarray(plain(value) != 0) for mask, value in zip(counts, values)]
    rows, columns = np.asarray(counts[0].any(-1))[..., :, None], np.asarray(counts[1].any(-2))[..., None, :]
    found = np.broadcast_to(rows | columns, shape_of(result))
    if origin.absent and found.any():
        found = found & _differs(function(*(_replaced(value, origin, 0) for value in values)), result)
    mask: Mask = found | marks_of(values[2], origin)
    return mask


def _accumulated(
    op: Op, function: Callable[..., object], values: Sequence[object], result: object, origin: Origin
) -> Mask:
    """Return the marks of a sum: padding that leaves an accumulator unchanged, as zero does, is no part of it."""
    found = _combined(op, function, values, result, origin)
    if origin.absent:
        for value, operand in zip(values, op.operands):
            if _is_carried(operand):
                found = found & (marks_of(value, origin) | _differs(plain(value), result))
    return found


def _is_carried(operand: Value) -> bool:
    """Return whether a loop carries a value from one iteration to the next."""
    return isinstance(operand.owner, Block) and isinstance(operand.owner.parent, For | Loop)


Again = Callable[[list[object]], list[object]]
"""Another evaluation of a reduction, of other tiles."""


def reduced(op: Reduce | Scan, again: Again, values: Sequence[object], results: list[object]) -> list[object]:
    """Return the results of a reduction with their marks; `again` reduces other tiles."""
    found = origins(values)
    neutral = [_identity(one) for one in op.identities]
    marks: list[dict[Origin, Mask]] = [{} for _ in results]
    for origin in found:
        if not origin.absent:
            masks = [_along(op, values, origin)] * len(results)
        elif all(_is_neutral(value, origin, one) for value, one in zip(values, neutral)):
            masks = [np.zeros(shape_of(result), np.bool_) for result in results]
        else:
            other = again([_replaced(value, origin, one) for value, one in zip(values, neutral)])
            masks = [_differs(one, result) for one, result in zip(other, results)]
        for one, mask in zip(marks, masks):
            one[origin] = mask
    return [with_marks(result, one) for result, one in zip(results, marks)]


def _along(op: Reduce | Scan, values: Sequence[object], origin: Origin) -> Mask:
    """Return the marks of a reduction or scan: one anywhere along the dimension reaches the result; in a scan, whatever
    comes after it."""
    mask = np.logical_or.reduce([marks_of(value, origin) for value in values])
    if isinstance(op, Reduce):
        return np.asarray(mask.any(op.dim))
    order = slice(None, None, -1 if op.reverse else 1)
    moved = np.moveaxis(mask, op.dim, 0)[order]
    return np.moveaxis(np.logical_or.accumulate(moved, 0)[order], 0, op.dim)


def _is_neutral(value: object, origin: Origin, neutral: object) -> bool:
    """Return whether what has come from an origin is the neutral element already."""
    if not isinstance(value, Marked) or origin not in value.marks:
        return True
    marked = value.value[value.marks[origin]]
    return marked.tobytes() == np.full(marked.shape, neutral, marked.dtype).tobytes()


def _replaced(value: object, origin: Origin, neutral: object) -> object:
    if not isinstance(value, Marked) or origin not in value.marks:
        return plain(value)
    tile = value.value.copy(order="K")
    tile[value.marks[origin]] = neutral
    return tile


def _differs(one: object, other: object) -> Mask:
    left, right = np.asarray(one), np.asarray(other)
    same = left == right
    if left.dtype.kind not in "iub":
        same = same | ((left != left) & (right != right))
    return np.asarray(~same)


def _identity(attribute: Attribute) -> np.generic:
    """Return the neutral element as an element of a tile."""
    if isinstance(attribute, BoolAttr):
        return np.bool_(attribute.value)
    assert isinstance(attribute, FloatAttr | IntegerAttr), "identities are numbers"
    element: ElementType = attribute.type
    bits = attribute.bits if isinstance(attribute, FloatAttr) else attribute.value
    width = bits_dtype(element)
    pattern = np.array([bits & (1 << 8 * width.itemsize) - 1], np.uint64).astype(width)
    value: np.generic = pattern.view(dtype_of(element))[0]
    return value


def _kept(op: Op, function: Callable[..., object], values: Sequence[object], result: object, origin: Origin) -> Mask:
    return marks_of(values[0], origin)


_NEUTRAL: dict[type[Op], int] = {
    **dict.fromkeys((AddF, AddI, SubF, SubI, OrI, XOrI, ShlI, ShrI), 0),
    **dict.fromkeys((MulF, MulI, DivF, DivI), 1),
    AndI: -1,
}
"""The operand that leaves the other one as it is."""
_RIGHT = frozenset((SubF, SubI, ShlI, ShrI, DivF, DivI))
"""The operations that only a right operand leaves as they are."""

_SPECIAL: dict[type[Op], Transfer] = {
    **dict.fromkeys((SubF, SubI, XOrI, ShlI, ShrI, DivF, DivI), _combined),
    **dict.fromkeys((Broadcast, Cat, Extract, Permute, Reshape), _moved),
    **dict.fromkeys((MulF, MulI, AndI), _product),
    **dict.fromkeys((MmaF, MmaI), _multiplied),
    **dict.fromkeys((AddF, AddI, MaxF, MaxI, MinF, MinI, OrI, Fma), _accumulated),
    Assume: _kept,
    Select: _selected,
}
