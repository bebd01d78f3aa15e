cuda_tile.module @triton {
  entry @softmax(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>, %arg2: tile<i32>, %arg3: tile<i32>) {
    %cst_f32 = constant <f32: 0xFF800000> : tile<256xf32>
    %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
    %0 = iota : tile<256xi32>
    %reshape = reshape %arg3 : tile<i32> -> tile<1xi32>
    %bcast = broadcast %reshape : tile<1xi32> -> tile<256xi32>
    %1 = cmpi less_than %0, %bcast, signed : tile<256xi32> -> tile<256xi1>
    %2 = muli %blockId_x, %arg2 : tile<i32>
    %3 = offset %arg0, %2 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %reshape_0 = reshape %3 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_1 = broadcast %reshape_0 : tile<1xptr<f32>> -> tile<256xptr<f32>>
    %4 = offset %bcast_1, %0 : tile<256xptr<f32>>, tile<256xi32> -> tile<256xptr<f32>>
    %result, %result_token = load_ptr_tko weak %4, %1, %cst_f32 : tile<256xptr<f32>>, tile<256xi1>, tile<256xf32> -> tile<256xf32>, token
    %reduce = reduce %result dim=0 identities=[0xFF800000 : f32] : tile<256xf32> -> tile<f32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %11 = maxf %reduce_lhs, %reduce_rhs : tile<f32>
      yield %11 : tile<f32>
    }
    %reshape_2 = reshape %reduce : tile<f32> -> tile<1xf32>
    %bcast_3 = broadcast %reshape_2 : tile<1xf32> -> tile<256xf32>
    %5 = subf %result, %bcast_3  : tile<256xf32>
    %6 = exp %5  : tile<256xf32>
    %7 = offset %arg1, %2 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %reshape_4 = reshape %7 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_5 = broadcast %reshape_4 : tile<1xptr<f32>> -> tile<256xptr<f32>>
    %8 = offset %bcast_5, %0 : tile<256xptr<f32>>, tile<256xi32> -> tile<256xptr<f32>>
    %reduce_6 = reduce %6 dim=0 identities=[0.000000e+00 : f32] : tile<256xf32> -> tile<f32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %11 = addf %reduce_lhs, %reduce_rhs  : tile<f32>
      yield %11 : tile<f32>
    }
    %reshape_7 = reshape %reduce_6 : tile<f32> -> tile<1xf32>
    %bcast_8 = broadcast %reshape_7 : tile<1xf32> -> tile<256xf32>
    %9 = divf %6, %bcast_8  : tile<256xf32>
    %10 = store_ptr_tko weak %8, %9, %1 token=%result_token : tile<256xptr<f32>>, tile<256xf32>, tile<256xi1> -> token
    return
  }
}
