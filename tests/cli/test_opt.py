"""``tileir opt``, ``as`` and ``dis``: programs in, programs out."""

import os
from pathlib import Path

import pytest
from cli_programs import SCALE


def test_canonical_text_is_its_own_canonical_text(tileir, scale: Path) -> None:
    once = tileir("opt", "scale.mlir")
    assert once.status == 0
    twice = tileir("opt", "-", stdin=once.out.encode())
    assert twice.out == once.out
    assert "mulf" in once.out


def test_a_file_can_be_formatted_in_place(tileir, scale: Path) -> None:
    expected = tileir("opt", "scale.mlir").out
    assert tileir("opt", "scale.mlir", "-o", "scale.mlir").status == 0
    assert scale.read_text() == expected
    assert sorted(os.listdir()) == ["scale.mlir"]


@pytest.mark.parametrize("option", ["--generic", "--debug"])
def test_other_forms_are_the_same_program(tileir, scale: Path, option: str) -> None:
    other = tileir("opt", option, "scale.mlir")
    assert other.status == 0
    assert other.out != tileir("opt", "scale.mlir").out
    assert tileir("check", "-", stdin=other.out.encode()).status == 0


def test_a_wrong_program_is_refused_and_nothing_written(tileir) -> None:
    wrong = SCALE.replace("mulf %values, %factors : tile<4xf32>", "mulf %values, %factors : tile<8xf32>").encode()
    ran = tileir("opt", "-", "-o", "out.mlir", stdin=wrong)
    assert ran.status == 1
    assert "error[E" in ran.err
    assert os.listdir() == []


def test_a_program_that_breaks_a_rule_can_be_printed_all_the_same(tileir) -> None:
    wrong = b"cuda_tile.module @m { entry @k(%x: tile<4xf32>) { } }"
    assert tileir("opt", "-", stdin=wrong).status == 1
    assert "entry @k" in tileir("opt", "--no-verify", "-", stdin=wrong).out


def test_output_that_cannot_be_written_is_wrong_usage(tileir, scale: Path) -> None:
    ran = tileir("opt", "scale.mlir", "-o", "no/such/folder/out.mlir")
    assert ran.status == 2
    assert "cannot write 'no/such/folder/out.mlir'" in ran.err


def test_text_goes_to_bytecode_and_back(tileir, scale: Path) -> None:
    assert tileir("as", "scale.mlir", "-o", "scale.tileirbc").status == 0
    assert Path("scale.tileirbc").read_bytes().startswith(b"\x7fTileIR\x00")
    assert "mulf" in tileir("dis", "scale.tileirbc").out
    assert tileir("check", "scale.tileirbc").status == 0
    ran = tileir("run", "scale.tileirbc", "--grid", "1", "f32[4]:ones", "2")
    assert ran.status == 0


def test_bytes_can_be_looked_at(tileir, scale: Path) -> None:
    tileir("as", "scale.mlir", "-o", "scale.tileirbc", "--bytecode-version", "13.1")
    ran = tileir("dis", "--hex", "scale.tileirbc")
    assert "0000  7f 54 69 6c 65 49 52 00  magic number" in ran.out
    assert "opcode: mulf" in ran.out
    assert tileir("dis", "--hex", "scale.mlir").status == 0


def test_a_program_newer_than_the_bytecode_asked_for_is_refused(tileir) -> None:
    text = b"cuda_tile.module @m { entry @k() { %t = make_token : token %u = gdc_wait_tko token = %t -> token } }"
    ran = tileir("as", "-", "-o", "out", "--bytecode-version", "13.1", stdin=text)
    assert ran.status == 1
    assert "13.4" in ran.err
    assert os.listdir() == []


WASTEFUL = b"""cuda_tile.module @m {
  entry @k(%p: tile<ptr<i32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %same = addi %n, %zero : tile<i32>
    store_ptr_tko weak %p, %same : tile<ptr<i32>>, tile<i32> -> token
  }
}
"""


def test_a_program_is_optimised_as_text_and_as_bytecode(tileir) -> None:
    made = tileir("opt", "-O2", "-", stdin=WASTEFUL)
    assert made.status == 0
    assert "addi" not in made.out
    assert tileir("opt", "-O2", "-", "-o", "k.tileirbc", stdin=WASTEFUL).status == 0
    assert Path("k.tileirbc").read_bytes().startswith(b"\x7fTileIR\x00")
    assert "addi" not in tileir("opt", "-O1", "k.tileirbc").out


def test_passes_are_run_by_name_and_explain_what_they_did(tileir) -> None:
    made = tileir("opt", "--passes", "canonicalise", "--explain", "--stats", "--time-passes", "-", stdin=WASTEFUL)
    assert made.status == 0
    assert "constant" in made.out, "dce was not asked for"
    for word in ("addi-zero", "<stdin>:4:", "addi(%n, 0)", "operations: ", "canonicalise"):
        assert word in made.err
    assert "// -----//" not in made.err


def test_dumps_are_in_the_form_of_mlir(tileir) -> None:
    made = tileir("opt", "-O1", "--print-ir-after-all", "--verify-each", "-", stdin=WASTEFUL)
    for name in ("canonicalise", "cse", "dce"):
        assert f"// -----// IR Dump After {name} //----- //\ncuda_tile.module @m" in made.err
    one = tileir("opt", "-O1", "--print-ir-after=dce", "-", stdin=WASTEFUL)
    assert "After dce" in one.err
    assert "After cse" not in one.err


def test_a_program_is_made_for_known_arguments(tileir) -> None:
    made = tileir("opt", "-O2", "--arg", "n=12", "--check-each", "-", stdin=WASTEFUL)
    assert made.status == 0, made.err
    assert "constant <i32: 12>" in made.out
    for wrong in ("m=3", "n=x", "n=99999999999"):
        assert tileir("opt", "-O1", "--arg", wrong, "-", stdin=WASTEFUL).status == 2


@pytest.mark.parametrize(
    "arguments", [("--passes", "no-such"), ("-O2", "--print-ir-after", "no-such"), ("-O", "7"), ("-O", "x")]
)
def test_a_wrong_name_or_level_is_wrong_usage(tileir, arguments: tuple[str, ...]) -> None:
    ran = tileir("opt", *arguments, "-", stdin=WASTEFUL)
    assert ran.status == 2
    assert "expected" in ran.err or "invalid" in ran.err


@pytest.mark.parametrize(
    "options",
    [["--arg", "n=4"], ["--explain"], ["--stats"], ["--time-passes"], ["--print-ir-after", "dce"], ["--check-each"]],
)
def test_what_is_about_passes_is_refused_without_them(tileir, scale: Path, options: list[str]) -> None:
    ran = tileir("opt", "scale.mlir", *options)
    assert (ran.status, ran.out) == (2, "")
    expected = "expected passes that it is for, -O1 to -O3 or --passes, got none"
    assert ran.err == f"tileir opt: error: {options[0]}: {expected}\n"
