experimental$func @f() {
  // expected-error@+1 [E0806] attribute 'callee': expected a function of the module, got @g, which is not defined
  experimental$call @g() : () -> ()
}
// -----
entry @k() {
}
experimental$func @f() {
  // expected-error@+1 [E0806] got @k, which is of kind 'entry'
  experimental$call @k() : () -> ()
}
// -----
experimental$func @f(%a: tile<f32>) {
  // expected-error@+1 [E0807] operands: expected those of @g, (tile<i32>), got (tile<f32>)
  experimental$call @g(%a) : (tile<f32>) -> ()
}
experimental$func @g(%a: tile<i32>) {
}
// -----
experimental$func @f(%a: tile<f32>) {
  // expected-error@+1 [E0807] results: expected those of @g, (), got (tile<f32>)
  %r = experimental$call @g(%a) : (tile<f32>) -> tile<f32>
}
experimental$func @g(%a: tile<f32>) {
}
// -----
experimental$func @f() {
  // expected-error@+1 [E0808] callee: expected a function that does not lead back to @f, got @f
  experimental$call @f() : () -> ()
}
// -----
experimental$func @f() {
  // expected-error@+1 [E0808] callee: expected a function that does not lead back to @f, got @g
  experimental$call @g() : () -> ()
  experimental$call @h() : () -> ()
}
experimental$func @g() {
  // expected-error@+1 [E0808] callee: expected a function that does not lead back to @g, got @f
  experimental$call @f() : () -> ()
}
experimental$func @h() {
}
// -----
experimental$func @f() {
  // expected-error@+1 [E0205] expected at least one operand, got none
  %r = "cuda_tile.experimental$extern_elementwise"() <{libname = "", libpath = "", pure = true, symbol = "g"}> : () -> !cuda_tile.tile<4xf32>
}
// -----
experimental$func @f(%a: tile<4xf32>, %b: tile<8xf32>) {
  // expected-error@+1 [E0209] operand 'args[1]': expected shape [4], as operand 'args[0]' of tile<4xf32>, got tile<8xf32>
  %r = experimental$extern_elementwise %a, %b {libname = "", libpath = "", pure = true, symbol = "g"} : (tile<4xf32>, tile<8xf32>) -> tile<4xf32>
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0470] attribute 'symbol': expected the name of a function, got an empty string
  %r = experimental$extern_elementwise %a {libname = "", libpath = "", pure = true, symbol = ""} : (tile<4xf32>) -> tile<4xf32>
}
// -----
experimental$func @f(%n: tile<i32>) {
  // expected-error@+1 [E0471] body: expected 1 argument, one per dimension of tile<4xi32>, got 0
  %r = experimental$generate {
    yield %n : tile<i32>
  } : tile<4xi32>
}
// -----
experimental$func @f(%n: tile<i32>) {
  // expected-error@+1 [E0471] body argument 0: expected tile<i32>, got tile<i64>
  %r = experimental$generate {
  ^bb0(%i: tile<i64>):
    yield %n : tile<i32>
  } : tile<4xi32>
}
// -----
experimental$func @f(%w: tensor_view<64x32xf32, strides=[32,1]>, %v: tile<4x8xf32>, %i: tile<4xi32>, %o: tile<i32>) {
  // expected-error@+1 [E0473] attribute 'dim': expected a dimension in [0, 2), got 2
  %r = experimental$gather_load %w, %i, [%o] <{dim = 2 : i64}> : tensor_view<64x32xf32, strides=[32,1]>, tile<4xi32>, tile<i32> -> tile<4x8xf32>
}
// -----
experimental$func @f(%w: tensor_view<64x32xf32, strides=[32,1]>, %v: tile<4x8xf32>, %i: tile<4xi32>, %o: tile<i32>) {
  // expected-error@+1 [E0473] attribute 'dim': expected a dimension in [0, 2), got 2
  %s = experimental$scatter_store %v, %w, %i, [%o] <{dim = 2 : i64}> : tile<4x8xf32>, tensor_view<64x32xf32, strides=[32,1]>, tile<4xi32>, tile<i32> -> token
}
// -----
experimental$func @f(%w: tensor_view<64x32xf32, strides=[32,1]>, %v: tile<4x8xf16>, %i: tile<4xi32>, %o: tile<i32>) {
  // expected-error@+1 [E0474] result: expected a tile of rank 2 of f32, as tensor_view<64x32xf32, strides=[32,1]>, got tile<4x8xf16>
  %r = experimental$gather_load %w, %i, [%o] <{dim = 0 : i64}> : tensor_view<64x32xf32, strides=[32,1]>, tile<4xi32>, tile<i32> -> tile<4x8xf16>
}
// -----
experimental$func @f(%w: tensor_view<64x32xf32, strides=[32,1]>, %v: tile<4x8xf16>, %i: tile<4xi32>, %o: tile<i32>) {
  // expected-error@+1 [E0474] operand 'src': expected a tile of rank 2 of f32, as tensor_view<64x32xf32, strides=[32,1]>, got tile<4x8xf16>
  %s = experimental$scatter_store %v, %w, %i, [%o] <{dim = 0 : i64}> : tile<4x8xf16>, tensor_view<64x32xf32, strides=[32,1]>, tile<4xi32>, tile<i32> -> token
}
// -----
experimental$func @f(%w: tensor_view<64x32xf32, strides=[32,1]>, %v: tile<4xf32>, %i: tile<4xi32>, %o: tile<i32>) {
  // expected-error@+1 [E0474] result: expected a tile of rank 2 of f32
  %r = experimental$gather_load %w, %i, [%o] <{dim = 0 : i64}> : tensor_view<64x32xf32, strides=[32,1]>, tile<4xi32>, tile<i32> -> tile<4xf32>
}
// -----
experimental$func @f(%w: tensor_view<64x32xf32, strides=[32,1]>, %v: tile<4xf32>, %i: tile<4xi32>, %o: tile<i32>) {
  // expected-error@+1 [E0474] operand 'src': expected a tile of rank 2 of f32
  %s = experimental$scatter_store %v, %w, %i, [%o] <{dim = 0 : i64}> : tile<4xf32>, tensor_view<64x32xf32, strides=[32,1]>, tile<4xi32>, tile<i32> -> token
}
// -----
experimental$func @f(%w: tensor_view<64x32xf32, strides=[32,1]>, %v: tile<4x8xf32>, %i: tile<8xi32>, %o: tile<i32>) {
  // expected-error@+1 [E0475] operand 'index': expected 4 elements, one per row of tile<4x8xf32>, got tile<8xi32>
  %r = experimental$gather_load %w, %i, [%o] <{dim = 0 : i64}> : tensor_view<64x32xf32, strides=[32,1]>, tile<8xi32>, tile<i32> -> tile<4x8xf32>
}
// -----
experimental$func @f(%w: tensor_view<64x32xf32, strides=[32,1]>, %v: tile<4x8xf32>, %i: tile<8xi32>, %o: tile<i32>) {
  // expected-error@+1 [E0475] operand 'index': expected 4 elements, one per row of tile<4x8xf32>, got tile<8xi32>
  %s = experimental$scatter_store %v, %w, %i, [%o] <{dim = 0 : i64}> : tile<4x8xf32>, tensor_view<64x32xf32, strides=[32,1]>, tile<8xi32>, tile<i32> -> token
}
// -----
experimental$func @f(%w: tensor_view<64x32xf32, strides=[32,1]>, %v: tile<4x8xf32>, %i: tile<4xi32>, %o: tile<i32>) {
  // expected-error@+1 [E0476] operand 'offsets': expected 1 value, one per dimension other than 0, got 0
  %r = experimental$gather_load %w, %i, [] <{dim = 0 : i64}> : tensor_view<64x32xf32, strides=[32,1]>, tile<4xi32> -> tile<4x8xf32>
}
// -----
experimental$func @f(%w: tensor_view<64x32xf32, strides=[32,1]>, %v: tile<4x8xf32>, %i: tile<4xi32>, %o: tile<i32>) {
  // expected-error@+1 [E0476] operand 'offsets': expected 1 value, one per dimension other than 0, got 0
  %s = experimental$scatter_store %v, %w, %i, [] <{dim = 0 : i64}> : tile<4x8xf32>, tensor_view<64x32xf32, strides=[32,1]>, tile<4xi32> -> token
}
// -----
experimental$func @f(%w: tensor_view<64x32x16xf32, strides=[512,16,1]>, %i: tile<4xi32>, %o: tile<i32>, %p: tile<i64>) {
  // expected-error@+1 [E0477] operand 'offsets[1]': expected tile<i32>, as operand 'offsets[0]', got tile<i64>
  %r = "cuda_tile.experimental$gather_load"(%w, %i, %o, %p) <{dim = 0 : i64}> : (!cuda_tile.tensor_view<64x32x16xf32, strides=[512,16,1]>, !cuda_tile.tile<4xi32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i64>) -> !cuda_tile.tile<4x8x8xf32>
}
// -----
experimental$func @f(%w: tensor_view<64x32x16xf32, strides=[512,16,1]>, %v: tile<4x8x8xf32>, %i: tile<4xi32>, %o: tile<i32>, %p: tile<i64>) {
  // expected-error@+1 [E0477] operand 'offsets[1]': expected tile<i32>, as operand 'offsets[0]', got tile<i64>
  %s = "cuda_tile.experimental$scatter_store"(%v, %w, %i, %o, %p) <{dim = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 2, 0>}> : (!cuda_tile.tile<4x8x8xf32>, !cuda_tile.tensor_view<64x32x16xf32, strides=[512,16,1]>, !cuda_tile.tile<4xi32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i64>) -> !cuda_tile.token
}
// -----
experimental$func @f(%w: tensor_view<64x32xf32, strides=[32,1]>, %i: tile<4xi32>, %o: tile<i32>) {
  // expected-error@+1 [E0478] attribute 'fillValue': expected zero, neg_zero, nan, pos_inf or neg_inf, got a div_by predicate
  %r = experimental$gather_load %w, %i, [%o] <{dim = 0 : i64, fillValue = #cuda_tile.div_by<8>}> : tensor_view<64x32xf32, strides=[32,1]>, tile<4xi32>, tile<i32> -> tile<4x8xf32>
}
// -----
experimental$func @g(%a: tile<f32>) {
}
experimental$func @f(%a: tile<f32>) {
  // expected-error@+1 [E0809] attribute 'callee': expected a function that the module does not define, got @g, which is of kind 'experimental$func'
  preview$call @g(%a) : (tile<f32>) -> ()
}
// -----
experimental$func @f(%a: tile<f32>) {
  // expected-error@+1 [E0202] attribute 'arg_attrs': expected an array of dictionaries, got an array
  preview$call @g(%a) {arg_attrs = [3 : i32]} : (tile<f32>) -> ()
}
