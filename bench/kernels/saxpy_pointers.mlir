// y = alpha * x + y for vectors of any length by pointers, 4096 elements per tile block: saxpy_vector.mlir
// without views.
cuda_tile.module @vectors {
  entry @saxpy(%x_given: tile<ptr<f32>>, %y_given: tile<ptr<f32>>, %alpha: tile<f32>, %n: tile<i32>) {
    %x = assume div_by<16>, %x_given : tile<ptr<f32>>
    %y = assume div_by<16>, %y_given : tile<ptr<f32>>
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %size = constant <i32: 4096> : tile<i32>
    %first = muli %block, %size : tile<i32>
    %first_1 = reshape %first : tile<i32> -> tile<1xi32>
    %firsts = broadcast %first_1 : tile<1xi32> -> tile<4096xi32>
    %lanes = iota : tile<4096xi32>
    %index = addi %firsts, %lanes : tile<4096xi32>
    %n_1 = reshape %n : tile<i32> -> tile<1xi32>
    %ns = broadcast %n_1 : tile<1xi32> -> tile<4096xi32>
    %mask = cmpi less_than %index, %ns, signed : tile<4096xi32> -> tile<4096xi1>
    %x_1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %xs = broadcast %x_1 : tile<1xptr<f32>> -> tile<4096xptr<f32>>
    %x_at = offset %xs, %index : tile<4096xptr<f32>>, tile<4096xi32> -> tile<4096xptr<f32>>
    %y_1 = reshape %y : tile<ptr<f32>> -> tile<1xptr<f32>>
    %ys = broadcast %y_1 : tile<1xptr<f32>> -> tile<4096xptr<f32>>
    %y_at = offset %ys, %index : tile<4096xptr<f32>>, tile<4096xi32> -> tile<4096xptr<f32>>
    %x_tile, %x_read = load_ptr_tko weak %x_at, %mask : tile<4096xptr<f32>>, tile<4096xi1> -> tile<4096xf32>, token
    %y_tile, %y_read = load_ptr_tko weak %y_at, %mask : tile<4096xptr<f32>>, tile<4096xi1> -> tile<4096xf32>, token
    %alpha_1 = reshape %alpha : tile<f32> -> tile<1xf32>
    %alphas = broadcast %alpha_1 : tile<1xf32> -> tile<4096xf32>
    %scaled = mulf %alphas, %x_tile : tile<4096xf32>
    %sum = addf %scaled, %y_tile : tile<4096xf32>
    %written = store_ptr_tko weak %y_at, %sum, %mask token=%y_read
      : tile<4096xptr<f32>>, tile<4096xf32>, tile<4096xi1> -> token
  }
}
