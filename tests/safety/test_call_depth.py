"""A chain of calls as long as the verifier allows goes through every tool; a longer one is refused by its code."""

from __future__ import annotations

import numpy as np
import pytest

import tileir
from tileir.verify.control import MAX_CALL_DEPTH


def chain(length: int) -> str:
    """A kernel that calls the last of `length` functions, each of which calls the one before."""
    lines = [
        "experimental$func @f0(%x: tile<i32>) -> tile<i32> { %r = addi %x, %x : tile<i32>\n return %r : tile<i32> }"
    ]
    for number in range(1, length):
        lines.append(
            f"experimental$func @f{number}(%x: tile<i32>) -> tile<i32> {{\n"
            f"  %r = experimental$call @f{number - 1}(%x) : (tile<i32>) -> tile<i32>\n  return %r : tile<i32>\n}}"
        )
    lines.append(
        "entry @k(%p: tile<ptr<i32>>) {\n  %a = constant <i32: 21> : tile<i32>\n"
        f"  %b = experimental$call @f{length - 1}(%a) : (tile<i32>) -> tile<i32>\n"
        "  store_ptr_tko weak %p, %b : tile<ptr<i32>>, tile<i32> -> token\n  return\n}"
    )
    return "\n".join(lines)


@pytest.fixture(scope="module")
def longest() -> tileir.Kernel:
    return tileir.parse(chain(MAX_CALL_DEPTH))["k"]


@pytest.mark.parametrize("options", [{"target": "interp"}, {}, {"optimize": False}, {"check": "strict"}], ids=str)
def test_the_longest_chain_runs(longest, options) -> None:
    out = np.zeros(4, np.int32)
    longest.launch(1, out, **options)
    assert out[0] == 42


def test_the_longest_chain_goes_through_every_tool(longest, tmp_path) -> None:
    out = np.zeros(4, np.int32)
    assert tileir.sanitize(longest, 1, out, copy=True).ok
    assert tileir.explore(longest, 1, out).ok
    assert "bounds: open" in str(tileir.prove(longest))
    assert list(tileir.optimize(longest.module, 2).kernels) == ["k"]
    tileir.view(longest, 1, out).save(tmp_path / "page.html")


@pytest.mark.parametrize("length", [MAX_CALL_DEPTH + 1, 300, 3000])
def test_a_longer_chain_is_refused_once(length) -> None:
    with pytest.raises(tileir.DiagnosticError) as caught:
        tileir.parse(chain(length))["k"].launch(1, np.zeros(4, np.int32))
    assert [one.code for one in caught.value.diagnostics] == ["E0817"]
