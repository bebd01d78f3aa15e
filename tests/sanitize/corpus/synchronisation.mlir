// Orderings, scopes and tokens between tile blocks.
cuda_tile.module @synchronisation {
  // launch: 2 x=i32[1]:zeros flag=i32[1]:zeros out=i32[1]:zeros
  entry @wrong_message_relaxed(%x: tile<ptr<i32>>, %flag: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %t = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token  // &race
      %stored_1 = store_ptr_tko relaxed device %flag, %one token=%t : tile<ptr<i32>>, tile<i32> -> token
    } else {
      %seen, %t = load_ptr_tko relaxed device %flag : tile<ptr<i32>> -> tile<i32>, token
      %there = cmpi equal %seen, %one, signed : tile<i32> -> tile<i1>
      if %there {
        %v, %t_v = load_ptr_tko weak %x token=%t : tile<ptr<i32>> -> tile<i32>, token  // !race
        %stored_2 = store_ptr_tko weak %out, %v : tile<ptr<i32>>, tile<i32> -> token
      }
    }
  }
  // launch: 2 x=i32[1]:zeros flag=i32[1]:zeros out=i32[1]:zeros
  entry @right_message_relaxed(%x: tile<ptr<i32>>, %flag: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %t = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token
      %stored_1 = store_ptr_tko release device %flag, %one token=%t : tile<ptr<i32>>, tile<i32> -> token
    } else {
      %seen, %t = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
      %there = cmpi equal %seen, %one, signed : tile<i32> -> tile<i1>
      if %there {
        %v, %t_v = load_ptr_tko weak %x token=%t : tile<ptr<i32>> -> tile<i32>, token
      }
    }
  }

  // launch: 2 x=i32[1]:zeros flag=i32[1]:zeros
  entry @wrong_message_not_guarded(%x: tile<ptr<i32>>, %flag: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %t = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token  // &race
      %stored_1 = store_ptr_tko release device %flag, %one token=%t : tile<ptr<i32>>, tile<i32> -> token
    } else {
      %seen, %t = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
      %v, %t_v = load_ptr_tko weak %x token=%t : tile<ptr<i32>> -> tile<i32>, token  // !race
    }
  }
  // launch: 2 x=i32[1]:zeros flag=i32[1]:zeros
  entry @right_message_not_guarded(%x: tile<ptr<i32>>, %flag: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %t = store_ptr_tko relaxed device %x, %one : tile<ptr<i32>>, tile<i32> -> token
      %stored_1 = store_ptr_tko release device %flag, %one token=%t : tile<ptr<i32>>, tile<i32> -> token
    } else {
      %seen, %t = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
      %v, %t_v = load_ptr_tko relaxed device %x token=%t : tile<ptr<i32>> -> tile<i32>, token
    }
  }

  // launch: 2 x=i32[1]:zeros flag=i32[1]:zeros
  entry @wrong_no_token_to_the_release(%x: tile<ptr<i32>>, %flag: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %stored_1 = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token  // &race
      %stored_2 = store_ptr_tko release device %flag, %one : tile<ptr<i32>>, tile<i32> -> token
    } else {
      %seen, %t = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
      %there = cmpi equal %seen, %one, signed : tile<i32> -> tile<i1>
      if %there {
        %v, %t_v = load_ptr_tko weak %x token=%t : tile<ptr<i32>> -> tile<i32>, token  // !race
      }
    }
  }
  // launch: 2 x=i32[1]:zeros flag=i32[1]:zeros
  entry @right_no_token_to_the_release(%x: tile<ptr<i32>>, %flag: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %t = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token
      %stored_1 = store_ptr_tko release sys %flag, %one token=%t : tile<ptr<i32>>, tile<i32> -> token
    } else {
      %seen, %t = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
      %there = cmpi equal %seen, %one, signed : tile<i32> -> tile<i1>
      if %there {
        %v, %t_v = load_ptr_tko weak %x token=%t : tile<ptr<i32>> -> tile<i32>, token
      }
    }
  }

  // launch: 2 x=i32[1]:zeros flag=i32[1]:zeros
  entry @wrong_no_token_from_the_acquire(%x: tile<ptr<i32>>, %flag: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %t = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token  // &race
      %stored_1 = store_ptr_tko release device %flag, %one token=%t : tile<ptr<i32>>, tile<i32> -> token
    } else {
      %seen, %t = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
      %there = cmpi equal %seen, %one, signed : tile<i32> -> tile<i1>
      if %there {
        %v, %t_v = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token  // !race
      }
    }
  }
  // launch: 2 x=i32[1]:zeros flag=i32[1]:zeros
  entry @right_no_token_from_the_acquire(%x: tile<ptr<i32>>, %flag: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %t = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token
      %was, %t_was = atomic_rmw_tko release device %flag, xchg, %one token=%t : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    } else {
      %seen, %t = atomic_cas_tko acquire device %flag, %zero, %zero : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %there = cmpi equal %seen, %one, signed : tile<i32> -> tile<i1>
      if %there {
        %v, %t_v = load_ptr_tko weak %x token=%t : tile<ptr<i32>> -> tile<i32>, token
      }
    }
  }

  // launch: 2 x=i32[1]:zeros flag=i32[1]:zeros
  entry @wrong_scope_of_the_flag(%x: tile<ptr<i32>>, %flag: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %t = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token  // &race.1
      %stored_1 = store_ptr_tko release tl_blk %flag, %one token=%t : tile<ptr<i32>>, tile<i32> -> token  // &race.2
    } else {
      %seen, %t = load_ptr_tko acquire tl_blk %flag : tile<ptr<i32>> -> tile<i32>, token  // !race.2
      %there = cmpi equal %seen, %one, signed : tile<i32> -> tile<i1>
      if %there {
        %v, %t_v = load_ptr_tko weak %x token=%t : tile<ptr<i32>> -> tile<i32>, token  // !race.1
      }
    }
  }
  // launch: 3 x=i32[1]:zeros flag=i32[1]:zeros
  entry @right_scope_of_the_flag(%x: tile<ptr<i32>>, %flag: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    %second = cmpi equal %b, %one, signed : tile<i32> -> tile<i1>
    if %first {
      %t = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token
      %was, %t_was = atomic_rmw_tko release device %flag, add, %one token=%t : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    } else {
      if %second {
        %was, %t_was = atomic_rmw_tko relaxed device %flag, add, %two : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      } else {
        %seen, %t = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
        %three = constant <i32: 3> : tile<i32>
        %there = cmpi equal %seen, %three, signed : tile<i32> -> tile<i1>
        if %there {
          %v, %t_v = load_ptr_tko weak %x token=%t : tile<ptr<i32>> -> tile<i32>, token
        }
      }
    }
  }

  // launch: 4 data=i32[4]:zeros count=i32[1]:zeros out=i32[1]:zeros
  entry @wrong_last_block_done_relaxed(%data: tile<ptr<i32>>, %count: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %mine = offset %data, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t = store_ptr_tko weak %mine, %b : tile<ptr<i32>>, tile<i32> -> token  // &race
    %before, %done = atomic_rmw_tko relaxed device %count, add, %one token=%t : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %last = cmpi equal %before, %three, signed : tile<i32> -> tile<i1>
    if %last {
      %v, %t_v = load_ptr_tko weak %data token=%done : tile<ptr<i32>> -> tile<i32>, token  // !race
      %stored_1 = store_ptr_tko weak %out, %v : tile<ptr<i32>>, tile<i32> -> token
    }
  }
  // launch: 4 data=i32[4]:zeros count=i32[1]:zeros out=i32[1]:zeros
  entry @right_last_block_done_relaxed(%data: tile<ptr<i32>>, %count: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %mine = offset %data, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t = store_ptr_tko weak %mine, %b : tile<ptr<i32>>, tile<i32> -> token
    %before, %done = atomic_rmw_tko acq_rel device %count, add, %one token=%t : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %last = cmpi equal %before, %three, signed : tile<i32> -> tile<i1>
    if %last {
      %v, %t_v = load_ptr_tko weak %data token=%done : tile<ptr<i32>> -> tile<i32>, token
      %stored_1 = store_ptr_tko weak %out, %v : tile<ptr<i32>>, tile<i32> -> token
    }
  }

  // launch: 4 data=i32[4]:zeros count=i32[1]:zeros out=i32[1]:zeros
  entry @wrong_last_block_done_release_only(%data: tile<ptr<i32>>, %count: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %mine = offset %data, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t = store_ptr_tko weak %mine, %b : tile<ptr<i32>>, tile<i32> -> token  // &race
    %before, %done = atomic_rmw_tko release device %count, add, %one token=%t : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %last = cmpi equal %before, %three, signed : tile<i32> -> tile<i1>
    if %last {
      %v, %t_v = load_ptr_tko weak %data token=%done : tile<ptr<i32>> -> tile<i32>, token  // !race
      %stored_1 = store_ptr_tko weak %out, %v : tile<ptr<i32>>, tile<i32> -> token
    }
  }
  // launch: 4 data=i32[4]:zeros count=i32[1]:zeros out=i32[1]:zeros
  entry @right_last_block_done_release_only(%data: tile<ptr<i32>>, %count: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %mine = offset %data, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t = store_ptr_tko weak %mine, %b : tile<ptr<i32>>, tile<i32> -> token
    %before, %done = atomic_rmw_tko release device %count, add, %one token=%t : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %last = cmpi equal %before, %three, signed : tile<i32> -> tile<i1>
    if %last {
      %all, %seen = load_ptr_tko acquire device %count token=%done : tile<ptr<i32>> -> tile<i32>, token
      %v, %t_v = load_ptr_tko weak %data token=%seen : tile<ptr<i32>> -> tile<i32>, token
      %stored_1 = store_ptr_tko weak %out, %v : tile<ptr<i32>>, tile<i32> -> token
    }
  }

  // launch: 3 c=i32[1]:zeros turn=i32[1]:zeros
  entry @wrong_split_k_semaphore_relaxed(%c: tile<ptr<i32>>, %turn: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %mine = loop : token {
      %now, %t = load_ptr_tko relaxed device %turn : tile<ptr<i32>> -> tile<i32>, token
      %ready = cmpi equal %now, %b, signed : tile<i32> -> tile<i1>
      if %ready {
        break %t : token
      }
    }
    %sum, %t1 = load_ptr_tko weak %c token=%mine : tile<ptr<i32>> -> tile<i32>, token  // !race.1
    %more = addi %sum, %one : tile<i32>
    %t2 = store_ptr_tko weak %c, %more token=%t1 : tile<ptr<i32>>, tile<i32> -> token  // &race.1 !race.2 &race.2
    %next = addi %b, %one : tile<i32>
    %stored_1 = store_ptr_tko release device %turn, %next token=%t2 : tile<ptr<i32>>, tile<i32> -> token
  }
  // launch: 3 c=i32[1]:zeros turn=i32[1]:zeros
  entry @right_split_k_semaphore_relaxed(%c: tile<ptr<i32>>, %turn: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %mine = loop : token {
      %now, %t = load_ptr_tko acquire device %turn : tile<ptr<i32>> -> tile<i32>, token
      %ready = cmpi equal %now, %b, signed : tile<i32> -> tile<i1>
      if %ready {
        break %t : token
      }
    }
    %sum, %t1 = load_ptr_tko weak %c token=%mine : tile<ptr<i32>> -> tile<i32>, token
    %more = addi %sum, %one : tile<i32>
    %t2 = store_ptr_tko weak %c, %more token=%t1 : tile<ptr<i32>>, tile<i32> -> token
    %next = addi %b, %one : tile<i32>
    %stored_1 = store_ptr_tko release device %turn, %next token=%t2 : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 3 c=i32[1]:zeros lock=i32[1]:zeros
  entry @wrong_mutex_with_plain_unlock(%c: tile<ptr<i32>>, %lock: tile<ptr<i32>>) {
    %free = constant <i32: 0> : tile<i32>
    %held = constant <i32: 1> : tile<i32>
    %mine = loop : token {
      %was, %t = atomic_cas_tko acquire device %lock, %free, %held : tile<ptr<i32>>, tile<i32> -> tile<i32>, token  // !race.3
      %ready = cmpi equal %was, %free, signed : tile<i32> -> tile<i1>
      if %ready {
        break %t : token
      }
    }
    %sum, %t1 = load_ptr_tko weak %c token=%mine : tile<ptr<i32>> -> tile<i32>, token  // !race.1
    %more = addi %sum, %held : tile<i32>
    %t2 = store_ptr_tko weak %c, %more token=%t1 : tile<ptr<i32>>, tile<i32> -> token  // &race.1 !race.2 &race.2
    %stored_1 = store_ptr_tko weak %lock, %free token=%t2 : tile<ptr<i32>>, tile<i32> -> token  // &race.3 !race.4 &race.4
  }
  // launch: 3 c=i32[1]:zeros lock=i32[1]:zeros
  entry @right_mutex_with_plain_unlock(%c: tile<ptr<i32>>, %lock: tile<ptr<i32>>) {
    %free = constant <i32: 0> : tile<i32>
    %held = constant <i32: 1> : tile<i32>
    %mine = loop : token {
      %was, %t = atomic_cas_tko acquire device %lock, %free, %held : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %ready = cmpi equal %was, %free, signed : tile<i32> -> tile<i1>
      if %ready {
        break %t : token
      }
    }
    %sum, %t1 = load_ptr_tko weak %c token=%mine : tile<ptr<i32>> -> tile<i32>, token
    %more = addi %sum, %held : tile<i32>
    %t2 = store_ptr_tko weak %c, %more token=%t1 : tile<ptr<i32>>, tile<i32> -> token
    %stored_1 = store_ptr_tko release device %lock, %free token=%t2 : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 3 c=i32[1]:zeros lock=i32[1]:zeros
  entry @wrong_acquire_only_on_the_failed_swap(%c: tile<ptr<i32>>, %lock: tile<ptr<i32>>) {
    %free = constant <i32: 0> : tile<i32>
    %held = constant <i32: 1> : tile<i32>
    %mine = loop : token {
      %was, %t = atomic_cas_tko relaxed device %lock, %free, %held : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %ready = cmpi equal %was, %free, signed : tile<i32> -> tile<i1>
      if %ready {
        break %t : token
      }
      %seen, %t3 = load_ptr_tko acquire device %lock : tile<ptr<i32>> -> tile<i32>, token
    }
    %sum, %t1 = load_ptr_tko weak %c token=%mine : tile<ptr<i32>> -> tile<i32>, token  // !race.1
    %more = addi %sum, %held : tile<i32>
    %t2 = store_ptr_tko weak %c, %more token=%t1 : tile<ptr<i32>>, tile<i32> -> token  // &race.1 !race.2 &race.2
    %stored_1 = store_ptr_tko release device %lock, %free token=%t2 : tile<ptr<i32>>, tile<i32> -> token
  }
  // launch: 3 c=i32[1]:zeros lock=i32[1]:zeros
  entry @right_acquire_only_on_the_failed_swap(%c: tile<ptr<i32>>, %lock: tile<ptr<i32>>) {
    %free = constant <i32: 0> : tile<i32>
    %held = constant <i32: 1> : tile<i32>
    %mine = loop : token {
      %was, %t = atomic_cas_tko acq_rel device %lock, %free, %held : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %ready = cmpi equal %was, %free, signed : tile<i32> -> tile<i1>
      if %ready {
        break %t : token
      }
    }
    %sum, %t1 = load_ptr_tko weak %c token=%mine : tile<ptr<i32>> -> tile<i32>, token
    %more = addi %sum, %held : tile<i32>
    %t2 = store_ptr_tko weak %c, %more token=%t1 : tile<ptr<i32>>, tile<i32> -> token
    %old, %t_old = atomic_rmw_tko release device %lock, xchg, %free token=%t2 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  }

  // launch: 3 part=i32[4]:zeros state=i32[4]:zeros out=i32[4]:zeros
  entry @wrong_look_back_with_block_scope(%part: tile<ptr<i32>>, %state: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %next = addi %b, %one : tile<i32>
    %mine = offset %part, %next : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %said = offset %state, %next : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %theirs = offset %part, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %asked = offset %state, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t = store_ptr_tko weak %mine, %b : tile<ptr<i32>>, tile<i32> -> token  // &race.1
    %stored_1 = store_ptr_tko release tl_blk %said, %one token=%t : tile<ptr<i32>>, tile<i32> -> token  // &race.2
    %seen, %t1 = load_ptr_tko acquire tl_blk %asked : tile<ptr<i32>> -> tile<i32>, token  // !race.2
    %there = cmpi equal %seen, %one, signed : tile<i32> -> tile<i1>
    if %there {
      %v, %t_v = load_ptr_tko weak %theirs token=%t1 : tile<ptr<i32>> -> tile<i32>, token  // !race.1
    }
  }
  // launch: 3 part=i32[4]:zeros state=i32[4]:zeros out=i32[4]:zeros
  entry @right_look_back_with_block_scope(%part: tile<ptr<i32>>, %state: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %next = addi %b, %one : tile<i32>
    %mine = offset %part, %next : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %said = offset %state, %next : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %theirs = offset %part, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %asked = offset %state, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t = store_ptr_tko weak %mine, %b : tile<ptr<i32>>, tile<i32> -> token
    %stored_1 = store_ptr_tko release device %said, %one token=%t : tile<ptr<i32>>, tile<i32> -> token
    %seen, %t1 = load_ptr_tko acquire device %asked : tile<ptr<i32>> -> tile<i32>, token
    %there = cmpi equal %seen, %one, signed : tile<i32> -> tile<i1>
    if %there {
      %v, %t_v = load_ptr_tko weak %theirs token=%t1 : tile<ptr<i32>> -> tile<i32>, token
    }
  }

  // launch: 3 x=i32[1]:zeros flag=i32[1]:zeros
  entry @wrong_plain_store_breaks_the_sequence(%x: tile<ptr<i32>>, %flag: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    %second = cmpi equal %b, %one, signed : tile<i32> -> tile<i1>
    if %first {
      %t = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token  // &race
      %stored_1 = store_ptr_tko release device %flag, %one token=%t : tile<ptr<i32>>, tile<i32> -> token
    } else {
      if %second {
        %now, %t_now = load_ptr_tko relaxed device %flag : tile<ptr<i32>> -> tile<i32>, token
        %set = cmpi equal %now, %one, signed : tile<i32> -> tile<i1>
        if %set {
          %stored_2 = store_ptr_tko relaxed device %flag, %two : tile<ptr<i32>>, tile<i32> -> token
        }
      } else {
        %seen, %t = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
        %there = cmpi equal %seen, %two, signed : tile<i32> -> tile<i1>
        if %there {
          %v, %t_v = load_ptr_tko weak %x token=%t : tile<ptr<i32>> -> tile<i32>, token  // !race
        }
      }
    }
  }
  // launch: 3 x=i32[1]:zeros flag=i32[1]:zeros
  entry @right_plain_store_breaks_the_sequence(%x: tile<ptr<i32>>, %flag: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    %second = cmpi equal %b, %one, signed : tile<i32> -> tile<i1>
    if %first {
      %t = store_ptr_tko weak %x, %one : tile<ptr<i32>>, tile<i32> -> token
      %stored_1 = store_ptr_tko release device %flag, %one token=%t : tile<ptr<i32>>, tile<i32> -> token
    } else {
      if %second {
        loop {
          %was, %t_was = atomic_cas_tko relaxed device %flag, %one, %two : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
          %set = cmpi equal %was, %one, signed : tile<i32> -> tile<i1>
          if %set {
            break
          }
        }
      } else {
        %seen, %t = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
        %there = cmpi equal %seen, %two, signed : tile<i32> -> tile<i1>
        if %there {
          %v, %t_v = load_ptr_tko weak %x token=%t : tile<ptr<i32>> -> tile<i32>, token
        }
      }
    }
  }

  // launch: 2 x=i32[1]:zeros flag=i32[1]:zeros
  entry @wrong_buffer_handed_over_too_early(%x: tile<ptr<i32>>, %flag: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %v, %t = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token  // &race
      %stored_1 = store_ptr_tko release device %flag, %one : tile<ptr<i32>>, tile<i32> -> token
    } else {
      %seen, %t = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
      %there = cmpi equal %seen, %one, signed : tile<i32> -> tile<i1>
      if %there {
        %stored_2 = store_ptr_tko weak %x, %one token=%t : tile<ptr<i32>>, tile<i32> -> token  // !race
      }
    }
  }
  // launch: 2 x=i32[1]:zeros flag=i32[1]:zeros
  entry @right_buffer_handed_over_too_early(%x: tile<ptr<i32>>, %flag: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %v, %t = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
      %stored_1 = store_ptr_tko release device %flag, %one token=%t : tile<ptr<i32>>, tile<i32> -> token
    } else {
      %handed = loop : token {
        %seen, %t = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
        %there = cmpi equal %seen, %one, signed : tile<i32> -> tile<i1>
        if %there {
          break %t : token
        }
      }
      %stored_2 = store_ptr_tko weak %x, %one token=%handed : tile<ptr<i32>>, tile<i32> -> token
    }
  }

  // launch: 2 x=i32[4]:zeros
  entry @wrong_element_of_a_released_tile(%x: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %lanes = iota : tile<4xi32>
      %ones = constant <i32: 1> : tile<4xi32>
      %x_1 = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
      %x_4 = broadcast %x_1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
      %all = offset %x_4, %lanes : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
      %t = store_ptr_tko release device %all, %ones : tile<4xptr<i32>>, tile<4xi32> -> token  // &race
    } else {
      %seen, %t = load_ptr_tko acquire device %x : tile<ptr<i32>> -> tile<i32>, token
      %there = cmpi equal %seen, %one, signed : tile<i32> -> tile<i1>
      if %there {
        %next = offset %x, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %v, %t_v = load_ptr_tko weak %next token=%t : tile<ptr<i32>> -> tile<i32>, token  // !race
      }
    }
  }
  // launch: 2 x=i32[4]:zeros
  entry @right_element_of_a_released_tile(%x: tile<ptr<i32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %first = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %lanes = iota : tile<4xi32>
      %ones = constant <i32: 1> : tile<4xi32>
      %x_1 = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
      %x_4 = broadcast %x_1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
      %all = offset %x_4, %lanes : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
      %t = store_ptr_tko release device %all, %ones : tile<4xptr<i32>>, tile<4xi32> -> token
    } else {
      %seen, %t = load_ptr_tko acquire device %x : tile<ptr<i32>> -> tile<i32>, token
      %there = cmpi equal %seen, %one, signed : tile<i32> -> tile<i1>
      if %there {
        %next = offset %x, %zero : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %v, %t_v = load_ptr_tko weak %next token=%t : tile<ptr<i32>> -> tile<i32>, token
      }
    }
  }
}
