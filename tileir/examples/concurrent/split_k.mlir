// Split-k: tile blocks add their parts of a sum in a fixed order, kept by a semaphore.

cuda_tile.module @split_k {
  // Block k waits until the semaphore is k, adds, and lets block k + 1 in.
  //
  // launch: --grid 3 semaphore=i32[1]:zeros out=i32[1]:zeros
  // forbidden: out != 6
  // never: race or deadlock
  entry @split_k(%semaphore: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %partial = addi %block, %one : tile<i32>
    %entered = loop : token {
      %turn, %seen = load_ptr_tko acquire device %semaphore : tile<ptr<i32>> -> tile<i32>, token
      %mine = cmpi equal %turn, %block, signed : tile<i32> -> tile<i1>
      if %mine {
        break %seen : token
      }
    }
    %sum, %read = load_ptr_tko weak %out token=%entered : tile<ptr<i32>> -> tile<i32>, token
    %new = addi %sum, %partial : tile<i32>
    %stored = store_ptr_tko weak %out, %new token=%read : tile<ptr<i32>>, tile<i32> -> token
    %following = addi %block, %one : tile<i32>
    %posted = store_ptr_tko release device %semaphore, %following token=%stored : tile<ptr<i32>>, tile<i32> -> token
  }

  // A relaxed semaphore.
  //
  // launch: --grid 2 semaphore=i32[1]:zeros out=i32[1]:zeros
  // exists: race
  entry @split_k_relaxed(%semaphore: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %partial = addi %block, %one : tile<i32>
    %entered = loop : token {
      %turn, %seen = load_ptr_tko relaxed device %semaphore : tile<ptr<i32>> -> tile<i32>, token
      %mine = cmpi equal %turn, %block, signed : tile<i32> -> tile<i1>
      if %mine {
        break %seen : token
      }
    }
    %sum, %read = load_ptr_tko weak %out token=%entered : tile<ptr<i32>> -> tile<i32>, token
    %new = addi %sum, %partial : tile<i32>
    %stored = store_ptr_tko weak %out, %new token=%read : tile<ptr<i32>>, tile<i32> -> token
    %following = addi %block, %one : tile<i32>
    %posted = store_ptr_tko relaxed device %semaphore, %following token=%stored : tile<ptr<i32>>, tile<i32> -> token
  }

  // Posting does not release.
  //
  // launch: --grid 2 semaphore=i32[1]:zeros out=i32[1]:zeros
  // exists: race
  entry @split_k_relaxed_post(%semaphore: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %partial = addi %block, %one : tile<i32>
    %entered = loop : token {
      %turn, %seen = load_ptr_tko acquire device %semaphore : tile<ptr<i32>> -> tile<i32>, token
      %mine = cmpi equal %turn, %block, signed : tile<i32> -> tile<i1>
      if %mine {
        break %seen : token
      }
    }
    %sum, %read = load_ptr_tko weak %out token=%entered : tile<ptr<i32>> -> tile<i32>, token
    %new = addi %sum, %partial : tile<i32>
    %stored = store_ptr_tko weak %out, %new token=%read : tile<ptr<i32>>, tile<i32> -> token
    %following = addi %block, %one : tile<i32>
    %posted = store_ptr_tko relaxed device %semaphore, %following token=%stored : tile<ptr<i32>>, tile<i32> -> token
  }

  // Every block waits for the one after it.
  //
  // launch: --grid 2 semaphore=i32[1]:zeros out=i32[1]:zeros
  // exists: deadlock
  // never: race
  entry @split_k_off_by_one(%semaphore: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %partial = addi %block, %one : tile<i32>
    %entered = loop : token {
      %turn, %seen = load_ptr_tko acquire device %semaphore : tile<ptr<i32>> -> tile<i32>, token
      %mine = cmpi equal %turn, %partial, signed : tile<i32> -> tile<i1>
      if %mine {
        break %seen : token
      }
    }
    %sum, %read = load_ptr_tko weak %out token=%entered : tile<ptr<i32>> -> tile<i32>, token
    %new = addi %sum, %partial : tile<i32>
    %stored = store_ptr_tko weak %out, %new token=%read : tile<ptr<i32>>, tile<i32> -> token
    %following = addi %block, %one : tile<i32>
    %posted = store_ptr_tko release device %semaphore, %following token=%stored : tile<ptr<i32>>, tile<i32> -> token
  }
}
