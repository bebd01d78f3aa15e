// RMS normalisation of rows of at most 4096 columns in f32: the example rms_norm in another type.

cuda_tile.module @neural {
  entry @rms_norm(%x: tile<ptr<f32>>, %weight: tile<ptr<f32>>, %y: tile<ptr<f32>>,
                  %rows: tile<i32>, %columns: tile<i32>, %epsilon: tile<f32>) {
    %input = make_tensor_view %x, shape = [%rows, %columns], strides = [%columns, 1]
      : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %output = make_tensor_view %y, shape = [%rows, %columns], strides = [%columns, 1]
      : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %weights = make_tensor_view %weight, shape = [%columns], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %input_rows = make_partition_view %input
      : partition_view<tile=(1x4096), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %output_rows = make_partition_view %output
      : partition_view<tile=(1x4096), tensor_view<?x?xf32, strides=[?,1]>>
    %weight_tiles = make_partition_view %weights
      : partition_view<tile=(4096), padding_value = zero, tensor_view<?xf32, strides=[1]>>

    %row, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %values_1x, %read = load_view_tko weak %input_rows[%row, %zero]
      : partition_view<tile=(1x4096), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32>
      -> tile<1x4096xf32>, token
    %scale, %scale_read = load_view_tko weak %weight_tiles[%zero]
      : partition_view<tile=(4096), padding_value = zero, tensor_view<?xf32, strides=[1]>>, tile<i32>
      -> tile<4096xf32>, token
    %values = reshape %values_1x : tile<1x4096xf32> -> tile<4096xf32>

    %squares = mulf %values, %values : tile<4096xf32>
    %sum = reduce %squares dim=0 identities=[0.0 : f32] : tile<4096xf32> -> tile<f32>
      (%left: tile<f32>, %right: tile<f32>) {
        %both = addf %left, %right : tile<f32>
        yield %both : tile<f32>
      }
    %count = itof %columns signed : tile<i32> -> tile<f32>
    %mean = divf %sum, %count : tile<f32>
    %raised = addf %mean, %epsilon : tile<f32>
    %factor = rsqrt %raised : tile<f32>
    %factor_1 = reshape %factor : tile<f32> -> tile<1xf32>
    %factors = broadcast %factor_1 : tile<1xf32> -> tile<4096xf32>
    %normal = mulf %values, %factors : tile<4096xf32>
    %scaled = mulf %normal, %scale : tile<4096xf32>

    %result_1x = reshape %scaled : tile<4096xf32> -> tile<1x4096xf32>
    %written = store_view_tko weak %result_1x, %output_rows[%row, %zero]
      : tile<1x4096xf32>, partition_view<tile=(1x4096), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
  }
}
