// CoWR4
//
//   tile block 0:  W.rlx@blk x=1 -> R.rlx@blk x:r
//
// launch: --grid 1 x=i32[1]:zeros
// forbidden: 0:%r = 0
// never: race

cuda_tile.module @m {
  entry @litmus(%x: tile<ptr<i32>>) {
    %c1 = constant <i32: 1> : tile<i32>
    %t0 = store_ptr_tko relaxed tl_blk %x, %c1 : tile<ptr<i32>>, tile<i32> -> token
    %r, %t1 = load_ptr_tko relaxed tl_blk %x token=%t0 : tile<ptr<i32>> -> tile<i32>, token
  }
}
