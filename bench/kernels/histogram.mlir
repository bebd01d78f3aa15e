// Counts of numbers from 0 to 255, by atomics.
cuda_tile.module @histogram {
  entry @count(%x: tile<ptr<i32>>, %bins: tile<ptr<i32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %four = constant <i32: 4> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    for %turn in (%zero to %four, step %one) : tile<i32> {
      %block, %by, %bz = get_tile_block_id : tile<i32>
      %first = muli %block, %four : tile<i32>
      %part = addi %first, %turn : tile<i32>
      %length = constant <i32: 256> : tile<i32>
      %start = muli %part, %length : tile<i32>
      %start_1 = reshape %start : tile<i32> -> tile<1xi32>
      %starts = broadcast %start_1 : tile<1xi32> -> tile<256xi32>
      %lanes = iota : tile<256xi32>
      %index = addi %starts, %lanes : tile<256xi32>
      %n_1 = reshape %n : tile<i32> -> tile<1xi32>
      %ns = broadcast %n_1 : tile<1xi32> -> tile<256xi32>
      %mask = cmpi less_than %index, %ns, signed : tile<256xi32> -> tile<256xi1>
      %x_1 = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
      %xs = broadcast %x_1 : tile<1xptr<i32>> -> tile<256xptr<i32>>
      %x_at = offset %xs, %index : tile<256xptr<i32>>, tile<256xi32> -> tile<256xptr<i32>>
      %none = constant <i32: 0> : tile<256xi32>
      %v, %read = load_ptr_tko weak %x_at, %mask, %none
        : tile<256xptr<i32>>, tile<256xi1>, tile<256xi32> -> tile<256xi32>, token
      %bins_1 = reshape %bins : tile<ptr<i32>> -> tile<1xptr<i32>>
      %all_bins = broadcast %bins_1 : tile<1xptr<i32>> -> tile<256xptr<i32>>
      %at = offset %all_bins, %v : tile<256xptr<i32>>, tile<256xi32> -> tile<256xptr<i32>>
      %ones = constant <i32: 1> : tile<256xi32>
      %old, %done = atomic_rmw_tko relaxed device %at, add, %ones, %mask
        : tile<256xptr<i32>>, tile<256xi32>, tile<256xi1> -> tile<256xi32>, token
    }
  }
}
