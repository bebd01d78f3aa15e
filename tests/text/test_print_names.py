"""Values are named by the hints of their operations, and every clash gets the next number of one counter."""

from __future__ import annotations

import pytest

from tileir.ir.core import Module, Op
from tileir.text.names import name_values
from tileir.text.parser import parse
from tileir.text.printer import to_text


def body_lines(body: str, arguments: str = "%n: tile<i32>, %p: tile<ptr<f32>>, %flag: tile<i1>") -> list[str]:
    """The printed lines inside an entry, without indentation."""
    text = to_text(parse(f"cuda_tile.module @m {{ entry @k({arguments}) {{ {body} }} }}"))
    return [line.strip() for line in text.splitlines()[2:-2]]


def names_of(body: str) -> list[str]:
    """The names before ``=`` on each line."""
    return [line.partition(" = ")[0] for line in body_lines(body) if " = " in line]


@pytest.mark.parametrize(
    ("literal", "name"),
    [
        ("<i1: true> : tile<i1>", "%true"),
        ("<i1: false> : tile<4xi1>", "%false"),
        ("<i1: [true, false]> : tile<2xi1>", "%cst_i1"),
        ("<i32: -5> : tile<i32>", "%cst_-5_i32"),
        ("<i32: [7]> : tile<1xi32>", "%cst_7_i32"),
        ("<i32: [1, 2]> : tile<2xi32>", "%cst_i32"),
        ("<f32: 2.0> : tile<f32>", "%cst_2_f32"),
        ("<f32: 0.5> : tile<f32>", "%cst_f32"),
        ("<f32: -2.0> : tile<f32>", "%cst_f32"),
        ("<f32: 0.0> : tile<f32>", "%cst_0_f32"),
        ("<f32: -0.0> : tile<f32>", "%cst_f32"),
        ("<f32: 0x7F800000> : tile<f32>", "%cst_f32"),
        ("<f32: 0x7FC00000> : tile<f32>", "%cst_NaN_f32"),
        ("<f64: 18446744073709551616.0> : tile<f64>", "%cst_f64"),
        ("<f64: 9223372036854775808.0> : tile<f64>", "%cst_9223372036854775808_f64"),
        ("<f8E4M3FN: 4.0> : tile<f8E4M3FN>", "%cst_4_f8E4M3FN"),
    ],
)
def test_a_constant_is_named_after_its_value(literal: str, name: str) -> None:
    assert names_of(f"%x = constant {literal}") == [name]


def test_results_without_a_hint_are_numbered() -> None:
    assert names_of("%a = addi %n, %n : tile<i32> %b = iota : tile<4xi32>") == ["%0", "%1"]


def test_declared_results_give_their_names() -> None:
    assert names_of("%a, %b, %c = get_tile_block_id : tile<i32>") == ["%blockId_x, %blockId_y, %blockId_z"]
    load = "%a, %b = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token"
    assert names_of(load) == ["%result, %result_token"]


def test_clashes_share_one_counter() -> None:
    zero = "constant <i32: 0> : tile<i32>"
    one = "constant <i32: 1> : tile<i32>"
    names = names_of(f"%a = {zero} %b = {zero} %c = {one} %d = {one} %e = {zero}")
    assert names == ["%cst_0_i32", "%cst_0_i32_0", "%cst_1_i32", "%cst_1_i32_1", "%cst_0_i32_2"]


def test_an_assumption_is_named_after_what_it_assumes() -> None:
    names = names_of(
        "%a = assume div_by<8>, %n : tile<i32> %b = constant <i32: 8> : tile<i32> %c = assume div_by<8>, %b : tile<i32>"
        " %d = assume div_by<4>, %c : tile<i32> %e = addi %n, %n : tile<i32> %f = assume div_by<2>, %e : tile<i32>"
    )
    assert names == ["%assume", "%cst_8_i32", "%assume_cst_8_i32", "%assume_assume_cst_8_i32", "%0", "%assume_0"]


def test_an_assumption_about_an_unnamed_result_ends_in_an_underscore() -> None:
    body = "%a = if %flag -> (tile<i32>) { yield %n : tile<i32> } else { yield %n : tile<i32> }"
    assert names_of(body + " %b = assume div_by<2>, %a : tile<i32>") == ["%0", "%assume_"]


def test_a_long_chain_of_assumptions_keeps_names_short() -> None:
    links = "".join(f"%a{i + 1} = assume div_by<2>, %a{i} : tile<i32>\n" for i in range(2000))
    text = to_text(parse(f"cuda_tile.module @m {{ entry @k(%a0: tile<i32>) {{ {links} }} }}"))
    assert len(text) < 6_000_000


def test_values_of_a_block_are_named_before_those_of_its_regions() -> None:
    lines = body_lines(
        "%z = constant <i32: 0> : tile<i32>"
        " for %i in (%z to %n, step %n) : tile<i32> { %y = constant <i32: 0> : tile<i32> %a = addi %y, %n : tile<i32> }"
        " %x = constant <i32: 0> : tile<i32> %b = addi %x, %n : tile<i32>"
    )
    assert lines == [
        "%cst_0_i32 = constant <i32: 0> : tile<i32>",
        "for %loopIdx in (%cst_0_i32 to %arg0, step %arg0) : tile<i32> {",
        "%cst_0_i32_1 = constant <i32: 0> : tile<i32>",
        "%1 = addi %cst_0_i32_1, %arg0 : tile<i32>",
        "}",
        "%cst_0_i32_0 = constant <i32: 0> : tile<i32>",
        "%0 = addi %cst_0_i32_0, %arg0 : tile<i32>",
        "return",
    ]


def test_sibling_regions_repeat_names() -> None:
    lines = body_lines("if %flag { %a = addi %n, %n : tile<i32> } else { %b = subi %n, %n : tile<i32> }")
    assert lines[1].startswith("%0 = addi")
    assert lines[3].startswith("%0 = subi")


def test_region_arguments_have_names() -> None:
    lines = body_lines(
        "%a = loop iter_values(%x = %n) : tile<i32> -> tile<i32> { break %x : tile<i32> }"
        " %r = iota : tile<4xi32>"
        " %s:2 = reduce %r, %r dim=0 identities=[0 : i32, 0 : i32] : tile<4xi32>, tile<4xi32> -> tile<i32>, tile<i32>"
        " (%b: tile<i32>, %c: tile<i32>, %d: tile<i32>, %e: tile<i32>) { yield %b, %d : tile<i32>, tile<i32> }"
    )
    assert lines[0] == "%0 = loop iter_values(%arg3 = %arg0) : tile<i32> -> tile<i32> {"
    assert lines[4].startswith("%reduce:2 = reduce %1, %1 dim=0")
    arguments = "%reduce_lhs0: tile<i32>, %reduce_rhs0: tile<i32>, %reduce_lhs1: tile<i32>, %reduce_rhs1: tile<i32>"
    assert lines[5] == f"({arguments}) {{"


def test_the_generic_form_numbers_all_results() -> None:
    module = parse("cuda_tile.module @m { entry @k() { %a, %b, %c = get_tile_block_id : tile<i32> } }")
    assert '    %0:3 = "cuda_tile.get_tile_block_id"()' in to_text(module, form="generic")


def test_names_of_the_text_are_kept_on_request() -> None:
    body = (
        "%sum = addi %n, %n : tile<i32>  %pair:2 = for %turn in (%sum to %n, step %n) : tile<i32>\n"
        "iter_values(%left = %n, %right = %sum) -> (tile<i32>, tile<i32>) {"
        "continue %right, %left : tile<i32>, tile<i32> }"
        "%x, %y, %z = get_tile_block_id : tile<i32>  %end = cuda_tile.muli %pair#1, %x : tile<i32>"
    )
    module = parse(f"cuda_tile.module @m {{ entry @k(%n: tile<i32>) {{ {body} }} }}")
    text = to_text(module, written=True)
    for line in ("%sum = addi %n, %n", "%pair:2 = for %turn in", "iter_values(%left = %n", "%end = muli %pair#1, %x"):
        assert line in text, text
    assert to_text(parse(text), written=True) == text and to_text(parse(text)) == to_text(module)


def test_every_entry_starts_at_zero() -> None:
    items = "".join(f"entry @k{i}(%n: tile<i32>) {{ %a = addi %n, %n : tile<i32> }} " for i in range(2))
    assert to_text(parse(f"cuda_tile.module @m {{ {items} }}")).count("%0 = addi %arg0, %arg0") == 2


def test_names_cover_every_value() -> None:
    module: Module = parse("cuda_tile.module @m { entry @k(%n: tile<i32>) { loop { %a = addi %n, %n : tile<i32> } } }")
    names = name_values(module.op)
    values = [value for op in module.walk() for value in every_value(op)]
    assert all(value in names.uses for value in values)


def every_value(op: Op) -> list[object]:
    arguments = [argument for region in op.regions if region is not None for argument in region.args]
    return [*op.results, *arguments]
