"""The vendor's assembler takes what golden Triton programs become."""

from __future__ import annotations

from pathlib import Path

import pytest

import tileir
from tests.thorough import sampled
from tileir.cache import Cache
from tileir.gpu import vendor
from tileir.gpu.arch import arch_named

pytestmark = pytest.mark.skipif(vendor.program() is None, reason="needs tileiras: pip install nvidia-cuda-tileiras")
GOLDEN = Path(__file__).parent / "golden"
SAMPLE = ("atomics", "descriptor_rows", "descriptors", "early_return", "elements", "loops", "positions", "scaled")


@pytest.mark.parametrize("name", sampled(SAMPLE, 4))
def test_a_golden_program_assembles(name: str) -> None:
    module = tileir.load(GOLDEN / f"{name}.ttir")
    assert vendor.cubin(tileir.to_bytecode(module, version="13.4"), arch_named("sm_100"), Cache(None))
