cuda_tile.module @triton {
  entry @reductions(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>, %arg2: tile<ptr<f32>>, %arg3: tile<ptr<i32>>) {
    %cst_280_i32 = constant <i32: 280> : tile<i32>
    %cst_24_i32 = constant <i32: 24> : tile<i32>
    %cst_16_i32 = constant <i32: 16> : tile<i32>
    %cst_8_i32 = constant <i32: 8> : tile<i32>
    %cst_32_i32 = constant <i32: 32> : tile<8x1xi32>
    %0 = iota : tile<8xi32>
    %1 = iota : tile<32xi32>
    %reshape = reshape %0 : tile<8xi32> -> tile<8x1xi32>
    %2 = muli %reshape, %cst_32_i32 : tile<8x1xi32>
    %reshape_0 = reshape %1 : tile<32xi32> -> tile<1x32xi32>
    %bcast = broadcast %2 : tile<8x1xi32> -> tile<8x32xi32>
    %bcast_1 = broadcast %reshape_0 : tile<1x32xi32> -> tile<8x32xi32>
    %3 = addi %bcast, %bcast_1 : tile<8x32xi32>
    %reshape_2 = reshape %arg0 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %bcast_3 = broadcast %reshape_2 : tile<1x1xptr<f32>> -> tile<8x32xptr<f32>>
    %4 = offset %bcast_3, %3 : tile<8x32xptr<f32>>, tile<8x32xi32> -> tile<8x32xptr<f32>>
    %result, %result_token = load_ptr_tko weak %4 : tile<8x32xptr<f32>> -> tile<8x32xf32>, token
    %reshape_4 = reshape %arg1 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %bcast_5 = broadcast %reshape_4 : tile<1x1xptr<f32>> -> tile<8x32xptr<f32>>
    %5 = offset %bcast_5, %3 : tile<8x32xptr<f32>>, tile<8x32xi32> -> tile<8x32xptr<f32>>
    %result_6, %result_token_7 = load_ptr_tko weak %5 : tile<8x32xptr<f32>> -> tile<8x32xf32>, token
    %reshape_8 = reshape %arg2 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_9 = broadcast %reshape_8 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %6 = offset %bcast_9, %0 : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %reduce = reduce %result dim=1 identities=[0.000000e+00 : f32] : tile<8x32xf32> -> tile<8xf32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %34 = addf %reduce_lhs, %reduce_rhs  : tile<f32>
      yield %34 : tile<f32>
    }
    %7 = join_tokens %result_token, %result_token_7 : token
    %8 = store_ptr_tko weak %6, %reduce token=%7 : tile<8xptr<f32>>, tile<8xf32> -> token
    %9 = offset %arg2, %cst_8_i32 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %reshape_10 = reshape %9 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_11 = broadcast %reshape_10 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %10 = offset %bcast_11, %0 : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %reduce_12 = reduce %result dim=1 identities=[1.000000e+00 : f32] : tile<8x32xf32> -> tile<8xf32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %34 = mulf %reduce_lhs, %reduce_rhs  : tile<f32>
      yield %34 : tile<f32>
    }
    %11 = store_ptr_tko weak %10, %reduce_12 token=%8 : tile<8xptr<f32>>, tile<8xf32> -> token
    %reduce_13:2 = reduce %result, %bcast_1 dim=1 identities=[0xFF800000 : f32, 2147483647 : i32] : tile<8x32xf32>, tile<8x32xi32> -> tile<8xf32>, tile<8xi32> 
    (%reduce_lhs0: tile<f32>, %reduce_rhs0: tile<f32>, %reduce_lhs1: tile<i32>, %reduce_rhs1: tile<i32>) {
      %34 = cmpf equal ordered %reduce_lhs0, %reduce_rhs0 : tile<f32> -> tile<i1>
      %35 = cmpi less_than %reduce_lhs1, %reduce_rhs1, signed : tile<i32> -> tile<i1>
      %36 = andi %34, %35 : tile<i1>
      %37 = cmpf greater_than ordered %reduce_lhs0, %reduce_rhs0 : tile<f32> -> tile<i1>
      %38 = ori %37, %36 : tile<i1>
      %39 = select %38, %reduce_lhs0, %reduce_rhs0 : tile<i1>, tile<f32>
      %40 = select %38, %reduce_lhs1, %reduce_rhs1 : tile<i1>, tile<i32>
      yield %39, %40 : tile<f32>, tile<i32>
    }
    %12 = offset %arg2, %cst_16_i32 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %reshape_14 = reshape %12 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_15 = broadcast %reshape_14 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %13 = offset %bcast_15, %0 : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %14 = store_ptr_tko weak %13, %reduce_13#0 token=%11 : tile<8xptr<f32>>, tile<8xf32> -> token
    %reshape_16 = reshape %arg3 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_17 = broadcast %reshape_16 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %15 = offset %bcast_17, %0 : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %16 = store_ptr_tko weak %15, %reduce_13#1 token=%14 : tile<8xptr<i32>>, tile<8xi32> -> token
    %17 = offset %arg3, %cst_8_i32 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %reshape_18 = reshape %17 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_19 = broadcast %reshape_18 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %18 = offset %bcast_19, %0 : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %reduce_20:2 = reduce %result, %bcast_1 dim=1 identities=[0x7F800000 : f32, 2147483647 : i32] : tile<8x32xf32>, tile<8x32xi32> -> tile<8xf32>, tile<8xi32> 
    (%reduce_lhs0: tile<f32>, %reduce_rhs0: tile<f32>, %reduce_lhs1: tile<i32>, %reduce_rhs1: tile<i32>) {
      %34 = cmpf equal ordered %reduce_lhs0, %reduce_rhs0 : tile<f32> -> tile<i1>
      %35 = cmpi less_than %reduce_lhs1, %reduce_rhs1, signed : tile<i32> -> tile<i1>
      %36 = andi %34, %35 : tile<i1>
      %37 = cmpf less_than ordered %reduce_lhs0, %reduce_rhs0 : tile<f32> -> tile<i1>
      %38 = ori %37, %36 : tile<i1>
      %39 = select %38, %reduce_lhs0, %reduce_rhs0 : tile<i1>, tile<f32>
      %40 = select %38, %reduce_lhs1, %reduce_rhs1 : tile<i1>, tile<i32>
      yield %39, %40 : tile<f32>, tile<i32>
    }
    %19 = store_ptr_tko weak %18, %reduce_20#1 token=%16 : tile<8xptr<i32>>, tile<8xi32> -> token
    %true = constant <i1: true> : tile<8x32xi1>
    %20:3 = scan %result, %result_6, %true dim=1 reverse=false identities=[0.000000e+00 : f32, 0.000000e+00 : f32, false] : tile<8x32xf32>, tile<8x32xf32>, tile<8x32xi1> -> tile<8x32xf32>, tile<8x32xf32>, tile<8x32xi1> 
    (%arg4: tile<f32>, %arg5: tile<f32>, %arg6: tile<f32>, %arg7: tile<f32>, %arg8: tile<i1>, %arg9: tile<i1>) {
      %34 = mulf %arg4, %arg5  : tile<f32>
      %35 = mulf %arg6, %arg5  : tile<f32>
      %36 = addf %35, %arg7  : tile<f32>
      %37 = select %arg9, %34, %arg4 : tile<i1>, tile<f32>
      %38 = select %arg8, %37, %arg5 : tile<i1>, tile<f32>
      %39 = select %arg9, %36, %arg6 : tile<i1>, tile<f32>
      %40 = select %arg8, %39, %arg7 : tile<i1>, tile<f32>
      %41 = ori %arg8, %arg9 : tile<i1>
      yield %38, %40, %41 : tile<f32>, tile<f32>, tile<i1>
    }
    %21 = offset %arg2, %cst_24_i32 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %reshape_21 = reshape %21 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %bcast_22 = broadcast %reshape_21 : tile<1x1xptr<f32>> -> tile<8x32xptr<f32>>
    %22 = offset %bcast_22, %3 : tile<8x32xptr<f32>>, tile<8x32xi32> -> tile<8x32xptr<f32>>
    %23 = addf %20#0, %20#1  : tile<8x32xf32>
    %24 = store_ptr_tko weak %22, %23 token=%19 : tile<8x32xptr<f32>>, tile<8x32xf32> -> token
    %25 = offset %arg2, %cst_280_i32 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %reshape_23 = reshape %25 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %bcast_24 = broadcast %reshape_23 : tile<1x1xptr<f32>> -> tile<8x32xptr<f32>>
    %26 = offset %bcast_24, %3 : tile<8x32xptr<f32>>, tile<8x32xi32> -> tile<8x32xptr<f32>>
    %27 = scan %result dim=1 reverse=true identities=[0.000000e+00 : f32] : tile<8x32xf32> -> tile<8x32xf32> 
    (%arg4: tile<f32>, %arg5: tile<f32>) {
      %34 = addf %arg4, %arg5  : tile<f32>
      yield %34 : tile<f32>
    }
    %28 = store_ptr_tko weak %26, %27 token=%24 : tile<8x32xptr<f32>>, tile<8x32xf32> -> token
    %29 = offset %arg3, %cst_16_i32 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %reshape_25 = reshape %29 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_26 = broadcast %reshape_25 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %30 = offset %bcast_26, %0 : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %31 = cmpf greater_than ordered %result, %result_6 : tile<8x32xf32> -> tile<8x32xi1>
    %32 = exti %31 unsigned : tile<8x32xi1> -> tile<8x32xi32>
    %reduce_27 = reduce %32 dim=1 identities=[0 : i32] : tile<8x32xi32> -> tile<8xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %34 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %34 : tile<i32>
    }
    %33 = store_ptr_tko weak %30, %reduce_27 token=%28 : tile<8xptr<i32>>, tile<8xi32> -> token
    return
  }
}
