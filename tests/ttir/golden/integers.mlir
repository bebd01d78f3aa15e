cuda_tile.module @triton {
  entry @integers(%arg0: tile<ptr<i32>>, %arg1: tile<ptr<i32>>, %arg2: tile<ptr<i32>>) {
    %cst_f32 = constant <f32: 5.000000e-01> : tile<64xf32>
    %cst_448_i32 = constant <i32: 448> : tile<i32>
    %cst_16_i64 = constant <i64: 16> : tile<64xi64>
    %cst_384_i32 = constant <i32: 384> : tile<i32>
    %cst_320_i32 = constant <i32: 320> : tile<i32>
    %cst_-7_i32 = constant <i32: -7> : tile<64xi32>
    %cst_7_i32 = constant <i32: 7> : tile<64xi32>
    %cst_256_i32 = constant <i32: 256> : tile<i32>
    %cst_-1_i32 = constant <i32: -1> : tile<64xi32>
    %cst_2_i32 = constant <i32: 2> : tile<64xi32>
    %cst_3_i32 = constant <i32: 3> : tile<64xi32>
    %cst_192_i32 = constant <i32: 192> : tile<i32>
    %cst_128_i32 = constant <i32: 128> : tile<i32>
    %cst_64_i32 = constant <i32: 64> : tile<i32>
    %0 = iota : tile<64xi32>
    %reshape = reshape %arg0 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast = broadcast %reshape : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %1 = offset %bcast, %0 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %result, %result_token = load_ptr_tko weak %1 : tile<64xptr<i32>> -> tile<64xi32>, token
    %reshape_0 = reshape %arg1 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_1 = broadcast %reshape_0 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %2 = offset %bcast_1, %0 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %result_2, %result_token_3 = load_ptr_tko weak %2 : tile<64xptr<i32>> -> tile<64xi32>, token
    %cst_0_i32 = constant <i32: 0> : tile<64xi32>
    %3 = cmpi equal %result_2, %cst_0_i32, signed : tile<64xi32> -> tile<64xi1>
    %cst_1_i32 = constant <i32: 1> : tile<64xi32>
    %4 = select %3, %cst_1_i32, %result_2 : tile<64xi1>, tile<64xi32>
    %5 = divi %result, %4 unsigned : tile<64xi32>
    %reshape_4 = reshape %arg2 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_5 = broadcast %reshape_4 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %6 = offset %bcast_5, %0 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %cst_0_i32_6 = constant <i32: 0> : tile<64xi32>
    %7 = cmpi equal %result_2, %cst_0_i32_6, signed : tile<64xi32> -> tile<64xi1>
    %cst_1_i32_7 = constant <i32: 1> : tile<64xi32>
    %8 = select %7, %cst_1_i32_7, %result_2 : tile<64xi1>, tile<64xi32>
    %9 = divi %result, %8 signed : tile<64xi32>
    %10 = join_tokens %result_token, %result_token_3 : token
    %11 = store_ptr_tko weak %6, %9 token=%10 : tile<64xptr<i32>>, tile<64xi32> -> token
    %12 = offset %arg2, %cst_64_i32 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %reshape_8 = reshape %12 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_9 = broadcast %reshape_8 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %13 = offset %bcast_9, %0 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %cst_0_i32_10 = constant <i32: 0> : tile<64xi32>
    %14 = cmpi equal %result_2, %cst_0_i32_10, signed : tile<64xi32> -> tile<64xi1>
    %cst_1_i32_11 = constant <i32: 1> : tile<64xi32>
    %15 = select %14, %cst_1_i32_11, %result_2 : tile<64xi1>, tile<64xi32>
    %16 = remi %result, %15 signed : tile<64xi32>
    %17 = store_ptr_tko weak %13, %16 token=%11 : tile<64xptr<i32>>, tile<64xi32> -> token
    %18 = offset %arg2, %cst_128_i32 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %reshape_12 = reshape %18 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_13 = broadcast %reshape_12 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %19 = offset %bcast_13, %0 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %20 = store_ptr_tko weak %19, %5 token=%17 : tile<64xptr<i32>>, tile<64xi32> -> token
    %21 = offset %arg2, %cst_192_i32 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %reshape_14 = reshape %21 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_15 = broadcast %reshape_14 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %22 = offset %bcast_15, %0 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %23 = shli %result, %cst_3_i32 : tile<64xi32>
    %24 = shri %result_2, %cst_2_i32 signed : tile<64xi32>
    %25 = xori %23, %24 : tile<64xi32>
    %26 = xori %result_2, %cst_-1_i32 : tile<64xi32>
    %27 = andi %result, %26 : tile<64xi32>
    %28 = ori %25, %27 : tile<64xi32>
    %29 = store_ptr_tko weak %22, %28 token=%20 : tile<64xptr<i32>>, tile<64xi32> -> token
    %30 = offset %arg2, %cst_256_i32 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %reshape_16 = reshape %30 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_17 = broadcast %reshape_16 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %31 = offset %bcast_17, %0 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %32 = cmpi less_than %result, %result_2, signed : tile<64xi32> -> tile<64xi1>
    %33 = mini %result, %cst_7_i32 signed : tile<64xi32>
    %34 = maxi %result_2, %cst_-7_i32 signed : tile<64xi32>
    %35 = select %32, %33, %34 : tile<64xi1>, tile<64xi32>
    %36 = store_ptr_tko weak %31, %35 token=%29 : tile<64xptr<i32>>, tile<64xi32> -> token
    %37 = offset %arg2, %cst_320_i32 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %reshape_18 = reshape %37 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_19 = broadcast %reshape_18 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %38 = offset %bcast_19, %0 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %39 = mulhii %result, %result_2 : tile<64xi32>
    %40 = absi %result : tile<64xi32>
    %41 = addi %39, %40 : tile<64xi32>
    %42 = store_ptr_tko weak %38, %41 token=%36 : tile<64xptr<i32>>, tile<64xi32> -> token
    %43 = offset %arg2, %cst_384_i32 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %reshape_20 = reshape %43 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_21 = broadcast %reshape_20 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %44 = offset %bcast_21, %0 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %45 = exti %result signed : tile<64xi32> -> tile<64xi64>
    %46 = exti %result_2 signed : tile<64xi32> -> tile<64xi64>
    %47 = muli %45, %46 : tile<64xi64>
    %48 = shri %47, %cst_16_i64 signed : tile<64xi64>
    %49 = trunci %48 : tile<64xi64> -> tile<64xi32>
    %50 = store_ptr_tko weak %44, %49 token=%42 : tile<64xptr<i32>>, tile<64xi32> -> token
    %51 = offset %arg2, %cst_448_i32 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %reshape_22 = reshape %51 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_23 = broadcast %reshape_22 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %52 = offset %bcast_23, %0 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %53 = itof %result signed  : tile<64xi32> -> tile<64xf32>
    %54 = mulf %53, %cst_f32  : tile<64xf32>
    %55 = ftoi %54 signed  saturating : tile<64xf32> -> tile<64xi32>
    %56 = cmpi greater_than %result, %result_2, signed : tile<64xi32> -> tile<64xi1>
    %57 = exti %56 unsigned : tile<64xi1> -> tile<64xi32>
    %58 = addi %55, %57 : tile<64xi32>
    %59 = store_ptr_tko weak %52, %58 token=%50 : tile<64xptr<i32>>, tile<64xi32> -> token
    return
  }
}
