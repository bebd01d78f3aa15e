"""The readable part of a program is verified although another part could not be read, and nothing correct is
reported."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tileir
from tileir.examples import FOLDER as EXAMPLES
from tileir.ir.partial import PartialModule
from tileir.text import parser
from tileir.verify import verify, verify_partial

GOLDEN = Path(__file__).parents[1] / "golden"
STEP = 5
"""Every so many lines of a program are damaged, one at a time."""

PROGRAM = """\
entry @k(%x: tile<ptr<f32>>, %n: tile<i32>) {
  %lanes = iota : tile<256xi32>
  SYNTAX
  %scaled = mulf %lanes, %lanes : tile<256xi32>
  for %i in (%n to %n, step %n) : tile<i32> {
    %q = mulf %i, %i : tile<i32>
  }
  return
}
entry @l() { %t = iota : tile<2x2xi32> }
"""


def codes(text: str) -> list[str]:
    with pytest.raises(tileir.DiagnosticError) as caught:
        tileir.parse(text)
    return caught.value.codes


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("%a = foo %lanes : tile<256xi32>", "E0105"),
        ("%a = addi %lanes %lanes : tile<256xi32>", "E0103"),
        ("%a = addi %lanes, %missing : tile<256xi32>", "E0109"),
        ("%a = addi %lanes, %lanes : tile<255xi32>", "E0305"),
        ("%a = addi %lanes, %lanes : tile<256xint>", "E0106"),
        ("%a, %b = iota : tile<256xi32>", "E0112"),
    ],
)
def test_a_fault_of_the_text_hides_no_other(line: str, code: str) -> None:
    assert codes(PROGRAM.replace("SYNTAX", line)) == [code, "E0203", "E0203", "E0407"]


@pytest.mark.parametrize(
    "use",
    ["%b = mulf %a, %a : tile<256xf32>", "%b = addi %a, %lanes : tile<256xi32>", 'print_tko "%d", %a : tile<8xi32>'],
)
def test_what_comes_from_a_faulty_part_causes_no_fault(use: str) -> None:
    assert codes(PROGRAM.replace("SYNTAX", f"%a = foo %lanes : tile<256xi32>\n  {use}"))[:2] == ["E0105", "E0203"]


def test_the_level_counts() -> None:
    text = "entry @k(%x: tile<f32>) {\n  foo\n  %y = atan2 %x, %x : tile<f32>\n}"
    for level, expected in (("13.1", ["E0105", "E0216"]), ("13.5", ["E0105"])):
        with pytest.raises(tileir.DiagnosticError) as caught:
            tileir.parse(text, level=level)
        assert caught.value.codes == expected


def test_a_text_that_ends_too_early_has_that_fault_alone() -> None:
    assert codes("entry @k() { %t = iota : tile<2x2xi32>") == ["E0104"]


def damaged(text: str) -> list[str]:
    """`text` with an unknown operation, type or value in one line."""
    lines = text.split("\n")
    result = []
    for index in range(0, len(lines), STEP):
        for pattern, replacement in (
            (r"^(\s*(?:%[^=]*= )?)[\w$.]+", r"\1foo"),
            (r"(tile<[^>]*)[if](?:16|32|64)", r"\1i31"),
            (r"([ (])%\w+([,)])", r"\1%missing\2"),
        ):
            line = re.sub(pattern, replacement, lines[index], count=1)
            if line != lines[index]:
                result.append("\n".join([*lines[:index], line, *lines[index + 1 :]]))
    return result


PROGRAMS = [*sorted(GOLDEN.glob("*.mlir")), *sorted(EXAMPLES.glob("*.mlir"))]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_rest_of_a_valid_program_stays_valid(path: Path) -> None:
    text = path.read_text()
    if not verify(parser.parse(text)).ok:
        pytest.skip("not valid at the newest level")
    for faulty in damaged(text):
        partial = partial_module(faulty)
        assert partial is None or not list(verify_partial(partial)), faulty


def partial_module(text: str) -> PartialModule | None:
    try:
        parser.parse(text)
    except tileir.DiagnosticError as error:
        return error.partial
    return None
