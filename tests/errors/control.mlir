experimental$func @f(%n: tile<i32>, %a: tile<f32>, %h: tile<f16>) {
  // expected-error@+1 [E0503] results: expected the types of the initial values, (tile<f32>), got (tile<f16>)
  %r = "cuda_tile.for"(%n, %n, %n, %a) ({
  ^bb0(%i: !cuda_tile.tile<i32>, %x: !cuda_tile.tile<f32>):
    continue %h : tile<f16>
  }) : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<f32>) -> !cuda_tile.tile<f16>
}
// -----
experimental$func @f(%n: tile<i32>) {
  // expected-error@+1 [E0504] induction variable: expected tile<i32>, the type of the bounds, got tile<i64>
  "cuda_tile.for"(%n, %n, %n) ({
  ^bb0(%i: !cuda_tile.tile<i64>):
    continue
  }) : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>) -> ()
}
// -----
experimental$func @f(%n: tile<i32>) {
  // expected-error@+1 [E0504] induction variable: expected tile<i32>, the type of the bounds, got none
  "cuda_tile.for"(%n, %n, %n) ({
    continue
  }) : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>) -> ()
}
// -----
experimental$func @f(%n: tile<i32>, %a: tile<f32>) {
  // expected-error@+1 [E0505] body: expected 1 iteration argument, one per initial value, got 0
  %r = "cuda_tile.for"(%n, %n, %n, %a) ({
  ^bb0(%i: !cuda_tile.tile<i32>):
    continue %a : tile<f32>
  }) : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
}
// -----
experimental$func @f(%a: tile<f32>) {
  // expected-error@+1 [E0505] iteration argument 0: expected tile<f32>, the type of its initial value, got tile<f16>
  "cuda_tile.loop"(%a) ({
  ^bb0(%x: !cuda_tile.tile<f16>):
    continue %a : tile<f32>
  }) : (!cuda_tile.tile<f32>) -> ()
}
// -----
experimental$func @f(%n: tile<i32>, %v: tensor_view<4xf32, strides=[1]>) {
  // expected-error@+1 [E0506] initial value 0: expected a tile or a token, got tensor_view<4xf32, strides=[1]>
  %r = for %i in (%n to %n, step %n) : tile<i32> iter_values(%x = %v) -> (tensor_view<4xf32, strides=[1]>) {
    continue %x : tensor_view<4xf32, strides=[1]>
  }
}
// -----
experimental$func @f(%v: partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>) {
  // expected-error@+1 [E0506] result 0: expected a tile or a token, got partition_view<tile=(4)
  %r = loop : partition_view<tile=(4), tensor_view<4xf32, strides=[1]>> {
    break %v : partition_view<tile=(4), tensor_view<4xf32, strides=[1]>>
  }
}
// -----
experimental$func @f(%c: tile<i1>, %v: tensor_view<4xf32, strides=[1]>) {
  // expected-error@+1 [E0506] result 0: expected a tile or a token, got tensor_view<4xf32, strides=[1]>
  %r = if %c -> (tensor_view<4xf32, strides=[1]>) {
    yield %v : tensor_view<4xf32, strides=[1]>
  } else {
    yield %v : tensor_view<4xf32, strides=[1]>
  }
}
// -----
experimental$func @f(%c: tile<i1>, %a: tile<f32>) {
  // expected-error@+1 [E0507] expected an else region, as there are results, got none
  %r = if %c -> (tile<f32>) {
    yield %a : tile<f32>
  }
}
// -----
experimental$func @f(%c: tile<i1>) {
  if %c {
    // expected-error@+1 [E0501] nearest operation around other than 'if': expected 'loop', got 'experimental$func'
    break
  }
}
// -----
experimental$func @f(%c: tile<i1>, %n: tile<i32>) {
  loop {
    for %i in (%n to %n, step %n) : tile<i32> {
      if %c {
        // expected-error@+1 [E0501] expected 'loop', got 'for'
        break
      }
    }
    break
  }
}
// -----
experimental$func @f(%c: tile<i1>) {
  if %c {
    // expected-error@+1 [E0501] expected 'for' or 'loop', got 'experimental$func'
    continue
  }
}
// -----
entry @k(%c: tile<i1>, %n: tile<i32>) {
  for %i in (%n to %n, step %n) : tile<i32> {
    if %c {
      // expected-error@+1 [E0501] nearest operation around other than 'if' and 'loop': expected 'entry', got 'for'
      return
    }
  }
}
// -----
// level: 13.3
entry @k() {
  loop {
    // expected-error@+1 [E0501] nearest operation around other than 'if': expected 'entry', got 'loop'
    return
  }
}
// -----
experimental$func @f(%a: tile<f32>) {
  %r = loop : tile<i32> {
    // expected-error@+1 [E0502] operands: expected the results of the 'loop', (tile<i32>), got (tile<f32>)
    break %a : tile<f32>
  }
}
// -----
experimental$func @f(%a: tile<f32>) {
  loop iter_values(%x = %a) : tile<f32> {
    // expected-error@+1 [E0502] operands: expected the values that the 'loop' carries, (tile<f32>), got ()
    continue
  }
}
// -----
entry @k(%a: tile<f32>) {
  // expected-error@+1 [E0502] operands: expected the results of the 'entry', (), got (tile<f32>)
  return %a : tile<f32>
}
// -----
experimental$func @f(%a: tile<f32>) -> tile<i32> {
  // expected-error@+1 [E0502] operands: expected the results of the 'experimental$func', (tile<i32>), got (tile<f32>)
  return %a : tile<f32>
}
// -----
experimental$func @f(%c: tile<i1>, %a: tile<f32>) {
  if %c {
    // expected-error@+1 [E0502] operands: expected the results of the 'if', (), got (tile<f32>)
    yield %a : tile<f32>
  }
}
// -----
experimental$func @f(%c: tile<i1>, %a: tile<f32>) {
  %r = if %c -> (tile<f32>) {
    yield %a : tile<f32>
  } else {
    // expected-error@+1 [E0502] operands: expected the results of the 'if', (tile<f32>), got (tile<i1>)
    yield %c : tile<i1>
  }
}
