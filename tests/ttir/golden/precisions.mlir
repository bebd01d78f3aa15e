cuda_tile.module @triton {
  entry @precisions(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>, %arg2: tile<ptr<f32>>) {
    %cst_1280_i32 = constant <i32: 1280> : tile<16x16xi32>
    %cst_1024_i32 = constant <i32: 1024> : tile<16x16xi32>
    %cst_0_i32 = constant <i32: 0> : tile<16x16xi32>
    %cst_768_i32 = constant <i32: 768> : tile<16x16xi32>
    %cst_512_i32 = constant <i32: 512> : tile<16x16xi32>
    %cst_256_i32 = constant <i32: 256> : tile<16x16xi32>
    %cst_0_f32 = constant <f32: 0.000000e+00> : tile<16x16xf32>
    %cst_16_i32 = constant <i32: 16> : tile<16x1xi32>
    %cst_16_i32_0 = constant <i32: 16> : tile<32x1xi32>
    %cst_32_i32 = constant <i32: 32> : tile<16x1xi32>
    %0 = iota : tile<16xi32>
    %1 = iota : tile<32xi32>
    %reshape = reshape %0 : tile<16xi32> -> tile<16x1xi32>
    %2 = muli %reshape, %cst_32_i32 : tile<16x1xi32>
    %reshape_1 = reshape %arg0 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %bcast = broadcast %reshape_1 : tile<1x1xptr<f32>> -> tile<16x1xptr<f32>>
    %3 = offset %bcast, %2 : tile<16x1xptr<f32>>, tile<16x1xi32> -> tile<16x1xptr<f32>>
    %reshape_2 = reshape %1 : tile<32xi32> -> tile<1x32xi32>
    %bcast_3 = broadcast %3 : tile<16x1xptr<f32>> -> tile<16x32xptr<f32>>
    %bcast_4 = broadcast %reshape_2 : tile<1x32xi32> -> tile<16x32xi32>
    %4 = offset %bcast_3, %bcast_4 : tile<16x32xptr<f32>>, tile<16x32xi32> -> tile<16x32xptr<f32>>
    %result, %result_token = load_ptr_tko weak %4 : tile<16x32xptr<f32>> -> tile<16x32xf32>, token
    %reshape_5 = reshape %1 : tile<32xi32> -> tile<32x1xi32>
    %5 = muli %reshape_5, %cst_16_i32_0 : tile<32x1xi32>
    %reshape_6 = reshape %arg1 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %bcast_7 = broadcast %reshape_6 : tile<1x1xptr<f32>> -> tile<32x1xptr<f32>>
    %6 = offset %bcast_7, %5 : tile<32x1xptr<f32>>, tile<32x1xi32> -> tile<32x1xptr<f32>>
    %reshape_8 = reshape %0 : tile<16xi32> -> tile<1x16xi32>
    %bcast_9 = broadcast %6 : tile<32x1xptr<f32>> -> tile<32x16xptr<f32>>
    %bcast_10 = broadcast %reshape_8 : tile<1x16xi32> -> tile<32x16xi32>
    %7 = offset %bcast_9, %bcast_10 : tile<32x16xptr<f32>>, tile<32x16xi32> -> tile<32x16xptr<f32>>
    %result_11, %result_token_12 = load_ptr_tko weak %7 : tile<32x16xptr<f32>> -> tile<32x16xf32>, token
    %8 = muli %reshape, %cst_16_i32 : tile<16x1xi32>
    %reshape_13 = reshape %arg2 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %bcast_14 = broadcast %reshape_13 : tile<1x1xptr<f32>> -> tile<16x1xptr<f32>>
    %9 = offset %bcast_14, %8 : tile<16x1xptr<f32>>, tile<16x1xi32> -> tile<16x1xptr<f32>>
    %bcast_15 = broadcast %9 : tile<16x1xptr<f32>> -> tile<16x16xptr<f32>>
    %bcast_16 = broadcast %reshape_8 : tile<1x16xi32> -> tile<16x16xi32>
    %10 = offset %bcast_15, %bcast_16 : tile<16x16xptr<f32>>, tile<16x16xi32> -> tile<16x16xptr<f32>>
    %11 = ftof %result  : tile<16x32xf32> -> tile<16x32xtf32>
    %12 = ftof %result_11  : tile<32x16xf32> -> tile<32x16xtf32>
    %13 = mmaf %11, %12, %cst_0_f32 : tile<16x32xtf32>, tile<32x16xtf32>, tile<16x16xf32>
    %14 = join_tokens %result_token, %result_token_12 : token
    %15 = store_ptr_tko weak %10, %13 token=%14 : tile<16x16xptr<f32>>, tile<16x16xf32> -> token
    %16 = offset %10, %cst_256_i32 : tile<16x16xptr<f32>>, tile<16x16xi32> -> tile<16x16xptr<f32>>
    %17 = mmaf %result, %result_11, %cst_0_f32 : tile<16x32xf32>, tile<32x16xf32>, tile<16x16xf32>
    %18 = store_ptr_tko weak %16, %17 token=%15 : tile<16x16xptr<f32>>, tile<16x16xf32> -> token
    %19 = offset %10, %cst_512_i32 : tile<16x16xptr<f32>>, tile<16x16xi32> -> tile<16x16xptr<f32>>
    %20 = ftof %result  : tile<16x32xf32> -> tile<16x32xtf32>
    %21 = ftof %20  : tile<16x32xtf32> -> tile<16x32xf32>
    %22 = subf %result, %21  : tile<16x32xf32>
    %23 = ftof %22  : tile<16x32xf32> -> tile<16x32xtf32>
    %24 = ftof %result_11  : tile<32x16xf32> -> tile<32x16xtf32>
    %25 = ftof %24  : tile<32x16xtf32> -> tile<32x16xf32>
    %26 = subf %result_11, %25  : tile<32x16xf32>
    %27 = ftof %26  : tile<32x16xf32> -> tile<32x16xtf32>
    %28 = mmaf %20, %27, %cst_0_f32 : tile<16x32xtf32>, tile<32x16xtf32>, tile<16x16xf32>
    %29 = mmaf %23, %24, %28 : tile<16x32xtf32>, tile<32x16xtf32>, tile<16x16xf32>
    %30 = mmaf %20, %24, %29 : tile<16x32xtf32>, tile<32x16xtf32>, tile<16x16xf32>
    %31 = store_ptr_tko weak %19, %30 token=%18 : tile<16x16xptr<f32>>, tile<16x16xf32> -> token
    %32 = offset %10, %cst_768_i32 : tile<16x16xptr<f32>>, tile<16x16xi32> -> tile<16x16xptr<f32>>
    %33 = ftof %result  : tile<16x32xf32> -> tile<16x32xbf16>
    %34 = ftof %33  : tile<16x32xbf16> -> tile<16x32xf32>
    %35 = subf %result, %34  : tile<16x32xf32>
    %36 = ftof %35  : tile<16x32xf32> -> tile<16x32xbf16>
    %37 = ftof %36  : tile<16x32xbf16> -> tile<16x32xf32>
    %38 = subf %35, %37  : tile<16x32xf32>
    %39 = ftof %38  : tile<16x32xf32> -> tile<16x32xbf16>
    %40 = ftof %result_11  : tile<32x16xf32> -> tile<32x16xbf16>
    %41 = ftof %40  : tile<32x16xbf16> -> tile<32x16xf32>
    %42 = subf %result_11, %41  : tile<32x16xf32>
    %43 = ftof %42  : tile<32x16xf32> -> tile<32x16xbf16>
    %44 = ftof %43  : tile<32x16xbf16> -> tile<32x16xf32>
    %45 = subf %42, %44  : tile<32x16xf32>
    %46 = ftof %45  : tile<32x16xf32> -> tile<32x16xbf16>
    %47 = mmaf %33, %46, %cst_0_f32 : tile<16x32xbf16>, tile<32x16xbf16>, tile<16x16xf32>
    %48 = mmaf %36, %43, %47 : tile<16x32xbf16>, tile<32x16xbf16>, tile<16x16xf32>
    %49 = mmaf %39, %40, %48 : tile<16x32xbf16>, tile<32x16xbf16>, tile<16x16xf32>
    %50 = mmaf %33, %43, %49 : tile<16x32xbf16>, tile<32x16xbf16>, tile<16x16xf32>
    %51 = mmaf %36, %40, %50 : tile<16x32xbf16>, tile<32x16xbf16>, tile<16x16xf32>
    %52 = mmaf %33, %40, %51 : tile<16x32xbf16>, tile<32x16xbf16>, tile<16x16xf32>
    %53 = store_ptr_tko weak %32, %52 token=%31 : tile<16x16xptr<f32>>, tile<16x16xf32> -> token
    %54 = ftoi %result signed  saturating : tile<16x32xf32> -> tile<16x32xi8>
    %55 = ftoi %result_11 signed  saturating : tile<32x16xf32> -> tile<32x16xi8>
    %56 = mmai %54, %55, %cst_0_i32 signed signed : tile<16x32xi8>, tile<32x16xi8>, tile<16x16xi32>
    %57 = offset %10, %cst_1024_i32 : tile<16x16xptr<f32>>, tile<16x16xi32> -> tile<16x16xptr<f32>>
    %58 = itof %56 signed  : tile<16x16xi32> -> tile<16x16xf32>
    %59 = store_ptr_tko weak %57, %58 token=%53 : tile<16x16xptr<f32>>, tile<16x16xf32> -> token
    %60 = ftof %result  : tile<16x32xf32> -> tile<16x32xf8E4M3FN>
    %61 = ftof %result_11  : tile<32x16xf32> -> tile<32x16xf8E5M2>
    %62 = ftof %60  : tile<16x32xf8E4M3FN> -> tile<16x32xf16>
    %63 = ftof %61  : tile<32x16xf8E5M2> -> tile<32x16xf16>
    %64 = mmaf %62, %63, %cst_0_f32 fast_acc : tile<16x32xf16>, tile<32x16xf16>, tile<16x16xf32>
    %65 = offset %10, %cst_1280_i32 : tile<16x16xptr<f32>>, tile<16x16xi32> -> tile<16x16xptr<f32>>
    %66 = store_ptr_tko weak %65, %64 token=%59 : tile<16x16xptr<f32>>, tile<16x16xf32> -> token
    return
  }
}
