// warn-hints
// expected-warning@+1 [W0831] optimization hints of 'sm_77': expected sm_80, sm_86, sm_87
entry @k() optimization_hints=<sm_77 = {occupancy = 2}> {
}
// -----
// warn-hints
// level: 13.2
// expected-warning@+1 [W0831] optimization hints of 'default'
entry @k() optimization_hints=<default = {occupancy = 2}> {
}
// -----
// warn-hints
// expected-warning@+1 [W0832] optimization hint: expected num_cta_in_cga, num_worker_warps_per_cta or occupancy, got 'latency'
entry @k() optimization_hints=<sm_90 = {latency = 2}> {
}
// -----
// warn-hints
// expected-warning@+1 [W0833] optimization hint 'sm_90.occupancy': expected an integer, got true
entry @k() optimization_hints=<sm_90 = {occupancy = true}> {
}
// -----
// warn-hints
// expected-warning@+1 [W0834] optimization hint 'sm_90.occupancy': expected an integer from 1 to 32, got 33 : i64
entry @k() optimization_hints=<sm_90 = {occupancy = 33}> {
}
// -----
// warn-hints
// expected-warning@+1 [W0834] optimization hint 'sm_80.num_cta_in_cga': expected 1 on sm_80, got 2 : i64
entry @k() optimization_hints=<sm_80 = {num_cta_in_cga = 2}> {
}
// -----
// warn-hints
// expected-warning@+1 [W0834] optimization hint 'sm_90.num_cta_in_cga': expected a power of two up to 16, got 3 : i64
entry @k() optimization_hints=<sm_90 = {num_cta_in_cga = 3}> {
}
// -----
// warn-hints
// expected-warning@+1 [W0834] optimization hint 'sm_90.num_worker_warps_per_cta': expected 4 or 8, got 16 : i64
entry @k() optimization_hints=<sm_90 = {num_worker_warps_per_cta = 16}> {
}
// -----
// warn-hints
experimental$func @f(%p: tile<4xptr<f32>>) {
  // expected-warning@+1 [W0834] optimization hint 'sm_90.latency': expected an integer from 1 to 10, got 11 : i64
  %r, %s = load_ptr_tko weak %p optimization_hints = <sm_90 = {latency = 11}> : tile<4xptr<f32>> -> tile<4xf32>, token
  // expected-warning@+1 [W0832] optimization hint: expected latency, got 'allow_tma'
  %t = store_ptr_tko weak %p, %r optimization_hints = <sm_90 = {allow_tma = true}> : tile<4xptr<f32>>, tile<4xf32> -> token
}
// -----
// warn-hints
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, %i: tile<i32>) {
  // expected-warning@+1 [W0833] optimization hint 'sm_90.allow_tma': expected a boolean, got 1 : i64
  %r, %s = load_view_tko weak %w[%i] optimization_hints = <sm_90 = {allow_tma = 1}> : partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, tile<i32> -> tile<4xf32>, token
}
