"""The vendor's assembler takes the Tile IR of the kernels of `bench/kernels/model_kernels`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("triton", reason="needs triton")

import tileir
from tileir.cache import Cache
from tileir.gpu import vendor
from tileir.gpu.arch import arch_named
from tileir.ir.diagnostics import UnsupportedError
from tileir.triton import to_tile_ir

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "kernels"))

from model_kernels import attention, elementwise, matmul, orders, rows, windows

pytestmark = pytest.mark.skipif(vendor.program() is None, reason="needs tileiras: pip install nvidia-cuda-tileiras")

F, H, N = "*fp32", "*fp16", "i32"
PRODUCT = {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32}
ATTENTION = {"CAUSAL": True, "BLOCK_M": 32, "BLOCK_N": 32, "WIDTH": 32}
KERNELS = [
    (elementwise.add_kernel, [F, F, F, N], {"BLOCK": 256}),
    (elementwise.dropout_kernel, [F, F, N, "fp32", N], {"BLOCK": 256}),
    (elementwise.swiglu_kernel, [H, H, H, N], {"BLOCK": 256}),
    (elementwise.rope_kernel, [F, F, F, N, N], {"HALF": 32, "HEADS": 8}),
    (rows.softmax_kernel, [F, F, N, N, N], {"BLOCK": 256}),
    (rows.cross_entropy_kernel, [F, "*i64", F, N, N, N, "fp32"], {"BLOCK": 256}),
    (rows.layer_norm_kernel, [F] * 6 + [N, N, "fp32"], {"BLOCK": 256}),
    (rows.layer_norm_gradient_kernel, [F] * 8 + ["*i32", N, N], {"GROUPS": 64, "BLOCK": 256}),
    (rows.layer_norm_sum_kernel, [F, F, N, N], {"ROWS": 32, "BLOCK": 32}),
    (matmul.matmul_kernel, [H] * 3 + [N] * 9, {**PRODUCT, "GROUP": 8}),
    (matmul.persistent_matmul_kernel, [H] * 3 + [N] * 3, {**PRODUCT, "GROUP": 8}),
    (matmul.grouped_matmul_kernel, ["*i64"] * 3 + ["*i32", "*i32", N], PRODUCT),
    (matmul.scaled_matmul_kernel, ["*fp8e4nv", "*u8", "*fp8e4nv", "*u8", F, N, N, N], PRODUCT),
    (attention.attention_kernel, [H] * 4 + [F, "fp32", N], ATTENTION),
    (attention.attention_rows_kernel, [H, H, F, N], {"BLOCK": 32, "WIDTH": 32}),
    (attention.attention_gradient_kernel, [H] * 4 + [F] * 3 + [H, H, "fp32", N], ATTENTION),
    (attention.paged_decode_kernel, [H] * 3 + ["*i32", "*i32", H, "fp32", N, N, N], {"PAGE": 16, "WIDTH": 32}),
    (orders.topk_kernel, [F, F, "*i64", N, N], {"K": 8, "BLOCK": 64}),
    (orders.recurrence_kernel, [F, F, F, N], {"BLOCK": 64}),
    (windows.causal_filter_kernel, [F, F, F, N], {"TAPS": 4, "BLOCK": 64}),
    (windows.neighbours_kernel, [F, F, N, N], {"BLOCK_M": 16, "BLOCK_N": 32}),
]


@pytest.mark.parametrize("arch", ["sm_100", "sm_90"])
@pytest.mark.parametrize(("kernel", "types", "constants"), KERNELS, ids=[one[0].fn.__name__ for one in KERNELS])
def test_a_kernel_assembles(kernel: object, types: list[str], constants: dict[str, object], arch: str) -> None:
    code = tileir.to_bytecode(to_tile_ir(kernel, types, constants), version="13.4")
    if kernel is matmul.scaled_matmul_kernel and arch == "sm_90":
        with pytest.raises(UnsupportedError, match="unsupported type 'f8E8M0FNU'"):
            vendor.cubin(code, arch_named(arch), Cache(None))
    else:
        assert vendor.cubin(code, arch_named(arch), Cache(None))
