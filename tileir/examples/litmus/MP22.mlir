// MP22
//
//   tile block 0:  W x=1 -> W.rel@blk y=1 | R.acq@blk y:f -> ?f=1 R x:d
//
// launch: --grid 1 x=i32[1]:zeros y=i32[1]:zeros
// exists: race

cuda_tile.module @m {
  entry @litmus(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>) {
    %c1 = constant <i32: 1> : tile<i32>
    %t0 = store_ptr_tko weak %x, %c1 : tile<ptr<i32>>, tile<i32> -> token
    %t1 = store_ptr_tko release tl_blk %y, %c1 token=%t0 : tile<ptr<i32>>, tile<i32> -> token
    %f, %t2 = load_ptr_tko acquire tl_blk %y : tile<ptr<i32>> -> tile<i32>, token
    %go1 = cmpi equal %f, %c1, signed : tile<i32> -> tile<i1>
    if %go1 {
      %d, %t3 = load_ptr_tko weak %x token=%t2 : tile<ptr<i32>> -> tile<i32>, token
    }
  }
}
