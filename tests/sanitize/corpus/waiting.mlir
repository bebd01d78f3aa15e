// Tile blocks that wait for ever, and results that depend on who comes first.
cuda_tile.module @waiting {
  // launch: 2 flag=i32[2]:zeros
  entry @wrong_each_waits_for_the_other(%flag: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %other = xori %b, %one : tile<i32>
    %mine = offset %flag, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %theirs = offset %flag, %other : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t0 = loop : token {
      %seen, %t = load_ptr_tko acquire device %theirs : tile<ptr<i32>> -> tile<i32>, token  // !deadlock
      %there = cmpi equal %seen, %one, signed : tile<i32> -> tile<i1>
      if %there {
        break %t : token
      }
    }
    %stored_1 = store_ptr_tko release device %mine, %one token=%t0 : tile<ptr<i32>>, tile<i32> -> token
  }
  // launch: 2 flag=i32[2]:zeros
  entry @right_each_waits_for_the_other(%flag: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %other = xori %b, %one : tile<i32>
    %mine = offset %flag, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %theirs = offset %flag, %other : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %stored_1 = store_ptr_tko release device %mine, %one : tile<ptr<i32>>, tile<i32> -> token
    loop {
      %seen, %t = load_ptr_tko acquire device %theirs : tile<ptr<i32>> -> tile<i32>, token
      %there = cmpi equal %seen, %one, signed : tile<i32> -> tile<i1>
      if %there {
        break
      }
    }
  }

  // launch: 3 lock=i32[1]:zeros
  entry @wrong_lock_never_given_back(%lock: tile<ptr<i32>>) {
    %free = constant <i32: 0> : tile<i32>
    %held = constant <i32: 1> : tile<i32>
    loop {
      %was, %t = atomic_cas_tko acquire device %lock, %free, %held : tile<ptr<i32>>, tile<i32> -> tile<i32>, token  // !deadlock
      %ready = cmpi equal %was, %free, signed : tile<i32> -> tile<i1>
      if %ready {
        break
      }
    }
  }
  // launch: 3 lock=i32[1]:zeros
  entry @right_lock_never_given_back(%lock: tile<ptr<i32>>) {
    %free = constant <i32: 0> : tile<i32>
    %held = constant <i32: 1> : tile<i32>
    %mine = loop : token {
      %was, %t = atomic_cas_tko acquire device %lock, %free, %held : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %ready = cmpi equal %was, %free, signed : tile<i32> -> tile<i1>
      if %ready {
        break %t : token
      }
    }
    %stored_1 = store_ptr_tko release device %lock, %free token=%mine : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 3 count=i32[1]:zeros
  entry @wrong_barrier_counts_one_too_many(%count: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %four = constant <i32: 4> : tile<i32>
    %before, %t_before = atomic_rmw_tko acq_rel device %count, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    loop {
      %now, %t_now = load_ptr_tko acquire device %count : tile<ptr<i32>> -> tile<i32>, token  // !deadlock
      %all = cmpi equal %now, %four, signed : tile<i32> -> tile<i1>
      if %all {
        break
      }
    }
  }
  // launch: 3 count=i32[1]:zeros
  entry @right_barrier_counts_one_too_many(%count: tile<ptr<i32>>) {
    %one = constant <i32: 1> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %before, %t_before = atomic_rmw_tko acq_rel device %count, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    loop {
      %now, %t_now = load_ptr_tko acquire device %count : tile<ptr<i32>> -> tile<i32>, token
      %all = cmpi equal %now, %three, signed : tile<i32> -> tile<i1>
      if %all {
        break
      }
    }
  }

  // launch: 9 x=f32[9]:randn out=f32[1]:ones --schedules=4
  entry @wrong_sum_in_any_order(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %p = offset %x, %b : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %v, %t_v = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    %old, %t_old = atomic_rmw_tko relaxed device %out, addf, %v : tile<ptr<f32>>, tile<f32> -> tile<f32>, token  // !order-dependent
  }
  // launch: 1 x=f32[9]:randn out=f32[1]:ones --schedules=4
  entry @right_sum_in_any_order(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %p = offset %x, %b : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %v, %t_v = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    %old, %t_old = atomic_rmw_tko relaxed device %out, addf, %v : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
  }

  // launch: 4 next=i32[1]:zeros out=i32[4]:zeros
  entry @wrong_ticket_is_stored(%next: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %ticket, %t_ticket = atomic_rmw_tko relaxed device %next, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %p = offset %out, %ticket : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %stored_1 = store_ptr_tko weak %p, %b : tile<ptr<i32>>, tile<i32> -> token  // !order-dependent
  }
  // launch: 4 next=i32[1]:zeros out=i32[4]:zeros
  entry @right_ticket_is_stored(%next: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %ticket, %t_ticket = atomic_rmw_tko relaxed device %next, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %p = offset %out, %ticket : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %stored_1 = store_ptr_tko weak %p, %one : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 2 owner=i32[1]:-1 
  entry @wrong_first_come(%owner: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %nobody = constant <i32: -1> : tile<i32>
    %was, %t_was = atomic_cas_tko relaxed device %owner, %nobody, %b : tile<ptr<i32>>, tile<i32> -> tile<i32>, token  // !order-dependent
  }
  // launch: 2 owner=i32[1]:-1
  entry @right_first_come(%owner: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %nobody = constant <i32: -1> : tile<i32>
    %was, %t_was = atomic_rmw_tko relaxed device %owner, max, %b : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  }
}
