// Atomic operations: every mode, ordering and scope.
cuda_tile.module @atomics {
  entry @integers(%p: tile<ptr<i32>>, %v: tile<i32>, %mask: tile<i1>) {
    %0, %t0 = atomic_rmw_tko relaxed device %p, add, %v : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %1, %t1 = atomic_rmw_tko acquire sys %p, and, %v token=%t0 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %2, %t2 = atomic_rmw_tko release tl_blk %p, or, %v, %mask : tile<ptr<i32>>, tile<i32>, tile<i1> -> tile<i32>, token
    %3, %t3 = atomic_rmw_tko acq_rel device %p, xor, %v, %mask token=%t2 : tile<ptr<i32>>, tile<i32>, tile<i1> -> tile<i32>, token
    %4, %t4 = atomic_rmw_tko relaxed device %p, max, %v : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %5, %t5 = atomic_rmw_tko relaxed device %p, min, %v : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %6, %t6 = atomic_rmw_tko relaxed device %p, umax, %v : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %7, %t7 = atomic_rmw_tko relaxed device %p, umin, %v : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %8, %t8 = atomic_rmw_tko relaxed device %p, xchg, %v : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  }

  entry @floats(%p: tile<ptr<f32>>, %v: tile<f32>, %h: tile<ptr<f16>>, %w: tile<f16>) {
    %0, %t0 = atomic_rmw_tko relaxed device %p, addf, %v : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    %1, %t1 = atomic_rmw_tko relaxed device %h, addf, %w : tile<ptr<f16>>, tile<f16> -> tile<f16>, token
    %2, %t2 = atomic_rmw_tko relaxed sys %p, xchg, %v : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    %3, %t3 = atomic_cas_tko relaxed sys %p, %v, %2 : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
  }

  entry @swaps(%p: tile<ptr<i64>>, %old: tile<i64>, %new: tile<i64>, %mask: tile<i1>) {
    %0, %t0 = atomic_cas_tko acq_rel device %p, %old, %new : tile<ptr<i64>>, tile<i64> -> tile<i64>, token
    %1, %t1 = atomic_cas_tko acquire tl_blk %p, %old, %new, %mask token=%t0 : tile<ptr<i64>>, tile<i64>, tile<i1> -> tile<i64>, token
    %2, %t2 = atomic_cas_tko release device %p, %0, %1, %mask : tile<ptr<i64>>, tile<i64>, tile<i1> -> tile<i64>, token
  }

  entry @through_views(%p: tile<ptr<f32>>, %q: tile<ptr<i32>>, %i: tile<i32>, %j: tile<i64>) {
    %t = make_tensor_view %p, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf32, strides=[32,1]>
    %v = make_partition_view %t : partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>
    %x, %loaded = load_view_tko weak %v[%i, %i] : partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> tile<8x4xf32>, token
    %0 = atomic_red_view_tko relaxed device %v[%i, %i], addf, %x : tile<8x4xf32>, partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> token
    %1 = atomic_red_view_tko relaxed tl_blk %v[%i, %j], addf, %x token = %0 : tile<8x4xf32>, partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32>, tile<i64> -> token
    %row = iota : tile<8xi32>
    %u = make_tensor_view %q, shape = [64], strides = [1] : tensor_view<64xi32, strides=[1]>
    %w = make_partition_view %u : partition_view<tile=(8), tensor_view<64xi32, strides=[1]>>
    %2 = atomic_red_view_tko relaxed device %w[%i], add, %row : tile<8xi32>, partition_view<tile=(8), tensor_view<64xi32, strides=[1]>>, tile<i32> -> token
    %3 = atomic_red_view_tko relaxed device %w[%i], umax, %row : tile<8xi32>, partition_view<tile=(8), tensor_view<64xi32, strides=[1]>>, tile<i32> -> token
    %4 = atomic_red_view_tko relaxed device %w[%i], xor, %row : tile<8xi32>, partition_view<tile=(8), tensor_view<64xi32, strides=[1]>>, tile<i32> -> token
  }

  // Every tile block adds its number plus one to a counter.
  entry @counter(%p: tile<ptr<i32>>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %next = addi %x, %one : tile<i32>
    %old, %t = atomic_rmw_tko relaxed device %p, add, %next : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  }
}
