// TILE3
//
//   tile block 0:  W.rel v[0,1]=1
//   tile block 1:  R.acq v[1]:f -> ?f=1 R.rlx v[0]:d
//
// launch: --grid 2 v=i32[2]:zeros
// exists: 1:%f = 1 and 1:%d = 0
// never: race

cuda_tile.module @m {
  entry @litmus(%v: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %c0 = constant <i32: 0> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %is_0 = cmpi equal %block, %c0, signed : tile<i32> -> tile<i1>
    if %is_0 {
      %lanes0 = constant <i32: [0, 1]> : tile<2xi32>
      %row0 = reshape %v : tile<ptr<i32>> -> tile<1xptr<i32>>
      %all0 = broadcast %row0 : tile<1xptr<i32>> -> tile<2xptr<i32>>
      %at0 = offset %all0, %lanes0 : tile<2xptr<i32>>, tile<2xi32> -> tile<2xptr<i32>>
      %new0 = constant <i32: [1, 1]> : tile<2xi32>
      %t0 = store_ptr_tko release device %at0, %new0 : tile<2xptr<i32>>, tile<2xi32> -> token
    }
    %is_1 = cmpi equal %block, %c1, signed : tile<i32> -> tile<i1>
    if %is_1 {
      %lanes0 = constant <i32: 1> : tile<i32>
      %at0 = offset %v, %lanes0 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %f, %t0 = load_ptr_tko acquire device %at0 : tile<ptr<i32>> -> tile<i32>, token
      %go1 = cmpi equal %f, %c1, signed : tile<i32> -> tile<i1>
      if %go1 {
        %d, %t1 = load_ptr_tko relaxed device %v token=%t0 : tile<ptr<i32>> -> tile<i32>, token
      }
    }
  }
}
