// One valid use of every operation; `subject` names the operation that a chunk is about.

// subject: absf
experimental$func @f(%a: tile<4xf32>) {
  %r = absf %a : tile<4xf32>
}
// -----
// subject: absi
experimental$func @f(%a: tile<4xi32>) {
  %r = absi %a : tile<4xi32>
}
// -----
// subject: addf
experimental$func @f(%a: tile<4xf32>, %b: tile<4xf32>) {
  %r = addf %a, %b rounding<zero> flush_to_zero : tile<4xf32>
}
// -----
// subject: addi
experimental$func @f(%a: tile<4xi32>, %b: tile<4xi32>) {
  %r = addi %a, %b overflow<no_wrap> : tile<4xi32>
}
// -----
// subject: alloca
experimental$func @f() {
  %r = alloca num_elem = 32, alignment = 16 global : tile<ptr<f16>>
}
// -----
// subject: andi
experimental$func @f(%a: tile<4xi32>, %b: tile<4xi32>) {
  %r = andi %a, %b : tile<4xi32>
}
// -----
// subject: assert
experimental$func @f(%a: tile<4xi1>) {
  assert %a, "no" : tile<4xi1>
}
// -----
// subject: assume
experimental$func @f(%a: tile<4xi32>) {
  %r = assume div_by<8>, %a : tile<4xi32>
}
// -----
// subject: atan2
experimental$func @f(%a: tile<4xf32>, %b: tile<4xf32>) {
  %r = atan2 %a, %b : tile<4xf32>
}
// -----
// subject: atomic_cas_tko
experimental$func @f(%p: tile<4xptr<i32>>, %c: tile<4xi32>, %v: tile<4xi32>, %m: tile<4xi1>, %t: token) {
  %r, %s = atomic_cas_tko relaxed device %p, %c, %v, %m token=%t
    : tile<4xptr<i32>>, tile<4xi32>, tile<4xi1> -> tile<4xi32>, token
}
// -----
// subject: atomic_red_view_tko
experimental$func @f(%w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, %i: tile<i32>,
                     %v: tile<8x4xf32>, %t: token) {
  %s = atomic_red_view_tko relaxed device %w[%i, %i], addf, %v token = %t inbounds = [true, false]
    : tile<8x4xf32>, partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> token
}
// -----
// subject: atomic_rmw_tko
experimental$func @f(%p: tile<4xptr<i32>>, %v: tile<4xi32>, %m: tile<4xi1>, %t: token) {
  %r, %s = atomic_rmw_tko relaxed device %p, add, %v, %m token=%t
    : tile<4xptr<i32>>, tile<4xi32>, tile<4xi1> -> tile<4xi32>, token
}
// -----
// subject: bitcast
experimental$func @f(%a: tile<4xf32>) {
  %r = bitcast %a : tile<4xf32> -> tile<4xi32>
}
// -----
// subject: break
experimental$func @f(%a: tile<i32>) {
  %r = loop : tile<i32> {
    break %a : tile<i32>
  }
}
// -----
// subject: broadcast
experimental$func @f(%a: tile<1x4xf32>) {
  %r = broadcast %a : tile<1x4xf32> -> tile<8x4xf32>
}
// -----
// subject: cat
experimental$func @f(%a: tile<2x4xf32>, %b: tile<2x4xf32>) {
  %r = cat %a, %b dim = 1 : tile<2x4xf32>, tile<2x4xf32> -> tile<2x8xf32>
}
// -----
// subject: ceil
experimental$func @f(%a: tile<4xf32>) {
  %r = ceil %a : tile<4xf32>
}
// -----
// subject: cmpf
experimental$func @f(%a: tile<4xf32>, %b: tile<4xf32>) {
  %r = cmpf less_than ordered %a, %b : tile<4xf32> -> tile<4xi1>
}
// -----
// subject: cmpi
experimental$func @f(%a: tile<4xi32>, %b: tile<4xi32>) {
  %r = cmpi less_than %a, %b, signed : tile<4xi32> -> tile<4xi1>
}
// -----
// subject: constant
experimental$func @f() {
  %r = constant <f32: [1.0, 2.0]> : tile<2xf32>
}
// -----
// subject: continue
experimental$func @f(%n: tile<i32>, %a: tile<f32>) {
  %r = for %i in (%n to %n, step %n) : tile<i32> iter_values(%x = %a) -> (tile<f32>) {
    continue %x : tile<f32>
  }
}
// -----
// subject: cos
experimental$func @f(%a: tile<4xf32>) {
  %r = cos %a : tile<4xf32>
}
// -----
// subject: cosh
experimental$func @f(%a: tile<4xf32>) {
  %r = cosh %a : tile<4xf32>
}
// -----
// subject: divf
experimental$func @f(%a: tile<4xf32>, %b: tile<4xf32>) {
  %r = divf %a, %b rounding<approx> flush_to_zero : tile<4xf32>
}
// -----
// subject: divi
experimental$func @f(%a: tile<4xi32>, %b: tile<4xi32>) {
  %r = divi %a, %b signed rounding<negative_inf> : tile<4xi32>
}
// -----
// subject: entry
entry @k(%n: tile<i32>) optimization_hints=<sm_90 = {occupancy = 2}> {
}
// -----
// subject: exp
experimental$func @f(%a: tile<4xf32>) {
  %r = exp %a rounding<approx> : tile<4xf32>
}
// -----
// subject: exp2
experimental$func @f(%a: tile<4xf32>) {
  %r = exp2 %a flush_to_zero : tile<4xf32>
}
// -----
// subject: experimental$asin
experimental$func @f(%a: tile<4xf32>) {
  %r = experimental$asin %a : tile<4xf32>
}
// -----
// subject: experimental$call
experimental$func @g(%a: tile<4xf32>) -> tile<4xf32> {
  return %a : tile<4xf32>
}
experimental$func @f(%a: tile<4xf32>) {
  %r = experimental$call @g(%a) : (tile<4xf32>) -> tile<4xf32>
}
// -----
// subject: experimental$extern_elementwise
experimental$func @f(%a: tile<4xf32>) {
  %r = experimental$extern_elementwise %a {libname = "", libpath = "", pure = true, symbol = "g"}
    : (tile<4xf32>) -> tile<4xf32>
}
// -----
// subject: experimental$func
experimental$func @f(%a: tile<4xf32>) -> tile<4xf32> {
  return %a : tile<4xf32>
}
// -----
// subject: experimental$gather_load
experimental$func @f(%w: tensor_view<64x32xf32, strides=[32,1]>, %i: tile<4xi32>, %o: tile<i32>) {
  %r = experimental$gather_load %w, %i, [%o] <{dim = 0 : i64, fillValue = #cuda_tile<fill_value zero>}>
    : tensor_view<64x32xf32, strides=[32,1]>, tile<4xi32>, tile<i32> -> tile<4x8xf32>
}
// -----
// subject: experimental$generate
experimental$func @f() {
  %r = experimental$generate {
  ^bb0(%i: tile<i32>):
    yield %i : tile<i32>
  } : tile<4xi32>
}
// -----
// subject: experimental$scatter_store
experimental$func @f(%v: tile<4x8xf32>, %w: tensor_view<64x32xf32, strides=[32,1]>, %i: tile<4xi32>, %o: tile<i32>,
                     %t: token) {
  %s = experimental$scatter_store %v, %w, %i, [%o] token = %t <{dim = 0 : i64}>
    : tile<4x8xf32>, tensor_view<64x32xf32, strides=[32,1]>, tile<4xi32>, tile<i32>, token -> token
}
// -----
// subject: exti
experimental$func @f(%a: tile<4xi8>) {
  %r = exti %a signed : tile<4xi8> -> tile<4xi32>
}
// -----
// subject: extract
experimental$func @f(%a: tile<8x4xf32>, %i: tile<i32>) {
  %r = extract %a[%i, %i] : tile<8x4xf32> -> tile<4x2xf32>
}
// -----
// subject: floor
experimental$func @f(%a: tile<4xf32>) {
  %r = floor %a : tile<4xf32>
}
// -----
// subject: fma
experimental$func @f(%a: tile<4xf32>, %b: tile<4xf32>, %c: tile<4xf32>) {
  %r = fma %a, %b, %c rounding<zero> flush_to_zero : tile<4xf32>
}
// -----
// subject: for
experimental$func @f(%n: tile<i32>, %a: tile<f32>, %t: token) {
  %r:2 = for unsigned %i in (%n to %n, step %n) : tile<i32> iter_values(%x = %a, %s = %t) -> (tile<f32>, token) {
    continue %x, %s : tile<f32>, token
  }
}
// -----
// subject: fpowi
experimental$func @f(%a: tile<4xf32>, %n: tile<4xi32>) {
  %r = fpowi %a, %n : tile<4xf32>, tile<4xi32>
}
// -----
// subject: ftof
experimental$func @f(%a: tile<4xf32>) {
  %r = ftof %a rounding<zero> : tile<4xf32> -> tile<4xf16>
}
// -----
// subject: ftoi
experimental$func @f(%a: tile<4xf32>) {
  %r = ftoi %a signed saturating : tile<4xf32> -> tile<4xi32>
}
// -----
// subject: gdc_launch_dependents_tko
experimental$func @f(%t: token) {
  %s = gdc_launch_dependents_tko token = %t -> token
}
// -----
// subject: gdc_wait_tko
experimental$func @f(%t: token) {
  %s = gdc_wait_tko token = %t -> token
}
// -----
// subject: get_global
global @g <f32: [1.0]> : tile<1xf32>
experimental$func @f() {
  %r = get_global @g : tile<ptr<f32>>
}
// -----
// subject: get_index_space_shape
experimental$func @f(%w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>) {
  %r:2 = get_index_space_shape %w : partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>> -> tile<i32>
}
// -----
// subject: get_num_tile_blocks
experimental$func @f() {
  %x, %y, %z = get_num_tile_blocks : tile<i32>
}
// -----
// subject: get_tensor_shape
experimental$func @f(%w: tensor_view<64x32xf32, strides=[32,1]>) {
  %r:2 = get_tensor_shape %w : tensor_view<64x32xf32, strides=[32,1]> -> tile<i32>
}
// -----
// subject: get_tile_block_id
experimental$func @f() {
  %x, %y, %z = get_tile_block_id : tile<i32>
}
// -----
// subject: global
global private constant @g alignment = 64 <i32: [1, 2]> : tile<2xi32>
// -----
// subject: if
experimental$func @f(%c: tile<i1>, %a: tile<f32>) {
  %r = if %c -> (tile<f32>) {
    yield %a : tile<f32>
  } else {
    yield %a : tile<f32>
  }
}
// -----
// subject: insert
experimental$func @f(%a: tile<4x2xf32>, %b: tile<8x4xf32>, %i: tile<i32>) {
  %r = insert %a, %b[%i, %i] : tile<4x2xf32>, tile<8x4xf32>
}
// -----
// subject: int_to_ptr
experimental$func @f(%a: tile<4xi64>) {
  %r = int_to_ptr %a : tile<4xi64> -> tile<4xptr<f32>>
}
// -----
// subject: internal$optimization_barrier
experimental$func @f(%a: tile<4xf32>) {
  %r = internal$optimization_barrier %a, keep_axis_info : tile<4xf32>
}
// -----
// subject: iota
experimental$func @f() {
  %r = iota : tile<256xi8>
}
// -----
// subject: itof
experimental$func @f(%a: tile<4xi32>) {
  %r = itof %a unsigned : tile<4xi32> -> tile<4xf16>
}
// -----
// subject: join_tokens
experimental$func @f(%t: token) {
  %r = join_tokens %t, %t : token
}
// -----
// subject: load_ptr_tko
experimental$func @f(%p: tile<4xptr<f32>>, %m: tile<4xi1>, %z: tile<4xf32>, %t: token) {
  %r, %s = load_ptr_tko acquire device %p, %m, %z token=%t optimization_hints = <sm_90 = {latency = 3}>
    : tile<4xptr<f32>>, tile<4xi1>, tile<4xf32> -> tile<4xf32>, token
}
// -----
// subject: load_view_tko
experimental$func @f(%w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, %i: tile<i32>, %t: token) {
  %r, %s = load_view_tko relaxed sys %w[%i, %i] token = %t optimization_hints = <sm_90 = {allow_tma = true}>
    inbounds = [true, false]
    : partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> tile<8x4xf32>, token
}
// -----
// subject: log
experimental$func @f(%a: tile<4xf32>) {
  %r = log %a : tile<4xf32>
}
// -----
// subject: log2
experimental$func @f(%a: tile<4xf32>) {
  %r = log2 %a : tile<4xf32>
}
// -----
// subject: loop
experimental$func @f(%a: tile<f32>, %t: token) {
  %r = loop iter_values(%x = %a, %s = %t) : tile<f32>, token -> tile<i32> {
    continue %x, %s : tile<f32>, token
  }
}
// -----
// subject: make_gather_scatter_view
experimental$func @f(%v: tensor_view<64x32xf32, strides=[32,1]>) {
  %r = make_gather_scatter_view %v
    : gather_scatter_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>, sparse_dim=0>
}
// -----
// subject: make_partition_view
experimental$func @f(%v: tensor_view<64x32xf32, strides=[32,1]>) {
  %r = make_partition_view %v : partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>
}
// -----
// subject: make_strided_view
experimental$func @f(%v: tensor_view<64x32xf32, strides=[32,1]>) {
  %r = make_strided_view %v
    : strided_view<tile=(8x4), traversal_strides=[5,8], tensor_view<64x32xf32, strides=[32,1]>>
}
// -----
// subject: make_tensor_view
experimental$func @f(%p: tile<ptr<f32>>, %n: tile<i64>) {
  %r = make_tensor_view %p, shape = [%n, 32], strides = [%n, 1] : tile<i64> -> tensor_view<?x32xf32, strides=[?,1]>
}
// -----
// subject: make_token
experimental$func @f() {
  %r = make_token : token
}
// -----
// subject: maxf
experimental$func @f(%a: tile<4xf32>, %b: tile<4xf32>) {
  %r = maxf %a, %b flush_to_zero propagate_nan : tile<4xf32>
}
// -----
// subject: maxi
experimental$func @f(%a: tile<4xi32>, %b: tile<4xi32>) {
  %r = maxi %a, %b signed : tile<4xi32>
}
// -----
// subject: memory_fence_alias_tko
experimental$func @f(%t: token) {
  %s = memory_fence_alias_tko %t
}
// -----
// subject: minf
experimental$func @f(%a: tile<4xf32>, %b: tile<4xf32>) {
  %r = minf %a, %b flush_to_zero propagate_nan : tile<4xf32>
}
// -----
// subject: mini
experimental$func @f(%a: tile<4xi32>, %b: tile<4xi32>) {
  %r = mini %a, %b unsigned : tile<4xi32>
}
// -----
// subject: mmaf
experimental$func @f(%a: tile<2x4x8xf16>, %b: tile<2x8x4xf16>, %c: tile<2x4x4xf32>) {
  %r = mmaf %a, %b, %c fast_acc : tile<2x4x8xf16>, tile<2x8x4xf16>, tile<2x4x4xf32>
}
// -----
// subject: mmaf_scaled
experimental$func @f(%a: tile<4x64xf8E4M3FN>, %b: tile<64x4xf8E4M3FN>, %c: tile<4x4xf32>,
                     %x: tile<4x2xf8E8M0FNU>, %y: tile<2x4xf8E8M0FNU>) {
  %r = mmaf_scaled %a, %b, %c, %x, %y
    : tile<4x64xf8E4M3FN>, tile<64x4xf8E4M3FN>, tile<4x4xf32>, tile<4x2xf8E8M0FNU>, tile<2x4xf8E8M0FNU>
}
// -----
// subject: mmai
experimental$func @f(%a: tile<4x8xi8>, %b: tile<8x4xi8>, %c: tile<4x4xi32>) {
  %r = mmai %a, %b, %c signed unsigned : tile<4x8xi8>, tile<8x4xi8>, tile<4x4xi32>
}
// -----
// subject: module
cuda_tile.module @m attributes {producer = "test"} {
}
// -----
// subject: mulf
experimental$func @f(%a: tile<4xf32>, %b: tile<4xf32>) {
  %r = mulf %a, %b rounding<zero> flush_to_zero : tile<4xf32>
}
// -----
// subject: mulhii
experimental$func @f(%a: tile<4xi32>, %b: tile<4xi32>) {
  %r = mulhii %a, %b : tile<4xi32>
}
// -----
// subject: muli
experimental$func @f(%a: tile<4xi32>, %b: tile<4xi32>) {
  %r = muli %a, %b overflow<no_wrap> : tile<4xi32>
}
// -----
// subject: multimem_load_reduce_view_tko
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>,
                     %i: tile<i32>, %t: token) {
  %r, %s = multimem_load_reduce_view_tko relaxed device %w[%i] token = %t inbounds = [true]
    : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<i32>, token
    -> tile<4xf32>, token
}
// -----
// subject: multimem_reduce_view_tko
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>,
                     %v: tile<4xf32>, %i: tile<i32>, %t: token) {
  %s = multimem_reduce_view_tko relaxed device %w, %v[%i] token = %t inbounds = [true]
    : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<4xf32>,
      tile<i32>, token -> token
}
// -----
// subject: multimem_store_view_tko
experimental$func @f(%w: partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>,
                     %v: tile<4xf32>, %i: tile<i32>, %t: token) {
  %s = multimem_store_view_tko relaxed device %w, %v[%i] token = %t inbounds = [true]
    : partition_view<tile=(4), tensor_view<64xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<4xf32>,
      tile<i32>, token -> token
}
// -----
// subject: negf
experimental$func @f(%a: tile<4xf32>) {
  %r = negf %a : tile<4xf32>
}
// -----
// subject: negi
experimental$func @f(%a: tile<4xi32>) {
  %r = negi %a overflow<no_wrap> : tile<4xi32>
}
// -----
// subject: offset
experimental$func @f(%p: tile<4xptr<f32>>, %i: tile<4xi32>) {
  %r = offset %p, %i : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
}
// -----
// subject: ori
experimental$func @f(%a: tile<4xi32>, %b: tile<4xi32>) {
  %r = ori %a, %b : tile<4xi32>
}
// -----
// subject: pack
experimental$func @f(%a: tile<4xf32>) {
  %r = pack %a : tile<4xf32> -> tile<16xi8>
}
// -----
// subject: permute
experimental$func @f(%a: tile<2x4x8xf32>) {
  %r = permute %a [2, 0, 1] : tile<2x4x8xf32> -> tile<8x2x4xf32>
}
// -----
// subject: pow
experimental$func @f(%a: tile<4xf32>, %b: tile<4xf32>) {
  %r = pow %a, %b : tile<4xf32>
}
// -----
// subject: preview$call
experimental$func @f(%a: tile<4xf32>, %t: token) {
  %r:2 = preview$call @g<[4, "x", (f32,)]>(%a, %t) : (tile<4xf32>, token) -> (tile<4xf32>, token)
}
// -----
// subject: print_tko
experimental$func @f(%a: tile<4xf32>, %t: token) {
  %s = print_tko "%f%%\0A", %a token=%t : tile<4xf32> -> token
}
// -----
// subject: ptr_to_int
experimental$func @f(%p: tile<4xptr<f32>>) {
  %r = ptr_to_int %p : tile<4xptr<f32>> -> tile<4xi64>
}
// -----
// subject: ptr_to_ptr
experimental$func @f(%p: tile<4xptr<f32>>) {
  %r = ptr_to_ptr %p : tile<4xptr<f32>> -> tile<4xptr<i8>>
}
// -----
// subject: reduce
experimental$func @f(%a: tile<4x8xf32>, %n: tile<4x8xi32>) {
  %r:2 = reduce %a, %n dim=1 identities=[0.0 : f32, 0 : i32] : tile<4x8xf32>, tile<4x8xi32> -> tile<4xf32>, tile<4xi32>
    (%x: tile<f32>, %y: tile<f32>, %u: tile<i32>, %v: tile<i32>) {
    yield %x, %u : tile<f32>, tile<i32>
  }
}
// -----
// subject: remf
experimental$func @f(%a: tile<4xf32>, %b: tile<4xf32>) {
  %r = remf %a, %b : tile<4xf32>
}
// -----
// subject: remi
experimental$func @f(%a: tile<4xi32>, %b: tile<4xi32>) {
  %r = remi %a, %b signed : tile<4xi32>
}
// -----
// subject: reshape
experimental$func @f(%a: tile<4x8xf32>) {
  %r = reshape %a : tile<4x8xf32> -> tile<32xf32>
}
// -----
// subject: return
experimental$func @f(%a: tile<4xf32>) -> tile<4xf32> {
  return %a : tile<4xf32>
}
// -----
// subject: rsqrt
experimental$func @f(%a: tile<4xf32>) {
  %r = rsqrt %a flush_to_zero : tile<4xf32>
}
// -----
// subject: scan
experimental$func @f(%a: tile<4x8xf32>, %n: tile<4x8xi32>) {
  %r:2 = scan %a, %n dim=1 reverse=true identities=[0.0 : f32, 0 : i32]
    : tile<4x8xf32>, tile<4x8xi32> -> tile<4x8xf32>, tile<4x8xi32>
    (%x: tile<f32>, %y: tile<f32>, %u: tile<i32>, %v: tile<i32>) {
    yield %x, %u : tile<f32>, tile<i32>
  }
}
// -----
// subject: select
experimental$func @f(%c: tile<4xi1>, %a: tile<4xf32>, %b: tile<4xf32>) {
  %r = select %c, %a, %b : tile<4xi1>, tile<4xf32>
}
// -----
// subject: shli
experimental$func @f(%a: tile<4xi32>, %b: tile<4xi32>) {
  %r = shli %a, %b overflow<no_wrap> : tile<4xi32>
}
// -----
// subject: shri
experimental$func @f(%a: tile<4xi32>, %b: tile<4xi32>) {
  %r = shri %a, %b signed : tile<4xi32>
}
// -----
// subject: sin
experimental$func @f(%a: tile<4xf32>) {
  %r = sin %a : tile<4xf32>
}
// -----
// subject: sinh
experimental$func @f(%a: tile<4xf32>) {
  %r = sinh %a : tile<4xf32>
}
// -----
// subject: sqrt
experimental$func @f(%a: tile<4xf32>) {
  %r = sqrt %a rounding<approx> flush_to_zero : tile<4xf32>
}
// -----
// subject: store_ptr_tko
experimental$func @f(%p: tile<4xptr<f32>>, %v: tile<4xf32>, %m: tile<4xi1>, %t: token) {
  %s = store_ptr_tko release device %p, %v, %m token=%t optimization_hints = <sm_90 = {latency = 3}>
    : tile<4xptr<f32>>, tile<4xf32>, tile<4xi1> -> token
}
// -----
// subject: store_view_tko
experimental$func @f(%v: tile<8x4xf32>, %w: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>,
                     %i: tile<i32>, %t: token) {
  %s = store_view_tko release sys %v, %w[%i, %i] token = %t optimization_hints = <sm_90 = {allow_tma = true}>
    inbounds = [true, false]
    : tile<8x4xf32>, partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> token
}
// -----
// subject: subf
experimental$func @f(%a: tile<4xf32>, %b: tile<4xf32>) {
  %r = subf %a, %b rounding<zero> flush_to_zero : tile<4xf32>
}
// -----
// subject: subi
experimental$func @f(%a: tile<4xi32>, %b: tile<4xi32>) {
  %r = subi %a, %b overflow<no_wrap> : tile<4xi32>
}
// -----
// subject: tan
experimental$func @f(%a: tile<4xf32>) {
  %r = tan %a : tile<4xf32>
}
// -----
// subject: tanh
experimental$func @f(%a: tile<4xf32>) {
  %r = tanh %a rounding<approx> : tile<4xf32>
}
// -----
// subject: trunci
experimental$func @f(%a: tile<4xi32>) {
  %r = trunci %a overflow<no_wrap> : tile<4xi32> -> tile<4xi8>
}
// -----
// subject: unpack
experimental$func @f(%a: tile<16xi8>) {
  %r = unpack %a : tile<16xi8> -> tile<4xf32>
}
// -----
// subject: xori
experimental$func @f(%a: tile<4xi32>, %b: tile<4xi32>) {
  %r = xori %a, %b : tile<4xi32>
}
// -----
// subject: yield
experimental$func @f(%c: tile<i1>, %a: tile<f32>) {
  %r = if %c -> (tile<f32>) {
    yield %a : tile<f32>
  } else {
    yield %a : tile<f32>
  }
}
