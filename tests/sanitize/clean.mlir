// What looks like a fault and is none.
cuda_tile.module @clean {
  // Pointers that a loop moves on: each tile block writes 4 elements of its own, one in each turn.
  // launch: 3 out=i32[12]:zeros
  entry @loop_carried_pointers(%out: tile<ptr<i32>>) {
    %b, %by, %bz = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %four = constant <i32: 4> : tile<i32>
    %begin = muli %b, %four : tile<i32>
    %first = offset %out, %begin : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %last = for %i in (%zero to %four, step %one) : tile<i32> iter_values(%p = %first) -> (tile<ptr<i32>>) {
      %t = store_ptr_tko weak %p, %b : tile<ptr<i32>>, tile<i32> -> token
      %next = offset %p, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      continue %next : tile<ptr<i32>>
    }
  }

  // Every tile block reads the same element, twice and without a token.
  // launch: 4 x=i32[4]:arange out=i32[4]:zeros
  entry @shared_reads(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %by, %bz = get_tile_block_id : tile<i32>
    %v, %t0 = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
    %w, %t1 = load_ptr_tko weak %x : tile<ptr<i32>> -> tile<i32>, token
    %sum = addi %v, %w : tile<i32>
    %p = offset %out, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t2 = store_ptr_tko weak %p, %sum : tile<ptr<i32>>, tile<i32> -> token
  }

  // Tile block b writes the elements b, b + 4, b + 8, ...: the boxes around them overlap, the elements do not.
  // launch: 4 out=i32[32]:zeros
  entry @interleaved_strided_writes(%out: tile<ptr<i32>>) {
    %b, %by, %bz = get_tile_block_id : tile<i32>
    %lane = iota : tile<8xi32>
    %step = constant <i32: 4> : tile<8xi32>
    %far = muli %lane, %step : tile<8xi32>
    %b1 = reshape %b : tile<i32> -> tile<1xi32>
    %b8 = broadcast %b1 : tile<1xi32> -> tile<8xi32>
    %at = addi %far, %b8 : tile<8xi32>
    %p1 = reshape %out : tile<ptr<i32>> -> tile<1xptr<i32>>
    %p8 = broadcast %p1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %p = offset %p8, %at : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    %t = store_ptr_tko weak %p, %at : tile<8xptr<i32>>, tile<8xi32> -> token
  }

  // Single bytes side by side, by different tile blocks.
  // launch: 16 out=f8E4M3FN[16]:zeros
  entry @f8_neighbours(%out: tile<ptr<f8E4M3FN>>) {
    %b, %by, %bz = get_tile_block_id : tile<i32>
    %one = constant <f8E4M3FN: 1.0> : tile<f8E4M3FN>
    %p = offset %out, %b : tile<ptr<f8E4M3FN>>, tile<i32> -> tile<ptr<f8E4M3FN>>
    %t = store_ptr_tko weak %p, %one : tile<ptr<f8E4M3FN>>, tile<f8E4M3FN> -> token
  }

  // Lanes 1 to 3 have addresses far outside, and are masked off.
  // launch: 2 x=i32[2]:arange out=i32[2]:zeros
  entry @masked_off_wild_addresses(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %by, %bz = get_tile_block_id : tile<i32>
    %lane = iota : tile<4xi32>
    %wild = constant <i32: 536870911> : tile<4xi32>
    %far = muli %lane, %wild : tile<4xi32>
    %b1 = reshape %b : tile<i32> -> tile<1xi32>
    %b4 = broadcast %b1 : tile<1xi32> -> tile<4xi32>
    %at = addi %far, %b4 : tile<4xi32>
    %zero = constant <i32: 0> : tile<4xi32>
    %first = cmpi equal %lane, %zero, signed : tile<4xi32> -> tile<4xi1>
    %x1 = reshape %x : tile<ptr<i32>> -> tile<1xptr<i32>>
    %x4 = broadcast %x1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %px = offset %x4, %at : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %v, %t0 = load_ptr_tko weak %px, %first, %zero
      : tile<4xptr<i32>>, tile<4xi1>, tile<4xi32> -> tile<4xi32>, token
    %o1 = reshape %out : tile<ptr<i32>> -> tile<1xptr<i32>>
    %o4 = broadcast %o1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %po = offset %o4, %at : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %t1 = store_ptr_tko weak %po, %v, %first : tile<4xptr<i32>>, tile<4xi32>, tile<4xi1> -> token
  }

  // Weak data handed over by a flag: store, token, release; acquire, token, load.
  // launch: 2 data=i32[1]:zeros flag=i32[1]:zeros out=i32[1]:zeros
  entry @ordered_message_passing(%data: tile<ptr<i32>>, %flag: tile<ptr<i32>>, %out: tile<ptr<i32>>) {
    %b, %by, %bz = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %writes = cmpi equal %b, %zero, signed : tile<i32> -> tile<i1>
    if %writes {
      %t = store_ptr_tko weak %data, %one : tile<ptr<i32>>, tile<i32> -> token
      %r = store_ptr_tko release device %flag, %one token=%t : tile<ptr<i32>>, tile<i32> -> token
    } else {
      %seen = loop : token {
        %f, %t = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
        %set = cmpi equal %f, %one, signed : tile<i32> -> tile<i1>
        if %set {
          break %t : token
        }
      }
      %v, %t1 = load_ptr_tko weak %data token=%seen : tile<ptr<i32>> -> tile<i32>, token
      %t2 = store_ptr_tko weak %out, %v : tile<ptr<i32>>, tile<i32> -> token
    }
  }

  // Rows of half bytes: two elements of one store in each byte, and every tile block has bytes of its own.
  // launch: 4 out=f4E2M1FN[16]:zeros
  entry @f4_neighbours(%out: tile<ptr<f4E2M1FN>>) {
    %b, %by, %bz = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %view = make_tensor_view %out, shape = [4, 4], strides = [4, 1] : tensor_view<4x4xf4E2M1FN, strides=[4,1]>
    %rows = make_partition_view %view : partition_view<tile=(1x4), tensor_view<4x4xf4E2M1FN, strides=[4,1]>>
    %ones = constant <f4E2M1FN: 1.0> : tile<1x4xf4E2M1FN>
    %t = store_view_tko weak %ones, %rows[%b, %zero]
      : tile<1x4xf4E2M1FN>, partition_view<tile=(1x4), tensor_view<4x4xf4E2M1FN, strides=[4,1]>>, tile<i32> -> token
  }
}
