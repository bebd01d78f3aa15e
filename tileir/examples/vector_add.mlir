// c = a + b for vectors of any length, with plain pointers.
//
// Each tile block adds 1024 elements. The length need not be a multiple of 1024: a mask switches the lanes beyond
// the end off, so that nothing outside the arrays is touched.
//
//   tileir run examples/vector_add.mlir --grid 98 a=f32[100000]:randn b=f32[100000]:randn c=f32[100000]:zeros n=i32:100000

cuda_tile.module @vectors {
  entry @vector_add(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>, %n: tile<i32>) {
    // The numbers of the elements this block works on: 1024 * block + [0, 1, ..., 1023].
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %length = constant <i32: 1024> : tile<i32>
    %first = muli %block, %length : tile<i32>
    %lanes = iota : tile<1024xi32>
    %first_1 = reshape %first : tile<i32> -> tile<1xi32>
    %firsts = broadcast %first_1 : tile<1xi32> -> tile<1024xi32>
    %index = addi %firsts, %lanes : tile<1024xi32>

    // mask[i] = index[i] < n
    %n_1 = reshape %n : tile<i32> -> tile<1xi32>
    %ns = broadcast %n_1 : tile<1xi32> -> tile<1024xi32>
    %mask = cmpi less_than %index, %ns, signed : tile<1024xi32> -> tile<1024xi1>

    // A tile of 1024 pointers for each array: the base address, repeated, plus the element numbers.
    %a_1 = reshape %a : tile<ptr<f32>> -> tile<1xptr<f32>>
    %a_all = broadcast %a_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
    %a_at = offset %a_all, %index : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
    %b_1 = reshape %b : tile<ptr<f32>> -> tile<1xptr<f32>>
    %b_all = broadcast %b_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
    %b_at = offset %b_all, %index : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
    %c_1 = reshape %c : tile<ptr<f32>> -> tile<1xptr<f32>>
    %c_all = broadcast %c_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
    %c_at = offset %c_all, %index : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>

    // "weak" means: no other tile block works on these elements at the same time.
    %zeros = constant <f32: 0.0> : tile<1024xf32>
    %x, %x_read = load_ptr_tko weak %a_at, %mask, %zeros
      : tile<1024xptr<f32>>, tile<1024xi1>, tile<1024xf32> -> tile<1024xf32>, token
    %y, %y_read = load_ptr_tko weak %b_at, %mask, %zeros
      : tile<1024xptr<f32>>, tile<1024xi1>, tile<1024xf32> -> tile<1024xf32>, token
    %sum = addf %x, %y : tile<1024xf32>
    %written = store_ptr_tko weak %c_at, %sum, %mask
      : tile<1024xptr<f32>>, tile<1024xf32>, tile<1024xi1> -> token
  }
}
