"""Every spelling of a type, and the faults of each."""

import pytest
from parse_programs import check_faults, faults, type_of

from tileir.ir import types as t
from tileir.text.parser import parse

VIEW = t.TensorViewType(t.F32, (16, None), (None, 1))
VIEW_TEXT = "tensor_view<16x?xf32, strides=[?,1]>"


@pytest.mark.parametrize("name", t.ELEMENTS)
def test_a_tile_of_each_element_type_reads(name: str) -> None:
    assert type_of(f"tile<2x{name}>") is t.tile(t.ELEMENTS[name], 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tile<f32>", t.tile(t.F32)),
        ("tile<4x8xf32>", t.tile(t.F32, 4, 8)),
        ("tile< 4 x 8 x f32 >", t.tile(t.F32, 4, 8)),
        ("tile<4x // rows\n 8xf32>", t.tile(t.F32, 4, 8)),
        ("!cuda_tile.tile<4x8xf32>", t.tile(t.F32, 4, 8)),
        ("!cuda_tile<tile<4xf32>>", t.tile(t.F32, 4)),
        ("tile<4xptr<f16>>", t.tile(t.PointerType(t.F16), 4)),
        ("tile<4x!cuda_tile.ptr<f16>>", t.tile(t.PointerType(t.F16), 4)),
        ("tile<ptr<f16, <none>>>", t.tile(t.PointerType(t.F16, t.PointerAttr.NONE))),
        ("tile<ptr<f16, #cuda_tile.ptr_attr<multicast>>>", t.tile(t.PointerType(t.F16, t.PointerAttr.MULTICAST))),
        ("token", t.TOKEN),
        ("!cuda_tile.token", t.TOKEN),
        ("tensor_view<f32>", t.TensorViewType(t.F32, (), ())),
        (VIEW_TEXT, VIEW),
        ("tensor_view<16x?xf32, strides = [ ?, 0x1 ]>", VIEW),
        ("tensor_view<f32, <unicast>>", t.TensorViewType(t.F32, (), (), t.PointerAttr.UNICAST)),
        (
            "tensor_view<4xf32, strides=[1], #cuda_tile.ptr_attr<unicast>>",
            t.TensorViewType(t.F32, (4,), (1,), t.PointerAttr.UNICAST),
        ),
        (f"partition_view<tile=(4x2), {VIEW_TEXT}>", t.PartitionViewType((4, 2), VIEW)),
        (f"partition_view<tile=(4x2), !cuda_tile.{VIEW_TEXT}>", t.PartitionViewType((4, 2), VIEW)),
        (
            f"partition_view<tile=(4x2), padding_value = nan, {VIEW_TEXT}, dim_map=[1, 0]>",
            t.PartitionViewType((4, 2), VIEW, t.PaddingValue.NAN, (1, 0)),
        ),
        (
            f"strided_view<tile=(4x2), traversal_strides=[4,3], padding_value = neg_inf, {VIEW_TEXT}, dim_map=[1, 0]>",
            t.StridedViewType((4, 2), (4, 3), VIEW, t.PaddingValue.NEG_INF, (1, 0)),
        ),
        (
            f"gather_scatter_view<tile=(4x2), padding_value = zero, {VIEW_TEXT}, sparse_dim=1>",
            t.GatherScatterViewType((4, 2), VIEW, 1, t.PaddingValue.ZERO),
        ),
        ("(tile<f32>, token) -> ()", t.FunctionType((t.tile(t.F32), t.TOKEN))),
        ("() -> (token, i32)", t.FunctionType((), (t.TOKEN, t.I32))),
        ("(i32) -> ((i32) -> i32)", t.FunctionType((t.I32,), (t.FunctionType((t.I32,), (t.I32,)),))),
    ],
)
def test_a_type_reads(text: str, expected: t.Type) -> None:
    assert type_of(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tile<2xF4E2M1FN>", t.tile(t.F4E2M1FN, 2)),
        ("tile<e5m2>", t.tile(t.F8E5M2)),
        ("tile<e4m3>", t.tile(t.F8E4M3FN)),
        ("tile<f8E5M3FNU>", t.tile(t.FNV8E5M3FNU)),
        (f"partition_view<tile=(4x2), view={VIEW_TEXT}>", t.PartitionViewType((4, 2), VIEW)),
        (f"partition_view<tile=(4x2), {VIEW_TEXT},>", t.PartitionViewType((4, 2), VIEW)),
        (f"partition_view<masked tile=(4x2), {VIEW_TEXT}>", t.PartitionViewType((4, 2), VIEW, t.PaddingValue.ZERO)),
        (
            f"partition_view<\n  masked tile=(4x2),\n  view=!cuda_tile.{VIEW_TEXT},\n>",
            t.PartitionViewType((4, 2), VIEW, t.PaddingValue.ZERO),
        ),
    ],
)
def test_a_spelling_of_early_documents_reads(text: str, expected: t.Type) -> None:
    assert type_of(text) is expected


def test_a_type_alias_stands_for_its_type() -> None:
    module = parse("!e = f32\n!t = !cuda_tile.tile<4x!e>\nentry @k(%a: !t, %b: tile<2x!e>) { }")
    assert module.items[0].function_type.inputs == (t.tile(t.F32, 4), t.tile(t.F32, 2))


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        ("tile<4x«e3m4»>", "E0106"),
        ("tile<«si32»>", "E0106"),
        ("tile<«index»>", "E0106"),
        ("«!cuda_tile.tiles»<4xf32>", "E0106"),
        ("«queue»<[token, token], depth=3>", "E0106"),
        ("«!mine»", "E0121"),
        ("«tile<3xf32>»", "E0305"),
        ("«tile<0x8xf32>»", "E0304"),
        ("«tile<4096x8192xf32>»", "E0306"),
        ("«tile<1152921504606846976xf32>»", "E0306"),
        ("tile<«99999999999999999999»xf32>", "E0116"),
        (f"tile<«{'9' * 5000}»xf32>", "E0116"),
        ("«tile<tile<f32>>»", "E0302"),
        ("«ptr<ptr<f32>>»", "E0301"),
        ("tile<«?»xf32>", "E0103"),
        ("tile<«4»>", "E0103"),
        ("tile<4x«>»", "E0103"),
        ("tile<«»", "E0104"),
        ("tile<4xf32«,» 3>", "E0103"),
        ("«tensor_view<4x4xf32, strides=[1]>»", "E0308"),
        ("«tensor_view<4xf32, strides=[0]>»", "E0309"),
        ("«tensor_view<4xf32, strides=[-1]>»", "E0309"),
        ("tensor_view<4xf32«>»", "E0136"),
        ("tensor_view<4xf32, «stride»=[1]>", "E0136"),
        ("tensor_view<f32, «strides=[]»>", "E0136"),
        ("tensor_view<4xf32, strides=[«x»]>", "E0103"),
        ("tensor_view<4xf32, strides=[1], <«multi»>>", "E0108"),
        ("partition_view<«tensor_view<4xf32, strides=[1]>»>", "E0103"),
        ("partition_view<tile=(«)», tensor_view<f32>>", "E0103"),
        ("partition_view<tile=(4«,»2), tensor_view<f32>>", "E0103"),
        ("«partition_view<tile=(4x4), tensor_view<4xf32, strides=[1]>>»", "E0312"),
        ("«partition_view<tile=(-8), tensor_view<4xf32, strides=[1]>>»", "E0313"),
        ("partition_view<tile=(4), «tile<4xf32>»>", "E0311"),
        ("partition_view<tile=(4), padding_value = «one», tensor_view<4xf32, strides=[1]>>", "E0108"),
        ("«partition_view<tile=(4), tensor_view<4xf32, strides=[1]>, dim_map=[1]>»", "E0315"),
        ("strided_view<tile=(4), traversal_strides=[4] «tensor_view<4xf32, strides=[1]>»>", "E0103"),
        ("strided_view<tile=(4), «tensor_view<4xf32, strides=[1]>»>", "E0103"),
        ("gather_scatter_view<tile=(4), tensor_view<4xf32, strides=[1]>«>»", "E0103"),
        ("«gather_scatter_view<tile=(4), tensor_view<4xf32, strides=[1]>, sparse_dim=1>»", "E0317"),
    ],
)
def test_a_faulty_type_is_reported_where_it_is_wrong(marked: str, code: str) -> None:
    check_faults(f"entry @k(%a: {marked}" if code == "E0104" else f"entry @k(%a: {marked}) {{ }}", code)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("e3m4", "f8E4M3FN"),
        ("f8e8m0fnu", "f8E8M0FNU"),
        ("ui8", "i8"),
        ("u8", "i8"),
        ("uint8", "i8"),
        ("int64", "i64"),
        ("f31", "f32"),
        ("F32", "f32"),
        ("float32", "f32"),
        ("bfloat16", "bf16"),
        ("index", "i64"),
    ],
)
def test_an_unknown_element_type_has_a_hint(name: str, hint: str) -> None:
    (fault,) = check_faults(f"entry @k(%a: tile<«{name}»>) {{ }}", "E0106")
    assert fault.hint == f"did you mean '{hint}'?"


def test_a_faulty_type_causes_no_further_faults() -> None:
    body = "%b = addf %a, %a : tile<4xf32>\n %c = negf %b : tile<8xf32>"
    program = f"entry @k(%a: «tile<3xf32>») {{\n {body.replace('%b : tile<8xf32>', '«%b» : tile<8xf32>')} }}"
    check_faults(program, "E0305", "E0111")


def test_a_type_cut_off_by_the_end_of_the_text_is_reported_inside_the_text() -> None:
    text = "entry @k(%a: tensor_view<?x32xf32"
    assert all(fault.loc.end <= len(text) for fault in faults(text))
