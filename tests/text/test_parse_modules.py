"""Contents of a file, early spellings, and reading on after a fault."""

import pytest
from parse_programs import check_faults, entry, faults, op, ops

from tileir.ir import attributes as a
from tileir.ir import types as t
from tileir.text.parser import DEFAULT_MODULE, parse

ITEM = "entry @k() { }"


@pytest.mark.parametrize(
    ("program", "name"),
    [
        (f"cuda_tile.module @m {{ {ITEM} }}", "m"),
        (f'cuda_tile.module @"a b" {{ {ITEM} }}', "a b"),
        (f"module {{ cuda_tile.module @m {{ {ITEM} }} }}", "m"),
        (f"builtin.module @a attributes {{x}} {{ cuda_tile.module @m {{ {ITEM} }} loc(unknown) }} loc(unknown)", "m"),
        (ITEM, DEFAULT_MODULE),
        (f"module {{ {ITEM} }}", DEFAULT_MODULE),
        (f"cuda_tile.{ITEM}", DEFAULT_MODULE),
        (f"// Producer: someone\n// -----\n{ITEM}", DEFAULT_MODULE),
        (f"\ufeff{ITEM}", DEFAULT_MODULE),
        (f"#x = 1\n!t = i32\n{ITEM}\n#y = loc(unknown)", DEFAULT_MODULE),
    ],
)
def test_items_stand_in_a_module_of_their_own_or_not(program: str, name: str) -> None:
    module = parse(program, "file.mlir")
    assert (module.op.sym_name, [item.spec.name for item in module.items]) == (name, ["entry"])
    assert module.filename == "file.mlir"


def test_an_empty_text_is_an_empty_module() -> None:
    assert parse("").items == []


def test_a_module_may_name_its_producer() -> None:
    module = parse('cuda_tile.module @m attributes {producer = "x", other} { }')
    assert (module.op.producer, module.op.discardable) == ("x", {"other": a.UnitAttr()})


def test_the_signature_of_an_entry() -> None:
    found = parse("entry @k(%a : tile<i32> {x = 1}, %0: tile<ptr<f32>>) -> (token) { } {y}").items[0]
    pointer = t.tile(t.PointerType(t.F32))
    assert found.function_type is t.FunctionType((t.tile(t.I32), pointer), (t.TOKEN,))
    assert found.arg_attrs == a.ArrayAttr((a.DictAttr((("x", a.IntegerAttr(1, t.I64)),)), a.DictAttr()))
    assert found.discardable == {"y": a.UnitAttr()}


def test_arguments_may_go_without_names() -> None:
    block = parse("entry @k(tile<i32>, tile<f32>) { }").items[0].regions[0]
    assert block is not None
    assert len(block.args) == 2


def test_globals_have_a_visibility() -> None:
    program = "\n".join(f"global {name} <i32: 0> : tile<1xi32>" for name in ("@a", "public @b", "private @c"))
    assert [item.symbol_visibility.text for item in parse(program).items] == ["public", "public", "private"]
    assert "symbol_visibility" not in parse(program).items[1].attributes


# ---------------------------------------------------------------- legacy spellings (spec: legacy#spellings)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('print "x"', "print_tko"),
        ('cuda_tile.print "%d", %a : tile<i32>', "print_tko"),
        ('print_tko "%d", %a : tile<i32>', "print_tko"),
        ('%t = print "%d", %a : tile<i32> -> token', "print_tko"),
        ("%c = constant dense<0.0> : tile<4xf32>", "constant"),
        ("%c = experimental$alloca num_elem = 1, alignment = 4 : tile<ptr<f32>>", "alloca"),
        ("%c = experimental.alloca num_elem = 1, alignment = 4 : tile<ptr<f32>>", "alloca"),
        ("%c = cuda_tile.experimental.asin %f : tile<f32>", "experimental$asin"),
    ],
)
def test_a_legacy_spelling_reads(text: str, name: str) -> None:
    assert op(text, "%a: tile<i32>, %f: tile<f32>").spec.name == name


def test_the_token_of_a_print_may_be_left_out() -> None:
    found = op('print "x"')
    assert [value.type for value in found.results] == [t.TOKEN]


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("global @x «:» tile<4xf32> = 0", "E0103"),
        ("«func» @kernel() -> tile<f32> { }", "E0105"),
        (entry("%c = «cuda_tile.mul» %a, %a : tile<i32>", "%a: tile<i32>"), "E0105"),
        (entry("%c = get_tile_block_id «x»"), "E0103"),
        ("cuda_tile.module @m {\n «%g» = cuda_tile.global @g <f32: 0.0> : tile<1xf32>\n}", "E0112"),
        ('global @g «{»sym_visibility = "private"} <f32: 0.0> : tile<1xf32>', "E0134"),
        ("cuda_tile.module @a { }\n«cuda_tile.module» @b { }", "E0135"),
        ("cuda_tile.module @a { }\n«entry» @b() { }", "E0135"),
        ("entry @k(%a: tile<i32>, «tile<i32>») { }", "E0128"),
        ("entry @k(tile<i32>, «%a»: tile<i32>) { }", "E0128"),
        ("entry «k»() { }", "E0103"),
        ("entry @k«{» }", "E0103"),
        ("«}»", "E0103"),
        ("entry @k() optimization_hints=«#x» { }", "E0103"),
    ],
)
def test_what_was_never_valid_is_refused(program: str, code: str) -> None:
    check_faults(program, code)


def test_a_bitcast_to_pointers_is_left_to_the_verifier() -> None:
    assert op("%p = bitcast %a : tile<4xi64> -> tile<ptr<f32>>", "%a: tile<4xi64>").spec.name == "bitcast"


# ---------------------------------------------------------------- recovery


def test_all_faults_of_a_file_are_reported_in_order() -> None:
    marked = """
cuda_tile.module @m {
  global @g <f32: «1»> : tile<1xf32>
  entry @a(%x: tile<«f33»>) {
    %y = addf %x «%x»
      : tile<f32>
    %z = «mulfx» %y, %y : tile<f32>
    %w = absi «%none» : tile<i32>
    for %i in (%w to %w, step %w) : tile<i32> {
      %q = «foo» {a = 1} : tile<i32>
      %q2 = absi %q : tile<f32>
    } {a «b»}
    return
  }
  entry @b() {
    «nonsense» @x
    %v = constant <i32: 0> : tile<i32>
    %k = absi «%v» : tile<f32>
  }
}
"""
    check_faults(marked, "E0118", "E0106", "E0103", "E0105", "E0109", "E0105", "E0103", "E0105", "E0111")


@pytest.mark.parametrize(
    ("faulty", "code"),
    [
        ("%x = «foo» {\n %a = absi %b : tile<i32>\n}", "E0105"),
        ("%x = addi %c, %c {a = [1, {b «;»\n}]} : tile<i1>", "E0101"),
        ("if %c «[»\n {\n %q = absi %b : tile<i32>\n } else {\n }", "E0103"),
        ("%x =\n   «foo» %c", "E0105"),
        ('"cuda_tile.if"(%c) ({\n %q = «foo»\n}, {}) : (!cuda_tile.tile<i1>) -> ()', "E0105"),
        ("%x = constant <i1: [true«>» : tile<1xi1>", "E0103"),
        ("%x = constant <i1: true> : tile<i1> {a, «a»}", "E0114"),
        ("%x = «%y»", "E0103"),
    ],
)
def test_reading_goes_on_after_a_faulty_statement(faulty: str, code: str) -> None:
    rest = "%y = absi %c : tile<i1>\n%z = «bar» %y : tile<i1>"
    check_faults(entry(f"{faulty}\n{rest}", "%c: tile<i1>"), code, "E0105")


def test_at_most_a_hundred_faults_are_reported() -> None:
    found = faults(entry("%x = nothing\n" * 1000))
    assert len(found) == 101
    assert found[-1].code == "E0132"


def test_the_end_of_the_text_is_reported_once_with_the_open_brace() -> None:
    (fault,) = check_faults("cuda_tile.module @m {\n entry @k() {\n  if %c {«»", "E0104")
    assert [note.message for note in fault.notes] == ["opened here"]


def test_a_short_text_may_end_anywhere() -> None:
    program = "cuda_tile.module @m { entry @k(%a: tile<4xf32>) { %b = addf %a, %a rounding<zero> : tile<4xf32> } }"
    for end in range(len("cuda_tile."), len(program)):
        faults(program[:end])
    assert len(ops("return")) == 0
