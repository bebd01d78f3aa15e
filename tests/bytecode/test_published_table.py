"""The tables in `docs/spec/opcodes.json` say what is declared: opcodes, fields, flags, enumerations, tags."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tileir.bytecode.sections import MANDATORY, WRITE_ORDER, Section
from tileir.bytecode.wire import Sink
from tileir.ir import attributes as a
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.fields import Attr, AttrKind, Operand
from tileir.ir.spec import OpSpec, Placement
from tileir.ir.versions import VERSIONS, version_key
from tileir.ops import OPCODES

TABLE: dict[str, Any] = json.loads((Path(__file__).parents[2] / "docs" / "spec" / "opcodes.json").read_text())
OPERATIONS = {row["opcode"]: row for row in (*TABLE["ops"], *TABLE["preview"]["ops"])}
ENUMERATIONS = {
    "AtomicRMWMode": a.AtomicMode,
    "ComparisonOrdering": a.Ordering,
    "ComparisonPredicate": a.Predicate,
    "IntegerOverflow": a.Overflow,
    "MemoryOrderingSemantics": a.MemoryOrdering,
    "MemoryScope": a.MemoryScope,
    "MultimemReductionKind": a.MultimemReduction,
    "PaddingValue": t.PaddingValue,
    "PtrAttr": t.PointerAttr,
    "RoundingMode": a.Rounding,
    "Signedness": a.Signedness,
    "SymbolVisibility": a.Visibility,
}

instructions = pytest.mark.parametrize(
    "op",
    [op for op in OPCODES.values() if op.spec.placement is Placement.INSTRUCTION],
    ids=lambda op: op.spec.name,
)


def test_every_opcode_is_in_the_table() -> None:
    assert OPERATIONS.keys() == OPCODES.keys()
    stable = {code: op for code, op in OPCODES.items() if not op.spec.preview}
    newest = {version: max(code for code, op in stable.items() if is_known(op, version)) for version in VERSIONS}
    assert TABLE["max_opcode"] == newest
    assert {row["opcode"] for row in TABLE["preview"]["ops"]} == OPCODES.keys() - stable.keys()


@pytest.mark.parametrize("op", OPCODES.values(), ids=lambda op: op.spec.name)
def test_an_operation_has_its_names_version_and_place(op: type[Op]) -> None:
    row = OPERATIONS[op.spec.opcode]
    assert op.spec.name in (row["name"], *row.get("aliases", ()))
    assert (row["since"], row["placement"]) == (op.spec.since, op.spec.placement.value)
    assert row["opcode_hex"] == f"0x{op.spec.opcode:02X}"
    assert row["regions"] == len(op.spec.regions)
    assert row.get("terminator", False) == op.spec.terminator


@instructions
def test_an_instruction_stores_the_results_that_are_declared(op: type[Op]) -> None:
    row = OPERATIONS[op.spec.opcode]
    assert row["result_count_encoded"] == op.spec.result_count_encoded
    assert [(result["name"], result["variadic"], result["since"]) for result in row["results"]] == [
        (result.name, result.variadic, since(result, op.spec)) for result in op.spec.results
    ]


@instructions
def test_an_instruction_stores_the_operands_that_are_declared(op: type[Op]) -> None:
    row = OPERATIONS[op.spec.opcode]
    assert row["operand_layout"] == op.spec.operand_layout.value
    assert [(operand["name"], operand["arity"], operand["since"]) for operand in row["operands"]] == [
        (operand.name, arity(operand), since(operand, op.spec)) for operand in op.spec.operands
    ]


@instructions
def test_an_instruction_stores_the_attributes_that_are_declared(op: type[Op]) -> None:
    row = OPERATIONS[op.spec.opcode]
    assert [
        (attr["name"], attr["kind"], attr["optional"], attr["in_stream"], attr["since"]) for attr in row["attributes"]
    ] == [
        (attr.name, attr.kind.name, is_flagged(attr), attr.kind is not AttrKind.UNIT, since(attr, op.spec))
        for attr in op.spec.attrs
        if attr.encoded
    ]
    for published, attr in zip(row["attributes"], (attr for attr in op.spec.attrs if attr.encoded), strict=True):
        assert ENUMERATIONS.get(published.get("enum")) is attr.enum


@instructions
def test_an_instruction_has_the_flags_that_follow_from_its_declaration(op: type[Op]) -> None:
    published = OPERATIONS[op.spec.opcode]["flags"]
    bits = [(bit.bit, bit.field.name, bit.since) for bit in op.spec.flag_bits]
    assert bits == [(bit["bit"], bit["name"], bit["since"]) for bit in (published or {"bits": []})["bits"]]
    if published:
        assert published["since"] == min(published["bits"], key=lambda bit: VERSIONS.index(bit["since"]))["since"]


@pytest.mark.parametrize("name", [row["name"] for row in TABLE["enums"]])
def test_an_enumeration_has_the_numbers_that_are_declared(name: str) -> None:
    cases = next(row["cases"] for row in TABLE["enums"] if row["name"] == name)
    declared = [(case.value, case.name.lower()) for case in ENUMERATIONS[name]]
    assert [(case["value"], case["text"]) for case in cases] == declared


def test_every_enumeration_is_in_the_table() -> None:
    assert {row["name"] for row in TABLE["enums"]} == ENUMERATIONS.keys()


def test_scalar_types_have_the_tags_widths_and_versions_that_are_declared() -> None:
    scalars = {row["name"]: row for row in TABLE["type_tags"] if "bit_width" in row}
    assert {name: (row["tag"], row["bit_width"], row["since"]) for name, row in scalars.items()} == {
        element.name: (element.tag, element.bits, element.since) for element in t.ELEMENTS.values()
    }


def test_the_file_has_the_sections_that_are_written() -> None:
    assert {row["id"]: row["name"] for row in TABLE["sections"]} == {
        int(section): section.name.lower() for section in Section
    }
    assert {row["id"] for row in TABLE["sections"] if row.get("required")} == {int(section) for section in MANDATORY}
    written = [section.name.lower() for section in (*WRITE_ORDER, Section.END)]
    assert TABLE["canonical_section_order"] == written
    assert (TABLE["versions"], TABLE["padding_byte"]) == (list(VERSIONS), padding())


def is_known(op: type[Op], version: str) -> bool:
    return version_key(op.spec.since) <= version_key(version)


def since(field: Any, spec: OpSpec) -> str:
    """A field that states no version is as old as its operation."""
    return field.since or spec.since


def arity(operand: Operand) -> str:
    return "variadic" if operand.variadic else "optional" if operand.optional else "single"


def is_flagged(attr: Attr) -> bool:
    return attr.optional and attr.kind is not AttrKind.BOOL_ARRAY


def padding() -> int:
    sink = Sink()
    sink.byte(0)
    sink.padding(2)
    return list(bytes(sink.data))[1]
