// A queue: one tile block pushes items, the others take them until there are none.

cuda_tile.module @work_queue {
  // Places are taken by an atomic add; the tail hands over what was pushed.
  //
  // launch: --grid 3 items=i32[2]:zeros tail=i32[1]:zeros head=i32[1]:zeros results=i32[2]:zeros
  // forbidden: results[0] != 1 or results[1] != 2
  // never: race or deadlock
  entry @queue(%items: tile<ptr<i32>>, %tail: tile<ptr<i32>>, %head: tile<ptr<i32>>, %results: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %two = constant <i32: 2> : tile<i32>
    %first = cmpi equal %block, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %fresh = make_token : token
      %pushed = for %i in (%zero to %two, step %one) : tile<i32> iter_values(%before = %fresh) -> (token) {
        %at = offset %items, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %item = addi %i, %one : tile<i32>
        %written = store_ptr_tko weak %at, %item token=%before : tile<ptr<i32>>, tile<i32> -> token
        %size = addi %i, %one : tile<i32>
        %told = store_ptr_tko release device %tail, %size token=%written : tile<ptr<i32>>, tile<i32> -> token
        continue %told : token
      }
    } else {
      loop {
        %mine, %taken = atomic_rmw_tko relaxed device %head, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
        %over = cmpi greater_than_or_equal %mine, %two, signed : tile<i32> -> tile<i1>
        if %over {
          break
        }
        %ready = loop : token {
          %size, %seen = load_ptr_tko acquire device %tail : tile<ptr<i32>> -> tile<i32>, token
          %there = cmpi greater_than %size, %mine, signed : tile<i32> -> tile<i1>
          if %there {
            break %seen : token
          }
        }
        %from = offset %items, %mine : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %work, %read = load_ptr_tko weak %from token=%ready : tile<ptr<i32>> -> tile<i32>, token
        %to = offset %results, %mine : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %finished = store_ptr_tko weak %to, %work : tile<ptr<i32>>, tile<i32> -> token
      }
    }
  }

  // The tail is set without what was pushed.
  //
  // launch: --grid 3 items=i32[2]:zeros tail=i32[1]:zeros head=i32[1]:zeros results=i32[2]:zeros
  // exists: race
  entry @queue_relaxed_push(%items: tile<ptr<i32>>, %tail: tile<ptr<i32>>, %head: tile<ptr<i32>>, %results: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %two = constant <i32: 2> : tile<i32>
    %first = cmpi equal %block, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %fresh = make_token : token
      %pushed = for %i in (%zero to %two, step %one) : tile<i32> iter_values(%before = %fresh) -> (token) {
        %at = offset %items, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %item = addi %i, %one : tile<i32>
        %written = store_ptr_tko weak %at, %item token=%before : tile<ptr<i32>>, tile<i32> -> token
        %size = addi %i, %one : tile<i32>
        %told = store_ptr_tko relaxed device %tail, %size token=%written : tile<ptr<i32>>, tile<i32> -> token
        continue %told : token
      }
    } else {
      loop {
        %mine, %taken = atomic_rmw_tko relaxed device %head, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
        %over = cmpi greater_than_or_equal %mine, %two, signed : tile<i32> -> tile<i1>
        if %over {
          break
        }
        %ready = loop : token {
          %size, %seen = load_ptr_tko acquire device %tail : tile<ptr<i32>> -> tile<i32>, token
          %there = cmpi greater_than %size, %mine, signed : tile<i32> -> tile<i1>
          if %there {
            break %seen : token
          }
        }
        %from = offset %items, %mine : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %work, %read = load_ptr_tko weak %from token=%ready : tile<ptr<i32>> -> tile<i32>, token
        %to = offset %results, %mine : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %finished = store_ptr_tko weak %to, %work : tile<ptr<i32>>, tile<i32> -> token
      }
    }
  }

  // The tail is seen, and not what was pushed.
  //
  // launch: --grid 3 items=i32[2]:zeros tail=i32[1]:zeros head=i32[1]:zeros results=i32[2]:zeros
  // exists: race
  entry @queue_relaxed_wait(%items: tile<ptr<i32>>, %tail: tile<ptr<i32>>, %head: tile<ptr<i32>>, %results: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %two = constant <i32: 2> : tile<i32>
    %first = cmpi equal %block, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %fresh = make_token : token
      %pushed = for %i in (%zero to %two, step %one) : tile<i32> iter_values(%before = %fresh) -> (token) {
        %at = offset %items, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %item = addi %i, %one : tile<i32>
        %written = store_ptr_tko weak %at, %item token=%before : tile<ptr<i32>>, tile<i32> -> token
        %size = addi %i, %one : tile<i32>
        %told = store_ptr_tko release device %tail, %size token=%written : tile<ptr<i32>>, tile<i32> -> token
        continue %told : token
      }
    } else {
      loop {
        %mine, %taken = atomic_rmw_tko relaxed device %head, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
        %over = cmpi greater_than_or_equal %mine, %two, signed : tile<i32> -> tile<i1>
        if %over {
          break
        }
        %ready = loop : token {
          %size, %seen = load_ptr_tko relaxed device %tail : tile<ptr<i32>> -> tile<i32>, token
          %there = cmpi greater_than %size, %mine, signed : tile<i32> -> tile<i1>
          if %there {
            break %seen : token
          }
        }
        %from = offset %items, %mine : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %work, %read = load_ptr_tko weak %from token=%ready : tile<ptr<i32>> -> tile<i32>, token
        %to = offset %results, %mine : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %finished = store_ptr_tko weak %to, %work : tile<ptr<i32>>, tile<i32> -> token
      }
    }
  }

  // An item is taken when the tail has come to it, not past it.
  //
  // launch: --grid 3 items=i32[2]:zeros tail=i32[1]:zeros head=i32[1]:zeros results=i32[2]:zeros
  // exists: race
  entry @queue_off_by_one(%items: tile<ptr<i32>>, %tail: tile<ptr<i32>>, %head: tile<ptr<i32>>, %results: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %two = constant <i32: 2> : tile<i32>
    %first = cmpi equal %block, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %fresh = make_token : token
      %pushed = for %i in (%zero to %two, step %one) : tile<i32> iter_values(%before = %fresh) -> (token) {
        %at = offset %items, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %item = addi %i, %one : tile<i32>
        %written = store_ptr_tko weak %at, %item token=%before : tile<ptr<i32>>, tile<i32> -> token
        %size = addi %i, %one : tile<i32>
        %told = store_ptr_tko release device %tail, %size token=%written : tile<ptr<i32>>, tile<i32> -> token
        continue %told : token
      }
    } else {
      loop {
        %mine, %taken = atomic_rmw_tko relaxed device %head, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
        %over = cmpi greater_than_or_equal %mine, %two, signed : tile<i32> -> tile<i1>
        if %over {
          break
        }
        %ready = loop : token {
          %size, %seen = load_ptr_tko acquire device %tail : tile<ptr<i32>> -> tile<i32>, token
          %there = cmpi greater_than_or_equal %size, %mine, signed : tile<i32> -> tile<i1>
          if %there {
            break %seen : token
          }
        }
        %from = offset %items, %mine : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %work, %read = load_ptr_tko weak %from token=%ready : tile<ptr<i32>> -> tile<i32>, token
        %to = offset %results, %mine : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %finished = store_ptr_tko weak %to, %work : tile<ptr<i32>>, tile<i32> -> token
      }
    }
  }
}
