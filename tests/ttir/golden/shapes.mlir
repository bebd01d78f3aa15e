cuda_tile.module @triton {
  entry @shapes(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>) {
    %cst_128_i32 = constant <i32: 128> : tile<i32>
    %cst_64_i32 = constant <i32: 64> : tile<i32>
    %cst_2_f32 = constant <f32: 2.000000e+00> : tile<4x8xf32>
    %cst_2_i32 = constant <i32: 2> : tile<16x1xi32>
    %cst_32_i32 = constant <i32: 32> : tile<i32>
    %cst_4_i32 = constant <i32: 4> : tile<8x1xi32>
    %cst_8_i32 = constant <i32: 8> : tile<4x1xi32>
    %0 = iota : tile<4xi32>
    %1 = iota : tile<8xi32>
    %reshape = reshape %0 : tile<4xi32> -> tile<4x1xi32>
    %2 = muli %reshape, %cst_8_i32 : tile<4x1xi32>
    %reshape_0 = reshape %arg0 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %bcast = broadcast %reshape_0 : tile<1x1xptr<f32>> -> tile<4x1xptr<f32>>
    %3 = offset %bcast, %2 : tile<4x1xptr<f32>>, tile<4x1xi32> -> tile<4x1xptr<f32>>
    %reshape_1 = reshape %1 : tile<8xi32> -> tile<1x8xi32>
    %bcast_2 = broadcast %3 : tile<4x1xptr<f32>> -> tile<4x8xptr<f32>>
    %bcast_3 = broadcast %reshape_1 : tile<1x8xi32> -> tile<4x8xi32>
    %4 = offset %bcast_2, %bcast_3 : tile<4x8xptr<f32>>, tile<4x8xi32> -> tile<4x8xptr<f32>>
    %result, %result_token = load_ptr_tko weak %4 : tile<4x8xptr<f32>> -> tile<4x8xf32>, token
    %reshape_4 = reshape %1 : tile<8xi32> -> tile<8x1xi32>
    %5 = muli %reshape_4, %cst_4_i32 : tile<8x1xi32>
    %reshape_5 = reshape %arg1 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %bcast_6 = broadcast %reshape_5 : tile<1x1xptr<f32>> -> tile<8x1xptr<f32>>
    %6 = offset %bcast_6, %5 : tile<8x1xptr<f32>>, tile<8x1xi32> -> tile<8x1xptr<f32>>
    %reshape_7 = reshape %0 : tile<4xi32> -> tile<1x4xi32>
    %bcast_8 = broadcast %6 : tile<8x1xptr<f32>> -> tile<8x4xptr<f32>>
    %bcast_9 = broadcast %reshape_7 : tile<1x4xi32> -> tile<8x4xi32>
    %7 = offset %bcast_8, %bcast_9 : tile<8x4xptr<f32>>, tile<8x4xi32> -> tile<8x4xptr<f32>>
    %8 = permute %result [1, 0] : tile<4x8xf32> -> tile<8x4xf32>
    %9 = store_ptr_tko weak %7, %8 token=%result_token : tile<8x4xptr<f32>>, tile<8x4xf32> -> token
    %reshape_10 = reshape %result : tile<4x8xf32> -> tile<16x2xf32>
    %cst_0_i32 = constant <i32: 0> : tile<i32>
    %cst_1_i32 = constant <i32: 1> : tile<i32>
    %10 = extract %reshape_10[%cst_0_i32, %cst_0_i32] : tile<16x2xf32> -> tile<16x1xf32>
    %reshape_11 = reshape %10 : tile<16x1xf32> -> tile<16xf32>
    %11 = extract %reshape_10[%cst_0_i32, %cst_1_i32] : tile<16x2xf32> -> tile<16x1xf32>
    %reshape_12 = reshape %11 : tile<16x1xf32> -> tile<16xf32>
    %reshape_13 = reshape %reshape_12 : tile<16xf32> -> tile<16x1xf32>
    %reshape_14 = reshape %reshape_11 : tile<16xf32> -> tile<16x1xf32>
    %12 = cat %reshape_13, %reshape_14 dim = 1 : tile<16x1xf32>, tile<16x1xf32> -> tile<16x2xf32>
    %13 = iota : tile<16xi32>
    %14 = offset %arg1, %cst_32_i32 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %reshape_15 = reshape %13 : tile<16xi32> -> tile<16x1xi32>
    %15 = muli %reshape_15, %cst_2_i32 : tile<16x1xi32>
    %reshape_16 = reshape %14 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %bcast_17 = broadcast %reshape_16 : tile<1x1xptr<f32>> -> tile<16x1xptr<f32>>
    %16 = offset %bcast_17, %15 : tile<16x1xptr<f32>>, tile<16x1xi32> -> tile<16x1xptr<f32>>
    %17 = iota : tile<2xi32>
    %reshape_18 = reshape %17 : tile<2xi32> -> tile<1x2xi32>
    %bcast_19 = broadcast %16 : tile<16x1xptr<f32>> -> tile<16x2xptr<f32>>
    %bcast_20 = broadcast %reshape_18 : tile<1x2xi32> -> tile<16x2xi32>
    %18 = offset %bcast_19, %bcast_20 : tile<16x2xptr<f32>>, tile<16x2xi32> -> tile<16x2xptr<f32>>
    %19 = store_ptr_tko weak %18, %12 token=%9 : tile<16x2xptr<f32>>, tile<16x2xf32> -> token
    %reshape_21 = reshape %result : tile<4x8xf32> -> tile<32xf32>
    %20 = mulf %result, %cst_2_f32  : tile<4x8xf32>
    %reshape_22 = reshape %20 : tile<4x8xf32> -> tile<32xf32>
    %21 = cat %reshape_21, %reshape_22 dim = 0 : tile<32xf32>, tile<32xf32> -> tile<64xf32>
    %22 = offset %arg1, %cst_64_i32 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %23 = iota : tile<64xi32>
    %reshape_23 = reshape %22 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_24 = broadcast %reshape_23 : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %24 = offset %bcast_24, %23 : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %25 = store_ptr_tko weak %24, %21 token=%19 : tile<64xptr<f32>>, tile<64xf32> -> token
    %26 = offset %arg1, %cst_128_i32 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %reshape_25 = reshape %26 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %bcast_26 = broadcast %reshape_25 : tile<1x1xptr<f32>> -> tile<4x1xptr<f32>>
    %27 = offset %bcast_26, %2 : tile<4x1xptr<f32>>, tile<4x1xi32> -> tile<4x1xptr<f32>>
    %bcast_27 = broadcast %27 : tile<4x1xptr<f32>> -> tile<4x8xptr<f32>>
    %28 = offset %bcast_27, %bcast_3 : tile<4x8xptr<f32>>, tile<4x8xi32> -> tile<4x8xptr<f32>>
    %29 = itof %reshape_1 signed  : tile<1x8xi32> -> tile<1x8xf32>
    %bcast_28 = broadcast %29 : tile<1x8xf32> -> tile<4x8xf32>
    %30 = store_ptr_tko weak %28, %bcast_28 token=%25 : tile<4x8xptr<f32>>, tile<4x8xf32> -> token
    return
  }
}
