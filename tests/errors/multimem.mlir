experimental$func @f(%w: strided_view<tile=(4), traversal_strides=[2], tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0640] operand 'view': expected a partition_view, got strided_view
  %r, %s = multimem_load_reduce_view_tko relaxed device %w[%i] : strided_view<tile=(4), traversal_strides=[2], tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<4xf32>, token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, %v: tile<4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0641] operand 'view': expected a view of multicast memory, got partition_view
  %r, %s = multimem_load_reduce_view_tko relaxed device %w[%i] : partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, tile<i32> -> tile<4xf32>, token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xi8, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xi8>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0642] operand 'view': expected elements of i32, i64, f16, bf16, f32 or f64, got partition_view
  %r, %s = multimem_load_reduce_view_tko relaxed device %w[%i] : partition_view<tile=(4), tensor_view<64xi8, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<4xi8>, token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0621] operand 'index': expected 1 value, as partition_view
  %r, %s = multimem_load_reduce_view_tko relaxed device %w[%i, %i] : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<4xf32>, token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<8xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0620] result 'reduced_values': expected tile<4xf32>, the tile of partition_view
  %r, %s = multimem_load_reduce_view_tko relaxed device %w[%i] : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<8xf32>, token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xf32>, %i: tile<4xi32>, %j: tile<i64>) {
  // expected-error@+1 [E0622] operand 'index[0]': expected a scalar tile, got tile<4xi32>
  %r, %s = multimem_load_reduce_view_tko relaxed device %w[%i] : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<4xi32> -> tile<4xf32>, token
}
// -----
experimental$func @f(%w: partition_view<tile=(4x4), tensor_view<64x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4x4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0623] operand 'index[1]': expected tile<i32>, as operand 'index[0]', got tile<i64>
  %r, %s = multimem_load_reduce_view_tko relaxed device %w[%i, %j] : partition_view<tile=(4x4), tensor_view<64x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32>, tile<i64> -> tile<4x4xf32>, token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0625] attribute 'inbounds': expected 1 value, one per index, got 2
  %r, %s = multimem_load_reduce_view_tko relaxed device %w[%i] inbounds = [true, true] : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<4xf32>, token
}
// -----
experimental$func @f(%w: strided_view<tile=(4), traversal_strides=[2], tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0640] operand 'view': expected a partition_view, got strided_view
  %s = multimem_reduce_view_tko relaxed device %w, %v[%i] : strided_view<tile=(4), traversal_strides=[2], tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<4xf32>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, %v: tile<4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0641] operand 'view': expected a view of multicast memory, got partition_view
  %s = multimem_reduce_view_tko relaxed device %w, %v[%i] : partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, tile<4xf32>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xi8, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xi8>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0642] operand 'view': expected elements of i32, i64, f16, bf16, f32 or f64, got partition_view
  %s = multimem_reduce_view_tko relaxed device %w, %v[%i] : partition_view<tile=(4), tensor_view<64xi8, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<4xi8>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0621] operand 'index': expected 1 value, as partition_view
  %s = multimem_reduce_view_tko relaxed device %w, %v[%i, %i] : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<4xf32>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<8xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0620] operand 'tile': expected tile<4xf32>, the tile of partition_view
  %s = multimem_reduce_view_tko relaxed device %w, %v[%i] : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<8xf32>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xf32>, %i: tile<4xi32>, %j: tile<i64>) {
  // expected-error@+1 [E0622] operand 'index[0]': expected a scalar tile, got tile<4xi32>
  %s = multimem_reduce_view_tko relaxed device %w, %v[%i] : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<4xf32>, tile<4xi32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4x4), tensor_view<64x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4x4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0623] operand 'index[1]': expected tile<i32>, as operand 'index[0]', got tile<i64>
  %s = multimem_reduce_view_tko relaxed device %w, %v[%i, %j] : partition_view<tile=(4x4), tensor_view<64x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<4x4xf32>, tile<i32>, tile<i64> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0625] attribute 'inbounds': expected 1 value, one per index, got 2
  %s = multimem_reduce_view_tko relaxed device %w, %v[%i] inbounds = [true, true] : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<4xf32>, tile<i32> -> token
}
// -----
experimental$func @f(%w: strided_view<tile=(4), traversal_strides=[2], tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0640] operand 'view': expected a partition_view, got strided_view
  %s = multimem_store_view_tko relaxed device %w, %v[%i] : strided_view<tile=(4), traversal_strides=[2], tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<4xf32>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, %v: tile<4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0641] operand 'view': expected a view of multicast memory, got partition_view
  %s = multimem_store_view_tko relaxed device %w, %v[%i] : partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, tile<4xf32>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xi8, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xi8>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0642] operand 'view': expected elements of i32, i64, f16, bf16, f32 or f64, got partition_view
  %s = multimem_store_view_tko relaxed device %w, %v[%i] : partition_view<tile=(4), tensor_view<64xi8, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<4xi8>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0621] operand 'index': expected 1 value, as partition_view
  %s = multimem_store_view_tko relaxed device %w, %v[%i, %i] : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<4xf32>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<8xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0620] operand 'tile': expected tile<4xf32>, the tile of partition_view
  %s = multimem_store_view_tko relaxed device %w, %v[%i] : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<8xf32>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xf32>, %i: tile<4xi32>, %j: tile<i64>) {
  // expected-error@+1 [E0622] operand 'index[0]': expected a scalar tile, got tile<4xi32>
  %s = multimem_store_view_tko relaxed device %w, %v[%i] : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<4xf32>, tile<4xi32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4x4), tensor_view<64x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4x4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0623] operand 'index[1]': expected tile<i32>, as operand 'index[0]', got tile<i64>
  %s = multimem_store_view_tko relaxed device %w, %v[%i, %j] : partition_view<tile=(4x4), tensor_view<64x64xf32, strides=[64,1], #cuda_tile.ptr_attr<multicast>>>, tile<4x4xf32>, tile<i32>, tile<i64> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0625] attribute 'inbounds': expected 1 value, one per index, got 2
  %s = multimem_store_view_tko relaxed device %w, %v[%i] inbounds = [true, true] : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<4xf32>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0643] operand 'view': expected elements of i32, i64, f16 or bf16 for min, got partition_view
  %r, %s = multimem_load_reduce_view_tko relaxed device %w[%i] attributes {reduction = #cuda_tile.multimem_reduction_kind<min>} : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<4xf32>, token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0643] operand 'view': expected elements of i32 or i64 for umax, got partition_view
  %r, %s = multimem_load_reduce_view_tko relaxed device %w[%i] attributes {reduction = #cuda_tile.multimem_reduction_kind<umax>} : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<4xf32>, token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf16, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xf16>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0643] operand 'view': expected elements of i32 or i64 for max, got partition_view
  %s = multimem_reduce_view_tko relaxed device %w, %v[%i] attributes {reduction = #cuda_tile.multimem_reduction_kind<max>} : partition_view<tile=(4), tensor_view<64xf16, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<4xf16>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0601] attribute 'memory_ordering_semantics': expected weak, relaxed or acquire, got release
  %r, %s = multimem_load_reduce_view_tko release device %w[%i] : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<4xf32>, token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0601] attribute 'memory_ordering_semantics': expected relaxed or release, got acquire
  %s = multimem_reduce_view_tko acquire device %w, %v[%i] : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<4xf32>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0601] attribute 'memory_ordering_semantics': expected weak, relaxed or release, got acq_rel
  %s = multimem_store_view_tko acq_rel device %w, %v[%i] : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<4xf32>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0603] attribute 'memory_scope': expected tl_blk, device or sys, as the ordering is acquire, got none
  %r, %s = multimem_load_reduce_view_tko acquire %w[%i] : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<4xf32>, token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xf32>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0603] attribute 'memory_scope': expected tl_blk, device or sys, as the ordering is release, got none
  %s = multimem_store_view_tko release %w, %v[%i] : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<4xf32>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %i: tile<i32>) {
  // expected-error@+1 [E0602] attribute 'memory_scope': expected none, as the ordering is weak, got device
  %r, %s = "cuda_tile.multimem_load_reduce_view_tko"(%w, %i) <{memory_ordering_semantics = 0 : i32, memory_scope = 1 : i32, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!cuda_tile.partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, !cuda_tile.tile<i32>) -> (!cuda_tile.tile<4xf32>, !cuda_tile.token)
}
// -----
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, %v: tile<4xf32>, %i: tile<i32>) {
  // expected-error@+1 [E0602] attribute 'memory_scope': expected none, as the ordering is weak, got device
  %s = "cuda_tile.multimem_store_view_tko"(%w, %v, %i) <{memory_ordering_semantics = 0 : i32, memory_scope = 1 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (!cuda_tile.partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, !cuda_tile.tile<4xf32>, !cuda_tile.tile<i32>) -> !cuda_tile.token
}
