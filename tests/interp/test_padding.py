"""Bits of padding values."""

import numpy as np
import pytest

from tileir.interp.cells import CELLS, padding_value
from tileir.ir import types as t
from tileir.ir.types import PaddingValue


@pytest.mark.parametrize(
    ("element", "patterns"),
    [
        (t.F16, (0, 0x8000, 0x7E00, 0x7C00, 0xFC00)),
        (t.BF16, (0, 0x8000, 0x7FC0, 0x7F80, 0xFF80)),
        (t.F32, (0, 1 << 31, 0x7FC00000, 0x7F800000, 0xFF800000)),
        (t.TF32, (0, 1 << 31, 0x7FC00000, 0x7F800000, 0xFF800000)),
        (t.F64, (0, 1 << 63, 0x7FF8 << 48, 0x7FF0 << 48, 0xFFF0 << 48)),
        (t.F8E4M3FN, (0, 0x80, 0x7F, None, None)),
        (t.F8E5M2, (0, 0x80, 0x7E, 0x7C, 0xFC)),
        (t.F8E8M0FNU, (0, None, 0xFF, None, None)),
        (t.F4E2M1FN, (0, 8, None, None, None)),
        (t.I32, (0, None, None, None, None)),
        (t.I1, (0, None, None, None, None)),
    ],
    ids=lambda case: getattr(case, "name", ""),
)
def test_padding_patterns(element, patterns):
    assert tuple(map(element.padding_bits, PaddingValue)) == patterns
    for padding, bits in zip(PaddingValue, patterns):
        value = padding_value(element, padding)
        assert (value is None) == (bits is None)
        assert value is None or np.asarray(value).dtype == CELLS[element].dtype
