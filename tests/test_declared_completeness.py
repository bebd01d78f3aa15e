"""Nothing that is declared is left without a meaning, a description, an example or a test."""

import re
from functools import cache
from pathlib import Path

import pytest

import tileir
from tileir import ops
from tileir.analysis.structure import EXITS
from tileir.interp.machine import TABLES
from tileir.ir.core import Op
from tileir.ir.spec import Placement
from tileir.ir.versions import VERSIONS
from tileir.ops.calls import Func
from tileir.ops.module import Entry, Global, ModuleOp

TESTS = Path(__file__).parent
PACKAGE = Path(tileir.__file__).parent
CODE = re.compile(r"\b[EW]0\d{3}\b")
CONTAINERS = (ModuleOp, Entry, Global, Func)
"""Operations that the interpreter runs or initialises as a whole, not by a rule."""

every_operation = pytest.mark.parametrize("op", ops.OPS.values(), ids=lambda op: op.spec.name)


@every_operation
def test_an_operation_is_declared_in_full(op: type[Op]) -> None:
    spec = op.spec
    assert spec.format or spec.syntax, "a format or, where code reads the text, a syntax"
    assert spec.since in VERSIONS
    assert (spec.opcode is None) == (spec.placement is Placement.TEXT_ONLY)
    assert spec.doc.endswith(".")
    assert spec.chapter in ops.CHAPTERS


@every_operation
def test_an_operation_has_a_rule_in_the_interpreter(op: type[Op]) -> None:
    tables = (TABLES.pure, TABLES.effects, TABLES.regions, TABLES.controls, EXITS)
    assert op in CONTAINERS or sum(op in table for table in tables) == 1


@cache
def golden_operations() -> set[type[Op]]:
    found: set[type[Op]] = set()
    for path in sorted((TESTS / "golden").glob("*.mlir")):
        for program in path.read_text(encoding="utf-8").split("\n// -----"):
            found |= {type(op) for op in tileir.parse(program, path.name).walk()}
    return found


@every_operation
def test_an_operation_stands_in_a_golden_program(op: type[Op]) -> None:
    assert op in golden_operations()


@cache
def codes_in(folder: Path, pattern: str) -> set[str]:
    return {code for path in folder.rglob(pattern) for code in CODE.findall(path.read_text(encoding="utf-8"))}


def used_codes() -> set[str]:
    """The codes that the package can give."""
    return codes_in(PACKAGE, "*.py")


def explained_codes() -> set[str]:
    return {path.stem for path in (PACKAGE / "explain").glob("[EW]*.md")}


def test_every_code_is_explained_and_every_explanation_is_of_a_code() -> None:
    assert explained_codes() == used_codes()


def test_every_code_has_a_test() -> None:
    assert used_codes() <= codes_in(TESTS, "*.py") | codes_in(TESTS, "*.mlir")


def test_no_two_operations_have_the_same_opcode() -> None:
    encoded = [op.spec.opcode for op in ops.OPS.values() if op.spec.opcode is not None]
    assert len(encoded) == len(set(encoded)) == len(ops.OPCODES)
