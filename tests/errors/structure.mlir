experimental$func @f(%a: tile<4xi32>) {
  // expected-error@+1 [E0203] operand 'lhs': expected a tile of f16, bf16, f32 or f64, got tile<4xi32>
  %r = addf %a, %a : tile<4xi32>
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0204] result: expected a tile of i1, got tile<4xi8>
  %r = cmpf equal ordered %a, %a : tile<4xf32> -> tile<4xi8>
}
// -----
experimental$func @f(%a: tile<4xf32>, %b: tile<8xf32>) {
  // expected-error@+1 [E0208] operand 'rhs': expected tile<4xf32>, as operand 'lhs', got tile<8xf32>
  %r = "cuda_tile.addf"(%a, %b) : (!cuda_tile.tile<4xf32>, !cuda_tile.tile<8xf32>) -> !cuda_tile.tile<4xf32>
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0209] result: expected shape [4], as operand 'lhs' of tile<4xf32>, got tile<8xi1>
  %r = cmpf equal ordered %a, %a : tile<4xf32> -> tile<8xi1>
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0210] result: expected rank 1, as operand 'source' of tile<4xf32>, got tile<4x4xf32>
  %r = broadcast %a : tile<4xf32> -> tile<4x4xf32>
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0211] result: expected elements of f32, as operand 'source' of tile<4xf32>, got tile<4xf16>
  %r = reshape %a : tile<4xf32> -> tile<4xf16>
}
// -----
experimental$func @f(%v: tensor_view<64xf32, strides=[1]>) {
  // expected-error@+1 [E0212] operand 'tensor_view': expected the tensor_view inside the view type, tensor_view<64xf16, strides=[1]>, got tensor_view<64xf32, strides=[1]>
  %r = "cuda_tile.make_partition_view"(%v) : (!cuda_tile.tensor_view<64xf32, strides=[1]>) -> !cuda_tile.partition_view<tile=(4), tensor_view<64xf16, strides=[1]>>
}
// -----
entry @k() {
  // expected-error@+1 [E0213] 'yield' parent operation: expected 'if', 'reduce', 'scan' or 'experimental$generate', got 'entry'
  yield
}
// -----
experimental$func @f(%n: tile<i32>) {
  for %i in (%n to %n, step %n) : tile<i32> {
    // expected-error@+1 [E0213] 'break' parent operation: expected 'if' or 'loop', got 'for'
    break
  }
}
// -----
experimental$func @f(%c: tile<i1>) {
  // expected-error@+1 [E0214] 'return' must be the last operation of its block
  return
  assert %c, "no" : tile<i1>
}
// -----
"cuda_tile.experimental$func"() <{sym_name = "f", function_type = () -> ()}> ({
  // expected-error@+1 [E0215] last operation of the body: expected 'return', got 'make_token'
  %t = "cuda_tile.make_token"() : () -> !cuda_tile.token
}) : () -> ()
// -----
experimental$func @f(%a: tile<4xf32>) {
  %r = reduce %a dim=0 identities=[0.0 : f32] : tile<4xf32> -> tile<f32> (%x: tile<f32>, %y: tile<f32>) {
    // expected-error@+1 [E0215] 'reduce' last operation of the body: expected 'yield', got 'addf'
    %z = addf %x, %y : tile<f32>
  }
}
// -----
// level: 13.1
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0216] 'atan2' exists since version 13.2, and the program is checked at 13.1
  %r = atan2 %a, %a : tile<4xf32>
}
// -----
// level: 13.1
experimental$func @f(%a: tile<4xi32>) {
  // expected-error@+1 [E0217] 'negi' attribute 'overflow' exists since version 13.2, and the program is checked at 13.1
  %r = negi %a overflow<no_wrap> : tile<4xi32>
}
// -----
// level: 13.1
experimental$func @f(%t: token) {
  // expected-error@+1 [E0217] 'print_tko' operand 'token' exists since version 13.2
  %r = print_tko "x" token=%t -> token
}
// -----
// level: 13.3
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0218] 'ftof' attribute 'rounding_mode': expected a value of version 13.3, got nearest_away, which exists since 13.4
  %r = "cuda_tile.ftof"(%a) <{rounding_mode = #cuda_tile.rounding<nearest_away>}> : (!cuda_tile.tile<4xf32>) -> !cuda_tile.tile<4xtf32>
}
// -----
// level: 13.1
experimental$func @f(%a: tile<4xi8>) {
  // expected-error@+1 [E0219] 'bitcast' result: expected a type of version 13.1, got tile<4xf8E8M0FNU>, which exists since 13.2
  %r = bitcast %a : tile<4xi8> -> tile<4xf8E8M0FNU>
  %s = bitcast %r : tile<4xf8E8M0FNU> -> tile<4xf8E8M0FNU>
}
// -----
// level: 13.4
// expected-error@+1 [E0219] 'entry' argument 0: expected a type of version 13.4, got tile<ptr<f32, <unicast>>>, which exists since 13.5
entry @k(%p: tile<ptr<f32, <unicast>>>) {
}
// -----
experimental$func @f() {
  // expected-error@+1 [E0220] 'negf' operand 'source': expected a value that is defined before its use, got one that is defined later
  %r = negf %s : tile<4xf32>
  %s = constant <f32: 1.0> : tile<4xf32>
}
// -----
"cuda_tile.experimental$func"() <{sym_name = "f", function_type = (!cuda_tile.tile<i1>) -> ()}> ({
^bb0(%c: !cuda_tile.tile<i1>):
  // expected-error@+1 [E0220] 'addf' operand 'lhs': expected a value that is defined before its use
  %r = "cuda_tile.addf"(%r, %r) : (!cuda_tile.tile<f32>, !cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
  "cuda_tile.return"() : () -> ()
}) : () -> ()
// -----
experimental$func @f(%i: tile<4xi64>) {
  // expected-error@+1 [E0320] 'int_to_ptr' result: expected a scalar tile of pointers to f4E2M1FN, got tile<4xptr<f4E2M1FN>>
  %p = int_to_ptr %i : tile<4xi64> -> tile<4xptr<f4E2M1FN>>
}
