// Layer normalisation of rows of at most 4096 columns by pointers: layer_norm.mlir as a front end writes it that knows
// no views, but that indices do not wrap around and that there is a column.
cuda_tile.module @neural {
  entry @layer_norm(%x_given: tile<ptr<f32>>, %weight_given: tile<ptr<f32>>, %bias_given: tile<ptr<f32>>,
                    %y_given: tile<ptr<f32>>,
                    %rows: tile<i32>, %columns_given: tile<i32>, %epsilon: tile<f32>) {
    %x = assume div_by<16>, %x_given : tile<ptr<f32>>
    %weight = assume div_by<16>, %weight_given : tile<ptr<f32>>
    %bias = assume div_by<16>, %bias_given : tile<ptr<f32>>
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
    %inside = cmpi less_than %lanes, %columns_all, signed : tile<4096xi32> -> tile<4096xi1>
    %zero = constant <f32: 0.0> : tile<4096xf32>
    %x_1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %xs = broadcast %x_1 : tile<1xptr<f32>> -> tile<4096xptr<f32>>
    %x_at = offset %xs, %index : tile<4096xptr<f32>>, tile<4096xi32> -> tile<4096xptr<f32>>
    %values, %x_read = load_ptr_tko weak %x_at, %inside, %zero
      : tile<4096xptr<f32>>, tile<4096xi1>, tile<4096xf32> -> tile<4096xf32>, token
    %w_1 = reshape %weight : tile<ptr<f32>> -> tile<1xptr<f32>>
    %ws = broadcast %w_1 : tile<1xptr<f32>> -> tile<4096xptr<f32>>
    %w_at = offset %ws, %lanes : tile<4096xptr<f32>>, tile<4096xi32> -> tile<4096xptr<f32>>
    %scale, %w_read = load_ptr_tko weak %w_at, %inside, %zero
      : tile<4096xptr<f32>>, tile<4096xi1>, tile<4096xf32> -> tile<4096xf32>, token
    %b_1 = reshape %bias : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bs = broadcast %b_1 : tile<1xptr<f32>> -> tile<4096xptr<f32>>
    %b_at = offset %bs, %lanes : tile<4096xptr<f32>>, tile<4096xi32> -> tile<4096xptr<f32>>
    %shift, %b_read = load_ptr_tko weak %b_at, %inside, %zero
      : tile<4096xptr<f32>>, tile<4096xi1>, tile<4096xf32> -> tile<4096xf32>, token
    %count = itof %columns signed : tile<i32> -> tile<f32>
    %sum = reduce %values dim=0 identities=[0.0 : f32] : tile<4096xf32> -> tile<f32>
      (%left: tile<f32>, %right: tile<f32>) {
        %both = addf %left, %right : tile<f32>
        yield %both : tile<f32>
      }
    %mean = divf %sum, %count : tile<f32>
    %mean_1 = reshape %mean : tile<f32> -> tile<1xf32>
    %means = broadcast %mean_1 : tile<1xf32> -> tile<4096xf32>

    %differences = subf %values, %means : tile<4096xf32>
    %nothing = constant <f32: 0.0> : tile<4096xf32>
    %centred = select %inside, %differences, %nothing : tile<4096xi1>, tile<4096xf32>

    %squares = mulf %centred, %centred : tile<4096xf32>
    %square_sum = reduce %squares dim=0 identities=[0.0 : f32] : tile<4096xf32> -> tile<f32>
      (%left: tile<f32>, %right: tile<f32>) {
        %both = addf %left, %right : tile<f32>
        yield %both : tile<f32>
      }
    %variance = divf %square_sum, %count : tile<f32>
    %raised = addf %variance, %epsilon : tile<f32>
    %factor = rsqrt %raised : tile<f32>
    %factor_1 = reshape %factor : tile<f32> -> tile<1xf32>
    %factors = broadcast %factor_1 : tile<1xf32> -> tile<4096xf32>

    %normal = mulf %centred, %factors : tile<4096xf32>
    %result = fma %normal, %scale, %shift : tile<4096xf32>
    %y_1 = reshape %y : tile<ptr<f32>> -> tile<1xptr<f32>>
    %ys = broadcast %y_1 : tile<1xptr<f32>> -> tile<4096xptr<f32>>
    %y_at = offset %ys, %index : tile<4096xptr<f32>>, tile<4096xi32> -> tile<4096xptr<f32>>
    %written = store_ptr_tko weak %y_at, %result, %inside
      : tile<4096xptr<f32>>, tile<4096xf32>, tile<4096xi1> -> token
  }
}
