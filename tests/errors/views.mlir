experimental$func @f(%w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, %i: tile<i32>, %j: tile<i32>) {
  // expected-error@+1 [E0621] operand 'index': expected 2 values, as partition_view
  %r, %s = load_view_tko weak %w[%i] : partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> tile<8x4xf32>, token
}
// -----
experimental$func @f(%v: tile<8x4xf32>, %w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, %i: tile<i32>, %j: tile<i32>) {
  // expected-error@+1 [E0621] operand 'index': expected 2 values, as partition_view
  %s = store_view_tko weak %v, %w[%i] : tile<8x4xf32>, partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, %i: tile<i32>, %j: tile<i32>) {
  // expected-error@+1 [E0620] result 'tile': expected tile<8x4xf32>, the tile of partition_view
  %r, %s = load_view_tko weak %w[%i, %j] : partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> tile<4x8xf32>, token
}
// -----
experimental$func @f(%v: tile<4x8xf32>, %w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, %i: tile<i32>, %j: tile<i32>) {
  // expected-error@+1 [E0620] operand 'tile': expected tile<8x4xf32>, the tile of partition_view
  %s = store_view_tko weak %v, %w[%i, %j] : tile<4x8xf32>, partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(8x4), tensor_view<64x32xf4E2M1FN, strides=[32,?]>>, %i: tile<i32>, %j: tile<i32>) {
  // expected-error@+1 [E0626] operand 'view': expected exactly one static stride of 1 to pack f4E2M1FN along, got 0 in partition_view
  %r, %s = load_view_tko weak %w[%i, %j] : partition_view<tile=(8x4), tensor_view<64x32xf4E2M1FN, strides=[32,?]>>, tile<i32> -> tile<8x4xf4E2M1FN>, token
}
// -----
experimental$func @f(%v: tile<8x4xf4E2M1FN>, %w: partition_view<tile=(8x4), tensor_view<64x32xf4E2M1FN, strides=[32,?]>>, %i: tile<i32>, %j: tile<i32>) {
  // expected-error@+1 [E0626] operand 'view': expected exactly one static stride of 1 to pack f4E2M1FN along, got 0 in partition_view
  %s = store_view_tko weak %v, %w[%i, %j] : tile<8x4xf4E2M1FN>, partition_view<tile=(8x4), tensor_view<64x32xf4E2M1FN, strides=[32,?]>>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, %i: tile<8xi32>, %j: tile<i32>) {
  // expected-error@+1 [E0622] operand 'index[0]': expected a scalar tile, got tile<8xi32>
  %r, %s = load_view_tko weak %w[%i, %j] : partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<8xi32>, tile<i32> -> tile<8x4xf32>, token
}
// -----
experimental$func @f(%v: tile<8x4xf32>, %w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, %i: tile<8xi32>, %j: tile<i32>) {
  // expected-error@+1 [E0622] operand 'index[0]': expected a scalar tile, got tile<8xi32>
  %s = store_view_tko weak %v, %w[%i, %j] : tile<8x4xf32>, partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<8xi32>, tile<i32> -> token
}
// -----
experimental$func @f(%w: gather_scatter_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>, sparse_dim=0>, %i: tile<i32>, %j: tile<i32>) {
  // expected-error@+1 [E0622] operand 'index[0]': expected a tile of rank 1, as this is the view's sparse_dim, got tile<i32>
  %r, %s = load_view_tko weak %w[%i, %j] : gather_scatter_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>, sparse_dim=0>, tile<i32> -> tile<8x4xf32>, token
}
// -----
experimental$func @f(%v: tile<8x4xf32>, %w: gather_scatter_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>, sparse_dim=0>, %i: tile<i32>, %j: tile<i32>) {
  // expected-error@+1 [E0622] operand 'index[0]': expected a tile of rank 1, as this is the view's sparse_dim, got tile<i32>
  %s = store_view_tko weak %v, %w[%i, %j] : tile<8x4xf32>, gather_scatter_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>, sparse_dim=0>, tile<i32> -> token
}
// -----
experimental$func @f(%w: gather_scatter_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>, sparse_dim=0>, %i: tile<8xi32>, %j: tile<8xi32>) {
  // expected-error@+1 [E0622] operand 'index[1]': expected a scalar tile, got tile<8xi32>
  %r, %s = load_view_tko weak %w[%i, %j] : gather_scatter_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>, sparse_dim=0>, tile<8xi32> -> tile<8x4xf32>, token
}
// -----
experimental$func @f(%v: tile<8x4xf32>, %w: gather_scatter_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>, sparse_dim=0>, %i: tile<8xi32>, %j: tile<8xi32>) {
  // expected-error@+1 [E0622] operand 'index[1]': expected a scalar tile, got tile<8xi32>
  %s = store_view_tko weak %v, %w[%i, %j] : tile<8x4xf32>, gather_scatter_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>, sparse_dim=0>, tile<8xi32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0623] operand 'index[1]': expected tile<i32>, as operand 'index[0]', got tile<i64>
  %r, %s = load_view_tko weak %w[%i, %j] : partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32>, tile<i64> -> tile<8x4xf32>, token
}
// -----
experimental$func @f(%v: tile<8x4xf32>, %w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, %i: tile<i32>, %j: tile<i64>) {
  // expected-error@+1 [E0623] operand 'index[1]': expected tile<i32>, as operand 'index[0]', got tile<i64>
  %s = store_view_tko weak %v, %w[%i, %j] : tile<8x4xf32>, partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32>, tile<i64> -> token
}
// -----
experimental$func @f(%w: gather_scatter_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>, sparse_dim=0>, %i: tile<4xi32>, %j: tile<i32>) {
  // expected-error@+1 [E0624] operand 'index[0]': expected 8 elements, the rows of tile<8x4xf32>, got tile<4xi32>
  %r, %s = load_view_tko weak %w[%i, %j] : gather_scatter_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>, sparse_dim=0>, tile<4xi32>, tile<i32> -> tile<8x4xf32>, token
}
// -----
experimental$func @f(%v: tile<8x4xf32>, %w: gather_scatter_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>, sparse_dim=0>, %i: tile<4xi32>, %j: tile<i32>) {
  // expected-error@+1 [E0624] operand 'index[0]': expected 8 elements, the rows of tile<8x4xf32>, got tile<4xi32>
  %s = store_view_tko weak %v, %w[%i, %j] : tile<8x4xf32>, gather_scatter_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>, sparse_dim=0>, tile<4xi32>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1], #cuda_tile.ptr_attr<multicast>>>, %i: tile<i32>, %j: tile<i32>) {
  // expected-error@+1 [E0609] operand 'view': expected memory that is not multicast, got partition_view
  %r, %s = load_view_tko weak %w[%i, %j] : partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<8x4xf32>, token
}
// -----
experimental$func @f(%v: tile<8x4xf32>, %w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1], #cuda_tile.ptr_attr<multicast>>>, %i: tile<i32>, %j: tile<i32>) {
  // expected-error@+1 [E0609] operand 'view': expected memory that is not multicast, got partition_view
  %s = store_view_tko weak %v, %w[%i, %j] : tile<8x4xf32>, partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, %i: tile<i32>, %j: tile<i32>) {
  // expected-error@+1 [E0625] attribute 'inbounds': expected 2 values, one per index, got 1
  %r, %s = load_view_tko weak %w[%i, %j] inbounds = [true] : partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> tile<8x4xf32>, token
}
// -----
experimental$func @f(%v: tile<8x4xf32>, %w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, %i: tile<i32>, %j: tile<i32>) {
  // expected-error@+1 [E0625] attribute 'inbounds': expected 2 values, one per index, got 1
  %s = store_view_tko weak %v, %w[%i, %j] inbounds = [true] : tile<8x4xf32>, partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, %i: tile<i32>, %j: tile<i32>) {
  // expected-error@+1 [E0601] attribute 'memory_ordering_semantics': expected weak, relaxed or acquire, got release
  %r, %s = load_view_tko release device %w[%i, %j] : partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> tile<8x4xf32>, token
}
// -----
experimental$func @f(%v: tile<8x4xf32>, %w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, %i: tile<i32>, %j: tile<i32>) {
  // expected-error@+1 [E0601] attribute 'memory_ordering_semantics': expected weak, relaxed or release, got acquire
  %s = store_view_tko acquire device %v, %w[%i, %j] : tile<8x4xf32>, partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, %i: tile<i32>, %j: tile<i32>) {
  // expected-error@+1 [E0603] attribute 'memory_scope': expected tl_blk, device or sys, as the ordering is relaxed, got none
  %r, %s = load_view_tko relaxed %w[%i, %j] : partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> tile<8x4xf32>, token
}
// -----
experimental$func @f(%v: tile<8x4xf32>, %w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, %i: tile<i32>, %j: tile<i32>) {
  // expected-error@+1 [E0603] attribute 'memory_scope': expected tl_blk, device or sys, as the ordering is relaxed, got none
  %s = store_view_tko relaxed %v, %w[%i, %j] : tile<8x4xf32>, partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> token
}
// -----
experimental$func @f(%w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, %i: tile<i32>) {
  // expected-error@+1 [E0602] attribute 'memory_scope': expected none, as the ordering is weak, got device
  %r, %s = "cuda_tile.load_view_tko"(%w, %i, %i) <{memory_ordering_semantics = 0 : i32, memory_scope = 1 : i32, operandSegmentSizes = array<i32: 1, 2, 0>}> : (!cuda_tile.partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>) -> (!cuda_tile.tile<8x4xf32>, !cuda_tile.token)
}
// -----
experimental$func @f(%v: tile<8x4xf32>, %w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, %i: tile<i32>) {
  // expected-error@+1 [E0602] attribute 'memory_scope': expected none, as the ordering is weak, got tl_blk
  %s = "cuda_tile.store_view_tko"(%v, %w, %i, %i) <{memory_ordering_semantics = 0 : i32, memory_scope = 0 : i32, operandSegmentSizes = array<i32: 1, 1, 2, 0>}> : (!cuda_tile.tile<8x4xf32>, !cuda_tile.partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>) -> !cuda_tile.token
}
// -----
experimental$func @f(%p: tile<ptr<i32>>) {
  // expected-error@+1 [E0630] operand 'base': expected a pointer to f32, the elements of the view, got tile<ptr<i32>>
  %r = "cuda_tile.make_tensor_view"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!cuda_tile.tile<ptr<i32>>) -> !cuda_tile.tensor_view<4xf32, strides=[1]>
}
// -----
experimental$func @f(%p: tile<ptr<f32>>, %n: tile<i32>) {
  // expected-error@+1 [E0631] operand 'dynamicStrides': expected 1 value, one per '?' of tensor_view<?x32xf32, strides=[?,1]>, got 0
  %r = "cuda_tile.make_tensor_view"(%p, %n) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<i32>) -> !cuda_tile.tensor_view<?x32xf32, strides=[?,1]>
}
// -----
experimental$func @f(%p: tile<ptr<f32>>, %n: tile<i32>, %s: tile<i64>) {
  // expected-error@+1 [E0632] operand 'dynamicStrides[0]': expected tile<i32>, as operand 'dynamicShape[0]', got tile<i64>
  %r = "cuda_tile.make_tensor_view"(%p, %n, %s) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<i32>, !cuda_tile.tile<i64>) -> !cuda_tile.tensor_view<?x32xf32, strides=[?,1]>
}
// -----
experimental$func @f(%p: tile<ptr<f32, <multicast>>>) {
  // expected-error@+1 [E0633] result: expected the pointer attribute of 'base', tile<ptr<f32, <multicast>>>, got tensor_view<4xf32, strides=[1]>
  %r = "cuda_tile.make_tensor_view"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!cuda_tile.tile<ptr<f32, <multicast>>>) -> !cuda_tile.tensor_view<4xf32, strides=[1]>
}
// -----
experimental$func @f(%v: tensor_view<64x32xf32, strides=[32,1]>) {
  // expected-error@+1 [E0634] expected 2 results, one per dimension of tensor_view<64x32xf32, strides=[32,1]>, got 1
  %r = get_tensor_shape %v : tensor_view<64x32xf32, strides=[32,1]> -> tile<i32>
}
// -----
experimental$func @f(%w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>) {
  // expected-error@+1 [E0634] expected 2 results, one per dimension of partition_view
  %r:3 = get_index_space_shape %w : partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>> -> tile<i32>
}
