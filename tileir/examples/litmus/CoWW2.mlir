// CoWW2
//
//   tile block 0:  W x=1 | W x=2
//
// launch: --grid 1 x=i32[1]:zeros
// exists: race

cuda_tile.module @m {
  entry @litmus(%x: tile<ptr<i32>>) {
    %c1 = constant <i32: 1> : tile<i32>
    %c2 = constant <i32: 2> : tile<i32>
    %t0 = store_ptr_tko weak %x, %c1 : tile<ptr<i32>>, tile<i32> -> token
    %t1 = store_ptr_tko weak %x, %c2 : tile<ptr<i32>>, tile<i32> -> token
  }
}
