experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0430] result: expected elements of 32 bits, as f32, got i64 with 64
  %r = bitcast %a : tile<4xf32> -> tile<4xi64>
}
// -----
experimental$func @f(%a: tile<4xtf32>) {
  // expected-error@+1 [E0430] result: expected elements of 19 bits, as tf32, got f32 with 32
  %r = bitcast %a : tile<4xtf32> -> tile<4xf32>
}
// -----
experimental$func @f(%a: tile<4xi32>) {
  // expected-error@+1 [E0431] result 'to': expected integers wider than i32, got i32
  %r = exti %a signed : tile<4xi32> -> tile<4xi32>
}
// -----
experimental$func @f(%a: tile<4xi8>) {
  // expected-error@+1 [E0432] result 'to': expected integers narrower than i8, got i32
  %r = trunci %a : tile<4xi8> -> tile<4xi32>
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0433] result 'to': expected another element type than f32, got tile<4xf32>
  %r = ftof %a : tile<4xf32> -> tile<4xf32>
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0434] attribute 'rounding_mode': expected zero or positive_inf from f32 to f8E8M0FNU, got nearest_even
  %r = ftof %a : tile<4xf32> -> tile<4xf8E8M0FNU>
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0434] expected nearest_even from f32 to f8E5M2, got zero
  %r = ftof %a rounding<zero> : tile<4xf32> -> tile<4xf8E5M2>
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0434] expected nearest_even or zero from f32 to f16, got positive_inf
  %r = ftof %a rounding<positive_inf> : tile<4xf32> -> tile<4xf16>
}
// -----
// level: 13.3
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0434] expected nearest_even from f32 to f16, got zero
  %r = ftof %a rounding<zero> : tile<4xf32> -> tile<4xf16>
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0701] attribute 'rounding_mode': expected nearest_int_to_zero, got nearest_even
  %r = "cuda_tile.ftoi"(%a) <{signedness = #cuda_tile.signedness<signed>, rounding_mode = #cuda_tile.rounding<nearest_even>}> : (!cuda_tile.tile<4xf32>) -> !cuda_tile.tile<4xi32>
}
// -----
experimental$func @f(%a: tile<4xi32>) {
  // expected-error@+1 [E0701] attribute 'rounding_mode': expected nearest_even, got zero
  %r = itof %a signed rounding<zero> : tile<4xi32> -> tile<4xf16>
}
// -----
experimental$func @f(%a: tile<4xi32>) {
  // expected-error@+1 [E0436] result 'to': expected a float type other than f8E8M0FNU, got tile<4xf8E8M0FNU>
  %r = itof %a signed : tile<4xi32> -> tile<4xf8E8M0FNU>
}
