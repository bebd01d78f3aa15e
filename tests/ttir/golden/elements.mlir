cuda_tile.module @triton {
  entry @elements(%arg0: tile<ptr<i32>>, %arg1: tile<ptr<i32>>, %arg2: tile<ptr<i32>>) {
    %cst_0_i32 = constant <i32: 0> : tile<i32>
    %cst_1_i32 = constant <i32: 1> : tile<i32>
    %cst_2_i32 = constant <i32: 2> : tile<i32>
    %cst_3_i32 = constant <i32: 3> : tile<i32>
    %cst_32_i32 = constant <i32: 32> : tile<i32>
    %cst_16_i32 = constant <i32: 16> : tile<i32>
    %0 = iota : tile<16xi32>
    %reshape = reshape %arg0 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast = broadcast %reshape : tile<1xptr<i32>> -> tile<16xptr<i32>>
    %1 = offset %bcast, %0 : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
    %result, %result_token = load_ptr_tko weak %1 : tile<16xptr<i32>> -> tile<16xi32>, token
    %reshape_0 = reshape %arg1 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_1 = broadcast %reshape_0 : tile<1xptr<i32>> -> tile<16xptr<i32>>
    %2 = offset %bcast_1, %0 : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
    %result_2, %result_token_3 = load_ptr_tko weak %2 : tile<16xptr<i32>> -> tile<16xi32>, token
    %reshape_4 = reshape %arg2 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_5 = broadcast %reshape_4 : tile<1xptr<i32>> -> tile<16xptr<i32>>
    %3 = offset %bcast_5, %0 : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
    %cst_0_i32_6 = constant <i32: 0> : tile<16xi32>
    %cst_0_i32_7 = constant <i32: 0> : tile<i32>
    %cst_1_i32_8 = constant <i32: 1> : tile<i32>
    %cst_16_i32_9 = constant <i32: 16> : tile<i32>
    %for = for %loopIdx in (%cst_0_i32_7 to %cst_16_i32_9, step %cst_1_i32_8) : tile<i32> iter_values(%iterArg0 = %cst_0_i32_6) -> (tile<16xi32>) {
      %13 = extract %result[%loopIdx] : tile<16xi32> -> tile<1xi32>
      %reshape_18 = reshape %13 : tile<1xi32> -> tile<i32>
      %14:2 = loop iter_values(%arg3 = %reshape_18, %arg4 = %cst_0_i32) : tile<i32>, tile<i32> -> tile<i32>, tile<i32> {
        %16 = cmpi greater_than %arg3, %cst_1_i32, signed : tile<i32> -> tile<i1>
        %true = constant <i1: true> : tile<i1>
        %17 = xori %16, %true : tile<i1>
        if %17 {
          break %arg3, %arg4 : tile<i32>, tile<i32>
        }
        %18 = remi %arg3, %cst_2_i32 signed : tile<i32>
        %19 = cmpi equal %18, %cst_0_i32, signed : tile<i32> -> tile<i1>
        %20 = if %19 -> (tile<i32>) {
          %22 = divi %arg3, %cst_2_i32 signed : tile<i32>
          yield %22 : tile<i32>
        } else {
          %22 = muli %arg3, %cst_3_i32 : tile<i32>
          %23 = addi %22, %cst_1_i32 : tile<i32>
          yield %23 : tile<i32>
        }
        %21 = addi %arg4, %cst_1_i32 : tile<i32>
        continue %20, %21 : tile<i32>, tile<i32>
      }
      %reshape_19 = reshape %14#1 : tile<i32> -> tile<1xi32>
      %15 = insert %reshape_19, %iterArg0[%loopIdx] : tile<1xi32>, tile<16xi32>
      continue %15 : tile<16xi32>
    }
    %4 = join_tokens %result_token, %result_token_3 : token
    %5 = store_ptr_tko weak %3, %for token=%4 : tile<16xptr<i32>>, tile<16xi32> -> token
    %6 = offset %arg2, %cst_16_i32 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %reshape_10 = reshape %6 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_11 = broadcast %reshape_10 : tile<1xptr<i32>> -> tile<16xptr<i32>>
    %7 = offset %bcast_11, %0 : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
    %8 = maxi %result, %result_2 signed : tile<16xi32>
    %9 = store_ptr_tko weak %7, %8 token=%5 : tile<16xptr<i32>>, tile<16xi32> -> token
    %10 = offset %arg2, %cst_32_i32 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %reshape_12 = reshape %10 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_13 = broadcast %reshape_12 : tile<1xptr<i32>> -> tile<16xptr<i32>>
    %11 = offset %bcast_13, %0 : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
    %cst_0_i32_14 = constant <i32: 0> : tile<16xi32>
    %cst_0_i32_15 = constant <i32: 0> : tile<i32>
    %cst_1_i32_16 = constant <i32: 1> : tile<i32>
    %cst_8_i32 = constant <i32: 8> : tile<i32>
    %for_17 = for %loopIdx in (%cst_0_i32_15 to %cst_8_i32, step %cst_1_i32_16) : tile<i32> iter_values(%iterArg0 = %cst_0_i32_14) -> (tile<16xi32>) {
      %cst_2_i32_18 = constant <i32: 2> : tile<i32>
      %13 = muli %loopIdx, %cst_2_i32_18 : tile<i32>
      %cst_1_i32_19 = constant <i32: 1> : tile<i32>
      %14 = addi %13, %cst_1_i32_19 : tile<i32>
      %15 = extract %result[%13] : tile<16xi32> -> tile<1xi32>
      %reshape_20 = reshape %15 : tile<1xi32> -> tile<i32>
      %16 = extract %result[%14] : tile<16xi32> -> tile<1xi32>
      %reshape_21 = reshape %16 : tile<1xi32> -> tile<i32>
      %17 = extract %result_2[%13] : tile<16xi32> -> tile<1xi32>
      %reshape_22 = reshape %17 : tile<1xi32> -> tile<i32>
      %18 = extract %result_2[%14] : tile<16xi32> -> tile<1xi32>
      %reshape_23 = reshape %18 : tile<1xi32> -> tile<i32>
      %19 = addi %reshape_20, %reshape_23 : tile<i32>
      %20 = subi %reshape_21, %reshape_22 : tile<i32>
      %reshape_24 = reshape %19 : tile<i32> -> tile<1xi32>
      %21 = insert %reshape_24, %iterArg0[%13] : tile<1xi32>, tile<16xi32>
      %reshape_25 = reshape %20 : tile<i32> -> tile<1xi32>
      %22 = insert %reshape_25, %21[%14] : tile<1xi32>, tile<16xi32>
      continue %22 : tile<16xi32>
    }
    %12 = store_ptr_tko weak %11, %for_17 token=%9 : tile<16xptr<i32>>, tile<16xi32> -> token
    return
  }
}
