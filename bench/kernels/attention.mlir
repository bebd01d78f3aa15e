// Attention in f32: the example attention in another type.

cuda_tile.module @neural {
  entry @attention(%q: tile<ptr<f32>>, %k: tile<ptr<f32>>, %v: tile<ptr<f32>>, %out: tile<ptr<f32>>,
                   %heads: tile<i32>, %length: tile<i32>, %scale: tile<f32>) {
    %width = constant <i32: 64> : tile<i32>
    %head_stride = muli %length, %width : tile<i32>
    %q_view = make_tensor_view %q, shape = [%heads, %length, 64], strides = [%head_stride, 64, 1]
      : tile<i32> -> tensor_view<?x?x64xf32, strides=[?,64,1]>
    %k_view = make_tensor_view %k, shape = [%heads, %length, 64], strides = [%head_stride, 64, 1]
      : tile<i32> -> tensor_view<?x?x64xf32, strides=[?,64,1]>
    %v_view = make_tensor_view %v, shape = [%heads, %length, 64], strides = [%head_stride, 64, 1]
      : tile<i32> -> tensor_view<?x?x64xf32, strides=[?,64,1]>
    %out_view = make_tensor_view %out, shape = [%heads, %length, 64], strides = [%head_stride, 64, 1]
      : tile<i32> -> tensor_view<?x?x64xf32, strides=[?,64,1]>
    %q_tiles = make_partition_view %q_view
      : partition_view<tile=(1x64x64), padding_value = zero, tensor_view<?x?x64xf32, strides=[?,64,1]>>
    %k_tiles = make_partition_view %k_view
      : partition_view<tile=(1x64x64), padding_value = zero, tensor_view<?x?x64xf32, strides=[?,64,1]>,
                       dim_map=[0, 2, 1]>
    %v_tiles = make_partition_view %v_view
      : partition_view<tile=(1x64x64), padding_value = zero, tensor_view<?x?x64xf32, strides=[?,64,1]>>
    %out_tiles = make_partition_view %out_view
      : partition_view<tile=(1x64x64), tensor_view<?x?x64xf32, strides=[?,64,1]>>

    %block, %head, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %steps = divi %length, %width signed rounding<positive_inf> : tile<i32>
    %q_1, %q_read = load_view_tko weak %q_tiles[%head, %block, %zero]
      : partition_view<tile=(1x64x64), padding_value = zero, tensor_view<?x?x64xf32, strides=[?,64,1]>>, tile<i32>
      -> tile<1x64x64xf32>, token
    %q_tile = reshape %q_1 : tile<1x64x64xf32> -> tile<64x64xf32>

    %log2_e = constant <f32: 1.4426950408889634> : tile<f32>
    %factor = mulf %scale, %log2_e : tile<f32>
    %factor_1x1 = reshape %factor : tile<f32> -> tile<1x1xf32>
    %factors = broadcast %factor_1x1 : tile<1x1xf32> -> tile<64x64xf32>
    %numbers = iota : tile<64xi32>
    %numbers_along = reshape %numbers : tile<64xi32> -> tile<1x64xi32>

    %no_scores = constant <f32: 0.0> : tile<64x64xf32>
    %minus_infinity = constant <f32: 0xFF800000> : tile<64x64xf32>
    %largest_start = constant <f32: 0xFF800000> : tile<64xf32>
    %total_start = constant <f32: 0.0> : tile<64xf32>
    %sum_start = constant <f32: 0.0> : tile<64x64xf32>
    %largest_end, %total_end, %sum_end = for %step in (%zero to %steps, step %one) : tile<i32>
        iter_values(%largest = %largest_start, %total = %total_start, %sum = %sum_start)
        -> (tile<64xf32>, tile<64xf32>, tile<64x64xf32>) {
      %k_1, %k_read = load_view_tko weak %k_tiles[%head, %zero, %step]
        : partition_view<tile=(1x64x64), padding_value = zero, tensor_view<?x?x64xf32, strides=[?,64,1]>,
                         dim_map=[0, 2, 1]>, tile<i32> -> tile<1x64x64xf32>, token
      %v_1, %v_read = load_view_tko weak %v_tiles[%head, %step, %zero]
        : partition_view<tile=(1x64x64), padding_value = zero, tensor_view<?x?x64xf32, strides=[?,64,1]>>, tile<i32>
        -> tile<1x64x64xf32>, token
      %k_tile = reshape %k_1 : tile<1x64x64xf32> -> tile<64x64xf32>
      %v_tile = reshape %v_1 : tile<1x64x64xf32> -> tile<64x64xf32>

      %products = mmaf %q_tile, %k_tile, %no_scores : tile<64x64xf32>, tile<64x64xf32>, tile<64x64xf32>
      %all_scores = mulf %products, %factors : tile<64x64xf32>

      %first = muli %step, %width : tile<i32>
      %left_over = subi %length, %first : tile<i32>
      %left_over_1x1 = reshape %left_over : tile<i32> -> tile<1x1xi32>
      %left_over_along = broadcast %left_over_1x1 : tile<1x1xi32> -> tile<1x64xi32>
      %inside_along = cmpi less_than %numbers_along, %left_over_along, signed : tile<1x64xi32> -> tile<1x64xi1>
      %inside = broadcast %inside_along : tile<1x64xi1> -> tile<64x64xi1>
      %scores = select %inside, %all_scores, %minus_infinity : tile<64x64xi1>, tile<64x64xf32>

      %largest_here = reduce %scores dim=1 identities=[0xFF800000 : f32] : tile<64x64xf32> -> tile<64xf32>
        (%left: tile<f32>, %right: tile<f32>) {
          %larger = maxf %left, %right : tile<f32>
          yield %larger : tile<f32>
        }
      %largest_next = maxf %largest, %largest_here : tile<64xf32>
      %largest_down = reshape %largest_next : tile<64xf32> -> tile<64x1xf32>
      %largest_all = broadcast %largest_down : tile<64x1xf32> -> tile<64x64xf32>
      %shifted = subf %scores, %largest_all : tile<64x64xf32>
      %weights = exp2 %shifted : tile<64x64xf32>
      %total_here = reduce %weights dim=1 identities=[0.0 : f32] : tile<64x64xf32> -> tile<64xf32>
        (%left: tile<f32>, %right: tile<f32>) {
          %both = addf %left, %right : tile<f32>
          yield %both : tile<f32>
        }

      %drop = subf %largest, %largest_next : tile<64xf32>
      %shrink = exp2 %drop : tile<64xf32>
      %total_next = fma %total, %shrink, %total_here : tile<64xf32>
      %shrink_down = reshape %shrink : tile<64xf32> -> tile<64x1xf32>
      %shrink_all = broadcast %shrink_down : tile<64x1xf32> -> tile<64x64xf32>
      %sum_kept = mulf %sum, %shrink_all : tile<64x64xf32>
      %sum_next = mmaf %weights, %v_tile, %sum_kept : tile<64x64xf32>, tile<64x64xf32>, tile<64x64xf32>
      continue %largest_next, %total_next, %sum_next : tile<64xf32>, tile<64xf32>, tile<64x64xf32>
    }

    %total_down = reshape %total_end : tile<64xf32> -> tile<64x1xf32>
    %total_all = broadcast %total_down : tile<64x1xf32> -> tile<64x64xf32>
    %mean = divf %sum_end, %total_all : tile<64x64xf32>
    %mean_1 = reshape %mean : tile<64x64xf32> -> tile<1x64x64xf32>
    %written = store_view_tko weak %mean_1, %out_tiles[%head, %block, %zero]
      : tile<1x64x64xf32>, partition_view<tile=(1x64x64), tensor_view<?x?x64xf32, strides=[?,64,1]>>, tile<i32>
      -> token
  }
}
