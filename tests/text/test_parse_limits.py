"""Texts that are hostile or cut short end in a diagnostic, in bounded time and memory."""

import time
import tracemalloc

import pytest
from parse_programs import check_faults, entry, faults, op, ops

from tileir.ir.diagnostics import DiagnosticError
from tileir.text.parser import parse
from tileir.text.reading.reader import MAX_NESTING

MANY = 100_000
SECONDS = 10


PIECES = [*'[]{}()<>%@#!^"\\:,=-\x00\x04\x7fé\ud800', "0x", "// x\n%a", "\n}", '"\\', "tile<", "%a = "]


@pytest.mark.parametrize("piece", PIECES)
def test_the_same_piece_over_and_over(piece: str) -> None:
    begin = time.perf_counter()
    found = faults(piece * MANY)
    assert 0 < len(found) <= 101
    assert time.perf_counter() - begin < SECONDS


def test_a_long_text_of_brackets_takes_little_memory() -> None:
    text = "[" * 500_000
    tracemalloc.start()
    faults(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000


NESTED = {
    "regions": lambda n: entry("if %c {\n" * n + "}\n" * n, "%c: tile<i1>"),
    "generic regions": lambda n: entry(
        '"cuda_tile.if"(%c) ({\n' * n + "}, {}) : (!cuda_tile.tile<i1>) -> ()\n" * n, "%c: tile<i1>"
    ),
    "arrays": lambda n: "#a = " + "[" * n + "]" * n,
    "dictionaries": lambda n: "#a = " + "{a = " * n + "1" + "}" * n,
    "call sites": lambda n: "#a = loc(" + "callsite(" * n + "unknown" + " at unknown)" * n + ")",
    "named locations": lambda n: "#a = loc(" + '"x"(' * n + "unknown" + ")" * n + ")",
    "fused locations": lambda n: "#a = loc(" + "fused[" * n + "]" * n + ")",
    "metadata": lambda n: "#a = loc(" + "fused<loc(" * n + "unknown" + ")>[]" * n + ")",
    "scopes": lambda n: "#a = " + "#cuda_tile.di_lexical_block<scope = " * n,
    "tiles": lambda n: "!a = " + "!cuda_tile.tile<" * n,
    "views": lambda n: "!a = " + "!cuda_tile.partition_view<tile=(1), " * n,
    "functions": lambda n: "!a = " + "(" * n + "i32" + ") -> i32" * n,
    "elements": lambda n: entry("%c = constant <i32: " + "[" * n + "1" + "]" * n + "> : tile<i32>"),
    "attribute aliases": lambda n: "#a0 = [1]\n" + "".join(f"#a{i + 1} = [#a{i}, #a{i}]\n" for i in range(n)),
    "location aliases": lambda n: (
        "#a0 = loc(unknown)\n" + "".join(f"#a{i + 1} = loc(callsite(#a{i} at #a{i}))\n" for i in range(n))
    ),
    "later aliases": lambda n: (
        "entry @k() { } loc(#a0)\n"
        + "".join(f"#a{i} = loc(callsite(#a{i + 1} at #a{i + 1}))\n" for i in range(n))
        + f"#a{n} = loc(unknown)"
    ),
    "type aliases": lambda n: "!a0 = i32\n" + "".join(f"!a{i + 1} = (!a{i}, !a{i}) -> !a{i}\n" for i in range(n)),
}


@pytest.mark.parametrize("depth", [1000, 10_000])
@pytest.mark.parametrize("kind", NESTED)
def test_deep_nesting_is_a_fault(kind: str, depth: int) -> None:
    codes = [fault.code for fault in faults(NESTED[kind](depth))]
    assert codes[0] == "E0115"


@pytest.mark.parametrize("kind", list(NESTED)[:6])
def test_nesting_up_to_the_limit_reads(kind: str) -> None:
    parse(NESTED[kind](MAX_NESTING - 5))


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        (f"«%x»:{60_000} = make_token : token", "E0112"),
        (f"%x:«{'9' * 5000}» = make_token : token", "E0116"),
        (f"%x = absi «%y#{'9' * 5000}» : tile<i32>", "E0129"),
        (f"%x = assume div_by<«{'9' * 5000}»>, %y : tile<i32>", "E0116"),
        (f"%x = constant <f32: «0x{'F' * 5000}»> : tile<f32>", "E0119"),
        (f'return loc("f":«{"1" * 5000}»:1)', "E0116"),
    ],
)
def test_enormous_numbers_are_faults(marked: str, code: str) -> None:
    check_faults(entry(marked, "%y: tile<i32>"), code)


def test_leading_zeros_do_not_make_a_number_large() -> None:
    assert op(f"%c = constant <i8: {'0' * 5000}7> : tile<i8>").value.data == b"\7"


def test_a_statement_longer_than_what_is_read_ahead() -> None:
    many = 5000
    values = ", ".join(["%a"] * many)
    types = ", ".join(["tile<i32>"] * many)
    assert len(op(f'print_tko "", {values} : {types} -> token', "%a: tile<i32>").operands) == many
    arguments = ", ".join(f"%a{index}: tile<i32>" for index in range(many))
    assert len(parse(f"entry @k({arguments}) {{ }}").items[0].function_type.inputs) == many
    array = ", ".join(["true"] * many)
    assert len(parse(f"entry @k() {{ }} {{a = [{array}], b = {{c = array<i32: {', '.join('1' * many)}>}}}}").items) == 1


@pytest.mark.parametrize("shift", range(0, 40, 7))
def test_tokens_may_lie_across_the_pieces_of_a_long_text(shift: int) -> None:
    statement = '  %cN = constant <f32: N.5> : tile<128xf32> // c N\n  print "%f\\0A", %cN : tile<128xf32>\n'
    body = "".join(statement.replace("N", str(number)) for number in range(3000))
    assert len(ops(" " * shift + "\n" + body)) == 6000


def test_text_after_a_huge_literal_is_read() -> None:
    data = "00" * (1 << 18)
    string = f'%c = constant <i8: "0x{data}"> : tile<262144xi8>'
    numbers = f"%d = constant <i8: [{'1, ' * 262143}2]> : tile<262144xi8>"
    check_faults(entry(f"{string}\n{numbers}\n%e = «foo»"), "E0105")


def test_surrogates_and_controls_in_strings_and_comments_are_kept_or_skipped() -> None:
    assert op('print "\udcff\\FFé" // \x00\ud800').attributes["str"] == "\udcff\udcffé"
    assert op('print "\ud800"').attributes["str"] == "\udced\udca0\udc80"


def test_every_fault_can_be_shown() -> None:
    with pytest.raises(DiagnosticError) as caught:
        parse("entry @k() {\n" + "\t%x = \ud800 \x00 é\n" * 5 + "}")
    assert str(caught.value).encode("utf-8", "backslashreplace")
    assert all(fault.to_json()["line"] for fault in caught.value.diagnostics)
