experimental$func @f(%a: tile<4xi32>) {
  // expected-error@+1 [E0701] 'divi' attribute 'rounding': expected zero, negative_inf or positive_inf, got nearest_even
  %r = divi %a, %a signed rounding<nearest_even> : tile<4xi32>
}
// -----
experimental$func @f(%a: tile<4xi32>) {
  // expected-error@+1 [E0704] 'divi' rounding mode negative_inf: expected signed, got unsigned
  %r = divi %a, %a unsigned rounding<negative_inf> : tile<4xi32>
}
// -----
experimental$func @f(%a: tile<4xi32>) {
  // expected-error@+1 [E0705] 'negi' attribute 'overflow': expected none, no_signed_wrap or no_wrap, got no_unsigned_wrap
  %r = negi %a overflow<no_unsigned_wrap> : tile<4xi32>
}
