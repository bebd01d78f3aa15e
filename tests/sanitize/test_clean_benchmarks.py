"""The kernels of the benchmarks have no finding; races and bounds of most are decided without a run."""

from __future__ import annotations

from pathlib import Path

import pytest

import tileir
from tileir.command_line.argument_words import given_values

KERNELS = Path(__file__).parents[2] / "bench" / "kernels"
GEMM = "{0}[160,96]:ones {0}[144,96]:ones {1}[160,144]:zeros 160 144 96 96 96 144"
KLOOP = "f16[160,96]:ones f16[96,144]:ones f32[160,144]:zeros 160 144 96 96 144 144"
LAUNCHES = {
    "attention": (
        (2, 2),
        f"{3 * 'f32[2,100,64]:randn '}f32[2,100,64]:zeros 2 100 0.125",
    ),
    "gemm_bf16": ((2, 2), GEMM.format("bf16", "f32")),
    "gemm_f16_pointers": ((2, 2), KLOOP),
    "gemm_f16_views": ((2, 2), KLOOP),
    "gemm_f32": ((2, 2), GEMM.format("f32", "f32")),
    "gemm_i8": ((2, 2), GEMM.format("i8", "i32")),
    "histogram": ((2,), "i32[2000]:zeros i32[256]:zeros 2000"),
    "layer_norm": ((3,), "f32[3,4096]:randn f32[4096]:ones f32[4096]:zeros f32[3,4096]:zeros 3 4096 1e-5"),
    "layer_norm_pointers": ((3,), "f32[3,4000]:randn f32[4000]:ones f32[4000]:zeros f32[3,4000]:zeros 3 4000 1e-5"),
    "moe_rows_pointers": ((2,), "f32[32,256]:randn i32[32]:arange i32[32]:arange f32[32]:ones f32[32,256]:zeros"),
    "rms_norm": ((3,), "f32[3,4096]:randn f32[4096]:ones f32[3,4096]:zeros 3 4096 1e-5"),
    "saxpy_pointers": ((3,), "f32[9000]:randn f32[9000]:zeros 2.5 9000"),
    "saxpy_vector": ((3,), "f32[9000]:randn f32[9000]:zeros 2.5 9000"),
    "softmax": ((3,), "f32[3,4096]:randn f32[3,4096]:zeros 3 4096"),
    "softmax_front_end": ((3,), "f32[3,4096]:randn f32[3,4096]:zeros 3 4096"),
    "softmax_pointers": ((2,), "f32[13,1000]:randn f32[13,1000]:zeros 13 1000"),
    "softmax_rows_pointers": ((3,), "f32[3,4000]:randn f32[3,4000]:zeros 3 4000"),
    "vector_add_views": ((3,), "f32[9000]:randn f32[9000]:randn f32[9000]:zeros 9000"),
}
OPEN = {"histogram", "layer_norm_pointers", "moe_rows_pointers", "softmax_pointers", "softmax_rows_pointers"}
"""Kernels that a run decides: indices are loaded, or a tile block or turn of a loop has a row by pointers."""


def test_all_are_launched() -> None:
    assert {path.stem for path in KERNELS.glob("*.mlir")} == LAUNCHES.keys()


@pytest.mark.parametrize("name", LAUNCHES)
def test_a_kernel_has_no_finding(name: str) -> None:
    grid, words = LAUNCHES[name]
    (kernel,) = tileir.load(KERNELS / f"{name}.mlir").kernels.values()
    values = [one.value for one in given_values(kernel, words.split(), 0)]
    report = tileir.sanitize(kernel, grid, *values)
    assert not report.findings, str(report)
    (proof,) = report.proofs
    if name not in OPEN:
        assert proof.races.decided and proof.bounds.decided
