"""Names of values: packs, scopes, forward references, and their faults."""

import pytest
from parse_programs import check_faults, entry, op, ops

from tileir.ir.core import Block
from tileir.text.parser import parse

IDS = "get_tile_block_id : tile<i32>"
F32 = "constant <f32: 1.0> : tile<f32>"


@pytest.mark.parametrize(
    ("names", "uses"),
    [
        ("%a, %b, %c", ("%a", "%b", "%c")),
        ("%p:3", ("%p#0", "%p#1", "%p#2")),
        ("%p:3", ("%p", "%p #1", "%p  #2")),
        ("%a, %p:2", ("%a", "%p#0", "%p#1")),
        ("%p:2, %a", ("%p", "%p#1", "%a#0")),
        ("%-1, %$._x, %0", ("%-1", "%$._x", "%0")),
    ],
)
def test_results_are_named_alone_or_as_packs(names: str, uses: tuple[str, ...]) -> None:
    found = ops(f"{names} = {IDS}\n" + "\n".join(f"%u{n} = absi {use} : tile<i32>" for n, use in enumerate(uses)))
    assert tuple(user.operands[0] for user in found[1:]) == found[0].results


def test_results_without_names_are_not_used() -> None:
    assert len(op(IDS).results) == 3


def test_a_name_is_free_again_after_its_region() -> None:
    body = "if %c {\n %x = absi %a : tile<i32>\n} else {\n %x = absi %a : tile<i32>\n}\n %x = absi %a : tile<i32>"
    assert len(ops(body, "%c: tile<i1>, %a: tile<i32>")) == 2


def test_entries_do_not_share_names() -> None:
    program = "entry @a(%x: tile<i32>) { %y = absi %x : tile<i32> }\n" * 2
    assert len(parse(program.replace("@a", "@b", 1)).items) == 2


def test_a_value_may_be_used_before_its_definition() -> None:
    use, definition = ops("%b = absi %a : tile<i32>\n%a = constant <i32: 1> : tile<i32>")
    assert use.operands == definition.results
    assert definition.results[0].op is definition


def test_a_block_argument_may_be_used_before_its_definition() -> None:
    body = "%b = absi %i : tile<i32>\nfor %i in (%n to %n, step %n) : tile<i32> {\n}"
    use, loop = ops(body, "%n: tile<i32>")
    block = loop.regions[0]
    assert isinstance(block, Block)
    assert use.operands == tuple(block.args)


def test_a_result_of_a_pack_may_be_used_before_its_definition() -> None:
    use, definition = ops(f"%b = absi %p#1 : tile<i32>\n%p:3 = {IDS}")
    assert use.operands[0] is definition.results[1]


def test_an_index_without_a_type_takes_that_of_the_value() -> None:
    view = "partition_view<tile=(8), tensor_view<64xf32, strides=[1]>>"
    body = f"%x, %t = load_view_tko weak %v[%i] : {view} -> tile<8xf32>, token"
    assert op(body, f"%v: {view}, %i: tile<i16>").operands[1].type is not None


@pytest.mark.parametrize(
    ("marked", "codes"),
    [
        ("%b = absi «%x» : tile<i32>", ["E0109"]),
        ("%b = absi «%x» : tile<i32>\n%d = absi %x : tile<i32>", ["E0109"]),
        ("if %c {\n %x = absi %a : tile<i32>\n}\n%y = absi «%x» : tile<i32>", ["E0109"]),
        ("%b = absi %a : tile<i32>\n«%b» = absi %a : tile<i32>", ["E0110"]),
        ("«%a» = constant <i32: 1> : tile<i32>", ["E0110"]),
        ("if %c {\n «%a» = constant <i32: 1> : tile<i32>\n}", ["E0110"]),
        (f"%p:2, «%p» = {IDS}", ["E0110"]),
        ("%b = absi «%a» : tile<i64>", ["E0111"]),
        ("%b = addi %a, «%c» : tile<i32>", ["E0111"]),
        ("%b = absi «%x» : tile<i64>\n%x = constant <i32: 1> : tile<i32>", ["E0111"]),
        ("%b = absi %x : tile<i64>\n%d = absi «%x» : tile<i32>\n%x = constant <i64: 1> : tile<i64>", ["E0111"]),
        (f"«%x, %y» = {IDS}", ["E0112"]),
        (f"«%x»:4 = {IDS}", ["E0112"]),
        (f"%x:«0» = {IDS}", ["E0112"]),
        ('«%x» = assert %c, "" : tile<i1>', ["E0112"]),
        (f"%p:3 = {IDS}\n%b = absi «%p#3» : tile<i32>", ["E0129"]),
        ("%b = absi «%a#1» : tile<i32>", ["E0129"]),
        ("%b = absi «a» : tile<i32>", ["E0103"]),
        ("«%b#1» = absi %a : tile<i32>", ["E0103"]),
    ],
)
def test_a_faulty_name_is_reported_where_it_stands(marked: str, codes: list[str]) -> None:
    check_faults(entry(marked, "%a: tile<i32>, %c: tile<i1>"), *codes)


def test_a_type_mismatch_names_both_types_and_the_definition() -> None:
    (fault,) = check_faults(entry("%b = absi «%a» : tile<i64>", "%a: tile<i32>"), "E0111")
    assert (fault.expected, fault.got, fault.op) == ("tile<i64>", "tile<i32>", "absi")
    assert fault.message == "expected a value of type tile<i64>, as this operation states, got '%a' of type tile<i32>"
    assert [note.message for note in fault.notes] == ["defined here"]


def test_an_undefined_value_has_a_hint() -> None:
    (fault,) = check_faults(entry("%b = absi «%indx» : tile<i32>", "%index: tile<i32>"), "E0109")
    assert fault.hint == "did you mean '%index'?"


def test_values_of_another_entry_are_not_visible() -> None:
    check_faults("entry @a(%x: tile<i32>) { }\nentry @b() {\n %y = absi «%x» : tile<i32> }", "E0109")


@pytest.mark.parametrize(
    ("faulty", "code"),
    [
        ("%x = «nothing» %a : tile<i32>", "E0105"),
        ("%x = absi %a «tile<i32>»", "E0103"),
        ("%x = absi %a : «tile<3xi32>»", "E0305"),
        ("%x, %z = addi %a «:» tile<i32>", "E0103"),
        ("%x:2 = addi %a, «;»", "E0101"),
    ],
)
def test_results_of_a_faulty_statement_cause_no_further_faults(faulty: str, code: str) -> None:
    rest = "%y = absi %x : tile<8xi32>\n%w = addi %x, «%y» : tile<4xi32>"
    check_faults(entry(f"{faulty}\n{rest}", "%a: tile<i32>"), code, "E0111")


@pytest.mark.parametrize(
    "again",
    [
        f"%x = absi %a : tile<i32>\n«%x» = {F32}\n%y = absf %x : tile<f32>\n%z = absi %x : tile<i32>",
        f"if %c {{\n «%a» = {F32}\n %y = absf %a : tile<f32>\n}}",
        f"%x = absi %a : tile<i32>\n«%x»:3 = {IDS}\n%y = absi %x#2 : tile<i32>",
        f"%x:3 = {IDS}\n«%x» = {F32}\n%y = absf %x : tile<f32>\n%z = absf %x#1 : tile<f32>",
    ],
)
def test_uses_of_a_name_defined_twice_cause_no_further_faults(again: str) -> None:
    check_faults(entry(again, "%a: tile<i32>, %c: tile<i1>"), "E0110")


def test_uses_before_a_faulty_definition_cause_no_faults() -> None:
    check_faults(entry("%a = absi %x : tile<i32>\n%b = absi %p#1 : tile<i32>\n%x, %p:2 = «nothing»"), "E0105")


def test_many_faulty_packs_take_no_time() -> None:
    body = "".join(f"%p{index}:65536 = «nothing»\n%q{index} = absi %p{index}#9 : tile<i32>\n" for index in range(50))
    check_faults(entry(body), *["E0105"] * 50)
