cuda_tile.module @triton {
  entry @atomics(%arg0: tile<ptr<i32>>, %arg1: tile<ptr<f32>>, %arg2: tile<ptr<f32>>, %arg3: tile<ptr<i32>>) {
    %cst_100000_i64 = constant <i64: 100000> : tile<i64>
    %cst_6_i32 = constant <i32: 6> : tile<i32>
    %cst_5_i32 = constant <i32: 5> : tile<i32>
    %cst_0_i32 = constant <i32: 0> : tile<i32>
    %cst_31_i32 = constant <i32: 31> : tile<i32>
    %true = constant <i1: true> : tile<64xi1>
    %true_0 = constant <i1: true> : tile<i1>
    %cst_1_i32 = constant <i32: 1> : tile<64xi32>
    %cst_1_i32_1 = constant <i32: 1> : tile<i32>
    %cst_4_i32 = constant <i32: 4> : tile<64xi32>
    %cst_4_i32_2 = constant <i32: 4> : tile<i32>
    %cst_60_i32 = constant <i32: 60> : tile<64xi32>
    %cst_64_i32 = constant <i32: 64> : tile<i32>
    %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
    %0 = iota : tile<64xi32>
    %1 = muli %blockId_x, %cst_64_i32 : tile<i32>
    %2 = offset %arg2, %1 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %reshape = reshape %2 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast = broadcast %reshape : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %3 = offset %bcast, %0 : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %result, %result_token = load_ptr_tko weak %3 : tile<64xptr<f32>> -> tile<64xf32>, token
    %4 = cmpi less_than %0, %cst_60_i32, signed : tile<64xi32> -> tile<64xi1>
    %5 = remi %0, %cst_4_i32 signed : tile<64xi32>
    %reshape_3 = reshape %arg0 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_4 = broadcast %reshape_3 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %6 = offset %bcast_4, %5 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %result_5, %result_token_6 = atomic_rmw_tko relaxed device %6, add, %cst_1_i32, %4 token=%result_token : tile<64xptr<i32>>, tile<64xi32>, tile<64xi1> -> tile<64xi32>, token
    %reshape_7 = reshape %arg1 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_8 = broadcast %reshape_7 : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %7 = offset %bcast_8, %5 : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %result_9, %result_token_10 = atomic_rmw_tko acq_rel device %7, addf, %result, %true token=%result_token_6 : tile<64xptr<f32>>, tile<64xf32>, tile<64xi1> -> tile<64xf32>, token
    %8 = offset %arg1, %cst_4_i32_2 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %reduce = reduce %result dim=0 identities=[0xFF800000 : f32] : tile<64xf32> -> tile<f32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %32 = maxf %reduce_lhs, %reduce_rhs : tile<f32>
      yield %32 : tile<f32>
    }
    %9 = bitcast %reduce : tile<f32> -> tile<i32>
    %10 = ptr_to_ptr %8 : tile<ptr<f32>> -> tile<ptr<i32>>
    %11 = shri %9, %cst_31_i32 unsigned : tile<i32>
    %12 = cmpi not_equal %11, %cst_0_i32, signed : tile<i32> -> tile<i1>
    %13 = cmpi equal %11, %cst_0_i32, signed : tile<i32> -> tile<i1>
    %result_11, %result_token_12 = atomic_rmw_tko acq_rel device %10, max, %9, %13 token=%result_token_10 : tile<ptr<i32>>, tile<i32>, tile<i1> -> tile<i32>, token
    %result_13, %result_token_14 = atomic_rmw_tko acq_rel device %10, umin, %9, %12 token=%result_token_12 : tile<ptr<i32>>, tile<i32>, tile<i1> -> tile<i32>, token
    %14 = offset %arg1, %cst_5_i32 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %reduce_15 = reduce %result dim=0 identities=[0x7F800000 : f32] : tile<64xf32> -> tile<f32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %32 = minf %reduce_lhs, %reduce_rhs : tile<f32>
      yield %32 : tile<f32>
    }
    %15 = bitcast %reduce_15 : tile<f32> -> tile<i32>
    %16 = ptr_to_ptr %14 : tile<ptr<f32>> -> tile<ptr<i32>>
    %17 = shri %15, %cst_31_i32 unsigned : tile<i32>
    %18 = cmpi not_equal %17, %cst_0_i32, signed : tile<i32> -> tile<i1>
    %19 = cmpi equal %17, %cst_0_i32, signed : tile<i32> -> tile<i1>
    %result_16, %result_token_17 = atomic_rmw_tko acq_rel sys %16, min, %15, %19 token=%result_token_14 : tile<ptr<i32>>, tile<i32>, tile<i1> -> tile<i32>, token
    %result_18, %result_token_19 = atomic_rmw_tko acq_rel sys %16, umax, %15, %18 token=%result_token_17 : tile<ptr<i32>>, tile<i32>, tile<i1> -> tile<i32>, token
    %20 = offset %arg0, %cst_4_i32_2 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %21 = shli %cst_1_i32_1, %blockId_x : tile<i32>
    %result_20, %result_token_21 = atomic_rmw_tko acq_rel device %20, or, %21, %true_0 token=%result_token_19 : tile<ptr<i32>>, tile<i32>, tile<i1> -> tile<i32>, token
    %22 = loop iter_values(%arg4 = %result_token_21) : token -> token {
      %32 = offset %arg0, %cst_5_i32 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %result_28, %result_token_29 = atomic_cas_tko acquire device %32, %cst_0_i32, %cst_1_i32_1 token=%arg4 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %33 = cmpi equal %result_28, %cst_1_i32_1, signed : tile<i32> -> tile<i1>
      %true_30 = constant <i1: true> : tile<i1>
      %34 = xori %33, %true_30 : tile<i1>
      if %34 {
        break %result_token_29 : token
      }
      continue %result_token_29 : token
    }
    %23 = offset %arg0, %cst_6_i32 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %result_22, %result_token_23 = load_ptr_tko weak %23 token=%22 : tile<ptr<i32>> -> tile<i32>, token
    %24 = addi %result_22, %blockId_x : tile<i32>
    %25 = store_ptr_tko weak %23, %24 token=%result_token_23 : tile<ptr<i32>>, tile<i32> -> token
    %26 = offset %arg0, %cst_5_i32 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %result_24, %result_token_25 = atomic_rmw_tko release device %26, xchg, %cst_0_i32, %true_0 token=%25 : tile<ptr<i32>>, tile<i32>, tile<i1> -> tile<i32>, token
    %cst_0_i64 = constant <i64: 0> : tile<i64>
    %27:2 = loop iter_values(%arg4 = %result_token_25, %arg5 = %cst_0_i64) : token, tile<i64> -> tile<i1>, token {
      %result_28, %result_token_29 = load_ptr_tko acquire device %26 token=%arg4 : tile<ptr<i32>> -> tile<i32>, token
      %32 = cmpi equal %result_28, %cst_0_i32, signed : tile<i32> -> tile<i1>
      %cst_1_i64 = constant <i64: 1> : tile<i64>
      %33 = addi %arg5, %cst_1_i64 : tile<i64>
      if %32 {
        break %32, %result_token_29 : tile<i1>, token
      }
      %34 = cmpi greater_than_or_equal %33, %cst_100000_i64, unsigned : tile<i64> -> tile<i1>
      if %34 {
        break %32, %result_token_29 : tile<i1>, token
      }
      continue %result_token_29, %33 : token, tile<i64>
    }
    %28 = offset %arg3, %blockId_x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %29 = exti %27#0 unsigned : tile<i1> -> tile<i32>
    %result_26, %result_token_27 = load_ptr_tko acquire device %28, %true_0 token=%27#1 : tile<ptr<i32>>, tile<i1> -> tile<i32>, token
    %30 = addi %29, %result_26 : tile<i32>
    %31 = store_ptr_tko release device %28, %30, %true_0 token=%result_token_27 : tile<ptr<i32>>, tile<i32>, tile<i1> -> token
    return
  }
}
