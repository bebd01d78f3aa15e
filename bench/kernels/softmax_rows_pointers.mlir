// Softmax over rows of at most 4096 columns, one row per tile block, by pointers: softmax.mlir as a front end writes it
// that knows no views, but that indices do not wrap around and that there is a column.
cuda_tile.module @neural {
  entry @softmax(%x_given: tile<ptr<f32>>, %y_given: tile<ptr<f32>>, %rows: tile<i32>, %columns_given: tile<i32>) {
    %x = assume div_by<16>, %x_given : tile<ptr<f32>>
    %y = assume div_by<16>, %y_given : tile<ptr<f32>>
    %columns_16 = assume div_by<16>, %columns_given : tile<i32>
    %columns = assume bounded<1, ?>, %columns_16 : tile<i32>
    %row, %block_y, %block_z = get_tile_block_id : tile<i32>
    %start = muli %row, %columns overflow<no_signed_wrap> : tile<i32>
    %start_1 = reshape %start : tile<i32> -> tile<1xi32>
    %starts = broadcast %start_1 : tile<1xi32> -> tile<4096xi32>
    %lanes = iota : tile<4096xi32>
    %index = addi %starts, %lanes overflow<no_signed_wrap> : tile<4096xi32>
    %columns_1 = reshape %columns : tile<i32> -> tile<1xi32>
    %columns_all = broadcast %columns_1 : tile<1xi32> -> tile<4096xi32>
    %mask = cmpi less_than %lanes, %columns_all, signed : tile<4096xi32> -> tile<4096xi1>
    %x_1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %xs = broadcast %x_1 : tile<1xptr<f32>> -> tile<4096xptr<f32>>
    %x_at = offset %xs, %index : tile<4096xptr<f32>>, tile<4096xi32> -> tile<4096xptr<f32>>
    %low = constant <f32: 0xFF800000> : tile<4096xf32>
    %values, %read = load_ptr_tko weak %x_at, %mask, %low
      : tile<4096xptr<f32>>, tile<4096xi1>, tile<4096xf32> -> tile<4096xf32>, token
    %largest = reduce %values dim=0 identities=[0xFF800000 : f32] : tile<4096xf32> -> tile<f32>
      (%left: tile<f32>, %right: tile<f32>) {
        %larger = maxf %left, %right : tile<f32>
        yield %larger : tile<f32>
      }
    %largest_1 = reshape %largest : tile<f32> -> tile<1xf32>
    %largest_all = broadcast %largest_1 : tile<1xf32> -> tile<4096xf32>
    %shifted = subf %values, %largest_all : tile<4096xf32>
    %powers = exp %shifted : tile<4096xf32>
    %total = reduce %powers dim=0 identities=[0.0 : f32] : tile<4096xf32> -> tile<f32>
      (%left: tile<f32>, %right: tile<f32>) {
        %both = addf %left, %right : tile<f32>
        yield %both : tile<f32>
      }
    %total_1 = reshape %total : tile<f32> -> tile<1xf32>
    %total_all = broadcast %total_1 : tile<1xf32> -> tile<4096xf32>
    %shares = divf %powers, %total_all : tile<4096xf32>
    %y_1 = reshape %y : tile<ptr<f32>> -> tile<1xptr<f32>>
    %ys = broadcast %y_1 : tile<1xptr<f32>> -> tile<4096xptr<f32>>
    %y_at = offset %ys, %index : tile<4096xptr<f32>>, tile<4096xi32> -> tile<4096xptr<f32>>
    %written = store_ptr_tko weak %y_at, %shares, %mask
      : tile<4096xptr<f32>>, tile<4096xf32>, tile<4096xi1> -> token
  }
}
