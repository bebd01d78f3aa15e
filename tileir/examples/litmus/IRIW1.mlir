// IRIW1
//
//   tile block 0:  W.rlx x=1
//   tile block 1:  W.rlx y=1
//   tile block 2:  R.rlx x:a -> R.rlx y:b
//   tile block 3:  R.rlx y:a -> R.rlx x:b
//
// launch: --grid 4 x=i32[1]:zeros y=i32[1]:zeros
// exists: 2:%a = 1 and 2:%b = 0 and 3:%a = 1 and 3:%b = 0
// never: race

cuda_tile.module @m {
  entry @litmus(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %c0 = constant <i32: 0> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %c2 = constant <i32: 2> : tile<i32>
    %c3 = constant <i32: 3> : tile<i32>
    %is_0 = cmpi equal %block, %c0, signed : tile<i32> -> tile<i1>
    if %is_0 {
      %t0 = store_ptr_tko relaxed device %x, %c1 : tile<ptr<i32>>, tile<i32> -> token
    }
    %is_1 = cmpi equal %block, %c1, signed : tile<i32> -> tile<i1>
    if %is_1 {
      %t0 = store_ptr_tko relaxed device %y, %c1 : tile<ptr<i32>>, tile<i32> -> token
    }
    %is_2 = cmpi equal %block, %c2, signed : tile<i32> -> tile<i1>
    if %is_2 {
      %a, %t0 = load_ptr_tko relaxed device %x : tile<ptr<i32>> -> tile<i32>, token
      %b, %t1 = load_ptr_tko relaxed device %y token=%t0 : tile<ptr<i32>> -> tile<i32>, token
    }
    %is_3 = cmpi equal %block, %c3, signed : tile<i32> -> tile<i1>
    if %is_3 {
      %a, %t0 = load_ptr_tko relaxed device %y : tile<ptr<i32>> -> tile<i32>, token
      %b, %t1 = load_ptr_tko relaxed device %x token=%t0 : tile<ptr<i32>> -> tile<i32>, token
    }
  }
}
