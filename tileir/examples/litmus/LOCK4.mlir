// LOCK4
//
//   tile block 0:  C.acq L 0>1:l -> ?l=0 R x:r -> W x=1 -> U.rel L:=0:u
//   tile block 1:  C.acq L 0>1:l -> ?l=0 R x:r -> W x=2 -> U.rel L:=0:u
//
// launch: --grid 2 L=i32[1]:zeros x=i32[1]:zeros
// forbidden: 0:%r = 0 and 1:%r = 0
// never: race

cuda_tile.module @m {
  entry @litmus(%L: tile<ptr<i32>>, %x: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %c0 = constant <i32: 0> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %c2 = constant <i32: 2> : tile<i32>
    %is_0 = cmpi equal %block, %c0, signed : tile<i32> -> tile<i1>
    if %is_0 {
      %l, %t0 = atomic_cas_tko acquire device %L, %c0, %c1 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %go1 = cmpi equal %l, %c0, signed : tile<i32> -> tile<i1>
      if %go1 {
        %r, %t1 = load_ptr_tko weak %x token=%t0 : tile<ptr<i32>> -> tile<i32>, token
        %t2 = store_ptr_tko weak %x, %c1 token=%t1 : tile<ptr<i32>>, tile<i32> -> token
        %u, %t3 = atomic_rmw_tko release device %L, xchg, %c0 token=%t2 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      }
    }
    %is_1 = cmpi equal %block, %c1, signed : tile<i32> -> tile<i1>
    if %is_1 {
      %l, %t0 = atomic_cas_tko acquire device %L, %c0, %c1 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %go1 = cmpi equal %l, %c0, signed : tile<i32> -> tile<i1>
      if %go1 {
        %r, %t1 = load_ptr_tko weak %x token=%t0 : tile<ptr<i32>> -> tile<i32>, token
        %t2 = store_ptr_tko weak %x, %c2 token=%t1 : tile<ptr<i32>>, tile<i32> -> token
        %u, %t3 = atomic_rmw_tko release device %L, xchg, %c0 token=%t2 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      }
    }
  }
}
