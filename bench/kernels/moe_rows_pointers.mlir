// Rows of 256 gathered by one table and scattered by another, scaled by a weight each: the shape of a mixture of
// experts. One token runs through all accesses, as a front end writes it that knows nothing about aliases.
cuda_tile.module @moe {
  entry @rows(%x: tile<ptr<f32>>, %from: tile<ptr<i32>>, %to: tile<ptr<i32>>, %weight: tile<ptr<f32>>,
              %y: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %sixteen = constant <i32: 16> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %begin = make_token : token
    for %turn in (%zero to %sixteen, step %one) : tile<i32> iter_values(%t = %begin) -> (token) {
      %block, %by, %bz = get_tile_block_id : tile<i32>
      %first = muli %block, %sixteen : tile<i32>
      %row = addi %first, %turn : tile<i32>
      %from_at = offset %from, %row : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %source, %t1 = load_ptr_tko weak %from_at token=%t : tile<ptr<i32>> -> tile<i32>, token
      %to_at = offset %to, %row : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %target, %t2 = load_ptr_tko weak %to_at token=%t1 : tile<ptr<i32>> -> tile<i32>, token
      %row_again = addi %first, %turn : tile<i32>
      %weight_at = offset %weight, %row_again : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
      %w, %t3 = load_ptr_tko weak %weight_at token=%t2 : tile<ptr<f32>> -> tile<f32>, token
      %width = constant <i32: 256> : tile<i32>
      %start = muli %source, %width : tile<i32>
      %start_1 = reshape %start : tile<i32> -> tile<1xi32>
      %starts = broadcast %start_1 : tile<1xi32> -> tile<256xi32>
      %lanes = iota : tile<256xi32>
      %index = addi %starts, %lanes : tile<256xi32>
      %x_1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
      %xs = broadcast %x_1 : tile<1xptr<f32>> -> tile<256xptr<f32>>
      %x_at = offset %xs, %index : tile<256xptr<f32>>, tile<256xi32> -> tile<256xptr<f32>>
      %v, %t4 = load_ptr_tko weak %x_at token=%t3 : tile<256xptr<f32>> -> tile<256xf32>, token
      %w_1 = reshape %w : tile<f32> -> tile<1xf32>
      %ws = broadcast %w_1 : tile<1xf32> -> tile<256xf32>
      %scaled = mulf %v, %ws : tile<256xf32>
      %width_again = constant <i32: 256> : tile<i32>
      %goal = muli %target, %width_again : tile<i32>
      %goal_1 = reshape %goal : tile<i32> -> tile<1xi32>
      %goals = broadcast %goal_1 : tile<1xi32> -> tile<256xi32>
      %lanes_again = iota : tile<256xi32>
      %index_2 = addi %goals, %lanes_again : tile<256xi32>
      %y_1 = reshape %y : tile<ptr<f32>> -> tile<1xptr<f32>>
      %ys = broadcast %y_1 : tile<1xptr<f32>> -> tile<256xptr<f32>>
      %y_at = offset %ys, %index_2 : tile<256xptr<f32>>, tile<256xi32> -> tile<256xptr<f32>>
      %t5 = store_ptr_tko weak %y_at, %scaled token=%t4 : tile<256xptr<f32>>, tile<256xf32> -> token
      continue %t5 : token
    }
  }
}
