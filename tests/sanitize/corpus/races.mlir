// Conflicting accesses of different tile blocks.
cuda_tile.module @races {
  // launch: 4 out=i32[4]:zeros
  entry @wrong_never_reads_its_block_id(%out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %stored_1 = store_ptr_tko weak %out, %one : tile<ptr<i32>>, tile<i32> -> token  // !race &race
  }
  // launch: 4 out=i32[4]:zeros
  entry @right_never_reads_its_block_id(%out: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %p = offset %out, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %stored_1 = store_ptr_tko weak %p, %one : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 2 x=i32[4]:arange out=i32[4]:zeros
  entry @wrong_store_without_guard(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    %v, %t_v = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
    %stored_1 = store_ptr_tko weak %out, %v : tile<ptr<i32>>, tile<i32> -> token  // !race &race
  }
  // launch: 2 x=i32[4]:arange out=i32[4]:zeros
  entry @right_store_without_guard(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    %v, %t_v = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
    if %first {
      %stored_1 = store_ptr_tko weak %out, %v : tile<ptr<i32>>, tile<i32> -> token
    }
  }

  // launch: 4 bins=i32[2]:zeros out=i32[4]:zeros
  entry @wrong_histogram_read_in_the_same_launch(%bins: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %old, %done = atomic_rmw_tko relaxed device %bins, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token  // &race
    %count, %t_count = load_ptr_tko weak %bins token=%done : tile<ptr<i32>> -> tile<i32>, token  // !race
    %p = offset %out, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %stored_1 = store_ptr_tko weak %p, %count : tile<ptr<i32>>, tile<i32> -> token
  }
  // launch: 4 bins=i32[2]:zeros out=i32[4]:zeros
  entry @right_histogram_read_in_the_same_launch(%bins: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %old, %done = atomic_rmw_tko relaxed device %bins, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  }

  // launch: 2 out=i32[4]:zeros n=1
  entry @wrong_init_guarded_but_not_the_final_store(%out: tile<ptr<i32>>, %n: tile<i32>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    %t = make_token : token
    %ready = if %first -> (token) {
      %init = store_ptr_tko weak %out, %zero token=%t : tile<ptr<i32>>, tile<i32> -> token
      yield %init : token
    } else {
      yield %t : token
    }
    %stored_1 = store_ptr_tko weak %out, %n token=%ready : tile<ptr<i32>>, tile<i32> -> token  // !race &race
  }
  // launch: 2 out=i32[4]:zeros n=1
  entry @right_init_guarded_but_not_the_final_store(%out: tile<ptr<i32>>, %n: tile<i32>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %init = store_ptr_tko weak %out, %zero : tile<ptr<i32>>, tile<i32> -> token
      %stored_1 = store_ptr_tko weak %out, %n token=%init : tile<ptr<i32>>, tile<i32> -> token
    }
  }

  // launch: 4 out=i32[8]:zeros
  entry @wrong_overlapping_pieces(%out: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %p = offset %out, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %i = iota : tile<8xi32>
    %q_1 = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
    %q_8 = broadcast %q_1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %q = offset %q_8, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %stored_1 = store_ptr_tko weak %q, %i : tile<8xptr<i32>>, tile<8xi32> -> token  // !race &race !out-of-bounds
  }
  // launch: 4 out=i32[32]:zeros
  entry @right_overlapping_pieces(%out: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %eight = constant <i32: 8> : tile<i32>
    %start = muli %b, %eight : tile<i32>
    %p = offset %out, %start : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %i = iota : tile<8xi32>
    %q_1 = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
    %q_8 = broadcast %q_1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %q = offset %q_8, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %stored_1 = store_ptr_tko weak %q, %i : tile<8xptr<i32>>, tile<8xi32> -> token
  }

  // launch: 2 x=i32[2]:zeros
  entry @wrong_neighbour_is_read(%x: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %mine = offset %x, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %first, %t = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token  // &race
    %stored_1 = store_ptr_tko weak %mine, %b token=%t : tile<ptr<i32>>, tile<i32> -> token  // !race
  }
  // launch: 2 x=i32[2]:zeros out=i32[2]:zeros
  entry @right_neighbour_is_read(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %mine = offset %out, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %first, %t_first = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
    %stored_1 = store_ptr_tko weak %mine, %first : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 2 c=i32[1]:zeros
  entry @wrong_counter_without_atomic(%c: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %old, %t = load_ptr_tko weak %c : tile<ptr<i32>> -> tile<i32>, token  // &race.1
    %new = addi %old, %one : tile<i32>
    %stored_1 = store_ptr_tko weak %c, %new token=%t : tile<ptr<i32>>, tile<i32> -> token  // !race.1 !race.2 &race.2
  }
  // launch: 2 c=i32[1]:zeros
  entry @right_counter_without_atomic(%c: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %old, %t_old = atomic_rmw_tko relaxed device %c, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  }

  // launch: 2 c=i32[2]:zeros
  entry @wrong_block_scope(%c: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %old, %t_old = atomic_rmw_tko relaxed tl_blk %c, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token  // !race &race
  }
  // launch: 2 c=i32[2]:zeros
  entry @right_block_scope(%c: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %old, %t_old = atomic_rmw_tko relaxed sys %c, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  }

  // launch: 2 c=i64[1]:zeros
  entry @wrong_torn_atomic_max(%c: tile<ptr<i64>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %big = constant <i64: 7> : tile<i64>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    %half = ptr_to_ptr %c : tile<ptr<i64>> -> tile<ptr<i32>>
    if %first {
      %old, %t_old = atomic_rmw_tko relaxed device %c, umax, %big : tile<ptr<i64>>, tile<i64> -> tile<i64>, token  // &race
    } else {
      %low, %t_low = load_ptr_tko relaxed device %half : tile<ptr<i32>> -> tile<i32>, token  // !race
    }
  }
  // launch: 2 c=i64[1]:zeros
  entry @right_torn_atomic_max(%c: tile<ptr<i64>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %big = constant <i64: 7> : tile<i64>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %old, %t_old = atomic_rmw_tko relaxed device %c, umax, %big : tile<ptr<i64>>, tile<i64> -> tile<i64>, token
    } else {
      %whole, %t_whole = load_ptr_tko relaxed device %c : tile<ptr<i64>> -> tile<i64>, token
    }
  }

  // launch: 2 x=i32[1]:zeros
  entry @wrong_weak_against_atomic(%x: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %stored_1 = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token  // &race
    } else {
      %old, %t_old = atomic_rmw_tko relaxed device %x, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token  // !race
    }
  }
  // launch: 2 x=i32[1]:zeros
  entry @right_weak_against_atomic(%x: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %old, %t_old = atomic_rmw_tko relaxed device %x, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    } else {
      %old, %t_old = atomic_rmw_tko relaxed device %x, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    }
  }

  // launch: 2 x=i8[8]:zeros
  entry @wrong_same_byte(%x: tile<ptr<i8>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i8: 1> : tile<i8>
    %at = muli %b, %zero : tile<i32>
    %p = offset %x, %at : tile<ptr<i8>>, tile<i32> -> tile<ptr<i8>>
    %stored_1 = store_ptr_tko weak %p, %one : tile<ptr<i8>>, tile<i8> -> token  // !race &race
  }
  // launch: 8 x=i8[8]:zeros
  entry @right_same_byte(%x: tile<ptr<i8>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %one = constant <i8: 1> : tile<i8>
    %p = offset %x, %b : tile<ptr<i8>>, tile<i32> -> tile<ptr<i8>>
    %stored_1 = store_ptr_tko weak %p, %one : tile<ptr<i8>>, tile<i8> -> token
  }

  // launch: 2 x=f32[64]:zeros
  entry @wrong_view_rows(%x: tile<ptr<f32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %ones = constant <f32: 1.0> : tile<4x8xf32>
    %v = make_tensor_view %x, shape = [8, 8], strides = [8, 1] : tensor_view<8x8xf32, strides=[8,1]>
    %tiles = make_partition_view %v : partition_view<tile=(4x8), tensor_view<8x8xf32, strides=[8,1]>>
    %s = store_view_tko weak %ones, %tiles[%zero, %zero] : tile<4x8xf32>, partition_view<tile=(4x8), tensor_view<8x8xf32, strides=[8,1]>>, tile<i32> -> token  // !race &race
  }
  // launch: 2 x=f32[64]:zeros
  entry @right_view_rows(%x: tile<ptr<f32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %ones = constant <f32: 1.0> : tile<4x8xf32>
    %v = make_tensor_view %x, shape = [8, 8], strides = [8, 1] : tensor_view<8x8xf32, strides=[8,1]>
    %tiles = make_partition_view %v : partition_view<tile=(4x8), tensor_view<8x8xf32, strides=[8,1]>>
    %s = store_view_tko weak %ones, %tiles[%b, %zero] : tile<4x8xf32>, partition_view<tile=(4x8), tensor_view<8x8xf32, strides=[8,1]>>, tile<i32> -> token
  }

  // launch: 2 x=f32[64]:zeros
  entry @wrong_view_columns(%x: tile<ptr<f32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %ones = constant <f32: 1.0> : tile<8x4xf32>
    %v = make_tensor_view %x, shape = [8, 7], strides = [7, 1] : tensor_view<8x7xf32, strides=[7,1]>
    %w = make_tensor_view %x, shape = [8, 7], strides = [8, 1] : tensor_view<8x7xf32, strides=[8,1]>
    %narrow = make_partition_view %v : partition_view<tile=(8x4), tensor_view<8x7xf32, strides=[7,1]>>
    %wide = make_partition_view %w : partition_view<tile=(8x4), tensor_view<8x7xf32, strides=[8,1]>>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %s = store_view_tko weak %ones, %narrow[%zero, %b] : tile<8x4xf32>, partition_view<tile=(8x4), tensor_view<8x7xf32, strides=[7,1]>>, tile<i32> -> token  // &race
    } else {
      %s = store_view_tko weak %ones, %wide[%zero, %b] : tile<8x4xf32>, partition_view<tile=(8x4), tensor_view<8x7xf32, strides=[8,1]>>, tile<i32> -> token  // !race
    }
  }
  // launch: 2 x=f32[64]:zeros
  entry @right_view_columns(%x: tile<ptr<f32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %ones = constant <f32: 1.0> : tile<8x4xf32>
    %v = make_tensor_view %x, shape = [8, 8], strides = [8, 1] : tensor_view<8x8xf32, strides=[8,1]>
    %tiles = make_partition_view %v : partition_view<tile=(8x4), tensor_view<8x8xf32, strides=[8,1]>>
    %s = store_view_tko weak %ones, %tiles[%zero, %b] : tile<8x4xf32>, partition_view<tile=(8x4), tensor_view<8x8xf32, strides=[8,1]>>, tile<i32> -> token
  }
}
