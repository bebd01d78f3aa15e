// Several lanes of one weak store at one address.
cuda_tile.module @lanes {
  // launch: 1 x=i32[8]:zeros
  entry @wrong_all_lanes_at_one_place(%x: tile<ptr<i32>>) {
    %i = iota : tile<8xi32>
    %zero = constant <i32: 0> : tile<i32>
    %z_1 = reshape %zero : tile<i32> -> tile<1xi32>
    %z = broadcast %z_1 : tile<1xi32> -> tile<8xi32>
    %q_1 = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
    %q_8 = broadcast %q_1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %q = offset %q_8, %z : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %stored_1 = store_ptr_tko weak %q, %i : tile<8xptr<i32>>, tile<8xi32> -> token  // !duplicate-lanes
  }
  // launch: 1 x=i32[8]:zeros
  entry @right_all_lanes_at_one_place(%x: tile<ptr<i32>>) {
    %i = iota : tile<8xi32>
    %q_1 = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
    %q_8 = broadcast %q_1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %q = offset %q_8, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %stored_1 = store_ptr_tko weak %q, %i : tile<8xptr<i32>>, tile<8xi32> -> token
  }

  // launch: 1 to=i32[8]:zeros where=i32[8]:zeros
  entry @wrong_scatter_through_duplicates(%to: tile<ptr<i32>>, %where: tile<ptr<i32>>) {
    %i = iota : tile<8xi32>
    %w_1 = reshape %where : tile<ptr<i32>> -> tile<1xptr<i32>>
    %w_8 = broadcast %w_1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %w = offset %w_8, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %places, %t_places = load_ptr_tko weak %w : tile<8xptr<i32>> -> tile<8xi32>, token
    %q_1 = reshape %to : tile<ptr<i32>> -> tile<1xptr<i32>>
    %q_8 = broadcast %q_1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %q = offset %q_8, %places : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %stored_1 = store_ptr_tko weak %q, %i : tile<8xptr<i32>>, tile<8xi32> -> token  // !duplicate-lanes
  }
  // launch: 1 to=i32[8]:zeros where=i32[8]:arange
  entry @right_scatter_through_duplicates(%to: tile<ptr<i32>>, %where: tile<ptr<i32>>) {
    %i = iota : tile<8xi32>
    %w_1 = reshape %where : tile<ptr<i32>> -> tile<1xptr<i32>>
    %w_8 = broadcast %w_1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %w = offset %w_8, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %places, %t_places = load_ptr_tko weak %w : tile<8xptr<i32>> -> tile<8xi32>, token
    %q_1 = reshape %to : tile<ptr<i32>> -> tile<1xptr<i32>>
    %q_8 = broadcast %q_1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %q = offset %q_8, %places : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %stored_1 = store_ptr_tko weak %q, %i : tile<8xptr<i32>>, tile<8xi32> -> token
  }

  // launch: 1 x=f32[8]:zeros
  entry @wrong_view_that_overlaps_itself(%x: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %ones = constant <f32: 1.0> : tile<2x4xf32>
    %v = make_tensor_view %x, shape = [2, 4], strides = [2, 1] : tensor_view<2x4xf32, strides=[2,1]>
    %tiles = make_partition_view %v : partition_view<tile=(2x4), tensor_view<2x4xf32, strides=[2,1]>>
    %s = store_view_tko weak %ones, %tiles[%zero, %zero] : tile<2x4xf32>, partition_view<tile=(2x4), tensor_view<2x4xf32, strides=[2,1]>>, tile<i32> -> token  // !duplicate-lanes
  }
  // launch: 1 x=f32[8]:zeros
  entry @right_view_that_overlaps_itself(%x: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %ones = constant <f32: 1.0> : tile<2x4xf32>
    %v = make_tensor_view %x, shape = [2, 4], strides = [4, 1] : tensor_view<2x4xf32, strides=[4,1]>
    %tiles = make_partition_view %v : partition_view<tile=(2x4), tensor_view<2x4xf32, strides=[4,1]>>
    %s = store_view_tko weak %ones, %tiles[%zero, %zero] : tile<2x4xf32>, partition_view<tile=(2x4), tensor_view<2x4xf32, strides=[4,1]>>, tile<i32> -> token
  }

  // launch: 1 x=i32[8]:zeros
  entry @wrong_sum_of_lanes(%x: tile<ptr<i32>>) {
    %i = iota : tile<8xi32>
    %zero = constant <i32: 0> : tile<i32>
    %z_1 = reshape %zero : tile<i32> -> tile<1xi32>
    %z = broadcast %z_1 : tile<1xi32> -> tile<8xi32>
    %q_1 = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
    %q_8 = broadcast %q_1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %q = offset %q_8, %z : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %stored_1 = store_ptr_tko weak %q, %i : tile<8xptr<i32>>, tile<8xi32> -> token  // !duplicate-lanes
  }
  // launch: 1 x=i32[8]:zeros
  entry @right_sum_of_lanes(%x: tile<ptr<i32>>) {
    %i = iota : tile<8xi32>
    %zero = constant <i32: 0> : tile<i32>
    %z_1 = reshape %zero : tile<i32> -> tile<1xi32>
    %z = broadcast %z_1 : tile<1xi32> -> tile<8xi32>
    %q_1 = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
    %q_8 = broadcast %q_1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %q = offset %q_8, %z : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %old, %t = atomic_rmw_tko relaxed device %q, add, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xi32>, token
  }
}
