experimental$func @f(%a: tile<4xi32>) {
  // expected-error@+1 [E0202] attribute 'predicate': expected div_by, same_elements or bounded, got padding_value zero
  %r = "cuda_tile.assume"(%a) <{predicate = #cuda_tile<padding_value zero>}> : (!cuda_tile.tile<4xi32>) -> !cuda_tile.tile<4xi32>
}
// -----
experimental$func @f(%a: tile<4xi32>) {
  // expected-error@+1 [E0450] divisor of div_by: expected a power of two up to 2^62, got 12
  %r = assume div_by<12>, %a : tile<4xi32>
}
// -----
experimental$func @f(%a: tile<4xi32>) {
  // expected-error@+1 [E0450] divisor of div_by: expected a power of two up to 2^62, got 9223372036854775808
  %r = assume div_by<9223372036854775808>, %a : tile<4xi32>
}
// -----
experimental$func @f(%a: tile<4xi32>) {
  // expected-error@+1 [E0450] divisor of div_by: expected a power of two up to 2^62, got 0
  %r = assume div_by<0>, %a : tile<4xi32>
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0452] operand 'value': expected a tile of integers or pointers, or a tensor_view, for div_by, got tile<4xf32>
  %r = assume div_by<8>, %a : tile<4xf32>
}
// -----
experimental$func @f(%a: tile<i32>) {
  // expected-error@+1 [E0452] of rank 1 or more for div_by with 'every', got tile<i32>
  %r = assume div_by<8, every 2 along 0>, %a : tile<i32>
}
// -----
experimental$func @f(%a: tensor_view<4xf32, strides=[1]>) {
  // expected-error@+1 [E0452] of rank 1 or more for div_by with 'every', got tensor_view<4xf32, strides=[1]>
  %r = assume div_by<8, every 2 along 0>, %a : tensor_view<4xf32, strides=[1]>
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0452] operand 'value': expected a tile of integers or pointers for same_elements, got tile<4xf32>
  %r = assume same_elements<[2]>, %a : tile<4xf32>
}
// -----
experimental$func @f(%a: tile<4xptr<f32>>) {
  // expected-error@+1 [E0452] operand 'value': expected a tile of integers for bounded, got tile<4xptr<f32>>
  %r = assume bounded<0, ?>, %a : tile<4xptr<f32>>
}
// -----
experimental$func @f(%a: tile<4xi32>) {
  // expected-error@+1 [E0453] 'along' of div_by: expected a dimension in [0, 1), got 1
  %r = assume div_by<8, every 2 along 1>, %a : tile<4xi32>
}
// -----
experimental$func @f(%a: tile<4xi32>) {
  // expected-error@+1 [E0454] 'every' of div_by: expected 0 to 4, the extent of dimension 0, got 8
  %r = assume div_by<8, every 8 along 0>, %a : tile<4xi32>
}
// -----
experimental$func @f(%a: tile<4xi32>) {
  // expected-error@+1 [E0455] same_elements: expected 1 entry, one per dimension, got 2
  %r = assume same_elements<[2, 4]>, %a : tile<4xi32>
}
// -----
experimental$func @f(%a: tile<4xi32>) {
  // expected-error@+1 [E0456] same_elements entry 0: expected 0 to 4, the extent of that dimension, got 8
  %r = assume same_elements<[8]>, %a : tile<4xi32>
}
// -----
experimental$func @f(%a: tile<4xi8>) {
  // expected-error@+1 [E0457] upper bound: expected -128 to 127, the range of i8, got 128
  %r = assume bounded<0, 128>, %a : tile<4xi8>
}
// -----
experimental$func @f(%a: tile<4xi1>) {
  // expected-error@+1 [E0457] upper bound: expected -1 to 0, the range of i1, got 1
  %r = assume bounded<?, 1>, %a : tile<4xi1>
}
// -----
experimental$func @f(%a: tile<4xi8>) {
  // expected-error@+1 [E0458] upper bound: expected at least the lower bound, 5, got 3
  %r = assume bounded<5, 3>, %a : tile<4xi8>
}
// -----
experimental$func @f(%a: tile<4xi8>) {
  // expected-error@+1 [E0460] attribute 'str': expected a conversion letter after '%', got none
  %s = print_tko "100%" -> token
}
// -----
experimental$func @f(%a: tile<4xi8>) {
  // expected-error@+1 [E0461] operand 'args': expected 2 values, as many as conversions in the format, got 1
  %s = print_tko "%d %d", %a : tile<4xi8> -> token
}
// -----
experimental$func @f(%a: tile<4xi8>) {
  // expected-error@+1 [E0461] operand 'args': expected 2 values
  %s = print_tko "%q%d", %a : tile<4xi8> -> token
}
