"""What is read after an edit is what would be read of the whole text."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

pytest.importorskip("lsprotocol", reason="the language server needs pygls")

from tileir.ir.loc import Source
from tileir.tools.lsp.diagnostics import place
from tileir.tools.lsp.edits import edit_between
from tileir.tools.lsp.patching import patched
from tileir.tools.lsp.reading import TextReading, read
from tileir.tools.lsp.snapshot import Snapshot

ROOT = Path(__file__).parents[2]
TEXTS = [*sorted((ROOT / "examples").glob("*.mlir")), *sorted((ROOT / "tests/golden").glob("*.mlir"))]
PIECES = [
    "",
    "x",
    "%",
    "%x",
    " ",
    "\n",
    "tile<i32>",
    "addi",
    "}",
    "{",
    "// c\n",
    ":",
    '"',
    "loc(unknown)",
    "#0",
    ", %zero",
]


def described(reading: TextReading) -> dict[str, object]:
    """All that a reading says, as plain data."""
    return {
        "uses": {at: (name.name, name.begin) for at in reading.uses if (name := reading.name_at(at)) is not None},
        "definitions": {
            at: (name.name, name.begin, name.since, name.until, name.value.type.text)
            for at, name in reading.definitions.items()
        },
        "symbols": reading.symbols,
        "items": reading.items,
        "statements": {at: (op.spec.name, repr(op.loc)) for at, op in reading.statements.items()},
        "faults": [fault.render() for fault in reading.faults],
        "moved": sorted(reading.moved.values()),
    }


def diagnostics(snapshot: Snapshot) -> list[tuple[object, ...]]:
    return [(one.code, one.message, place(snapshot, one.loc)) for one in snapshot.diagnostics]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_a_patched_reading_is_that_of_the_whole(path: Path) -> None:
    chance = random.Random(path.stem)
    before = Snapshot("f", path.read_text(encoding="utf-8"))
    for _ in range(8):
        text = before.text
        at = chance.randrange(len(text))
        edited = text[:at] + chance.choice(PIECES) + text[at + chance.choice((0, 0, 1, 3)) :]
        assert before.reading is not None
        now = Snapshot("f", edited, None, before)
        whole = Snapshot("f", edited)
        assert described(now.reading) == described(whole.reading)
        assert diagnostics(now) == diagnostics(whole)
        before = now if chance.random() < 0.5 else Snapshot("f", text)


def test_an_edit_inside_an_entry_reads_only_that() -> None:
    text = "".join(f"entry @k{number}(%x: tile<i32>) {{\n  %y = addi %x, %x : tile<i32>\n}}\n" for number in range(3))
    old = read(Source("f", text))
    third = old.definitions[text.rindex("%y =")]
    found = patched(old, Source("f", text.replace("addi", "muli", 1)))
    assert found is not None and found.definitions[text.rindex("%y =")] is third
    assert patched(read(Source("f", text)), Source("f", "!a = tile<i32>\n" + text)) is None


def test_the_smallest_edit_is_found() -> None:
    edit = edit_between("abcabc", "abcXabc")
    assert (edit.begin, edit.end, edit.new_end) == (3, 3, 4)
    assert [edit.moved(offset) for offset in (0, 2, 3, 6)] == [0, 2, 4, 7]


ONE = """entry @k(%x: tile<i32>) {
  %a = addi %x, %x : tile<i32>
  %b = muli %a, %x : tile<i32>
  %c = addi %b, %a : tile<i32>
  return
}
"""


def edited(text: str, *edits: tuple[str, str]) -> tuple[Snapshot, list[str], list[str]]:
    """The last version after these edits, which statements of it were read again after the last, and its faults."""
    now, kept = Snapshot("f", text), list[object]()
    for old, new in edits:
        kept = [*now.reading.statements.values()]
        now = Snapshot("f", now.text.replace(old, new, 1), None, now)
        assert now.reading
    assert described(now.reading) == described(Snapshot("f", now.text).reading)
    read_again = [op for op in now.reading.statements.values() if op not in kept]
    return now, sorted(op.spec.name for op in read_again), [one.message for one in now.diagnostics]


def test_an_edit_inside_a_statement_reads_only_that() -> None:
    _, read_again, faults = edited(ONE, ("muli %a", "muli %x"))
    assert (read_again, faults) == (["muli"], [])


def test_what_uses_a_result_of_another_type_is_read_too() -> None:
    _, read_again, faults = edited(ONE, ("muli %a", "maxi %a"), ("maxi %a, %x", "maxi %a, %x signed"))
    assert (read_again, faults) == (["addi", "maxi"], [])
    _, read_again, faults = edited(ONE, ("muli %a, %x", "cmpi equal %a, %x, signed"))
    assert read_again == ["addi", "unread"]
    assert len(faults) == 1


def test_a_fault_that_comes_and_goes_leaves_the_program_as_it_was() -> None:
    now, _, faults = edited(ONE, ("muli", "mulii"), ("mulii", "muli"), ("addi %b", "addo %b"), ("addo", "addi"))
    assert faults == []
    (entry,) = now.reading.module.items
    a, b, c, _ = entry.regions[0].ops
    assert b.operands[0] is a.results[0] and c.operands == (b.results[0], a.results[0])
