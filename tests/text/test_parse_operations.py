"""The syntax of operations: declared formats, own syntax, generic form, and their faults."""

import pytest
from parse_programs import check_faults, entry, op, ops

from tileir.ir import attributes as a
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.loc import SourceLoc
from tileir.text.parser import parse

VIEW = "partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>"
ARGUMENTS = (
    "%i: tile<i32>, %c: tile<i1>, %f: tile<f32>, %p: tile<ptr<f32>>, %t: token, "
    f"%q: tile<8xptr<f32>>, %m: tile<8xi1>, %x: tile<8xf32>, %v: {VIEW}, %y: tile<8x8xf32>"
)


def read(text: str) -> Op:
    return op(text, ARGUMENTS)


# ---------------------------------------------------------------- declared formats


@pytest.mark.parametrize("prefix", ["", "cuda_tile."])
def test_the_prefix_of_an_operation_may_be_left_out(prefix: str) -> None:
    assert read(f"%r = {prefix}absi %i : tile<i32>").spec.name == "absi"


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        ("load_ptr_tko weak %q : tile<8xptr<f32>> -> tile<8xf32>, token", (1, 0, 0, 0)),
        ("load_ptr_tko weak %q, token=%t : tile<8xptr<f32>> -> tile<8xf32>, token", (1, 0, 0, 1)),
        ("load_ptr_tko weak %q, %m : tile<8xptr<f32>>, tile<8xi1> -> tile<8xf32>, token", (1, 1, 0, 0)),
        (
            "load_ptr_tko acquire device %q, %m, %x token=%t optimization_hints = <> "
            ": tile<8xptr<f32>>, tile<8xi1>, tile<8xf32> -> tile<8xf32>, token",
            (1, 1, 1, 1),
        ),
        (f"load_view_tko weak %v[%i, %i] : {VIEW}, tile<i32> -> tile<8x8xf32>, token", (1, 2, 0)),
        (f"load_view_tko weak %v[%i, %i] token = %t : {VIEW}, tile<i32>, tile<i32> -> tile<8x8xf32>, token", (1, 2, 1)),
        (f"store_view_tko weak %y, %v[%i, %i] : tile<8x8xf32>, {VIEW}, tile<i32> -> token", (1, 1, 2, 0)),
        (
            f"atomic_red_view_tko relaxed device %v[%i, %i], addf, %y : tile<8x8xf32>, {VIEW}, tile<i32> -> token",
            (1, 2, 1, 0),
        ),
        (f"multimem_store_view_tko weak %v, %y[%i, %i] : {VIEW}, tile<8x8xf32>, tile<i32> -> token", (1, 1, 2, 0)),
        (
            f"multimem_store_view_tko weak %v, %y[%i, %i] token = %t "
            f": {VIEW}, tile<8x8xf32>, tile<i32>, token -> token",
            (1, 1, 2, 1),
        ),
        ('print_tko "x" -> token', (0, 0)),
        ('print_tko "%d %d", %i, %i token=%t : tile<i32>, tile<i32> -> token', (2, 1)),
        ("gdc_wait_tko token = %t -> token", (1,)),
        ("gdc_wait_tko -> token", (0,)),
        ("join_tokens %t, %t, %t : token", (3,)),
        ("extract %y[%i, %i] : tile<8x8xf32> -> tile<4x4xf32>", (1, 2)),
        ("insert %y, %y[%i, %i] : tile<8x8xf32>, tile<8x8xf32>", (1, 1, 2)),
        ("memory_fence_alias_tko %t", (1,)),
    ],
)
def test_operands_fall_into_their_groups(text: str, segments: tuple[int, ...]) -> None:
    assert read(text).segments == segments


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("divi %i, %i signed rounding<negative_inf> : tile<i32>", {"rounding": a.Rounding.NEGATIVE_INF}),
        ("divi %i, %i signed rounding#cuda_tile.rounding<zero> : tile<i32>", {}),
        ("divi %i, %i signed rounding #up : tile<i32>", {"rounding": a.Rounding.POSITIVE_INF}),
        ("addi %i, %i overflow #cuda_tile.overflow<no_wrap> : tile<i32>", {"overflow": a.Overflow.NO_WRAP}),
        (
            "addf %f, %f rounding<zero> flush_to_zero : tile<f32>",
            {"rounding_mode": a.Rounding.ZERO, "flush_to_zero": True},
        ),
        ("maxf %f, %f propagate_nan flush_to_zero : tile<f32>", {"propagate_nan": True, "flush_to_zero": True}),
        (
            'load_ptr_tko "weak" %p : tile<ptr<f32>> -> tile<f32>, token',
            {"memory_ordering_semantics": a.MemoryOrdering.WEAK},
        ),
        ('load_ptr_tko acquire "sys" %p : tile<ptr<f32>> -> tile<f32>, token', {"memory_scope": a.MemoryScope.SYS}),
        ("permute %y [1, 0] : tile<8x8xf32> -> tile<8x8xf32>", {"permutation": (1, 0)}),
        ("cat %y, %y dim = 1 : tile<8x8xf32>, tile<8x8xf32> -> tile<8x16xf32>", {"dim": 1}),
        (
            "alloca num_elem = 32, alignment = 0x10 global : tile<ptr<f32>>",
            {"num_elem": 32, "alignment": 16, "global": True},
        ),
        ('assert %c, "no\\0A" : tile<i1>', {"message": "no\n"}),
        (
            f"load_view_tko weak %v[%i, %i] inbounds = [true, false] : {VIEW}, tile<i32> -> tile<8x8xf32>, token",
            {"inbounds": (True, False)},
        ),
        (
            f"multimem_load_reduce_view_tko relaxed sys %v[%i, %i] attributes {{reduction = "
            f"#cuda_tile.multimem_reduction_kind<umin>}} : {VIEW}, tile<i32> -> tile<8x8xf32>, token",
            {"reduction": a.MultimemReduction.UMIN},
        ),
        ("internal$optimization_barrier %x, keep_axis_info : tile<8xf32>", {"keep_axis_info": True}),
    ],
)
def test_attributes_are_kept_as_values(text: str, expected: dict[str, object]) -> None:
    program = "#up = #cuda_tile.rounding<positive_inf>\n" + entry(text, ARGUMENTS)
    block = parse(program).items[0].regions[0]
    assert block is not None
    found = block.ops[0].attributes
    assert {name: found[name] for name in expected} == expected


def test_bounds_that_are_all_unknown_are_the_same_as_none() -> None:
    text = f"load_view_tko weak %v[%i, %i] inbounds = [false, false] : {VIEW}, tile<i32> -> tile<8x8xf32>, token"
    assert "inbounds" not in read(text).attributes


@pytest.mark.parametrize(
    ("text", "operands", "results"),
    [
        ("mmaf %y, %y, %y : tile<8x8xf32>, tile<8x8xf32>, tile<8x8xf32>", 3, [t.tile(t.F32, 8, 8)]),
        ("cmpf equal ordered %x, %x : tile<8xf32> -> tile<8xi1>", 2, [t.tile(t.I1, 8)]),
        ("select %m, %x, %x : tile<8xi1>, tile<8xf32>", 3, [t.tile(t.F32, 8)]),
        ("get_num_tile_blocks : tile<i32>", 0, [t.tile(t.I32)] * 3),
        ("fpowi %f, %i : tile<f32>, tile<i32>", 2, [t.tile(t.F32)]),
        ("pow %f, %f : tile<f32>", 2, [t.tile(t.F32)]),
        ("fpowf %f, %f : tile<f32>", 2, [t.tile(t.F32)]),
        (f"get_index_space_shape %v : {VIEW} -> tile<i64>", 1, [t.tile(t.I64)] * 2),
    ],
)
def test_types_that_text_leaves_out_follow(text: str, operands: int, results: list[t.Type]) -> None:
    found = read(text)
    assert (len(found.operands), [value.type for value in found.results]) == (operands, results)


def test_the_place_of_an_operation_is_its_name() -> None:
    program = entry("%r = addi %a, %a : tile<i32>", "%a: tile<i32>")
    block = parse(program).items[0].regions[0]
    assert block is not None
    loc = block.ops[0].loc
    assert isinstance(loc, SourceLoc)
    assert program[loc.offset : loc.end] == "addi"


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        ("%r = addi %i, %i «tile<i32>»", "E0103"),
        ("%r = addi %i «%i» : tile<i32>", "E0103"),
        ("%r = addi %i, %i : «%i»", "E0103"),
        ("%r = addi %i, %i overflow<«wrap»> : tile<i32>", "E0108"),
        ("%r = addf %f, %f rounding<«up»> : tile<f32>", "E0108"),
        ("%r = divi %i, %i signed rounding«#cuda_tile.overflow»<none> : tile<i32>", "E0123"),
        ("%r = divi %i, %i «:» tile<i32>", "E0103"),
        ("%r = exti %i «positive» : tile<i32> -> tile<i64>", "E0108"),
        ("%r = maxf %f, %f flush_to_zero «flush_to_zero» : tile<f32>", "E0114"),
        ("%r = cmpi «lower» %i, %i, signed : tile<i32> -> tile<i1>", "E0108"),
        ("%a, %b = load_ptr_tko «weakly» %p : tile<ptr<f32>> -> tile<f32>, token", "E0108"),
        ("%a, %b = load_ptr_tko weak «cluster» %p : tile<ptr<f32>> -> tile<f32>, token", "E0108"),
        ("%a, %b = load_ptr_tko weak %q, %m : tile<8xptr<f32>> «->» tile<8xf32>, token", "E0103"),
        (f"%a, %b = load_view_tko weak «sys» %v[%i, %i] : {VIEW}, tile<i32> -> tile<8x8xf32>, token", "E0130"),
        (f"%a, %b = load_view_tko relaxed «gpu» %v[%i, %i] : {VIEW}, tile<i32> -> tile<8x8xf32>, token", "E0108"),
        (f"%a, %b = load_view_tko weak %v[%i] : {VIEW}«, tile<i32>, tile<i32>» -> tile<8x8xf32>, token", "E0113"),
        ('print_tko "%d" , %i, %i : «tile<i32>» -> token', "E0113"),
        ("yield %i, %i : «tile<i32>»", "E0113"),
        ("%r = permute %y [«4294967296», 0] : tile<8x8xf32> -> tile<8x8xf32>", "E0116"),
        ('%r = load_ptr_tko «"strong"» %p : tile<ptr<f32>> -> tile<f32>, token', "E0108"),
        ("%r = «foo» %i : tile<i32>", "E0105"),
        ("%r = «cuda_tile.foo» %i : tile<i32>", "E0105"),
        ("«foo» %i : tile<i32>", "E0105"),
        ("%r = «5»", "E0103"),
        ("%r = «experimental$create_queue» : token", "E0122"),
        ("%r = «cuda_tile.experimental.create_queue» : token", "E0122"),
    ],
)
def test_a_faulty_operation_is_reported_where_it_is_wrong(marked: str, code: str) -> None:
    check_faults(entry(marked, ARGUMENTS), code)


def test_an_unknown_operation_has_a_hint() -> None:
    (fault,) = check_faults(entry("%r = «addii» %i, %i : tile<i32>", ARGUMENTS), "E0105")
    assert fault.hint == "did you mean 'addi'?"


def test_a_misspelt_keyword_has_a_hint() -> None:
    (fault,) = check_faults(entry("for %j in (%i to %i, «stp» %i) : tile<i32> { }", ARGUMENTS), "E0103")
    assert fault.hint == "did you mean 'step'?"


def test_a_dictionary_without_its_keyword_has_a_hint() -> None:
    marked = f"%a, %b = load_view_tko weak %v[%i, %i] «{{»x}} : {VIEW}, tile<i32> -> tile<8x8xf32>, token"
    (fault,) = check_faults(entry(marked, ARGUMENTS), "E0103")
    assert "attributes" in (fault.hint or "")


# ---------------------------------------------------------------- regions


def test_loops_carry_values() -> None:
    carried = "iter_values(%a = %f, %b = %x) -> (tile<f32>, tile<8xf32>)"
    body = f"%r:2 = for unsigned %j in (%i to %i, step %i) : tile<i32> {carried}"
    found = read(body + " {\n continue %a, %b : tile<f32>, tile<8xf32>\n} {mark}")
    block = found.regions[0]
    assert block is not None
    assert (found.segments, found.unsigned, len(block.args), len(found.results)) == ((1, 1, 1, 2), True, 3, 2)
    assert found.discardable == {"mark": a.UnitAttr()}


@pytest.mark.parametrize(
    ("header", "carried", "results"),
    [
        ("loop", 0, 0),
        ("loop : tile<i32>", 0, 1),
        ("loop iter_values(%a = %f) : tile<f32>", 1, 0),
        ("loop iter_values(%a = %f) : tile<f32> -> tile<i32>, tile<i32>", 1, 2),
    ],
)
def test_the_forms_of_loop(header: str, carried: int, results: int) -> None:
    found = read(f"{header} {{\n}}")
    assert (len(found.operands), len(found.results)) == (carried, results)


def test_missing_terminators_are_added() -> None:
    found = ops("if %c { } else { }\nloop { }\nfor %j in (%i to %i, step %i) : tile<i32> { }", ARGUMENTS)
    last = [[block.ops[-1].spec.name for block in each.regions if block is not None] for each in found]
    assert last == [["yield", "yield"], ["continue"], ["continue"]]


def test_an_if_without_else_has_no_second_block() -> None:
    assert read("if %c {\n}").regions[1] is None


def test_a_reduction_has_identities_and_arguments() -> None:
    text = "reduce %x dim=0 identities=[0xFF800000 : f32] : tile<8xf32> -> tile<f32>"
    found = read(text + " \n(%a: tile<f32>, %b: tile<f32>) {\n %s = addf %a, %b : tile<f32>\n yield %s : tile<f32>\n}")
    assert found.identities == a.ArrayAttr((a.FloatAttr(0xFF800000, t.F32),))
    assert found.dim == 0


def test_a_scan_may_run_backwards() -> None:
    text = "scan %x dim=0 reverse=true identities=[0.0 : f32] : tile<8xf32> -> tile<8xf32>"
    assert read(text + " (%a: tile<f32>, %b: tile<f32>) {\n yield %a : tile<f32>\n}").reverse is True


@pytest.mark.parametrize(
    ("marked", "codes"),
    [
        ("for «5» in (%i to %i, step %i) : tile<i32> { }", ["E0103"]),
        ("for %j «=» %i to %i { }", ["E0103"]),
        ("for %j in (%i to «%f», step %i) : tile<i32> { }", ["E0111"]),
        ("%r = for %j in (%i to %i, step %i) : tile<i32> iter_values(%a = «%x») -> (tile<f32>) { }", ["E0111"]),
        ("%r = for %j in (%i to %i, step %i) : tile<i32> iter_values(%a = %x) -> () «{» }", ["E0113"]),
        ("if «%i» { }", ["E0111"]),
        ("if %c -> «tile<i32>» { }", ["E0103"]),
        ("if %c «%c» { }", ["E0103"]),
        ("if %c {\n^bb1\n«}»", ["E0103"]),
        ("if %c {\n yield\n«^bb1»:\n}", ["E0126"]),
        ("%r = reduce %x «identities»=[] : tile<8xf32> -> tile<f32> () { }", ["E0103"]),
        ('%r = reduce %x dim=0 identities=«"a"» : tile<8xf32> -> tile<f32> () { }', ["E0123"]),
        ("%r = reduce %x dim=«5000000000» identities=[] : tile<8xf32> -> tile<f32> () { }", ["E0116"]),
        ("%r = reduce %x dim=0 identities=[] : «tile<8xf32>, tile<8xf32>» -> tile<f32> () { }", ["E0113"]),
        ("%r = scan %x dim=0 reverse=«yes» identities=[] : tile<8xf32> -> tile<f32> () { }", ["E0108"]),
        ("if %c {\n %a = «foo» %i\n %b = «bar» %i\n}\n%d = «baz» %i", ["E0105"] * 3),
    ],
)
def test_a_faulty_region_operation_is_reported_where_it_is_wrong(marked: str, codes: list[str]) -> None:
    check_faults(entry(marked, ARGUMENTS), *codes)


# ---------------------------------------------------------------- views and extensions


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        ("make_tensor_view %p, shape = [], strides = [] : tensor_view<f32>", (1, 0, 0)),
        ("make_tensor_view %p, shape=[8, 4], strides=[4, 1] : tensor_view<8x4xf32, strides=[4,1]>", (1, 0, 0)),
        ("make_tensor_view %p, shape=[%i], strides=[%i] : tile<i32> -> tensor_view<?xf32, strides=[?]>", (1, 1, 1)),
        ("make_tensor_view %p, shape=[%i], strides=[1] : tensor_view<?xf32, strides=[1]>", (1, 1, 0)),
    ],
)
def test_the_forms_of_make_tensor_view(text: str, segments: tuple[int, ...]) -> None:
    assert read(text).segments == segments


def test_the_type_of_a_base_with_an_attribute_is_written() -> None:
    pointer = "tile<ptr<f32, <multicast>>>"
    view = "tensor_view<?xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>"
    body = f"%v = make_tensor_view %p, shape = [%n], strides = [1] : {pointer}, tile<i32> -> {view}"
    assert op(body, f"%p: {pointer}, %n: tile<i32>").segments == (1, 1, 0)


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        ("shape = [8], strides = [1] : «tensor_view<8x8xf32, strides=[8,1]>»", "E0131"),
        ("shape = [8, «4»], strides = [8, 1] : tensor_view<8x8xf32, strides=[8,1]>", "E0131"),
        ("shape = [«%i»], strides = [1] : tile<i32> -> tensor_view<8xf32, strides=[1]>", "E0131"),
        ("shape = [8], strides = [«2»] : tensor_view<8xf32, strides=[?]>", "E0131"),
        ("shape = [«%i»], strides = [1] : tile<i64> -> tensor_view<?xf32, strides=[1]>", "E0111"),
        ("shape = [8], strides = [1] : «tile<8xf32>»", "E0103"),
        ("shape = [8] «:» tensor_view<8xf32, strides=[1]>", "E0103"),
        ("shape = [«x»], strides = [1] : tensor_view<8xf32, strides=[1]>", "E0103"),
    ],
)
def test_a_faulty_tensor_view_is_reported_where_it_is_wrong(marked: str, code: str) -> None:
    check_faults(entry(f"%w = make_tensor_view %p, {marked}", ARGUMENTS), code)


def test_a_value_whose_type_is_nowhere_stated_must_be_defined_above() -> None:
    marked = "%w = make_tensor_view %p, shape = [«%n»], strides = [1] : tensor_view<?xf32, strides=[1]>\n"
    check_faults(entry(marked + "%n = constant <i32: 8> : tile<i32>", ARGUMENTS), "E0127")


def test_the_base_of_a_tensor_view_points_to_its_elements() -> None:
    marked = "%w = make_tensor_view «%p», shape = [8], strides = [1] : tensor_view<8xf16, strides=[1]>"
    check_faults(entry(marked, ARGUMENTS), "E0111")


def test_functions_are_called() -> None:
    program = (
        "experimental$func @f(%a: tile<f32>, %t: token) -> (tile<f32>, token) { return %a, %t : tile<f32>, token }\n"
        "testing$func @g() { }\n"
        "entry @k(%a: tile<f32>, %t: token) {\n"
        " %r:2 = experimental$call @f(%a, %t) {x} : (tile<f32>, token) -> (tile<f32>, token)\n"
        " experimental$call @g() : () -> ()\n}"
    )
    module = parse(program)
    block = module.items[2].regions[0]
    assert block is not None
    assert [len(call.results) for call in block.ops] == [2, 0, 0]
    assert module.items[1].regions[0].ops[-1].spec.name == "return"


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        ("experimental$asin %f : tile<f32>", (1,)),
        (
            'experimental$extern_elementwise %f, %f {libname = "", libpath = "", pure = true, symbol = "f", x} '
            ": (tile<f32>, tile<f32>) -> tile<f32>",
            (2,),
        ),
        ("experimental$generate {\n^bb0(%a: tile<i32>):\n yield %f : tile<f32>\n} : tile<8xf32>", ()),
        ("experimental$generate {\n yield %f : tile<f32>\n} {x} : tile<f32>", ()),
        (
            "experimental$gather_load %w, %n, [%i] <{dim = 0 : i64, fillValue = #cuda_tile<fill_value zero>}> {x} "
            ": tensor_view<64x64xf32, strides=[64,1]>, tile<8xi32>, tile<i32> -> tile<8x8xf32>",
            (1, 1, 1),
        ),
        (
            "experimental$scatter_store %y, %w, %n, [%i] token = %t <{dim = 0 : i64}> "
            ": tile<8x8xf32>, tensor_view<64x64xf32, strides=[64,1]>, tile<8xi32>, tile<i32>, token -> token",
            (1, 1, 1, 1, 1),
        ),
    ],
)
def test_the_forms_of_the_extensions(text: str, segments: tuple[int, ...]) -> None:
    more = ", %w: tensor_view<64x64xf32, strides=[64,1]>, %n: tile<8xi32>"
    assert op(text, ARGUMENTS + more).segments == segments


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        ('experimental$extern_elementwise %f «{»libname = ""} : (tile<f32>) -> tile<f32>', "E0124"),
        ("experimental$call @f(«%f») : (tile<i32>) -> ()", "E0111"),
        ("experimental$call @f(%f) : «() -> ()»", "E0113"),
        ("experimental$call @f(%f) : «tile<f32>»", "E0103"),
        ("experimental$call «f»(%f) : (tile<f32>) -> ()", "E0103"),
        ("%r = experimental$gather_load %f, %f, [] «<»{}> : tile<f32>, tile<f32> -> tile<f32>", "E0124"),
        ("experimental$gather_load %f, %f, [] «<»{dim = 0 : i64, x}> : tile<f32>, tile<f32> -> tile<f32>", "E0107"),
    ],
)
def test_a_faulty_extension_is_reported_where_it_is_wrong(marked: str, code: str) -> None:
    check_faults(entry(marked, ARGUMENTS), code)
