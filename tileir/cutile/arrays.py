"""Arrays as cuTile specialises on them.

A kernel is compiled for the class of an array's layout (divisibility, unit strides, overlap), the scalars that follow
its pointer, and the arrays that share memory.

The promises about an array are measured on the array itself, by the rules of the library's own launch: 16 for the
address, the extents, and the strides in bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

import ml_dtypes
import numpy as np

from tileir.cutile.errors import Place
from tileir.runtime.arguments import ScalarArgument, backwards
from tileir.runtime.arrays import Array

if TYPE_CHECKING:
    from cuda.tile import ArrayAnnotation, DType
    from cuda.tile.compilation import ArrayConstraint

DIVISOR = 16
SHARED = ("shared",)
"""The alias group of all arrays of a launch that have memory in common with another one."""

_NAMES = {
    **{np.dtype(name): name for name in ("float16", "float32", "float64", "int8", "int16", "int32", "int64")},
    **{np.dtype(name): name for name in ("uint8", "uint16", "uint32", "uint64")},
    np.dtype(np.bool_): "bool_",
    **{
        np.dtype(getattr(ml_dtypes, name)): name
        for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu")
    },
}
"""NumPy's element types by the names that cuTile gives them."""


@dataclass(frozen=True)
class ArrayClass:
    """Everything about an array that a kernel is compiled for."""

    dtype: np.dtype
    rank: int
    index_bits: int
    aligned: bool
    strides: tuple[int | None, ...]
    """Strides that the kernel is compiled for; None where it takes any."""
    shape: tuple[int | None, ...]
    """Extents that the kernel is compiled for; None where it takes any."""
    divisible_strides: tuple[bool, ...]
    """Divisibility of each stride in bytes, not asked of strides that are compiled for; the same for extents."""
    divisible_shape: tuple[bool, ...]
    overlaps_itself: bool

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Computed once, as every launch looks for its kernel by it."""
        return hash(tuple(getattr(self, field.name) for field in fields(self)))

    def joined(self, other: ArrayClass) -> ArrayClass:
        """Return the class of both, for a list that holds them; they are of one dtype, rank and annotation."""
        return ArrayClass(
            self.dtype,
            self.rank,
            self.index_bits,
            self.aligned and other.aligned,
            _agreed(self.strides, other.strides),
            _agreed(self.shape, other.shape),
            _both(self.divisible_strides, other.divisible_strides),
            _both(self.divisible_shape, other.divisible_shape),
            self.overlaps_itself or other.overlaps_itself,
        )

    def constraint(self, shared: Iterator[bool]) -> ArrayConstraint:
        """Return the constraint for the library of such an array; its memory is another argument's too if `shared` says
        so."""
        import cuda.tile as ct
        from cuda.tile.compilation import ArrayConstraint

        step = max(1, DIVISOR // self.dtype.itemsize)
        return ArrayConstraint(
            cutile_dtype(self.dtype),
            self.rank,
            index_dtype=ct.int64 if self.index_bits == 64 else ct.int32,
            stride_lower_bound_incl=[0 if stride is None else None for stride in self.strides],
            alias_groups=SHARED if next(shared) else (),
            may_alias_internally=self.overlaps_itself,
            stride_constant=self.strides,
            shape_constant=self.shape if any(extent is not None for extent in self.shape) else None,
            stride_divisible_by=[step if divisible else 1 for divisible in self.divisible_strides],
            shape_divisible_by=[DIVISOR if divisible else 1 for divisible in self.divisible_shape],
            base_addr_divisible_by=DIVISOR if self.aligned else 1,
        )


class ArrayLayout(NamedTuple):
    """An array without its address: its class, the scalars after its pointer, and how many bytes it reaches over."""

    kind: ArrayClass
    scalars: tuple[ScalarArgument, ...]
    reach: int


def cutile_dtype(dtype: np.dtype) -> DType:
    """Return the library's element type. Raises KeyError if it has none."""
    import cuda.tile as ct

    found: DType = getattr(ct, _NAMES[dtype])
    return found


def is_known(dtype: np.dtype | None) -> bool:
    return dtype in _NAMES


class ArrayLayouts:
    """The layouts of the arrays that a parameter has been given, found again by shape and strides."""

    LIMIT = 1024
    """Entries kept: a program that never repeats a shape must not fill the memory."""

    def __init__(self, place: Place, annotation: ArrayAnnotation | None, for_one: bool) -> None:
        """Describe an annotation; `for_one`: a kernel is compiled for extents of 1, where the annotation names none."""
        self._place = place
        self._for_one = for_one
        self._annotation = annotation
        self._found: dict[tuple, ArrayLayout] = {}
        self._kinds: dict[ArrayClass, ArrayClass] = {}

    def of(self, array: Array) -> ArrayLayout:
        """Return the layout of an array. Raises ValueError for one that runs backwards or lacks an axis of the
        annotation, OverflowError for one that the index type cannot hold."""
        key = (array.dtype, array.shape, array.strides, array.address % DIVISOR == 0)
        layout = self._found.get(key)
        if layout is None:
            if len(self._found) >= self.LIMIT:
                self._found.clear()
            layout = self._found[key] = self._made(array)
        return layout

    def _made(self, array: Array) -> ArrayLayout:
        assert array.dtype is not None
        strides = array.steps
        if min(strides, default=0) < 0:
            raise self._place.error(ValueError, *backwards(array))
        index = np.dtype(f"i{self._index_bits // 8}")
        if max((*array.shape, *strides), default=0) > np.iinfo(index).max:
            expected = "extents and strides that fit int32 (ct.IndexedWithInt64 as its annotation allows more)"
            got = f"shape {array.shape} with strides of {array.strides} bytes"
            raise self._place.error(OverflowError, expected, got)
        scalars = [self._scalar("shape", axis, index.type(extent)) for axis, extent in enumerate(array.shape)]
        scalars += [self._scalar("strides", axis, index.type(stride)) for axis, stride in enumerate(strides)]
        kind = self._kind(array, strides)
        return ArrayLayout(self._kinds.setdefault(kind, kind), tuple(scalars), reach(array))

    def _scalar(self, what: str, axis: int, value: np.generic) -> ScalarArgument:
        return ScalarArgument.of(f"{self._place.path}.{what}[{axis}]", value)

    def _kind(self, array: Array, strides: tuple[int, ...]) -> ArrayClass:
        assert array.dtype is not None
        fixed_strides = self._fixed("static_stride_dims", array, strides, one=True)
        fixed_shape = self._fixed("static_shape_dims", array, array.shape, one=self._for_one)
        return ArrayClass(
            dtype=array.dtype,
            rank=len(array.shape),
            index_bits=self._index_bits,
            aligned=array.address % DIVISOR == 0,
            strides=fixed_strides,
            shape=fixed_shape,
            divisible_strides=_divisible(array.strides, fixed_strides),
            divisible_shape=_divisible(array.shape, fixed_shape),
            overlaps_itself=overlaps_itself(array.shape, strides),
        )

    def of_list(self, arrays: Sequence[Array]) -> list[ArrayLayout]:
        """Return the layouts of the arrays of a list. Raises ValueError also if they differ where the annotation says
        that a value is static."""
        layouts = [self.of(array) for array in arrays]
        first = layouts[0].kind
        for kind in {id(layout.kind): layout.kind for layout in layouts}.values():
            if getattr(self._annotation, "static_shape_dims", ()):
                self._require_equal("shape", first.shape, kind.shape, arrays)
            if getattr(self._annotation, "static_stride_dims", ()):
                self._require_equal("stride", first.strides, kind.strides, arrays)
        return layouts

    def _require_equal(
        self, what: str, one: Sequence[int | None], other: Sequence[int | None], arrays: Sequence[Array]
    ) -> None:
        for axis, (a, b) in enumerate(zip(one, other)):
            if a != b:
                expected = "arrays that agree where the annotation says that a value is static"
                shapes = ", ".join(str(array.shape) for array in arrays)
                cutile = f"Arrays in list vary in static {what} at axis {axis} ({a} vs {b})"
                raise self._place.error(ValueError, expected, f"shapes {shapes}", cutile)

    @cached_property
    def _index_bits(self) -> int:
        return 32 if self._annotation is None else self._annotation.index_dtype.bitwidth

    def _fixed(self, field: str, array: Array, values: Sequence[int], one: bool) -> tuple[int | None, ...]:
        """Return the values that a kernel is compiled for: of the axes that the annotation names, or else (`one`) those
        1."""
        axes: tuple[int, ...] = getattr(self._annotation, field, ())
        if not axes:
            return tuple(1 if one and value == 1 else None for value in values)
        rank = len(values)
        static: set[int] = set()
        for axis in axes:
            counted = axis + rank if axis < 0 else axis
            if not 0 <= counted < rank:
                raise self._wrong_axis(array, f"{field} contains axis {counted} but array rank is {rank}")
            if counted in static:
                raise self._wrong_axis(array, f"{field} contains duplicate axis {axis}")
            static.add(counted)
        return tuple(value if axis in static else None for axis, value in enumerate(values))

    def _wrong_axis(self, array: Array, cutile: str) -> ValueError:
        expected = "an array that has each axis of its annotation, once"
        return self._place.error(ValueError, expected, f"shape {array.shape}", cutile)


@cache
def compiles_for_one() -> bool:
    """Return whether the library compiles for extents of 1; since 1.6, which also has static strides."""
    from cuda.tile import ArrayAnnotation

    return "static_stride_dims" in {field.name for field in fields(ArrayAnnotation)}


def overlaps_itself(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Return whether two indices may lead to one element, by the library's rule: every stride clears all shorter
    ones."""
    cleared = 1
    for stride, extent in sorted(zip(strides, shape)):
        if stride < cleared:
            return True
        cleared = stride * extent
    return False


def reach(array: Array) -> int:
    """Return the bytes from the first to the end of the last element; strides are not negative."""
    if 0 in array.shape:
        return 0
    return sum(stride * (extent - 1) for stride, extent in zip(array.strides, array.shape)) + array.itemsize


def shared(spans: Sequence[tuple[int, int, int]]) -> frozenset[int]:
    """Return the owners of spans (begin, end, owner) that overlap another owner's."""
    found: set[int] = set()
    end, owner = 0, -1
    for begin, until, who in sorted(spans):
        if begin < end and who != owner and until > begin:
            found |= {who, owner}
        if until > end:
            end, owner = until, who
    return frozenset(found)


def _both(one: tuple[bool, ...], other: tuple[bool, ...]) -> tuple[bool, ...]:
    return tuple(a and b for a, b in zip(one, other))


def _agreed(one: Sequence[int | None], other: Sequence[int | None]) -> tuple[int | None, ...]:
    return tuple(a if a == b else None for a, b in zip(one, other))


def _divisible(values: Sequence[int], fixed: Sequence[int | None]) -> tuple[bool, ...]:
    return tuple(known is None and value % DIVISOR == 0 for value, known in zip(values, fixed))
