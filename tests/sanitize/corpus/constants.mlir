// Stores into constant memory.
cuda_tile.module @constants {
  global constant @table <i32: [1, 2, 3, 4]> : tile<4xi32>
  // launch: 1 n=1
  entry @wrong_store_into_a_table(%n: tile<i32>) {
    %p = get_global @table : tile<ptr<i32>>
    %stored_1 = store_ptr_tko weak %p, %n : tile<ptr<i32>>, tile<i32> -> token  // !read-only
  }
  // launch: 1 out=i32[1]:zeros
  entry @right_store_into_a_table(%out: tile<ptr<i32>>) {
    %p = get_global @table : tile<ptr<i32>>
    %v, %t_v = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
    %stored_1 = store_ptr_tko weak %out, %v : tile<ptr<i32>>, tile<i32> -> token
  }
}
