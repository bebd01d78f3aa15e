cuda_tile.module @triton {
  entry @loops(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>, %arg2: tile<i32>) {
    %cst_0_f32 = constant <f32: 0.000000e+00> : tile<16xf32>
    %cst_2_i32 = constant <i32: 2> : tile<i32>
    %cst_1_i32 = constant <i32: 1> : tile<i32>
    %cst_2_f32 = constant <f32: 2.000000e+00> : tile<16xf32>
    %cst_20_i32 = constant <i32: 20> : tile<i32>
    %cst_1000_f32 = constant <f32: 1.000000e+03> : tile<f32>
    %cst_4_i32 = constant <i32: 4> : tile<i32>
    %cst_16_i32 = constant <i32: 16> : tile<i32>
    %cst_0_i32 = constant <i32: 0> : tile<i32>
    %0 = iota : tile<16xi32>
    %1 = make_token : token
    %for:2 = for %loopIdx in (%cst_0_i32 to %arg2, step %cst_2_i32) : tile<i32> iter_values(%iterArg0 = %cst_0_f32, %iterArg1 = %1) -> (tile<16xf32>, token) {
      %6 = muli %loopIdx, %cst_16_i32 : tile<i32>
      %7 = offset %arg0, %6 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
      %reshape_0 = reshape %7 : tile<ptr<f32>> -> tile<1xptr<f32>>
      %bcast_1 = broadcast %reshape_0 : tile<1xptr<f32>> -> tile<16xptr<f32>>
      %8 = offset %bcast_1, %0 : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
      %result, %result_token = load_ptr_tko weak %8 token=%iterArg1 : tile<16xptr<f32>> -> tile<16xf32>, token
      %9 = remi %loopIdx, %cst_4_i32 signed : tile<i32>
      %10 = cmpi equal %9, %cst_0_i32, signed : tile<i32> -> tile<i1>
      %11:2 = if %10 -> (tile<16xf32>, token) {
        %12 = addf %iterArg0, %result  : tile<16xf32>
        yield %12, %result_token : tile<16xf32>, token
      } else {
        %12 = subf %iterArg0, %result  : tile<16xf32>
        %13 = offset %arg1, %cst_16_i32 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
        %reshape_2 = reshape %13 : tile<ptr<f32>> -> tile<1xptr<f32>>
        %bcast_3 = broadcast %reshape_2 : tile<1xptr<f32>> -> tile<16xptr<f32>>
        %14 = offset %bcast_3, %0 : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
        %15 = store_ptr_tko weak %14, %12 token=%result_token : tile<16xptr<f32>>, tile<16xf32> -> token
        yield %12, %15 : tile<16xf32>, token
      }
      continue %11#0, %11#1 : tile<16xf32>, token
    }
    %2 = make_token : token
    %3:3 = loop iter_values(%arg3 = %for#0, %arg4 = %cst_0_i32, %arg5 = %2) : tile<16xf32>, tile<i32>, token -> tile<16xf32>, tile<i32>, token {
      %reduce = reduce %arg3 dim=0 identities=[0.000000e+00 : f32] : tile<16xf32> -> tile<f32> 
      (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
        %16 = addf %reduce_lhs, %reduce_rhs  : tile<f32>
        yield %16 : tile<f32>
      }
      %6 = cmpf less_than ordered %reduce, %cst_1000_f32 : tile<f32> -> tile<i1>
      %7 = cmpi less_than %arg4, %cst_20_i32, signed : tile<i32> -> tile<i1>
      %8 = andi %6, %7 : tile<i1>
      %true = constant <i1: true> : tile<i1>
      %9 = xori %8, %true : tile<i1>
      if %9 {
        break %arg3, %arg4, %arg5 : tile<16xf32>, tile<i32>, token
      }
      %10 = mulf %arg3, %cst_2_f32  : tile<16xf32>
      %11 = offset %arg1, %cst_16_i32 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
      %reshape_0 = reshape %11 : tile<ptr<f32>> -> tile<1xptr<f32>>
      %bcast_1 = broadcast %reshape_0 : tile<1xptr<f32>> -> tile<16xptr<f32>>
      %12 = offset %bcast_1, %0 : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
      %result, %result_token = load_ptr_tko weak %12 token=%for#1 : tile<16xptr<f32>> -> tile<16xf32>, token
      %13 = addf %10, %result  : tile<16xf32>
      %14 = addi %arg4, %cst_1_i32 : tile<i32>
      %15 = join_tokens %arg5, %result_token : token
      continue %13, %14, %15 : tile<16xf32>, tile<i32>, token
    }
    %reshape = reshape %arg1 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast = broadcast %reshape : tile<1xptr<f32>> -> tile<16xptr<f32>>
    %4 = offset %bcast, %0 : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
    %5 = store_ptr_tko weak %4, %3#0 token=%3#2 : tile<16xptr<f32>>, tile<16xf32> -> token
    return
  }
}
