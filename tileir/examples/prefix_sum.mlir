// Running sums along each row: y[r, c] = x[r, 0] + ... + x[r, c], in 64-bit integers, one row per tile block.
//
//   tileir run examples/prefix_sum.mlir --grid 16 x=i64[16,300]:arange y=i64[16,300]:zeros rows=i32:16 columns=i32:300

cuda_tile.module @scans {
  entry @prefix_sum(%x: tile<ptr<i64>>, %y: tile<ptr<i64>>, %rows: tile<i32>, %columns: tile<i32>) {
    %input = make_tensor_view %x, shape = [%rows, %columns], strides = [%columns, 1]
      : tile<i32> -> tensor_view<?x?xi64, strides=[?,1]>
    %output = make_tensor_view %y, shape = [%rows, %columns], strides = [%columns, 1]
      : tile<i32> -> tensor_view<?x?xi64, strides=[?,1]>
    %input_rows = make_partition_view %input
      : partition_view<tile=(1x512), padding_value = zero, tensor_view<?x?xi64, strides=[?,1]>>
    %output_rows = make_partition_view %output
      : partition_view<tile=(1x512), tensor_view<?x?xi64, strides=[?,1]>>
    %row, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %values, %read = load_view_tko weak %input_rows[%row, %zero]
      : partition_view<tile=(1x512), padding_value = zero, tensor_view<?x?xi64, strides=[?,1]>>, tile<i32>
      -> tile<1x512xi64>, token

    // scan is reduce that keeps every partial result; reverse=true would run from the last column to the first.
    %sums = scan %values dim=1 reverse=false identities=[0 : i64] : tile<1x512xi64> -> tile<1x512xi64>
      (%running: tile<i64>, %element: tile<i64>) {
        %both = addi %running, %element : tile<i64>
        yield %both : tile<i64>
      }
    %written = store_view_tko weak %sums, %output_rows[%row, %zero]
      : tile<1x512xi64>, partition_view<tile=(1x512), tensor_view<?x?xi64, strides=[?,1]>>, tile<i32> -> token
  }
}
