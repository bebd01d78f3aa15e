// CNT1
//
//   tile block 0:  W a=1 -> U.ar c+1:r -> ?r=1 R b:p
//   tile block 1:  W b=1 -> U.ar c+1:r -> ?r=1 R a:p
//
// launch: --grid 2 a=i32[1]:zeros b=i32[1]:zeros c=i32[1]:zeros
// forbidden: (0:%r = 1 and 0:%p = 0) or (1:%r = 1 and 1:%p = 0)
// never: race

cuda_tile.module @m {
  entry @litmus(%a: tile<ptr<i32>>, %b: tile<ptr<i32>>, %c: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %c0 = constant <i32: 0> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %is_0 = cmpi equal %block, %c0, signed : tile<i32> -> tile<i1>
    if %is_0 {
      %t0 = store_ptr_tko weak %a, %c1 : tile<ptr<i32>>, tile<i32> -> token
      %r, %t1 = atomic_rmw_tko acq_rel device %c, add, %c1 token=%t0 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %go1 = cmpi equal %r, %c1, signed : tile<i32> -> tile<i1>
      if %go1 {
        %p, %t2 = load_ptr_tko weak %b token=%t1 : tile<ptr<i32>> -> tile<i32>, token
      }
    }
    %is_1 = cmpi equal %block, %c1, signed : tile<i32> -> tile<i1>
    if %is_1 {
      %t0 = store_ptr_tko weak %b, %c1 : tile<ptr<i32>>, tile<i32> -> token
      %r, %t1 = atomic_rmw_tko acq_rel device %c, add, %c1 token=%t0 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %go1 = cmpi equal %r, %c1, signed : tile<i32> -> tile<i1>
      if %go1 {
        %p, %t2 = load_ptr_tko weak %a token=%t1 : tile<ptr<i32>> -> tile<i32>, token
      }
    }
  }
}
