"""Random Triton kernels compute the same in Triton's interpreter, in ours, and as native code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_triton_ir_golden import needs_triton

from tests.thorough import sampled
from tileir.triton import from_ttir

pytest.importorskip("torch")
pytestmark = needs_triton
SEEDS = range(12)


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with what Triton's interpreter gives."""
    folder = tmp_path_factory.mktemp("random")
    script = Path(__file__).parent / "random_kernels.py"
    command = [sys.executable, "-W", "ignore", str(script), str(folder), str(SEEDS.start), str(len(SEEDS))]
    subprocess.run(command, env=os.environ | {"TRITON_INTERPRET": "1"}, check=True)
    return folder


@pytest.mark.parametrize("seed", sampled(SEEDS, 3))
def test_a_random_kernel_computes_the_same_three_ways(seed: int, interpreted: Path, tmp_path: Path) -> None:
    from golden_kernels import Compiled
    from random_kernels import BLOCK, COUNT, PROGRAMS, arguments, written
    from triton_compiler import ttir

    kernel = written(seed, tmp_path).kernel
    types = ["*fp32", "*fp32", "*i32", "*i32", "*i32", "*fp32", "*i32", "i32", "constexpr"]
    text = ttir(Compiled(kernel, dict(zip(kernel.arg_names, types)), {"BLOCK": BLOCK}))
    module = from_ttir(text, f"random_kernel_{seed}.ttir")
    with np.load(interpreted / f"{seed}.npz") as found:
        expected = list(found.values())
    for target in ("interp", "cpu"):
        arrays = arguments(seed)
        module["kernel"].launch(PROGRAMS, *arrays, COUNT, target=target)
        for mine, other in zip(arrays, expected):
            np.testing.assert_array_equal(mine, other, err_msg=target)
