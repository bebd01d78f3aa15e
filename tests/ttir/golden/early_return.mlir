cuda_tile.module @triton {
  entry @early_return(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<i32>) {
    %cst_f32 = constant <f32: -2.000000e+00> : tile<16xf32>
    %cst_2_f32 = constant <f32: 2.000000e+00> : tile<16xf32>
    %cst_2_i32 = constant <i32: 2> : tile<i32>
    %cst_1_i32 = constant <i32: 1> : tile<i32>
    %cst_1_f32 = constant <f32: 1.000000e+00> : tile<16xf32>
    %cst_16_i32 = constant <i32: 16> : tile<i32>
    %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
    %0 = cmpi greater_than_or_equal %blockId_x, %arg2, signed : tile<i32> -> tile<i1>
    if %0 {
      return
    }
    %1 = muli %blockId_x, %cst_16_i32 : tile<i32>
    %2 = iota : tile<16xi32>
    %reshape = reshape %1 : tile<i32> -> tile<1xi32>
    %bcast = broadcast %reshape : tile<1xi32> -> tile<16xi32>
    %3 = addi %bcast, %2 : tile<16xi32>
    %4 = cmpi greater_than %blockId_x, %cst_1_i32, signed : tile<i32> -> tile<i1>
    %5 = if %4 -> (tile<16xf32>) {
      %9 = cmpi greater_than %blockId_x, %cst_2_i32, signed : tile<i32> -> tile<i1>
      if %9 {
        %reshape_4 = reshape %arg0 : tile<ptr<f32>> -> tile<1xptr<f32>>
        %bcast_5 = broadcast %reshape_4 : tile<1xptr<f32>> -> tile<16xptr<f32>>
        %10 = offset %bcast_5, %3 : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
        %11 = store_ptr_tko weak %10, %cst_f32 : tile<16xptr<f32>>, tile<16xf32> -> token
        return
      }
      yield %cst_2_f32 : tile<16xf32>
    } else {
      yield %cst_1_f32 : tile<16xf32>
    }
    %reshape_0 = reshape %arg1 : tile<i32> -> tile<1xi32>
    %bcast_1 = broadcast %reshape_0 : tile<1xi32> -> tile<16xi32>
    %6 = cmpi less_than %3, %bcast_1, signed : tile<16xi32> -> tile<16xi1>
    %reshape_2 = reshape %arg0 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_3 = broadcast %reshape_2 : tile<1xptr<f32>> -> tile<16xptr<f32>>
    %7 = offset %bcast_3, %3 : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
    %8 = store_ptr_tko weak %7, %5, %6 : tile<16xptr<f32>>, tile<16xf32>, tile<16xi1> -> token
    return
  }
}
