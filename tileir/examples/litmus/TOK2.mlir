// TOK2
//
//   tile block 0:  a# R z:r -> W x=1 | a> W x=2
//
// launch: --grid 1 x=i32[1]:zeros z=i32[1]:zeros
// exists: race

cuda_tile.module @m {
  entry @litmus(%x: tile<ptr<i32>>, %z: tile<ptr<i32>>) {
    %c1 = constant <i32: 1> : tile<i32>
    %c2 = constant <i32: 2> : tile<i32>
    %r, %t0 = load_ptr_tko weak %z : tile<ptr<i32>> -> tile<i32>, token
    %t1 = store_ptr_tko weak %x, %c1 token=%t0 : tile<ptr<i32>>, tile<i32> -> token
    %t2 = store_ptr_tko weak %x, %c2 token=%t0 : tile<ptr<i32>>, tile<i32> -> token
  }
}
