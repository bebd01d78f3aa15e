"""`pack` and `unpack` as TTIR: equal to the interpreter on the TTIR machine, and compiled for every generation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tests.cpu.samples import operands
from tests.gpu.ttir_operations import ARCHS, Case, case, executed, interpreted, require_compilable
from tests.thorough import sampled
from tileir.gpu.arch import arch_named
from tileir.ir import types as t
from tileir.ops import packing

HOPPER = arch_named("sm_90")
PACKABLE = (t.I1, t.I4, t.F4E2M1FN, t.I16, t.F16, t.BF16, t.I32, t.F32, t.TF32, t.I64, t.F64)


def cases(byte_count: int) -> Iterator[Case]:
    """Yield both directions for every element type of which some elements fill as many bytes."""
    for element in PACKABLE:
        count = 8 * byte_count // stream_bits(element)
        if count:
            yield case(packing.Pack, [element], t.I8, (count,), (byte_count,))
            yield case(packing.Unpack, [t.I8], element, (byte_count,), (count,))


def stream_bits(element: t.ElementType) -> int:
    return 1 if element is t.I1 else element.memory_bits


def name(found: Case) -> str:
    return f"{found.name}-{found.op.results[0].type.count}"


@pytest.mark.parametrize("found", [one for size in (1, 2, 16, 1024) for one in cases(size)], ids=name)
def test_streams_equal_the_interpreter(found: Case) -> None:
    type = found.op.operands[0].type
    (whole,) = operands(type.element, 1)
    array = np.resize(whole, type.shape)
    result, expected = executed(found.op, [array], HOPPER), interpreted(found.op, [array])
    if found.op.results[0].type.element is t.TF32:
        expected = (expected.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    assert result.tobytes() == expected.tobytes()


@pytest.mark.parametrize("arch", sampled(ARCHS, 3))
def test_streams_compile(arch: str) -> None:
    pytest.importorskip("triton", reason="needs Triton's compiler: pip install '.[gpu]'")
    require_compilable([one.op for size in (1, 64) for one in cases(size)], arch_named(arch))
