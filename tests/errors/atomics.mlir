experimental$func @f(%p: tile<4xptr<f32>>, %v: tile<4xi32>) {
  // expected-error@+1 [E0604] operand 'pointers': expected pointers to i32, the elements of 'arg', got tile<4xptr<f32>>
  %r, %s = atomic_rmw_tko relaxed device %p, add, %v : tile<4xptr<f32>>, tile<4xi32> -> tile<4xi32>, token
}
// -----
experimental$func @f(%p: tile<4xptr<f32>>, %v: tile<4xi32>) {
  // expected-error@+1 [E0604] operand 'pointers': expected pointers to i32, the elements of 'val', got tile<4xptr<f32>>
  %r, %s = atomic_cas_tko relaxed device %p, %v, %v : tile<4xptr<f32>>, tile<4xi32> -> tile<4xi32>, token
}
// -----
experimental$func @f(%p: tile<4xptr<f32>>, %v: tile<4xf32>) {
  // expected-error@+1 [E0610] operand 'arg': expected elements of i32 or i64 for mode add, got tile<4xf32>
  %r, %s = atomic_rmw_tko relaxed device %p, add, %v : tile<4xptr<f32>>, tile<4xf32> -> tile<4xf32>, token
}
// -----
experimental$func @f(%p: tile<4xptr<f8E5M2>>, %v: tile<4xf8E5M2>) {
  // expected-error@+1 [E0610] expected elements of f16, bf16, f32 or f64 for mode addf, got tile<4xf8E5M2>
  %r, %s = atomic_rmw_tko relaxed device %p, addf, %v : tile<4xptr<f8E5M2>>, tile<4xf8E5M2> -> tile<4xf8E5M2>, token
}
// -----
// level: 13.2
experimental$func @f(%p: tile<4xptr<bf16>>, %v: tile<4xbf16>) {
  // expected-error@+1 [E0610] expected elements of f16, f32 or f64 for mode addf, got tile<4xbf16>
  %r, %s = atomic_rmw_tko relaxed device %p, addf, %v : tile<4xptr<bf16>>, tile<4xbf16> -> tile<4xbf16>, token
}
// -----
experimental$func @f(%p: tile<4xptr<f16>>, %v: tile<4xf16>) {
  // expected-error@+1 [E0610] expected elements of i32, i64, f32 or f64 for mode xchg, got tile<4xf16>
  %r, %s = atomic_rmw_tko relaxed device %p, xchg, %v : tile<4xptr<f16>>, tile<4xf16> -> tile<4xf16>, token
}
// -----
experimental$func @f(%p: tile<4xptr<i32>>, %v: tile<4xi32>) {
  // expected-error@+1 [E0601] attribute 'memory_ordering_semantics': expected relaxed, acquire, release or acq_rel, got weak
  %r, %s = atomic_rmw_tko weak device %p, add, %v : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
}
// -----
experimental$func @f(%p: tile<4xptr<i32>>, %v: tile<4xi32>) {
  // expected-error@+1 [E0601] expected relaxed, acquire, release or acq_rel, got weak
  %r, %s = atomic_cas_tko weak device %p, %v, %v : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
}
// -----
experimental$func @f(%p: tile<4xptr<i32, <multicast>>>, %v: tile<4xi32>) {
  // expected-error@+1 [E0609] operand 'pointers': expected memory that is not multicast
  %r, %s = atomic_rmw_tko relaxed device %p, add, %v : tile<4xptr<i32, <multicast>>>, tile<4xi32> -> tile<4xi32>, token
}
// -----
experimental$func @f(%p: tile<4xptr<i32, <multicast>>>, %v: tile<4xi32>) {
  // expected-error@+1 [E0609] operand 'pointers': expected memory that is not multicast
  %r, %s = atomic_cas_tko relaxed device %p, %v, %v : tile<4xptr<i32, <multicast>>>, tile<4xi32> -> tile<4xi32>, token
}
// -----
experimental$func @f(%p: tile<4xptr<i16>>, %v: tile<4xi16>) {
  // expected-error@+1 [E0611] operand 'val': expected elements of i32, i64, f32 or f64, got tile<4xi16>
  %r, %s = atomic_cas_tko relaxed device %p, %v, %v : tile<4xptr<i16>>, tile<4xi16> -> tile<4xi16>, token
}
// -----
experimental$func @f(%w: gather_scatter_view<tile=(4), tensor_view<64xf32, strides=[1]>, sparse_dim=0>, %i: tile<4xi32>, %v: tile<4xf32>) {
  // expected-error@+1 [E0612] operand 'view': expected a partition_view or strided_view, got gather_scatter_view
  %s = atomic_red_view_tko relaxed device %w[%i], addf, %v : tile<4xf32>, gather_scatter_view<tile=(4), tensor_view<64xf32, strides=[1]>, sparse_dim=0>, tile<4xi32> -> token
}
// -----
// level: 13.3
experimental$func @f(%w: partition_view<tile=(4), padding_value = zero, tensor_view<64xf32, strides=[1]>>, %i: tile<i32>, %v: tile<4xf32>) {
  // expected-error@+1 [E0613] operand 'view': expected a view without padding_value, got partition_view<tile=(4), padding_value = zero
  %s = atomic_red_view_tko relaxed device %w[%i], addf, %v : tile<4xf32>, partition_view<tile=(4), padding_value = zero, tensor_view<64xf32, strides=[1]>>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, %i: tile<i32>, %v: tile<8xf32>) {
  // expected-error@+1 [E0620] operand 'value': expected tile<4xf32>, the tile of partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, got tile<8xf32>
  %s = atomic_red_view_tko relaxed device %w[%i], addf, %v : tile<8xf32>, partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, %i: tile<i32>, %v: tile<4xf32>) {
  // expected-error@+1 [E0625] attribute 'inbounds': expected 1 value, one per index, got 2
  %s = atomic_red_view_tko relaxed device %w[%i], addf, %v inbounds = [true, true] : tile<4xf32>, partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, %i: tile<i32>, %v: tile<4xf32>) {
  // expected-error@+1 [E0615] attribute 'mode': expected and, or, xor, add, addf, max, min, umax or umin, got xchg
  %s = atomic_red_view_tko relaxed device %w[%i], xchg, %v : tile<4xf32>, partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, %i: tile<i32>, %v: tile<4xf32>) {
  // expected-error@+1 [E0610] operand 'value': expected elements of i32 or i64 for mode max, got tile<4xf32>
  %s = atomic_red_view_tko relaxed device %w[%i], max, %v : tile<4xf32>, partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, %i: tile<i32>, %v: tile<4xf32>) {
  // expected-error@+1 [E0601] attribute 'memory_ordering_semantics': expected relaxed, got release
  %s = atomic_red_view_tko release device %w[%i], addf, %v : tile<4xf32>, partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, %i: tile<i32>, %v: tile<4xf32>) {
  // expected-error@+1 [E0616] attribute 'memory_scope': expected tl_blk or device, got sys
  %s = atomic_red_view_tko relaxed sys %w[%i], addf, %v : tile<4xf32>, partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, %i: tile<i32>, %v: tile<4xf32>) {
  // expected-error@+1 [E0621] operand 'index': expected 1 value, as partition_view<tile=(4), tensor_view<64xf32, strides=[1]>> has tiles of that rank, got 2
  %s = atomic_red_view_tko relaxed device %w[%i, %i], addf, %v : tile<4xf32>, partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, %i: tile<4xi32>, %v: tile<4xf32>) {
  // expected-error@+1 [E0622] operand 'index[0]': expected a scalar tile, got tile<4xi32>
  %s = atomic_red_view_tko relaxed device %w[%i], addf, %v : tile<4xf32>, partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, tile<4xi32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %i: tile<i32>, %v: tile<4xf32>) {
  // expected-error@+1 [E0609] operand 'view': expected memory that is not multicast
  %s = atomic_red_view_tko relaxed device %w[%i], addf, %v : tile<4xf32>, partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> token
}
