// TOK3
//
//   tile block 0:  a# W x=1 | b# W y=1 | a,b> R x:r
//
// launch: --grid 1 x=i32[1]:zeros y=i32[1]:zeros
// forbidden: 0:%r = 0
// never: race

cuda_tile.module @m {
  entry @litmus(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>) {
    %c1 = constant <i32: 1> : tile<i32>
    %t0 = store_ptr_tko weak %x, %c1 : tile<ptr<i32>>, tile<i32> -> token
    %t1 = store_ptr_tko weak %y, %c1 : tile<ptr<i32>>, tile<i32> -> token
    %j2 = join_tokens %t0, %t1 : token
    %r, %t2 = load_ptr_tko weak %x token=%j2 : tile<ptr<i32>> -> tile<i32>, token
  }
}
