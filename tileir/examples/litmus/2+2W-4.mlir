// 2+2W-4
//
//   tile block 0:  U.ar x:=1:a -> U.ar y:=2:b
//   tile block 1:  U.ar y:=1:a -> U.ar x:=2:b
//
// launch: --grid 2 x=i32[1]:zeros y=i32[1]:zeros
// forbidden: x = 1 and y = 1
// never: race

cuda_tile.module @m {
  entry @litmus(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %c0 = constant <i32: 0> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %c2 = constant <i32: 2> : tile<i32>
    %is_0 = cmpi equal %block, %c0, signed : tile<i32> -> tile<i1>
    if %is_0 {
      %a, %t0 = atomic_rmw_tko acq_rel device %x, xchg, %c1 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %b, %t1 = atomic_rmw_tko acq_rel device %y, xchg, %c2 token=%t0 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    }
    %is_1 = cmpi equal %block, %c1, signed : tile<i32> -> tile<i1>
    if %is_1 {
      %a, %t0 = atomic_rmw_tko acq_rel device %y, xchg, %c1 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %b, %t1 = atomic_rmw_tko acq_rel device %x, xchg, %c2 token=%t0 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    }
  }
}
