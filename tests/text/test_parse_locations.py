"""Locations and debug-info attributes: every form, aliases before and after, and their faults."""

import pytest
from parse_programs import check_faults

from tileir.ir import loc as l
from tileir.ir.attributes import StringAttr
from tileir.text.parser import parse

FILE = l.DIFile("a.py", "/src")
UNIT = l.DICompileUnit(FILE)
PROGRAM = l.DISubprogram(FILE, 10, "k_py", "k", UNIT, 11)
BLOCK = l.DILexicalBlock(PROGRAM, FILE, 12, 4)
FILE_TEXT = '#cuda_tile.di_file<"a.py" in "/src">'
UNIT_TEXT = f"#cuda_tile.di_compile_unit<file = {FILE_TEXT}>"
PROGRAM_TEXT = (
    f'#cuda_tile.di_subprogram<file = {FILE_TEXT}, line = 10, name = "k_py", linkageName = "k", '
    f"compileUnit = {UNIT_TEXT}, scopeLine = 11>"
)
SHORT_PROGRAM_TEXT = (
    '#cuda_tile.di_subprogram<scopeLine = 11, name = "k_py", linkageName = "k", line = 10, '
    'compileUnit = <file = <"a.py" in "/src">>, file = <"a.py" in "/src">>'
)


def location(text: str, after: str = "") -> l.Location:
    """The location of a return followed by ``loc(text)``."""
    block = parse(f"entry @k() {{ return loc({text}) }}\n{after}").items[0].regions[0]
    assert block is not None
    return block.ops[0].loc


A, B = l.FileLoc("f", 1, 2), l.FileLoc("g", 3, 4)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("unknown", l.UNKNOWN),
        ('"f":1:2', A),
        ('"f" : 1 : 2', A),
        ('"f":1:2 to :9', l.FileLoc("f", 1, 2, 1, 9)),
        ('"f":1:2 to 3:4', l.FileLoc("f", 1, 2, 3, 4)),
        ('"name"', l.NameLoc("name")),
        ('"name"("f":1:2)', l.NameLoc("name", A)),
        ('callsite("f":1:2 at "g":3:4)', l.CallSiteLoc(A, B)),
        ('callsite(callsite("f":1:2 at unknown) at "g":3:4)', l.CallSiteLoc(l.CallSiteLoc(A, l.UNKNOWN), B)),
        ('fused["f":1:2, "g":3:4]', l.FusedLoc((A, B))),
        ("fused[]", l.FusedLoc(())),
        ('fused<"pass">["f":1:2]', l.FusedLoc((A,), StringAttr("pass"))),
        (f'#cuda_tile.di_loc<loc("f":1:2) in {PROGRAM_TEXT}>', l.DILoc(A, PROGRAM)),
        (f'#cuda_tile.di_loc<loc("f":1:2) in {SHORT_PROGRAM_TEXT}>', l.DILoc(A, PROGRAM)),
        (
            f'#cuda_tile.di_loc<loc("f":1:2) in #cuda_tile.di_lexical_block<column = 4, line = 12, '
            f"file = {FILE_TEXT}, scope = {PROGRAM_TEXT}>>",
            l.DILoc(A, BLOCK),
        ),
    ],
)
def test_a_location_reads(text: str, expected: l.Location) -> None:
    assert location(text) == expected


ALIASES = f"""
#di_file = {FILE_TEXT}
#loc = loc("f":1:2)
#di_compile_unit = #cuda_tile.di_compile_unit<file = #di_file>
#di_subprogram = #cuda_tile.di_subprogram<file = #di_file, line = 10, name = "k_py", linkageName = "k",
  compileUnit = #di_compile_unit, scopeLine = 11>
#di_lexical_block = #cuda_tile.di_lexical_block<scope = #di_subprogram, file = #di_file, line = 12, column = 4>
#loc1 = #cuda_tile.di_loc<#loc in #di_lexical_block>
#loc2 = loc(callsite(#loc1 at #loc3))
#loc3 = loc("g":3:4)
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#loc", A),
        ("#loc1", l.DILoc(A, BLOCK)),
        ("#loc2", l.CallSiteLoc(l.DILoc(A, BLOCK), B)),
        ('callsite("x" at #loc3)', l.CallSiteLoc(l.NameLoc("x"), B)),
        ("fused[#loc, #loc3]", l.FusedLoc((A, B))),
    ],
)
def test_location_aliases_may_be_defined_at_the_end(text: str, expected: l.Location) -> None:
    assert location(text, ALIASES) == expected


def test_every_operation_and_argument_may_have_a_location() -> None:
    entry_text = 'entry @k(%a: tile<i32> loc(#a)) {\n return loc("r")\n } loc("e")'
    module = parse(f'cuda_tile.module @m {{\n {entry_text}\n}} loc("m")\n#a = loc("a")')
    entry = module.items[0]
    block = entry.regions[0]
    assert block is not None
    assert (module.op.loc, entry.loc, block.ops[0].loc) == (l.NameLoc("m"), l.NameLoc("e"), l.NameLoc("r"))
    assert block.arg_locs == (l.NameLoc("a"),)


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        ("«somewhere»", "E0103"),
        ('"f":«x»:2', "E0103"),
        ('"f":1«)»', "E0103"),
        ('"f":1:«4294967296»', "E0116"),
        ("callsite(unknown «,» unknown)", "E0103"),
        ("«#none»", "E0121"),
        ("«#number»", "E0121"),
        ("«#cuda_tile.di_place»<>", "E0107"),
        ('«#cuda_tile.di_file»<"a" in "b">', "E0121"),
        ('#cuda_tile.di_loc<«"f"»:1:2 in #sub>', "E0103"),
        ('#cuda_tile.di_loc<«loc»("name") in #sub>', "E0133"),
        ('#cuda_tile.di_loc<loc("f":1:2) in «#number»>', "E0133"),
        ('#cuda_tile.di_loc<loc("f":1:2) in «#cuda_tile.di_file»<"a" in "b">>', "E0133"),
        ('#cuda_tile.di_loc<loc("f":1:2) in «#cuda_tile.di_lexical_block»<file = <"a" in "b">>>', "E0133"),
        ('#cuda_tile.di_loc<loc("f":1:2) in #cuda_tile.di_subprogram<«lines» = 5>>', "E0133"),
        ('#cuda_tile.di_loc<loc("f":1:2) in #cuda_tile.di_subprogram<line = 5, «line» = 5>>', "E0114"),
        ('#cuda_tile.di_loc<loc("f":1:2) in #cuda_tile.di_subprogram<line = «-5»>>', "E0116"),
        ('#cuda_tile.di_loc<loc("f":1:2) in #cuda_tile.di_subprogram<name = «5»>>', "E0103"),
        ('#cuda_tile.di_loc<loc("f":1:2) in #cuda_tile.di_subprogram<file = «#number»>>', "E0133"),
    ],
)
def test_a_faulty_location_is_reported_where_it_is_wrong(marked: str, code: str) -> None:
    check_faults(f"#number = 5\nentry @k() {{\n return loc({marked})\n}}", code)


def test_a_location_alias_of_itself_is_a_fault() -> None:
    check_faults('entry @k() { } loc(#a)\n#a = loc("x"(«#b»))\n#b = loc("y"(#a))', "E0115")
