"""The vendor's assembler takes after optimisation what it took before: examples, and a sample of random programs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import pytest

import tileir
from tests.thorough import sampled
from tileir.cache import Cache
from tileir.examples.checks import EXAMPLES
from tileir.fuzz.builder import ProgramBuilder
from tileir.gpu import vendor
from tileir.gpu.arch import arch_named
from tileir.ir import types as t
from tileir.ir.diagnostics import UnsupportedError

T = TypeVar("T")
pytestmark = pytest.mark.skipif(vendor.program() is None, reason="needs tileiras: pip install nvidia-cuda-tileiras")
SAMPLE = ("vector_add", "softmax", "layer_norm", "mutex", "reduction", "transpose")
SOFTMAX = Path(__file__).parents[2] / "bench" / "kernels" / "softmax_pointers.mlir"
SEEDS = (2, 8, 14, 17, 22, 23)
"""Random programs without operations that no bytecode, or none of version 13.3, has."""


def assembles(module: tileir.Module) -> bool:
    try:
        return bool(vendor.cubin(tileir.to_bytecode(module, version="13.3"), arch_named("sm_100"), Cache(None)))
    except UnsupportedError:
        return False


@pytest.mark.parametrize("name", sampled(SAMPLE, 3))
def test_an_example_still_assembles(name: str) -> None:
    path, *_ = {Path(example.path) for example in EXAMPLES if Path(example.path).stem == name}
    module = tileir.load(path)
    assert assembles(module)
    assert assembles(tileir.optimize(module, 3))


@pytest.mark.thorough
def test_masks_do_not_become_more_machine_code() -> None:
    """A part of a mask that is the same for all elements stays a tile: as one bit it made three times the code."""
    module = tileir.load(SOFTMAX)
    sizes = [len(vendor.cubin(tileir.to_bytecode(one, version="13.3"), arch_named("sm_90"), Cache(None)))
             for one in (module, tileir.optimize(module, 2))]  # fmt: skip
    assert sizes[1] <= sizes[0]


@pytest.mark.parametrize("seed", sampled(SEEDS, 3))
def test_a_random_program_still_assembles(seed: int) -> None:
    source = random.Random(seed)

    def choose(options: Sequence[T]) -> T:
        return source.choice(options)

    module = tileir.Module.of(ProgramBuilder(choose, (t.I32, t.I1, t.F32, t.F16)).program(8))
    assert assembles(module)
    assert assembles(tileir.optimize(module, 3))
