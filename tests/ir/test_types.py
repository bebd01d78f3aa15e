"""Facts about types that all parts share: formats of floats, patterns, views."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest

from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.ir.storage import bits_dtype, dtype_of
from tileir.ir.types import PaddingValue
from tileir.numerics import formats
from tileir.numerics.conversion import float_to_float

ENUMERABLE = tuple(element for element in t.FLOATS if element.bits <= 19)
"""Formats small enough to try every pattern."""
BETWEEN = {t.F32: 1.0 + 2.0**-23, t.F64: 1.0 + 2.0**-52}
"""A number of each wide format that no narrower one has."""


@cache
def values(element: t.ElementType) -> np.ndarray:
    """The value of every pattern, as f64."""
    patterns = np.arange(1 << element.bits, dtype=np.uint64)
    with np.errstate(invalid="ignore"):
        return formats.widened(formats.stored(patterns, element), element)


def keys(numbers: np.ndarray) -> set[int]:
    """Numbers told apart by value and sign, all NaN being one: as the bits of f64."""
    canonical = np.where(np.isnan(numbers), np.nan, numbers)
    return set(np.unique(canonical.view(np.uint64)).tolist())


@cache
def all_keys(element: t.ElementType) -> set[int]:
    return keys(values(element))


@pytest.mark.parametrize(
    ("wide", "narrow"), list(itertools.product(ENUMERABLE, ENUMERABLE)), ids=lambda element: element.name
)
def test_a_format_contains_another_if_it_has_all_its_values(wide: t.ElementType, narrow: t.ElementType) -> None:
    assert wide.layout.contains(narrow.layout) == (all_keys(narrow) <= all_keys(wide))


@pytest.mark.parametrize("narrow", t.FLOATS, ids=lambda element: element.name)
def test_f64_contains_every_format_and_f32_all_but_f64(narrow: t.ElementType) -> None:
    assert t.F64.layout.contains(narrow.layout)
    assert t.F32.layout.contains(narrow.layout) == (narrow is not t.F64)
    if narrow in ENUMERABLE:
        with np.errstate(invalid="ignore"):
            singles = values(narrow).astype(np.float32)
        assert keys(singles.astype(np.float64)) == all_keys(narrow)


@pytest.mark.parametrize("narrow", t.FLOATS, ids=lambda element: element.name)
def test_a_narrower_format_lacks_a_number_of_a_wider_one(narrow: t.ElementType) -> None:
    for wide, between in BETWEEN.items():
        if narrow.bits < wide.bits:
            assert not narrow.layout.contains(wide.layout)
            rounded = formats.encoded(np.array([between]), narrow, Rounding.ZERO)
            assert formats.widened(rounded, narrow)[0] != between


@pytest.mark.parametrize("element", ENUMERABLE, ids=lambda element: element.name)
def test_what_follows_from_a_layout_is_so(element: t.ElementType) -> None:
    layout, numbers = element.layout, values(element)
    finite = numbers[np.isfinite(numbers)]
    assert finite.max() == layout.max_finite
    assert finite[finite > 0].min() == 2.0**layout.smallest_exponent
    assert (0 in finite) == layout.has_zero
    assert (finite.min() < 0) == layout.signed
    assert (None if layout.infinity is None else numbers[layout.infinity]) == (np.inf if layout.has_inf else None)
    assert layout.nan is None or np.isnan(numbers[layout.nan])
    assert np.isnan(numbers).any() == layout.has_nan
    if layout.signed:
        assert np.array_equal(numbers[layout.sign_bit :], -numbers[: layout.sign_bit], equal_nan=True)
    else:
        assert layout.magnitude_mask == (1 << element.bits) - 1


def test_every_value_of_powers_of_two_survives_a_conversion_to_themselves() -> None:
    every = formats.stored(np.arange(256, dtype=np.uint64), t.F8E8M0FNU)
    convert = float_to_float(t.F8E8M0FNU, t.F8E8M0FNU, Rounding.ZERO)
    assert convert(every).tobytes() == every.tobytes()


@pytest.mark.parametrize("element", t.FLOATS, ids=lambda element: element.name)
def test_padding_has_the_value_that_it_is_named_after(element: t.ElementType) -> None:
    wanted = {PaddingValue.ZERO: 0.0, PaddingValue.NEG_ZERO: -0.0, PaddingValue.NAN: np.nan}
    wanted |= {PaddingValue.POS_INF: np.inf, PaddingValue.NEG_INF: -np.inf}
    for padding, number in wanted.items():
        bits = element.padding_bits(padding)
        if bits is not None and (element.layout.has_zero or number != 0):
            found = np.array([bits], np.uint64).astype(bits_dtype(element)).view(dtype_of(element))
            assert keys(formats.widened(found, element)) == keys(np.array([number]))


def test_padding_of_integers_is_zero() -> None:
    for element in (t.I1, t.I32):
        assert [element.padding_bits(padding) for padding in PaddingValue] == [0, None, None, None, None]


def test_an_element_of_a_stream_takes_the_bits_of_memory_but_for_i1() -> None:
    widths = {t.I1: 1, t.I4: 4, t.F4E2M1FN: 4, t.TF32: 32}
    for element in t.ELEMENTS.values():
        assert element.stream_bits == widths.get(element, element.bits)


def test_the_bits_of_a_tf32_are_those_of_an_f32_without_the_last() -> None:
    assert (t.TF32_UNUSED_BITS, t.TF32_MASK) == (13, 0xFFFFE000)


def test_views_say_where_their_tiles_are() -> None:
    tensor = t.TensorViewType(t.F32, [16, 32], [32, 1])
    partition = t.PartitionViewType([4, 8], tensor, dim_map=[1, 0])
    strided = t.StridedViewType([4, 8], [3, 5], tensor, dim_map=[1, 0])
    gathered = t.GatherScatterViewType([4, 8], tensor, 1)
    assert (partition.tensor_dims, partition.tile_steps) == ((1, 0), (4, 8))
    assert (strided.tensor_dims, strided.tile_steps) == ((1, 0), (3, 5))
    assert (gathered.tensor_dims, gathered.tile_steps) == ((0, 1), (1, 1))
