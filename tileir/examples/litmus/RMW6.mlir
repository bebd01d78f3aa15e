// RMW6
//
//   tile block 0:  U.rlx x+1:r | R x:s
//
// launch: --grid 1 x=i32[1]:zeros
// exists: race

cuda_tile.module @m {
  entry @litmus(%x: tile<ptr<i32>>) {
    %c1 = constant <i32: 1> : tile<i32>
    %r, %t0 = atomic_rmw_tko relaxed device %x, add, %c1 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %s, %t1 = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
  }
}
