// A lock that serves in turn: draw a number, wait until it is called.

cuda_tile.module @ticket_lock {
  // Drawing needs no order; what is handed over is the call.
  //
  // launch: --grid 3 next=i32[1]:zeros serving=i32[1]:zeros count=i32[1]:zeros
  // forbidden: count != 3
  // never: race or deadlock
  entry @ticket(%next: tile<ptr<i32>>, %serving: tile<ptr<i32>>, %count: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %mine, %drawn = atomic_rmw_tko relaxed device %next, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %entered = loop : token {
      %served, %seen = load_ptr_tko acquire device %serving : tile<ptr<i32>> -> tile<i32>, token
      %turn = cmpi equal %served, %mine, signed : tile<i32> -> tile<i1>
      if %turn {
        break %seen : token
      }
    }
    %old, %read = load_ptr_tko weak %count token=%entered : tile<ptr<i32>> -> tile<i32>, token
    %new = addi %old, %one : tile<i32>
    %stored = store_ptr_tko weak %count, %new token=%read : tile<ptr<i32>>, tile<i32> -> token
    %following = addi %mine, %one : tile<i32>
    %left = store_ptr_tko release device %serving, %following token=%stored : tile<ptr<i32>>, tile<i32> -> token
  }

  // The next number is called without what was written.
  //
  // launch: --grid 2 next=i32[1]:zeros serving=i32[1]:zeros count=i32[1]:zeros
  // exists: race
  entry @ticket_relaxed_call(%next: tile<ptr<i32>>, %serving: tile<ptr<i32>>, %count: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %mine, %drawn = atomic_rmw_tko relaxed device %next, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %entered = loop : token {
      %served, %seen = load_ptr_tko acquire device %serving : tile<ptr<i32>> -> tile<i32>, token
      %turn = cmpi equal %served, %mine, signed : tile<i32> -> tile<i1>
      if %turn {
        break %seen : token
      }
    }
    %old, %read = load_ptr_tko weak %count token=%entered : tile<ptr<i32>> -> tile<i32>, token
    %new = addi %old, %one : tile<i32>
    %stored = store_ptr_tko weak %count, %new token=%read : tile<ptr<i32>>, tile<i32> -> token
    %following = addi %mine, %one : tile<i32>
    %left = store_ptr_tko relaxed device %serving, %following token=%stored : tile<ptr<i32>>, tile<i32> -> token
  }

  // Whoever is called does not acquire.
  //
  // launch: --grid 2 next=i32[1]:zeros serving=i32[1]:zeros count=i32[1]:zeros
  // exists: race
  entry @ticket_relaxed_wait(%next: tile<ptr<i32>>, %serving: tile<ptr<i32>>, %count: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %mine, %drawn = atomic_rmw_tko relaxed device %next, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %entered = loop : token {
      %served, %seen = load_ptr_tko relaxed device %serving : tile<ptr<i32>> -> tile<i32>, token
      %turn = cmpi equal %served, %mine, signed : tile<i32> -> tile<i1>
      if %turn {
        break %seen : token
      }
    }
    %old, %read = load_ptr_tko weak %count token=%entered : tile<ptr<i32>> -> tile<i32>, token
    %new = addi %old, %one : tile<i32>
    %stored = store_ptr_tko weak %count, %new token=%read : tile<ptr<i32>>, tile<i32> -> token
    %following = addi %mine, %one : tile<i32>
    %left = store_ptr_tko release device %serving, %following token=%stored : tile<ptr<i32>>, tile<i32> -> token
  }
}
