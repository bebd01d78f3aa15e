"""The memory that tiles take at a time on the interpreter, and the error where it is more than there is."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tileir
from tileir.host import limits
from tileir.ir.diagnostics import UnsupportedError

TILE = "tile<1024xi64>"
BYTES = 8 * 1024


def kernel(live: int) -> tileir.Kernel:
    """So many tiles that are all live at a time, of numbers that only a launch knows, then their sum."""
    tiles = [f"%t{at} = muli %n, %n : {TILE}" for at in range(live)]
    sums = [f"%s{at + 1} = addi %s{at}, %t{at} : {TILE}" for at in range(live)]
    body = "\n".join([*tiles, f"%s0 = constant <i64: 0> : {TILE}", *sums])
    text = f"""entry @k(%p: tile<ptr<i64>>, %x: tile<i64>) {{
      %one = reshape %x : tile<i64> -> tile<1xi64>
      %n = broadcast %one : tile<1xi64> -> {TILE}
      {body}
      %low = iota : {TILE}
      %at = reshape %p : tile<ptr<i64>> -> tile<1xptr<i64>>
      %all = broadcast %at : tile<1xptr<i64>> -> tile<1024xptr<i64>>
      %to = offset %all, %low : tile<1024xptr<i64>>, {TILE} -> tile<1024xptr<i64>>
      %t = store_ptr_tko weak %to, %s{live} : tile<1024xptr<i64>>, {TILE} -> token
    }}"""
    return tileir.parse(text)["k"]


def test_tiles_that_are_live_at_a_time_must_fit_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "physical_memory", lambda: 10 * BYTES)
    out = np.zeros(1024, np.int64)
    with pytest.raises(UnsupportedError, match=re.escape("a kernel whose tiles take")) as error:
        kernel(12).launch((1,), out, 3, target="interp")
    assert f"this machine has {10 * BYTES} bytes of memory" in str(error.value)
    assert "'interp'" in str(error.value)
    assert not out.any()


def test_tiles_that_are_dead_and_copies_of_one_number_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "physical_memory", lambda: 10 * BYTES)
    out = np.zeros(1024, np.int64)
    kernel(6).launch((1,), out, 3, target="interp")
    np.testing.assert_array_equal(out, 6 * 9)
