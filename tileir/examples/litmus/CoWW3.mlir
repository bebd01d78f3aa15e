// CoWW3
//
//   tile block 0:  W.rlx@blk x=1 | W.rlx@blk x=2
//
// launch: --grid 1 x=i32[1]:zeros
// exists: x = 1
// never: race

cuda_tile.module @m {
  entry @litmus(%x: tile<ptr<i32>>) {
    %c1 = constant <i32: 1> : tile<i32>
    %c2 = constant <i32: 2> : tile<i32>
    %t0 = store_ptr_tko relaxed tl_blk %x, %c1 : tile<ptr<i32>>, tile<i32> -> token
    %t1 = store_ptr_tko relaxed tl_blk %x, %c2 : tile<ptr<i32>>, tile<i32> -> token
  }
}
