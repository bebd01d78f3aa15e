// The tile block that is done last adds up what the others have stored.

cuda_tile.module @last_block {
  // The count acquires and releases.
  //
  // launch: --grid 3 partial=i32[3]:zeros done=i32[1]:zeros out=i32[1]:zeros
  // forbidden: out != 6
  // never: race
  entry @last_block(%partial: tile<ptr<i32>>, %done: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %count_of, %count_y, %count_z = get_num_tile_blocks : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %number = addi %block, %one : tile<i32>
    %at = offset %partial, %block : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %mine = store_ptr_tko weak %at, %number : tile<ptr<i32>>, tile<i32> -> token
    %before, %counted = atomic_rmw_tko acq_rel device %done, add, %one token=%mine : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %all_but_one = subi %count_of, %one : tile<i32>
    %is_last = cmpi equal %before, %all_but_one, signed : tile<i32> -> tile<i1>
    if %is_last {
      %total = for %i in (%zero to %count_of, step %one) : tile<i32> iter_values(%sum = %zero) -> (tile<i32>) {
        %from = offset %partial, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %part, %read = load_ptr_tko weak %from token=%counted : tile<ptr<i32>> -> tile<i32>, token
        %next = addi %sum, %part : tile<i32>
        continue %next : tile<i32>
      }
      %written = store_ptr_tko weak %out, %total : tile<ptr<i32>>, tile<i32> -> token
    }
  }

  // A relaxed count.
  //
  // launch: --grid 2 partial=i32[2]:zeros done=i32[1]:zeros out=i32[1]:zeros
  // exists: race
  entry @last_block_relaxed(%partial: tile<ptr<i32>>, %done: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %count_of, %count_y, %count_z = get_num_tile_blocks : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %number = addi %block, %one : tile<i32>
    %at = offset %partial, %block : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %mine = store_ptr_tko weak %at, %number : tile<ptr<i32>>, tile<i32> -> token
    %before, %counted = atomic_rmw_tko relaxed device %done, add, %one token=%mine : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %all_but_one = subi %count_of, %one : tile<i32>
    %is_last = cmpi equal %before, %all_but_one, signed : tile<i32> -> tile<i1>
    if %is_last {
      %total = for %i in (%zero to %count_of, step %one) : tile<i32> iter_values(%sum = %zero) -> (tile<i32>) {
        %from = offset %partial, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %part, %read = load_ptr_tko weak %from token=%counted : tile<ptr<i32>> -> tile<i32>, token
        %next = addi %sum, %part : tile<i32>
        continue %next : tile<i32>
      }
      %written = store_ptr_tko weak %out, %total : tile<ptr<i32>>, tile<i32> -> token
    }
  }

  // The count releases; the last block does not acquire.
  //
  // launch: --grid 2 partial=i32[2]:zeros done=i32[1]:zeros out=i32[1]:zeros
  // exists: race
  entry @last_block_release(%partial: tile<ptr<i32>>, %done: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %count_of, %count_y, %count_z = get_num_tile_blocks : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %number = addi %block, %one : tile<i32>
    %at = offset %partial, %block : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %mine = store_ptr_tko weak %at, %number : tile<ptr<i32>>, tile<i32> -> token
    %before, %counted = atomic_rmw_tko release device %done, add, %one token=%mine : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %all_but_one = subi %count_of, %one : tile<i32>
    %is_last = cmpi equal %before, %all_but_one, signed : tile<i32> -> tile<i1>
    if %is_last {
      %total = for %i in (%zero to %count_of, step %one) : tile<i32> iter_values(%sum = %zero) -> (tile<i32>) {
        %from = offset %partial, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %part, %read = load_ptr_tko weak %from token=%counted : tile<ptr<i32>> -> tile<i32>, token
        %next = addi %sum, %part : tile<i32>
        continue %next : tile<i32>
      }
      %written = store_ptr_tko weak %out, %total : tile<ptr<i32>>, tile<i32> -> token
    }
  }

  // What is added up does not wait for the count.
  //
  // launch: --grid 2 partial=i32[2]:zeros done=i32[1]:zeros out=i32[1]:zeros
  // exists: race
  entry @last_block_no_token(%partial: tile<ptr<i32>>, %done: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %count_of, %count_y, %count_z = get_num_tile_blocks : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %number = addi %block, %one : tile<i32>
    %at = offset %partial, %block : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %mine = store_ptr_tko weak %at, %number : tile<ptr<i32>>, tile<i32> -> token
    %before, %counted = atomic_rmw_tko acq_rel device %done, add, %one token=%mine : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %all_but_one = subi %count_of, %one : tile<i32>
    %is_last = cmpi equal %before, %all_but_one, signed : tile<i32> -> tile<i1>
    if %is_last {
      %total = for %i in (%zero to %count_of, step %one) : tile<i32> iter_values(%sum = %zero) -> (tile<i32>) {
        %from = offset %partial, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %part, %read = load_ptr_tko weak %from : tile<ptr<i32>> -> tile<i32>, token
        %next = addi %sum, %part : tile<i32>
        continue %next : tile<i32>
      }
      %written = store_ptr_tko weak %out, %total : tile<ptr<i32>>, tile<i32> -> token
    }
  }

  // The count does not wait for the part.
  //
  // launch: --grid 2 partial=i32[2]:zeros done=i32[1]:zeros out=i32[1]:zeros
  // exists: race
  entry @last_block_unpublished(%partial: tile<ptr<i32>>, %done: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %count_of, %count_y, %count_z = get_num_tile_blocks : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %number = addi %block, %one : tile<i32>
    %at = offset %partial, %block : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %mine = store_ptr_tko weak %at, %number : tile<ptr<i32>>, tile<i32> -> token
    %before, %counted = atomic_rmw_tko acq_rel device %done, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %all_but_one = subi %count_of, %one : tile<i32>
    %is_last = cmpi equal %before, %all_but_one, signed : tile<i32> -> tile<i1>
    if %is_last {
      %total = for %i in (%zero to %count_of, step %one) : tile<i32> iter_values(%sum = %zero) -> (tile<i32>) {
        %from = offset %partial, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %part, %read = load_ptr_tko weak %from token=%counted : tile<ptr<i32>> -> tile<i32>, token
        %next = addi %sum, %part : tile<i32>
        continue %next : tile<i32>
      }
      %written = store_ptr_tko weak %out, %total : tile<ptr<i32>>, tile<i32> -> token
    }
  }

  // The scope of the count is the tile block itself.
  //
  // launch: --grid 2 partial=i32[2]:zeros done=i32[1]:zeros out=i32[1]:zeros
  // exists: race
  entry @last_block_scope(%partial: tile<ptr<i32>>, %done: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %count_of, %count_y, %count_z = get_num_tile_blocks : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %number = addi %block, %one : tile<i32>
    %at = offset %partial, %block : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %mine = store_ptr_tko weak %at, %number : tile<ptr<i32>>, tile<i32> -> token
    %before, %counted = atomic_rmw_tko acq_rel tl_blk %done, add, %one token=%mine : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %all_but_one = subi %count_of, %one : tile<i32>
    %is_last = cmpi equal %before, %all_but_one, signed : tile<i32> -> tile<i1>
    if %is_last {
      %total = for %i in (%zero to %count_of, step %one) : tile<i32> iter_values(%sum = %zero) -> (tile<i32>) {
        %from = offset %partial, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %part, %read = load_ptr_tko weak %from token=%counted : tile<ptr<i32>> -> tile<i32>, token
        %next = addi %sum, %part : tile<i32>
        continue %next : tile<i32>
      }
      %written = store_ptr_tko weak %out, %total : tile<ptr<i32>>, tile<i32> -> token
    }
  }
}
