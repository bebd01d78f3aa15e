// CoWR5
//
//   tile block 0:  W x=1 | R.rlx@blk x:r
//
// launch: --grid 1 x=i32[1]:zeros
// exists: race

cuda_tile.module @m {
  entry @litmus(%x: tile<ptr<i32>>) {
    %c1 = constant <i32: 1> : tile<i32>
    %t0 = store_ptr_tko weak %x, %c1 : tile<ptr<i32>>, tile<i32> -> token
    %r, %t1 = load_ptr_tko relaxed tl_blk %x : tile<ptr<i32>> -> tile<i32>, token
  }
}
