// Tensor views and the three kinds of tile view.
cuda_tile.module @views {
  entry @tensors(%p: tile<ptr<f32>>, %n: tile<i32>, %ld: tile<i64>) {
    %0 = make_tensor_view %p, shape = [], strides = [] : tensor_view<f32>
    %1 = make_tensor_view %p, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
    %2 = make_tensor_view %p, shape = [%n, 16], strides = [16, 1] : tile<i32> -> tensor_view<?x16xf32, strides=[16,1]>
    %3 = make_tensor_view %p, shape = [%ld, %ld], strides = [%ld, 1] : tile<i64> -> tensor_view<?x?xf32, strides=[?,1]>
    %4 = make_tensor_view %p, shape = [8, 4], strides = [%ld, 1] : tile<i64> -> tensor_view<8x4xf32, strides=[?,1]>
    %5, %6 = get_tensor_shape %2 : tensor_view<?x16xf32, strides=[16,1]> -> tile<i32>
    %7:2 = get_tensor_shape %3 : tensor_view<?x?xf32, strides=[?,1]> -> tile<i64>
    %8 = get_tensor_shape %1 : tensor_view<64xf32, strides=[1]> -> tile<i16>
    %9 = addi %5, %6 : tile<i32>
    %10 = addi %7#0, %7#1 : tile<i64>
  }

  entry @partitions(%p: tile<ptr<f16>>, %i: tile<i32>, %j: tile<i32>) {
    %t = make_tensor_view %p, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf16, strides=[32,1]>
    %0 = make_partition_view %t : partition_view<tile=(8x4), tensor_view<64x32xf16, strides=[32,1]>>
    %1 = make_partition_view %t : partition_view<tile=(8x4), tensor_view<64x32xf16, strides=[32,1]>, dim_map=[0, 1]>
    %2 = make_partition_view %t : partition_view<tile=(8x4), padding_value = zero, tensor_view<64x32xf16, strides=[32,1]>, dim_map=[1, 0]>
    %3 = make_partition_view %t : partition_view<tile=(8x4), padding_value = nan, tensor_view<64x32xf16, strides=[32,1]>>
    %4 = make_partition_view %t : partition_view<tile=(8x4), padding_value = neg_zero, tensor_view<64x32xf16, strides=[32,1]>>
    %5 = make_partition_view %t : partition_view<tile=(8x4), padding_value = pos_inf, tensor_view<64x32xf16, strides=[32,1]>>
    %6 = make_partition_view %t : partition_view<tile=(8x4), padding_value = neg_inf, tensor_view<64x32xf16, strides=[32,1]>>
    %7, %8 = get_index_space_shape %2 : partition_view<tile=(8x4), padding_value = zero, tensor_view<64x32xf16, strides=[32,1]>, dim_map=[1, 0]> -> tile<i32>
    %9, %t0 = load_view_tko weak %0[%i, %j] : partition_view<tile=(8x4), tensor_view<64x32xf16, strides=[32,1]>>, tile<i32> -> tile<8x4xf16>, token
    %10, %t1 = load_view_tko relaxed device %0[%i, %j] token = %t0 : partition_view<tile=(8x4), tensor_view<64x32xf16, strides=[32,1]>>, tile<i32> -> tile<8x4xf16>, token
    %11, %t2 = load_view_tko acquire sys %3[%7, %8] token = %t1 : partition_view<tile=(8x4), padding_value = nan, tensor_view<64x32xf16, strides=[32,1]>>, tile<i32> -> tile<8x4xf16>, token
    %t3 = store_view_tko weak %9, %0[%i, %j] : tile<8x4xf16>, partition_view<tile=(8x4), tensor_view<64x32xf16, strides=[32,1]>>, tile<i32> -> token
    %t4 = store_view_tko release tl_blk %10, %0[%i, %j] token = %t2 : tile<8x4xf16>, partition_view<tile=(8x4), tensor_view<64x32xf16, strides=[32,1]>>, tile<i32> -> token
  }

  entry @strided(%p: tile<ptr<f32>>, %i: tile<i64>) {
    %t = make_tensor_view %p, shape = [64, 16], strides = [16, 1] : tensor_view<64x16xf32, strides=[16,1]>
    %0 = make_strided_view %t : strided_view<tile=(4x2), traversal_strides=[4,3], tensor_view<64x16xf32, strides=[16,1]>>
    %1 = make_strided_view %t : strided_view<tile=(4x2), traversal_strides=[4,3], padding_value = neg_inf, tensor_view<64x16xf32, strides=[16,1]>, dim_map=[1, 0]>
    %2, %3 = get_index_space_shape %0 : strided_view<tile=(4x2), traversal_strides=[4,3], tensor_view<64x16xf32, strides=[16,1]>> -> tile<i64>
    %4, %t0 = load_view_tko weak %1[%i, %i] : strided_view<tile=(4x2), traversal_strides=[4,3], padding_value = neg_inf, tensor_view<64x16xf32, strides=[16,1]>, dim_map=[1, 0]>, tile<i64> -> tile<4x2xf32>, token
    %t1 = store_view_tko weak %4, %0[%2, %3] token = %t0 : tile<4x2xf32>, strided_view<tile=(4x2), traversal_strides=[4,3], tensor_view<64x16xf32, strides=[16,1]>>, tile<i64> -> token
  }

  entry @gathered(%p: tile<ptr<f32>>, %c: tile<i32>, %d: tile<i64>) {
    %t = make_tensor_view %p, shape = [64, 16], strides = [16, 1] : tensor_view<64x16xf32, strides=[16,1]>
    %rows = iota : tile<4xi32>
    %0 = make_gather_scatter_view %t : gather_scatter_view<tile=(4x2), tensor_view<64x16xf32, strides=[16,1]>, sparse_dim=0>
    %1 = make_gather_scatter_view %t : gather_scatter_view<tile=(4x2), padding_value = nan, tensor_view<64x16xf32, strides=[16,1]>, sparse_dim=0>
    %2, %t0 = load_view_tko weak %0[%rows, %c] : gather_scatter_view<tile=(4x2), tensor_view<64x16xf32, strides=[16,1]>, sparse_dim=0>, tile<4xi32>, tile<i32> -> tile<4x2xf32>, token
    %3, %t1 = load_view_tko weak %1[%rows, %d] : gather_scatter_view<tile=(4x2), padding_value = nan, tensor_view<64x16xf32, strides=[16,1]>, sparse_dim=0>, tile<4xi32>, tile<i64> -> tile<4x2xf32>, token
    %t2 = store_view_tko weak %2, %0[%rows, %c] token = %t0 : tile<4x2xf32>, gather_scatter_view<tile=(4x2), tensor_view<64x16xf32, strides=[16,1]>, sparse_dim=0>, tile<4xi32>, tile<i32> -> token
    %4, %5 = get_index_space_shape %1 : gather_scatter_view<tile=(4x2), padding_value = nan, tensor_view<64x16xf32, strides=[16,1]>, sparse_dim=0> -> tile<i32>
  }

  // Doubles a matrix tile by tile.
  entry @double(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %rows: tile<i32>, %columns: tile<i32>) {
    %bx, %by, %bz = get_tile_block_id : tile<i32>
    %ta = make_tensor_view %a, shape = [%rows, %columns], strides = [%columns, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %tb = make_tensor_view %b, shape = [%rows, %columns], strides = [%columns, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pa = make_partition_view %ta : partition_view<tile=(8x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %pb = make_partition_view %tb : partition_view<tile=(8x16), tensor_view<?x?xf32, strides=[?,1]>>
    %x, %loaded = load_view_tko weak %pa[%bx, %by] : partition_view<tile=(8x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<8x16xf32>, token
    %y = addf %x, %x : tile<8x16xf32>
    store_view_tko weak %y, %pb[%bx, %by] : tile<8x16xf32>, partition_view<tile=(8x16), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
  }
}
