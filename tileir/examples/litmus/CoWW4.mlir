// CoWW4
//
//   tile block 0:  W v[0,0]=1,2
//
// launch: --grid 1 v=i32[1]:zeros
// exists: race

cuda_tile.module @m {
  entry @litmus(%v: tile<ptr<i32>>) {
    %lanes0 = constant <i32: [0, 0]> : tile<2xi32>
    %row0 = reshape %v : tile<ptr<i32>> -> tile<1xptr<i32>>
    %all0 = broadcast %row0 : tile<1xptr<i32>> -> tile<2xptr<i32>>
    %at0 = offset %all0, %lanes0 : tile<2xptr<i32>>, tile<2xi32> -> tile<2xptr<i32>>
    %new0 = constant <i32: [1, 2]> : tile<2xi32>
    %t0 = store_ptr_tko weak %at0, %new0 : tile<2xptr<i32>>, tile<2xi32> -> token
  }
}
