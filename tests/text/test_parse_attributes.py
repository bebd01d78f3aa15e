"""Attributes, dictionaries, hints, predicates and aliases, and their faults."""

import pytest
from parse_programs import check_faults, entry, op

from tileir.ir import attributes as a
from tileir.ir import loc as l
from tileir.ir import types as t
from tileir.text.parser import parse


def attribute(text: str) -> a.Attribute:
    found = op(f"%c = constant <i32: 0> : tile<i32> {{x = {text}}}").discardable
    assert found is not None
    return found["x"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5", a.IntegerAttr(5, t.I64)),
        ("-5 : i32", a.IntegerAttr(-5, t.I32)),
        ("255 : i8", a.IntegerAttr(-1, t.I8)),
        ("0xFF : i32", a.IntegerAttr(255, t.I32)),
        ("true", a.BoolAttr(True)),
        ("1 : i1", a.BoolAttr(True)),
        ("1.0", a.FloatAttr(0x3FF0000000000000, t.F64)),
        ("-1.0 : f16", a.FloatAttr(0xBC00, t.F16)),
        ("0xFF800000 : f32", a.FloatAttr(0xFF800000, t.F32)),
        ("1.0 : tf32", a.FloatAttr(0x1FC00, t.TF32)),
        ('"a\\22\\n\\t\\\\\\C3\\A4"', a.StringAttr('a"\n\t\\ä')),
        ('"\\FF"', a.StringAttr("\udcff")),
        ("unit", a.UnitAttr()),
        ("[1, true, []]", a.ArrayAttr((a.IntegerAttr(1, t.I64), a.BoolAttr(True), a.ArrayAttr(())))),
        ('{b, "a b" = 1}', a.DictAttr((("a b", a.IntegerAttr(1, t.I64)), ("b", a.UnitAttr())))),
        ("!cuda_tile.tile<4xf32>", a.TypeAttr(t.tile(t.F32, 4))),
        ("i32", a.TypeAttr(t.I32)),
        ("(i32) -> i32", a.TypeAttr(t.FunctionType((t.I32,), (t.I32,)))),
        ("@f", a.SymbolRef(("f",))),
        ('@f::@"g h"', a.SymbolRef(("f", "g h"))),
        ("array<i32: 1, -2>", a.DenseArray(t.I32, (1, -2))),
        ("array<i1: true, false>", a.DenseArray(t.I1, (True, False))),
        ("array<f32: 1.5>", a.DenseArray(t.F32, (1.5,))),
        ("array<i64>", a.DenseArray(t.I64, ())),
        ("dense<[1, 2]> : !cuda_tile.tile<2xi8>", a.DenseElements(t.tile(t.I8, 2), b"\1\2")),
        ("#cuda_tile.rounding<zero>", a.EnumAttr(a.Rounding.ZERO)),
        ("#cuda_tile<padding_value zero>", a.OpaqueAttr("padding_value", "zero")),
        ("#cuda_tile<div_by<8>>", a.DivBy(8)),
        ("#cuda_tile.div_by<4, every 2 along 0>", a.DivBy(4, 2, 0)),
        ("#cuda_tile.bounded<?, 5>", a.Bounded(None, 5)),
        ("#cuda_tile.optimization_hints<>", a.OptimizationHints(a.DictAttr())),
        ('loc("f":1:2)', l.FileLoc("f", 1, 2)),
        ('#cuda_tile.di_file<"a" in "b">', l.DIFile("a", "b")),
    ],
)
def test_an_attribute_reads(text: str, expected: a.Attribute) -> None:
    assert attribute(text) == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("«»", "E0103"),
        ("«%x»", "E0103"),
        ("«#cuda_tile.round»<zero>", "E0107"),
        ("#cuda_tile.rounding<«up»>", "E0108"),
        ("«#mine»", "E0121"),
        ("«256» : i8", "E0119"),
        ("«18446744073709551616»", "E0119"),
        ("«1» : f32", "E0118"),
        ("«1.0» : i32", "E0118"),
        ("1 : «token»", "E0117"),
        ("{b, «b» = 1}", "E0114"),
        ("{«1»}", "E0103"),
        ('«"a\\q"»', "E0102"),
        ("array<«i4»: 1>", "E0117"),
        ("dense<«1.0»> : !cuda_tile.tile<i32>", "E0118"),
        ("dense<1> : «i32»", "E0117"),
        ("#cuda_tile.optimization_hints«<a = 1>»", "E0123"),
        ("[1 «2»]", "E0103"),
    ],
)
def test_a_faulty_attribute_is_reported_where_it_is_wrong(text: str, code: str) -> None:
    program = entry(f"%c = constant <i32: 0> : tile<i32> {{x = {text}}}")
    if text == "«»":
        program = entry("%c = constant <i32: 0> : tile<i32> {x = «}»")
    if code == "E0123":
        program = program.replace("«<a = 1>»", "«<»a = 1>")
    check_faults(program, code)


def test_dictionary_entries_that_are_declared_are_kept_as_such() -> None:
    found = op("%b = addi %a, %a {overflow = #cuda_tile.overflow<no_wrap>, x} : tile<i32>", "%a: tile<i32>")
    assert found.overflow is a.Overflow.NO_WRAP
    assert found.discardable == {"x": a.UnitAttr()}


def test_a_declared_attribute_given_twice_is_a_fault() -> None:
    body = "%b = addi %a, %a overflow<no_wrap> «{»overflow = #cuda_tile.overflow<no_wrap>} : tile<i32>"
    check_faults(entry(body, "%a: tile<i32>"), "E0114")


def test_hints_are_kept_sorted_with_values_of_64_bits() -> None:
    program = "entry @k() optimization_hints=<sm_90 = {occupancy = 2}, default = {x = false}> { }"
    found = parse(program).items[0].optimization_hints
    occupancy = a.DictAttr((("occupancy", a.IntegerAttr(2, t.I64)),))
    assert found.targets.entries == (("default", a.DictAttr((("x", a.BoolAttr(False)),))), ("sm_90", occupancy))


def test_empty_hints_of_an_entry_are_no_hints() -> None:
    assert "optimization_hints" not in parse("entry @k() optimization_hints=<> { }").items[0].attributes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("div_by<16>", a.DivBy(16)),
        ("#cuda_tile.div_by<16, every 4 along 1>", a.DivBy(16, 4, 1)),
        ("#by_8", a.DivBy(8)),
        ("same_elements<[1, 4]>", a.SameElements((1, 4))),
        ("same_elements<[]>", a.SameElements(())),
        ("bounded<0, ?>", a.Bounded(0, None)),
        ("bounded<-5, 0x10>", a.Bounded(-5, 16)),
    ],
)
def test_a_predicate_reads_bare_with_prefix_or_as_an_alias(text: str, expected: a.Attribute) -> None:
    program = "#by_8 = #cuda_tile.div_by<8>\n" + entry(f"%b = assume {text}, %a : tile<4x8xi16>", "%a: tile<4x8xi16>")
    block = parse(program).items[0].regions[0]
    assert block is not None
    assert block.ops[0].predicate == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("«divides»<8>", "E0108"),
        ("«#cuda_tile.rounding»<zero>", "E0123"),
        ("div_by<«?»>", "E0103"),
        ("div_by<«99999999999999999999»>", "E0116"),
        ("bounded<0«>»", "E0103"),
        ("«»,", "E0103"),
    ],
)
def test_a_faulty_predicate_is_reported_where_it_is_wrong(text: str, code: str) -> None:
    body = f"%b = assume {text}, %a : tile<i32>" if text != "«»," else "%b = assume «,» %a : tile<i32>"
    check_faults(entry(body, "%a: tile<i32>"), code)


@pytest.mark.parametrize(
    ("marked", "codes"),
    [
        ("#a = 1\n«#a» = 2", ["E0121"]),
        ("«#a.b» = 1", ["E0121"]),
        ("!t = i32\n«!t» = i64", ["E0121"]),
        ("#a = «#b»\n#b = 1", ["E0121"]),
        ("#a = [«#none»]\n#b = #a\n#c = [#b]", ["E0121"]),
        ("!a = !cuda_tile.tile<«!none»>\nentry @k(%a: !a) { }", ["E0121"]),
    ],
)
def test_a_faulty_alias_is_reported_once(marked: str, codes: list[str]) -> None:
    check_faults(marked, *codes)


def test_an_explicit_default_is_the_same_as_none() -> None:
    plain = op("%b = addf %a, %a : tile<f32>", "%a: tile<f32>")
    written = op("%b = addf %a, %a rounding<nearest_even> : tile<f32>", "%a: tile<f32>")
    assert plain.attributes == written.attributes == {}
