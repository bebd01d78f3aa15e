"""Tile blocks that wait for each other end, whatever the grid; those that never can are reported as hanging."""

import numpy as np
import pytest
from interp_kernels import launch, printed

from tileir.ir.diagnostics import Trap

MUTEX = """entry @k(%lock: tile<ptr<i32>>, %count: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    loop {
      %old, %t = atomic_cas_tko acquire device %lock, %zero, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %got = cmpi equal %old, %zero, signed : tile<i32> -> tile<i1>
      if %got {
        %v, %a = load_ptr_tko relaxed device %count token=%t : tile<ptr<i32>> -> tile<i32>, token
        %w = addi %v, %one : tile<i32>
        %b = store_ptr_tko relaxed device %count, %w token=%a : tile<ptr<i32>>, tile<i32> -> token
        %u = store_ptr_tko release device %lock, %zero token=%b : tile<ptr<i32>>, tile<i32> -> token
        break
      }
    }
    return
}"""


@pytest.mark.parametrize("grid", [(1, 1, 1), (200, 1, 1), (3, 5, 7)])
@pytest.mark.parametrize("seed", [None, 0, 1])
def test_a_mutex_lets_every_tile_block_through_once(grid, seed):
    lock, count = np.zeros(1, np.int32), np.zeros(1, np.int32)
    launch(MUTEX, lock, count, grid=grid, seed=seed)
    assert count[0] == np.prod(grid)
    assert lock[0] == 0


WAIT_FOR_NEXT = """entry @k(%flags: tile<ptr<i32>>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %next = addi %x, %one : tile<i32>
    %p = offset %flags, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %q = offset %flags, %next : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    loop {
      %v, %t = load_ptr_tko ORDER %q : tile<ptr<i32>> -> tile<i32>, token
      %set = cmpi equal %v, %one, signed : tile<i32> -> tile<i1>
      if %set {
        %u = store_ptr_tko RELEASE %p, %one token=%t : tile<ptr<i32>>, tile<i32> -> token
        break
      }
    }
    return
}"""


@pytest.mark.parametrize(("load", "store", "blocks"), [("acquire device", "release device", 300), ("weak", "weak", 40)])
def test_tile_blocks_may_wait_for_ones_that_start_later(load, store, blocks):
    flags = np.zeros(blocks + 1, np.int32)
    flags[blocks] = 1
    launch(WAIT_FOR_NEXT.replace("ORDER", load).replace("RELEASE", store), flags, grid=(blocks, 1, 1))
    assert flags.all()


def test_a_deadlock_is_a_trap_with_its_place():
    flags = np.zeros(5, np.int32)
    text = WAIT_FOR_NEXT.replace("ORDER", "acquire device").replace("RELEASE", "release device")
    with pytest.raises(Trap, match="hang") as caught:
        launch(text, flags, grid=(4, 1, 1), max_iterations=1000)
    assert caught.value.kernel == "k"
    assert caught.value.op == "loop"
    assert "loop" in str(caught.value)


def test_atomics_of_many_tile_blocks_add_up():
    text = """entry @k(%p: tile<ptr<i32>>) {
        %zero = constant <i32: 0> : tile<i32>
        %one = constant <i32: 1> : tile<i32>
        %n = constant <i32: 100> : tile<i32>
        for %i in (%zero to %n, step %one) : tile<i32> {
          %o, %t = atomic_rmw_tko relaxed device %p, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
        }
        return
    }"""
    for seed in (None, 3):
        out = np.zeros(1, np.int32)
        launch(text, out, grid=(64, 1, 1), seed=seed)
        assert out[0] == 6400


def test_a_seed_changes_the_order_and_repeats_it():
    text = """entry @k() {
        %x, %y, %z = get_tile_block_id : tile<i32>
        %t = print_tko "%d ", %x : tile<i32> -> token
        return
    }"""
    in_order = printed(text, grid=(20, 1, 1))
    assert in_order == "".join(f"{k} " for k in range(20))
    first, again, other = (printed(text, grid=(20, 1, 1), seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != in_order
    assert first != other
    assert sorted(first.split()) == sorted(in_order.split())
