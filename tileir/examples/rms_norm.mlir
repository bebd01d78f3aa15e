// RMS normalisation in bf16, one row per tile block: y = x / sqrt(mean(x * x) + epsilon) * weight.
//
// The arrays hold bf16, the arithmetic is f32: ftof converts on the way in and, rounding to nearest, on the way out.
// A row has at most 1024 columns; missing ones read as zero and do not change the sum of squares.
//
//   tileir run examples/rms_norm.mlir --grid 64 x=bf16[64,896]:randn weight=bf16[896]:rand y=bf16[64,896]:zeros rows=i32:64 columns=i32:896 epsilon=f32:1e-6

cuda_tile.module @neural {
  entry @rms_norm(%x: tile<ptr<bf16>>, %weight: tile<ptr<bf16>>, %y: tile<ptr<bf16>>,
                  %rows: tile<i32>, %columns: tile<i32>, %epsilon: tile<f32>) {
    %input = make_tensor_view %x, shape = [%rows, %columns], strides = [%columns, 1]
      : tile<i32> -> tensor_view<?x?xbf16, strides=[?,1]>
    %output = make_tensor_view %y, shape = [%rows, %columns], strides = [%columns, 1]
      : tile<i32> -> tensor_view<?x?xbf16, strides=[?,1]>
    %weights = make_tensor_view %weight, shape = [%columns], strides = [1] : tile<i32> -> tensor_view<?xbf16, strides=[1]>
    %input_rows = make_partition_view %input
      : partition_view<tile=(1x1024), padding_value = zero, tensor_view<?x?xbf16, strides=[?,1]>>
    %output_rows = make_partition_view %output
      : partition_view<tile=(1x1024), tensor_view<?x?xbf16, strides=[?,1]>>
    %weight_tiles = make_partition_view %weights
      : partition_view<tile=(1024), padding_value = zero, tensor_view<?xbf16, strides=[1]>>

    %row, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %narrow_1x, %read = load_view_tko weak %input_rows[%row, %zero]
      : partition_view<tile=(1x1024), padding_value = zero, tensor_view<?x?xbf16, strides=[?,1]>>, tile<i32>
      -> tile<1x1024xbf16>, token
    %narrow_scale, %scale_read = load_view_tko weak %weight_tiles[%zero]
      : partition_view<tile=(1024), padding_value = zero, tensor_view<?xbf16, strides=[1]>>, tile<i32>
      -> tile<1024xbf16>, token
    %narrow = reshape %narrow_1x : tile<1x1024xbf16> -> tile<1024xbf16>
    %values = ftof %narrow : tile<1024xbf16> -> tile<1024xf32>
    %scale = ftof %narrow_scale : tile<1024xbf16> -> tile<1024xf32>

    %squares = mulf %values, %values : tile<1024xf32>
    %sum = reduce %squares dim=0 identities=[0.0 : f32] : tile<1024xf32> -> tile<f32>
      (%left: tile<f32>, %right: tile<f32>) {
        %both = addf %left, %right : tile<f32>
        yield %both : tile<f32>
      }
    %count = itof %columns signed : tile<i32> -> tile<f32>
    %mean = divf %sum, %count : tile<f32>
    %raised = addf %mean, %epsilon : tile<f32>
    %factor = rsqrt %raised : tile<f32>
    %factor_1 = reshape %factor : tile<f32> -> tile<1xf32>
    %factors = broadcast %factor_1 : tile<1xf32> -> tile<1024xf32>
    %normal = mulf %values, %factors : tile<1024xf32>
    %scaled = mulf %normal, %scale : tile<1024xf32>

    %result = ftof %scaled : tile<1024xf32> -> tile<1024xbf16>
    %result_1x = reshape %result : tile<1024xbf16> -> tile<1x1024xbf16>
    %written = store_view_tko weak %result_1x, %output_rows[%row, %zero]
      : tile<1x1024xbf16>, partition_view<tile=(1x1024), tensor_view<?x?xbf16, strides=[?,1]>>, tile<i32> -> token
  }
}
