"""Code for lesser processors computes what the interpreter does, and code for AArch64 has the instructions it should.

The levels of x86-64 run here, in processes of their own; for AArch64 only the assembly is looked at.
"""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tileir.cpu.llvm import engine
from tileir.cpu.llvm.engine import CONVERSIONS

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "bench"
on_x86 = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="runs code of x86-64")


def run(words: list[str], tmp_path: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TILEIR_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, *words], env=environment, capture_output=True, text=True, timeout=240, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@on_x86
@pytest.mark.parametrize(("level", "expected"), [("SSE2", "x86-64 128"), ("AVX2", "x86-64-v3 256")])
def test_golden_programs_are_those_of_the_interpreter_at_a_lower_level(level, expected, tmp_path):
    if level == "AVX2" and engine.host().vector_bits < 256:
        pytest.skip("this processor has no AVX2")
    assert run(["-m", "tests.cpu.other_processor", level, "20"], tmp_path).startswith(expected)


@pytest.mark.parametrize(
    ("processor", "program", "instruction"),
    [("AArch64", "gemm_f32", "fmla"), ("Neoverse V1", "gemm_bf16", "bfdot"), ("Neoverse V1", "gemm_i8", "sdot")],
)
def test_code_for_arm_has_its_instructions(processor, program, instruction, tmp_path):
    words = [str(BENCH / "processors.py"), "--arm", processor, str(BENCH / "kernels" / f"{program}.mlir")]
    assert f"\t{instruction}\t" in run(words, tmp_path)


WRAPPED = """
define i32 @widened_bits(i16 %bits) {
  %half = bitcast i16 %bits to half
  %float = call float @widened(half %half)
  %found = bitcast float %float to i32
  ret i32 %found
}

define i32 @narrowed_bits(i32 %bits) {
  %float = bitcast i32 %bits to float
  %half = call half @narrowed(float %float)
  %short = bitcast half %half to i16
  %found = zext i16 %short to i32
  ret i32 %found
}
"""


def test_f16_is_converted_without_an_instruction_as_numpy_does():
    text = CONVERSIONS.replace("__extendhfsf2", "widened").replace("__truncsfhf2", "narrowed") + WRAPPED
    code = engine.Loaded(engine.object_code(text, engine.host()), engine.host(), ("widened_bits", "narrowed_bits"))
    widened = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint16)(code.addresses["widened_bits"])
    narrowed = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32)(code.addresses["narrowed_bits"])
    halves = np.arange(1 << 16, dtype=np.uint16)
    expected = halves.view(np.float16).astype(np.float32)
    got = np.array([widened(int(half)) for half in halves], np.uint32).view(np.float32)
    np.testing.assert_array_equal(got, expected)
    assert np.array_equal(np.signbit(got), np.signbit(expected))
    finite = np.unique(expected[np.isfinite(expected)])
    middles = ((finite[1:].astype(np.float64) + finite[:-1]) / 2).astype(np.float32)
    around = [finite, middles, *(np.nextafter(middles, np.float32(end)) for end in (-np.inf, np.inf))]
    edges = np.float32([65519.99, 65520, 1e30, np.inf, -np.inf, np.nan, 1e-45, 2.0**-25, 2.0**-24])
    numbers = np.concatenate([*(values[::7] for values in around), edges, -edges]).astype(np.float32)
    with np.errstate(over="ignore"):
        wanted = numbers.astype(np.float16)
    short = np.array([narrowed(int(word)) for word in numbers.view(np.uint32)], np.uint16).view(np.float16)
    np.testing.assert_array_equal(short, wanted)
    assert np.array_equal(np.signbit(short), np.signbit(wanted))
