cuda_tile.module @triton {
  entry @vector_add(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>) {
    %assume = assume div_by<16>, %arg0 : tile<ptr<f32>>
    %assume_0 = assume div_by<16>, %arg1 : tile<ptr<f32>>
    %assume_1 = assume div_by<16>, %arg2 : tile<ptr<f32>>
    %cst_1024_i32 = constant <i32: 1024> : tile<i32>
    %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
    %0 = muli %blockId_x, %cst_1024_i32 : tile<i32>
    %1 = iota : tile<1024xi32>
    %reshape = reshape %0 : tile<i32> -> tile<1xi32>
    %bcast = broadcast %reshape : tile<1xi32> -> tile<1024xi32>
    %2 = addi %bcast, %1 : tile<1024xi32>
    %reshape_2 = reshape %arg3 : tile<i32> -> tile<1xi32>
    %bcast_3 = broadcast %reshape_2 : tile<1xi32> -> tile<1024xi32>
    %3 = cmpi less_than %2, %bcast_3, signed : tile<1024xi32> -> tile<1024xi1>
    %reshape_4 = reshape %assume_1 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_5 = broadcast %reshape_4 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
    %4 = offset %bcast_5, %2 : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
    %reshape_6 = reshape %assume : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_7 = broadcast %reshape_6 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
    %5 = offset %bcast_7, %2 : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
    %result, %result_token = load_ptr_tko weak %5, %3 : tile<1024xptr<f32>>, tile<1024xi1> -> tile<1024xf32>, token
    %reshape_8 = reshape %assume_0 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_9 = broadcast %reshape_8 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
    %6 = offset %bcast_9, %2 : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
    %result_10, %result_token_11 = load_ptr_tko weak %6, %3 : tile<1024xptr<f32>>, tile<1024xi1> -> tile<1024xf32>, token
    %7 = addf %result, %result_10  : tile<1024xf32>
    %8 = join_tokens %result_token, %result_token_11 : token
    %9 = store_ptr_tko weak %4, %7, %3 token=%8 : tile<1024xptr<f32>>, tile<1024xf32>, tile<1024xi1> -> token
    return
  }
}
