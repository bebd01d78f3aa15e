// LOOP1: iterations of a loop have no order unless a token is carried from one to the next.
//
// launch: --grid 1 x=i32[1]:zeros
// exists: race

cuda_tile.module @m {
  entry @litmus(%x: tile<ptr<i32>>) {
    %c0 = constant <i32: 0> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %c2 = constant <i32: 2> : tile<i32>
    for %i in (%c0 to %c2, step %c1) : tile<i32> {
      %old, %read = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
      %new = addi %old, %c1 : tile<i32>
      %written = store_ptr_tko weak %x, %new token=%read : tile<ptr<i32>>, tile<i32> -> token
    }
  }
}
