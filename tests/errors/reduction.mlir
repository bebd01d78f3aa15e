experimental$func @f() {
  // expected-error@+1 [E0205] expected at least one operand, got none
  "cuda_tile.reduce"() <{dim = 0 : i32, identities = []}> ({
    yield
  }) : () -> ()
}
// -----
experimental$func @f() {
  // expected-error@+1 [E0205] expected at least one operand, got none
  "cuda_tile.scan"() <{dim = 0 : i32, identities = [], reverse = false}> ({
    yield
  }) : () -> ()
}
// -----
experimental$func @f(%a: tile<4x8xf32>) {
  // expected-error@+1 [E0510] result 0: expected tile<4xf32>, tile<4x8xf32> without dimension 1, got tile<8xf32>
  %r = reduce %a dim=1 identities=[0.0 : f32] : tile<4x8xf32> -> tile<8xf32> (%x: tile<f32>, %y: tile<f32>) {
    yield %x : tile<f32>
  }
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0510] result 0: expected tile<f32>, tile<4xf32> without dimension 0, got tile<f16>
  %r = reduce %a dim=0 identities=[0.0 : f32] : tile<4xf32> -> tile<f16> (%x: tile<f32>, %y: tile<f32>) {
    yield %x : tile<f32>
  }
}
// -----
experimental$func @f(%a: tile<4x8xf32>) {
  // expected-error@+1 [E0510] result 0: expected tile<4x8xf32>, as operand 0, got tile<4xf32>
  %r = scan %a dim=1 reverse=false identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32> (%x: tile<f32>, %y: tile<f32>) {
    yield %x : tile<f32>
  }
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0511] attribute 'dim': expected a dimension in [0, 1), got 1
  %r = reduce %a dim=1 identities=[0.0 : f32] : tile<4xf32> -> tile<f32> (%x: tile<f32>, %y: tile<f32>) {
    yield %x : tile<f32>
  }
}
// -----
experimental$func @f(%a: tile<f32>) {
  // expected-error@+1 [E0511] attribute 'dim': expected operands of rank 1 or more, to have a dimension, got 0
  %r = scan %a dim=0 reverse=false identities=[0.0 : f32] : tile<f32> -> tile<f32> (%x: tile<f32>, %y: tile<f32>) {
    yield %x : tile<f32>
  }
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0512] expected 1 result, one per operand, got 2
  %r:2 = "cuda_tile.reduce"(%a) <{dim = 0 : i32, identities = [0.0 : f32]}> ({
  ^bb0(%x: !cuda_tile.tile<f32>, %y: !cuda_tile.tile<f32>):
    yield %x : tile<f32>
  }) : (!cuda_tile.tile<4xf32>) -> (!cuda_tile.tile<f32>, !cuda_tile.tile<f32>)
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0512] expected 1 result, one per operand, got 0
  "cuda_tile.scan"(%a) <{dim = 0 : i32, identities = [0.0 : f32], reverse = false}> ({
  ^bb0(%x: !cuda_tile.tile<f32>, %y: !cuda_tile.tile<f32>):
    yield %x : tile<f32>
  }) : (!cuda_tile.tile<4xf32>) -> ()
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0513] attribute 'identities': expected 1, one per operand, got 2
  %r = reduce %a dim=0 identities=[0.0 : f32, 1.0 : f32] : tile<4xf32> -> tile<f32> (%x: tile<f32>, %y: tile<f32>) {
    yield %x : tile<f32>
  }
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0513] attribute 'identities': expected 1, one per operand, got 2
  %r = scan %a dim=0 reverse=true identities=[0.0 : f32, 1.0 : f32] : tile<4xf32> -> tile<4xf32> (%x: tile<f32>, %y: tile<f32>) {
    yield %x : tile<f32>
  }
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0514] identity 0: expected a number of f32, as operand 0, got i32
  %r = reduce %a dim=0 identities=[0 : i32] : tile<4xf32> -> tile<f32> (%x: tile<f32>, %y: tile<f32>) {
    yield %x : tile<f32>
  }
}
// -----
experimental$func @f(%a: tile<4xi32>) {
  // expected-error@+1 [E0514] identity 0: expected a number of i32, as operand 0, got i1
  %r = scan %a dim=0 reverse=true identities=[true] : tile<4xi32> -> tile<4xi32> (%x: tile<i32>, %y: tile<i32>) {
    yield %x : tile<i32>
  }
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0515] body: expected 2 arguments, two per operand, got 1
  %r = reduce %a dim=0 identities=[0.0 : f32] : tile<4xf32> -> tile<f32> (%x: tile<f32>) {
    yield %x : tile<f32>
  }
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0515] body: expected 2 arguments, two per operand, got 3
  %r = scan %a dim=0 reverse=true identities=[0.0 : f32] : tile<4xf32> -> tile<4xf32> (%x: tile<f32>, %y: tile<f32>, %z: tile<f32>) {
    yield %x : tile<f32>
  }
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0516] body argument 0: expected a scalar tile of f32, as operand 0, got tile<2xf32>
  %r = reduce %a dim=0 identities=[0.0 : f32] : tile<4xf32> -> tile<f32> (%x: tile<2xf32>, %y: tile<f32>) {
    yield %y : tile<f32>
  }
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0516] body argument 1: expected a scalar tile of f32, as operand 0, got tile<f16>
  %r = scan %a dim=0 reverse=true identities=[0.0 : f32] : tile<4xf32> -> tile<4xf32> (%x: tile<f32>, %y: tile<f16>) {
    yield %x : tile<f32>
  }
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  %r = reduce %a dim=0 identities=[0.0 : f32] : tile<4xf32> -> tile<f32> (%x: tile<f32>, %y: tile<f32>) {
    // expected-error@+1 [E0517] expected 1 operand, what 'reduce' combines, got 2
    yield %x, %y : tile<f32>, tile<f32>
  }
}
// -----
experimental$func @f(%a: tile<4xf32>, %n: tile<i32>) {
  %r = scan %a dim=0 reverse=true identities=[0.0 : f32] : tile<4xf32> -> tile<4xf32> (%x: tile<f32>, %y: tile<f32>) {
    // expected-error@+1 [E0517] operand 'operands[0]': expected a tile of f32, got tile<i32>
    yield %n : tile<i32>
  }
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  %r = experimental$generate {
  ^bb0(%i: tile<i32>):
    // expected-error@+1 [E0517] operand 'operands[0]': expected a scalar tile of i32, got tile<4xf32>
    yield %a : tile<4xf32>
  } : tile<4xi32>
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  %r = reduce %a dim=0 identities=[0.0 : f32] : tile<4xf32> -> tile<f32> (%x: tile<f32>, %y: tile<f32>) {
    // expected-error@+1 [E0518] 'print_tko' cannot stand in the body of 'reduce', which takes operations without memory effects
    %t = print_tko "%f", %x : tile<f32> -> token
    yield %x : tile<f32>
  }
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  %r = scan %a dim=0 reverse=true identities=[0.0 : f32] : tile<4xf32> -> tile<4xf32> (%x: tile<f32>, %y: tile<f32>) {
    // expected-error@+1 [E0518] 'loop' cannot stand in the body of 'scan', which takes operations without memory effects
    loop {
      break
    }
    yield %x : tile<f32>
  }
}
// -----
experimental$func @f(%c: tile<i1>) {
  %r = experimental$generate {
  ^bb0(%i: tile<i32>):
    if %c {
      // expected-error@+1 [E0518] 'assert' cannot stand in the body of 'experimental$generate'
      assert %c, "no" : tile<i1>
    }
    yield %i : tile<i32>
  } : tile<4xi32>
}
// -----
experimental$func @f(%a: tile<4xi32>) {
  %r = reduce %a dim=0 identities=[0 : i32] : tile<4xi32> -> tile<i32> (%x: tile<i32>, %y: tile<i32>) {
    // expected-error@+1 [E0518] 'experimental$extern_elementwise' cannot stand in the body of 'reduce'
    %z = experimental$extern_elementwise %x {libname = "", libpath = "", pure = false, symbol = "g"} : (tile<i32>) -> tile<i32>
    yield %z : tile<i32>
  }
}
// -----
// level: 13.3
experimental$func @f(%a: tile<4xf32>, %c: tile<i1>) {
  %r = reduce %a dim=0 identities=[0.0 : f32] : tile<4xf32> -> tile<f32> (%x: tile<f32>, %y: tile<f32>) {
    // expected-error@+1 [E0518] 'if' cannot stand in the body of 'reduce', which takes operations that are pure
    %z = if %c -> (tile<f32>) {
      yield %x : tile<f32>
    } else {
      yield %y : tile<f32>
    }
    yield %z : tile<f32>
  }
}
// -----
// level: 13.3
experimental$func @f(%a: tile<4xi32>) {
  %r = reduce %a dim=0 identities=[1 : i32] : tile<4xi32> -> tile<i32> (%x: tile<i32>, %y: tile<i32>) {
    // expected-error@+1 [E0518] 'divi' cannot stand in the body of 'reduce', which takes operations that are pure
    %z = divi %x, %y signed : tile<i32>
    yield %z : tile<i32>
  }
}
// -----
experimental$func @f() {
  %r = experimental$generate {
  ^bb0(%i: tile<i32>):
    // expected-error@+1 [E0472] result: expected a scalar tile in the body of 'experimental$generate', got tile<4xi32>
    %j = iota : tile<4xi32>
    yield %i : tile<i32>
  } : tile<4xi32>
}
// -----
experimental$func @f(%a: tile<4xf32>) {
  // expected-error@+1 [E0511] attribute 'dim': expected 0 or more, got -1
  %r = "cuda_tile.reduce"(%a) <{dim = -1 : i32, identities = [0.0 : f32]}> ({
  ^bb0(%x: !cuda_tile.tile<f32>, %y: !cuda_tile.tile<f32>):
    yield %x : tile<f32>
  }) : (!cuda_tile.tile<4xf32>) -> !cuda_tile.tile<f32>
}
