"""A scalar of a narrow type is decoded wherever it is used, not only where it was used first."""

from __future__ import annotations

import numpy as np
import pytest

import tileir

PROGRAM = """
entry @branch(%first: tile<ptr<f16>>, %second: tile<ptr<f16>>, %number: tile<f16>, %taken: tile<i1>) {
  if %taken {
    %double = addf %number, %number : tile<f16>
    %token = store_ptr_tko weak %first, %double : tile<ptr<f16>>, tile<f16> -> token
  }
  %square = mulf %number, %number : tile<f16>
  %token = store_ptr_tko weak %second, %square : tile<ptr<f16>>, tile<f16> -> token
}
"""


@pytest.mark.parametrize("taken", [False, True])
def test_a_number_decoded_in_a_branch_is_decoded_again_after_it(taken: bool) -> None:
    first, second = np.zeros(1, np.float16), np.zeros(1, np.float16)
    tileir.parse(PROGRAM)["branch"].launch((1, 1, 1), first, second, np.float16(3), taken, target="cpu")
    assert (first[0], second[0]) == (6 if taken else 0, 9)
