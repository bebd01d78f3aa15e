// Memory through pointers: orderings, scopes, masks, padding, tokens, allocation.
cuda_tile.module @memory {
  entry @loads(%base: tile<ptr<f32>>, %n: tile<i32>) {
    %p1 = reshape %base : tile<ptr<f32>> -> tile<1xptr<f32>>
    %p8 = broadcast %p1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %row = iota : tile<8xi32>
    %p = offset %p8, %row : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %n1 = reshape %n : tile<i32> -> tile<1xi32>
    %n8 = broadcast %n1 : tile<1xi32> -> tile<8xi32>
    %mask = cmpi less_than %row, %n8, signed : tile<8xi32> -> tile<8xi1>
    %pad = constant <f32: 0.0> : tile<8xf32>
    %t = make_token : token
    %0, %t0 = load_ptr_tko weak %p : tile<8xptr<f32>> -> tile<8xf32>, token
    %1, %t1 = load_ptr_tko weak %p, %mask : tile<8xptr<f32>>, tile<8xi1> -> tile<8xf32>, token
    %2, %t2 = load_ptr_tko weak %p, %mask, %pad : tile<8xptr<f32>>, tile<8xi1>, tile<8xf32> -> tile<8xf32>, token
    %3, %t3 = load_ptr_tko relaxed device %p token=%t : tile<8xptr<f32>> -> tile<8xf32>, token
    %4, %t4 = load_ptr_tko acquire sys %p, %mask, %pad token=%t3
        : tile<8xptr<f32>>, tile<8xi1>, tile<8xf32> -> tile<8xf32>, token
    %5, %t5 = load_ptr_tko acquire tl_blk %base token=%t4 : tile<ptr<f32>> -> tile<f32>, token
    %6 = join_tokens %t0, %t1 : token
    %7 = join_tokens %t2, %t5, %6, %6 : token
    store_ptr_tko weak %p, %2, %mask token=%7 : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token
  }

  entry @stores(%base: tile<ptr<i64>>, %value: tile<i64>, %mask: tile<i1>) {
    %t0 = store_ptr_tko weak %base, %value : tile<ptr<i64>>, tile<i64> -> token
    %t1 = store_ptr_tko relaxed tl_blk %base, %value token=%t0 : tile<ptr<i64>>, tile<i64> -> token
    %t2 = store_ptr_tko release device %base, %value, %mask token=%t1 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
    %t3 = store_ptr_tko release sys %base, %value, %mask : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
    %0 = offset %base, %value : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
  }

  entry @scratch(%value: tile<f16>) {
    %0 = alloca num_elem = 32, alignment = 16 : tile<ptr<f16>>
    %1 = alloca num_elem = 1, alignment = 8 global : tile<ptr<i64>>
    %t0 = store_ptr_tko weak %0, %value : tile<ptr<f16>>, tile<f16> -> token
    %2, %t1 = load_ptr_tko weak %0 token=%t0 : tile<ptr<f16>> -> tile<f16>, token
  }

  entry @small_types(%a: tile<ptr<i1>>, %b: tile<ptr<i8>>, %c: tile<ptr<f8E4M3FN>>, %d: tile<ptr<tf32>>) {
    %0, %t0 = load_ptr_tko weak %a : tile<ptr<i1>> -> tile<i1>, token
    %1, %t1 = load_ptr_tko weak %b : tile<ptr<i8>> -> tile<i8>, token
    %2, %t2 = load_ptr_tko weak %c : tile<ptr<f8E4M3FN>> -> tile<f8E4M3FN>, token
    %3, %t3 = load_ptr_tko weak %d : tile<ptr<tf32>> -> tile<tf32>, token
  }

  // Copies 8 numbers of each tile block.
  entry @copy(%from: tile<ptr<f32>>, %to: tile<ptr<f32>>) {
    %bx, %by, %bz = get_tile_block_id : tile<i32>
    %gx, %gy, %gz = get_num_tile_blocks : tile<i32>
    %inside = cmpi less_than %bx, %gx, signed : tile<i32> -> tile<i1>
    assert %inside, "tile block lies outside the grid" : tile<i1>
    %eight = constant <i32: 8> : tile<i32>
    %start = muli %bx, %eight : tile<i32>
    %row = iota : tile<8xi32>
    %s1 = reshape %start : tile<i32> -> tile<1xi32>
    %s8 = broadcast %s1 : tile<1xi32> -> tile<8xi32>
    %index = addi %row, %s8 : tile<8xi32>
    %f1 = reshape %from : tile<ptr<f32>> -> tile<1xptr<f32>>
    %f8 = broadcast %f1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %t1 = reshape %to : tile<ptr<f32>> -> tile<1xptr<f32>>
    %t8 = broadcast %t1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %fp = offset %f8, %index : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %tp = offset %t8, %index : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %x, %loaded = load_ptr_tko weak %fp : tile<8xptr<f32>> -> tile<8xf32>, token
    store_ptr_tko weak %tp, %x token=%loaded : tile<8xptr<f32>>, tile<8xf32> -> token
  }
}
