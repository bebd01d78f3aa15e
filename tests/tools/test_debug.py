"""The debugger in a terminal, spoken to as a person does: commands in, text out."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from launches import RACE, race

import tileir
from tileir.tools.debug.expressions import ExpressionError, evaluate
from tileir.tools.debug.terminal import debug
from tileir.triton import from_ttir

ROOT = Path(__file__).parents[2]


def said(*commands: str, blocks: list[tuple[int, int, int]] | None = None, grid: int = 4) -> str:
    kernel, arrays = race()
    output = io.StringIO()
    debug(kernel, grid, arrays, blocks, stdin=io.StringIO("\n".join(commands) + "\n"), stdout=output)
    return output.getvalue()


def test_it_stops_in_front_of_the_first_operation() -> None:
    assert said("where").splitlines()[:3] == [
        "begin: tile block (0, 0, 0), race.mlir:3",
        "  3\t%id, %idy, %idz = get_tile_block_id : tile<i32>",
        "tile block (0, 0, 0) of kernel @total, operation 1 of the run",
    ]


def test_a_breakpoint_has_line_block_and_condition() -> None:
    text = said("break 13 block 2 if %i == 2", "continue", "print %acc", "print %value", "where", "break")
    assert "breakpoint 1: tile block (2, 0, 0), race.mlir:13" in text
    assert "%acc = 17.0 : tile<f32>" in text and "%value = 10.0 : tile<f32>" in text
    assert "  in for, iteration 3  (line 10)" in text and "hit 1 times" in text


def test_a_breakpoint_at_an_operation_and_one_between_lines() -> None:
    assert "breakpoint 1: tile block (0, 0, 0), race.mlir:18" in said("break store_ptr_tko", "c")
    assert "breakpoint 1: line 3" in said("break 1")
    assert "breakpoint 1: line 10" in said("break race.mlir:10")


def test_steps_go_into_over_and_out_of_a_loop() -> None:
    text = said("break 10", "c", "step", "out", "where", grid=1)
    assert text.count("race.mlir:11") == 1 and "%t0 = load_ptr_tko" in text.replace("%before, ", "")
    over = said("break 10", "c", "next", grid=1)
    assert "race.mlir:11" not in over and "race.mlir:16" in over
    assert "race.mlir:8" in said("step 5", grid=1)


def test_a_program_read_as_ttir_is_stepped_through_in_that_text() -> None:
    text = """tt.func public @one(%x: !tt.ptr<f32>) {
  %two = arith.constant 2.0 : f32
  tt.store %x, %two : !tt.ptr<f32>
  tt.return
}
"""
    output = io.StringIO()
    kernel = from_ttir(text, "one.ttir")["one"]
    commands = io.StringIO("break one.ttir:3\ncontinue\n")
    debug(kernel, 1, [np.zeros(1, np.float32)], None, stdin=commands, stdout=output)
    assert "breakpoint 1: tile block (0, 0, 0), one.ttir:3" in output.getvalue()
    assert "  3\ttt.store %x, %two : !tt.ptr<f32>" in output.getvalue()


def test_the_next_tile_block() -> None:
    assert "tile block: tile block (1, 0, 0), race.mlir:3" in said("block")
    assert "tile block (3, 0, 0)" in said("where", blocks=[(3, 0, 0)])


def test_going_back_is_running_again() -> None:
    text = said(
        "break 18", "c", "print total[0]", "c", "print total[0]", "back 2", "where", "print total[0]", "rc", "m"
    )
    values = [line for line in text.splitlines() if line in ("0.0", "6.0", "28.0")]
    assert values == ["0.0", "6.0", "6.0"]
    assert "%before, %t0 = load_ptr_tko %total" in text
    assert text.rindex("breakpoint") < text.rindex("tile block (0, 0, 0), race.mlir:18"), "back to the first breakpoint"
    kernel, (x, total) = race()
    debug(kernel, 4, (x, total), stdin=io.StringIO("s 70\nback 30\nc\n"), stdout=io.StringIO())
    assert total[0] == x.sum(), "as if it had run once"


def test_memory_is_watched() -> None:
    text = said("watch total[0]", "c", "c")
    assert "watching total[0], now 0.0" in text
    assert "total[0] has changed, by 'store_ptr_tko' at line 18: tile block (1, 0, 0)" in text


def test_tokens_and_the_values_that_led_here() -> None:
    text = said("break 18", "c", "tokens", "cause")
    assert "%t0: %before, %t0 = load_ptr_tko %total  (line 16)" in text
    assert "  %after = 6.0 : tile<f32>  (line 17)" in text and "    %sum = 6.0 : tile<f32>  (line 10)" in text


def test_a_trap_shows_the_values_that_led_to_it() -> None:
    text = said("c", grid=5)
    assert "trap: " in text and "race.mlir:12" in text
    led = text.partition("the values that led to it:")[2]
    assert "%at = 0x" in led and "%i = 0 : tile<i32>" in led and "%begin = 16 : tile<i32>" in led
    assert "%i = 0 : tile<i32>\n" in said("c", "print %i", "q", grid=5)


def test_tiles_are_summarised_and_cut() -> None:
    kernel = tileir.load(ROOT / "examples/vector_add.mlir").kernels["vector_add"]
    arrays = [np.arange(2000, dtype=np.float32) for _ in range(3)]
    output = io.StringIO()
    commands = "break store_view_tko\nbreak store_ptr_tko\nc\nvalues\nprint %sum\nprint max(%sum)\nprint %sum[2:4]\nq\n"
    debug(kernel, 2, (*arrays, 2000), stdin=io.StringIO(commands), stdout=output)
    text = output.getvalue()
    assert "%sum = tile<1024xf32>, from 0 to 2046, mean 1023" in text and "2046.0\n" in text and "[4. 6.]" in text


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("foo", "no command 'foo'"),
        ("info locals", "here it is 'values', 'memory', 'tokens' or 'break' alone"),
        ("reverse-step", "here it is 'back'"),
        ("contine", "did you mean 'continue'?"),
        ("print %nothing", "no value '%nothing' is known here"),
        ("print nothing", "no 'nothing' here"),
        ("print x.dtype", "no attribute"),
        ("print __import__('os')", "expected a function of"),
        ("print 9 ** 9 ** 9", "no power"),
        ("print x[99]", "out of bounds"),
        ("print (", "expected an expression"),
        ("break nothing", "no operation 'nothing'"),
        ("break 999", "no operation at line 999"),
        ("break x:1", "no file 'x'"),
        ("step x", "expected a number"),
        ("watch %x", "no value '%x'"),
    ],
)
def test_what_cannot_be_done_is_said(command: str, answer: str) -> None:
    assert answer in said(command)


def test_expressions() -> None:
    values = {"%x": np.arange(6).reshape(2, 3), "%p#1": np.int32(7), "%odd-name": np.float32(2)}
    assert evaluate("%x[1, 0:2]", values, {}).tolist() == [3, 4]
    assert evaluate("max(%x) == 5 and %p#1 == 7", values, {})
    assert evaluate("%odd-name * 2", values, {}) == 4
    with pytest.raises(ExpressionError):
        evaluate("[y for y in %x]", values, {})


def test_the_command_line(tmp_path: Path) -> None:
    program = tmp_path / "race.mlir"
    program.write_text(RACE)
    words = ["debug", str(program), "--grid", "4", "x=f32[16]:arange", "total=f32[1]:zeros"]

    def run(*more: str, commands: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tileir", *words, *more]
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, input=commands)

    ran = run("--block", "1", "-x", "break 18", "-x", "continue", commands="print %sum\nq\n")
    assert ran.returncode == 0 and "%sum = 22.0 : tile<f32>" in ran.stdout and ran.stderr == ""
    assert "the launch has ended" in run(commands="c\n").stdout
    assert "expected a tile block of the grid" in run("--block", "9").stderr
