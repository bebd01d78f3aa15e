// Values that nobody wrote.
cuda_tile.module @uninitialized {
  // launch: 1 out=f32[1]:zeros
  entry @wrong_alloca_stored(%out: tile<ptr<f32>>) {
    %a = alloca num_elem = 4, alignment = 16 : tile<ptr<f32>>
    %v, %t_v = load_ptr_tko weak %a : tile<ptr<f32>> -> tile<f32>, token  // !uninitialized
    %stored_1 = store_ptr_tko weak %out, %v : tile<ptr<f32>>, tile<f32> -> token  // &uninitialized
  }
  // launch: 1 out=f32[1]:zeros
  entry @right_alloca_stored(%out: tile<ptr<f32>>) {
    %one = constant <f32: 1.0> : tile<f32>
    %a = alloca num_elem = 4, alignment = 16 : tile<ptr<f32>>
    %t = store_ptr_tko weak %a, %one : tile<ptr<f32>>, tile<f32> -> token
    %v, %t_v = load_ptr_tko weak %a token=%t : tile<ptr<f32>> -> tile<f32>, token
    %stored_1 = store_ptr_tko weak %out, %v : tile<ptr<f32>>, tile<f32> -> token
  }

  // launch: 1 x=i32[4]:zeros out=i32[1]:zeros --uninitialized=x
  entry @wrong_array_summed(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %v, %t_v = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token  // !uninitialized
    %w = addi %v, %one : tile<i32>
    %y = muli %w, %w : tile<i32>
    %stored_1 = store_ptr_tko weak %out, %y : tile<ptr<i32>>, tile<i32> -> token  // &uninitialized
  }
  // launch: 1 x=i32[4]:zeros out=i32[1]:zeros --uninitialized=x
  entry @right_array_summed(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %v, %t_v = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
    %w = addi %v, %one : tile<i32>
    %y = muli %w, %w : tile<i32>
    %stored_1 = store_ptr_tko weak %out, %one : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 1 x=i32[4]:zeros out=i32[4]:zeros --uninitialized=x
  entry @wrong_index(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %v, %t_v = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token  // !uninitialized
    %p = offset %out, %v : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %stored_1 = store_ptr_tko weak %p, %one : tile<ptr<i32>>, tile<i32> -> token  // &uninitialized
  }
  // launch: 1 x=i32[4]:zeros out=i32[4]:zeros
  entry @right_index(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %v, %t_v = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
    %p = offset %out, %v : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %stored_1 = store_ptr_tko weak %p, %one : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 1 x=i32[4]:zeros out=i32[4]:zeros --uninitialized=x
  entry @wrong_branch(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %v, %t_v = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token  // !uninitialized
    %is = cmpi equal %v, %one, signed : tile<i32> -> tile<i1>
    if %is {  // &uninitialized
      %stored_1 = store_ptr_tko weak %out, %one : tile<ptr<i32>>, tile<i32> -> token
    }
  }
  // launch: 1 x=i32[4]:zeros out=i32[4]:zeros --uninitialized=x
  entry @right_branch(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %t = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token
    %v, %t_v = load_ptr_tko weak %x token=%t : tile<ptr<i32>> -> tile<i32>, token
    %is = cmpi equal %v, %one, signed : tile<i32> -> tile<i1>
    if %is {
      %stored_1 = store_ptr_tko weak %out, %one : tile<ptr<i32>>, tile<i32> -> token
    }
  }

  // launch: 1 x=i32[4]:zeros --uninitialized=x
  entry @wrong_assertion(%x: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %v, %t_v = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token  // !uninitialized
    %is = cmpi equal %v, %zero, signed : tile<i32> -> tile<i1>
    assert %is, "zero" : tile<i1>  // &uninitialized
  }
  // launch: 1 x=i32[4]:zeros
  entry @right_assertion(%x: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %v, %t_v = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
    %is = cmpi equal %v, %zero, signed : tile<i32> -> tile<i1>
    assert %is, "zero" : tile<i1>
  }

  // launch: 1 x=f32[8]:zeros out=f32[8]:zeros n=4 --uninitialized=x
  entry @wrong_select_takes_it(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>, %n: tile<i32>) {
    %i = iota : tile<8xi32>
    %n8_1 = reshape %n : tile<i32> -> tile<1xi32>
    %n8 = broadcast %n8_1 : tile<1xi32> -> tile<8xi32>
    %low = cmpi less_than %i, %n8, signed : tile<8xi32> -> tile<8xi1>
    %zeros = constant <f32: 0.0> : tile<8xf32>
    %p_1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %p_8 = broadcast %p_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %p = offset %p_8, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %q_1 = reshape %out : tile<ptr<f32>> -> tile<1xptr<f32>>
    %q_8 = broadcast %q_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %q = offset %q_8, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %v, %t_v = load_ptr_tko weak %p : tile<8xptr<f32>> -> tile<8xf32>, token  // !uninitialized
    %w = select %low, %v, %zeros : tile<8xi1>, tile<8xf32>
    %stored_1 = store_ptr_tko weak %q, %w : tile<8xptr<f32>>, tile<8xf32> -> token  // &uninitialized
  }
  // launch: 1 x=f32[8]:zeros out=f32[8]:zeros n=4 --uninitialized=x
  entry @right_select_takes_it(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>, %n: tile<i32>) {
    %i = iota : tile<8xi32>
    %n8_1 = reshape %n : tile<i32> -> tile<1xi32>
    %n8 = broadcast %n8_1 : tile<1xi32> -> tile<8xi32>
    %low = cmpi less_than %i, %n8, signed : tile<8xi32> -> tile<8xi1>
    %zeros = constant <f32: 0.0> : tile<8xf32>
    %p_1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %p_8 = broadcast %p_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %p = offset %p_8, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %q_1 = reshape %out : tile<ptr<f32>> -> tile<1xptr<f32>>
    %q_8 = broadcast %q_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %q = offset %q_8, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %t = store_ptr_tko weak %p, %zeros, %low : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token
    %v, %t_v = load_ptr_tko weak %p token=%t : tile<8xptr<f32>> -> tile<8xf32>, token
    %w = select %low, %v, %zeros : tile<8xi1>, tile<8xf32>
    %stored_1 = store_ptr_tko weak %q, %w : tile<8xptr<f32>>, tile<8xf32> -> token
  }

  // launch: 1 x=i8[4]:zeros out=i32[1]:zeros --uninitialized=x
  entry @wrong_one_byte_of_four(%x: tile<ptr<i8>>, %out: tile<ptr<i32>>) {
    %one = constant <i8: 1> : tile<i8>
    %t = store_ptr_tko weak %x, %one : tile<ptr<i8>>, tile<i8> -> token
    %q = ptr_to_ptr %x : tile<ptr<i8>> -> tile<ptr<i32>>
    %v, %t_v = load_ptr_tko weak %q token=%t : tile<ptr<i32>> -> tile<i32>, token  // !uninitialized
    %stored_1 = store_ptr_tko weak %out, %v : tile<ptr<i32>>, tile<i32> -> token  // &uninitialized
  }
  // launch: 1 x=i8[4]:zeros out=i32[1]:zeros --uninitialized=x
  entry @right_one_byte_of_four(%x: tile<ptr<i8>>, %out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %q = ptr_to_ptr %x : tile<ptr<i8>> -> tile<ptr<i32>>
    %t = store_ptr_tko weak %q, %one : tile<ptr<i32>>, tile<i32> -> token
    %v, %t_v = load_ptr_tko weak %q token=%t : tile<ptr<i32>> -> tile<i32>, token
    %stored_1 = store_ptr_tko weak %out, %v : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 1 out=f32[1]:zeros
  entry @wrong_reduced(%out: tile<ptr<f32>>) {
    %i = iota : tile<8xi32>
    %a = alloca num_elem = 8, alignment = 16 : tile<ptr<f32>>
    %p_1 = reshape %a : tile<ptr<f32>> -> tile<1xptr<f32>>
    %p_8 = broadcast %p_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %p = offset %p_8, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %v, %t_v = load_ptr_tko weak %p : tile<8xptr<f32>> -> tile<8xf32>, token  // !uninitialized
    %total = reduce %v dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
      (%l: tile<f32>, %r: tile<f32>) {
        %both = addf %l, %r : tile<f32>
        yield %both : tile<f32>
      }
    %stored_1 = store_ptr_tko weak %out, %total : tile<ptr<f32>>, tile<f32> -> token  // &uninitialized
  }
  // launch: 1 out=f32[1]:zeros
  entry @right_reduced(%out: tile<ptr<f32>>) {
    %i = iota : tile<8xi32>
    %ones = constant <f32: 1.0> : tile<8xf32>
    %a = alloca num_elem = 8, alignment = 16 : tile<ptr<f32>>
    %p_1 = reshape %a : tile<ptr<f32>> -> tile<1xptr<f32>>
    %p_8 = broadcast %p_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %p = offset %p_8, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %t = store_ptr_tko weak %p, %ones : tile<8xptr<f32>>, tile<8xf32> -> token
    %v, %t_v = load_ptr_tko weak %p token=%t : tile<8xptr<f32>> -> tile<8xf32>, token
    %total = reduce %v dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
      (%l: tile<f32>, %r: tile<f32>) {
        %both = addf %l, %r : tile<f32>
        yield %both : tile<f32>
      }
    %stored_1 = store_ptr_tko weak %out, %total : tile<ptr<f32>>, tile<f32> -> token
  }

  // launch: 1 c=i32[1]:zeros --uninitialized=c
  entry @wrong_counter_not_cleared(%c: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %old, %t_old = atomic_rmw_tko relaxed device %c, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token  // !uninitialized &uninitialized
  }
  // launch: 1 c=i32[1]:zeros --uninitialized=c
  entry @right_counter_not_cleared(%c: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %old, %t = atomic_rmw_tko relaxed device %c, xchg, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %more, %t_more = atomic_rmw_tko relaxed device %c, add, %one token=%t : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  }
}
