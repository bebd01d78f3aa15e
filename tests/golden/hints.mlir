// Optimization hints of entries and memory operations.
cuda_tile.module @hints {
  entry @tuned(%p: tile<ptr<f32>>, %i: tile<i32>) optimization_hints=<sm_90 = {occupancy = 2, num_cta_in_cga = 1}, default = {occupancy = 1}, sm_100 = {num_cta_in_cga = 2, num_worker_warps_per_cta = 4}> {
    %x, %t0 = load_ptr_tko weak %p optimization_hints = <sm_90 = {latency = 3}> : tile<ptr<f32>> -> tile<f32>, token
    %t1 = store_ptr_tko weak %p, %x token=%t0 optimization_hints = <sm_100 = {latency = 10}, sm_80 = {latency = 1}> : tile<ptr<f32>>, tile<f32> -> token
    %t = make_tensor_view %p, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
    %v = make_partition_view %t : partition_view<tile=(8), tensor_view<64xf32, strides=[1]>>
    %y, %t2 = load_view_tko weak %v[%i] token = %t1 optimization_hints = <sm_100 = {latency = 4, allow_tma = false}> : partition_view<tile=(8), tensor_view<64xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
    %t3 = store_view_tko weak %y, %v[%i] optimization_hints = <default = {allow_tma = true}> : tile<8xf32>, partition_view<tile=(8), tensor_view<64xf32, strides=[1]>>, tile<i32> -> token
  }

  entry @none() optimization_hints=<> {
  }
}
