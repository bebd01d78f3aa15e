// Conflicting accesses of one tile block that no token orders.
cuda_tile.module @tokens {
  // launch: 1 x=i32[1]:zeros out=i32[1]:zeros
  entry @wrong_load_after_store(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %stored_1 = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token  // &missing-token
    %v, %t_v = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token  // !missing-token
    %stored_2 = store_ptr_tko weak %out, %v : tile<ptr<i32>>, tile<i32> -> token
  }
  // launch: 1 x=i32[1]:zeros out=i32[1]:zeros
  entry @right_load_after_store(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %t = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token
    %v, %t_v = load_ptr_tko weak %x token=%t : tile<ptr<i32>> -> tile<i32>, token
    %stored_1 = store_ptr_tko weak %out, %v : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 1 x=i32[1]:zeros
  entry @wrong_store_after_load(%x: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %v, %t_v = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token  // &missing-token
    %w = addi %v, %one : tile<i32>
    %stored_1 = store_ptr_tko weak %x, %w : tile<ptr<i32>>, tile<i32> -> token  // !missing-token
  }
  // launch: 1 x=i32[1]:zeros
  entry @right_store_after_load(%x: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %v, %t = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
    %w = addi %v, %one : tile<i32>
    %stored_1 = store_ptr_tko weak %x, %w token=%t : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 1 x=i32[1]:zeros
  entry @wrong_two_stores(%x: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %stored_1 = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token  // &missing-token
    %stored_2 = store_ptr_tko weak %x, %two : tile<ptr<i32>>, tile<i32> -> token  // !missing-token
  }
  // launch: 1 x=i32[1]:zeros
  entry @right_two_stores(%x: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %t = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token
    %stored_1 = store_ptr_tko weak %x, %two token=%t : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 1 x=i32[8]:zeros n=4
  entry @wrong_token_not_carried_by_the_loop(%x: tile<ptr<i32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    for %i in (%zero to %n, step %one) : tile<i32> {
      %v, %t = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token  // !missing-token.1
      %w = addi %v, %i : tile<i32>
      %stored_1 = store_ptr_tko weak %x, %w token=%t : tile<ptr<i32>>, tile<i32> -> token  // &missing-token.1 !missing-token.2 &missing-token.2
    }
  }
  // launch: 1 x=i32[8]:zeros n=4
  entry @right_token_not_carried_by_the_loop(%x: tile<ptr<i32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %t0 = make_token : token
    %end = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%before = %t0) -> (token) {
      %v, %t = load_ptr_tko weak %x token=%before : tile<ptr<i32>> -> tile<i32>, token
      %w = addi %v, %i : tile<i32>
      %after = store_ptr_tko weak %x, %w token=%t : tile<ptr<i32>>, tile<i32> -> token
      continue %after : token
    }
  }

  // launch: 1 x=i32[8]:zeros out=i32[8]:zeros n=4
  entry @wrong_second_loop_loads_what_the_first_stores(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    for %i in (%zero to %n, step %one) : tile<i32> {
      %p = offset %x, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %stored_1 = store_ptr_tko weak %p, %i : tile<ptr<i32>>, tile<i32> -> token  // &missing-token
    }
    for %j in (%zero to %n, step %one) : tile<i32> {
      %p = offset %x, %j : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %q = offset %out, %j : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %v, %t_v = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token  // !missing-token
      %stored_2 = store_ptr_tko weak %q, %v : tile<ptr<i32>>, tile<i32> -> token
    }
  }
  // launch: 1 x=i32[8]:zeros out=i32[8]:zeros n=4
  entry @right_second_loop_loads_what_the_first_stores(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %t0 = make_token : token
    %stored = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%before = %t0) -> (token) {
      %p = offset %x, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %after = store_ptr_tko weak %p, %i token=%before : tile<ptr<i32>>, tile<i32> -> token
      continue %after : token
    }
    for %j in (%zero to %n, step %one) : tile<i32> {
      %p = offset %x, %j : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %q = offset %out, %j : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %v, %t_v = load_ptr_tko weak %p token=%stored : tile<ptr<i32>> -> tile<i32>, token
      %stored_1 = store_ptr_tko weak %q, %v : tile<ptr<i32>>, tile<i32> -> token
    }
  }

  // launch: 1 x=i32[1]:zeros
  entry @wrong_fork(%x: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %v, %t = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
    %stored_1 = store_ptr_tko weak %x, %one token=%t : tile<ptr<i32>>, tile<i32> -> token  // &missing-token
    %stored_2 = store_ptr_tko weak %x, %two token=%t : tile<ptr<i32>>, tile<i32> -> token  // !missing-token
  }
  // launch: 1 x=i32[2]:zeros
  entry @right_fork(%x: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %p = offset %x, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %v, %t = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
    %stored_1 = store_ptr_tko weak %x, %one token=%t : tile<ptr<i32>>, tile<i32> -> token
    %stored_2 = store_ptr_tko weak %p, %two token=%t : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 1 x=i32[2]:zeros
  entry @wrong_join_left_one_out(%x: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %p = offset %x, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t0 = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token  // &missing-token
    %t1 = store_ptr_tko weak %p, %one : tile<ptr<i32>>, tile<i32> -> token
    %both = join_tokens %t1, %t1 : token
    %v, %t_v = load_ptr_tko weak %x token=%both : tile<ptr<i32>> -> tile<i32>, token  // !missing-token
  }
  // launch: 1 x=i32[2]:zeros
  entry @right_join_left_one_out(%x: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %p = offset %x, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t0 = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token
    %t1 = store_ptr_tko weak %p, %one : tile<ptr<i32>>, tile<i32> -> token
    %both = join_tokens %t0, %t1 : token
    %v, %t_v = load_ptr_tko weak %x token=%both : tile<ptr<i32>> -> tile<i32>, token
  }

  // launch: 1 x=i32[1]:zeros
  entry @wrong_weak_beside_atomic(%x: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %old, %t = atomic_rmw_tko relaxed device %x, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token  // &missing-token
    %v, %t_v = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token  // !missing-token
  }
  // launch: 1 x=i32[1]:zeros
  entry @right_weak_beside_atomic(%x: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %old, %t = atomic_rmw_tko relaxed device %x, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %v, %t_v = load_ptr_tko weak %x token=%t : tile<ptr<i32>> -> tile<i32>, token
  }

  // launch: 1 x=i32[1]:zeros
  entry @wrong_token_of_one_branch(%x: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %v, %t = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token  // &missing-token
    %same = cmpi equal %v, %v, signed : tile<i32> -> tile<i1>
    %t0 = make_token : token
    %after = if %same -> (token) {
      yield %t0 : token
    } else {
      yield %t : token
    }
    %stored_1 = store_ptr_tko weak %x, %one token=%after : tile<ptr<i32>>, tile<i32> -> token  // !missing-token
  }
  // launch: 1 x=i32[1]:zeros
  entry @right_token_of_one_branch(%x: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %v, %t = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
    %same = cmpi equal %v, %v, signed : tile<i32> -> tile<i1>
    %after = if %same -> (token) {
      yield %t : token
    } else {
      yield %t : token
    }
    %stored_1 = store_ptr_tko weak %x, %one token=%after : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 1 x=i32[1]:zeros
  entry @wrong_print_without_token(%x: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %t = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token  // &missing-token
    %printed = print_tko "stored\n" -> token
    %v, %t_v = load_ptr_tko weak %x token=%printed : tile<ptr<i32>> -> tile<i32>, token  // !missing-token
  }
  // launch: 1 x=i32[1]:zeros
  entry @right_print_without_token(%x: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %t = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token
    %printed = print_tko "stored\n" token=%t -> token
    %v, %t_v = load_ptr_tko weak %x token=%printed : tile<ptr<i32>> -> tile<i32>, token
  }
}
