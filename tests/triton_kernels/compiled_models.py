"""Models compiled by PyTorch's Inductor into Triton kernels for the CPU, beside the same models as they are."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("triton", reason="needs triton")

import torch
from torch.testing import assert_close

from tests.triton_kernels.launched_kernels import doubled

if shutil.which("gcc") is None and "CXX" not in os.environ:
    pytest.skip("Inductor looks for a C++ compiler whatever it compiles", allow_module_level=True)

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "kernels"))

from torch_models import models, results

MODELS = models(1)


@pytest.fixture(autouse=True)
def inductor() -> Iterator[None]:
    from torch._inductor import config
    from torch._inductor.utils import fresh_cache

    torch.manual_seed(0)
    torch._dynamo.reset()
    with config.patch(cpu_backend="triton", compile_threads=1), fresh_cache():
        yield


@pytest.mark.parametrize("name", ["MLP", "convolutions", "embedding, block, cross entropy"])
def test_a_compiled_model_and_its_gradients_equal_eager(name: str) -> None:
    model, inputs = MODELS[name].make(), MODELS[name].inputs(5)
    for found, wanted in zip(results(model, torch.compile(model), inputs), results(model, model, inputs), strict=True):
        assert_close(found, wanted, atol=1e-4, rtol=1e-3)


def test_shapes_may_be_dynamic() -> None:
    model = MODELS["transformer block"].make()
    compiled = torch.compile(model, dynamic=True)
    for size in (5, 17, 32):
        inputs = MODELS["transformer block"].inputs(size)
        with torch.no_grad():
            assert_close(compiled(*inputs), model(*inputs), atol=1e-4, rtol=1e-3)


def test_the_kernels_are_tritons() -> None:
    from torch._inductor.utils import run_and_get_code

    _, (code,) = run_and_get_code(torch.compile(lambda x: torch.relu(x).sum(1)), torch.randn(8, 100))
    assert "@triton.jit" in code and "async_compile.cpp" not in code


def test_what_is_compiled_can_be_sent_to_another_process() -> None:
    """Inductor compiles in several processes and sends kernels back."""
    x = torch.ones(100)
    asm = doubled[(1,)](x, 100, BLOCK=128).asm
    again = pickle.loads(pickle.dumps(asm))
    assert again["tileir"] == asm["tileir"] and "define" in again["llvm"]


def test_kernels_that_other_processes_have_compiled_run() -> None:
    """As they do by default; the kernels that come back have lost their Python functions."""
    from torch._inductor import config
    from torch._inductor.async_compile import AsyncCompile, shutdown_compile_workers

    x = torch.randn(30, 200)
    with config.patch(compile_threads=2):
        AsyncCompile.wait_pool_ready()
        try:
            assert_close(torch.compile(lambda x: x.softmax(1).cumsum(0))(x), x.softmax(1).cumsum(0))
        finally:
            shutdown_compile_workers()
