// Softmax of rows as a front end writes it that makes every expression anew: the powers are computed for their sum, and
// once more for the quotients.

cuda_tile.module @neural {
  entry @softmax_front_end(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %rows: tile<i32>, %columns: tile<i32>) {
    %input = make_tensor_view %x, shape = [%rows, %columns], strides = [%columns, 1]
      : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %output = make_tensor_view %y, shape = [%rows, %columns], strides = [%columns, 1]
      : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %input_rows = make_partition_view %input
      : partition_view<tile=(1x4096), padding_value = neg_inf, tensor_view<?x?xf32, strides=[?,1]>>
    %output_rows = make_partition_view %output
      : partition_view<tile=(1x4096), tensor_view<?x?xf32, strides=[?,1]>>

    %row, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %values, %read = load_view_tko weak %input_rows[%row, %zero]
      : partition_view<tile=(1x4096), padding_value = neg_inf, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32>
      -> tile<1x4096xf32>, token

    %largest = reduce %values dim=1 identities=[0xFF800000 : f32] : tile<1x4096xf32> -> tile<1xf32>
      (%left: tile<f32>, %right: tile<f32>) {
        %larger = maxf %left, %right : tile<f32>
        yield %larger : tile<f32>
      }

    %largest_1x1 = reshape %largest : tile<1xf32> -> tile<1x1xf32>
    %largest_all = broadcast %largest_1x1 : tile<1x1xf32> -> tile<1x4096xf32>
    %shifted = subf %values, %largest_all : tile<1x4096xf32>
    %powers = exp %shifted : tile<1x4096xf32>
    %total = reduce %powers dim=1 identities=[0.0 : f32] : tile<1x4096xf32> -> tile<1xf32>
      (%left: tile<f32>, %right: tile<f32>) {
        %both = addf %left, %right : tile<f32>
        yield %both : tile<f32>
      }
    %total_1x1 = reshape %total : tile<1xf32> -> tile<1x1xf32>
    %total_all = broadcast %total_1x1 : tile<1x1xf32> -> tile<1x4096xf32>
    %largest_again = broadcast %largest_1x1 : tile<1x1xf32> -> tile<1x4096xf32>
    %shifted_again = subf %values, %largest_again : tile<1x4096xf32>
    %powers_again = exp %shifted_again : tile<1x4096xf32>
    %shares = divf %powers_again, %total_all : tile<1x4096xf32>

    %written = store_view_tko weak %shares, %output_rows[%row, %zero]
      : tile<1x4096xf32>, partition_view<tile=(1x4096), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
  }
}
