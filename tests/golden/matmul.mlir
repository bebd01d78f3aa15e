// Matrix multiply-accumulate of every input type, plain, batched and scaled.
cuda_tile.module @matmul {
  entry @floats() {
    %h = constant <f16: 1.0> : tile<16x32xf16>
    %h2 = constant <f16: 2.0> : tile<32x8xf16>
    %hc = constant <f16: 0.0> : tile<16x8xf16>
    %c = constant <f32: 0.0> : tile<16x8xf32>
    %0 = mmaf %h, %h2, %c : tile<16x32xf16>, tile<32x8xf16>, tile<16x8xf32>
    %1 = mmaf %h, %h2, %hc : tile<16x32xf16>, tile<32x8xf16>, tile<16x8xf16>
    %b = constant <bf16: 1.0> : tile<16x32xbf16>
    %b2 = constant <bf16: 2.0> : tile<32x8xbf16>
    %2 = mmaf %b, %b2, %0 : tile<16x32xbf16>, tile<32x8xbf16>, tile<16x8xf32>
    %s = constant <f32: 1.0> : tile<16x32xf32>
    %s2 = constant <f32: 2.0> : tile<32x8xf32>
    %3 = mmaf %s, %s2, %2 : tile<16x32xf32>, tile<32x8xf32>, tile<16x8xf32>
    %t = constant <tf32: 1.0> : tile<16x32xtf32>
    %t2 = constant <tf32: 2.0> : tile<32x8xtf32>
    %4 = mmaf %t, %t2, %3 : tile<16x32xtf32>, tile<32x8xtf32>, tile<16x8xf32>
    %d = constant <f64: 1.0> : tile<2x4x8xf64>
    %d2 = constant <f64: 2.0> : tile<2x8x16xf64>
    %dc = constant <f64: 0.0> : tile<2x4x16xf64>
    %5 = mmaf %d, %d2, %dc : tile<2x4x8xf64>, tile<2x8x16xf64>, tile<2x4x16xf64>
    %e = constant <f8E4M3FN: 1.0> : tile<16x32xf8E4M3FN>
    %e2 = constant <f8E4M3FN: 2.0> : tile<32x8xf8E4M3FN>
    %6 = mmaf %e, %e2, %4 fast_acc : tile<16x32xf8E4M3FN>, tile<32x8xf8E4M3FN>, tile<16x8xf32>
  }

  entry @integers() {
    %a = constant <i8: -3> : tile<8x16xi8>
    %b = constant <i8: 5> : tile<16x4xi8>
    %c = constant <i32: 1> : tile<8x4xi32>
    %0 = mmai %a, %b, %c signed signed : tile<8x16xi8>, tile<16x4xi8>, tile<8x4xi32>
    %1 = mmai %a, %b, %0 unsigned signed : tile<8x16xi8>, tile<16x4xi8>, tile<8x4xi32>
    %2 = mmai %a, %b, %1 signed unsigned : tile<8x16xi8>, tile<16x4xi8>, tile<8x4xi32>
    %3 = mmai %a, %b, %2 unsigned unsigned : tile<8x16xi8>, tile<16x4xi8>, tile<8x4xi32>
  }

  entry @scaled() {
    %a = constant <f8E5M2: 1.0> : tile<16x64xf8E5M2>
    %b = constant <f8E5M2: 2.0> : tile<64x8xf8E5M2>
    %c = constant <f32: 0.0> : tile<16x8xf32>
    %as = constant <f8E8M0FNU: 1.0> : tile<16x2xf8E8M0FNU>
    %bs = constant <f8E8M0FNU: 4.0> : tile<2x8xf8E8M0FNU>
    %0 = mmaf_scaled %a, %b, %c, %as, %bs : tile<16x64xf8E5M2>, tile<64x8xf8E5M2>, tile<16x8xf32>, tile<16x2xf8E8M0FNU>, tile<2x8xf8E8M0FNU>
    %f = constant <f4E2M1FN: 1.0> : tile<16x64xf4E2M1FN>
    %g = constant <f4E2M1FN: 0.5> : tile<64x8xf4E2M1FN>
    %fs = constant <f8E4M3FN: 1.0> : tile<16x4xf8E4M3FN>
    %gs = constant <f8E4M3FN: 4.0> : tile<4x8xf8E4M3FN>
    %1 = mmaf_scaled %f, %g, %0, %fs, %gs : tile<16x64xf4E2M1FN>, tile<64x8xf4E2M1FN>, tile<16x8xf32>, tile<16x4xf8E4M3FN>, tile<4x8xf8E4M3FN>
  }

  // One 16x16 tile of a matrix product, accumulated along K.
  entry @gemm(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %k: tile<i32>) {
    %bx, %by, %bz = get_tile_block_id : tile<i32>
    %gx, %gy, %gz = get_num_tile_blocks : tile<i32>
    %sixteen = constant <i32: 16> : tile<i32>
    %m = muli %gx, %sixteen : tile<i32>
    %n = muli %gy, %sixteen : tile<i32>
    %ta = make_tensor_view %a, shape = [%m, %k], strides = [%k, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %tb = make_tensor_view %b, shape = [%k, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %tc = make_tensor_view %c, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pa = make_partition_view %ta : partition_view<tile=(16x32), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
    %pb = make_partition_view %tb : partition_view<tile=(32x16), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
    %pc = make_partition_view %tc : partition_view<tile=(16x16), tensor_view<?x?xf32, strides=[?,1]>>
    %rows, %steps = get_index_space_shape %pa : partition_view<tile=(16x32), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>> -> tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %start = constant <f32: 0.0> : tile<16x16xf32>
    %sum = for %step in (%zero to %steps, step %one) : tile<i32> iter_values(%acc = %start) -> (tile<16x16xf32>) {
      %x, %tx = load_view_tko weak %pa[%bx, %step] : partition_view<tile=(16x32), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<16x32xf16>, token
      %y, %ty = load_view_tko weak %pb[%step, %by] : partition_view<tile=(32x16), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<32x16xf16>, token
      %next = mmaf %x, %y, %acc : tile<16x32xf16>, tile<32x16xf16>, tile<16x16xf32>
      continue %next : tile<16x16xf32>
    }
    store_view_tko weak %sum, %pc[%bx, %by] : tile<16x16xf32>, partition_view<tile=(16x16), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
  }
}
