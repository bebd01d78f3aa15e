"""The programs of the explanations: the wrong one has exactly the fault explained, the mended one has none."""

from __future__ import annotations

import re

import pytest
from chunks import Chunk

from tileir.explain import codes, explain

_PROGRAM = re.compile(r"^```mlir (wrong|mended)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_VERIFIER = [code for code in codes() if "E0200" <= code < "E0900" or code.startswith("W")]

every_code = pytest.mark.parametrize("code", _VERIFIER)


def programs(code: str) -> dict[str, Chunk]:
    page = explain(code)
    assert page is not None
    return {kind: Chunk(f"{code}-{kind}", text) for kind, text in _PROGRAM.findall(page)}


@every_code
def test_the_page_begins_with_code_and_title(code: str) -> None:
    page = explain(code)
    assert page is not None
    assert re.match(rf"# {code}: [^\n]*[^\n.]\n\n\S", page)
    assert set(programs(code)) in (set(), {"wrong", "mended"})
    assert all(len(line) <= 120 for line in re.sub(_PROGRAM, "", page).split("\n"))


@every_code
def test_the_wrong_program_has_the_fault_and_the_mended_has_none(code: str) -> None:
    found = {kind: [fault.code for fault in program.run()] for kind, program in programs(code).items()}
    if found:
        assert found == {"wrong": [code], "mended": []}


def test_unknown_codes_have_no_page() -> None:
    assert explain("E9999") is None
    assert explain("../__init__") is None
