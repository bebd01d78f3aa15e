// A prefix sum in one pass: each tile block adds what those before it have, as soon as it is there.
// States: 0 nothing yet, 1 the sum of the block, 2 the prefix up to and with it.

cuda_tile.module @look_back {
  // States release and acquire.
  //
  // launch: --grid 3 sums=i32[3]:zeros prefixes=i32[3]:zeros states=i32[3]:zeros
  // forbidden: prefixes[0] != 1 or prefixes[1] != 3 or prefixes[2] != 6
  // never: race or deadlock
  entry @look_back(%sums: tile<ptr<i32>>, %prefixes: tile<ptr<i32>>, %states: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %two = constant <i32: 2> : tile<i32>
    %mine = addi %block, %one : tile<i32>
    %my_sum = offset %sums, %block : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %my_prefix = offset %prefixes, %block : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %my_state = offset %states, %block : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %summed = store_ptr_tko weak %my_sum, %mine : tile<ptr<i32>>, tile<i32> -> token
    %told = store_ptr_tko release device %my_state, %one token=%summed : tile<ptr<i32>>, tile<i32> -> token

    // Look back, block by block: add sums until one has its prefix.
    %before = subi %block, %one : tile<i32>
    %all = loop iter_values(%i = %before, %sum = %mine) : tile<i32>, tile<i32> -> tile<i32> {
      %at_start = cmpi less_than %i, %zero, signed : tile<i32> -> tile<i1>
      if %at_start {
        break %sum : tile<i32>
      }
      %state_at = offset %states, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %state, %known = loop : tile<i32>, token {
        %value, %seen = load_ptr_tko acquire device %state_at : tile<ptr<i32>> -> tile<i32>, token
        %empty = cmpi equal %value, %zero, signed : tile<i32> -> tile<i1>
        if %empty {
          continue
        }
        break %value, %seen : tile<i32>, token
      }
      %complete = cmpi equal %state, %two, signed : tile<i32> -> tile<i1>
      if %complete {
        %prefix_at = offset %prefixes, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %prefix, %read = load_ptr_tko weak %prefix_at token=%known : tile<ptr<i32>> -> tile<i32>, token
        %whole = addi %sum, %prefix : tile<i32>
        break %whole : tile<i32>
      }
      %sum_at = offset %sums, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %part, %read = load_ptr_tko weak %sum_at token=%known : tile<ptr<i32>> -> tile<i32>, token
      %more = addi %sum, %part : tile<i32>
      %next = subi %i, %one : tile<i32>
      continue %next, %more : tile<i32>, tile<i32>
    }
    %stored = store_ptr_tko weak %my_prefix, %all token=%told : tile<ptr<i32>>, tile<i32> -> token
    %finished = store_ptr_tko release device %my_state, %two token=%stored : tile<ptr<i32>>, tile<i32> -> token
  }

  // The scope of the states is the tile block itself.
  //
  // launch: --grid 2 sums=i32[2]:zeros prefixes=i32[2]:zeros states=i32[2]:zeros
  // exists: race
  entry @look_back_block_scope(%sums: tile<ptr<i32>>, %prefixes: tile<ptr<i32>>, %states: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %two = constant <i32: 2> : tile<i32>
    %mine = addi %block, %one : tile<i32>
    %my_sum = offset %sums, %block : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %my_prefix = offset %prefixes, %block : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %my_state = offset %states, %block : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %summed = store_ptr_tko weak %my_sum, %mine : tile<ptr<i32>>, tile<i32> -> token
    %told = store_ptr_tko release tl_blk %my_state, %one token=%summed : tile<ptr<i32>>, tile<i32> -> token

    // Look back, block by block: add sums until one has its prefix.
    %before = subi %block, %one : tile<i32>
    %all = loop iter_values(%i = %before, %sum = %mine) : tile<i32>, tile<i32> -> tile<i32> {
      %at_start = cmpi less_than %i, %zero, signed : tile<i32> -> tile<i1>
      if %at_start {
        break %sum : tile<i32>
      }
      %state_at = offset %states, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %state, %known = loop : tile<i32>, token {
        %value, %seen = load_ptr_tko acquire tl_blk %state_at : tile<ptr<i32>> -> tile<i32>, token
        %empty = cmpi equal %value, %zero, signed : tile<i32> -> tile<i1>
        if %empty {
          continue
        }
        break %value, %seen : tile<i32>, token
      }
      %complete = cmpi equal %state, %two, signed : tile<i32> -> tile<i1>
      if %complete {
        %prefix_at = offset %prefixes, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %prefix, %read = load_ptr_tko weak %prefix_at token=%known : tile<ptr<i32>> -> tile<i32>, token
        %whole = addi %sum, %prefix : tile<i32>
        break %whole : tile<i32>
      }
      %sum_at = offset %sums, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %part, %read = load_ptr_tko weak %sum_at token=%known : tile<ptr<i32>> -> tile<i32>, token
      %more = addi %sum, %part : tile<i32>
      %next = subi %i, %one : tile<i32>
      continue %next, %more : tile<i32>, tile<i32>
    }
    %stored = store_ptr_tko weak %my_prefix, %all token=%told : tile<ptr<i32>>, tile<i32> -> token
    %finished = store_ptr_tko release tl_blk %my_state, %two token=%stored : tile<ptr<i32>>, tile<i32> -> token
  }

  // States without what they stand for.
  //
  // launch: --grid 2 sums=i32[2]:zeros prefixes=i32[2]:zeros states=i32[2]:zeros
  // exists: race
  entry @look_back_relaxed(%sums: tile<ptr<i32>>, %prefixes: tile<ptr<i32>>, %states: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %two = constant <i32: 2> : tile<i32>
    %mine = addi %block, %one : tile<i32>
    %my_sum = offset %sums, %block : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %my_prefix = offset %prefixes, %block : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %my_state = offset %states, %block : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %summed = store_ptr_tko weak %my_sum, %mine : tile<ptr<i32>>, tile<i32> -> token
    %told = store_ptr_tko relaxed device %my_state, %one token=%summed : tile<ptr<i32>>, tile<i32> -> token

    // Look back, block by block: add sums until one has its prefix.
    %before = subi %block, %one : tile<i32>
    %all = loop iter_values(%i = %before, %sum = %mine) : tile<i32>, tile<i32> -> tile<i32> {
      %at_start = cmpi less_than %i, %zero, signed : tile<i32> -> tile<i1>
      if %at_start {
        break %sum : tile<i32>
      }
      %state_at = offset %states, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %state, %known = loop : tile<i32>, token {
        %value, %seen = load_ptr_tko acquire device %state_at : tile<ptr<i32>> -> tile<i32>, token
        %empty = cmpi equal %value, %zero, signed : tile<i32> -> tile<i1>
        if %empty {
          continue
        }
        break %value, %seen : tile<i32>, token
      }
      %complete = cmpi equal %state, %two, signed : tile<i32> -> tile<i1>
      if %complete {
        %prefix_at = offset %prefixes, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %prefix, %read = load_ptr_tko weak %prefix_at token=%known : tile<ptr<i32>> -> tile<i32>, token
        %whole = addi %sum, %prefix : tile<i32>
        break %whole : tile<i32>
      }
      %sum_at = offset %sums, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %part, %read = load_ptr_tko weak %sum_at token=%known : tile<ptr<i32>> -> tile<i32>, token
      %more = addi %sum, %part : tile<i32>
      %next = subi %i, %one : tile<i32>
      continue %next, %more : tile<i32>, tile<i32>
    }
    %stored = store_ptr_tko weak %my_prefix, %all token=%told : tile<ptr<i32>>, tile<i32> -> token
    %finished = store_ptr_tko relaxed device %my_state, %two token=%stored : tile<ptr<i32>>, tile<i32> -> token
  }

  // States are seen, and not what they stand for.
  //
  // launch: --grid 2 sums=i32[2]:zeros prefixes=i32[2]:zeros states=i32[2]:zeros
  // exists: race
  entry @look_back_no_acquire(%sums: tile<ptr<i32>>, %prefixes: tile<ptr<i32>>, %states: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %two = constant <i32: 2> : tile<i32>
    %mine = addi %block, %one : tile<i32>
    %my_sum = offset %sums, %block : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %my_prefix = offset %prefixes, %block : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %my_state = offset %states, %block : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %summed = store_ptr_tko weak %my_sum, %mine : tile<ptr<i32>>, tile<i32> -> token
    %told = store_ptr_tko release device %my_state, %one token=%summed : tile<ptr<i32>>, tile<i32> -> token

    // Look back, block by block: add sums until one has its prefix.
    %before = subi %block, %one : tile<i32>
    %all = loop iter_values(%i = %before, %sum = %mine) : tile<i32>, tile<i32> -> tile<i32> {
      %at_start = cmpi less_than %i, %zero, signed : tile<i32> -> tile<i1>
      if %at_start {
        break %sum : tile<i32>
      }
      %state_at = offset %states, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %state, %known = loop : tile<i32>, token {
        %value, %seen = load_ptr_tko relaxed device %state_at : tile<ptr<i32>> -> tile<i32>, token
        %empty = cmpi equal %value, %zero, signed : tile<i32> -> tile<i1>
        if %empty {
          continue
        }
        break %value, %seen : tile<i32>, token
      }
      %complete = cmpi equal %state, %two, signed : tile<i32> -> tile<i1>
      if %complete {
        %prefix_at = offset %prefixes, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %prefix, %read = load_ptr_tko weak %prefix_at token=%known : tile<ptr<i32>> -> tile<i32>, token
        %whole = addi %sum, %prefix : tile<i32>
        break %whole : tile<i32>
      }
      %sum_at = offset %sums, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %part, %read = load_ptr_tko weak %sum_at token=%known : tile<ptr<i32>> -> tile<i32>, token
      %more = addi %sum, %part : tile<i32>
      %next = subi %i, %one : tile<i32>
      continue %next, %more : tile<i32>, tile<i32>
    }
    %stored = store_ptr_tko weak %my_prefix, %all token=%told : tile<ptr<i32>>, tile<i32> -> token
    %finished = store_ptr_tko release device %my_state, %two token=%stored : tile<ptr<i32>>, tile<i32> -> token
  }
}
