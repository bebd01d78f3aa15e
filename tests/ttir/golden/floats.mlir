cuda_tile.module @triton {
  entry @floats(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>, %arg2: tile<ptr<f32>>) {
    %cst_448_i32 = constant <i32: 448> : tile<i32>
    %cst_384_i32 = constant <i32: 384> : tile<i32>
    %cst_320_i32 = constant <i32: 320> : tile<i32>
    %cst_1_f32 = constant <f32: 1.000000e+00> : tile<64xf32>
    %cst_256_i32 = constant <i32: 256> : tile<i32>
    %cst_f32 = constant <f32: 5.000000e-01> : tile<64xf32>
    %cst_f32_0 = constant <f32: -5.000000e-01> : tile<64xf32>
    %cst_192_i32 = constant <i32: 192> : tile<i32>
    %cst_128_i32 = constant <i32: 128> : tile<i32>
    %cst_64_i32 = constant <i32: 64> : tile<i32>
    %0 = iota : tile<64xi32>
    %reshape = reshape %arg0 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast = broadcast %reshape : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %1 = offset %bcast, %0 : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %result, %result_token = load_ptr_tko weak %1 : tile<64xptr<f32>> -> tile<64xf32>, token
    %reshape_1 = reshape %arg1 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_2 = broadcast %reshape_1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %2 = offset %bcast_2, %0 : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %result_3, %result_token_4 = load_ptr_tko weak %2 : tile<64xptr<f32>> -> tile<64xf32>, token
    %reshape_5 = reshape %arg2 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_6 = broadcast %reshape_5 : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %3 = offset %bcast_6, %0 : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %4 = divf %result, %result_3  : tile<64xf32>
    %5 = divf %result, %result_3  : tile<64xf32>
    %6 = addf %4, %5  : tile<64xf32>
    %7 = absf %result : tile<64xf32>
    %8 = sqrt %7  : tile<64xf32>
    %9 = addf %6, %8  : tile<64xf32>
    %10 = join_tokens %result_token, %result_token_4 : token
    %11 = store_ptr_tko weak %3, %9 token=%10 : tile<64xptr<f32>>, tile<64xf32> -> token
    %12 = offset %arg2, %cst_64_i32 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %reshape_7 = reshape %12 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_8 = broadcast %reshape_7 : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %13 = offset %bcast_8, %0 : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %14 = maxf %result, %result_3 propagate_nan : tile<64xf32>
    %15 = store_ptr_tko weak %13, %14 token=%11 : tile<64xptr<f32>>, tile<64xf32> -> token
    %16 = offset %arg2, %cst_128_i32 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %reshape_9 = reshape %16 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_10 = broadcast %reshape_9 : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %17 = offset %bcast_10, %0 : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %18 = minf %result, %result_3 : tile<64xf32>
    %19 = store_ptr_tko weak %17, %18 token=%15 : tile<64xptr<f32>>, tile<64xf32> -> token
    %20 = offset %arg2, %cst_192_i32 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %reshape_11 = reshape %20 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_12 = broadcast %reshape_11 : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %21 = offset %bcast_12, %0 : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %22 = maxf %result, %cst_f32_0 propagate_nan : tile<64xf32>
    %23 = minf %22, %cst_f32 propagate_nan : tile<64xf32>
    %24 = store_ptr_tko weak %21, %23 token=%19 : tile<64xptr<f32>>, tile<64xf32> -> token
    %25 = offset %arg2, %cst_256_i32 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %reshape_13 = reshape %25 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_14 = broadcast %reshape_13 : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %26 = offset %bcast_14, %0 : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %27 = fma %result, %result_3, %cst_1_f32  : tile<64xf32>
    %28 = floor %result : tile<64xf32>
    %29 = addf %27, %28  : tile<64xf32>
    %30 = ceil %result_3 : tile<64xf32>
    %31 = subf %29, %30  : tile<64xf32>
    %32 = store_ptr_tko weak %26, %31 token=%24 : tile<64xptr<f32>>, tile<64xf32> -> token
    %33 = offset %arg2, %cst_320_i32 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %reshape_15 = reshape %33 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_16 = broadcast %reshape_15 : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %34 = offset %bcast_16, %0 : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %35 = ftof %result  : tile<64xf32> -> tile<64xf8E4M3FN>
    %36 = ftof %35  : tile<64xf8E4M3FN> -> tile<64xf32>
    %37 = ftof %result_3  : tile<64xf32> -> tile<64xf8E5M2>
    %38 = ftof %37  : tile<64xf8E5M2> -> tile<64xf32>
    %39 = addf %36, %38  : tile<64xf32>
    %40 = store_ptr_tko weak %34, %39 token=%32 : tile<64xptr<f32>>, tile<64xf32> -> token
    %41 = offset %arg2, %cst_384_i32 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %reshape_17 = reshape %41 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_18 = broadcast %reshape_17 : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %42 = offset %bcast_18, %0 : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %43 = ftof %result rounding<zero> : tile<64xf32> -> tile<64xf16>
    %44 = ftof %43  : tile<64xf16> -> tile<64xf32>
    %45 = store_ptr_tko weak %42, %44 token=%40 : tile<64xptr<f32>>, tile<64xf32> -> token
    %46 = offset %arg2, %cst_448_i32 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %reshape_19 = reshape %46 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_20 = broadcast %reshape_19 : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %47 = offset %bcast_20, %0 : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %48 = cmpf not_equal unordered %result, %result : tile<64xf32> -> tile<64xi1>
    %49 = cmpf less_than_or_equal ordered %result, %result_3 : tile<64xf32> -> tile<64xi1>
    %50 = ori %48, %49 : tile<64xi1>
    %51 = ftof %result  : tile<64xf32> -> tile<64xbf16>
    %52 = ftof %51  : tile<64xbf16> -> tile<64xf32>
    %53 = remf %result, %result_3 : tile<64xf32>
    %54 = select %50, %52, %53 : tile<64xi1>, tile<64xf32>
    %55 = store_ptr_tko weak %47, %54 token=%45 : tile<64xptr<f32>>, tile<64xf32> -> token
    return
  }
}
