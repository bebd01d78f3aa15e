cuda_tile.module @triton attributes {producer = "triton"} {
  entry @descriptor_rows(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<i32>>, %arg2: tile<i32>, %arg3: tile<i32>) {
    %cst_1_f32 = constant <f32: 1.000000e+00> : tile<16x32xf32>
    %cst_0_i32 = constant <i32: 0> : tile<i32>
    %cst_1_i64 = constant <i64: 1> : tile<i64>
    %0 = exti %arg3 signed : tile<i32> -> tile<i64>
    %1 = iota : tile<16xi32>
    %reshape = reshape %arg1 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast = broadcast %reshape : tile<1xptr<i32>> -> tile<16xptr<i32>>
    %2 = offset %bcast, %1 : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
    %result, %result_token = load_ptr_tko weak %2 : tile<16xptr<i32>> -> tile<16xi32>, token
    %3 = exti %arg2 signed : tile<i32> -> tile<i64>
    %4 = exti %arg3 signed : tile<i32> -> tile<i64>
    %tview = make_tensor_view %arg0, shape = [%3, %4], strides = [%0, 1] : tile<i64> -> tensor_view<?x?xf32, strides=[?,1]>
    %gsview = make_gather_scatter_view %tview : gather_scatter_view<tile=(16x32), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>, sparse_dim=0>
    %tile, %result_token_0 = load_view_tko weak %gsview[%result, %cst_0_i32] : gather_scatter_view<tile=(16x32), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>, sparse_dim=0>, tile<16xi32>, tile<i32> -> tile<16x32xf32>, token
    %5 = addf %tile, %cst_1_f32  : tile<16x32xf32>
    %6 = exti %arg2 signed : tile<i32> -> tile<i64>
    %7 = exti %arg3 signed : tile<i32> -> tile<i64>
    %tview_1 = make_tensor_view %arg0, shape = [%6, %7], strides = [%0, 1] : tile<i64> -> tensor_view<?x?xf32, strides=[?,1]>
    %gsview_2 = make_gather_scatter_view %tview_1 : gather_scatter_view<tile=(16x32), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>, sparse_dim=0>
    %8 = join_tokens %result_token, %result_token_0 : token
    %9 = store_view_tko weak %5, %gsview_2[%result, %cst_0_i32] token = %8 : tile<16x32xf32>, gather_scatter_view<tile=(16x32), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>, sparse_dim=0>, tile<16xi32>, tile<i32> -> token
    return
  }
}
