"""Kernels of Triton as programs, without a launch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("triton", reason="needs triton")

import triton

import tileir
from tests.triton.launched_kernels import add, doubled, scalars
from tileir.ir.loc import file_position
from tileir.ops.pointers import StorePtr
from tileir.triton import to_tile_ir

FILE = Path(__file__).with_name("launched_kernels.py")
TYPES = "*fp32,*fp32,*fp32,i32"


def test_a_kernel_becomes_a_module() -> None:
    module = to_tile_ir(add, TYPES, {"BLOCK": 128})
    x, out = np.arange(300, dtype=np.float32), np.zeros(300, np.float32)
    module["add"].launch(3, x, x, out, 300)
    assert (out == 2 * x).all() and tileir.verify(module).ok


def test_bytecode_has_the_lines_of_the_python_file() -> None:
    again = tileir.from_bytecode(tileir.to_bytecode(to_tile_ir(doubled, "*fp32,i32", {"BLOCK": 16})))
    (store,) = (op for op in again["doubled"].entry.walk() if isinstance(op, StorePtr))
    place = file_position(store.loc)
    assert place.file == str(FILE) and "tl.store(x_ptr" in FILE.read_text().splitlines()[place.line - 1]


def test_types_come_in_order_or_by_name() -> None:
    first = to_tile_ir(doubled, ["*fp16", "i64"], {"BLOCK": 16})
    second = to_tile_ir(doubled, {"n": "i64", "x_ptr": "*fp16"}, {"BLOCK": 16})
    assert tileir.to_text(first) == tileir.to_text(second)
    assert [repr(one.type) for one in first["doubled"].parameters] == ["tile<ptr<f16>>", "tile<i64>"]


def test_a_divisor_is_promised() -> None:
    assert "div_by<16>" not in tileir.to_text(to_tile_ir(doubled, "*fp16,i32", {"BLOCK": 16}))
    assert "div_by<16>" in tileir.to_text(to_tile_ir(doubled, "*fp16:16,i32", {"BLOCK": 16}))


def test_a_parameter_may_be_made_a_constant() -> None:
    module = to_tile_ir(doubled, "*fp32", {"BLOCK": 16, "n": 10})
    x = np.ones(16, np.float32)
    module["doubled"].launch(1, x)
    assert x.sum() == 26
    kernel = to_tile_ir(scalars, "*fp32,i32,fp32,i1,i64,fp16", {"missing": None, "word": "yes"})["scalars"]
    assert len(kernel.parameters) == 6


def test_a_kernel_that_is_tuned_is_taken() -> None:
    tuned = triton.autotune([triton.Config({"BLOCK": 16})], key=[])(doubled)
    guessing = triton.heuristics({"BLOCK": lambda args: 16})(tuned)
    assert "doubled" in to_tile_ir(guessing, "*fp32,i32", {"BLOCK": 16}).kernels


@pytest.mark.parametrize(
    ("signature", "constants", "message"),
    [
        ("*fp32", {"BLOCK": 16}, "signature: expected 4 types, of x_ptr, y_ptr, out_ptr, n, got 1"),
        ({"n": "i32"}, {"BLOCK": 16}, "signature: expected a type of x_ptr, y_ptr, out_ptr"),
        (TYPES.replace("i32", "word"), {"BLOCK": 16}, r"expected a type such as \*fp32 or i32 for n, got 'word'"),
        (TYPES, {}, "constexprs: expected a value of BLOCK"),
        (TYPES, {"BLOCK": 16, "SIZE": 1}, "constexprs: expected names of x_ptr, y_ptr, out_ptr, n, BLOCK, got SIZE"),
    ],
)
def test_what_does_not_fit_is_refused(signature: object, constants: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        to_tile_ir(add, signature, constants)


def test_what_is_no_kernel_is_refused() -> None:
    with pytest.raises(
        TypeError, match=r"^kernel: expected a function of @triton.jit, got builtin_function_or_method$"
    ):
        to_tile_ir(print, "")


# ---------------------------------------------------------------- the command


def compile_kernel(name: str, *options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tileir", "compile", f"{FILE}::{name}", *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_command_compiles_a_kernel_of_a_script(tmp_path: Path) -> None:
    options = "--signature", TYPES, "--constexpr", "BLOCK=128"
    text = compile_kernel("add", *options, "--emit", "tileir")
    assert tileir.parse(text.stdout)["add"].name == "add", text.stderr
    path = tmp_path / "add.tileirbc"
    assert compile_kernel("add", *options, "--emit", "bytecode", "-o", path).returncode == 0
    assert tileir.load(path)["add"].name == "add"
    assert ".target sm_90" in compile_kernel("add", *options, "--target", "sm_90").stdout


def test_the_command_says_what_does_not_fit() -> None:
    for options, message in (
        ((), "signature: expected 4 types, of x_ptr, y_ptr, out_ptr, n, got 0"),
        (("--signature", TYPES), "constexprs: expected a value of BLOCK"),
        (("--constexpr", "BLOCK"), "--constexpr BLOCK: expected NAME=VALUE"),
    ):
        done = compile_kernel("add", *options)
        assert done.returncode == 2 and message in done.stderr
    assert "no kernel 'ad'" in compile_kernel("ad").stderr


def test_what_triton_refuses_is_shown_in_its_words(tmp_path: Path) -> None:
    script = tmp_path / "wrong.py"
    script.write_text("import triton\n\n\n@triton.jit\ndef wrong(x):\n    y = x.nothing\n")
    command = [sys.executable, "-m", "tileir", "compile", f"{script}::wrong", "--signature", "*fp32"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith(f"{script}: at ") and "Traceback" not in done.stderr
