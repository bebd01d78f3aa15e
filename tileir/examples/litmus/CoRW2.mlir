// CoRW2
//
//   tile block 0:  R x:r | W x=1
//
// launch: --grid 1 x=i32[1]:zeros
// exists: race

cuda_tile.module @m {
  entry @litmus(%x: tile<ptr<i32>>) {
    %c1 = constant <i32: 1> : tile<i32>
    %r, %t0 = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
    %t1 = store_ptr_tko weak %x, %c1 : tile<ptr<i32>>, tile<i32> -> token
  }
}
