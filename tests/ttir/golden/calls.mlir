cuda_tile.module @triton {
  entry @calls(%arg0: tile<ptr<f32>>, %arg1: tile<i32>) {
    %result, %result_token = load_ptr_tko weak %arg0 : tile<ptr<f32>> -> tile<f32>, token
    %0 = loop : tile<f32> {
      %cst_1_f32 = constant <f32: 1.000000e+00> : tile<f32>
      %cst_f32 = constant <f32: 5.000000e-01> : tile<f32>
      %cst_2_i32 = constant <i32: 2> : tile<i32>
      %2 = cmpi greater_than %arg1, %cst_2_i32, signed : tile<i32> -> tile<i1>
      if %2 {
        %4 = mulf %result, %cst_f32  : tile<f32>
        break %4 : tile<f32>
      }
      %3 = addf %result, %cst_1_f32  : tile<f32>
      break %3 : tile<f32>
    }
    %1 = store_ptr_tko weak %arg0, %0 token=%result_token : tile<ptr<f32>>, tile<f32> -> token
    return
  }
}
