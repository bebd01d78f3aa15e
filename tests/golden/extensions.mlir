// Operations of early documents that have a text form but no bytecode.
cuda_tile.module @extensions {
  experimental$func @square(%x: tile<4xf32>) -> tile<4xf32> {
    %0 = mulf %x, %x : tile<4xf32>
    return %0 : tile<4xf32>
  }

  testing$func @swap(%a: tile<i32>, %b: token) -> (token, tile<i32>) {
    return %b, %a : token, tile<i32>
  }

  experimental$func @nothing() {
  }

  entry @calls(%n: tile<i32>) {
    %x = constant <f32: [1.0, 2.0, 3.0, 4.0]> : tile<4xf32>
    %0 = experimental$call @square(%x) : (tile<4xf32>) -> tile<4xf32>
    %t = make_token : token
    %1:2 = experimental$call @swap(%n, %t) : (tile<i32>, token) -> (token, tile<i32>)
    experimental$call @nothing() : () -> ()
    %2 = addi %1#1, %n : tile<i32>
    %3 = experimental$asin %0 : tile<4xf32>
    %4 = experimental$extern_elementwise %0, %3 {libname = "m", libpath = "", pure = true, symbol = "hypot"} : (tile<4xf32>, tile<4xf32>) -> tile<4xf32>
    %5 = internal$optimization_barrier %4 : tile<4xf32>
    %6 = internal$optimization_barrier %5, keep_axis_info : tile<4xf32>
    %7 = experimental$alloca num_elem = 4, alignment = 16 : tile<ptr<f32>>
  }

  entry @generated(%n: tile<i32>) {
    %0 = experimental$generate {
    ^bb0(%i: tile<i32>, %j: tile<i32>):
      %s = muli %i, %j : tile<i32>
      %u = addi %s, %n : tile<i32>
      yield %u : tile<i32>
    } : tile<4x8xi32>
    %1 = experimental$generate {
      yield %n : tile<i32>
    } : tile<i32>
  }

  entry @rows(%p: tile<ptr<f32>>, %c: tile<i32>) {
    %v = make_tensor_view %p, shape = [64, 16], strides = [16, 1] : tensor_view<64x16xf32, strides=[16,1]>
    %rows = iota : tile<4xi32>
    %0 = experimental$gather_load %v, %rows, [%c] <{dim = 0 : i64}> : tensor_view<64x16xf32, strides=[16,1]>, tile<4xi32>, tile<i32> -> tile<4x2xf32>
    %1 = experimental$gather_load %v, %rows, [%c] <{dim = 0 : i64, fillValue = #cuda_tile<padding_value zero>}> : tensor_view<64x16xf32, strides=[16,1]>, tile<4xi32>, tile<i32> -> tile<4x2xf32>
    %2 = experimental$scatter_store %0, %v, %rows, [%c] <{dim = 0 : i64}> : tile<4x2xf32>, tensor_view<64x16xf32, strides=[16,1]>, tile<4xi32>, tile<i32> -> token
    %3 = experimental$scatter_store %1, %v, %rows, [%c] token = %2 <{dim = 0 : i64}> : tile<4x2xf32>, tensor_view<64x16xf32, strides=[16,1]>, tile<4xi32>, tile<i32>, token -> token
  }
}
