// CoRR6
//
//   tile block 0:  R x:r
//   tile block 1:  R x:r
//
// launch: --grid 2 x=i32[1]:zeros
// forbidden: 0:%r != 0 or 1:%r != 0
// never: race

cuda_tile.module @m {
  entry @litmus(%x: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %c0 = constant <i32: 0> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %is_0 = cmpi equal %block, %c0, signed : tile<i32> -> tile<i1>
    if %is_0 {
      %r, %t0 = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
    }
    %is_1 = cmpi equal %block, %c1, signed : tile<i32> -> tile<i1>
    if %is_1 {
      %r, %t0 = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
    }
  }
}
