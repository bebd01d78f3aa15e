"""Kernels of Triton as programs, without a launch."""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("triton", reason="needs triton")

import triton

import tileir
from tests.processes import run_python
from tests.triton_kernels.launched_kernels import add, doubled, scalars
from tileir.cli.serve import _text
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
    return run_python("-m", "tileir", "compile", f"{FILE}::{name}", *options)


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


def test_the_command_to_copy_has_the_types_of_the_kernel() -> None:
    done = tool("sanitize", ADD, *CHOSEN)
    assert f"for example: tileir sanitize {ADD} --signature '{TYPES}' --constexpr BLOCK=128 --grid 1" in done.stderr


def test_what_triton_refuses_is_shown_in_its_words(tmp_path: Path) -> None:
    script = tmp_path / "wrong.py"
    script.write_text("import triton\n\n\n@triton.jit\ndef wrong(x):\n    y = x.nothing\n")
    done = run_python("-m", "tileir", "compile", f"{script}::wrong", "--signature", "*fp32")
    assert done.returncode == 1
    assert done.stderr.startswith(f"{script}: at ") and "Traceback" not in done.stderr


# ---------------------------------------------------------------- the other verbs

ADD = f"{FILE}::add"
CHOSEN = "--signature", TYPES, "--constexpr", "BLOCK=128"
ARRAYS = "x_ptr=f32[300]:arange", "y_ptr=f32[300]:ones", "out_ptr=f32[300]:zeros", "n=300"
LAUNCH = *CHOSEN, "--grid", "3", *ARRAYS


def tool(*words: object, commands: str = "") -> subprocess.CompletedProcess[str]:
    return run_python("-m", "tileir", *words, commands=commands)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("check", ADD, *CHOSEN), "add: ok, 1 entry"),
        (("run", ADD, *LAUNCH, "--print", "out_ptr"), "300."),
        (("sanitize", ADD, *LAUNCH), "no findings in kernel @add"),
        (("prove", ADD, *CHOSEN), "races: none"),
        (("explore", ADD, *CHOSEN, "--grid", "1", *(word.replace("300", "4") for word in ARRAYS)), "no fault"),
        (("profile", ADD, *LAUNCH, "--seconds", "0.05"), "tl.store(out_ptr + offsets, x + y, mask=mask)"),
        (("bench", ADD, *LAUNCH), "@add: 3 tile blocks"),
        (("equiv", ADD, ADD, *CHOSEN), "@add: equal"),
    ],
    ids=lambda word: word[0] if isinstance(word, tuple) else "",
)
def test_a_verb_takes_a_kernel_of_a_script(words: tuple[str, ...], said: str) -> None:
    done = tool(*words)
    assert done.returncode == 0 and said in done.stdout + done.stderr, done.stderr


def test_the_pictures_and_the_debugger_show_the_lines_of_the_script(tmp_path: Path) -> None:
    page = tmp_path / "launch.html"
    assert tool("view", ADD, *LAUNCH, "-o", page).returncode == 0
    assert "tl.store(out_ptr" in page.read_text()
    stepped = tool("debug", ADD, *LAUNCH, commands="s\nq\n")
    assert "offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)" in stepped.stdout


def test_a_kernel_is_compared_with_its_twin_in_another_language(tmp_path: Path) -> None:
    twin = tmp_path / "twin.mlir"
    tensor = "tensor_view<?xf32, strides=[1]>"
    view = f"partition_view<tile=(128), {tensor}>"
    views = "\n".join(
        f"""  %{name}_all = make_tensor_view %{name}, shape = [%n], strides = [1] : tile<i32> -> {tensor}
  %{name}_tiles = make_partition_view %{name}_all : {view}"""
        for name in ("x", "y", "out")
    )
    twin.write_text(f"""entry @add(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %out: tile<ptr<f32>>, %n: tile<i32>) {{
{views}
  %b, %u, %v = get_tile_block_id : tile<i32>
  %p, %t0 = load_view_tko weak %x_tiles[%b] : {view}, tile<i32> -> tile<128xf32>, token
  %q, %t1 = load_view_tko weak %y_tiles[%b] : {view}, tile<i32> -> tile<128xf32>, token
  %s = addf %p, %q : tile<128xf32>
  %t2 = store_view_tko weak %s, %out_tiles[%b] : tile<128xf32>, {view}, tile<i32> -> token
}}""")
    same = tool("equiv", ADD, twin, *LAUNCH)
    assert same.returncode == 0 and "@add: equal on 1 launch" in same.stdout, same.stderr
    twin.write_text(twin.read_text().replace("addf %p, %q", "subf %p, %q"))
    other = tool("equiv", twin, ADD, *LAUNCH[:6], "x=f32[300]:arange", "y=f32[300]:ones", "out=f32[300]:zeros", "n=300")
    assert other.returncode == 1 and "different: out[0]: -1.0" in other.stdout, other.stderr


def test_a_kernel_is_served_as_ttir_without_its_places() -> None:
    options = argparse.Namespace(file=ADD, signature=TYPES, constexpr=["BLOCK=128"])
    text = _text(options)
    assert "tt.func public @add(%x_ptr: !tt.ptr<f32>" in text and "loc(" not in text


def test_types_are_only_for_kernels_of_scripts(tmp_path: Path) -> None:
    program = tmp_path / "empty.mlir"
    program.write_text("entry @k() {}")
    for words in (("check", program), ("run", program, "--grid", "1"), ("equiv", program, program)):
        done = tool(*words, "--signature", "*fp32")
        assert done.returncode == 2 and "are for a kernel in a script" in done.stderr
