// Structured control flow: carried values, early exits, implicit terminators.
cuda_tile.module @control {
  // Stores the sum of 0, 1, ..., n - 1.
  entry @triangle(%n: tile<i32>, %out: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %sum = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %zero) -> (tile<i32>) {
      %next = addi %acc, %i : tile<i32>
      continue %next : tile<i32>
    }
    store_ptr_tko weak %out, %sum : tile<ptr<i32>>, tile<i32> -> token
  }

  // Counts the halvings of n until it is 0.
  entry @halvings(%n: tile<i32>, %out: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %count = loop iter_values(%left = %n, %steps = %zero) : tile<i32>, tile<i32> -> tile<i32> {
      %done = cmpi equal %left, %zero, signed : tile<i32> -> tile<i1>
      if %done {
        break %steps : tile<i32>
      }
      %half = shri %left, %one unsigned : tile<i32>
      %more = addi %steps, %one : tile<i32>
      continue %half, %more : tile<i32>, tile<i32>
    }
    store_ptr_tko weak %out, %count : tile<ptr<i32>>, tile<i32> -> token
  }

  entry @branches(%flag: tile<i1>, %a: tile<i32>, %b: tile<f32>) {
    if %flag {
      %0 = addi %a, %a : tile<i32>
    }
    if %flag {
    } else {
    }
    if %flag {
      yield
    } else {
      %1 = addf %b, %b : tile<f32>
    }
    %2 = if %flag -> (tile<i32>) {
      yield %a : tile<i32>
    } else {
      %3 = negi %a : tile<i32>
      yield %3 : tile<i32>
    }
    %4, %5 = if %flag -> (tile<i32>, tile<f32>) {
      yield %2, %b : tile<i32>, tile<f32>
    } else {
      yield %a, %b : tile<i32>, tile<f32>
    }
    %6 = addi %4, %2 : tile<i32>
    %7 = negf %5 : tile<f32>
    if %flag {
      return
    }
    assert %flag, "flag must be set" : tile<i1>
    return
  }

  entry @loops(%n: tile<i64>, %x: tile<f32>, %flag: tile<i1>) {
    for %i in (%n to %n, step %n) : tile<i64> {
    }
    for unsigned %i in (%n to %n, step %n) : tile<i64> {
      continue
    }
    %a:2 = for %i in (%n to %n, step %n) : tile<i64> iter_values(%u = %x, %v = %n) -> (tile<f32>, tile<i64>) {
      %w = for %j in (%n to %i, step %n) : tile<i64> iter_values(%k = %v) -> (tile<i64>) {
        %m = muli %k, %j : tile<i64>
        continue %m : tile<i64>
      }
      %s = addf %u, %x : tile<f32>
      continue %s, %w : tile<f32>, tile<i64>
    }
    %b = addf %a#0, %x : tile<f32>
    %c = loop : tile<f32> {
      break %b : tile<f32>
    }
    loop {
      if %flag {
        break
      }
      if %flag {
        continue
      } else {
        break
      }
    }
    loop iter_values(%t = %c) : tile<f32> {
      %t2 = mulf %t, %t : tile<f32>
      if %flag {
        break
      }
      continue %t2 : tile<f32>
    }
    %d, %e = loop iter_values(%t = %c, %q = %a#1) : tile<f32>, tile<i64> -> tile<i64>, tile<f32> {
      break %q, %t : tile<i64>, tile<f32>
    }
    %f = addi %d, %a#1 : tile<i64>
    %g = subf %e, %c : tile<f32>
  }

  entry @tokens(%p: tile<ptr<f32>>, %n: tile<i32>) {
    %start = make_token : token
    %last = for %i in (%n to %n, step %n) : tile<i32> iter_values(%t = %start) -> (token) {
      %v, %u = load_ptr_tko weak %p token=%t : tile<ptr<f32>> -> tile<f32>, token
      continue %u : token
    }
    %zero = constant <f32: 0.0> : tile<f32>
    store_ptr_tko weak %p, %zero token=%last : tile<ptr<f32>>, tile<f32> -> token
  }

  entry @empty() {}
}
