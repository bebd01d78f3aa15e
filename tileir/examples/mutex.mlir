// A lock shared by all tile blocks.
//
// Every block adds its number plus one to the same counter, with a plain load and a plain store. Two blocks doing so at
// the same time would lose an update, so each takes the lock first: a global that is 0 when free and 1 when held.
//
//   tileir run examples/mutex.mlir --grid 32 counter=i32[1]:zeros

cuda_tile.module @locking {
  global @lock <i32: [0]> : tile<1xi32>

  entry @mutex(%counter: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %lock = get_global @lock : tile<ptr<i32>>
    %free = constant <i32: 0> : tile<i32>
    %held = constant <i32: 1> : tile<i32>

    // Spin: replace "free" by "held" in one step and look at what was there before. Only the block that found "free"
    // leaves the loop. `acquire` makes what the last holder wrote visible to whoever waits for the token.
    %locked = loop : token {
      %before, %tried = atomic_cas_tko acquire device %lock, %free, %held
        : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %won = cmpi equal %before, %free, signed : tile<i32> -> tile<i1>
      if %won {
        break %tried : token
      }
    }

    // The chain of tokens is what keeps the three steps between lock and unlock.
    %old, %read = load_ptr_tko weak %counter token=%locked : tile<ptr<i32>> -> tile<i32>, token
    %share = addi %block, %held : tile<i32>
    %new = addi %old, %share : tile<i32>
    %stored = store_ptr_tko weak %counter, %new token=%read : tile<ptr<i32>>, tile<i32> -> token

    // Unlock; `release` hands what was written above on to the next holder.
    %was, %unlocked = atomic_rmw_tko release device %lock, xchg, %free token=%stored
      : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  }
}
