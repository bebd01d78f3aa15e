entry @k() {
}
// expected-error@+1 [E0801] 'entry' name: expected one that no other item has, got @k
entry @k() {
}
// -----
entry @g() {
}
// expected-error@+1 [E0801] 'global' name: expected one that no other item has, got @g
global @g <i32: [1]> : tile<1xi32>
// -----
experimental$func @f() {
}
// expected-error@+1 [E0801] 'experimental$func' name: expected one that no other item has, got @f
experimental$func @f() {
}
// -----
entry @k() {
  // expected-error@+1 [E0802] 'global' parent operation: expected 'module', got 'entry'
  global @g <i32: [1]> : tile<1xi32>
}
// -----
entry @k() {
  // expected-error@+1 [E0802] 'entry' parent operation: expected 'module', got 'entry'
  entry @l() {
  }
}
// -----
entry @k() {
  // expected-error@+1 [E0802] 'experimental$func' parent operation: expected 'module', got 'entry'
  experimental$func @l() {
  }
}
// -----
cuda_tile.module @m {
  // expected-error@+1 [E0803] 'constant' cannot stand directly in a module, which holds entries, globals and functions
  %r = constant <i32: 1> : tile<i32>
}
// -----
// expected-error@+1 [E0810] expected no results, got (tile<i32>)
entry @k(%a: tile<i32>) -> tile<i32> {
  return
}
// -----
// expected-error@+1 [E0811] argument 1: expected a scalar tile, got tile<4xi32>
entry @k(%a: tile<i32>, %b: tile<4xi32>) {
}
// -----
// expected-error@+1 [E0815] argument 1: expected a scalar tile in version 13.5, got tensor_view<64xf32, strides=[1]>
entry @k(%a: tile<i32>, %v: tensor_view<64xf32, strides=[1]>) {
}
// -----
// expected-error@+1 [E0815] argument 0: expected a scalar tile in version 13.5, got token
entry @k(%t: token) {
}
// -----
// expected-error@+1 [E0812] body arguments: expected those of the signature, (tile<i32>), got (tile<i64>)
"cuda_tile.entry"() <{sym_name = "k", function_type = (!cuda_tile.tile<i32>) -> ()}> ({
^bb0(%a: !cuda_tile.tile<i64>):
  "cuda_tile.return"() : () -> ()
}) : () -> ()
// -----
// expected-error@+1 [E0812] body arguments: expected those of the signature, (), got (tile<i64>)
"cuda_tile.experimental$func"() <{sym_name = "k", function_type = () -> ()}> ({
^bb0(%a: !cuda_tile.tile<i64>):
  "cuda_tile.return"() : () -> ()
}) : () -> ()
// -----
// expected-error@+1 [E0202] attribute 'function_type': expected a function type, got tile<i32>
"cuda_tile.entry"() <{sym_name = "k", function_type = !cuda_tile.tile<i32>}> ({
  "cuda_tile.return"() : () -> ()
}) : () -> ()
// -----
// expected-error@+1 [E0202] attribute 'function_type': expected a function type, got tile<i32>
"cuda_tile.experimental$func"() <{sym_name = "k", function_type = !cuda_tile.tile<i32>}> ({
  "cuda_tile.return"() : () -> ()
}) : () -> ()
// -----
// expected-error@+1 [E0207] 'module' body: expected no arguments, got 1
"cuda_tile.module"() <{sym_name = "m"}> ({
^bb0(%a: !cuda_tile.tile<i32>):
}) : () -> ()
// -----
// expected-error@+1 [E0813] attribute 'value': expected a tile of rank 1, got tile<i32>
global @g <i32: 1> : tile<i32>
// -----
// level: 13.2
// expected-error@+1 [E0219] attribute 'value': expected a type of version 13.2, got tile<2xf4E2M1FN>, which exists since 13.3
global @g <f4E2M1FN: 1.0> : tile<2xf4E2M1FN>
// -----
// expected-error@+1 [E0816] attribute 'alignment': expected 0 or a power of two, got -8
global @g alignment = -8 <i32: [1]> : tile<1xi32>
// -----
// expected-warning@+1 [W0801] attribute 'alignment': expected 0 or a power of two, got 3
global @g alignment = 3 <i32: [1]> : tile<1xi32>
