experimental$func @f(%a: tile<4xf16>, %c: tile<4xf32>) {
  // expected-error@+1 [E0440] operand 'lhs': expected a tile of rank 2 or 3, got tile<4xf16>
  %r = mmaf %a, %a, %c : tile<4xf16>, tile<4xf16>, tile<4xf32>
}
// -----
experimental$func @f(%a: tile<4xi8>, %c: tile<4xi32>) {
  // expected-error@+1 [E0440] operand 'lhs': expected a tile of rank 2 or 3, got tile<4xi8>
  %r = mmai %a, %a, %c signed signed : tile<4xi8>, tile<4xi8>, tile<4xi32>
}
// -----
experimental$func @f(%a: tile<64xf8E5M2>, %c: tile<4xf32>, %s: tile<2xf8E8M0FNU>) {
  // expected-error@+1 [E0440] operand 'lhs': expected a tile of rank 2 or 3, got tile<64xf8E5M2>
  %r = mmaf_scaled %a, %a, %c, %s, %s : tile<64xf8E5M2>, tile<64xf8E5M2>, tile<4xf32>, tile<2xf8E8M0FNU>, tile<2xf8E8M0FNU>
}
// -----
experimental$func @f(%a: tile<2x4x8xf16>, %b: tile<4x8x4xf16>, %c: tile<2x4x4xf32>) {
  // expected-error@+1 [E0441] operand 'rhs' dimension 0 (batch): expected 2, as dimension 0 of 'lhs', got 4
  %r = mmaf %a, %b, %c : tile<2x4x8xf16>, tile<4x8x4xf16>, tile<2x4x4xf32>
}
// -----
experimental$func @f(%a: tile<2x4x8xf16>, %b: tile<2x8x4xf16>, %c: tile<1x4x4xf32>) {
  // expected-error@+1 [E0441] operand 'acc' dimension 0 (batch): expected 2, as dimension 0 of 'lhs', got 1
  %r = mmaf %a, %b, %c : tile<2x4x8xf16>, tile<2x8x4xf16>, tile<1x4x4xf32>
}
// -----
experimental$func @f(%a: tile<4x8xf16>, %b: tile<16x4xf16>, %c: tile<4x4xf32>) {
  // expected-error@+1 [E0441] operand 'rhs' dimension 0 (K): expected 8, as dimension 1 of 'lhs', got 16
  %r = mmaf %a, %b, %c : tile<4x8xf16>, tile<16x4xf16>, tile<4x4xf32>
}
// -----
experimental$func @f(%a: tile<4x8xi8>, %b: tile<8x4xi8>, %c: tile<8x4xi32>) {
  // expected-error@+1 [E0441] operand 'acc' dimension 0 (M): expected 4, as dimension 0 of 'lhs', got 8
  %r = mmai %a, %b, %c signed signed : tile<4x8xi8>, tile<8x4xi8>, tile<8x4xi32>
}
// -----
experimental$func @f(%a: tile<4x8xi8>, %b: tile<8x4xi8>, %c: tile<4x8xi32>) {
  // expected-error@+1 [E0441] operand 'acc' dimension 1 (N): expected 4, as dimension 1 of 'rhs', got 8
  %r = mmai %a, %b, %c signed signed : tile<4x8xi8>, tile<8x4xi8>, tile<4x8xi32>
}
// -----
experimental$func @f(%a: tile<4x64xf8E5M2>, %b: tile<64x4xf8E5M2>, %c: tile<4x4xf32>, %s: tile<8x2xf8E8M0FNU>, %t: tile<2x4xf8E8M0FNU>) {
  // expected-error@+1 [E0441] operand 'lhs_scale' dimension 0 (M): expected 4, as dimension 0 of 'lhs', got 8
  %r = mmaf_scaled %a, %b, %c, %s, %t : tile<4x64xf8E5M2>, tile<64x4xf8E5M2>, tile<4x4xf32>, tile<8x2xf8E8M0FNU>, tile<2x4xf8E8M0FNU>
}
// -----
experimental$func @f(%a: tile<4x64xf8E5M2>, %b: tile<64x4xf8E5M2>, %c: tile<4x4xf32>, %s: tile<4x2xf8E8M0FNU>, %t: tile<4x4xf8E8M0FNU>) {
  // expected-error@+1 [E0441] operand 'rhs_scale' dimension 0 (K block): expected 2, as dimension 1 of 'lhs_scale', got 4
  %r = mmaf_scaled %a, %b, %c, %s, %t : tile<4x64xf8E5M2>, tile<64x4xf8E5M2>, tile<4x4xf32>, tile<4x2xf8E8M0FNU>, tile<4x4xf8E8M0FNU>
}
// -----
experimental$func @f(%a: tile<4x8xf64>, %b: tile<8x4xf64>, %c: tile<4x4xf32>) {
  // expected-error@+1 [E0442] operand 'acc': expected f64 to accumulate f64, got tile<4x4xf32>
  %r = mmaf %a, %b, %c : tile<4x8xf64>, tile<8x4xf64>, tile<4x4xf32>
}
// -----
experimental$func @f(%a: tile<4x8xbf16>, %b: tile<8x4xbf16>, %c: tile<4x4xf16>) {
  // expected-error@+1 [E0442] operand 'acc': expected f32 to accumulate bf16, got tile<4x4xf16>
  %r = mmaf %a, %b, %c : tile<4x8xbf16>, tile<8x4xbf16>, tile<4x4xf16>
}
// -----
experimental$func @f(%a: tile<4x64xf8E5M2>, %b: tile<64x4xf8E5M2>, %c: tile<4x4xf32>, %s: tile<4x2xf8E4M3FN>, %t: tile<2x4xf8E4M3FN>) {
  // expected-error@+1 [E0443] operand 'lhs': expected f4E2M1FN for scales of f8E4M3FN, got tile<4x64xf8E5M2>
  %r = mmaf_scaled %a, %b, %c, %s, %t : tile<4x64xf8E5M2>, tile<64x4xf8E5M2>, tile<4x4xf32>, tile<4x2xf8E4M3FN>, tile<2x4xf8E4M3FN>
}
// -----
experimental$func @f(%a: tile<4x32xf8E5M2>, %b: tile<32x4xf8E5M2>, %c: tile<4x4xf32>, %s: tile<4x64xf8E8M0FNU>, %t: tile<64x4xf8E8M0FNU>) {
  // expected-error@+1 [E0444] operand 'lhs_scale': expected a divisor of K = 32 as last extent, got tile<4x64xf8E8M0FNU>
  %r = mmaf_scaled %a, %b, %c, %s, %t : tile<4x32xf8E5M2>, tile<32x4xf8E5M2>, tile<4x4xf32>, tile<4x64xf8E8M0FNU>, tile<64x4xf8E8M0FNU>
}
// -----
experimental$func @f(%a: tile<4x64xf8E5M2>, %b: tile<64x4xf8E5M2>, %c: tile<4x4xf32>, %s: tile<4x4xf8E8M0FNU>, %t: tile<4x4xf8E8M0FNU>) {
  // expected-error@+1 [E0445] block size K / K_scale: expected 32 for f8E5M2 with scales of f8E8M0FNU, got 16
  %r = mmaf_scaled %a, %b, %c, %s, %t : tile<4x64xf8E5M2>, tile<64x4xf8E5M2>, tile<4x4xf32>, tile<4x4xf8E8M0FNU>, tile<4x4xf8E8M0FNU>
}
// -----
experimental$func @f(%a: tile<4x64xf4E2M1FN>, %b: tile<64x4xf4E2M1FN>, %c: tile<4x4xf32>, %s: tile<4x2xf8E4M3FN>, %t: tile<2x4xf8E4M3FN>) {
  // expected-error@+1 [E0445] block size K / K_scale: expected 16 for f4E2M1FN with scales of f8E4M3FN, got 32
  %r = mmaf_scaled %a, %b, %c, %s, %t : tile<4x64xf4E2M1FN>, tile<64x4xf4E2M1FN>, tile<4x4xf32>, tile<4x2xf8E4M3FN>, tile<2x4xf8E4M3FN>
}
// -----
experimental$func @f(%a: tile<4x64xf4E2M1FN>, %b: tile<64x4xf4E2M1FN>, %c: tile<4x4xf32>, %s: tile<4x8xf8E8M0FNU>, %t: tile<8x4xf8E8M0FNU>) {
  // expected-error@+1 [E0445] block size K / K_scale: expected 16 or 32 for f4E2M1FN with scales of f8E8M0FNU, got 8
  %r = mmaf_scaled %a, %b, %c, %s, %t : tile<4x64xf4E2M1FN>, tile<64x4xf4E2M1FN>, tile<4x4xf32>, tile<4x8xf8E8M0FNU>, tile<8x4xf8E8M0FNU>
}
