experimental$func @f(%t: token) {
  // expected-error@+1 [E0205] expected two or more tokens, got 1
  %r = join_tokens %t : token
}
// -----
experimental$func @f(%p: tile<4xptr<f32>>) {
  // expected-error@+1 [E0601] attribute 'memory_ordering_semantics': expected weak, relaxed or acquire, got release
  %r, %s = load_ptr_tko release device %p : tile<4xptr<f32>> -> tile<4xf32>, token
}
// -----
experimental$func @f(%p: tile<4xptr<f32>>) {
  // expected-error@+1 [E0602] attribute 'memory_scope': expected none, as the ordering is weak, got device
  %r, %s = load_ptr_tko weak device %p : tile<4xptr<f32>> -> tile<4xf32>, token
}
// -----
experimental$func @f(%p: tile<4xptr<f32>>) {
  // expected-error@+1 [E0603] attribute 'memory_scope': expected tl_blk, device or sys, as the ordering is relaxed, got none
  %r, %s = load_ptr_tko relaxed %p : tile<4xptr<f32>> -> tile<4xf32>, token
}
// -----
experimental$func @f(%p: tile<4xptr<f32>>) {
  // expected-error@+1 [E0604] operand 'source': expected pointers to i32, the elements of 'result', got tile<4xptr<f32>>
  %r, %s = load_ptr_tko weak %p : tile<4xptr<f32>> -> tile<4xi32>, token
}
// -----
experimental$func @f(%p: tile<4xptr<f32, <multicast>>>) {
  // expected-error@+1 [E0609] operand 'source': expected memory that is not multicast
  %r, %s = load_ptr_tko weak %p : tile<4xptr<f32, <multicast>>> -> tile<4xf32>, token
}
// -----
experimental$func @f(%p: tile<4xptr<f32>>, %v: tile<4xf32>) {
  // expected-error@+1 [E0601] attribute 'memory_ordering_semantics': expected weak, relaxed or release, got acq_rel
  %s = store_ptr_tko acq_rel device %p, %v : tile<4xptr<f32>>, tile<4xf32> -> token
}
// -----
experimental$func @f(%p: tile<4xptr<f32>>, %v: tile<4xf32>) {
  // expected-error@+1 [E0602] attribute 'memory_scope': expected none, as the ordering is weak, got sys
  %s = store_ptr_tko weak sys %p, %v : tile<4xptr<f32>>, tile<4xf32> -> token
}
// -----
experimental$func @f(%p: tile<4xptr<f32>>, %v: tile<4xf32>) {
  // expected-error@+1 [E0603] as the ordering is release, got none
  %s = store_ptr_tko release %p, %v : tile<4xptr<f32>>, tile<4xf32> -> token
}
// -----
experimental$func @f(%p: tile<4xptr<f32>>, %v: tile<4xf16>) {
  // expected-error@+1 [E0604] operand 'destination': expected pointers to f16, the elements of 'value', got tile<4xptr<f32>>
  %s = store_ptr_tko weak %p, %v : tile<4xptr<f32>>, tile<4xf16> -> token
}
// -----
experimental$func @f(%p: tile<4xptr<f32, <multicast>>>, %v: tile<4xf32>) {
  // expected-error@+1 [E0609] operand 'destination': expected memory that is not multicast
  %s = store_ptr_tko weak %p, %v : tile<4xptr<f32, <multicast>>>, tile<4xf32> -> token
}
// -----
experimental$func @f() {
  // expected-error@+1 [E0606] attribute 'num_elem': expected 0 or more, got -1
  %r = alloca num_elem = -1, alignment = 16 : tile<ptr<f32>>
}
// -----
experimental$func @f() {
  // expected-error@+1 [E0606] attribute 'alignment': expected 0 or more, got -16
  %r = alloca num_elem = 1, alignment = -16 : tile<ptr<f32>>
}
// -----
experimental$func @f() {
  // expected-error@+1 [E0607] attribute 'alignment': expected a power of two, got 12
  %r = alloca num_elem = 1, alignment = 12 : tile<ptr<f32>>
}
// -----
experimental$func @f() {
  // expected-error@+1 [E0607] attribute 'alignment': expected a power of two, got 0
  %r = alloca num_elem = 1, alignment = 0 : tile<ptr<f32>>
}
// -----
experimental$func @f() {
  // expected-error@+1 [E0608] attribute 'alignment': expected at least 4, the size of f32 in bytes, got 2
  %r = alloca num_elem = 1, alignment = 2 : tile<ptr<f32>>
}
// -----
experimental$func @f() {
  // expected-error@+1 [E0608] attribute 'alignment': expected at least 3, the size of tf32 in bytes, got 2
  %r = alloca num_elem = 1, alignment = 2 : tile<ptr<tf32>>
}
