"""PTX of every golden program and example leaves what the interpreter leaves, value by value.

Run on the PTX machine, without a GPU.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")

import tileir
from tests.gpu.golden_on_machine import cases, require_example, require_golden
from tests.targets import ptx
from tests.thorough import sampled
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES
from tileir.host import extern

CASES = cases(ptx.ARCH)
SAMPLE_IN_CLUSTERS = [
    "arithmetic_float.basic", "atomics.integers", "atomics.swaps", "control_flow.loops",
    "control_flow.tokens", "globals.lookup", "matmul.integers", "memory.scratch", "memory.stores", "printing.hello",
    "reductions.argmax", "shapes.joining", "views.gathered", "views.strided",
]  # fmt: skip
EXAMPLES_IN_CLUSTERS = ("hello_grid", "saxpy", "transpose", "gemm_blocked", "softmax", "row_argmax", "mutex")


@pytest.fixture(autouse=True)
def _functions_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extern, "_externs", {"hypot": math.hypot})


@pytest.mark.parametrize(
    "number", sampled(range(len(CASES)), 4), ids=[f"{case[0]}-{number}" for number, case in enumerate(CASES)]
)
def test_a_golden_program_gives_what_the_interpreter_gives(number: int) -> None:
    require_golden(*CASES[number], ptx.ARCH, ptx.outcome)


@pytest.mark.parametrize("example", sampled(EXAMPLES, 4), ids=lambda example: example.name)
def test_an_example_gives_what_numpy_gives(example: Example) -> None:
    require_example(example, ptx.ARCH, ptx.outcome)


@pytest.mark.parametrize("place", sampled(SAMPLE_IN_CLUSTERS, 4))
def test_a_golden_program_whose_tile_block_is_a_cluster_gives_the_same(place: str) -> None:
    for case in (case for case in CASES if case[0] == place):
        require_golden(*case, ptx.CLUSTER_ARCH, partial(ptx.outcome, cluster=2))


@pytest.mark.parametrize("cluster", [2, 4])
@pytest.mark.parametrize("name", sampled(EXAMPLES_IN_CLUSTERS, 4))
def test_an_example_whose_tile_blocks_are_clusters_gives_the_same(name: str, cluster: int) -> None:
    (example,) = (example for example in EXAMPLES if example.name == name)
    require_example(example, ptx.CLUSTER_ARCH, partial(ptx.outcome, cluster=cluster))


MIRROR = """
entry @k(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>) {
  %i = iota : tile<256xi32>
  %last = constant <i32: 255> : tile<256xi32>
  %j = subi %last, %i : tile<256xi32>
  %r = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
  %b = broadcast %r : tile<1xptr<i32>> -> tile<256xptr<i32>>
  %p = offset %b, %i : tile<256xptr<i32>>, tile<256xi32> -> tile<256xptr<i32>>
  %q = offset %b, %j : tile<256xptr<i32>>, tile<256xi32> -> tile<256xptr<i32>>
  %t = store_ptr_tko weak %p, %i : tile<256xptr<i32>>, tile<256xi32> -> token
  %found, %u = load_ptr_tko weak %q TOKEN : tile<256xptr<i32>> -> tile<256xi32>, token
  %s = reshape %y : tile<ptr<i32>> -> tile<1xptr<i32>>
  %c = broadcast %s : tile<1xptr<i32>> -> tile<256xptr<i32>>
  %z = offset %c, %i : tile<256xptr<i32>>, tile<256xi32> -> tile<256xptr<i32>>
  %v = store_ptr_tko weak %z, %found : tile<256xptr<i32>>, tile<256xi32> -> token
}
"""


@pytest.mark.parametrize(("token", "is_ordered"), [("token = %t", True), ("", False)])
def test_what_a_token_orders_is_ordered_among_the_blocks_of_a_cluster(token: str, is_ordered: bool) -> None:
    kernel = tileir.parse(MIRROR.replace("TOKEN", token))["k"]
    arrays = [np.full(256, -1, np.int32) for _ in range(2)]
    found = ptx.outcome(kernel, (1,), arrays, ptx.CLUSTER_ARCH, cluster=2).arrays[1]
    assert (found == np.arange(256)[::-1]).all() == is_ordered
