// y = a * x + y if it is wanted, else y = 0 * x + y; as a front end might write it.
cuda_tile.module @front_end {
  entry @axpy(%a: tile<f32>, %x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %n: tile<i32>, %wanted: tile<i1>) {
    %zero = constant <i32: 0> : tile<i32>
    %length = constant <i32: 256> : tile<i32>
    %turns = constant <i32: 4> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %true = constant <i1: true> : tile<i1>
    %unwanted = xori %wanted, %true : tile<i1>
    %factor = if %unwanted -> (tile<f32>) {
      %nothing = constant <f32: 0.0> : tile<f32>
      yield %nothing : tile<f32>
    } else {
      yield %a : tile<f32>
    }
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    for %turn in (%zero to %turns, step %one) : tile<i32> {
      %block_1, %block_y_1, %block_z_1 = get_tile_block_id : tile<i32>
      %four = muli %turns, %one : tile<i32>
      %first_turn = muli %block_1, %four : tile<i32>
      %at_turn = addi %first_turn, %turn : tile<i32>
      %first = muli %at_turn, %length : tile<i32>
      %first_1 = reshape %first : tile<i32> -> tile<1xi32>
      %firsts = broadcast %first_1 : tile<1xi32> -> tile<256xi32>
      %lanes = iota : tile<256xi32>
      %index = addi %firsts, %lanes : tile<256xi32>
      %n_1 = reshape %n : tile<i32> -> tile<1xi32>
      %ns = broadcast %n_1 : tile<1xi32> -> tile<256xi32>
      %mask = cmpi less_than %index, %ns, signed : tile<256xi32> -> tile<256xi1>
      %x_1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
      %xs = broadcast %x_1 : tile<1xptr<f32>> -> tile<256xptr<f32>>
      %x_at = offset %xs, %index : tile<256xptr<f32>>, tile<256xi32> -> tile<256xptr<f32>>
      %y_1 = reshape %y : tile<ptr<f32>> -> tile<1xptr<f32>>
      %ys = broadcast %y_1 : tile<1xptr<f32>> -> tile<256xptr<f32>>
      %y_at = offset %ys, %index : tile<256xptr<f32>>, tile<256xi32> -> tile<256xptr<f32>>
      %u, %u_read = load_ptr_tko weak %x_at, %mask : tile<256xptr<f32>>, tile<256xi1> -> tile<256xf32>, token
      %v, %v_read = load_ptr_tko weak %y_at, %mask : tile<256xptr<f32>>, tile<256xi1> -> tile<256xf32>, token
      %a_1 = reshape %factor : tile<f32> -> tile<1xf32>
      %as = broadcast %a_1 : tile<1xf32> -> tile<256xf32>
      %product = mulf %u, %as : tile<256xf32>
      %sum = addf %product, %v : tile<256xf32>
      %done = store_ptr_tko weak %y_at, %sum, %mask token=%v_read
        : tile<256xptr<f32>>, tile<256xf32>, tile<256xi1> -> token
    }
  }
}
