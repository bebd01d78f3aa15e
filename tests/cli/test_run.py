"""``tileir run``: launches, results, traps."""

import os
from pathlib import Path

import numpy as np
import pytest

TWO = b"""
cuda_tile.module @m {
  entry @first() { }
  entry @second(%n: tile<i32>) {
    %t = print_tko "n = %d\\n", %n : tile<i32> -> token
  }
}
"""


def test_arrays_are_changed_shown_printed_and_saved(tileir, scale: Path) -> None:
    ran = tileir(
        "run", "scale.mlir", "--grid", "2", "x=f32[8]:arange", "factor=0.5", "--print", "x", "--save", "x=half.npy"
    )
    assert ran.status == 0
    assert "@scale: 2 tile blocks in" in ran.out
    assert "written" in ran.out
    assert "[0.  0.5 1.  1.5 2.  2.5 3.  3.5]" in ran.out
    np.testing.assert_array_equal(np.load("half.npy"), np.arange(8, dtype=np.float32) / 2)
    again = tileir("run", "scale.mlir", "--grid", "2", "@half.npy", "2", "--print", "x")
    assert "[0. 1. 2. 3. 4. 5. 6. 7.]" in again.out


def test_the_same_seed_gives_the_same_checksum(tileir, scale: Path) -> None:
    def row(*more: str) -> str:
        out = tileir("run", "scale.mlir", "--grid", "2", "f32[8]:randn", "2", *more).out
        return next(line for line in out.splitlines() if "f32" in line)

    assert row() == row()
    assert row() != row("--seed", "1")


def test_the_kernel_is_named_when_there_are_several(tileir) -> None:
    ran = tileir("run", "-", "--grid", "1", stdin=TWO)
    assert ran.status == 2
    assert "say which kernel with --kernel; the program has first, second" in ran.err
    assert tileir("run", "-", "--kernel", "third", "--grid", "1", stdin=TWO).status == 2
    ran = tileir("run", "-", "--kernel", "second", "--grid", "2", "7", stdin=TWO)
    assert ran.status == 0
    assert ran.out.count("n = 7\n") == 2


@pytest.mark.parametrize("grid", ["0", "a", "1,2,3,4", "", "-1", "1,,2", "99999999999"])
def test_a_wrong_grid_is_wrong_usage(tileir, scale: Path, grid: str) -> None:
    ran = tileir("run", "scale.mlir", f"--grid={grid}", "f32[4]:ones", "1")
    assert ran.status == 2
    assert "grid" in ran.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["f16[4]:ones", "1"], "parameter 0 'x' (tile<ptr<f32>>): expected an array of float32"),
        (["7", "1"], "parameter 'x' is a tile<ptr<f32>>: expected an array such as f32[64]:zeros, got a number"),
        (["f32[4]:ones", "f32[1]:ones"], "parameter 1 'factor'"),
        (["f32[4]:ones", "i32:1"], "parameter 'factor': expected f32, got i32"),
        (["f32[4]:ones"], "expected an argument for 'factor', got only a --grid and an argument for 'x'"),
        (["f32[4]:ones", "1", "2"], "got more: '2'"),
        (["@none.npy", "1"], "cannot read 'none.npy'"),
        (["y=f32[4]", "1"], "no parameter 'y'; the kernel has x, factor"),
    ],
)
def test_arguments_that_do_not_fit_are_wrong_usage(tileir, scale: Path, arguments: list[str], message: str) -> None:
    ran = tileir("run", "scale.mlir", "--grid", "1", *arguments)
    assert ran.status == 2
    assert message in ran.err
    assert ran.err.count("\n") <= 3


def test_what_is_printed_or_saved_must_be_an_array_of_the_kernel(tileir, scale: Path) -> None:
    for option in (["--print", "factor"], ["--save", "q=q.npy"]):
        ran = tileir("run", "scale.mlir", "--grid", "1", "f32[4]:ones", "1", *option)
        assert ran.status == 2
        assert "there are x" in ran.err
    assert os.listdir() == ["scale.mlir"]


def test_an_access_outside_the_array_traps_and_says_where(tileir, scale: Path) -> None:
    ran = tileir("run", "scale.mlir", "--grid", "2", "f32[4]:ones", "1", "--save", "x=x.npy")
    assert ran.status == 1
    assert "trap: " in ran.err
    assert "kernel @scale" in ran.err
    assert "tile block (1, 0, 0)" in ran.err
    assert "scale.mlir:11:" in ran.err
    assert os.listdir() == ["scale.mlir"]


def test_an_unknown_target_is_wrong_usage(tileir, scale: Path) -> None:
    ran = tileir("run", "scale.mlir", "--grid", "1", "f32[4]", "1", "--target", "abacus")
    assert ran.status == 2
    assert "no target 'abacus'; there are" in ran.err


def test_an_option_that_the_target_does_not_have_is_wrong_usage(tileir, scale: Path) -> None:
    ran = tileir("run", "scale.mlir", "--grid", "1", "f32[4]", "1", "--threads", "2", "--target", "interp")
    assert ran.status == 2
    assert "target 'interp' has no option threads" in ran.err


def test_strict_mode_stops_at_undefined_behaviour(tileir) -> None:
    text = b"""entry @k(%n: tile<i32>) {
      %s = addi %n, %n overflow<no_signed_wrap> : tile<i32>
    }"""
    words = ("run", "-", "--grid", "1", "0x7fffffff", "--target", "interp")
    assert tileir(*words, stdin=text).status == 0
    ran = tileir(*words, "--mode", "strict", stdin=text)
    assert ran.status == 1
    assert "trap: " in ran.err


def test_a_wrong_program_is_not_run(tileir) -> None:
    ran = tileir("run", "-", "--grid", "1", stdin=TWO.replace(b"%d", b"nothing"))
    assert ran.status == 1
    assert "error[E" in ran.err


def test_every_element_type_can_be_passed(tileir) -> None:
    from tileir.ir import types as t

    for element in (*t.INTS, *t.FLOATS):
        text = f"cuda_tile.module @m {{ entry @k(%x: tile<ptr<{element.name}>>) {{ }} }}".encode()
        ran = tileir("run", "-", "--grid", "1", f"x={element.name}[2,4]:ones", "--print", "x", stdin=text)
        assert ran.status == 0, ran.err
        assert "2x4" in ran.out
