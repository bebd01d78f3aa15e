"""Views: index mapping, edges, padding, gather and scatter, nibbles, asked on whole programs."""

import warnings
from itertools import product

import ml_dtypes
import numpy as np
import pytest

import tileir
from tileir.interp.cells import CELLS
from tileir.ir import types as t

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

DTYPES = {"f32": np.float32, "i32": np.int32, "i8": np.int8, "f64": np.float64, "i1": np.uint8}


def copy_text(view, tensor, tile, element="f32", index="i32", sources=None, mode="load"):
    """A kernel that loads one tile of `a` through a view and stores it whole to `b`, or the other way round.

    `view` has TV where the tensor type belongs. The parameters: a, b, then one index per tile dimension, which is a
    scalar or, where `sources` gives a length, a pointer to a tile of indices.
    """
    rank = len(tile)
    shape = "x".join(map(str, tile))
    parameters, loads, names, types = [], [], [], []
    for dim in range(rank):
        length = (sources or {}).get(dim)
        if length is None:
            parameters.append(f"%i{dim}: tile<{index}>")
            names.append(f"%i{dim}")
            types.append(f"tile<{index}>")
            continue
        parameters.append(f"%s{dim}: tile<ptr<{index}>>")
        whole = f"tensor_view<{length}x{index}, strides=[1]>"
        loads.append(f"""
  %st{dim} = make_tensor_view %s{dim}, shape = [{length}], strides = [1] : {whole}
  %sv{dim} = make_partition_view %st{dim} : partition_view<tile=({length}), {whole}>
  %r{dim}, %rt{dim} = load_view_tko weak %sv{dim}[%zero] : partition_view<tile=({length}), {whole}>, tile<i32>
      -> tile<{length}x{index}>, token""")
        names.append(f"%r{dim}")
        types.append(f"tile<{length}x{index}>")
    steps = [1] * rank
    for dim in reversed(range(rank - 1)):
        steps[dim] = steps[dim + 1] * tile[dim + 1]
    dense = f"tensor_view<{shape}x{element}, strides=[{','.join(map(str, steps))}]>"
    dims = ", ".join(map(str, tile))
    whole = f"partition_view<tile=({'x'.join(map(str, tile))}), {dense}>"
    view = view.replace("TV", tensor[1])
    zeros = ", ".join(["%zero"] * rank)
    kind = view.partition("<")[0]
    through = f"%v[{', '.join(names)}]", f"{view}, {', '.join(types)}"
    plain = f"%w[{zeros}]", f"{whole}, tile<i32>"
    source, target = (through, plain) if mode == "load" else (plain, through)
    return f"""
entry @k(%a: tile<ptr<{element}>>, %b: tile<ptr<{element}>>, {", ".join(parameters)}) {{
  %zero = constant <i32: 0> : tile<i32>
  %tv = make_tensor_view %a, {tensor[0]} : {tensor[1]}
  %v = make_{kind} %tv : {view}
  %dense = make_tensor_view %b, shape = [{dims}], strides = [{", ".join(map(str, steps))}] : {dense}
  %w = make_partition_view %dense : {whole}{"".join(loads)}
  %x, %t = load_view_tko weak {source[0]} : {source[1]} -> tile<{shape}x{element}>, token
  %u = store_view_tko weak %x, {target[0]} token = %t : tile<{shape}x{element}>, {target[1]} -> token
  return
}}
"""


def tensor(shape, strides, element="f32"):
    """The clause and the type of a static tensor view."""
    dims, steps = ", ".join(map(str, shape)), ", ".join(map(str, strides))
    written = "x".join(map(str, shape))
    return f"shape = [{dims}], strides = [{steps}]", f"tensor_view<{written}x{element}, strides=[{steps}]>"


def reference(array, tile, starts, dims, padding=0):
    """The tile whose element e is element c of the tensor with c[dims[k]] = starts[k] + e[k]."""
    result = np.full(tile, padding, array.dtype)
    for e in product(*map(range, tile)):
        c = [0] * len(tile)
        for k, dim in enumerate(dims):
            c[dim] = starts[k] + e[k]
        if all(x < n for x, n in zip(c, array.shape)):
            result[e] = array[tuple(c)]
    return result


GRIDS = [
    pytest.param("partition_view<tile=(4x2), TV>", (4, 2), (0, 1), id="partition"),
    pytest.param("partition_view<tile=(4x2), TV, dim_map=[1, 0]>", (4, 2), (1, 0), id="partition, dimensions swapped"),
    pytest.param("strided_view<tile=(4x2), traversal_strides=[3,5], TV>", (3, 5), (0, 1), id="strided"),
    pytest.param(
        "strided_view<tile=(4x2), traversal_strides=[1,7], TV, dim_map=[1, 0]>",
        (1, 7),
        (1, 0),
        id="strided, dimensions swapped",
    ),
]


@pytest.mark.parametrize(("view", "steps", "dims"), GRIDS)
@pytest.mark.parametrize("index", [(0, 0), (1, 0), (0, 1), (2, 2), (1, 4), (40, 0)])
def test_a_load_takes_the_elements_of_the_formula_and_0_outside(target, view, steps, dims, index):
    array = np.arange(1, 10 * 7 + 1, dtype=np.float32).reshape(10, 7)
    out = np.full((4, 2), -1, np.float32)
    target.launch(copy_text(view, tensor((10, 7), (7, 1)), (4, 2)), array, out, *index)
    assert np.array_equal(out, reference(array, (4, 2), [i * s for i, s in zip(index, steps)], dims))


@pytest.mark.parametrize(("view", "steps", "dims"), GRIDS)
@pytest.mark.parametrize("index", [(0, 0), (1, 0), (0, 1), (2, 2), (1, 4), (40, 0)])
def test_a_store_writes_the_elements_of_the_formula_and_skips_the_others(target, view, steps, dims, index):
    array = np.zeros((10, 7), np.float32)
    tile = np.arange(1, 9, dtype=np.float32).reshape(4, 2)
    target.launch(copy_text(view, tensor((10, 7), (7, 1)), (4, 2), mode="store"), array, tile, *index)
    starts = [i * s for i, s in zip(index, steps)]
    expected = np.zeros_like(array)
    for e in product(range(4), range(2)):
        c = [0, 0]
        c[dims[0]], c[dims[1]] = starts[0] + e[0], starts[1] + e[1]
        if c[0] < 10 and c[1] < 7:
            expected[tuple(c)] = tile[e]
    assert np.array_equal(array, expected)


@pytest.mark.parametrize("value", ["nan", "neg_zero", "pos_inf", "neg_inf", "zero"])
def test_elements_outside_read_as_the_padding_value(target, value):
    array, out = np.ones((3, 3), np.float32), np.zeros((4, 4), np.float32)
    target.launch(
        copy_text(f"partition_view<tile=(4x4), padding_value = {value}, TV>", tensor((3, 3), (3, 1)), (4, 4)),
        array,
        out,
        0,
        0,
    )
    bits = {"nan": 0x7FC00000, "neg_zero": 1 << 31, "pos_inf": 0x7F800000, "neg_inf": 0xFF800000, "zero": 0}[value]
    assert (out[:3, :3] == 1).all()
    assert set(out[3].view(np.uint32).tolist()) == {bits}
    assert set(out[:, 3].view(np.uint32).tolist()) == {bits}


def test_a_padding_value_that_the_type_lacks_is_unsupported(target):
    text = copy_text(
        "partition_view<tile=(4), padding_value = pos_inf, TV>", tensor((4,), (1,), "f8E4M3FN"), (4,), "f8E4M3FN"
    )
    array = np.zeros(4, ml_dtypes.float8_e4m3fn)
    with pytest.raises(tileir.UnsupportedError, match="f8E4M3FN has no padding value pos_inf"):
        target.launch(text, array, array, 0)


@pytest.mark.parametrize("element", ["i1", "tf32", "f16", "bf16", "f8E5M2", "f8E8M0FNU", "i64"])
def test_every_kind_of_element_is_copied_whole_and_in_part(target, element):
    cell = CELLS[t.ELEMENTS[element]]
    raw = np.random.default_rng(1).integers(0, 2 if element == "i1" else 200, 24).astype(f"u{cell.size}")
    if element == "tf32":
        raw = np.arange(24, dtype=np.uint32) << np.uint32(20)
    array = raw.view(bool if element == "i1" else cell.dtype).reshape(4, 6)
    out = np.zeros((2, 4), array.dtype)
    text = copy_text("partition_view<tile=(2x4), TV>", tensor((4, 6), (6, 1), element), (2, 4), element)
    target.launch(text, array, out, 1, 0)
    assert out.tobytes() == array[2:4, 0:4].tobytes()
    target.launch(text, array, out, 1, 1)
    assert out[:, :2].tobytes() == array[2:4, 4:6].tobytes()
    assert out[:, 2:].tobytes() == bytes(4 * cell.size)


class TestIndices:
    VIEW = "partition_view<tile=(4), padding_value = nan, TV>"

    @pytest.mark.parametrize(
        ("kind", "value"), [("i32", -1), ("i64", -1), ("i8", -1), ("i16", np.uint16(1 << 15)), ("i64", 1 << 62)]
    )
    def test_they_are_unsigned_and_do_not_wrap_around(self, target, kind, value):
        array, out = np.ones(8, np.float32), np.zeros(4, np.float32)
        target.launch(copy_text(self.VIEW, tensor((8,), (1,)), (4,), index=kind), array, out, value)
        assert np.isnan(out).all()

    def test_an_i1_index_is_0_or_1(self, target):
        array, out = np.arange(8, dtype=np.float32), np.zeros(4, np.float32)
        target.launch(copy_text(self.VIEW, tensor((8,), (1,)), (4,), index="i1"), array, out, True)
        assert out.tolist() == [4, 5, 6, 7]

    def test_one_outside_the_index_space_is_a_warning_and_in_strict_mode_a_trap(self, target):
        array, out = np.ones(8, np.float32), np.zeros(4, np.float32)
        kernel = tileir.parse(copy_text(self.VIEW, tensor((8,), (1,)), (4,)))["k"]
        with pytest.warns(UserWarning, match="the index of dimension 0 is outside the index space"):
            target.launch(kernel, array, out, 2)
        with pytest.raises(tileir.Trap, match="the index of dimension 0 is outside the index space"):
            target.launch(kernel, array, out, 2, mode="strict")

    def test_a_partial_tile_is_no_warning(self, target):
        array, out = np.ones(6, np.float32), np.zeros(4, np.float32)
        kernel = tileir.parse(copy_text(self.VIEW, tensor((6,), (1,)), (4,)))["k"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            target.launch(kernel, array, out, 1, mode="strict")

    def test_strict_mode_warns_of_elements_outside_without_padding(self, target):
        array, out = np.ones(6, np.float32), np.zeros(4, np.float32)
        kernel = tileir.parse(copy_text("partition_view<tile=(4), TV>", tensor((6,), (1,)), (4,)))["k"]
        with pytest.warns(UserWarning, match="loaded without a padding value"):
            target.launch(kernel, array, out, 1, mode="strict")

    @pytest.mark.not_on("cpu", "ttir", "gpu")
    def test_a_broken_inbounds_promise_is_a_warning(self, target):
        array, out = np.ones(6, np.float32), np.zeros(4, np.float32)
        text = copy_text(self.VIEW, tensor((6,), (1,)), (4,)).replace("%v[%i0]", "%v[%i0] inbounds = [true]")
        with pytest.warns(UserWarning, match="'inbounds' is not kept"):
            target.launch(text, array, out, 1)
        assert np.isnan(out[2:]).all()


class TestGather:
    VIEW = "gather_scatter_view<tile=(4x2), padding_value = nan, TV, sparse_dim=0>"

    def test_rows_anywhere_and_elements_from_an_offset(self, target):
        array = np.arange(50, dtype=np.float32).reshape(10, 5)
        out, rows = np.zeros((4, 2), np.float32), np.array([7, 0, 7, 3], np.int32)
        target.launch(copy_text(self.VIEW, tensor((10, 5), (5, 1)), (4, 2), sources={0: 4}), array, out, rows, 3)
        assert np.array_equal(out, array[rows, 3:5])

    def test_each_element_is_tested_alone(self, target):
        array = np.arange(50, dtype=np.float32).reshape(10, 5)
        out, rows = np.zeros((4, 2), np.float32), np.array([9, -1, 10, 0], np.int32)
        text = copy_text(self.VIEW, tensor((10, 5), (5, 1)), (4, 2), sources={0: 4})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            target.launch(text, array, out, rows, 4, mode="strict")
        expected = np.full((4, 2), np.nan, np.float32)
        expected[0, 0], expected[3, 0] = array[9, 4], array[0, 4]
        assert np.array_equal(out, expected, equal_nan=True)

    @pytest.mark.parametrize("rows", [[-1, 10, 11, -5]])
    def test_no_row_inside(self, target, rows):
        array, out = np.zeros((10, 5), np.float32), np.zeros((4, 2), np.float32)
        text = copy_text(self.VIEW, tensor((10, 5), (5, 1)), (4, 2), sources={0: 4})
        target.launch(text, array, out, np.array(rows, np.int32), 0)
        assert np.isnan(out).all()

    def test_along_the_second_dimension(self, target):
        array = np.arange(60, dtype=np.float32).reshape(10, 6)
        out, columns = np.zeros((4, 2), np.float32), np.array([5, 1], np.int64)
        view = "gather_scatter_view<tile=(4x2), TV, sparse_dim=1>"
        text = copy_text(view, tensor((10, 6), (6, 1)), (4, 2), index="i64", sources={1: 2})
        target.launch(text, array, out, 2, columns)
        assert np.array_equal(out, array[2:6, columns])

    def test_scatter_writes_rows_and_skips_those_outside(self, target):
        array, tile = np.zeros((10, 5), np.float32), np.arange(1, 9, dtype=np.float32).reshape(4, 2)
        text = copy_text(self.VIEW, tensor((10, 5), (5, 1)), (4, 2), sources={0: 4}, mode="store")
        target.launch(text, array, tile, np.array([2, 10, 8, -1], np.int32), 4)
        expected = np.zeros_like(array)
        expected[2, 4], expected[8, 4] = 1, 5
        assert np.array_equal(array, expected)

    @pytest.mark.parametrize(("dim", "tile"), [(0, (4, 2)), (1, (2, 4))])
    def test_of_equal_rows_the_last_wins(self, target, dim, tile):
        array, given = np.zeros((10, 8), np.float32), np.arange(1, 9, dtype=np.float32).reshape(tile)
        view = f"gather_scatter_view<tile=({tile[0]}x{tile[1]}), TV, sparse_dim={dim}>"
        text = copy_text(view, tensor((10, 8), (8, 1)), tile, sources={dim: 4}, mode="store")
        index = [0, 0]
        index[dim] = np.array([3, 1, 3, 3], np.int32)
        target.launch(text, array, given, *index)
        last = given[3] if dim == 0 else given[:, 3]
        assert np.array_equal(array[3, :2] if dim == 0 else array[:2, 3], last)
        assert np.array_equal(array[1, :2] if dim == 0 else array[:2, 1], given[1] if dim == 0 else given[:, 1])


class TestMemoryBehindViews:
    VIEW = "partition_view<tile=(4x4), TV>"

    def test_a_tensor_larger_than_the_array_is_a_trap_that_names_the_element(self, target):
        array, out = np.zeros((3, 4), np.float32), np.zeros((4, 4), np.float32)
        with pytest.raises(tileir.Trap) as caught:
            target.launch(copy_text(self.VIEW, tensor((4, 4), (4, 1)), (4, 4)), array, out, 0, 0)
        assert (caught.value.array, caught.value.index) == ("a", 48)
        assert "load of f32 at byte offset 48 of 'a': it has bytes 0 to 47 (tile element [3, 0])" in str(caught.value)

    def test_a_store_past_the_array_writes_nothing(self, target):
        array, tile = np.zeros((3, 4), np.float32), np.ones((4, 4), np.float32)
        with pytest.raises(tileir.Trap, match="store of f32 at byte offset 48 of 'a'"):
            target.launch(copy_text(self.VIEW, tensor((4, 4), (4, 1)), (4, 4), mode="store"), array, tile, 0, 0)
        assert not array.any()

    def test_a_strided_array_in_place(self, target):
        whole = np.arange(200, dtype=np.float32).reshape(10, 20)
        array, out = whole[::2, 3:8], np.zeros((4, 4), np.float32)
        target.launch(copy_text(self.VIEW, tensor((5, 5), (40, 1)), (4, 4)), array, out, 0, 1)
        assert np.array_equal(out[:, 0], array[:4, 4])
        assert not out[:, 1:].any()

    def test_the_gaps_of_a_strided_array_may_not_be_touched(self, target):
        whole, out = np.arange(200, dtype=np.float32).reshape(10, 20), np.zeros((4, 4), np.float32)
        with pytest.raises(tileir.Trap, match=r"no element of the array lies there \(tile element \[1, 0\]\)"):
            target.launch(copy_text(self.VIEW, tensor((10, 5), (20, 1)), (4, 4)), whole[::2, 3:8], out, 0, 0)

    def test_aliased_elements_take_the_last_value_in_row_major_order(self, target):
        array, tile = np.zeros(10, np.float32), np.arange(1, 17, dtype=np.float32).reshape(4, 4)
        target.launch(copy_text(self.VIEW, tensor((4, 4), (1, 2)), (4, 4), mode="store"), array, tile, 0, 0)
        expected = np.zeros(10, np.float32)
        for i, j in product(range(4), range(4)):
            expected[i + 2 * j] = tile[i, j]
        assert np.array_equal(array, expected)

    def test_a_misaligned_base_is_a_trap(self, target):
        array, out = np.zeros(70, np.uint8)[1:65].view(np.int8), np.zeros((4, 4), np.float32)
        base = array.ctypes.data + (2 if array.ctypes.data % 4 == 0 else 0)
        with pytest.raises(tileir.Trap, match="is not a multiple of 4"):
            target.launch(copy_text(self.VIEW, tensor((4, 4), (4, 1)), (4, 4)), tileir.Pointer(base, 64), out, 0, 0)

    def test_a_huge_offset_of_an_element_in_the_tensor_is_a_trap(self, target):
        clause, kind = (
            "shape = [4, 4], strides = [4611686018427387904, 1]",
            "tensor_view<4x4xf32, strides=[4611686018427387904,1]>",
        )
        out = np.zeros((4, 4), np.float32)
        with pytest.raises(tileir.Trap, match="the element offset 13835058055282163715 of a view is larger than"):
            target.launch(copy_text(self.VIEW, (clause, kind), (4, 4)), np.zeros(16, np.float32), out, 0, 0)

    def test_an_offset_that_leaves_the_address_space_is_a_trap(self, target):
        clause, kind = (
            "shape = [2, 4], strides = [4611686018427387904, 1]",
            "tensor_view<2x4xf32, strides=[4611686018427387904,1]>",
        )
        out = np.zeros((4, 4), np.float32)
        with pytest.raises(tileir.Trap, match="beyond 64 bits"):
            target.launch(copy_text(self.VIEW, (clause, kind), (4, 4)), np.zeros(16, np.float32), out, 0, 0)


DYNAMIC = """
entry @k(%a: tile<ptr<f32>>, %out: tile<ptr<KIND>>, %n: tile<KIND>, %s: tile<KIND>) {
  %zero = constant <i32: 0> : tile<i32>
  %tv = make_tensor_view %a, shape = [%n, 4], strides = [%s, 1] : tile<KIND> -> tensor_view<?x4xf32, strides=[?,1]>
  %v = make_partition_view %tv : partition_view<tile=(2x4), tensor_view<?x4xf32, strides=[?,1]>>
  %d0, %d1 = get_tensor_shape %tv : tensor_view<?x4xf32, strides=[?,1]> -> tile<KIND>
  %n0, %n1 = get_index_space_shape %v : partition_view<tile=(2x4), tensor_view<?x4xf32, strides=[?,1]>> -> tile<KIND>
  %one = constant <i32: 1> : tile<i32>
  %out1 = offset %out, %one : tile<ptr<KIND>>, tile<i32> -> tile<ptr<KIND>>
  %t0 = store_ptr_tko weak %out, %d0 : tile<ptr<KIND>>, tile<KIND> -> token
  %t1 = store_ptr_tko weak %out1, %n0 : tile<ptr<KIND>>, tile<KIND> -> token
  %x, %t2 = load_view_tko weak %v[%zero, %zero]
      : partition_view<tile=(2x4), tensor_view<?x4xf32, strides=[?,1]>>, tile<i32> -> tile<2x4xf32>, token
  return
}
"""


class TestDynamicShapes:
    def run(self, target, kind, extent, stride, **options):
        out = np.zeros(2, DTYPES[kind])
        target.launch(DYNAMIC.replace("KIND", kind), np.zeros(4096, np.float32), out, extent, stride, **options)
        return out.tolist()

    def test_extents_are_given_by_operands(self, target):
        assert self.run(target, "i32", 7, 4) == [7, 4]

    def test_they_are_unsigned(self, target):
        assert self.run(target, "i8", np.uint8(255), 4) == [-1, -128]

    def test_extent_0_is_a_warning_and_leaves_no_element(self, target):
        with pytest.warns(UserWarning, match="the dynamic extent 0 of dimension 0 is not positive"):
            assert self.run(target, "i32", 0, 4) == [0, 0]

    def test_stride_0_is_a_warning(self, target):
        with pytest.warns(UserWarning, match="the dynamic stride 0 of dimension 0 is not positive"):
            assert self.run(target, "i32", 2, 0) == [2, 1]

    def test_strict_mode_traps_at_extent_0(self, target):
        with pytest.raises(tileir.Trap, match="is not positive"):
            self.run(target, "i32", 0, 4, mode="strict")

    def test_2_to_the_63_is_a_trap(self, target):
        text = DYNAMIC.replace("KIND", "i64")
        with pytest.raises(tileir.Trap, match="the dynamic extent 18446744073709551615 of dimension 0 is not below 2"):
            target.launch(text, np.zeros(8, np.float32), np.zeros(2, np.int64), -1, 4)


@pytest.mark.parametrize(
    ("view", "extents"),
    [
        ("partition_view<tile=(4x2), TV>", (16, 8)),
        ("partition_view<tile=(4x2), TV, dim_map=[1, 0]>", (4, 32)),
        ("strided_view<tile=(4x2), traversal_strides=[4,3], TV>", (16, 6)),
        ("strided_view<tile=(4x2), traversal_strides=[4,3], TV, dim_map=[1, 0]>", (4, 22)),
        ("gather_scatter_view<tile=(4x2), TV, sparse_dim=0>", (64, 16)),
    ],
)
def test_the_index_space_of_a_64x16_tensor(target, view, extents):
    view = view.replace("TV", "tensor_view<64x16xf32, strides=[16,1]>")
    text = f"""
entry @k(%a: tile<ptr<f32>>, %out: tile<ptr<i64>>) {{
  %tv = make_tensor_view %a, shape = [64, 16], strides = [16, 1] : tensor_view<64x16xf32, strides=[16,1]>
  %v = make_{view.partition("<")[0]} %tv : {view}
  %n:2 = get_index_space_shape %v : {view} -> tile<i64>
  %one = constant <i32: 1> : tile<i32>
  %next = offset %out, %one : tile<ptr<i64>>, tile<i32> -> tile<ptr<i64>>
  %t0 = store_ptr_tko weak %out, %n#0 : tile<ptr<i64>>, tile<i64> -> token
  %t1 = store_ptr_tko weak %next, %n#1 : tile<ptr<i64>>, tile<i64> -> token
  return
}}
"""
    out = np.zeros(2, np.int64)
    target.launch(text, np.zeros((64, 16), np.float32), out)
    assert tuple(out.tolist()) == extents


def nibbles(values):
    """Packed bytes of 4-bit patterns, the even one low."""
    values = np.asarray(values, np.uint8).ravel()
    return values[0::2] | values[1::2] << np.uint8(4)


class TestNibbles:
    TILE = (2, 4)

    @pytest.mark.parametrize(("index", "columns"), [((0, 0), 4), ((1, 1), 4), ((1, 2), 2)])
    def test_a_load_takes_two_elements_from_a_byte(self, target, index, columns):
        patterns = np.random.default_rng(0).integers(0, 16, (4, 10))
        out = np.zeros(4, np.uint8)
        text = copy_text("partition_view<tile=(2x4), TV>", tensor((4, 10), (10, 1), "f4E2M1FN"), self.TILE, "f4E2M1FN")
        target.launch(text, nibbles(patterns), out, *index)
        expected = np.zeros((2, 4), np.uint8)
        expected[:, :columns] = patterns[index[0] * 2 :, index[1] * 4 :][:2, :4]
        assert out.tolist() == nibbles(expected).tolist()

    def test_a_store_keeps_the_other_element_of_a_byte(self, target):
        patterns = np.full((3, 5), 7, np.uint8)
        memory = np.append(nibbles(patterns.ravel()[:14]), np.uint8(7))
        tile = np.arange(8, dtype=np.uint8).reshape(2, 4)
        view = "partition_view<tile=(2x4), TV>"
        text = copy_text(view, tensor((3, 5), (5, 1), "f4E2M1FN"), self.TILE, "f4E2M1FN", mode="store")
        target.launch(text, memory, nibbles(tile), 0, 0)
        expected = patterns.copy()
        expected[:2, :4] = tile
        assert memory.tolist() == [*nibbles(expected.ravel()[:14]).tolist(), 7]

    def test_columns_packed_along_the_first_dimension(self, target):
        patterns = np.random.default_rng(2).integers(0, 16, (4, 6))
        out = np.zeros(4, np.uint8)
        text = copy_text("partition_view<tile=(2x4), TV>", tensor((4, 6), (1, 4), "f4E2M1FN"), self.TILE, "f4E2M1FN")
        target.launch(text, nibbles(patterns.T), out, 1, 0)
        assert out.tolist() == nibbles(patterns[2:4, :4]).tolist()

    def test_a_fault_names_the_type(self, target):
        text = copy_text("partition_view<tile=(2x4), TV>", tensor((2, 4), (4, 1), "f4E2M1FN"), self.TILE, "f4E2M1FN")
        with pytest.raises(tileir.Trap, match="load of f4E2M1FN at byte offset 3 of 'a'"):
            target.launch(text, np.zeros(3, np.uint8), np.zeros(4, np.uint8), 0, 0)


MULTIMEM = """
entry @k(%a: tile<ptr<i32, <multicast>>>, %b: tile<ptr<i32, <multicast>>>) {
  %zero = constant <i32: 0> : tile<i32>
  %ta = make_tensor_view %a, shape = [3], strides = [1]
      : tile<ptr<i32, <multicast>>> -> tensor_view<3xi32, strides=[1], #cuda_tile.ptr_attr<multicast>>
  %tb = make_tensor_view %b, shape = [4], strides = [1]
      : tile<ptr<i32, <multicast>>> -> tensor_view<4xi32, strides=[1], #cuda_tile.ptr_attr<multicast>>
  %va = make_partition_view %ta
      : partition_view<tile=(4), tensor_view<3xi32, strides=[1], #cuda_tile.ptr_attr<multicast>>>
  %vb = make_partition_view %tb
      : partition_view<tile=(4), tensor_view<4xi32, strides=[1], #cuda_tile.ptr_attr<multicast>>>
  %x, %t = multimem_load_reduce_view_tko weak %va[%zero]
        attributes {reduction = #cuda_tile.multimem_reduction_kind<max>}
      : partition_view<tile=(4), tensor_view<3xi32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<i32>
      -> tile<4xi32>, token
  %u = multimem_store_view_tko weak %vb, %x[%zero] token = %t
      : partition_view<tile=(4), tensor_view<4xi32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<4xi32>,
        tile<i32>, token -> token
  %w = multimem_reduce_view_tko relaxed device %va, %x[%zero] token = %u
      : partition_view<tile=(4), tensor_view<3xi32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<4xi32>,
        tile<i32>, token -> token
  return
}
"""


@pytest.mark.not_on("ttir", "gpu")
def test_multicast_memory_has_one_replica(target):
    a, b = np.array([1, 2, 3], np.int32), np.full(4, 9, np.int32)
    target.launch(MULTIMEM, a, b)
    assert b.tolist() == [1, 2, 3, 0]
    assert a.tolist() == [2, 4, 6]
