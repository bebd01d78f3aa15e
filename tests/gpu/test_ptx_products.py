"""Products of matrices as PTX give what NumPy gives, by `mma`, `wgmma` and `tcgen05`.

Run on the PTX machine, without a GPU. Factors are small whole numbers, whose products are exact in any order of adding.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")

import tileir
from tests.golden.arguments import aligned
from tests.gpu.ttir_gemm import Gemm
from tests.targets import ptx
from tests.thorough import sampled

DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "f32": np.float32,
          "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}  # fmt: skip
TILES = [(64, 64, 64), (128, 128, 64), (64, 256, 32)]
ARCHES = ["sm_80", "sm_90", "sm_100"]
CASES = [
    (element, tile, by_rows, arch)
    for element, tile, by_rows, arch in itertools.product(DTYPES, TILES, (True, False), ARCHES)
    if element != "f32" or tile == TILES[0]
]


def require_product(
    gemm: Gemm,
    text: str,
    shape: tuple[int, int, int],
    factor: int,
    arch: str,
    change: Callable[[str], str] = str,
) -> None:
    """Multiply matrices of M x K and K x N; the program makes `factor` times the product."""
    (m, n, k), (rows, columns, _) = shape, gemm.tile
    random = np.random.default_rng(4)

    def whole(*extents: int) -> np.ndarray:
        return aligned(random.integers(-2, 3, extents).astype(DTYPES[gemm.element]))

    a, b = whole(m, k), whole(*((k, n) if gemm.b_by_rows else (n, k)))
    c = aligned(np.zeros((m, n), np.float32))
    arguments = a.reshape(-1), b.reshape(-1), c.reshape(-1), m, n, k, k, b.shape[1], n
    result = ptx.outcome(tileir.parse(text)["k"], (-(-m // rows), -(-n // columns)), arguments, arch, change)
    right = b.astype(float) if gemm.b_by_rows else b.astype(float).T
    np.testing.assert_array_equal(result.arrays[2].reshape(m, n), factor * (a.astype(float) @ right))


@pytest.mark.parametrize(("element", "tile", "by_rows", "arch"), sampled(CASES, 11))
def test_products_of_all_types_beyond_the_edges(
    element: str, tile: tuple[int, int, int], by_rows: bool, arch: str
) -> None:
    gemm = Gemm(element=element, tile=tile, b_by_rows=by_rows)
    shape = (80, 48, 96) if element == "f32" else (96, 48, 160)
    require_product(gemm, gemm.text, shape, 1, arch)


@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize("arch", sampled(ARCHES, 2))
def test_a_deep_product_of_tf32_reads_no_factor_of_a_later_step(arch: str, by_rows: bool) -> None:
    """Triton pipelined the transposed factor for sm_100 with room for one tile."""
    gemm = Gemm(element="tf32", tile=(64, 64, 64), b_by_rows=by_rows)
    require_product(gemm, gemm.text, (64, 64, 640), 1, arch)


@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize("computed", ["p", "q", "pq"])
@pytest.mark.parametrize("arch", sampled(ARCHES, 2))
def test_factors_that_are_computed_in_the_loop(arch: str, computed: str, by_rows: bool) -> None:
    gemm = Gemm(tile=(64, 64, 64), b_by_rows=by_rows)
    doubled = "".join(f"%{name}2 = addf %{name}, %{name} : tile<64x64xf16>\n" for name in computed)
    names = (f"%{name}2" if name in computed else f"%{name}" for name in "pq")
    text = gemm.text.replace("%next = mmaf %p, %q", f"{doubled}%next = mmaf {', '.join(names)}")
    require_product(gemm, text, (64, 64, 256), 2 ** len(computed), arch)


@pytest.mark.parametrize("by_rows", [True, False])
def test_a_loop_marked_for_roles_of_warps(by_rows: bool) -> None:
    """Triton then gives copies and products warps of their own. Our code has no such marks (docs/gpu.md)."""

    def marked(text: str) -> str:
        changed, count = re.subn(r"  \}\) (: \(i32, i32, i32, tensor)", r"  }) {tt.warp_specialize} \1", text)
        assert count == 1
        return changed

    gemm = Gemm(tile=(64, 64, 64), b_by_rows=by_rows)
    require_product(gemm, gemm.text, (96, 80, 448), 1, "sm_100", marked)
