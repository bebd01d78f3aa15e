"""The generic form: it says the same as the custom form, and its own faults."""

import pytest
from golden_programs import GOLDEN, Golden
from parse_programs import check_faults

from tileir.ir.compare import identical
from tileir.text.parser import parse
from tileir.text.printer import to_text

BINARY = "(!cuda_tile.tile<i32>, !cuda_tile.tile<i32>) -> !cuda_tile.tile<i32>"

PRINT = "() -> !cuda_tile.token"
SIZES = "operandSegmentSizes"


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.name)
def test_the_generic_form_of_a_program_is_the_same_program(golden: Golden) -> None:
    module = golden.parse()
    assert identical(parse(to_text(module, form="generic")), module)


def program(body: str) -> str:
    return (
        '"cuda_tile.module"() <{sym_name = "m"}> ({\n'
        '  "cuda_tile.entry"() <{arg_attrs = [{}, {}], sym_name = "k", '
        "function_type = (!cuda_tile.tile<i32>, !cuda_tile.tile<i1>) -> ()}> ({\n"
        f"  ^bb0(%a: !cuda_tile.tile<i32>, %c: !cuda_tile.tile<i1>):\n    {body}\n"
        '    "cuda_tile.return"() : () -> ()\n'
        "  }) : () -> ()\n"
        "}) : () -> ()\n"
    )


def test_properties_may_stand_in_the_attribute_dictionary() -> None:
    custom = parse(program("%r = addi %a, %a overflow<no_wrap> : tile<i32>"))
    generic = parse(program(f'%r = "cuda_tile.addi"(%a, %a) {{overflow = #cuda_tile.overflow<no_wrap>}} : {BINARY}'))
    assert identical(generic, custom)


def test_an_attribute_of_arguments_that_says_nothing_is_not_kept() -> None:
    assert identical(parse(program("")), parse("cuda_tile.module @m { entry @k(%a: tile<i32>, %c: tile<i1>) { } }"))


def test_generic_operations_may_stand_in_a_builtin_module() -> None:
    wrapped = f'"builtin.module"() ({{\n{program("")}}}) : () -> ()'
    assert identical(parse(wrapped), parse(program("")))


def test_a_region_without_a_block_is_a_missing_else() -> None:
    body = '"cuda_tile.if"(%c) ({\n "cuda_tile.yield"() : () -> ()\n}, {}) : (!cuda_tile.tile<i1>) -> ()'
    block = parse(program(body)).items[0].regions[0]
    assert block is not None
    assert block.ops[0].regions[1] is None


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        ('%r = «"cuda_tile.add"»(%a, %a) : ' + BINARY, "E0105"),
        ('%r = «"addi"»(%a, %a) : ' + BINARY, "E0105"),
        ('%r = "cuda_tile.addi" «%a», %a : ' + BINARY, "E0103"),
        ('%r = "cuda_tile.addi"(%a, %a) «tile<i32>»', "E0103"),
        ('%r = "cuda_tile.addi"(%a, %a) : «!cuda_tile.tile<i32>»', "E0103"),
        ('%r = "cuda_tile.addi"(%a, %a) : «(!cuda_tile.tile<i32>) -> !cuda_tile.tile<i32>»', "E0113"),
        ('%r = "cuda_tile.addi"(%a, «%c») : ' + BINARY, "E0111"),
        ('%r = «"cuda_tile.absi"»(%a, %a) : ' + BINARY, "E0125"),
        ('%r = «"cuda_tile.addi"»(%a, %a) <{overflw = unit}> : ' + BINARY, "E0107"),
        ('%r = «"cuda_tile.addi"»(%a, %a) <{overflow = 0 : i32}> : ' + BINARY, "E0123"),
        ('%r = «"cuda_tile.divi"»(%a, %a) : ' + BINARY, "E0124"),
        ('%r = «"cuda_tile.addi"»(%a, %a) : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>) -> ()', "E0112"),
        ('«%r» = "cuda_tile.yield"() : () -> ()', "E0112"),
        ('"cuda_tile.yield"()«[»^bb1] : () -> ()', "E0126"),
        ('"cuda_tile.if"(%c) «:» (!cuda_tile.tile<i1>) -> ()', "E0126"),
        ('"cuda_tile.if"(%c) «(»{}) : (!cuda_tile.tile<i1>) -> ()', "E0126"),
        (f'%t = «"cuda_tile.print_tko"»() <{{str = "x"}}> : {PRINT}', "E0124"),
        (f'%t = «"cuda_tile.print_tko"»() <{{str = "x", {SIZES} = array<i32: 1, 0>}}> : {PRINT}', "E0125"),
        (f'%t = «"cuda_tile.print_tko"»() <{{str = "x", {SIZES} = [0, 0]}}> : {PRINT}', "E0123"),
        (f'%t = «"cuda_tile.print_tko"»() <{{str = 5, {SIZES} = array<i32: 0, 0>}}> : {PRINT}', "E0123"),
    ],
)
def test_a_faulty_generic_operation_is_reported_where_it_is_wrong(marked: str, code: str) -> None:
    check_faults(program(marked), code)
