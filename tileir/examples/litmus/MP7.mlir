// MP7
//
//   tile block 0:  W x=1 -> W.rlx y=1
//   tile block 1:  R.acq y:f -> ?f=1 R x:d
//
// launch: --grid 2 x=i32[1]:zeros y=i32[1]:zeros
// exists: race

cuda_tile.module @m {
  entry @litmus(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %c0 = constant <i32: 0> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %is_0 = cmpi equal %block, %c0, signed : tile<i32> -> tile<i1>
    if %is_0 {
      %t0 = store_ptr_tko weak %x, %c1 : tile<ptr<i32>>, tile<i32> -> token
      %t1 = store_ptr_tko relaxed device %y, %c1 token=%t0 : tile<ptr<i32>>, tile<i32> -> token
    }
    %is_1 = cmpi equal %block, %c1, signed : tile<i32> -> tile<i1>
    if %is_1 {
      %f, %t0 = load_ptr_tko acquire device %y : tile<ptr<i32>> -> tile<i32>, token
      %go1 = cmpi equal %f, %c1, signed : tile<i32> -> tile<i1>
      if %go1 {
        %d, %t1 = load_ptr_tko weak %x token=%t0 : tile<ptr<i32>> -> tile<i32>, token
      }
    }
  }
}
