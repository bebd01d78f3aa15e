"""Atomic operations: each mode, equal addresses, masks, views."""

import numpy as np
import pytest

import tileir


def rmw(mode, element, order="relaxed device", mask=""):
    masked = ", %m" if mask else ""
    type_of_mask = ", tile<4xi1>" if mask else ""
    return f"""
entry @k(%p: tile<ptr<{element}>>, %old: tile<ptr<{element}>>, %arg: tile<ptr<{element}>>) {{
  %lane = iota : tile<4xi32>
  {mask}
  %p1 = reshape %p : tile<ptr<{element}>> -> tile<1xptr<{element}>>
  %p4 = broadcast %p1 : tile<1xptr<{element}>> -> tile<4xptr<{element}>>
  %o1 = reshape %old : tile<ptr<{element}>> -> tile<1xptr<{element}>>
  %o4 = broadcast %o1 : tile<1xptr<{element}>> -> tile<4xptr<{element}>>
  %a1 = reshape %arg : tile<ptr<{element}>> -> tile<1xptr<{element}>>
  %a4 = broadcast %a1 : tile<1xptr<{element}>> -> tile<4xptr<{element}>>
  %pp = offset %p4, %lane : tile<4xptr<{element}>>, tile<4xi32> -> tile<4xptr<{element}>>
  %po = offset %o4, %lane : tile<4xptr<{element}>>, tile<4xi32> -> tile<4xptr<{element}>>
  %pa = offset %a4, %lane : tile<4xptr<{element}>>, tile<4xi32> -> tile<4xptr<{element}>>
  %x, %t = load_ptr_tko weak %pa : tile<4xptr<{element}>> -> tile<4x{element}>, token
  %r, %u = atomic_rmw_tko {order} %pp, {mode}, %x{masked} token=%t
      : tile<4xptr<{element}>>, tile<4x{element}>{type_of_mask} -> tile<4x{element}>, token
  %v = store_ptr_tko weak %po, %r token=%u : tile<4xptr<{element}>>, tile<4x{element}> -> token
  return
}}
"""


MASK = "%m = constant <i1: [true, false, true, false]> : tile<4xi1>"


@pytest.mark.parametrize(
    ("mode", "memory"),
    [("add", [11, 18, 33, 36]), ("max", [10, 20, 30, 40]), ("umax", [10, -2, 30, -4]), ("xchg", [1, -2, 3, -4])],
)
def test_rmw_gives_the_old_values(target, mode, memory):
    p, old, arg = np.array([10, 20, 30, 40], np.int32), np.zeros(4, np.int32), np.array([1, -2, 3, -4], np.int32)
    target.launch(rmw(mode, "i32"), p, old, arg)
    assert p.tolist() == memory
    assert old.tolist() == [10, 20, 30, 40]


def test_masked_off_lanes_of_rmw_access_nothing_and_give_0(target):
    p, old, arg = np.array([10, 20, 30], np.float32), np.ones(4, np.float32), np.ones(4, np.float32)
    target.launch(rmw("addf", "f32", mask=MASK), p, old, arg)
    assert p.tolist() == [11, 20, 31]
    assert old.tolist() == [10, 0, 30, 0]


def test_strict_mode_warns_of_the_result_of_a_masked_off_lane(target):
    arrays = [np.zeros(4, np.int32) for _ in range(3)]
    with pytest.warns(UserWarning, match="the result of a masked-off element"):
        target.launch(rmw("add", "i32", mask=MASK), *arrays, mode="strict")


def test_a_fault_of_an_atomic_says_update(target):
    arrays = [np.zeros(3, np.int64), np.zeros(4, np.int64), np.zeros(4, np.int64)]
    with pytest.raises(tileir.Trap, match=r"update of i64 at byte offset 24 of .p.") as caught:
        target.launch(rmw("and", "i64", "acq_rel sys"), *arrays)
    assert caught.value.op == "atomic_rmw_tko"


def test_every_tile_block_sees_what_the_others_added(target):
    counter, seen = np.zeros(1, np.int32), np.zeros(64, np.int32)
    text = """
entry @k(%counter: tile<ptr<i32>>, %seen: tile<ptr<i32>>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %old, %t = atomic_rmw_tko relaxed device %counter, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  %p = offset %seen, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %u = store_ptr_tko weak %p, %old : tile<ptr<i32>>, tile<i32> -> token
  return
}
"""
    target.launch(text, counter, seen, seed=3, grid=64)
    assert counter[0] == 64
    assert sorted(seen.tolist()) == list(range(64))


CAS = """
entry @k(%p: tile<ptr<f32>>, %old: tile<ptr<f32>>) {
  %lane = constant <i32: PLACES> : tile<4xi32>
  %i = iota : tile<4xi32>
  %p1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %p4 = broadcast %p1 : tile<1xptr<f32>> -> tile<4xptr<f32>>
  %o1 = reshape %old : tile<ptr<f32>> -> tile<1xptr<f32>>
  %o4 = broadcast %o1 : tile<1xptr<f32>> -> tile<4xptr<f32>>
  %pp = offset %p4, %lane : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
  %po = offset %o4, %i : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
  %m = constant <i1: MASK> : tile<4xi1>
  %cmp = constant <f32: CMP> : tile<4xf32>
  %val = constant <f32: VAL> : tile<4xf32>
  %r, %u = atomic_cas_tko relaxed device %pp, %cmp, %val, %m
      : tile<4xptr<f32>>, tile<4xf32>, tile<4xi1> -> tile<4xf32>, token
  %v = store_ptr_tko weak %po, %r token=%u : tile<4xptr<f32>>, tile<4xf32> -> token
  return
}
"""


def cas(target, p, places, compare, values, mask="[true, true, true, true]"):
    old = np.zeros(4, np.float32)
    text = CAS.replace("PLACES", places).replace("CMP", compare).replace("VAL", values).replace("MASK", mask)
    target.launch(text, p, old)
    return old


def test_cas_compares_bits(target):
    p = np.array([0.0, -0.0, np.nan, 1.0], np.float32)
    old = cas(target, p, "[0, 1, 2, 3]", "[0.0, 0.0, 0x7FC00000, 2.0]", "[5.0, 6.0, 7.0, 8.0]")
    assert p.tolist() == [5.0, -0.0, 7.0, 1.0]
    assert old.tobytes() == np.array([0.0, -0.0, np.nan, 1.0], np.float32).tobytes()


def test_cas_on_one_address_is_a_sequence(target):
    p = np.array([0.0], np.float32)
    assert cas(target, p, "[0, 0, 0, 0]", "[0.0, 0.0, 1.0, 2.0]", "[1.0, 9.0, 2.0, 3.0]").tolist() == [
        0.0,
        1.0,
        1.0,
        2.0,
    ]
    assert p[0] == 3.0


def test_masked_off_lanes_of_cas_give_what_they_compare_with(target):
    p = np.array([1.0, 2.0], np.float32)
    old = cas(target, p, "[0, 1, 2, 3]", "[1.0, 5.0, 6.0, 7.0]", "[8.0, 8.0, 8.0, 8.0]", "[true, true, false, false]")
    assert old.tolist() == [1.0, 2.0, 6.0, 7.0]
    assert p.tolist() == [8.0, 2.0]


def red_view(mode, element, view, tensor):
    return f"""
entry @k(%p: tile<ptr<{element}>>, %i: tile<i32>) {{
  %x = constant <{element}: [[1, 2, 3, 4], [5, 6, 7, 8]]> : tile<2x4x{element}>
  %tv = make_tensor_view %p, {tensor}
  %v = {view}
  %t = atomic_red_view_tko relaxed device %v[%i, %i], {mode}, %x : tile<2x4x{element}>, VIEW, tile<i32> -> token
  return
}}
""".replace("VIEW", view.partition(":")[2])


def partition(element, tensor_type):
    return f"make_partition_view %tv : partition_view<tile=(2x4), {tensor_type}>"


def test_red_view_updates_what_lies_in_the_tensor(target):
    array = np.full((3, 6), 10, np.int32)
    tensor_type = "tensor_view<3x6xi32, strides=[6,1]>"
    text = red_view("add", "i32", partition("i32", tensor_type), f"shape = [3, 6], strides = [6, 1] : {tensor_type}")
    kernel = tileir.parse(text)["k"]
    target.launch(kernel, array, 0)
    assert array.tolist() == [[11, 12, 13, 14, 10, 10], [15, 16, 17, 18, 10, 10], [10] * 6]
    target.launch(kernel, array, 1)
    assert array[2].tolist() == [10, 10, 10, 10, 11, 12]


def test_red_view_on_aliased_elements_applies_every_update(target):
    array = np.zeros(5, np.int64)
    tensor_type = "tensor_view<2x4xi64, strides=[1,1]>"
    text = red_view("umax", "i64", partition("i64", tensor_type), f"shape = [2, 4], strides = [1, 1] : {tensor_type}")
    target.launch(text, array, 0)
    assert array.tolist() == [1, 5, 6, 7, 8]


def test_red_view_through_a_strided_array(target):
    whole = np.zeros((4, 12), np.float32)
    array = whole[::2, 4:8]
    tensor_type = "tensor_view<2x4xf32, strides=[24,1]>"
    text = red_view("addf", "f32", partition("f32", tensor_type), f"shape = [2, 4], strides = [24, 1] : {tensor_type}")
    target.launch(text.replace(": [[1, 2, 3, 4], [5, 6, 7, 8]]", ": 0.5"), array, 0)
    assert (array == 0.5).all()
    assert whole.sum() == 4.0
