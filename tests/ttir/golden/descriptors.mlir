cuda_tile.module @triton attributes {producer = "triton"} {
  entry @descriptors(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<i32>, %arg3: tile<i64>, %arg4: tile<i64>, %arg5: tile<ptr<f32>>, %arg6: tile<i32>, %arg7: tile<i32>) {
    %cst_0_f32 = constant <f32: 0.000000e+00> : tile<8x16xf32>
    %cst_0_i32 = constant <i32: 0> : tile<i32>
    %cst_5_i32 = constant <i32: 5> : tile<i32>
    %cst_3_i32 = constant <i32: 3> : tile<i32>
    %cst_2_f32 = constant <f32: 2.000000e+00> : tile<8x16xf32>
    %cst_16_i32 = constant <i32: 16> : tile<i32>
    %cst_8_i32 = constant <i32: 8> : tile<i32>
    %cst_1_i64 = constant <i64: 1> : tile<i64>
    %0 = exti %arg7 signed : tile<i32> -> tile<i64>
    %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
    %1 = muli %blockId_x, %cst_8_i32 : tile<i32>
    %blockId_x_0, %blockId_y_1, %blockId_z_2 = get_tile_block_id : tile<i32>
    %2 = muli %blockId_y_1, %cst_16_i32 : tile<i32>
    %3 = exti %arg1 signed : tile<i32> -> tile<i64>
    %4 = exti %arg2 signed : tile<i32> -> tile<i64>
    %tview = make_tensor_view %arg0, shape = [%3, %4], strides = [%arg3, 1] : tile<i64> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview = make_partition_view %tview : partition_view<tile=(8x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile, %result_token = load_view_tko weak %pview[%blockId_x, %blockId_y_1] : partition_view<tile=(8x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<8x16xf32>, token
    %5 = mulf %tile, %cst_2_f32  : tile<8x16xf32>
    %6 = exti %arg6 signed : tile<i32> -> tile<i64>
    %7 = exti %arg7 signed : tile<i32> -> tile<i64>
    %tview_3 = make_tensor_view %arg5, shape = [%6, %7], strides = [%0, 1] : tile<i64> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview_4 = make_partition_view %tview_3 : partition_view<tile=(8x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %8 = store_view_tko weak %5, %pview_4[%blockId_x, %blockId_y_1] token = %result_token : tile<8x16xf32>, partition_view<tile=(8x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
    %9 = make_token : token
    %for:2 = for %loopIdx in (%cst_0_i32 to %arg7, step %cst_16_i32) : tile<i32> iter_values(%iterArg0 = %cst_0_f32, %iterArg1 = %9) -> (tile<8x16xf32>, token) {
      %reshape_53 = reshape %arg0 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
      %bcast_54 = broadcast %reshape_53 : tile<1x1xptr<f32>> -> tile<8x16xptr<f32>>
      %55 = exti %1 signed : tile<i32> -> tile<i64>
      %56 = iota : tile<8xi64>
      %reshape_55 = reshape %55 : tile<i64> -> tile<1xi64>
      %bcast_56 = broadcast %reshape_55 : tile<1xi64> -> tile<8xi64>
      %57 = addi %bcast_56, %56 : tile<8xi64>
      %reshape_57 = reshape %57 : tile<8xi64> -> tile<8x1xi64>
      %58 = exti %arg1 signed : tile<i32> -> tile<i64>
      %reshape_58 = reshape %58 : tile<i64> -> tile<1x1xi64>
      %bcast_59 = broadcast %reshape_58 : tile<1x1xi64> -> tile<8x1xi64>
      %59 = cmpi less_than %reshape_57, %bcast_59, signed : tile<8x1xi64> -> tile<8x1xi1>
      %cst_0_i64_60 = constant <i64: 0> : tile<8x1xi64>
      %60 = cmpi greater_than_or_equal %reshape_57, %cst_0_i64_60, signed : tile<8x1xi64> -> tile<8x1xi1>
      %61 = andi %60, %59 : tile<8x1xi1>
      %bcast_61 = broadcast %61 : tile<8x1xi1> -> tile<8x16xi1>
      %reshape_62 = reshape %arg3 : tile<i64> -> tile<1x1xi64>
      %bcast_63 = broadcast %reshape_62 : tile<1x1xi64> -> tile<8x1xi64>
      %62 = muli %reshape_57, %bcast_63 : tile<8x1xi64>
      %bcast_64 = broadcast %62 : tile<8x1xi64> -> tile<8x16xi64>
      %63 = offset %bcast_54, %bcast_64 : tile<8x16xptr<f32>>, tile<8x16xi64> -> tile<8x16xptr<f32>>
      %64 = exti %loopIdx signed : tile<i32> -> tile<i64>
      %65 = iota : tile<16xi64>
      %reshape_65 = reshape %64 : tile<i64> -> tile<1xi64>
      %bcast_66 = broadcast %reshape_65 : tile<1xi64> -> tile<16xi64>
      %66 = addi %bcast_66, %65 : tile<16xi64>
      %reshape_67 = reshape %66 : tile<16xi64> -> tile<1x16xi64>
      %67 = exti %arg2 signed : tile<i32> -> tile<i64>
      %reshape_68 = reshape %67 : tile<i64> -> tile<1x1xi64>
      %bcast_69 = broadcast %reshape_68 : tile<1x1xi64> -> tile<1x16xi64>
      %68 = cmpi less_than %reshape_67, %bcast_69, signed : tile<1x16xi64> -> tile<1x16xi1>
      %cst_0_i64_70 = constant <i64: 0> : tile<1x16xi64>
      %69 = cmpi greater_than_or_equal %reshape_67, %cst_0_i64_70, signed : tile<1x16xi64> -> tile<1x16xi1>
      %70 = andi %69, %68 : tile<1x16xi1>
      %bcast_71 = broadcast %70 : tile<1x16xi1> -> tile<8x16xi1>
      %reshape_72 = reshape %arg4 : tile<i64> -> tile<1x1xi64>
      %bcast_73 = broadcast %reshape_72 : tile<1x1xi64> -> tile<1x16xi64>
      %71 = muli %reshape_67, %bcast_73 : tile<1x16xi64>
      %bcast_74 = broadcast %71 : tile<1x16xi64> -> tile<8x16xi64>
      %72 = offset %63, %bcast_74 : tile<8x16xptr<f32>>, tile<8x16xi64> -> tile<8x16xptr<f32>>
      %73 = andi %bcast_61, %bcast_71 : tile<8x16xi1>
      %cst_0_f32_75 = constant <f32: 0.000000e+00> : tile<8x16xf32>
      %result_76, %result_token_77 = load_ptr_tko weak %72, %73, %cst_0_f32_75 token=%8 : tile<8x16xptr<f32>>, tile<8x16xi1>, tile<8x16xf32> -> tile<8x16xf32>, token
      %74 = addf %iterArg0, %result_76  : tile<8x16xf32>
      %75 = join_tokens %iterArg1, %result_token_77 : token
      continue %74, %75 : tile<8x16xf32>, token
    }
    %10 = exti %arg1 signed : tile<i32> -> tile<i64>
    %11 = exti %arg2 signed : tile<i32> -> tile<i64>
    %tview_5 = make_tensor_view %arg0, shape = [%10, %11], strides = [%arg3, 1] : tile<i64> -> tensor_view<?x?xf32, strides=[?,1]>
    %sview = make_strided_view %tview_5 : strided_view<tile=(8x16), traversal_strides=[1,1], padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile_6, %result_token_7 = load_view_tko weak %sview[%1, %cst_3_i32] token = %8 : strided_view<tile=(8x16), traversal_strides=[1,1], padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<8x16xf32>, token
    %12 = subi %1, %cst_5_i32 : tile<i32>
    %13 = subi %2, %cst_5_i32 : tile<i32>
    %reshape = reshape %arg0 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %bcast = broadcast %reshape : tile<1x1xptr<f32>> -> tile<8x16xptr<f32>>
    %14 = exti %12 signed : tile<i32> -> tile<i64>
    %15 = iota : tile<8xi64>
    %reshape_8 = reshape %14 : tile<i64> -> tile<1xi64>
    %bcast_9 = broadcast %reshape_8 : tile<1xi64> -> tile<8xi64>
    %16 = addi %bcast_9, %15 : tile<8xi64>
    %reshape_10 = reshape %16 : tile<8xi64> -> tile<8x1xi64>
    %17 = exti %arg1 signed : tile<i32> -> tile<i64>
    %reshape_11 = reshape %17 : tile<i64> -> tile<1x1xi64>
    %bcast_12 = broadcast %reshape_11 : tile<1x1xi64> -> tile<8x1xi64>
    %18 = cmpi less_than %reshape_10, %bcast_12, signed : tile<8x1xi64> -> tile<8x1xi1>
    %cst_0_i64 = constant <i64: 0> : tile<8x1xi64>
    %19 = cmpi greater_than_or_equal %reshape_10, %cst_0_i64, signed : tile<8x1xi64> -> tile<8x1xi1>
    %20 = andi %19, %18 : tile<8x1xi1>
    %bcast_13 = broadcast %20 : tile<8x1xi1> -> tile<8x16xi1>
    %reshape_14 = reshape %arg3 : tile<i64> -> tile<1x1xi64>
    %bcast_15 = broadcast %reshape_14 : tile<1x1xi64> -> tile<8x1xi64>
    %21 = muli %reshape_10, %bcast_15 : tile<8x1xi64>
    %bcast_16 = broadcast %21 : tile<8x1xi64> -> tile<8x16xi64>
    %22 = offset %bcast, %bcast_16 : tile<8x16xptr<f32>>, tile<8x16xi64> -> tile<8x16xptr<f32>>
    %23 = exti %13 signed : tile<i32> -> tile<i64>
    %24 = iota : tile<16xi64>
    %reshape_17 = reshape %23 : tile<i64> -> tile<1xi64>
    %bcast_18 = broadcast %reshape_17 : tile<1xi64> -> tile<16xi64>
    %25 = addi %bcast_18, %24 : tile<16xi64>
    %reshape_19 = reshape %25 : tile<16xi64> -> tile<1x16xi64>
    %26 = exti %arg2 signed : tile<i32> -> tile<i64>
    %reshape_20 = reshape %26 : tile<i64> -> tile<1x1xi64>
    %bcast_21 = broadcast %reshape_20 : tile<1x1xi64> -> tile<1x16xi64>
    %27 = cmpi less_than %reshape_19, %bcast_21, signed : tile<1x16xi64> -> tile<1x16xi1>
    %cst_0_i64_22 = constant <i64: 0> : tile<1x16xi64>
    %28 = cmpi greater_than_or_equal %reshape_19, %cst_0_i64_22, signed : tile<1x16xi64> -> tile<1x16xi1>
    %29 = andi %28, %27 : tile<1x16xi1>
    %bcast_23 = broadcast %29 : tile<1x16xi1> -> tile<8x16xi1>
    %reshape_24 = reshape %arg4 : tile<i64> -> tile<1x1xi64>
    %bcast_25 = broadcast %reshape_24 : tile<1x1xi64> -> tile<1x16xi64>
    %30 = muli %reshape_19, %bcast_25 : tile<1x16xi64>
    %bcast_26 = broadcast %30 : tile<1x16xi64> -> tile<8x16xi64>
    %31 = offset %22, %bcast_26 : tile<8x16xptr<f32>>, tile<8x16xi64> -> tile<8x16xptr<f32>>
    %32 = andi %bcast_13, %bcast_23 : tile<8x16xi1>
    %cst_0_f32_27 = constant <f32: 0.000000e+00> : tile<8x16xf32>
    %result, %result_token_28 = load_ptr_tko weak %31, %32, %cst_0_f32_27 token=%8 : tile<8x16xptr<f32>>, tile<8x16xi1>, tile<8x16xf32> -> tile<8x16xf32>, token
    %33 = addf %tile_6, %result  : tile<8x16xf32>
    %34 = addf %for#0, %33  : tile<8x16xf32>
    %reshape_29 = reshape %arg5 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %bcast_30 = broadcast %reshape_29 : tile<1x1xptr<f32>> -> tile<8x16xptr<f32>>
    %35 = exti %1 signed : tile<i32> -> tile<i64>
    %36 = iota : tile<8xi64>
    %reshape_31 = reshape %35 : tile<i64> -> tile<1xi64>
    %bcast_32 = broadcast %reshape_31 : tile<1xi64> -> tile<8xi64>
    %37 = addi %bcast_32, %36 : tile<8xi64>
    %reshape_33 = reshape %37 : tile<8xi64> -> tile<8x1xi64>
    %38 = exti %arg6 signed : tile<i32> -> tile<i64>
    %reshape_34 = reshape %38 : tile<i64> -> tile<1x1xi64>
    %bcast_35 = broadcast %reshape_34 : tile<1x1xi64> -> tile<8x1xi64>
    %39 = cmpi less_than %reshape_33, %bcast_35, signed : tile<8x1xi64> -> tile<8x1xi1>
    %cst_0_i64_36 = constant <i64: 0> : tile<8x1xi64>
    %40 = cmpi greater_than_or_equal %reshape_33, %cst_0_i64_36, signed : tile<8x1xi64> -> tile<8x1xi1>
    %41 = andi %40, %39 : tile<8x1xi1>
    %bcast_37 = broadcast %41 : tile<8x1xi1> -> tile<8x16xi1>
    %reshape_38 = reshape %0 : tile<i64> -> tile<1x1xi64>
    %bcast_39 = broadcast %reshape_38 : tile<1x1xi64> -> tile<8x1xi64>
    %42 = muli %reshape_33, %bcast_39 : tile<8x1xi64>
    %bcast_40 = broadcast %42 : tile<8x1xi64> -> tile<8x16xi64>
    %43 = offset %bcast_30, %bcast_40 : tile<8x16xptr<f32>>, tile<8x16xi64> -> tile<8x16xptr<f32>>
    %44 = exti %2 signed : tile<i32> -> tile<i64>
    %45 = iota : tile<16xi64>
    %reshape_41 = reshape %44 : tile<i64> -> tile<1xi64>
    %bcast_42 = broadcast %reshape_41 : tile<1xi64> -> tile<16xi64>
    %46 = addi %bcast_42, %45 : tile<16xi64>
    %reshape_43 = reshape %46 : tile<16xi64> -> tile<1x16xi64>
    %47 = exti %arg7 signed : tile<i32> -> tile<i64>
    %reshape_44 = reshape %47 : tile<i64> -> tile<1x1xi64>
    %bcast_45 = broadcast %reshape_44 : tile<1x1xi64> -> tile<1x16xi64>
    %48 = cmpi less_than %reshape_43, %bcast_45, signed : tile<1x16xi64> -> tile<1x16xi1>
    %cst_0_i64_46 = constant <i64: 0> : tile<1x16xi64>
    %49 = cmpi greater_than_or_equal %reshape_43, %cst_0_i64_46, signed : tile<1x16xi64> -> tile<1x16xi1>
    %50 = andi %49, %48 : tile<1x16xi1>
    %bcast_47 = broadcast %50 : tile<1x16xi1> -> tile<8x16xi1>
    %reshape_48 = reshape %cst_1_i64 : tile<i64> -> tile<1x1xi64>
    %bcast_49 = broadcast %reshape_48 : tile<1x1xi64> -> tile<1x16xi64>
    %51 = muli %reshape_43, %bcast_49 : tile<1x16xi64>
    %bcast_50 = broadcast %51 : tile<1x16xi64> -> tile<8x16xi64>
    %52 = offset %43, %bcast_50 : tile<8x16xptr<f32>>, tile<8x16xi64> -> tile<8x16xptr<f32>>
    %53 = andi %bcast_37, %bcast_47 : tile<8x16xi1>
    %54 = join_tokens %for#1, %result_token_7, %result_token_28 : token
    %result_51, %result_token_52 = atomic_rmw_tko relaxed device %52, addf, %34, %53 token=%54 : tile<8x16xptr<f32>>, tile<8x16xf32>, tile<8x16xi1> -> tile<8x16xf32>, token
    return
  }
}
