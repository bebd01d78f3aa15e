"""The programs of the explanations: the wrong one has the fault explained, the mended one reads without faults."""

import re
from pathlib import Path

import pytest

import tileir
from tileir.ir.diagnostics import DiagnosticError
from tileir.text.parser import parse
from tileir.text.reading import codes

PAGES = sorted((Path(tileir.__file__).parent / "explain").glob("E01*.md"))
LISTING = re.compile(r"```mlir (wrong|mended)\n(.*?)```", re.S)
CODES = {value for name, value in vars(codes).items() if name.isupper()}


def test_every_code_of_the_parser_is_explained() -> None:
    assert {page.stem for page in PAGES} == CODES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_wrong_program_has_the_fault_and_the_mended_one_has_none(page: Path) -> None:
    for kind, program in LISTING.findall(page.read_text()):
        if kind == "mended":
            parse(program)
        else:
            with pytest.raises(DiagnosticError) as caught:
                parse(program)
            assert caught.value.codes == [page.stem]
