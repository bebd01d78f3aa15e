cuda_tile.module @triton attributes {producer = "triton"} {
  entry @block_pointers(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>, %arg2: tile<i32>, %arg3: tile<i32>) {
    %assume = assume div_by<16>, %arg0 : tile<ptr<f32>>
    %cst_0_i32 = constant <i32: 0> : tile<i32>
    %cst_8_i32 = constant <i32: 8> : tile<i32>
    %cst_1_i64 = constant <i64: 1> : tile<i64>
    %cst_0_f32 = constant <f32: 0.000000e+00> : tile<8x8xf32>
    %0 = exti %arg2 signed : tile<i32> -> tile<i64>
    %1 = exti %arg3 signed : tile<i32> -> tile<i64>
    %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
    %2 = muli %blockId_x, %cst_8_i32 : tile<i32>
    %3 = make_token : token
    %for:16 = for %loopIdx in (%cst_0_i32 to %arg3, step %cst_8_i32) : tile<i32> iter_values(%iterArg0 = %cst_0_f32, %iterArg1 = %assume, %iterArg2 = %0, %iterArg3 = %1, %iterArg4 = %1, %iterArg5 = %cst_1_i64, %iterArg6 = %2, %iterArg7 = %cst_0_i32, %iterArg8 = %arg1, %iterArg9 = %1, %iterArg10 = %0, %iterArg11 = %cst_1_i64, %iterArg12 = %1, %iterArg13 = %cst_0_i32, %iterArg14 = %2, %iterArg15 = %3) -> (tile<8x8xf32>, tile<ptr<f32>>, tile<i64>, tile<i64>, tile<i64>, tile<i64>, tile<i32>, tile<i32>, tile<ptr<f32>>, tile<i64>, tile<i64>, tile<i64>, tile<i64>, tile<i32>, tile<i32>, token) {
      %reshape = reshape %iterArg1 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
      %bcast = broadcast %reshape : tile<1x1xptr<f32>> -> tile<8x8xptr<f32>>
      %10 = exti %iterArg6 signed : tile<i32> -> tile<i64>
      %11 = iota : tile<8xi64>
      %reshape_4 = reshape %10 : tile<i64> -> tile<1xi64>
      %bcast_5 = broadcast %reshape_4 : tile<1xi64> -> tile<8xi64>
      %12 = addi %bcast_5, %11 : tile<8xi64>
      %reshape_6 = reshape %12 : tile<8xi64> -> tile<8x1xi64>
      %reshape_7 = reshape %iterArg2 : tile<i64> -> tile<1x1xi64>
      %bcast_8 = broadcast %reshape_7 : tile<1x1xi64> -> tile<8x1xi64>
      %13 = cmpi less_than %reshape_6, %bcast_8, signed : tile<8x1xi64> -> tile<8x1xi1>
      %cst_0_i64 = constant <i64: 0> : tile<8x1xi64>
      %14 = cmpi greater_than_or_equal %reshape_6, %cst_0_i64, signed : tile<8x1xi64> -> tile<8x1xi1>
      %15 = andi %14, %13 : tile<8x1xi1>
      %bcast_9 = broadcast %15 : tile<8x1xi1> -> tile<8x8xi1>
      %reshape_10 = reshape %iterArg4 : tile<i64> -> tile<1x1xi64>
      %bcast_11 = broadcast %reshape_10 : tile<1x1xi64> -> tile<8x1xi64>
      %16 = muli %reshape_6, %bcast_11 : tile<8x1xi64>
      %bcast_12 = broadcast %16 : tile<8x1xi64> -> tile<8x8xi64>
      %17 = offset %bcast, %bcast_12 : tile<8x8xptr<f32>>, tile<8x8xi64> -> tile<8x8xptr<f32>>
      %18 = exti %iterArg7 signed : tile<i32> -> tile<i64>
      %19 = iota : tile<8xi64>
      %reshape_13 = reshape %18 : tile<i64> -> tile<1xi64>
      %bcast_14 = broadcast %reshape_13 : tile<1xi64> -> tile<8xi64>
      %20 = addi %bcast_14, %19 : tile<8xi64>
      %reshape_15 = reshape %20 : tile<8xi64> -> tile<1x8xi64>
      %reshape_16 = reshape %iterArg3 : tile<i64> -> tile<1x1xi64>
      %bcast_17 = broadcast %reshape_16 : tile<1x1xi64> -> tile<1x8xi64>
      %21 = cmpi less_than %reshape_15, %bcast_17, signed : tile<1x8xi64> -> tile<1x8xi1>
      %cst_0_i64_18 = constant <i64: 0> : tile<1x8xi64>
      %22 = cmpi greater_than_or_equal %reshape_15, %cst_0_i64_18, signed : tile<1x8xi64> -> tile<1x8xi1>
      %23 = andi %22, %21 : tile<1x8xi1>
      %bcast_19 = broadcast %23 : tile<1x8xi1> -> tile<8x8xi1>
      %reshape_20 = reshape %iterArg5 : tile<i64> -> tile<1x1xi64>
      %bcast_21 = broadcast %reshape_20 : tile<1x1xi64> -> tile<1x8xi64>
      %24 = muli %reshape_15, %bcast_21 : tile<1x8xi64>
      %bcast_22 = broadcast %24 : tile<1x8xi64> -> tile<8x8xi64>
      %25 = offset %17, %bcast_22 : tile<8x8xptr<f32>>, tile<8x8xi64> -> tile<8x8xptr<f32>>
      %26 = andi %bcast_9, %bcast_19 : tile<8x8xi1>
      %cst_0_f32_23 = constant <f32: 0.000000e+00> : tile<8x8xf32>
      %result, %result_token_24 = load_ptr_tko weak %25, %26, %cst_0_f32_23 token=%iterArg15 : tile<8x8xptr<f32>>, tile<8x8xi1>, tile<8x8xf32> -> tile<8x8xf32>, token
      %27 = mmaf %result, %result, %iterArg0 : tile<8x8xf32>, tile<8x8xf32>, tile<8x8xf32>
      %28 = permute %result [1, 0] : tile<8x8xf32> -> tile<8x8xf32>
      %reshape_25 = reshape %iterArg8 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
      %bcast_26 = broadcast %reshape_25 : tile<1x1xptr<f32>> -> tile<8x8xptr<f32>>
      %29 = exti %iterArg13 signed : tile<i32> -> tile<i64>
      %30 = iota : tile<8xi64>
      %reshape_27 = reshape %29 : tile<i64> -> tile<1xi64>
      %bcast_28 = broadcast %reshape_27 : tile<1xi64> -> tile<8xi64>
      %31 = addi %bcast_28, %30 : tile<8xi64>
      %reshape_29 = reshape %31 : tile<8xi64> -> tile<8x1xi64>
      %reshape_30 = reshape %iterArg9 : tile<i64> -> tile<1x1xi64>
      %bcast_31 = broadcast %reshape_30 : tile<1x1xi64> -> tile<8x1xi64>
      %32 = cmpi less_than %reshape_29, %bcast_31, signed : tile<8x1xi64> -> tile<8x1xi1>
      %cst_0_i64_32 = constant <i64: 0> : tile<8x1xi64>
      %33 = cmpi greater_than_or_equal %reshape_29, %cst_0_i64_32, signed : tile<8x1xi64> -> tile<8x1xi1>
      %34 = andi %33, %32 : tile<8x1xi1>
      %bcast_33 = broadcast %34 : tile<8x1xi1> -> tile<8x8xi1>
      %reshape_34 = reshape %iterArg11 : tile<i64> -> tile<1x1xi64>
      %bcast_35 = broadcast %reshape_34 : tile<1x1xi64> -> tile<8x1xi64>
      %35 = muli %reshape_29, %bcast_35 : tile<8x1xi64>
      %bcast_36 = broadcast %35 : tile<8x1xi64> -> tile<8x8xi64>
      %36 = offset %bcast_26, %bcast_36 : tile<8x8xptr<f32>>, tile<8x8xi64> -> tile<8x8xptr<f32>>
      %37 = exti %iterArg14 signed : tile<i32> -> tile<i64>
      %38 = iota : tile<8xi64>
      %reshape_37 = reshape %37 : tile<i64> -> tile<1xi64>
      %bcast_38 = broadcast %reshape_37 : tile<1xi64> -> tile<8xi64>
      %39 = addi %bcast_38, %38 : tile<8xi64>
      %reshape_39 = reshape %39 : tile<8xi64> -> tile<1x8xi64>
      %reshape_40 = reshape %iterArg10 : tile<i64> -> tile<1x1xi64>
      %bcast_41 = broadcast %reshape_40 : tile<1x1xi64> -> tile<1x8xi64>
      %40 = cmpi less_than %reshape_39, %bcast_41, signed : tile<1x8xi64> -> tile<1x8xi1>
      %cst_0_i64_42 = constant <i64: 0> : tile<1x8xi64>
      %41 = cmpi greater_than_or_equal %reshape_39, %cst_0_i64_42, signed : tile<1x8xi64> -> tile<1x8xi1>
      %42 = andi %41, %40 : tile<1x8xi1>
      %bcast_43 = broadcast %42 : tile<1x8xi1> -> tile<8x8xi1>
      %reshape_44 = reshape %iterArg12 : tile<i64> -> tile<1x1xi64>
      %bcast_45 = broadcast %reshape_44 : tile<1x1xi64> -> tile<1x8xi64>
      %43 = muli %reshape_39, %bcast_45 : tile<1x8xi64>
      %bcast_46 = broadcast %43 : tile<1x8xi64> -> tile<8x8xi64>
      %44 = offset %36, %bcast_46 : tile<8x8xptr<f32>>, tile<8x8xi64> -> tile<8x8xptr<f32>>
      %45 = andi %bcast_33, %bcast_43 : tile<8x8xi1>
      %46 = store_ptr_tko weak %44, %28, %45 token=%result_token_24 : tile<8x8xptr<f32>>, tile<8x8xf32>, tile<8x8xi1> -> token
      %47 = addi %iterArg6, %cst_0_i32 : tile<i32>
      %48 = addi %iterArg7, %cst_8_i32 : tile<i32>
      %49 = addi %iterArg13, %cst_8_i32 : tile<i32>
      %50 = addi %iterArg14, %cst_0_i32 : tile<i32>
      continue %27, %iterArg1, %iterArg2, %iterArg3, %iterArg4, %iterArg5, %47, %48, %iterArg8, %iterArg9, %iterArg10, %iterArg11, %iterArg12, %49, %50, %46 : tile<8x8xf32>, tile<ptr<f32>>, tile<i64>, tile<i64>, tile<i64>, tile<i64>, tile<i32>, tile<i32>, tile<ptr<f32>>, tile<i64>, tile<i64>, tile<i64>, tile<i64>, tile<i32>, tile<i32>, token
    }
    %4 = exti %arg2 signed : tile<i32> -> tile<i64>
    %5 = exti %arg3 signed : tile<i32> -> tile<i64>
    %tview = make_tensor_view %arg1, shape = [%4, %5], strides = [%1, 1] : tile<i64> -> tensor_view<?x?xf32, strides=[?,1]>
    %cst_0_i32_0 = constant <i32: 0> : tile<i32>
    %pview = make_partition_view %tview : partition_view<tile=(8x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile, %result_token = load_view_tko weak %pview[%blockId_x, %cst_0_i32_0] token = %for#15 : partition_view<tile=(8x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<8x8xf32>, token
    %6 = addf %tile, %for#0  : tile<8x8xf32>
    %7 = exti %arg2 signed : tile<i32> -> tile<i64>
    %8 = exti %arg3 signed : tile<i32> -> tile<i64>
    %tview_1 = make_tensor_view %arg1, shape = [%7, %8], strides = [%1, 1] : tile<i64> -> tensor_view<?x?xf32, strides=[?,1]>
    %cst_0_i32_2 = constant <i32: 0> : tile<i32>
    %pview_3 = make_partition_view %tview_1 : partition_view<tile=(8x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %9 = store_view_tko weak %6, %pview_3[%blockId_x, %cst_0_i32_2] token = %result_token : tile<8x8xf32>, partition_view<tile=(8x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
    return
  }
}
