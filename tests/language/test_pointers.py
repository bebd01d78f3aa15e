"""Loads, stores and storage through pointers, as programs see them."""

import numpy as np
import pytest

import tileir


def pointers(name, base, shape=8, element="f32"):
    """Text of a tile of pointers `%name` to the first elements behind the parameter `%base`."""
    return f"""
  %{name}_1 = reshape %{base} : tile<ptr<{element}>> -> tile<1xptr<{element}>>
  %{name}_8 = broadcast %{name}_1 : tile<1xptr<{element}>> -> tile<{shape}xptr<{element}>>
  %{name} = offset %{name}_8, %lane : tile<{shape}xptr<{element}>>, tile<{shape}xi32> -> tile<{shape}xptr<{element}>>
"""


HEAD = """
  %lane = iota : tile<8xi32>
  %n1 = reshape %n : tile<i32> -> tile<1xi32>
  %n8 = broadcast %n1 : tile<1xi32> -> tile<8xi32>
  %mask = cmpi less_than %lane, %n8, signed : tile<8xi32> -> tile<8xi1>
"""

MASKED = f"""
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>) {{
{HEAD}{pointers("pa", "a")}{pointers("pb", "b")}
  %pad = constant <f32: 7.0> : tile<8xf32>
  %x, %t = load_ptr_tko weak %pa, %mask LOADPAD : tile<8xptr<f32>>, tile<8xi1> PADTYPE -> tile<8xf32>, token
  %u = store_ptr_tko weak %pb, %x token=%t : tile<8xptr<f32>>, tile<8xf32> -> token
  return
}}
"""


def masked(padded):
    return MASKED.replace("LOADPAD", ", %pad" if padded else "").replace("PADTYPE", ", tile<8xf32>" if padded else "")


@pytest.mark.parametrize(("padded", "outside"), [(True, 7.0), (False, 0.0)])
def test_masked_off_lanes_read_padding_or_zero(target, padded, outside):
    a, b = np.arange(5, dtype=np.float32) + 1, np.full(8, -1, np.float32)
    target.launch(masked(padded), a, b, 5)
    assert b.tolist() == [1, 2, 3, 4, 5, outside, outside, outside]


def test_strict_mode_warns_of_masked_off_lanes_without_padding(target):
    a, b = np.zeros(8, np.float32), np.zeros(8, np.float32)
    with pytest.warns(UserWarning, match="masked-off elements are loaded without a padding value"):
        target.launch(masked(False), a, b, 5, mode="strict")


def test_a_masked_store_leaves_the_other_lanes(target):
    a, b = np.arange(8, dtype=np.float32), np.full(8, -1, np.float32)
    text = f"""
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>) {{
{HEAD}{pointers("pa", "a")}{pointers("pb", "b")}
  %x, %t = load_ptr_tko weak %pa : tile<8xptr<f32>> -> tile<8xf32>, token
  %u = store_ptr_tko release device %pb, %x, %mask token=%t : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token
  return
}}
"""
    target.launch(text, a, b, 3)
    assert b.tolist() == [0, 1, 2, -1, -1, -1, -1, -1]


def test_a_fault_names_kernel_block_operation_place_array_and_lane(target):
    a, b = np.zeros(5, np.float32), np.zeros(8, np.float32)
    with pytest.raises(tileir.Trap) as caught:
        target.launch(masked(True), a, b, 6)
    trap = caught.value
    assert (trap.kernel, trap.block, trap.op, trap.array, trap.index) == ("k", (0, 0, 0), "load_ptr_tko", "a", 20)
    assert "load of f32 at byte offset 20 of 'a': it has bytes 0 to 19 (tile element [5])" in str(trap)
    assert "load_ptr_tko weak %pa" in str(trap)


STORE_TWICE = f"""
entry @k(%a: tile<ptr<i32>>) {{
  %lane = constant <i32: [0, 1, 0, 1, 2, 2, 3, 3]> : tile<8xi32>
  %x = iota : tile<8xi32>
{pointers("pa", "a", element="i32")}
  %u = store_ptr_tko ORDER %pa, %x : tile<8xptr<i32>>, tile<8xi32> -> token
  return
}}
"""


@pytest.mark.parametrize("order", ["weak", "relaxed device"])
def test_of_equal_addresses_in_a_store_the_last_lane_wins(target, order):
    a = np.full(4, -1, np.int32)
    target.launch(STORE_TWICE.replace("ORDER", order), a)
    assert a.tolist() == [2, 3, 5, 7]


def test_strict_mode_traps_at_equal_addresses_in_a_weak_store_and_warns_in_a_strong_one(target):
    a = np.full(4, -1, np.int32)
    with pytest.raises(tileir.Trap, match="two elements of a weak store have the same address"):
        target.launch(STORE_TWICE.replace("ORDER", "weak"), a, mode="strict")
    with pytest.warns(UserWarning, match="two elements of a store have the same address"):
        target.launch(STORE_TWICE.replace("ORDER", "relaxed device"), a, mode="strict")


def test_tokens_and_fences_pass_through(target):
    a = np.zeros(1, np.int32)
    text = """
entry @k(%a: tile<ptr<i32>>) {
  %t0 = make_token : token
  %t1 = make_token : token
  %t2 = join_tokens %t0, %t1, %t0 : token
  %t3 = gdc_wait_tko token = %t2 -> token
  %t4 = gdc_launch_dependents_tko -> token
  %t5 = memory_fence_alias_tko %t3
  %x = constant <i32: 4> : tile<i32>
  %t6 = store_ptr_tko weak %a, %x token=%t5 : tile<ptr<i32>>, tile<i32> -> token
  return
}
"""
    target.launch(text, a)
    assert a[0] == 4


class TestAlloca:
    @pytest.mark.not_on("cpu", "ttir", "gpu")
    def test_fresh_storage_holds_0xcd(self, target):
        out = np.zeros(1, np.int32)
        text = """
entry @k(%out: tile<ptr<i32>>) {
  %p = alloca num_elem = 4, alignment = 16 : tile<ptr<i32>>
  %x, %t = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
  %u = store_ptr_tko weak %out, %x token=%t : tile<ptr<i32>>, tile<i32> -> token
  return
}
"""
        target.launch(text, out)
        assert out.view(np.uint32)[0] == 0xCDCDCDCD

    def test_it_is_aligned_and_ends_where_it_ends(self, target):
        out = np.zeros(1, np.int64)
        text = """
entry @k(%out: tile<ptr<i64>>) {
  %p = alloca num_elem = 4, alignment = 256 : tile<ptr<f16>>
  %address = ptr_to_int %p : tile<ptr<f16>> -> tile<i64>
  %t = store_ptr_tko weak %out, %address : tile<ptr<i64>>, tile<i64> -> token
  %four = constant <i32: 4> : tile<i32>
  %end = offset %p, %four : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>
  %x, %u = load_ptr_tko weak %end : tile<ptr<f16>> -> tile<f16>, token
  return
}
"""
        with pytest.raises(tileir.Trap, match="load of f16 at byte offset 8 of 'alloca': it has bytes 0 to 7"):
            target.launch(text, out)
        assert out[0] % 256 == 0

    USED_AFTER = """
entry @k(%cell: tile<ptr<i64>>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  for %i in (%zero to %one, step %one) : tile<i32> {
    %p = alloca num_elem = 1, alignment = 8 : tile<ptr<i64>>
    %address = ptr_to_int %p : tile<ptr<i64>> -> tile<i64>
    %t = store_ptr_tko weak %cell, %address : tile<ptr<i64>>, tile<i64> -> token
    continue
  }
  %address, %t = load_ptr_tko weak %cell : tile<ptr<i64>> -> tile<i64>, token
  %p = int_to_ptr %address : tile<i64> -> tile<ptr<i64>>
  %u = store_ptr_tko weak %p, %address token=%t : tile<ptr<i64>>, tile<i64> -> token
  return
}
"""

    def test_a_use_after_its_region_is_a_trap(self, target):
        with pytest.raises(tileir.Trap, match="the storage was freed when its region was left"):
            target.launch(self.USED_AFTER, np.zeros(1, np.int64))

    HANDED_OVER = """
entry @k(%cell: tile<ptr<i64>>, %flag: tile<ptr<i32>>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %two = constant <i32: 2> : tile<i32>
  %first = cmpi equal %x, %zero, signed : tile<i32> -> tile<i1>
  if %first {
    %p = alloca num_elem = 1, alignment = 8 GLOBAL : tile<ptr<i64>>
    %address = ptr_to_int %p : tile<ptr<i64>> -> tile<i64>
    %t = store_ptr_tko weak %cell, %address : tile<ptr<i64>>, tile<i64> -> token
    %u = store_ptr_tko release device %flag, %one token=%t : tile<ptr<i32>>, tile<i32> -> token
    loop {
      %seen, %v = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
      %done = cmpi equal %seen, %two, signed : tile<i32> -> tile<i1>
      if %done { break }
      continue
    }
  } else {
    loop {
      %seen, %v = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
      %done = cmpi equal %seen, %one, signed : tile<i32> -> tile<i1>
      if %done { break }
      continue
    }
    %address, %t = load_ptr_tko weak %cell : tile<ptr<i64>> -> tile<i64>, token
    %p = int_to_ptr %address : tile<i64> -> tile<ptr<i64>>
    %u = store_ptr_tko weak %p, %address token=%t : tile<ptr<i64>>, tile<i64> -> token
    %w = store_ptr_tko release device %flag, %two token=%u : tile<ptr<i32>>, tile<i32> -> token
  }
  return
}
"""

    @pytest.mark.not_on("cpu", "ttir", "gpu")
    def test_another_tile_block_may_use_it_only_if_it_is_global(self, target):
        target.launch(
            self.HANDED_OVER.replace("GLOBAL", "global"), np.zeros(1, np.int64), np.zeros(1, np.int32), grid=2
        )
        with pytest.raises(tileir.Trap, match=r"the storage belongs to tile block \(0, 0, 0\)") as caught:
            target.launch(self.HANDED_OVER.replace("GLOBAL", ""), np.zeros(1, np.int64), np.zeros(1, np.int32), grid=2)
        assert caught.value.block == (1, 0, 0)
