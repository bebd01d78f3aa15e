// Two reductions: a sum over everything, shared by all tile blocks, and the largest element of each row.
//
//   tileir run examples/reduction.mlir --kernel total --grid 25 x=f32[100000]:rand sum=f32[1]:zeros n=i32:100000
//   tileir run examples/reduction.mlir --kernel row_argmax --grid 64 x=f32[64,500]:randn value=f32[64]:zeros place=i32[64]:zeros rows=i32:64 columns=i32:500

cuda_tile.module @reductions {
  // Each block sums 4096 elements and adds its sum to the one result, atomically: many blocks do so at once.
  entry @total(%x: tile<ptr<f32>>, %sum: tile<ptr<f32>>, %n: tile<i32>) {
    %input = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %tiles = make_partition_view %input
      : partition_view<tile=(4096), padding_value = zero, tensor_view<?xf32, strides=[1]>>
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %values, %read = load_view_tko weak %tiles[%block]
      : partition_view<tile=(4096), padding_value = zero, tensor_view<?xf32, strides=[1]>>, tile<i32>
      -> tile<4096xf32>, token
    %part = reduce %values dim=0 identities=[0.0 : f32] : tile<4096xf32> -> tile<f32>
      (%left: tile<f32>, %right: tile<f32>) {
        %both = addf %left, %right : tile<f32>
        yield %both : tile<f32>
      }
    // "relaxed": only the addition itself must be one step; nothing else is to be ordered by it.
    %before, %added = atomic_rmw_tko relaxed device %sum, addf, %part
      : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
  }

  // One block per row. A reduction may carry several tiles along: here the value and the column it stands in.
  entry @row_argmax(%x: tile<ptr<f32>>, %value: tile<ptr<f32>>, %place: tile<ptr<i32>>,
                    %rows: tile<i32>, %columns: tile<i32>) {
    %input = make_tensor_view %x, shape = [%rows, %columns], strides = [%columns, 1]
      : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %input_rows = make_partition_view %input
      : partition_view<tile=(1x512), padding_value = neg_inf, tensor_view<?x?xf32, strides=[?,1]>>
    %row, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %values_1x, %read = load_view_tko weak %input_rows[%row, %zero]
      : partition_view<tile=(1x512), padding_value = neg_inf, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32>
      -> tile<1x512xf32>, token
    %values = reshape %values_1x : tile<1x512xf32> -> tile<512xf32>
    %column = iota : tile<512xi32>

    // The order in which elements meet is not specified, so equal values must be told apart: the first column wins.
    %best, %best_column = reduce %values, %column dim=0 identities=[0xFF800000 : f32, 2147483647 : i32]
      : tile<512xf32>, tile<512xi32> -> tile<f32>, tile<i32>
      (%a: tile<f32>, %b: tile<f32>, %a_column: tile<i32>, %b_column: tile<i32>) {
        %larger = cmpf greater_than ordered %a, %b : tile<f32> -> tile<i1>
        %equal = cmpf equal ordered %a, %b : tile<f32> -> tile<i1>
        %earlier = cmpi less_than %a_column, %b_column, signed : tile<i32> -> tile<i1>
        %tie_won = andi %equal, %earlier : tile<i1>
        %won = ori %larger, %tie_won : tile<i1>
        %winner = select %won, %a, %b : tile<i1>, tile<f32>
        %winner_column = select %won, %a_column, %b_column : tile<i1>, tile<i32>
        yield %winner, %winner_column : tile<f32>, tile<i32>
      }

    %value_at = offset %value, %row : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %place_at = offset %place, %row : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %value_written = store_ptr_tko weak %value_at, %best : tile<ptr<f32>>, tile<f32> -> token
    %place_written = store_ptr_tko weak %place_at, %best_column : tile<ptr<i32>>, tile<i32> -> token
  }
}
