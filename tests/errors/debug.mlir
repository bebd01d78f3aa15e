#file = #cuda_tile.di_file<"k.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
#sub = #cuda_tile.di_subprogram<file = #file, line = 3, name = "k", linkageName = "k", compileUnit = #unit>
#in = #cuda_tile.di_loc<loc("k.py":3:1) in #sub>
// expected-error@k.py:9:1 [E0821] 'entry' location: expected the place of a definition, got a call site
entry @k() {
} loc(callsite("k.py":9:1 at #in))
// -----
#file = #cuda_tile.di_file<"k.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
// expected-error@k.py:9:1 [E0821] 'experimental$func' location: expected the place of a definition, got a call site
experimental$func @k() {
} loc(callsite("k.py":9:1 at "k.py":10:1))
// -----
#file = #cuda_tile.di_file<"k.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
#sub = #cuda_tile.di_subprogram<file = #file, line = 3, name = "k", linkageName = "k", compileUnit = #unit>
#block = #cuda_tile.di_lexical_block<scope = #sub, file = #file, line = 5>
#in = #cuda_tile.di_loc<loc("k.py":3:1) in #block>
// expected-error@k.py:3:1 [E0822] 'entry' debug scope: expected a di_subprogram, got a di_lexical_block
entry @k() {
} loc(#in)
// -----
#file = #cuda_tile.di_file<"k.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
#sub = #cuda_tile.di_subprogram<file = #file, line = 3, name = "k", linkageName = "k", compileUnit = #unit>
#block = #cuda_tile.di_lexical_block<scope = #sub, file = #file, line = 5>
#in = #cuda_tile.di_loc<loc("k.py":3:1) in #block>
// expected-error@k.py:3:1 [E0822] 'experimental$func' debug scope: expected a di_subprogram, got a di_lexical_block
experimental$func @k() {
} loc(#in)
// -----
#file = #cuda_tile.di_file<"k.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
#sub = #cuda_tile.di_subprogram<file = #file, line = 3, name = "k", linkageName = "other", compileUnit = #unit>
#in = #cuda_tile.di_loc<loc("k.py":3:1) in #sub>
// expected-error@k.py:3:1 [E0823] 'entry' debug scope: expected a di_subprogram with linkageName 'k', got 'other'
entry @k() {
} loc(#in)
// -----
#file = #cuda_tile.di_file<"k.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
#sub = #cuda_tile.di_subprogram<file = #file, line = 3, name = "k", linkageName = "other", compileUnit = #unit>
#in = #cuda_tile.di_loc<loc("k.py":3:1) in #sub>
// expected-error@k.py:3:1 [E0823] 'experimental$func' debug scope: expected a di_subprogram with linkageName 'k', got 'other'
experimental$func @k() {
} loc(#in)
// -----
#file = #cuda_tile.di_file<"k.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
#sub = #cuda_tile.di_subprogram<file = #file, line = 3, name = "k", linkageName = "k", compileUnit = #unit>
#in = #cuda_tile.di_loc<loc("k.py":4:1) in #sub>
entry @k() {
  // expected-error@k.py:4:1 [E0824] 'make_token' location: expected no debug scope, as the function has none, got one
  %t = make_token : token loc(#in)
  %u = make_token : token loc(#in)
}
// -----
#file = #cuda_tile.di_file<"k.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
#sub = #cuda_tile.di_subprogram<file = #file, line = 3, name = "k", linkageName = "k", compileUnit = #unit>
#other = #cuda_tile.di_subprogram<file = #file, line = 8, name = "j", linkageName = "j", compileUnit = #unit>
#block = #cuda_tile.di_lexical_block<scope = #sub, file = #file, line = 5>
#in = #cuda_tile.di_loc<loc("k.py":4:1) in #sub>
#inner = #cuda_tile.di_loc<loc("k.py":5:1) in #block>
#out = #cuda_tile.di_loc<loc("k.py":8:1) in #other>
entry @k() {
  %t = make_token : token loc(#inner)
  %u = make_token : token loc(callsite(#out at #inner))
  // expected-error@k.py:8:1 [E0825] 'make_token' debug scope: expected one in the function's di_subprogram 'k', got one in 'j'
  %v = make_token : token loc(#out)
} loc(#in)
// -----
#file = #cuda_tile.di_file<"k.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file>
#sub = #cuda_tile.di_subprogram<file = #file, line = 3, name = "k", linkageName = "k", compileUnit = #unit>
#in = #cuda_tile.di_loc<loc("k.py":3:1) in #sub>
// expected-error@k.py:3:1 [E0826] 'global' location: expected none with a debug scope, got one
global @g <i32: [1]> : tile<1xi32> loc(#in)
