"""Forms, levels and fallbacks of printing."""

from __future__ import annotations

import pytest

from tileir.ir.compare import identical
from tileir.ir.core import Module
from tileir.ops import OPS
from tileir.text.parser import parse
from tileir.text.printer import to_text
from tileir.text.syntax.format import DIRECTIVES, OWN_SYNTAX, directives


def entry(body: str, arguments: str = "%n: tile<i32>, %x: tile<f32>") -> Module:
    return parse(f"cuda_tile.module @m {{ entry @k({arguments}) {{ {body} }} }}")


def test_an_empty_module_has_two_lines() -> None:
    assert to_text(parse("cuda_tile.module @m {}")) == "cuda_tile.module @m {\n}\n"


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(ValueError, match="expected form to be one of module, disassembly, generic, got 'html'"):
        to_text(parse("cuda_tile.module @m {}"), form="html")


def test_the_disassembly_puts_globals_first() -> None:
    module = parse("cuda_tile.module @m { entry @k() {} global @g <i32: 1> : tile<1xi32> }")
    assert to_text(module, form="disassembly") == "global  @g <i32: 1> : tile<1xi32>\nentry @k() {\n  return\n}\n"


def test_the_producer_is_an_attribute_or_a_comment() -> None:
    module = parse('cuda_tile.module @m attributes {producer = "me \\"too\\""} {}')
    assert to_text(module) == 'cuda_tile.module @m attributes {producer = "me \\22too\\22"} {\n}\n'
    assert to_text(module, form="disassembly") == '// Producer: me "too"\n'


@pytest.mark.parametrize(("level", "name"), [("13.1", "pow"), ("13.3", "pow"), ("13.4", "fpowf"), ("13.5", "fpowf")])
def test_the_level_chooses_the_spelling(level: str, name: str) -> None:
    module = entry("%y = pow %x, %x : tile<f32>")
    assert f"%0 = {name} %arg1, %arg1 : tile<f32>" in to_text(module, level=level)


def test_discardable_attributes_are_sorted_and_kept() -> None:
    module = entry('%a = addi %n, %n {z = 1, "a b" = [1.5, 2 : i8], m} : tile<i32>')
    text = to_text(module)
    assert '%0 = addi %arg0, %arg0 {"a b" = [1.500000e+00, 2 : i8], m, z = 1 : i64} : tile<i32>' in text
    assert identical(parse(text), module)


ATTRIBUTES = [
    "true",
    "-7 : i8",
    "7 : i64",
    "1.000000e-01 : f32",
    "0x7FF0000000000000 : f64",
    '"text\\0A"',
    "unit",
    "[]",
    "{}",
    "{a = {b, c = [1, [2]]}}",
    "@outer::@inner",
    "array<i32: 1, -2>",
    "array<i1: true, false>",
    "array<f32: 1.500000e+00, 0x7F800000>",
    "array<i64>",
    "!cuda_tile.tile<4xptr<f32>>",
    "(!cuda_tile.tile<i32>, i32) -> ()",
    "(i32) -> !cuda_tile.token",
    "() -> (i32, f32)",
    "dense<[1, 2]> : !cuda_tile.tile<2xi32>",
    "dense<1.000000e+00> : !cuda_tile.tile<2x2xf32>",
    "#cuda_tile.rounding<zero>",
    "#cuda_tile.comparison_predicate<less_than>",
    "#cuda_tile<padding_value nan>",
    "#cuda_tile.div_by<16, every 2 along 0>",
    "#cuda_tile.bounded<?, -1>",
    "#cuda_tile.same_elements<[1, 2]>",
    "#cuda_tile.optimization_hints<sm_90 = {latency = 3}>",
    'loc("a.py":1:2)',
    'loc("a.py":1:2 to :9)',
    'loc("a.py":1:2 to 3:4)',
    'loc("name")',
    'loc("name"("a.py":1:2))',
    'loc(callsite("a.py":1:2 at unknown))',
    'loc(fused<"why">["a.py":1:2, unknown])',
    "loc(unknown)",
    '#cuda_tile.di_file<"a.py" in "/d">',
    '#cuda_tile.di_compile_unit<file = <"a.py" in "/d">>',
    '#cuda_tile.di_loc<loc("a.py":1:2) in #cuda_tile.di_lexical_block<scope = #cuda_tile.di_subprogram<'
    'file = <"a.py" in "/d">, line = 1, name = "f", linkageName = "k", compileUnit = <file = <"a.py" in "/d">>, '
    'scopeLine = 2>, file = <"a.py" in "/d">, line = 3, column = 4>>',
]


@pytest.mark.parametrize("spelling", ATTRIBUTES)
def test_every_kind_of_attribute_has_one_canonical_spelling(spelling: str) -> None:
    module = entry(f"return {{key = {spelling}}}")
    shown = "key" if spelling == "unit" else f"key = {spelling}"
    for form in ("module", "generic"):
        text = to_text(module, form=form)
        assert f"{{{shown}}}" in text
        assert identical(parse(text), module)


# ---------------------------------------------------------------- what custom syntax cannot say


def generic(body: str) -> Module:
    return parse(
        f"""
"cuda_tile.module"() <{{sym_name = "m"}}> ({{
  "cuda_tile.entry"() <{{function_type = (!cuda_tile.tile<i32>, !cuda_tile.tile<i64>, !cuda_tile.tile<i1>) -> (),
    sym_name = "k"}}> ({{
  ^bb0(%n: !cuda_tile.tile<i32>, %l: !cuda_tile.tile<i64>, %c: !cuda_tile.tile<i1>):
    {body}
    "cuda_tile.return"() : () -> ()
  }}) : () -> ()
}}) : () -> ()"""
    )


UNFIT = {
    "types that differ": '%0 = "cuda_tile.absi"(%n) : (!cuda_tile.tile<i32>) -> !cuda_tile.tile<i64>',
    "a missing terminator": '"cuda_tile.if"(%c) ({ %0 = "cuda_tile.iota"() : () -> !cuda_tile.tile<4xi32> }, {}) '
    ": (!cuda_tile.tile<i1>) -> ()",
    "a bound of another type": '"cuda_tile.for"(%n, %l, %n) ({ ^bb0(%i: !cuda_tile.tile<i32>): '
    '"cuda_tile.continue"() : () -> () }) '
    ": (!cuda_tile.tile<i32>, !cuda_tile.tile<i64>, !cuda_tile.tile<i32>) -> ()",
}


@pytest.mark.parametrize("body", UNFIT.values(), ids=UNFIT.keys())
@pytest.mark.parametrize("debug", [False, True], ids=["plain", "debug"])
def test_what_custom_syntax_cannot_say_is_written_generically(body: str, debug: bool) -> None:
    module = generic(body)
    assert identical(parse(to_text(module, debug=debug)), module)


def test_a_valid_operation_is_never_written_generically() -> None:
    module = entry("%a = addi %n, %n : tile<i32> %b = iota : tile<4xi32> loop { break }")
    assert '"cuda_tile.' not in to_text(module)


def test_deep_nesting_is_printed() -> None:
    module = entry("if %c {" * 110 + "}" * 110, "%c: tile<i1>")
    for form in ("module", "disassembly", "generic"):
        assert to_text(module, form=form, debug=True).count("%arg0") == 111
    assert identical(parse(to_text(module)), module)


# ---------------------------------------------------------------- locations


def test_places_of_a_parsed_text_are_written_on_demand() -> None:
    module = parse("cuda_tile.module @m {\n  entry @k() {\n    return\n  }\n}", "file.mlir")
    assert to_text(module, debug=True) == (
        "cuda_tile.module @m {\n"
        "  entry @k() {\n"
        "    return loc(#loc2)\n"
        "  } loc(#loc1)\n"
        "} loc(#loc)\n"
        '#loc = loc("file.mlir":1:1)\n'
        '#loc1 = loc("file.mlir":2:3)\n'
        '#loc2 = loc("file.mlir":3:5)\n'
    )


def test_bytecode_would_lose_plain_places() -> None:
    text = to_text(parse("cuda_tile.module @m { entry @k() { return } }"), form="disassembly", debug=True)
    assert text == "entry @k() {\n  return loc(#loc)\n} loc(#loc)\n#loc = loc(unknown)\n"


def test_places_survive_debug_text() -> None:
    body = '%a = addi %n, %n : tile<i32> loc("a.py":1:2) return loc(callsite("f"("a.py":1:2) at fused["b.py":3:4]))'
    module = entry(body)
    for form in ("module", "generic"):
        assert identical(parse(to_text(module, form=form, debug=True)), module, locations=True)


# ---------------------------------------------------------------- the same program


def test_different_programs_are_told_apart() -> None:
    base = entry("%a = addi %n, %n : tile<i32>")
    others = [
        "%a = subi %n, %n : tile<i32>",
        "%a = addi %n, %n overflow<no_wrap> : tile<i32>",
        "%a = addi %n, %n {extra} : tile<i32>",
        "%a = addi %n, %n : tile<i32> %b = addi %a, %n : tile<i32>",
        "%a = mulf %x, %x : tile<f32>",
        "",
    ]
    assert identical(base, entry("%other = addi %n, %n overflow<none> : tile<i32>"))
    assert not any(identical(base, entry(other)) for other in others)


def test_operands_are_compared_by_definition() -> None:
    left = entry("%a = addi %n, %n : tile<i32> %b = subi %n, %a : tile<i32>")
    right = entry("%a = addi %n, %n : tile<i32> %b = subi %a, %n : tile<i32>")
    assert not identical(left, right)


def test_the_integer_type_of_a_hint_does_not_matter() -> None:
    text = "cuda_tile.module @m {{ entry @k() optimization_hints=<sm_90 = {{occupancy = {}}}> {{}} }}"
    assert identical(parse(text.format("2")), parse(text.format("2 : i32")))
    assert not identical(parse(text.format("2")), parse(text.format("3")))


def test_every_operation_has_a_way_to_be_written() -> None:
    assert [name for name, op in OPS.items() if op.spec.format is None and op not in OWN_SYNTAX] == []


def test_an_empty_module_disassembles_to_an_empty_line() -> None:
    assert to_text(parse(""), form="disassembly") == "\n"


def test_every_directive_is_used():
    used = {type(directive) for op in OPS.values() for directive in directives(op.spec)}
    assert set(DIRECTIVES.values()) <= used
