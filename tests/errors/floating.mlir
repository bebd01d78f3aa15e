experimental$func @f(%a: tile<4xf32>, %b: tile<4xf32>) {
  // expected-error@+1 [E0701] 'addf' attribute 'rounding_mode': expected nearest_even, zero, negative_inf or positive_inf, got approx
  %r = "cuda_tile.addf"(%a, %b) <{rounding_mode = #cuda_tile.rounding<approx>}> : (!cuda_tile.tile<4xf32>, !cuda_tile.tile<4xf32>) -> !cuda_tile.tile<4xf32>
}
// -----
experimental$func @f(%a: tile<4xf32>, %b: tile<4xf32>) {
  // expected-error@+1 [E0701] 'subf' attribute 'rounding_mode': expected nearest_even, zero, negative_inf or positive_inf, got full
  %r = "cuda_tile.subf"(%a, %b) <{rounding_mode = #cuda_tile.rounding<full>}> : (!cuda_tile.tile<4xf32>, !cuda_tile.tile<4xf32>) -> !cuda_tile.tile<4xf32>
}
// -----
experimental$func @f(%a: tile<4xf32>, %b: tile<4xf32>) {
  // expected-error@+1 [E0701] 'mulf' attribute 'rounding_mode': expected nearest_even, zero, negative_inf or positive_inf, got nearest_away
  %r = "cuda_tile.mulf"(%a, %b) <{rounding_mode = #cuda_tile.rounding<nearest_away>}> : (!cuda_tile.tile<4xf32>, !cuda_tile.tile<4xf32>) -> !cuda_tile.tile<4xf32>
}
// -----
experimental$func @f(%a: tile<4xf32>, %b: tile<4xf32>, %c: tile<4xf32>) {
  // expected-error@+1 [E0701] 'fma' attribute 'rounding_mode': expected nearest_even, zero, negative_inf or positive_inf, got nearest_int_to_zero
  %r = "cuda_tile.fma"(%a, %b, %c) <{rounding_mode = #cuda_tile.rounding<nearest_int_to_zero>}> : (!cuda_tile.tile<4xf32>, !cuda_tile.tile<4xf32>, !cuda_tile.tile<4xf32>) -> !cuda_tile.tile<4xf32>
}
// -----
experimental$func @f(%a: tile<4xf32>, %b: tile<4xf32>) {
  // expected-error@+1 [E0701] 'divf' attribute 'rounding_mode': expected nearest_even, zero, negative_inf, positive_inf, approx or full, got nearest_away
  %r = "cuda_tile.divf"(%a, %b) <{rounding_mode = #cuda_tile.rounding<nearest_away>}> : (!cuda_tile.tile<4xf32>, !cuda_tile.tile<4xf32>) -> !cuda_tile.tile<4xf32>
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0701] 'sqrt' attribute 'rounding_mode': expected nearest_even, zero, negative_inf, positive_inf or approx, got full
  %r = "cuda_tile.sqrt"(%a) <{rounding_mode = #cuda_tile.rounding<full>}> : (!cuda_tile.tile<4xf32>) -> !cuda_tile.tile<4xf32>
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0701] 'exp' attribute 'rounding_mode': expected approx or full, got zero
  %r = "cuda_tile.exp"(%a) <{rounding_mode = #cuda_tile.rounding<zero>}> : (!cuda_tile.tile<4xf32>) -> !cuda_tile.tile<4xf32>
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0701] 'tanh' attribute 'rounding_mode': expected approx or full, got nearest_even
  %r = "cuda_tile.tanh"(%a) <{rounding_mode = #cuda_tile.rounding<nearest_even>}> : (!cuda_tile.tile<4xf32>) -> !cuda_tile.tile<4xf32>
}
// -----
experimental$func @f(%a: tile<4xf16>, %b: tile<4xf16>) {
  // expected-error@+1 [E0702] 'addf' attribute 'flush_to_zero': expected f32 elements, got tile<4xf16>
  %r = addf %a, %b flush_to_zero : tile<4xf16>
}
// -----
experimental$func @f(%a: tile<4xbf16>, %b: tile<4xbf16>) {
  // expected-error@+1 [E0702] 'subf' attribute 'flush_to_zero': expected f32 elements, got tile<4xbf16>
  %r = subf %a, %b flush_to_zero : tile<4xbf16>
}
// -----
experimental$func @f(%a: tile<4xf64>, %b: tile<4xf64>) {
  // expected-error@+1 [E0702] 'mulf' attribute 'flush_to_zero': expected f32 elements, got tile<4xf64>
  %r = mulf %a, %b flush_to_zero : tile<4xf64>
}
// -----
experimental$func @f(%a: tile<4xf16>, %b: tile<4xf16>) {
  // expected-error@+1 [E0702] 'divf' attribute 'flush_to_zero': expected f32 elements, got tile<4xf16>
  %r = divf %a, %b flush_to_zero : tile<4xf16>
}
// -----
experimental$func @f(%a: tile<4xbf16>, %b: tile<4xbf16>, %c: tile<4xbf16>) {
  // expected-error@+1 [E0702] 'fma' attribute 'flush_to_zero': expected f32 elements, got tile<4xbf16>
  %r = fma %a, %b, %c flush_to_zero : tile<4xbf16>
}
// -----
experimental$func @f(%a: tile<4xf64>) {
  // expected-error@+1 [E0702] 'sqrt' attribute 'flush_to_zero': expected f32 elements, got tile<4xf64>
  %r = sqrt %a flush_to_zero : tile<4xf64>
}
// -----
experimental$func @f(%a: tile<4xf16>) {
  // expected-error@+1 [E0702] 'rsqrt' attribute 'flush_to_zero': expected f32 elements, got tile<4xf16>
  %r = rsqrt %a flush_to_zero : tile<4xf16>
}
// -----
experimental$func @f(%a: tile<4xbf16>) {
  // expected-error@+1 [E0702] 'exp2' attribute 'flush_to_zero': expected f32 elements, got tile<4xbf16>
  %r = exp2 %a flush_to_zero : tile<4xbf16>
}
// -----
experimental$func @f(%a: tile<4xf64>, %b: tile<4xf64>) {
  // expected-error@+1 [E0702] 'maxf' attribute 'flush_to_zero': expected f32 elements, got tile<4xf64>
  %r = maxf %a, %b flush_to_zero : tile<4xf64>
}
// -----
experimental$func @f(%a: tile<4xf16>, %b: tile<4xf16>) {
  // expected-error@+1 [E0702] 'minf' attribute 'flush_to_zero': expected f32 elements, got tile<4xf16>
  %r = minf %a, %b flush_to_zero : tile<4xf16>
}
// -----
experimental$func @f(%a: tile<4xf16>, %b: tile<4xf16>) {
  // expected-error@+1 [E0703] 'divf' rounding mode approx: expected f32 elements, got tile<4xf16>
  %r = divf %a, %b rounding<approx> : tile<4xf16>
}
// -----
experimental$func @f(%a: tile<4xf64>, %b: tile<4xf64>) {
  // expected-error@+1 [E0703] 'divf' rounding mode full: expected f32 elements, got tile<4xf64>
  %r = divf %a, %b rounding<full> : tile<4xf64>
}
// -----
experimental$func @f(%a: tile<4xf64>) {
  // expected-error@+1 [E0703] 'sqrt' rounding mode approx: expected f32 elements, got tile<4xf64>
  %r = sqrt %a rounding<approx> : tile<4xf64>
}
// -----
experimental$func @f(%a: tile<4xbf16>) {
  // expected-error@+1 [E0703] 'exp' rounding mode approx: expected f32 elements, got tile<4xbf16>
  %r = exp %a rounding<approx> : tile<4xbf16>
}
// -----
experimental$func @f(%a: tile<4xf16>) {
  // expected-error@+1 [E0703] 'tanh' rounding mode approx: expected f32 elements, got tile<4xf16>
  %r = tanh %a rounding<approx> : tile<4xf16>
}
