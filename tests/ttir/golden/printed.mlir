cuda_tile.module @triton {
  entry @printed(%arg0: tile<ptr<f32>>, %arg1: tile<i32>) {
    %cst_12_i32 = constant <i32: 12> : tile<i32>
    %cst_0_i32 = constant <i32: 0> : tile<i32>
    %cst_4_i32 = constant <i32: 4> : tile<i32>
    %0 = iota : tile<4xi32>
    %1 = remi %arg1, %cst_4_i32 signed : tile<i32>
    %2 = cmpi equal %1, %cst_0_i32, signed : tile<i32> -> tile<i1>
    %assume = assume div_by<4>, %arg1 : tile<i32>
    %3 = subi %assume, %cst_12_i32 : tile<i32>
    %assume_0 = assume div_by<4>, %3 : tile<i32>
    %4 = offset %arg0, %assume_0 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %reshape = reshape %4 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast = broadcast %reshape : tile<1xptr<f32>> -> tile<4xptr<f32>>
    %5 = offset %bcast, %0 : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
    %result, %result_token = load_ptr_tko weak %5 : tile<4xptr<f32>> -> tile<4xf32>, token
    %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
    %6 = print_tko "pid (%d, %d, %d) value: %f\0A", %blockId_x, %blockId_y, %blockId_z, %result token=%result_token : tile<i32>, tile<i32>, tile<i32>, tile<4xf32> -> token
    %blockId_x_1, %blockId_y_2, %blockId_z_3 = get_tile_block_id : tile<i32>
    %7 = print_tko "pid (%d, %d, %d) n: 0x%08x\0A", %blockId_x_1, %blockId_y_2, %blockId_z_3, %assume token=%6 : tile<i32>, tile<i32>, tile<i32>, tile<i32> -> token
    return
  }
}
