"""Golden programs print as expected, read back as the same program in every form, and are valid.

``pytest tests/text/test_print_golden.py --bless`` rewrites the expected texts.
"""

from __future__ import annotations

import pytest
from golden_programs import GOLDEN, Golden

from tileir.ir.compare import identical
from tileir.ops import OPS
from tileir.text.parser import parse
from tileir.text.printer import to_text
from tileir.verify import verify

FORMS = ("module", "generic")
each_program = pytest.mark.parametrize("golden", GOLDEN, ids=str)
each_form = pytest.mark.parametrize("form", FORMS)


@each_program
def test_a_program_prints_as_expected(golden: Golden, bless: bool) -> None:
    text = to_text(golden.parse())
    if bless:
        golden.expected.write_text(text, encoding="utf-8")
    assert text == golden.expected.read_text(encoding="utf-8")


@each_program
@each_form
def test_printed_text_reads_back_as_the_same_program(golden: Golden, form: str) -> None:
    module = golden.parse()
    again = parse(to_text(module, form=form))
    assert identical(module, again)


@each_program
@each_form
def test_debug_text_reads_back_with_the_same_places(golden: Golden, form: str) -> None:
    module = golden.parse()
    again = parse(to_text(module, form=form, debug=True))
    assert identical(module, again)
    assert to_text(again, form=form, debug=True) == to_text(module, form=form, debug=True)


@each_program
@each_form
def test_printing_is_a_fixpoint(golden: Golden, form: str) -> None:
    text = to_text(golden.parse(), form=form)
    assert to_text(parse(text), form=form) == text


@each_program
def test_both_forms_are_the_same_program(golden: Golden) -> None:
    module = golden.parse()
    generic = parse(to_text(module, form="generic"))
    assert to_text(generic) == to_text(module)


@each_program
def test_the_disassembly_reads_back_as_the_same_items(golden: Golden) -> None:
    module = golden.parse()
    text = to_text(module, form="disassembly")
    again = parse(text)
    assert to_text(again, form="disassembly") == text.removeprefix(producer_line(text))


def producer_line(text: str) -> str:
    """The comment that says which program made the bytecode: no part of the program."""
    return text.partition("\n")[0] + "\n" if text.startswith("// Producer: ") else ""


@each_program
def test_a_program_is_valid(golden: Golden) -> None:
    report = verify(golden.parse(), level=golden.level)
    assert report.ok, report.render()


def test_the_programs_use_every_operation() -> None:
    used = {op.spec.name for golden in GOLDEN for op in golden.parse().walk()}
    assert sorted(OPS.keys() - used) == []
