// CoWR1
//
//   tile block 0:  W x=1 -> R x:r
//
// launch: --grid 1 x=i32[1]:zeros
// forbidden: 0:%r = 0
// never: race

cuda_tile.module @m {
  entry @litmus(%x: tile<ptr<i32>>) {
    %c1 = constant <i32: 1> : tile<i32>
    %t0 = store_ptr_tko weak %x, %c1 : tile<ptr<i32>>, tile<i32> -> token
    %r, %t1 = load_ptr_tko weak %x token=%t0 : tile<ptr<i32>> -> tile<i32>, token
  }
}
