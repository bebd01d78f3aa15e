"""Messages about mistakes of newcomers to Tile IR name the mend."""

from __future__ import annotations

import pytest
from parse_programs import check_faults, entry, op

import tileir
from tileir.ir.diagnostics import Diagnostic

P = "%p: tile<ptr<f32>>, %q: tile<ptr<i32>>, %v: tile<f32>, %n: tile<i32>, %c: tile<i1>"


def only_fault(text: str) -> Diagnostic:
    with pytest.raises(tileir.DiagnosticError) as caught:
        tileir.verify(tileir.parse(text)).raise_if_errors()
    (fault,) = caught.value.diagnostics
    return fault


@pytest.mark.parametrize(
    ("region", "where", "hint"),
    [
        ("for %i in (%n to %n, step %n) : tile<i32> { INSIDE }", "for", "'iter_values' and 'continue'"),
        ("loop { INSIDE break }", "loop", "'break', as a result of the 'loop'"),
        ("if %c { INSIDE }", "if", "'yield', as a result of the 'if'"),
        ("if %c { loop { INSIDE break } }", "loop", "'break', as a result of the 'loop'"),
    ],
)
def test_a_value_of_an_inner_region_is_said_to_be_one(region: str, where: str, hint: str) -> None:
    inside = "%b = addi %n, %n : tile<i32>\n"
    text = entry(f"{region.replace('INSIDE', inside)}\n%d = absi «%b» : tile<i32>", P)
    (fault,) = check_faults(text, "E0109")
    assert f"'%b', which is defined inside the '{where}' at line 2 and is not visible outside" in fault.message
    assert fault.hint == f"carry it out with {hint}"
    assert [note.message for note in fault.notes] == ["defined here"]


def test_an_index_of_a_loop_is_not_visible_behind_it() -> None:
    loop = "for %i in (%n to %n, step %n) : tile<i32> { }"
    (fault,) = check_faults(entry(f"{loop}\n%d = absi «%i» : tile<i32>", P), "E0109")
    assert "inside the 'for' at line 2" in fault.message


@pytest.mark.parametrize(
    ("statement", "write"),
    [
        ("%x = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>", "-> tile<f32>, token"),
        ("%x = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token", "%x, %token = ..."),
        ("store_ptr_tko weak %p, %v : tile<ptr<f32>>, tile<f32>", "-> token"),
        (
            "%x = atomic_rmw_tko relaxed device %p, addf, %v : tile<ptr<f32>>, tile<f32> -> tile<f32>",
            "-> tile<f32>, token",
        ),
    ],
)
def test_a_forgotten_token_is_said_to_be_missing(statement: str, write: str) -> None:
    name = statement.partition("= ")[2].split()[0] if "=" in statement else statement.split()[0]
    assert only_fault(entry(f"{statement}\nreturn", P)).hint == f"'{name}' also gives a token: write '{write}'"


@pytest.mark.parametrize(
    ("statement", "write"),
    [
        ("%x, %t = load_ptr_tko %p : tile<ptr<f32>> -> tile<f32>, token", "load_ptr_tko weak ..."),
        ("%x, %t = load_ptr_tko relaxed %p : tile<ptr<f32>> -> tile<f32>, token", "load_ptr_tko relaxed device ..."),
        ("%t = store_ptr_tko %p, %v : tile<ptr<f32>>, tile<f32> -> token", "store_ptr_tko weak ..."),
        (
            "%x, %t = atomic_rmw_tko %p, addf, %v : tile<ptr<f32>>, tile<f32> -> tile<f32>, token",
            "atomic_rmw_tko relaxed device ...",
        ),
        (
            "%x, %t = atomic_rmw_tko relaxed %p, addf, %v : tile<ptr<f32>>, tile<f32> -> tile<f32>, token",
            "atomic_rmw_tko relaxed device ...",
        ),
    ],
)
def test_a_missing_ordering_or_scope_is_spelled_out(statement: str, write: str) -> None:
    assert (only_fault(entry(statement, P)).hint or "").startswith(f"write '{write}'")


def test_powers_of_two_are_offered_once() -> None:
    body = "%a = iota : tile<300xi32>\n" + "%b = addi %a, %a : tile<300xi32>\n" * 1 + 'print "%d", %a : tile<300xi32>'
    fault = only_fault(entry(body))
    assert fault.hint == "the nearest to 300 are 256 and 512"
    assert [note.message for note in fault.notes] == ["the same here", "the same here"]
    many = only_fault(entry("\n".join(f"%a{index} = iota : tile<300xi32>" for index in range(200))))
    assert many.notes[-1].message == "the same at 196 more places"


def test_what_ends_a_block_is_named() -> None:
    text = entry("for %i in (%n to %n, step %n) : tile<i32> {\nyield\n}", P)
    assert only_fault(text).hint == "a block of 'for' ends with 'continue'"


@pytest.mark.parametrize(
    ("name", "has"),
    [
        ("arith.addi", "addi"),
        ("arith.constant", "constant"),
        ("arith.divsi", "divi ... signed"),
        ("func.func", "entry"),
        ("tt.load", "load_ptr_tko"),
        ("tt.dot", "mmaf or mmai"),
        ("scf.for", "for"),
        ("scf.yield", "continue in a 'for' or 'loop', yield in an 'if'"),
        ("math.exp", "exp"),
    ],
)
def test_operations_of_other_dialects_are_known(name: str, has: str) -> None:
    dialect = name.partition(".")[0]
    assert only_fault(entry(f"{name} %n", P)).hint == f"'{dialect}' is another dialect; Tile IR has {has}"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("add", "Tile IR has addf and addi"),
        ("arange", "Tile IR has iota"),
        ("transpose", "Tile IR has permute"),
        ("adff", "did you mean 'addf'?"),
        ("exq", "did you mean 'exp'?"),
        ("let", None),
        ("unheard", None),
    ],
)
def test_a_name_from_habit_is_known_and_one_that_is_far_is_not_guessed(name: str, hint: str | None) -> None:
    assert only_fault(entry(f"{name} %n", P)).hint == hint


@pytest.mark.parametrize(
    ("statement", "hint"),
    [
        ("%x = addf %v, %v round<zero> : tile<f32>", "did you mean 'rounding'?"),
        ("%x = addf %v, %v flush_to_zero rounding<zero> : tile<f32>", "addf"),
        ("%x = addf %v : tile<f32>", "addf"),
        ("%x = cmpi less_than %n, %n : tile<i32> -> tile<i1>", "cmpi"),
        ("%t = store_ptr_tko weak %p, %v after=%n : tile<ptr<f32>>, tile<f32> -> token", "store_ptr_tko"),
        ("%r = for %i in (%n to %n, step %n) : tile<i32> iter_args(%a = %v) -> (tile<f32>) {\n}", "iter_values"),
        ("%r = for %i in %n to %n : tile<i32> {\n}", "for"),
    ],
)
def test_where_a_word_is_missing_the_hint_is_how_the_operation_is_written(statement: str, hint: str) -> None:
    with pytest.raises(tileir.DiagnosticError) as caught:
        tileir.parse(entry(statement, P))
    found = caught.value.diagnostics[0]
    assert found.code == "E0103"
    if hint in ("did you mean 'rounding'?", "iter_values"):
        assert hint in (found.hint or "")
    else:
        assert f"{hint} " in (found.hint or "") and f"('tileir explain {hint}' says more)" in (found.hint or "")


@pytest.mark.parametrize(
    ("type", "hint"),
    [
        ("tile<8 f32>", "such as 'tile<4x8xf32>'"),
        ("partition_view<tile=8, tensor_view<8xf32, strides=[1]>>", "such as 'partition_view<tile=(4x8), "),
        ("partition_view<tile=(8), padding = zero, tensor_view<8xf32, strides=[1]>>", "did you mean 'padding_value'?"),
        ("tensor_view<8xf32, strides=1>", "such as 'tensor_view<?x64xf32, strides=[?,1]>'"),
    ],
)
def test_a_type_that_is_written_otherwise_comes_with_an_example(type: str, hint: str) -> None:
    with pytest.raises(tileir.DiagnosticError) as caught:
        tileir.parse(entry(f"%x = make_partition_view %p : {type}", P))
    assert (caught.value.diagnostics[0].hint or "").startswith(hint)


def test_a_scalar_outside_of_a_tile_is_said_to_be_one() -> None:
    fault = only_fault("entry @k(%x: ptr<f32>) {\n%y = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>\n}")
    assert fault.hint == "a value is a tile, one without extents too: write 'tile<ptr<f32>>'"
    fault = only_fault(entry("for %i in (%n to %n, step %n) : i32 {\n}", P))
    assert fault.hint == "a value is a tile, one without extents too: write 'tile<i32>'"


def test_preview_operations_are_known_for_what_they_are() -> None:
    fault = only_fault(entry("%r = preview$extern_impl @f(%n) : (tile<i32>) -> tile<i32>", P))
    assert "'preview$extern_impl'" in fault.message
    assert fault.hint is not None and "'preview$call' calls such code" in fault.hint


def test_every_word_for_another_dialect_names_operations_that_exist() -> None:
    from tileir.text.reading import hints
    from tileir.text.reading.hints import spellings

    for words in hints._OPERATIONS.values():
        assert words.replace(",", " ").split()[0] in spellings(), words


@pytest.mark.parametrize(
    ("type", "hint"),
    [
        ("vector<4xf32>", "write 'tile<4xf32>'"),
        ("!tt.ptr<f32>", "did you mean 'ptr'?"),
        ("tile<vector<4xf32>>", "did you mean 'tile'?"),
        ("tensor<4xf32>", "write 'tile<4xf32>'"),
    ],
)
def test_types_of_other_dialects_are_known(type: str, hint: str) -> None:
    assert only_fault(f"entry @k(%a: {type}) {{ return }}").hint == hint


@pytest.mark.parametrize(
    ("statement", "near"),
    [
        ("%x = cmpi slt %n, %n, signed : tile<i32> -> tile<i1>", "less_than"),
        ("%x = cmpi ge %n, %n, signed : tile<i32> -> tile<i1>", "greater_than_or_equal"),
        ("%x = cmpf oeq ordered %v, %v : tile<f32> -> tile<i1>", "equal"),
        ("%x = addi %n, %n overflow<nsw> : tile<i32>", "no_signed_wrap"),
        ("%x = addf %v, %v rounding<rz> : tile<f32>", "zero"),
        ("%x, %t = load_ptr_tko relaxed gpu %p : tile<ptr<f32>> -> tile<f32>, token", "device"),
    ],
)
def test_keywords_of_other_languages_are_known(statement: str, near: str) -> None:
    assert only_fault(entry(statement, P)).hint == f"did you mean '{near}'?"


def test_every_word_of_another_language_stands_for_one_that_there_is() -> None:
    from tileir.ir import attributes, types
    from tileir.text.reading import hints

    kinds = vars(attributes).values()
    keywords = {
        word.text for kind in kinds if isinstance(kind, type) and issubclass(kind, attributes.TextEnum) for word in kind
    }
    assert {*hints._KEYWORDS.values(), *hints._ORDERS.values()} <= keywords
    assert set(hints._TYPES.values()) <= {*types.ELEMENTS, "tile", "tensor_view", "ptr"}


@pytest.mark.parametrize(
    "program",
    [
        "entry @k(%a: tile<i32> «{»\nreturn\n}",
        "entry @k(%a: tile<i32>\n«{» }",
        "entry @k(%a: tile<i32> «{»\n%b = negi %a}",
    ],
)
def test_a_header_without_its_closing_bracket_is_faulty_where_the_body_begins(program: str) -> None:
    (fault,) = check_faults(program, "E0103")
    assert fault.message == "expected ',' or ')', got '{'"


@pytest.mark.parametrize(("literal", "hint"), [("«1e5»", "1.0e5"), ("-«2E3»", "2.0E3"), ("«1e-5»", "1.0e-5")])
def test_an_exponent_needs_a_point(literal: str, hint: str) -> None:
    (fault,) = check_faults(entry(f"%c = constant <f32: {literal}> : tile<f32>"), "E0103")
    assert fault.hint == f"write '{hint}'"


def test_a_truth_value_has_no_type_behind_it() -> None:
    statement = "%r = reduce %n dim=0 identities=[false : i1] : tile<i32> -> tile<i1> (%x: tile<i1>, %y: tile<i1>) { }"
    with pytest.raises(tileir.DiagnosticError) as caught:
        tileir.parse(entry(statement, P))
    assert caught.value.diagnostics[0].hint == "'true' and 'false' stand without a type"


@pytest.mark.parametrize(
    ("stated", "found", "operation"),
    [
        ("i64", "i32", "exti"),
        ("i8", "i32", "trunci"),
        ("f32", "i32", "itof"),
        ("i32", "f16", "ftoi"),
        ("f16", "f32", "ftof"),
        ("ptr<f16>", "ptr<f32>", "ptr_to_ptr"),
        ("ptr<f16>", "i64", "int_to_ptr"),
        ("8x1xi32", "8xi32", "reshape"),
        ("8xi32", "1xi32", "broadcast"),
    ],
)
def test_a_value_of_another_type_is_to_be_converted(stated: str, found: str, operation: str) -> None:
    fault = only_fault(f'entry @k(%a: tile<{found}>) {{ print "%d", %a : tile<{stated}> }}')
    got = f"'%a' of type tile<{found}>"
    assert fault.message == f"expected a value of type tile<{stated}>, as this operation states, got {got}"
    assert fault.hint == f"'{operation}' makes a tile<{stated}> of it"


@pytest.mark.parametrize(
    ("stated", "found", "hint"),
    [
        ("f32", "ptr<f32>", "'load_ptr_tko' loads a tile<f32> through it"),
        ("i64", "ptr<f32>", "'ptr_to_int' makes a tile<i64> of it"),
        ("i32", "ptr<f32>", None),
        ("ptr<f32>", "f32", None),
        ("ptr<f32>", "i32", "'offset' moves pointers by integers"),
        ("8xf32", "f32", "'reshape' and 'broadcast' make a tile of a scalar"),
        ("i1", "i32", "'cmpi' compares integers"),
        ("i1", "f32", "'cmpf' compares floats"),
    ],
)
def test_what_no_conversion_means_is_not_offered_as_one(stated: str, found: str, hint: str | None) -> None:
    assert only_fault(f'entry @k(%a: tile<{found}>) {{ print "%d", %a : tile<{stated}> }}').hint == hint


@pytest.mark.parametrize(
    "literal", ["0." + "1" * 400, "0" * 400 + "1.5", "1" + "0" * 400 + ".0e-399", "1." + "0" * 5000]
)
def test_a_float_of_any_length_is_read(literal: str) -> None:
    assert (
        op(f"%c = constant <f64: {literal}> : tile<f64>").value.data
        == op(f"%c = constant <f64: {float(literal)!r}> : tile<f64>").value.data
    )


@pytest.mark.parametrize("type", ["tensor_view<f16,«>»>", "tensor_view<4xf16, strides=[1],«>»>"])
def test_a_tensor_view_ends_without_a_comma(type: str) -> None:
    text = f"entry @k(%a: {type.replace('«>»>', '«>»')}) {{ return }}"
    check_faults(text, "E0103")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("# a comment\nentry @k() { return }", "comments begin with //"),
        ("entry @k() {\n  #comment\n  return\n}", "comments begin with //"),
        ("/* a comment */ entry @k() { return }", "comments begin with //, and end with the line"),
        ("entry @k() {\n  return;\n}", "leave it out"),
        ("entry @k(%n: tile<i32>) {\n  %\u00e4 = addi %n, %n : tile<i32>\n  return\n}", "a name is of ASCII letters"),
        ("entry @k() {\n  print_tko \u201chello\u201d -> token\n  return\n}", 'a string begins and ends with "'),
        ("entry @k(%n: tile<i32>) {\n  %m = addi n, %n : tile<i32>\n  return\n}", "did you mean '%n'?"),
        ("entry @k(%n: index) { return }", "write 'tile<i64>' or 'tile<i32>'"),
        ("entry @k(%n: i64) { return }", "write 'tile<i64>'"),
        ("entry @k() {\n  %n = constant <i64: 1> : i64\n  return\n}", "write 'tile<i64>'"),
        ("entry @k(%p: memref<4x?xf16>) { return }", "write 'tile<ptr<f16>>', of which 'make_tensor_view'"),
        ("entry @k(%p: tensor<?xf32>) { return }", "write 'tile<ptr<f32>>'"),
        ("entry @k() {\n  %x = constant <f32: 1.0> : vector<8xf32>\n  return\n}", "write 'tile<8xf32>'"),
        ("entry @k(%n: tile<i32>) { return %n : tile<i32> }", "an entry returns nothing: store the value"),
        (
            'entry @k(%n: tile<i32>) { %m = "addi"(%n, %n) : (tile<i32>, tile<i32>) -> tile<i32> }',
            'write \'"cuda_tile.addi"',
        ),
        ("entry @k(%n: tile<i32>) {\n  m = addi %n, %n : tile<i32>\n  return\n}", "write '%m'"),
        ("entry @k(%n: tile<i32>) {\n  x, y, z = get_tile_block_id : tile<i32>\n  return\n}", "write '%x'"),
        ("entry @k() {\n  %x = constant <f32: .5> : tile<f32>\n  return\n}", "such as 0.5"),
        ("entry @k(%n: tile<i32>) { return %n }", "'return' alone in an entry, which stores its results"),
    ],
)
def test_habits_of_other_languages_are_told_what_to_write(text: str, hint: str) -> None:
    fault = only_fault(text)
    assert hint in (fault.hint or "")


def test_an_operand_that_is_a_parameter_is_named_where_it_is_defined() -> None:
    fault = only_fault(entry("%x, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<i32>, token\nreturn", P))
    assert [note.message for note in fault.notes] == ["operand 'source' is '%p', defined here, as tile<ptr<f32>>"]
