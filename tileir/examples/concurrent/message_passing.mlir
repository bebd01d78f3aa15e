// A tile of data, handed over by a flag that the reader waits for.

cuda_tile.module @message_passing {
  // Release and acquire, with a token on each side.
  //
  // launch: --grid 2 data=i32[4]:zeros flag=i32[1]:zeros
  // forbidden: 1:%found[3] != 3
  // never: race or deadlock
  entry @message(%data: tile<ptr<i32>>, %flag: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %lanes = iota : tile<4xi32>
    %row = reshape %data : tile<ptr<i32>> -> tile<1xptr<i32>>
    %all = broadcast %row : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %at = offset %all, %lanes : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %first = cmpi equal %block, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %written = store_ptr_tko weak %at, %lanes : tile<4xptr<i32>>, tile<4xi32> -> token
      %told = store_ptr_tko release device %flag, %one token=%written : tile<ptr<i32>>, tile<i32> -> token
    } else {
      %fresh = make_token : token
      %ready = loop iter_values(%before = %fresh) : token -> token {
        %value, %seen = load_ptr_tko acquire device %flag token=%before : tile<ptr<i32>> -> tile<i32>, token
        %set = cmpi equal %value, %one, signed : tile<i32> -> tile<i1>
        if %set {
          break %seen : token
        }
        continue %seen : token
      }
      %found, %read = load_ptr_tko weak %at token=%ready : tile<4xptr<i32>> -> tile<4xi32>, token
    }
  }

  // A relaxed flag says nothing about the data.
  //
  // launch: --grid 2 data=i32[4]:zeros flag=i32[1]:zeros
  // exists: race
  entry @message_relaxed_flag(%data: tile<ptr<i32>>, %flag: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %lanes = iota : tile<4xi32>
    %row = reshape %data : tile<ptr<i32>> -> tile<1xptr<i32>>
    %all = broadcast %row : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %at = offset %all, %lanes : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %first = cmpi equal %block, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %written = store_ptr_tko weak %at, %lanes : tile<4xptr<i32>>, tile<4xi32> -> token
      %told = store_ptr_tko relaxed device %flag, %one token=%written : tile<ptr<i32>>, tile<i32> -> token
    } else {
      %fresh = make_token : token
      %ready = loop iter_values(%before = %fresh) : token -> token {
        %value, %seen = load_ptr_tko relaxed device %flag token=%before : tile<ptr<i32>> -> tile<i32>, token
        %set = cmpi equal %value, %one, signed : tile<i32> -> tile<i1>
        if %set {
          break %seen : token
        }
        continue %seen : token
      }
      %found, %read = load_ptr_tko weak %at token=%ready : tile<4xptr<i32>> -> tile<4xi32>, token
    }
  }

  // The flag may be set before the data is there.
  //
  // launch: --grid 2 data=i32[4]:zeros flag=i32[1]:zeros
  // exists: race
  entry @message_no_token_before_flag(%data: tile<ptr<i32>>, %flag: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %lanes = iota : tile<4xi32>
    %row = reshape %data : tile<ptr<i32>> -> tile<1xptr<i32>>
    %all = broadcast %row : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %at = offset %all, %lanes : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %first = cmpi equal %block, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %written = store_ptr_tko weak %at, %lanes : tile<4xptr<i32>>, tile<4xi32> -> token
      %told = store_ptr_tko release device %flag, %one : tile<ptr<i32>>, tile<i32> -> token
    } else {
      %fresh = make_token : token
      %ready = loop iter_values(%before = %fresh) : token -> token {
        %value, %seen = load_ptr_tko acquire device %flag token=%before : tile<ptr<i32>> -> tile<i32>, token
        %set = cmpi equal %value, %one, signed : tile<i32> -> tile<i1>
        if %set {
          break %seen : token
        }
        continue %seen : token
      }
      %found, %read = load_ptr_tko weak %at token=%ready : tile<4xptr<i32>> -> tile<4xi32>, token
    }
  }

  // The data may be read before the flag: the loop orders nothing.
  //
  // launch: --grid 2 data=i32[4]:zeros flag=i32[1]:zeros
  // exists: race
  entry @message_no_token_after_wait(%data: tile<ptr<i32>>, %flag: tile<ptr<i32>>) {
    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>

    %lanes = iota : tile<4xi32>
    %row = reshape %data : tile<ptr<i32>> -> tile<1xptr<i32>>
    %all = broadcast %row : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %at = offset %all, %lanes : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %first = cmpi equal %block, %zero, signed : tile<i32> -> tile<i1>
    if %first {
      %written = store_ptr_tko weak %at, %lanes : tile<4xptr<i32>>, tile<4xi32> -> token
      %told = store_ptr_tko release device %flag, %one token=%written : tile<ptr<i32>>, tile<i32> -> token
    } else {
      %fresh = make_token : token
      %ready = loop iter_values(%before = %fresh) : token -> token {
        %value, %seen = load_ptr_tko acquire device %flag token=%before : tile<ptr<i32>> -> tile<i32>, token
        %set = cmpi equal %value, %one, signed : tile<i32> -> tile<i1>
        if %set {
          break %seen : token
        }
        continue %seen : token
      }
      %found, %read = load_ptr_tko weak %at token=%fresh : tile<4xptr<i32>> -> tile<4xi32>, token
    }
  }
}
