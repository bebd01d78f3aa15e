"""Golden programs, examples and random programs compile to machine code for AMD's GPUs, without one.

A sample: each program is compiled for one of three architectures, most of them only by `make script-test`.
`make amd-test` compiles all for all.
"""

from __future__ import annotations

import random

import pytest

import tileir
from tests.golden.arguments import programs
from tests.gpu.ttir_refusals import refusal
from tests.observe import observe
from tests.thorough import sampled
from tileir.examples.checks import EXAMPLES
from tileir.fuzz.builder import ProgramBuilder
from tileir.fuzz.draft import STORED
from tileir.gpu.arch import WAVES, Vendor, arch_named
from tileir.gpu.executable import kernels_of
from tileir.gpu.object_files import vendor_of
from tileir.gpu.program import aligned_facts, compiled
from tileir.ir import types as t
from tileir.ir.diagnostics import UnsupportedError
from tileir.runtime.gpu_routes import source_of

pytest.importorskip("triton", reason="needs triton: pip install '.[gpu]'")

ARCHS = ("gfx942", "gfx1100", "gfx1201")
PROGRAMS = list(programs())
FILES = sorted({file for file, _ in PROGRAMS})


def machine_code(kernel: tileir.Kernel, arch: str) -> bytes:
    made = compiled(source_of(kernel), arch_named(arch), aligned_facts(kernel.entry), ["hsaco"])
    code = made.artifacts.binary
    assert code is not None and vendor_of(code) is Vendor.AMD
    return code


def require_golden(file: str, arch: str) -> None:
    """Compile all entries of a file with every value stored; those that are to be refused must be."""
    kernels = [kernel for name, text in PROGRAMS if name == file for kernel in tileir.parse(text).kernels.values()]
    for kernel in kernels:
        expected = refusal(f"{file}.{kernel.name}", arch)
        observe(kernel.entry)
        if expected is None:
            machine_code(kernel, arch)
        else:
            with pytest.raises(UnsupportedError, match=expected):
                machine_code(kernel, arch)


@pytest.mark.parametrize("number", sampled(range(len(FILES)), 4), ids=FILES.__getitem__)
def test_a_golden_program_compiles(number: int) -> None:
    require_golden(FILES[number], ARCHS[number % len(ARCHS)])


@pytest.mark.parametrize("number", sampled(range(len(EXAMPLES)), 4), ids=lambda number: EXAMPLES[number].name)
def test_an_example_compiles(number: int) -> None:
    example = EXAMPLES[number]
    machine_code(tileir.load(example.path)[example.kernel], ARCHS[number % len(ARCHS)])


@pytest.mark.parametrize("arch", sampled(WAVES, 4))
def test_random_programs_compile(arch: str) -> None:
    choose = random.Random(arch).choice
    elements = tuple(dict.fromkeys((t.I32, t.I1, choose(STORED), choose(STORED))))
    machine_code(tileir.Module.of(ProgramBuilder(choose, elements).program(10))["k"], arch)


@pytest.mark.parametrize(("arch", "threads"), [("gfx942", 256), ("gfx1100", 128)])
def test_a_hsaco_tells_its_kernels(arch: str, threads: int) -> None:
    text = "entry @k(%p: tile<ptr<f32>>, %n: tile<i8>, %x: tile<f64>) { return }"
    made = compiled(source_of(tileir.parse(text)["k"]), arch_named(arch), [], ["hsaco"])
    assert made.artifacts.binary is not None
    (info,) = kernels_of(made.artifacts.binary).values()
    assert (info.name, info.parameters, info.stack) == ("tileir_k", (8, 1, 8, 8, 8), 0)
    assert 0 < info.threads <= threads


@pytest.mark.parametrize("content", [b"\x7fELF\x02\x01" + bytes(12) + b"\xe0\0" + bytes(60)], ids=["zeros"])
def test_what_is_no_hsaco_is_noticed(content: bytes) -> None:
    with pytest.raises(ValueError, match="expected a hsaco"):
        kernels_of(content)
