cuda_tile.module @rust {
  entry @k(%0: tile<ptr<f32>>, %1: tile<ptr<i32>>) optimization_hints = #cuda_tile.optimization_hints<sm_120 = {occupancy = 2}> {
    %2 = assume div_by<4>, %0 : tile<ptr<f32>>
    %3 = make_tensor_view %2, shape = [4], strides = [1] : tensor_view<4xf32, strides=[1]>
    %4 = make_partition_view %3 : partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>
    %5 = constant <i32: 0> : tile<i32>
    %6 = make_token : token
    %7, %8 = load_view_tko weak %4[%5] token = %6 optimization_hints = #cuda_tile.optimization_hints<sm_120 = {latency = 4}> : partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>, tile<i32> -> tile<4xf32>, token
    %9 = reduce %7 dim=0 identities=[-inf] : tile<4xf32> -> tile<f32> {
    ^bb0(%10: tile<f32>, %11: tile<f32>):
      %12 = maxf %10, %11 propagate_nan : tile<f32>
      yield %12 : tile<f32>
    }
    %13 = scan %7 dim=0 reverse=false identities=[0] : tile<4xf32> -> tile<4xf32> {
    ^bb0(%14: tile<f32>, %15: tile<f32>):
      %16 = addf %14, %15 rounding<zero> : tile<f32>
      yield %16 : tile<f32>
    }
    %17 = constant <f32: 1.0, 2.0, -3.0, inf> : tile<4xf32>
    %18 = constant <f8e4m3fn: 56> : tile<4xf8e4m3fn>
    %19 = ftof %18 : tile<4xf8e4m3fn> -> tile<4xf32>
    %20 = minf %17, %13 : tile<4xf32>
    %21 = addf %20, %19 : tile<4xf32>
    %22 = store_view_tko weak %21, %4[%5] token = %8 : tile<4xf32>, partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>, tile<i32> -> token
    %23 = ftoi %9 signed : tile<f32> -> tile<i32>
    %24 = constant <i32: 2> : tile<i32>
    %25 = addi %23, %24 overflow nsw : tile<i32>
    %26 = divi %25, %24 signed rounding positive_inf : tile<i32>
    %27, %28 = atomic_rmw_tko relaxed device %1, %26 {mode = 3} : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %29, %30 = atomic_rmw_tko relaxed device %1, %24, %28 {mode = 3} : tile<ptr<i32>>, tile<i32>, token -> tile<i32>, token
    %31 = addi %26, %24 : tile<i32>
    %32, %33 = atomic_cas_tko relaxed device %1, %31, %5 token=%30 : tile<ptr<i32>>, tile<i32>, tile<i32>, token -> tile<i32>, token
    %34 = tanh %17 {rounding_mode = 4} : tile<4xf32>
    return
  }
}
