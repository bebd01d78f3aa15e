"""The command helps those who do not know yet what a program or a verb takes."""

from __future__ import annotations

import importlib.util
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import tileir as package
from tileir.cli import VERBS, main
from tileir.cli.show import abbreviated, abbreviating
from tileir.examples import FOLDER as EXAMPLES

NAMED = sorted(path.name for path in EXAMPLES.glob("*.mlir"))


def test_a_launch_without_grid_and_arguments_shows_the_signature_and_a_command(tileir, scale: Path) -> None:
    ran = tileir("run", "scale.mlir")
    assert ran.status == 2
    assert "expected a --grid and arguments for 'x', 'factor', got none" in ran.err
    assert "@scale(x: tile<ptr<f32>>, factor: tile<f32>)" in ran.err
    assert "for example: tileir run scale.mlir --grid 1 'x=f32[4]:rand' factor=1.0" in ran.err


def test_what_is_given_is_not_asked_for(tileir, scale: Path) -> None:
    argument = "expected an argument for 'factor', got only a --grid and an argument for 'x'"
    assert argument in tileir("run", "scale.mlir", "--grid", "1", "f32[4]").err
    assert argument in tileir("run", "scale.mlir", "--grid", "1", "x=f32[4]").err
    grid = "expected a --grid, got only arguments for 'x', 'factor'"
    assert grid in tileir("run", "scale.mlir", "factor=1", "x=f32[4]").err


EXTRA = {"view": ["-o", "launch.html"]}
"""Options without which a verb does nothing."""


@pytest.mark.parametrize("verb", ["bench", "sanitize", "view", "debug", "explore"])
def test_other_verbs_that_launch_say_the_same(tileir, scale: Path, verb: str) -> None:
    said = tileir(verb, "scale.mlir", *EXTRA.get(verb, [])).err
    assert "expected a --grid" in said
    assert f"for example: tileir {verb} scale.mlir --grid 1 'x=f32[4]:rand' factor=1.0" in said


@pytest.mark.parametrize("verb", ["bench", "sanitize", "prove", "view", "debug", "explore"])
def test_other_verbs_say_which_arguments_are_missing(tileir, scale: Path, verb: str) -> None:
    ran = tileir(verb, "scale.mlir", "--grid", "1", "factor=2", *EXTRA.get(verb, []))
    assert ran.status == 2
    assert "expected an argument for 'x', got only a --grid and an argument for 'factor'" in ran.err


@pytest.mark.parametrize("verb", ["sanitize", "prove", "view", "explore"])
def test_other_verbs_take_arguments_by_name_in_any_order(tileir, scale: Path, verb: str) -> None:
    ran = tileir(verb, "scale.mlir", "--grid", "1", "factor=2", "x=f32[4]:arange", *EXTRA.get(verb, []))
    assert ran.status == 0, ran.err


@pytest.mark.parametrize("name", NAMED)
def test_the_command_for_an_example_works(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = package.load(EXAMPLES / name)
    for kernel in module.kernels:
        main(["run", str(EXAMPLES / name), *(["--kernel", kernel] if len(module.kernels) > 1 else [])])
        suggested = capsys.readouterr().err.partition("for example: ")[2]
        words = shlex.split(suggested)[1:] if suggested else ["run", str(EXAMPLES / name), "--grid", "1"]
        assert main(words) == 0, capsys.readouterr().err
        capsys.readouterr()


def test_info_describes_a_program(tileir) -> None:
    out = tileir("info", str(EXAMPLES / "saxpy.mlir")).out
    assert "1 kernel; bytecode from version 13.1 on" in out
    assert "@saxpy: axes of the grid it looks at: x, y" in out
    rows = {line.split()[0]: line for line in out.splitlines() if line.startswith((" X ", " Y ", " M "))}
    assert "read" in rows["X"] and "written" not in rows["X"]
    assert "read, written" in rows["Y"]
    assert "a number, i32" in rows["M"]


def test_info_says_what_a_program_promises_and_does(tileir) -> None:
    text = b"""global @g <i32: 1> : tile<1xi32>
    entry @k(%p: tile<ptr<f32>>, %n: tile<i32>) {
      %q = assume div_by<16>, %p : tile<ptr<f32>>
      %m = assume bounded<0, 64>, %n : tile<i32>
      %t = print_tko "%d", %m : tile<i32> -> token
      return
    }"""
    data = json.loads(tileir("info", "-", "--json", stdin=text).out)
    assert data["globals"] == ["g"]
    (kernel,) = data["kernels"]
    assert kernel["effects"] == ["prints"]
    assert [one["inferred"] for one in kernel["parameters"]] == [["multiple of 16"], ["0 <= it <= 64"]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("k.py", b"import cuda.tile as ct\n", "is Python; 'tileir cutile k.py' runs cuTile Python"),
        ("k", b"# kernels\nfrom cuda import tile\n", "is Python"),
        ("k.ipynb", b'{"cells": []}', "is a notebook"),
        ("k.mlir", b" \n", "is empty: expected a program"),
        ("k.tileirbc", b"\x7fTileIR\x00\x0d", "bytecode that is cut short"),
        ("k.cubin", b"\x7fELF\x02\x01\x01", "machine code (ELF)"),
        ("k.bc", b"ML\xefR\x06MLIR", "MLIR bytecode"),
        ("x.npy", b"\x93NUMPY\x01\x00", "an array, which is an argument: NAME=@FILE"),
        ("k.mlir.gz", b"\x1f\x8b\x08\x00", "compressed"),
    ],
)
@pytest.mark.parametrize("verb", ["check", "run", "dis", "opt", "info"])
def test_a_file_of_another_kind_is_refused_with_the_verb_that_takes_it(
    tileir, verb: str, name: str, content: bytes, message: str
) -> None:
    Path(name).write_bytes(content)
    ran = tileir(verb, name)
    assert ran.status == 2
    assert f"'{name}' is " in ran.err and message in ran.err
    assert ran.err.count("\n") == 1


def test_bytecode_does_not_go_to_a_terminal(tileir, scale: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda self: True, raising=False)
    ran = tileir("as", "scale.mlir", "-o", "-")
    assert (ran.status, ran.out) == (2, "")
    assert "say where it goes with -o FILE" in ran.err


@pytest.mark.parametrize("entry", ["x", "x=", "=x.npy"])
def test_a_place_to_save_needs_a_name_and_a_file(tileir, scale: Path, entry: str) -> None:
    ran = tileir("run", "scale.mlir", "--grid", "1", "f32[4]", "1", "--save", entry)
    assert ran.status == 2
    assert "--save: expected NAME=FILE such as x=x.npy" in ran.err


@pytest.mark.parametrize("verb", VERBS)
def test_help_shows_what_a_verb_takes(tileir, verb: str) -> None:
    assert tileir("help", verb) == tileir(verb, "--help")
    assert f"usage: tileir {verb}" in tileir("help", verb).out


def test_help_alone_lists_the_verbs(tileir) -> None:
    ran = tileir("help")
    assert ran.status == 0 and all(f"\n  {verb} " in ran.out for verb in VERBS)
    assert tileir("help", "rnu").status == 2


def test_a_launch_as_data(tileir, scale: Path) -> None:
    text = scale.read_text().replace("%factor_1 =", '%p = print_tko "%f\\n", %factor : tile<f32> -> token\n%factor_1 =')
    scale.write_text(text)
    ran = tileir("run", "scale.mlir", "--grid", "1", "x=f32[8]:arange", "factor=inf", "--print", "x", "--json")
    data = json.loads(ran.out)
    assert ran.err == "inf\n"
    assert (data["kernel"], data["grid"]) == ("scale", [1, 1, 1])
    (array,) = data["arrays"]
    assert (array["name"], array["type"], array["shape"], array["written"]) == ("x", "f32", [8], True)
    assert array["elements"] == ["nan", "inf", "inf", "inf", 4, 5, 6, 7]
    assert (array["min"], array["max"]) == ("nan", "nan")


def test_the_seed_of_the_schedule_is_not_that_of_the_arrays(tileir) -> None:
    order = b"""entry @k(%p: tile<ptr<f32>>) {
      %x, %y, %z = get_tile_block_id : tile<i32>
      %t = print_tko "%d ", %x : tile<i32> -> token
      return
    }"""

    def ran(*options: str) -> tuple[str, str]:
        out = tileir("run", "-", "--grid", "16", "f32[8]:randn", "--target", "interp", *options, stdin=order).out
        return out.partition("@k")[0], next(line.split()[-1] for line in out.splitlines() if line.startswith(" p "))

    plain, shuffled, refilled = ran(), ran("--schedule-seed", "1"), ran("--seed", "1")
    assert plain[0] == " ".join(map(str, range(16))) + " " == refilled[0] != shuffled[0]
    assert plain[1] == shuffled[1] != refilled[1]


@pytest.mark.parametrize("shell", ["bash", "zsh"])
@pytest.mark.skipif(importlib.util.find_spec("shtab") is None, reason="needs shtab")
def test_commands_can_be_completed(tileir, shell: str, tmp_path: Path) -> None:
    out = tileir("completion", shell).out
    assert "--schedule-seed" in out and "sanitize" in out
    if shell == "bash":
        (tmp_path / "script").write_text(out)
        assert subprocess.run(["bash", "-n", tmp_path / "script"]).returncode == 0


def test_completion_says_what_it_needs(tileir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    ran = tileir("completion", "bash")
    assert ran.status == 2 and "pip install shtab" in ran.err


def test_long_tiles_are_cut_on_a_terminal() -> None:
    row = f"[{', '.join(map(str, range(2000)))}]\n"
    assert abbreviated(row) == "[0, 1, 2, ..., 1997, 1998, 1999]\n"
    assert abbreviated("[1, 2]") == "[1, 2]"
    square = f"[{', '.join(f'[{chr(44).join(map(str, range(40)))}]'.replace(',', ', ') for _ in range(40))}]"
    short = "[0, 1, 2, ..., 37, 38, 39]"
    assert abbreviated(square) == f"[{', '.join([short] * 3 + ['...'] + [short] * 3)}]"
    assert abbreviating(sys.stdout) is None or sys.stdout.isatty()
