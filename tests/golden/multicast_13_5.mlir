// level: 13.5
// Multicast memory, and pointers that say what they point to.
cuda_tile.module @multicast {
  entry @replicas(%p: tile<ptr<f32, <multicast>>>, %i: tile<i32>, %n: tile<i32>) {
    %t = make_tensor_view %p, shape = [%n, 32], strides = [32, 1] : tile<ptr<f32, <multicast>>>, tile<i32> -> tensor_view<?x32xf32, strides=[32,1], #cuda_tile.ptr_attr<multicast>>
    %v = make_partition_view %t : partition_view<tile=(8x4), tensor_view<?x32xf32, strides=[32,1], #cuda_tile.ptr_attr<multicast>>>
    %start = make_token : token
    %x, %t0 = multimem_load_reduce_view_tko weak %v[%i, %i] : partition_view<tile=(8x4), tensor_view<?x32xf32, strides=[32,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<8x4xf32>, token
    %y, %t1 = multimem_load_reduce_view_tko acquire sys %v[%i, %i] token = %start inbounds = [true, false] : partition_view<tile=(8x4), tensor_view<?x32xf32, strides=[32,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32>, token -> tile<8x4xf32>, token
    %0 = multimem_reduce_view_tko relaxed device %v, %x[%i, %i] : partition_view<tile=(8x4), tensor_view<?x32xf32, strides=[32,1], #cuda_tile.ptr_attr<multicast>>>, tile<8x4xf32>, tile<i32> -> token
    %1 = multimem_reduce_view_tko release sys %v, %y[%i, %i] token = %0 inbounds = [true, true] : partition_view<tile=(8x4), tensor_view<?x32xf32, strides=[32,1], #cuda_tile.ptr_attr<multicast>>>, tile<8x4xf32>, tile<i32>, token -> token
    %2 = multimem_store_view_tko weak %v, %x[%i, %i] : partition_view<tile=(8x4), tensor_view<?x32xf32, strides=[32,1], #cuda_tile.ptr_attr<multicast>>>, tile<8x4xf32>, tile<i32> -> token
    %3 = multimem_store_view_tko release device %v, %x[%i, %i] token = %1 inbounds = [false, true] : partition_view<tile=(8x4), tensor_view<?x32xf32, strides=[32,1], #cuda_tile.ptr_attr<multicast>>>, tile<8x4xf32>, tile<i32>, token -> token
  }

  entry @kinds(%p: tile<ptr<i32, <multicast>>>, %i: tile<i32>) {
    %t = make_tensor_view %p, shape = [64], strides = [1] : tile<ptr<i32, <multicast>>> -> tensor_view<64xi32, strides=[1], #cuda_tile.ptr_attr<multicast>>
    %v = make_partition_view %t : partition_view<tile=(8), tensor_view<64xi32, strides=[1], #cuda_tile.ptr_attr<multicast>>>
    %x, %t0 = multimem_load_reduce_view_tko relaxed device %v[%i] attributes {reduction = #cuda_tile.multimem_reduction_kind<umin>} : partition_view<tile=(8), tensor_view<64xi32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<8xi32>, token
    %y, %t1 = multimem_load_reduce_view_tko weak %v[%i] token = %t0 inbounds = [true] attributes {reduction = #cuda_tile.multimem_reduction_kind<max>} : partition_view<tile=(8), tensor_view<64xi32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<i32>, token -> tile<8xi32>, token
    %0 = multimem_reduce_view_tko relaxed tl_blk %v, %x[%i] attributes {reduction = #cuda_tile.multimem_reduction_kind<xor>} : partition_view<tile=(8), tensor_view<64xi32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<8xi32>, tile<i32> -> token
    %1 = multimem_reduce_view_tko relaxed device %v, %y[%i] attributes {reduction = #cuda_tile.multimem_reduction_kind<add>} : partition_view<tile=(8), tensor_view<64xi32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<8xi32>, tile<i32> -> token
  }

  entry @pointers(%p: tile<ptr<f32, <unicast>>>, %q: tile<ptr<f32, <none>>>, %i: tile<i32>) {
    %x, %t0 = load_ptr_tko weak %p : tile<ptr<f32, <unicast>>> -> tile<f32>, token
    %0 = offset %q, %i : tile<ptr<f32, <none>>>, tile<i32> -> tile<ptr<f32, <none>>>
    %1 = ptr_to_ptr %p : tile<ptr<f32, <unicast>>> -> tile<ptr<f32>>
    %t = make_tensor_view %p, shape = [64], strides = [1] : tile<ptr<f32, <unicast>>> -> tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<unicast>>
    %v = make_partition_view %t : partition_view<tile=(8), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<unicast>>>
    %y, %t1 = load_view_tko weak %v[%i] : partition_view<tile=(8), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<unicast>>>, tile<i32> -> tile<8xf32>, token
    %2 = atomic_red_view_tko relaxed device %v[%i], addf, %y inbounds = [true] : tile<8xf32>, partition_view<tile=(8), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<unicast>>>, tile<i32> -> token
  }
}
