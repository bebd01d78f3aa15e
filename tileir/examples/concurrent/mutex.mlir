// A lock: each tile block adds one to a counter with a plain load and a plain store.

cuda_tile.module @mutex {
  // Acquire to lock, release to unlock, and tokens that keep the critical section between the two.
  //
  // launch: --grid 3 lock=i32[1]:zeros count=i32[1]:zeros
  // forbidden: count != 3
  // never: race or deadlock
  entry @mutex(%lock: tile<ptr<i32>>, %count: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %locked = loop : token {
      %before, %tried = atomic_cas_tko acquire device %lock, %zero, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %won = cmpi equal %before, %zero, signed : tile<i32> -> tile<i1>
      if %won {
        break %tried : token
      }
    }
    %old, %read = load_ptr_tko weak %count token=%locked : tile<ptr<i32>> -> tile<i32>, token
    %new = addi %old, %one : tile<i32>
    %stored = store_ptr_tko weak %count, %new token=%read : tile<ptr<i32>>, tile<i32> -> token
    %unlocked = store_ptr_tko release device %lock, %zero token=%stored : tile<ptr<i32>>, tile<i32> -> token
  }

  // The lock is given back by a weak store.
  //
  // launch: --grid 2 lock=i32[1]:zeros count=i32[1]:zeros
  // exists: race
  entry @mutex_plain_unlock(%lock: tile<ptr<i32>>, %count: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %locked = loop : token {
      %before, %tried = atomic_cas_tko acquire device %lock, %zero, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %won = cmpi equal %before, %zero, signed : tile<i32> -> tile<i1>
      if %won {
        break %tried : token
      }
    }
    %old, %read = load_ptr_tko weak %count token=%locked : tile<ptr<i32>> -> tile<i32>, token
    %new = addi %old, %one : tile<i32>
    %stored = store_ptr_tko weak %count, %new token=%read : tile<ptr<i32>>, tile<i32> -> token
    %unlocked = store_ptr_tko weak %lock, %zero token=%stored : tile<ptr<i32>>, tile<i32> -> token
  }

  // The lock is given back, but not what was written under it.
  //
  // launch: --grid 2 lock=i32[1]:zeros count=i32[1]:zeros
  // exists: race
  entry @mutex_relaxed_unlock(%lock: tile<ptr<i32>>, %count: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %locked = loop : token {
      %before, %tried = atomic_cas_tko acquire device %lock, %zero, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %won = cmpi equal %before, %zero, signed : tile<i32> -> tile<i1>
      if %won {
        break %tried : token
      }
    }
    %old, %read = load_ptr_tko weak %count token=%locked : tile<ptr<i32>> -> tile<i32>, token
    %new = addi %old, %one : tile<i32>
    %stored = store_ptr_tko weak %count, %new token=%read : tile<ptr<i32>>, tile<i32> -> token
    %unlocked = store_ptr_tko relaxed device %lock, %zero token=%stored : tile<ptr<i32>>, tile<i32> -> token
  }

  // The next holder does not acquire.
  //
  // launch: --grid 2 lock=i32[1]:zeros count=i32[1]:zeros
  // exists: race
  entry @mutex_relaxed_lock(%lock: tile<ptr<i32>>, %count: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %locked = loop : token {
      %before, %tried = atomic_cas_tko relaxed device %lock, %zero, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %won = cmpi equal %before, %zero, signed : tile<i32> -> tile<i1>
      if %won {
        break %tried : token
      }
    }
    %old, %read = load_ptr_tko weak %count token=%locked : tile<ptr<i32>> -> tile<i32>, token
    %new = addi %old, %one : tile<i32>
    %stored = store_ptr_tko weak %count, %new token=%read : tile<ptr<i32>>, tile<i32> -> token
    %unlocked = store_ptr_tko release device %lock, %zero token=%stored : tile<ptr<i32>>, tile<i32> -> token
  }

  // Nothing keeps the load behind the lock: the loop that it follows orders nothing.
  //
  // launch: --grid 2 lock=i32[1]:zeros count=i32[1]:zeros
  // exists: race
  entry @mutex_no_token(%lock: tile<ptr<i32>>, %count: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %locked = loop : token {
      %before, %tried = atomic_cas_tko acquire device %lock, %zero, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %won = cmpi equal %before, %zero, signed : tile<i32> -> tile<i1>
      if %won {
        break %tried : token
      }
    }
    %old, %read = load_ptr_tko weak %count : tile<ptr<i32>> -> tile<i32>, token
    %new = addi %old, %one : tile<i32>
    %stored = store_ptr_tko weak %count, %new token=%read : tile<ptr<i32>>, tile<i32> -> token
    %unlocked = store_ptr_tko release device %lock, %zero token=%stored : tile<ptr<i32>>, tile<i32> -> token
  }

  // The scope of the lock is the tile block itself.
  //
  // launch: --grid 2 lock=i32[1]:zeros count=i32[1]:zeros
  // exists: race
  entry @mutex_block_scope(%lock: tile<ptr<i32>>, %count: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %locked = loop : token {
      %before, %tried = atomic_cas_tko acquire tl_blk %lock, %zero, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %won = cmpi equal %before, %zero, signed : tile<i32> -> tile<i1>
      if %won {
        break %tried : token
      }
    }
    %old, %read = load_ptr_tko weak %count token=%locked : tile<ptr<i32>> -> tile<i32>, token
    %new = addi %old, %one : tile<i32>
    %stored = store_ptr_tko weak %count, %new token=%read : tile<ptr<i32>>, tile<i32> -> token
    %unlocked = store_ptr_tko release device %lock, %zero token=%stored : tile<ptr<i32>>, tile<i32> -> token
  }

  // Nobody gives the lock back.
  //
  // launch: --grid 2 lock=i32[1]:zeros count=i32[1]:zeros
  // exists: deadlock
  // never: race
  entry @mutex_not_unlocked(%lock: tile<ptr<i32>>, %count: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %locked = loop : token {
      %before, %tried = atomic_cas_tko acquire device %lock, %zero, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %won = cmpi equal %before, %zero, signed : tile<i32> -> tile<i1>
      if %won {
        break %tried : token
      }
    }
    %old, %read = load_ptr_tko weak %count token=%locked : tile<ptr<i32>> -> tile<i32>, token
    %new = addi %old, %one : tile<i32>
    %stored = store_ptr_tko weak %count, %new token=%read : tile<ptr<i32>>, tile<i32> -> token
  }
}
