experimental$func @f(%a: tile<2x4xf32>) {
  // expected-error@+1 [E0401] operand 'source' dimension 0: expected 1 or 8, to become tile<8x4xf32>, got 2
  %r = broadcast %a : tile<2x4xf32> -> tile<8x4xf32>
}
// -----
experimental$func @f(%a: tile<2x4xf32>) {
  // expected-error@+1 [E0402] expected a dimension in [0, 2), got 2
  %r = cat %a, %a dim = 2 : tile<2x4xf32>, tile<2x4xf32> -> tile<4x4xf32>
}
// -----
experimental$func @f(%a: tile<2x4xf32>) {
  // expected-error@+1 [E0402] expected a dimension in [0, 2), got -1
  %r = cat %a, %a dim = -1 : tile<2x4xf32>, tile<2x4xf32> -> tile<4x4xf32>
}
// -----
experimental$func @f(%a: tile<2x4xf32>) {
  // expected-error@+1 [E0403] result dimension 0: expected 2 + 2 = 4, got 8
  %r = cat %a, %a dim = 0 : tile<2x4xf32>, tile<2x4xf32> -> tile<8x4xf32>
}
// -----
experimental$func @f(%a: tile<2x4xf32>, %b: tile<2x8xf32>) {
  // expected-error@+1 [E0404] operand 'rhs' dimension 1: expected 4 as in 'lhs', got 8
  %r = cat %a, %b dim = 0 : tile<2x4xf32>, tile<2x8xf32> -> tile<4x4xf32>
}
// -----
experimental$func @f(%a: tile<2x4xf32>) {
  // expected-error@+1 [E0404] result dimension 1: expected 4 as in 'lhs', got 8
  %r = cat %a, %a dim = 0 : tile<2x4xf32>, tile<2x4xf32> -> tile<4x8xf32>
}
// -----
experimental$func @f() {
  // expected-error@+1 [E0405] attribute 'value': expected elements of tile<4xi32>, got of tile<2xi32>
  %r = "cuda_tile.constant"() <{value = dense<1> : !cuda_tile.tile<2xi32>}> : () -> !cuda_tile.tile<4xi32>
}
// -----
experimental$func @f(%a: tile<8x4xf32>, %i: tile<i32>) {
  // expected-error@+1 [E0211] result: expected elements of f32, as operand 'source' of tile<8x4xf32>, got tile<4x2xf16>
  %r = extract %a[%i, %i] : tile<8x4xf32> -> tile<4x2xf16>
}
// -----
experimental$func @f(%a: tile<8x4xf32>, %i: tile<i32>) {
  // expected-error@+1 [E0408] result dimension 0: expected a divisor of 8, the extent of operand 'source', got 16
  %r = extract %a[%i, %i] : tile<8x4xf32> -> tile<16x2xf32>
}
// -----
experimental$func @f(%a: tile<8x4xf32>, %i: tile<i32>) {
  // expected-error@+1 [E0409] operand 'indices': expected 2 indices, got 1
  %r = extract %a[%i] : tile<8x4xf32> -> tile<4x2xf32>
}
// -----
experimental$func @f(%a: tile<8xf32>) {
  %i = constant <i32: -1> : tile<i32>
  // expected-warning@+1 [W0401] operand 'indices[0]': expected a subtile number of at least 0, got -1
  %r = extract %a[%i] : tile<8xf32> -> tile<4xf32>
}
// -----
experimental$func @f(%a: tile<8xf32>) {
  %i = constant <i32: 4> : tile<i32>
  // expected-warning@+1 [W0402] operand 'indices[0]': expected a subtile number of at most 1, got 4
  %r = extract %a[%i] : tile<8xf32> -> tile<4xf32>
}
// -----
experimental$func @f(%a: tile<4xf32>, %b: tile<8x4xf32>, %i: tile<i32>) {
  // expected-error@+1 [E0210] operand 'source': expected rank 2, as operand 'destination' of tile<8x4xf32>, got tile<4xf32>
  %r = insert %a, %b[%i, %i] : tile<4xf32>, tile<8x4xf32>
}
// -----
experimental$func @f(%a: tile<4x2xf16>, %b: tile<8x4xf32>, %i: tile<i32>) {
  // expected-error@+1 [E0211] operand 'source': expected elements of f32, as operand 'destination' of tile<8x4xf32>
  %r = insert %a, %b[%i, %i] : tile<4x2xf16>, tile<8x4xf32>
}
// -----
experimental$func @f(%a: tile<4x8xf32>, %b: tile<8x4xf32>, %i: tile<i32>) {
  // expected-error@+1 [E0408] operand 'source' dimension 1: expected a divisor of 4
  %r = insert %a, %b[%i, %i] : tile<4x8xf32>, tile<8x4xf32>
}
// -----
experimental$func @f(%a: tile<4x2xf32>, %b: tile<8x4xf32>, %i: tile<i32>) {
  // expected-error@+1 [E0409] operand 'indices': expected 2 indices, got 3
  %r = insert %a, %b[%i, %i, %i] : tile<4x2xf32>, tile<8x4xf32>
}
// -----
experimental$func @f(%a: tile<4xf32>, %b: tile<8xf32>) {
  %i = constant <i32: -2> : tile<i32>
  // expected-warning@+1 [W0401] got -2
  %r = insert %a, %b[%i] : tile<4xf32>, tile<8xf32>
}
// -----
experimental$func @f(%a: tile<4xf32>, %b: tile<8xf32>) {
  %i = constant <i32: 2> : tile<i32>
  // expected-warning@+1 [W0402] expected a subtile number of at most 1, got 2
  %r = insert %a, %b[%i] : tile<4xf32>, tile<8xf32>
}
// -----
experimental$func @f() {
  // expected-error@+1 [E0804] attribute 'name': expected a global of the module, got @g, which is not defined
  %r = get_global @g : tile<ptr<f32>>
}
// -----
entry @g() {
  // expected-error@+1 [E0804] got @g, which is of kind 'entry'
  %r = get_global @g : tile<ptr<f32>>
}
// -----
global @g <i32: [1, 2]> : tile<2xi32>
entry @k() {
  // expected-error@+1 [E0805] result: expected a pointer to i32, the elements of @g, got tile<ptr<f32>>
  %r = get_global @g : tile<ptr<f32>>
}
// -----
experimental$func @f() {
  // expected-error@+1 [E0407] result: expected a tile of rank 1, got tile<2x4xi32>
  %r = iota : tile<2x4xi32>
}
// -----
experimental$func @f() {
  // expected-error@+1 [E0410] result: expected at most 256 elements, as many as i8 can number, got 512
  %r = iota : tile<512xi8>
}
// -----
experimental$func @f(%a: tile<4x4xf32>) {
  // expected-error@+1 [E0411] operand 'source': expected a tile of rank 1, got tile<4x4xf32>
  %r = pack %a : tile<4x4xf32> -> tile<4x16xi8>
}
// -----
experimental$func @f(%a: tile<4x4xi8>) {
  // expected-error@+1 [E0411] operand 'source': expected a tile of rank 1
  %r = unpack %a : tile<4x4xi8> -> tile<4x1xf32>
}
// -----
experimental$func @f(%a: tile<4xf8E5M2>) {
  // expected-error@+1 [E0412] expected element types of different widths, got f8E5M2 and i8
  %r = pack %a : tile<4xf8E5M2> -> tile<4xi8>
}
// -----
experimental$func @f(%a: tile<4xi8>) {
  // expected-error@+1 [E0412] expected element types of different widths, got i8 and f8E5M2
  %r = unpack %a : tile<4xi8> -> tile<4xf8E5M2>
}
// -----
experimental$func @f(%a: tile<4xi1>) {
  // expected-error@+1 [E0413] operand 'source': expected a whole number of bytes, got 4 bits in tile<4xi1>
  %r = pack %a : tile<4xi1> -> tile<1xi8>
}
// -----
experimental$func @f(%a: tile<1xi8>) {
  // expected-error@+1 [E0413] result: expected a whole number of bytes, got 4 bits in tile<1xi4>
  %r = unpack %a : tile<1xi8> -> tile<1xi4>
}
// -----
experimental$func @f(%a: tile<4xtf32>) {
  // expected-error@+1 [E0414] result: expected 16 bytes as in 'source', got 8 bytes in tile<8xi8>
  %r = pack %a : tile<4xtf32> -> tile<8xi8>
}
// -----
experimental$func @f(%a: tile<8xi8>) {
  // expected-error@+1 [E0414] result: expected 8 bytes as in 'source', got 16 bytes in tile<4xf32>
  %r = unpack %a : tile<8xi8> -> tile<4xf32>
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0415] operand 'source': expected a tile of rank 2 or more, got tile<4xf32>
  %r = permute %a [0] : tile<4xf32> -> tile<4xf32>
}
// -----
experimental$func @f(%a: tile<2x4xf32>) {
  // expected-error@+1 [E0416] attribute 'permutation': expected 2 entries, got 3
  %r = permute %a [0, 1, 2] : tile<2x4xf32> -> tile<4x2xf32>
}
// -----
experimental$func @f(%a: tile<2x4xf32>) {
  // expected-error@+1 [E0417] attribute 'permutation': expected each dimension once, got 1 twice
  %r = permute %a [1, 1] : tile<2x4xf32> -> tile<4x2xf32>
}
// -----
experimental$func @f(%a: tile<2x4xf32>) {
  // expected-error@+1 [E0418] attribute 'permutation' entry 1: expected a dimension in [0, 2), got 2
  %r = permute %a [1, 2] : tile<2x4xf32> -> tile<4x2xf32>
}
// -----
experimental$func @f(%a: tile<2x4xf32>) {
  // expected-error@+1 [E0418] attribute 'permutation' entry 0: expected a dimension in [0, 2), got -1
  %r = permute %a [-1, 0] : tile<2x4xf32> -> tile<4x2xf32>
}
// -----
experimental$func @f(%a: tile<2x4xf32>) {
  // expected-error@+1 [E0419] result dimension 0: expected 4, the extent of dimension 1 of 'source', got 2
  %r = permute %a [1, 0] : tile<2x4xf32> -> tile<2x4xf32>
}
// -----
experimental$func @f(%a: tile<2x4xf32>) {
  // expected-error@+1 [E0420] result: expected 8 elements as in 'source', got 16 in tile<16xf32>
  %r = reshape %a : tile<2x4xf32> -> tile<16xf32>
}
// -----
experimental$func @f(%c: tile<4xi1>, %a: tile<4xf4E2M1FN>) {
  // expected-error@+1 [E0421] result: expected elements other than f4E2M1FN, got tile<4xf4E2M1FN>
  %r = select %c, %a, %a : tile<4xi1>, tile<4xf4E2M1FN>
}
