// SB5
//
//   tile block 0:  U.ar x:=1:u -> U.ar y+0:r
//   tile block 1:  U.ar y:=1:u -> U.ar x+0:r
//
// launch: --grid 2 x=i32[1]:zeros y=i32[1]:zeros
// forbidden: 0:%r = 0 and 1:%r = 0
// never: race

cuda_tile.module @m {
  entry @litmus(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %c0 = constant <i32: 0> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %is_0 = cmpi equal %block, %c0, signed : tile<i32> -> tile<i1>
    if %is_0 {
      %u, %t0 = atomic_rmw_tko acq_rel device %x, xchg, %c1 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %r, %t1 = atomic_rmw_tko acq_rel device %y, add, %c0 token=%t0 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    }
    %is_1 = cmpi equal %block, %c1, signed : tile<i32> -> tile<i1>
    if %is_1 {
      %u, %t0 = atomic_rmw_tko acq_rel device %y, xchg, %c1 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %r, %t1 = atomic_rmw_tko acq_rel device %x, add, %c0 token=%t0 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    }
  }
}
