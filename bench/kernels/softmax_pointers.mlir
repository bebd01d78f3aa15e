// Softmax of rows of 1024 by pointers, eight rows a block, as a front end writes it that computes everything where it
// is used.
cuda_tile.module @softmax_pointers {
  entry @softmax(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %rows: tile<i32>, %columns: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %eight = constant <i32: 8> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    for %turn in (%zero to %eight, step %one) : tile<i32> {
      %block, %by, %bz = get_tile_block_id : tile<i32>
      %c8 = constant <i32: 8> : tile<i32>
      %first = muli %block, %c8 : tile<i32>
      %row = addi %first, %turn : tile<i32>
      %width = muli %columns, %one : tile<i32>
      %start = muli %row, %width : tile<i32>
      %start_1 = reshape %start : tile<i32> -> tile<1xi32>
      %starts = broadcast %start_1 : tile<1xi32> -> tile<1024xi32>
      %lanes = iota : tile<1024xi32>
      %index = addi %starts, %lanes : tile<1024xi32>
      %width_1 = reshape %columns : tile<i32> -> tile<1xi32>
      %widths = broadcast %width_1 : tile<1xi32> -> tile<1024xi32>
      %inside = cmpi less_than %lanes, %widths, signed : tile<1024xi32> -> tile<1024xi1>
      %rows_1 = reshape %rows : tile<i32> -> tile<1xi32>
      %all_rows = broadcast %rows_1 : tile<1xi32> -> tile<1024xi32>
      %row_1 = reshape %row : tile<i32> -> tile<1xi32>
      %my_row = broadcast %row_1 : tile<1xi32> -> tile<1024xi32>
      %there = cmpi less_than %my_row, %all_rows, signed : tile<1024xi32> -> tile<1024xi1>
      %mask = andi %inside, %there : tile<1024xi1>
      %x_1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
      %xs = broadcast %x_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
      %x_at = offset %xs, %index : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
      %low = constant <f32: 0xFF800000> : tile<1024xf32>
      %v, %read = load_ptr_tko weak %x_at, %mask, %low
        : tile<1024xptr<f32>>, tile<1024xi1>, tile<1024xf32> -> tile<1024xf32>, token
      %max = reduce %v dim=0 identities=[0xFF800000 : f32] : tile<1024xf32> -> tile<f32>
        (%a: tile<f32>, %b: tile<f32>) {
          %m = maxf %a, %b : tile<f32>
          yield %m : tile<f32>
        }
      %max_1 = reshape %max : tile<f32> -> tile<1xf32>
      %maxs = broadcast %max_1 : tile<1xf32> -> tile<1024xf32>
      %less = subf %v, %maxs : tile<1024xf32>
      %e = exp %less : tile<1024xf32>
      %sum = reduce %e dim=0 identities=[0.0 : f32] : tile<1024xf32> -> tile<f32>
        (%a: tile<f32>, %b: tile<f32>) {
          %s = addf %a, %b : tile<f32>
          yield %s : tile<f32>
        }
      %sum_1 = reshape %sum : tile<f32> -> tile<1xf32>
      %sums = broadcast %sum_1 : tile<1xf32> -> tile<1024xf32>
      %q = divf %e, %sums : tile<1024xf32>
      %start_2 = muli %row, %width : tile<i32>
      %start_3 = reshape %start_2 : tile<i32> -> tile<1xi32>
      %starts_2 = broadcast %start_3 : tile<1xi32> -> tile<1024xi32>
      %index_2 = addi %starts_2, %lanes : tile<1024xi32>
      %y_1 = reshape %y : tile<ptr<f32>> -> tile<1xptr<f32>>
      %ys = broadcast %y_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
      %y_at = offset %ys, %index_2 : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
      store_ptr_tko weak %y_at, %q, %mask token=%read
        : tile<1024xptr<f32>>, tile<1024xf32>, tile<1024xi1> -> token
    }
  }
}
