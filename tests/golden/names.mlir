// Canonical names: hints, conflicts, nested and sibling regions.
cuda_tile.module @names attributes {producer = "a \"producer\" 1.0"} {
  entry @hints(%p: tile<ptr<f32>>, %flag: tile<i1>) {
    %a = constant <i32: 0> : tile<i32>
    %b = constant <i32: 0> : tile<i32>
    %c = constant <i32: [0, 1]> : tile<2xi32>
    %d = constant <f32: 0x7FC00000> : tile<f32>
    %e = constant <f32: 0.5> : tile<f32>
    %f = constant <f32: 3.0> : tile<f32>
    %g = constant <f32: -3.0> : tile<f32>
    %h = constant <i1: false> : tile<i1>
    %i = constant <i1: [true, false]> : tile<2xi1>
    %j, %k, %l = get_tile_block_id : tile<i32>
    %m, %n, %o = get_tile_block_id : tile<i32>
    %q, %r = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    %s, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    %u = constant <i64: -5> : tile<i64>
  }

  entry @nested(%n: tile<i32>, %flag: tile<i1>) {
    %zero = constant <i32: 0> : tile<i32>
    %s = for %i in (%zero to %n, step %n) : tile<i32> iter_values(%acc = %n) -> (tile<i32>) {
      %zero2 = constant <i32: 0> : tile<i32>
      %t = for %j in (%zero2 to %i, step %n) : tile<i32> iter_values(%k = %acc) -> (tile<i32>) {
        %zero3 = constant <i32: 0> : tile<i32>
        %u = addi %k, %zero3 : tile<i32>
        continue %u : tile<i32>
      }
      %v = addi %t, %zero2 : tile<i32>
      continue %v : tile<i32>
    }
    if %flag {
      %zero4 = constant <i32: 0> : tile<i32>
      %w = addi %s, %zero4 : tile<i32>
    } else {
      %zero5 = constant <i32: 0> : tile<i32>
      %x = subi %s, %zero5 : tile<i32>
    }
    %l = loop iter_values(%y = %n, %z = %s) : tile<i32>, tile<i32> -> tile<i32> {
      loop iter_values(%q = %y) : tile<i32> {
        break
      }
      break %z : tile<i32>
    }
    %end = addi %l, %n : tile<i32>
  }
}
