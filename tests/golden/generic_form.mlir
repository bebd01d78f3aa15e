// The generic form reads as the same program, also mixed with the custom one.
"cuda_tile.module"() <{sym_name = "generic"}> ({
  "cuda_tile.global"() <{alignment = 0 : i64, sym_name = "g", value = dense<[1, 2]> : !cuda_tile.tile<2xi32>}> : () -> ()
  "cuda_tile.entry"() <{function_type = (!cuda_tile.tile<i32>, !cuda_tile.tile<ptr<f32>>) -> (), sym_name = "k"}> ({
  ^bb0(%n: !cuda_tile.tile<i32>, %p: !cuda_tile.tile<ptr<f32>>):
    %0 = "cuda_tile.constant"() <{value = dense<3> : !cuda_tile.tile<i32>}> : () -> !cuda_tile.tile<i32>
    %1 = "cuda_tile.addi"(%n, %0) <{overflow = #cuda_tile.overflow<no_wrap>}> : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>) -> !cuda_tile.tile<i32>
    %2:2 = "cuda_tile.load_ptr_tko"(%p) <{memory_ordering_semantics = 1 : i32, memory_scope = 2 : i32, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (!cuda_tile.tile<ptr<f32>>) -> (!cuda_tile.tile<f32>, !cuda_tile.token)
    %3 = "cuda_tile.for"(%0, %1, %0, %2#0) <{unsignedCmp}> ({
    ^bb0(%i: !cuda_tile.tile<i32>, %a: !cuda_tile.tile<f32>):
      %4 = "cuda_tile.mulf"(%a, %a) <{flush_to_zero, rounding_mode = #cuda_tile.rounding<zero>}> : (!cuda_tile.tile<f32>, !cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
      "cuda_tile.continue"(%4) : (!cuda_tile.tile<f32>) -> ()
    }) : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
    "cuda_tile.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
