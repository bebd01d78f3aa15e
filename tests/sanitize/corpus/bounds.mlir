// Accesses that are not allowed: outside, misaligned, into constants.
cuda_tile.module @bounds {
  // launch: 2 x=i32[12]:zeros
  entry @wrong_store_past_the_end(%x: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %eight = constant <i32: 8> : tile<i32>
    %start = muli %b, %eight : tile<i32>
    %p = offset %x, %start : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %i = iota : tile<8xi32>
    %q_1 = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
    %q_8 = broadcast %q_1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %q = offset %q_8, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %stored_1 = store_ptr_tko weak %q, %i : tile<8xptr<i32>>, tile<8xi32> -> token  // !out-of-bounds
  }
  // launch: 2 x=i32[12]:zeros
  entry @right_store_past_the_end(%x: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %eight = constant <i32: 8> : tile<i32>
    %n = constant <i32: 12> : tile<i32>
    %start = muli %b, %eight : tile<i32>
    %p = offset %x, %start : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %i = iota : tile<8xi32>
    %s8_1 = reshape %start : tile<i32> -> tile<1xi32>
    %s8 = broadcast %s8_1 : tile<1xi32> -> tile<8xi32>
    %n8_1 = reshape %n : tile<i32> -> tile<1xi32>
    %n8 = broadcast %n8_1 : tile<1xi32> -> tile<8xi32>
    %where = addi %i, %s8 : tile<8xi32>
    %inside = cmpi less_than %where, %n8, signed : tile<8xi32> -> tile<8xi1>
    %q_1 = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
    %q_8 = broadcast %q_1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %q = offset %q_8, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %stored_1 = store_ptr_tko weak %q, %i, %inside : tile<8xptr<i32>>, tile<8xi32>, tile<8xi1> -> token
  }

  // launch: 1 x=i32[4]:zeros out=i32[8]:zeros
  entry @wrong_load_past_the_end(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %i = iota : tile<8xi32>
    %q_1 = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
    %q_8 = broadcast %q_1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %q = offset %q_8, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %r_1 = reshape %out : tile<ptr<i32>> -> tile<1xptr<i32>>
    %r_8 = broadcast %r_1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %r = offset %r_8, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %v, %t_v = load_ptr_tko weak %q : tile<8xptr<i32>> -> tile<8xi32>, token  // !out-of-bounds
    %stored_1 = store_ptr_tko weak %r, %v : tile<8xptr<i32>>, tile<8xi32> -> token
  }
  // launch: 1 x=i32[8]:zeros out=i32[8]:zeros
  entry @right_load_past_the_end(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %i = iota : tile<8xi32>
    %q_1 = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
    %q_8 = broadcast %q_1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %q = offset %q_8, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %r_1 = reshape %out : tile<ptr<i32>> -> tile<1xptr<i32>>
    %r_8 = broadcast %r_1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %r = offset %r_8, %i : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %v, %t_v = load_ptr_tko weak %q : tile<8xptr<i32>> -> tile<8xi32>, token
    %stored_1 = store_ptr_tko weak %r, %v : tile<8xptr<i32>>, tile<8xi32> -> token
  }

  // launch: 1 x=i32[4]:zeros
  entry @wrong_before_the_beginning(%x: tile<ptr<i32>>) {
    %minus = constant <i32: -1> : tile<i32>
    %p = offset %x, %minus : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %stored_1 = store_ptr_tko weak %p, %minus : tile<ptr<i32>>, tile<i32> -> token  // !out-of-bounds
  }
  // launch: 1 x=i32[4]:zeros
  entry @right_before_the_beginning(%x: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %p = offset %x, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %stored_1 = store_ptr_tko weak %p, %one : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 1 x=i8[16]:zeros
  entry @wrong_misaligned(%x: tile<ptr<i8>>) {
    %one = constant <i32: 1> : tile<i32>
    %p = offset %x, %one : tile<ptr<i8>>, tile<i32> -> tile<ptr<i8>>
    %q = ptr_to_ptr %p : tile<ptr<i8>> -> tile<ptr<i32>>
    %stored_1 = store_ptr_tko weak %q, %one : tile<ptr<i32>>, tile<i32> -> token  // !misaligned
  }
  // launch: 1 x=i8[16]:zeros
  entry @right_misaligned(%x: tile<ptr<i8>>) {
    %one = constant <i32: 1> : tile<i32>
    %four = constant <i32: 4> : tile<i32>
    %p = offset %x, %four : tile<ptr<i8>>, tile<i32> -> tile<ptr<i8>>
    %q = ptr_to_ptr %p : tile<ptr<i8>> -> tile<ptr<i32>>
    %stored_1 = store_ptr_tko weak %q, %one : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 1 out=i32[1]:zeros
  entry @wrong_atomic_outside(%out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %far = constant <i32: 9> : tile<i32>
    %p = offset %out, %far : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %old, %t_old = atomic_rmw_tko relaxed device %p, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token  // !out-of-bounds
  }
  // launch: 1 out=i32[10]:zeros
  entry @right_atomic_outside(%out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %far = constant <i32: 9> : tile<i32>
    %p = offset %out, %far : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %old, %t_old = atomic_rmw_tko relaxed device %p, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  }

  // launch: 1 out=i32[8]:zeros
  entry @wrong_all_faults_are_told(%out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %far = constant <i32: 9> : tile<i32>
    %further = constant <i32: 11> : tile<i32>
    %p = offset %out, %far : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %q = offset %out, %further : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %stored_1 = store_ptr_tko weak %p, %one : tile<ptr<i32>>, tile<i32> -> token  // !out-of-bounds.1
    %v, %t_v = load_ptr_tko weak %q : tile<ptr<i32>> -> tile<i32>, token  // !out-of-bounds.2
    %stored_2 = store_ptr_tko weak %out, %one : tile<ptr<i32>>, tile<i32> -> token
  }
  // launch: 1 out=i32[12]:zeros
  entry @right_all_faults_are_told(%out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %far = constant <i32: 9> : tile<i32>
    %further = constant <i32: 11> : tile<i32>
    %p = offset %out, %far : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %q = offset %out, %further : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %stored_1 = store_ptr_tko weak %p, %one : tile<ptr<i32>>, tile<i32> -> token
    %v, %t_v = load_ptr_tko weak %q : tile<ptr<i32>> -> tile<i32>, token
    %stored_2 = store_ptr_tko weak %out, %one : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 1 out=f32[16]:zeros n=12
  entry @wrong_masked_by_a_longer_length(%out: tile<ptr<f32>>, %n: tile<i32>) {
    %i = iota : tile<8xi32>
    %sixteen = constant <i32: 16> : tile<i32>
    %limit_1 = reshape %sixteen : tile<i32> -> tile<1xi32>
    %limit = broadcast %limit_1 : tile<1xi32> -> tile<8xi32>
    %n8_1 = reshape %n : tile<i32> -> tile<1xi32>
    %n8 = broadcast %n8_1 : tile<1xi32> -> tile<8xi32>
    %where = addi %i, %n8 : tile<8xi32>
    %inside = cmpi less_than %where, %limit, signed : tile<8xi32> -> tile<8xi1>
    %v = constant <f32: 1.0> : tile<8xf32>
    %q_1 = reshape %out : tile<ptr<f32>> -> tile<1xptr<f32>>
    %q_8 = broadcast %q_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %q = offset %q_8, %where : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %stored_1 = store_ptr_tko weak %q, %v : tile<8xptr<f32>>, tile<8xf32> -> token  // !out-of-bounds
  }
  // launch: 1 out=f32[16]:zeros n=12
  entry @right_masked_by_a_longer_length(%out: tile<ptr<f32>>, %n: tile<i32>) {
    %i = iota : tile<8xi32>
    %sixteen = constant <i32: 16> : tile<i32>
    %limit_1 = reshape %sixteen : tile<i32> -> tile<1xi32>
    %limit = broadcast %limit_1 : tile<1xi32> -> tile<8xi32>
    %n8_1 = reshape %n : tile<i32> -> tile<1xi32>
    %n8 = broadcast %n8_1 : tile<1xi32> -> tile<8xi32>
    %where = addi %i, %n8 : tile<8xi32>
    %inside = cmpi less_than %where, %limit, signed : tile<8xi32> -> tile<8xi1>
    %v = constant <f32: 1.0> : tile<8xf32>
    %q_1 = reshape %out : tile<ptr<f32>> -> tile<1xptr<f32>>
    %q_8 = broadcast %q_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %q = offset %q_8, %where : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %stored_1 = store_ptr_tko weak %q, %v, %inside : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token
  }

  // launch: 2 x=i32[16]:zeros n=i32:100
  entry @wrong_extent_of_a_view(%x: tile<ptr<i32>>, %n: tile<i32>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %t = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xi32, strides=[1]>  // !oversized-view
    %v = make_partition_view %t : partition_view<tile=(8), tensor_view<?xi32, strides=[1]>>
    %i = iota : tile<8xi32>
    %u = store_view_tko weak %i, %v[%b] : tile<8xi32>, partition_view<tile=(8), tensor_view<?xi32, strides=[1]>>, tile<i32> -> token
  }

  // launch: 2 x=i32[16]:zeros n=i32:16
  entry @right_extent_of_a_view(%x: tile<ptr<i32>>, %n: tile<i32>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %t = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xi32, strides=[1]>
    %v = make_partition_view %t : partition_view<tile=(8), tensor_view<?xi32, strides=[1]>>
    %i = iota : tile<8xi32>
    %u = store_view_tko weak %i, %v[%b] : tile<8xi32>, partition_view<tile=(8), tensor_view<?xi32, strides=[1]>>, tile<i32> -> token
  }
}
