"""Every listing of the documents the project started from reads, or is refused with the fault it has.

The documents lie beside the repository, not in it; without them the tests are skipped.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from parse_programs import entry, faults, ops, type_of

from tileir.ir import types as t
from tileir.ir.compare import identical
from tileir.text.parser import parse
from tileir.text.printer import to_text

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "seeds"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the seed documents are not beside the repository")

LISTINGS = [f"12.2.{number}" for number in range(1, 8)] + [f"12.3.{number}" for number in range(1, 79)]
REFUSED = {"12.3.14": ["E0111"]}
EMPTY = {"12.3.73", "12.3.75"}
FRAGMENTS = {
    "12.3.61": "%0: tile<4x8xi16>",
    "12.3.62": "%ptrs: tile<128xptr<f32>>",
    "12.3.63": "%t: tile<128xi32>",
    "12.3.64": "%t: tile<128xi32>",
    "12.3.65": "%t: tile<4x8xi32>",
    "12.3.66": "%ptrs: tile<4x8xptr<f32>>",
    "12.3.67": "",
}
"""Statements without a module: the values they take from outside. They become the body of a function."""
NAMED_LIKE_ITS_ARGUMENT = {"12.3.63", "12.3.64", "12.3.65"}


@cache
def appendix() -> dict[str, str]:
    text = (FOLDER / "seed-1-appendix-examples.txt").read_text()
    parts = re.split(r"(?m)^(12\.\d+(?:\.\d+)?)\. .*?#[ \t]*$", text)
    return dict(zip(parts[1::2], parts[2::2]))


def program(listing: str) -> str:
    body = appendix()[listing]
    if listing not in FRAGMENTS:
        return body
    return f"experimental$func @listing({FRAGMENTS[listing]}) {{\n{body}\n}}"


@pytest.mark.parametrize("listing", LISTINGS)
def test_a_listing_of_the_appendix_has_its_verdict(listing: str) -> None:
    if listing in REFUSED:
        assert [fault.code for fault in faults(program(listing))] == REFUSED[listing]
        return
    module = parse(program(listing))
    assert (not module.items) == (listing in EMPTY)
    for form in ("module", "generic"):
        assert identical(parse(to_text(module, form=form)), module)


def test_there_are_no_other_listings() -> None:
    assert {number for number in appendix() if number.count(".") == 2} == set(LISTINGS)


def test_the_refused_reduction_is_fine_with_a_scalar_argument() -> None:
    parse(appendix()["12.3.14"].replace("%input_arg: tile<2xf32>", "%input_arg: tile<f32>"))


def test_a_type_name_of_early_documents_becomes_todays() -> None:
    assert "f4E2M1FN" in to_text(parse(appendix()["12.3.20"]))


@pytest.mark.parametrize("document", ["seed-0-programming-model-13.1.txt", "seed-3-programming-model-plain.txt"])
def test_the_cross_block_program_reads(document: str) -> None:
    text = (FOLDER / document).read_text()
    begin = text.index("cuda_tile.module @hello_cross_block")
    module = parse(text[begin : _end_of_braces(text, begin)])
    assert [item.spec.name for item in module.items] == ["global", "entry"]


def _end_of_braces(text: str, begin: int) -> int:
    level = 0
    for match in re.finditer("[{}]", text[begin:]):
        level += 1 if match[0] == "{" else -1
        if level == 0:
            return begin + match.end()
    raise AssertionError("the program has no end")


def view_listing(operation: str) -> str:
    """The example of an operation on the page about views."""
    text = (FOLDER / "seed-4-views-operations.txt").read_text()
    section = text[text.index(f". cuda_tile.{operation}\n") :]
    blocks = re.findall(r"```\n(.*?)```", section[section.index("### Examples") :], re.S)
    return blocks[0]


@pytest.mark.parametrize(
    ("operation", "arguments", "count"),
    [
        ("load_view_tko", "%ptr: tile<ptr<f32>>, %index: tile<i32>", 9),
        ("store_view_tko", "%ptr: tile<ptr<f32>>", 9),
        ("make_tensor_view", "%base: tile<ptr<f32>>", 7),
    ],
)
def test_a_listing_of_the_views_page_reads(operation: str, arguments: str, count: int) -> None:
    assert len(ops(view_listing(operation), arguments)) == count


def test_the_partition_view_without_a_tile_shape_is_refused() -> None:
    (fault,) = faults(entry(view_listing("make_partition_view"), "%ptr: tile<ptr<f32>>"))
    assert fault.code == "E0103"
    assert "tile=(...)" in fault.message
    assert fault.hint is not None


@cache
def type_listings() -> list[str]:
    """The types in the examples of the page about types, each until its brackets are closed."""
    text = (FOLDER / "seed-2-type-system.txt").read_text()
    found = []
    for match in re.finditer(r"(?m)^!cuda_tile\.\w+<", text):
        level = 0
        for bracket in re.finditer("[<>]", text[match.start() :]):
            level += 1 if bracket[0] == "<" else -1
            if level == 0:
                found.append(text[match.start() : match.start() + bracket.end()])
                break
    return found


def test_the_types_of_the_page_about_types_read() -> None:
    found = [type_of(text) for text in type_listings()]
    views = [type for type in found if isinstance(type, t.PartitionViewType)]
    assert len(found) >= 8
    assert [view.padding for view in views] == [None, None, None, t.PaddingValue.ZERO]
    assert views[2].dim_map == (1, 0)
