// What is easily refused by mistake: each chunk is accepted without a word at its level.

// level: 13.4
entry @k(%c: tile<i1>) {
  loop {
    if %c {
      return
    }
    return
  }
}
// -----
// level: 13.1
entry @k(%c: tile<i1>) {
  if %c {
    if %c {
      return
    }
    return
  }
}
// -----
// level: 13.4
experimental$func @f(%a: tile<4x8xf32>, %c: tile<i1>) {
  %r = reduce %a dim=0 identities=[0.0 : f32] : tile<4x8xf32> -> tile<8xf32> (%x: tile<f32>, %y: tile<f32>) {
    %z = if %c -> (tile<f32>) {
      yield %x : tile<f32>
    } else {
      yield %y : tile<f32>
    }
    %v = reshape %z : tile<f32> -> tile<1xf32>
    %w = reduce %v dim=0 identities=[0.0 : f32] : tile<1xf32> -> tile<f32> (%p: tile<f32>, %q: tile<f32>) {
      yield %p : tile<f32>
    }
    yield %w : tile<f32>
  }
}
// -----
// level: 13.4
experimental$func @f(%a: tile<4xi32>) {
  %r = reduce %a dim=0 identities=[1 : i32] : tile<4xi32> -> tile<i32> (%x: tile<i32>, %y: tile<i32>) {
    %z = divi %x, %y signed : tile<i32>
    yield %z : tile<i32>
  }
}
// -----
// level: 13.1
experimental$func @f(%a: tile<4xf16>, %b: tile<8xf16>) {
  %r = reduce %a dim=0 identities=[0.0 : bf16] : tile<4xf16> -> tile<f16> (%x: tile<f16>, %y: tile<f16>) {
    yield %b : tile<8xf16>
  }
}
// -----
// level: 13.1
experimental$func @f(%a: tile<4xf16>, %b: tile<4xi1>) {
  %r, %s = scan %a, %b dim=0 reverse=false identities=[0.0 : f16, true] : tile<4xf16>, tile<4xi1> -> tile<4xf16>, tile<4xi1>
    (%x: tile<f16>, %y: tile<f16>, %p: tile<i1>, %q: tile<i1>) {
    yield %x, %p : tile<f16>, tile<i1>
  }
}
// -----
// level: 13.3
entry @k() {
  %p = alloca num_elem = 0, alignment = 2 : tile<ptr<tf32>>
  %q = alloca num_elem = 8, alignment = 1 : tile<ptr<f4E2M1FN>>
  %r = alloca num_elem = 8, alignment = 1 : tile<ptr<i1>>
}
// -----
experimental$func @f(%w: strided_view<tile=(4x4), traversal_strides=[2,2], padding_value = nan, tensor_view<64x64xf32, strides=[64,1]>>,
                     %i: tile<i32>, %j: tile<i64>, %v: tile<4x4xf32>) {
  %s = atomic_red_view_tko relaxed tl_blk %w[%i, %j], addf, %v
    : tile<4x4xf32>, strided_view<tile=(4x4), traversal_strides=[2,2], padding_value = nan, tensor_view<64x64xf32, strides=[64,1]>>, tile<i32>, tile<i64> -> token
}
// -----
// level: 13.4
experimental$func @f(%w: partition_view<tile=(8x4), tensor_view<64x32xf4E2M1FN, strides=[1,1]>>, %i: tile<i32>,
                     %p: tile<8xptr<f4E2M1FN>>) {
  %r, %s = load_view_tko weak %w[%i, %i] : partition_view<tile=(8x4), tensor_view<64x32xf4E2M1FN, strides=[1,1]>>, tile<i32> -> tile<8x4xf4E2M1FN>, token
  %q, %t = load_ptr_tko weak %p : tile<8xptr<f4E2M1FN>> -> tile<8xf4E2M1FN>, token
}
// -----
experimental$func @f(%w: partition_view<tile=(8x4), tensor_view<63x31xf4E2M1FN, strides=[1,?]>>, %i: tile<i1>) {
  %r, %s = load_view_tko weak %w[%i, %i] : partition_view<tile=(8x4), tensor_view<63x31xf4E2M1FN, strides=[1,?]>>, tile<i1> -> tile<8x4xf4E2M1FN>, token
}
// -----
// level: 13.1
entry @k(%t: token, %v: tensor_view<64xf32, strides=[1]>, %w: partition_view<tile=(8), tensor_view<64xf32, strides=[1]>>) {
}
// -----
entry @k(%a: tile<i1>, %b: tile<i4>, %c: tile<tf32>, %d: tile<f8E4M3FN>, %e: tile<fnv8E5M3FNU>, %p: tile<ptr<f4E2M1FN>>) {
}
// -----
// level: 13.3
experimental$func @f(%p: tile<4xptr<bf16>>, %v: tile<4xbf16>) {
  %r, %s = atomic_rmw_tko acq_rel sys %p, addf, %v : tile<4xptr<bf16>>, tile<4xbf16> -> tile<4xbf16>, token
}
// -----
// level: 13.1
experimental$func @f(%p: tile<4xptr<f32>>, %z: tile<4xf32>) {
  %r, %s = "cuda_tile.load_ptr_tko"(%p, %z) <{memory_ordering_semantics = 0 : i32, operandSegmentSizes = array<i32: 1, 0, 1, 0>}>
    : (!cuda_tile.tile<4xptr<f32>>, !cuda_tile.tile<4xf32>) -> (!cuda_tile.tile<4xf32>, !cuda_tile.token)
}
// -----
// level: 13.1
experimental$func @f(%c: tile<i1>, %a: tile<f32>) {
  %r = loop : tile<f32> {
    %s = if %c -> (tile<i64>) {
      break %a : tile<f32>
    } else {
      continue
    }
  }
  loop {
  }
}
// -----
// level: 13.1
experimental$func @f(%c: tile<i1>, %t: token, %n: tile<i1>) {
  %r = if %c -> (token) {
    yield %t : token
  } else {
    yield %t : token
  }
  %j = join_tokens %r, %r : token
  %s = for %i in (%n to %n, step %n) : tile<i1> iter_values(%x = %j) -> (token) {
    continue %x : token
  }
}
// -----
// level: 13.1
experimental$func @f(%a: tile<i32>, %b: tile<1x1xptr<f32>>) {
  %i = iota : tile<2xi1>
  %j = iota : tile<256xi8>
  %x = extract %a[] : tile<i32> -> tile<i32>
  %r = reshape %b : tile<1x1xptr<f32>> -> tile<ptr<f32>>
  %q = broadcast %a : tile<i32> -> tile<i32>
}
// -----
// level: 13.3
experimental$func @f(%a: tile<4x8xi4>, %c: tile<4x8xi1>, %p: tile<4x8xptr<f32>>) {
  %s = select %c, %a, %a : tile<4x8xi1>, tile<4x8xi4>
  %t = select %c, %p, %p : tile<4x8xi1>, tile<4x8xptr<f32>>
  %b = assume bounded<-8, 7>, %a : tile<4x8xi4>
  %d = assume div_by<1, every 0 along 1>, %b : tile<4x8xi4>
  %e = assume div_by<4611686018427387904, every 3 along 0>, %p : tile<4x8xptr<f32>>
  %g = assume same_elements<[0, 3]>, %e : tile<4x8xptr<f32>>
}
// -----
// level: 13.1
experimental$func @f(%w: tensor_view<64x32xf32, strides=[32,1]>, %s: tensor_view<f32>) {
  %a, %b = "cuda_tile.get_tensor_shape"(%w) : (!cuda_tile.tensor_view<64x32xf32, strides=[32,1]>) -> (!cuda_tile.tile<i32>, !cuda_tile.tile<i64>)
  %d = assume div_by<16>, %w : tensor_view<64x32xf32, strides=[32,1]>
}
// -----
// level: 13.1
entry @k() optimization_hints=<sm_77 = {nothing = 1, occupancy = 99}> {
}
// -----
// level: 13.1
experimental$func @f(%a: tile<i32>, %b: tile<i32>) {
  %t = print_tko "100% sure: <%, %> %d", %a, %b, %a, %b : tile<i32>, tile<i32>, tile<i32>, tile<i32> -> token
}
// -----
experimental$func @f(%p: tile<ptr<f32, <multicast>>>, %i: tile<i64>, %q: tile<4xptr<f32, <unicast>>>) {
  %a = ptr_to_int %p : tile<ptr<f32, <multicast>>> -> tile<i64>
  %b = int_to_ptr %a : tile<i64> -> tile<ptr<f32, <multicast>>>
  %c = ptr_to_ptr %b : tile<ptr<f32, <multicast>>> -> tile<ptr<f32>>
  %d = offset %b, %i : tile<ptr<f32, <multicast>>>, tile<i64> -> tile<ptr<f32, <multicast>>>
  %r, %s = load_ptr_tko weak %q : tile<4xptr<f32, <unicast>>> -> tile<4xf32>, token
}
// -----
experimental$func @f(%a: tile<4x64xf4E2M1FN>, %b: tile<64x4xf4E2M1FN>, %c: tile<4x4xf32>,
                     %x: tile<4x4xfnv8E5M3FNU>, %y: tile<4x4xfnv8E5M3FNU>, %d: tile<1x1xf8E5M2>, %e: tile<1x1xf16>) {
  %r = mmaf_scaled %a, %b, %c, %x, %y
    : tile<4x64xf4E2M1FN>, tile<64x4xf4E2M1FN>, tile<4x4xf32>, tile<4x4xfnv8E5M3FNU>, tile<4x4xfnv8E5M3FNU>
  %s = mmaf %d, %d, %e : tile<1x1xf8E5M2>, tile<1x1xf8E5M2>, tile<1x1xf16>
}
