"""Core operations give the values the specification states (spec: core#top)."""

import ml_dtypes
import numpy as np
import pytest

from tests.interp.interp_kernels import function
from tileir.ir.diagnostics import Trap


def i32(*numbers):
    return np.array(numbers, np.int32)


def test_constants_are_splats_or_lists(target):
    splat, full, scalar = target.evaluate(
        function(
            "",
            "tile<2x2xf32>, tile<2x2xi16>, tile<i8>",
            """%a = constant <f32: 1.5> : tile<2x2xf32>
               %b = constant <i16: [[1, -2], [0x10, 65535]]> : tile<2x2xi16>
               %c = constant <i8: 255> : tile<i8>
               return %a, %b, %c : tile<2x2xf32>, tile<2x2xi16>, tile<i8>""",
        )
    )
    assert splat.tolist() == [[1.5, 1.5], [1.5, 1.5]]
    assert full.tolist() == [[1, -2], [16, -1]]
    assert int(scalar) == -1


def test_constants_of_every_width(target):
    a, b, c, d = target.evaluate(
        function(
            "",
            "tile<4xi1>, tile<2xbf16>, tile<2xf4E2M1FN>, tile<2xtf32>",
            """%a = constant <i1: [true, false, true, true]> : tile<4xi1>
               %b = constant <bf16: [1.0, -2.5]> : tile<2xbf16>
               %c = constant <f4E2M1FN: [0.5, 6.0]> : tile<2xf4E2M1FN>
               %d = constant <tf32: [1.0, 3.0]> : tile<2xtf32>
               return %a, %b, %c, %d : tile<4xi1>, tile<2xbf16>, tile<2xf4E2M1FN>, tile<2xtf32>""",
        )
    )
    assert a.dtype == np.bool_
    assert a.tolist() == [True, False, True, True]
    assert b.dtype == ml_dtypes.bfloat16
    assert b.astype(float).tolist() == [1.0, -2.5]
    assert c.astype(float).tolist() == [0.5, 6.0]
    assert d.tolist() == [1.0, 3.0]


def test_iota_counts_through_the_unsigned_range(target):
    result = target.evaluate(function("", "tile<256xi8>", "%a = iota : tile<256xi8>\nreturn %a : tile<256xi8>"))
    assert result.view(np.uint8).tolist() == list(range(256))


@pytest.mark.parametrize("extent", [4, 4096])
def test_broadcast_repeats_dimensions_of_extent_one(target, extent):
    text = function(
        "%a: tile<2x1xi32>", f"tile<2x{extent}xi32>",
        f"%b = broadcast %a : tile<2x1xi32> -> tile<2x{extent}xi32>\nreturn %b : tile<2x{extent}xi32>",
    )  # fmt: skip
    result = target.evaluate(text, i32(3, 4).reshape(2, 1))
    assert result.shape == (2, extent)
    assert (result[0] == 3).all()
    assert (result[1] == 4).all()


def test_reshape_is_row_major_and_permute_transposes(target):
    text = function(
        "%a: tile<2x4x8xi32>", "tile<8x8xi32>, tile<8x2x4xi32>",
        """%b = reshape %a : tile<2x4x8xi32> -> tile<8x8xi32>
           %c = permute %a [2, 0, 1] : tile<2x4x8xi32> -> tile<8x2x4xi32>
           return %b, %c : tile<8x8xi32>, tile<8x2x4xi32>""",
    )  # fmt: skip
    a = np.arange(64, dtype=np.int32).reshape(2, 4, 8)
    reshaped, permuted = target.evaluate(text, a)
    assert (reshaped == a.reshape(8, 8)).all()
    assert (permuted == a.transpose(2, 0, 1)).all()


def test_a_permuted_tile_reshapes_by_its_own_order(target):
    text = function(
        "%a: tile<2x4xi32>", "tile<8xi32>",
        """%b = permute %a [1, 0] : tile<2x4xi32> -> tile<4x2xi32>
           %c = reshape %b : tile<4x2xi32> -> tile<8xi32>
           return %c : tile<8xi32>""",
    )  # fmt: skip
    assert target.evaluate(text, np.arange(8, dtype=np.int32).reshape(2, 4)).tolist() == [0, 4, 1, 5, 2, 6, 3, 7]


def test_cat_joins_along_the_dimension(target):
    text = function(
        "%a: tile<2x2xi32>, %b: tile<2x2xi32>", "tile<2x4xi32>",
        """%c = cat %a, %b dim = 1 : tile<2x2xi32>, tile<2x2xi32> -> tile<2x4xi32>
           return %c : tile<2x4xi32>""",
    )  # fmt: skip
    result = target.evaluate(text, i32(1, 2, 3, 4).reshape(2, 2), i32(5, 6, 7, 8).reshape(2, 2))
    assert result.tolist() == [[1, 2, 5, 6], [3, 4, 7, 8]]


EXTRACT = function(
    "%a: tile<4x8xi32>, %i: tile<i32>, %j: tile<i32>", "tile<2x4xi32>",
    """%b = extract %a[%i, %j] : tile<4x8xi32> -> tile<2x4xi32>
       return %b : tile<2x4xi32>""",
)  # fmt: skip
INSERT = function(
    "%s: tile<2x4xi32>, %d: tile<4x8xi32>, %i: tile<i32>, %j: tile<i32>", "tile<4x8xi32>",
    """%b = insert %s, %d[%i, %j] : tile<2x4xi32>, tile<4x8xi32>
       return %b : tile<4x8xi32>""",
)  # fmt: skip


def test_extract_counts_subtiles(target):
    a = np.arange(32, dtype=np.int32).reshape(4, 8)
    assert (target.evaluate(EXTRACT, a, np.int32(1), np.int32(1)) == a[2:4, 4:8]).all()


def test_insert_replaces_one_subtile_and_leaves_its_operand_alone(target):
    a, part = np.zeros((4, 8), np.int32), np.ones((2, 4), np.int32)
    result = target.evaluate(INSERT, part, a, np.int32(0), np.int32(1))
    assert (result[:2, 4:] == 1).all()
    assert result.sum() == 8
    assert not a.any()


@pytest.mark.parametrize("index", [(2, 0), (0, 2), (-1, 0)])
def test_a_subtile_index_out_of_range_traps(target, index):
    a = np.zeros((4, 8), np.int32)
    with pytest.raises(Trap, match="outside"):
        target.evaluate(EXTRACT, a, *map(np.int32, index))
    with pytest.raises(Trap, match="outside"):
        target.evaluate(INSERT, a[:2, :4], a, *map(np.int32, index))


def test_select_takes_lane_by_lane(target):
    text = function(
        "%c: tile<4xi1>, %a: tile<4xbf16>, %b: tile<4xbf16>", "tile<4xbf16>",
        "%r = select %c, %a, %b : tile<4xi1>, tile<4xbf16>\nreturn %r : tile<4xbf16>",
    )  # fmt: skip
    a, b = (np.array(x, ml_dtypes.bfloat16) for x in ([1, 2, 3, 4], [5, 6, 7, 8]))
    result = target.evaluate(text, np.array([True, False, False, True]), a, b)
    assert result.dtype == ml_dtypes.bfloat16
    assert result.astype(int).tolist() == [1, 6, 7, 4]


@pytest.mark.parametrize(
    ("pointee", "element", "offsets", "moved"),
    [
        ("f32", "i32", [0, 1, -1, 2], [0, 4, -4, 8]),
        ("f64", "i8", [0, 127, -128, 2], [0, 1016, -1024, 16]),
        ("i1", "i64", [0, 1, -1, 5], [0, 1, -1, 5]),
        ("f16", "i1", [0, 1, 0, 1], [0, -2, 0, -2]),
    ],
)
def test_offset_moves_by_signed_elements(target, pointee, element, offsets, moved):
    pointers = f"tile<4xptr<{pointee}>>"
    text = function(
        f"%p: {pointers}, %o: tile<4x{element}>", pointers,
        f"%r = offset %p, %o : {pointers}, tile<4x{element}> -> {pointers}\nreturn %r : {pointers}",
    )  # fmt: skip
    dtype = {"i1": np.bool_, "i8": np.int8, "i32": np.int32, "i64": np.int64}[element]
    result = target.evaluate(text, np.full(4, 4096, np.uint64), np.array(offsets, dtype))
    assert result.dtype == np.uint64
    assert [int(x) - 4096 for x in result] == moved


@pytest.mark.parametrize(("offset", "moved"), [(3, 1), (-3, -1), (-1, 0), (2, 1), (-2, -1)])
def test_offset_rounds_half_bytes_toward_zero(target, offset, moved):
    pointer = "tile<ptr<f4E2M1FN>>"
    text = function(
        f"%p: {pointer}, %o: tile<i8>", pointer,
        f"%r = offset %p, %o : {pointer}, tile<i8> -> {pointer}\nreturn %r : {pointer}",
    )  # fmt: skip
    assert int(target.evaluate(text, np.uint64(64), np.int8(offset))) == 64 + moved


OFFSET = function(
    "%p: tile<ptr<f32>>, %o: tile<i64>", "tile<ptr<f32>>",
    "%r = offset %p, %o : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>\nreturn %r : tile<ptr<f32>>",
)  # fmt: skip


def test_offset_wraps_and_strict_mode_traps(target):
    assert int(target.evaluate(OFFSET, np.uint64(4), np.int64(-2))) == 2**64 - 4
    with pytest.raises(Trap, match="64 bits"):
        target.evaluate(OFFSET, np.uint64(4), np.int64(-2), mode="strict")
    with pytest.raises(Trap, match="64 bits"):
        target.evaluate(OFFSET, np.uint64(4), np.int64(2**62), mode="strict")
    assert int(target.evaluate(OFFSET, np.uint64(8), np.int64(-2), mode="strict")) == 0


def unpack(source, result):
    return function(f"%s: {source}", result, f"%r = unpack %s : {source} -> {result}\nreturn %r : {result}")


def pack(source, result):
    return function(f"%s: {source}", result, f"%r = pack %s : {source} -> {result}\nreturn %r : {result}")


@pytest.mark.parametrize(
    ("data", "ty", "values"),
    [
        ([0x21, 0x43], "tile<4xi4>", [1, 2, 3, 4]),
        ([0xF8, 0x7F], "tile<4xi4>", [-8, -1, -1, 7]),
        ([0x35], "tile<8xi1>", [1, 0, 1, 0, 1, 1, 0, 0]),
        ([1, 2, 3, 4], "tile<2xi16>", [0x0201, 0x0403]),
        ([0, 0, 0x80, 0x3F], "tile<1xf32>", [1.0]),
        ([0x00, 0x3C], "tile<1xf16>", [1.0]),
        ([0x21, 0x7F], "tile<4xf4E2M1FN>", [0.5, 1.0, -6.0, 6.0]),
    ],
)
def test_unpack_cuts_the_byte_stream_and_pack_is_its_reverse(target, data, ty, values):
    source = f"tile<{len(data)}xi8>"
    stream = np.array(data, np.uint8).view(np.int8)
    result = target.evaluate(unpack(source, ty), stream)
    assert result.astype(float).tolist() == values
    assert target.evaluate(pack(ty, source), result).tolist() == stream.tolist()


def test_tile_blocks_know_the_grid_and_run_x_fastest(target):
    text = """entry @k() {
        %x, %y, %z = get_tile_block_id : tile<i32>
        %a, %b, %c = get_num_tile_blocks : tile<i32>
        %t = print_tko "%d%d%d/%d%d%d ", %x, %y, %z, %a, %b, %c
            : tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32> -> token
        return
    }"""
    assert target.printed(text, grid=(2, 2, 1)) == "000/221 100/221 010/221 110/221 "


def test_get_global_gives_the_address_of_its_first_element(target):
    text = """global @table <i32: [3, 5, 7, 9]> : tile<4xi32>
    entry @k(%out: tile<ptr<i32>>) {
        %p = get_global @table : tile<ptr<i32>>
        %two = constant <i32: 2> : tile<i32>
        %q = offset %p, %two : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %v, %t = load_ptr_tko weak %q : tile<ptr<i32>> -> tile<i32>, token
        %u = store_ptr_tko weak %out, %v : tile<ptr<i32>>, tile<i32> -> token
        return
    }"""
    out = np.zeros(1, np.int32)
    target.launch(text, out)
    assert out[0] == 7
