"""Every golden program that a GPU can run compiles to machine code, on a machine without a GPU.

They are compiled with every value stored, because Triton's compiler drops unused values. The examples are compiled as
they are.
"""

from __future__ import annotations

import random
from itertools import product

import pytest

import tileir
from tests.golden.arguments import programs
from tests.gpu.ttir_refusals import REFUSALS, refusal
from tests.observe import observe
from tests.thorough import sampled
from tileir.examples import Example
from tileir.examples.checks import EXAMPLES
from tileir.fuzz.builder import ProgramBuilder
from tileir.fuzz.draft import STORED
from tileir.gpu.arch import arch_named
from tileir.gpu.program import aligned_facts, compiled
from tileir.ir import types as t
from tileir.ir.diagnostics import UnsupportedError
from tileir.runtime.gpu_routes import source_of

pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")

ARCHS = ("sm_80", "sm_90", "sm_100")
PROGRAMS = list(programs())
FILES = sorted({file for file, _ in PROGRAMS})


def _kernels(file: str) -> list[tileir.Kernel]:
    return [kernel for name, text in PROGRAMS if name == file for kernel in tileir.parse(text, name).kernels.values()]


def _compile(kernel: tileir.Kernel, arch: str) -> None:
    made = compiled(source_of(kernel), arch_named(arch), aligned_facts(kernel.entry), ["cubin"])
    assert made.artifacts.binary is not None and made.artifacts.binary.startswith(b"\x7fELF")


@pytest.mark.parametrize(("file", "arch"), sampled(product(FILES, ARCHS), 4))
def test_a_golden_program_compiles_with_all_its_values(file: str, arch: str) -> None:
    for kernel in _kernels(file):
        expected = refusal(f"{file}.{kernel.name}", arch)
        observe(kernel.entry)
        if expected is None:
            _compile(kernel, arch)
        else:
            with pytest.raises(UnsupportedError, match=expected):
                _compile(kernel, arch)


@pytest.mark.parametrize("example", sampled(EXAMPLES, 4), ids=lambda example: example.name)
def test_an_example_compiles(example: Example) -> None:
    _compile(tileir.load(example.path)[example.kernel], "sm_90")


@pytest.mark.parametrize("arch", sampled(ARCHS, 3))
def test_random_programs_compile(arch: str) -> None:
    for seed in range(4):
        choose = random.Random(seed).choice
        elements = tuple(dict.fromkeys((t.I32, t.I1, choose(STORED), choose(STORED))))
        _compile(tileir.Module.of(ProgramBuilder(choose, elements).program(10))["k"], arch)


def test_every_refusal_is_of_a_golden_program() -> None:
    names = {f"{file}.{kernel}" for file, text in PROGRAMS for kernel in tileir.parse(text, file).kernels}
    assert set(REFUSALS) <= names
