// Promises that do not hold, and operations without a defined result.
cuda_tile.module @undefined {
  // launch: 1 out=i32[1]:zeros n=5
  entry @wrong_promise(%out: tile<ptr<i32>>, %n: tile<i32>) {
    %m = assume div_by<4>, %n : tile<i32>  // !undefined
    %stored_1 = store_ptr_tko weak %out, %m : tile<ptr<i32>>, tile<i32> -> token
  }
  // launch: 1 out=i32[1]:zeros n=8
  entry @right_promise(%out: tile<ptr<i32>>, %n: tile<i32>) {
    %m = assume div_by<4>, %n : tile<i32>
    %stored_1 = store_ptr_tko weak %out, %m : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 1 out=i32[1]:zeros n=0
  entry @wrong_division_by_zero(%out: tile<ptr<i32>>, %n: tile<i32>) {
    %one = constant <i32: 1> : tile<i32>
    %m = divi %one, %n signed : tile<i32>  // !undefined
    %stored_1 = store_ptr_tko weak %out, %m : tile<ptr<i32>>, tile<i32> -> token
  }
  // launch: 1 out=i32[1]:zeros n=2
  entry @right_division_by_zero(%out: tile<ptr<i32>>, %n: tile<i32>) {
    %one = constant <i32: 1> : tile<i32>
    %m = divi %one, %n signed : tile<i32>
    %stored_1 = store_ptr_tko weak %out, %m : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 1 out=i32[1]:zeros n=2147483647
  entry @wrong_overflow_promise(%out: tile<ptr<i32>>, %n: tile<i32>) {
    %one = constant <i32: 1> : tile<i32>
    %m = addi %n, %one overflow<no_signed_wrap> : tile<i32>  // !undefined
    %stored_1 = store_ptr_tko weak %out, %m : tile<ptr<i32>>, tile<i32> -> token
  }
  // launch: 1 out=i32[1]:zeros n=2147483647
  entry @right_overflow_promise(%out: tile<ptr<i32>>, %n: tile<i32>) {
    %one = constant <i32: 1> : tile<i32>
    %m = addi %n, %one : tile<i32>
    %stored_1 = store_ptr_tko weak %out, %m : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 2 x=f32[8]:zeros
  entry @wrong_index_space(%x: tile<ptr<f32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %ones = constant <f32: 1.0> : tile<8xf32>
    %v = make_tensor_view %x, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
    %tiles = make_partition_view %v : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
    %s = store_view_tko weak %ones, %tiles[%b] : tile<8xf32>, partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> -> token  // !undefined
  }
  // launch: 1 x=f32[8]:zeros
  entry @right_index_space(%x: tile<ptr<f32>>) {
    %b, %by_b, %bz_b = get_tile_block_id : tile<i32>
    %ones = constant <f32: 1.0> : tile<8xf32>
    %v = make_tensor_view %x, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
    %tiles = make_partition_view %v : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
    %s = store_view_tko weak %ones, %tiles[%b] : tile<8xf32>, partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> -> token
  }

  // launch: 1 out=i32[1]:zeros n=40
  entry @wrong_failing_assertion(%out: tile<ptr<i32>>, %n: tile<i32>) {
    %limit = constant <i32: 32> : tile<i32>
    %small = cmpi less_than %n, %limit, signed : tile<i32> -> tile<i1>
    assert %small, "too many" : tile<i1>  // !assert
    %stored_1 = store_ptr_tko weak %out, %n : tile<ptr<i32>>, tile<i32> -> token
  }
  // launch: 1 out=i32[1]:zeros n=20
  entry @right_failing_assertion(%out: tile<ptr<i32>>, %n: tile<i32>) {
    %limit = constant <i32: 32> : tile<i32>
    %small = cmpi less_than %n, %limit, signed : tile<i32> -> tile<i1>
    assert %small, "too many" : tile<i1>
    %stored_1 = store_ptr_tko weak %out, %n : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 1 out=i32[1]:zeros n=0
  entry @wrong_step(%out: tile<ptr<i32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %eight = constant <i32: 8> : tile<i32>
    for %i in (%zero to %eight, step %n) : tile<i32> {  // !undefined
      %same = addi %i, %i : tile<i32>
    }
  }
  // launch: 1 out=i32[1]:zeros n=2
  entry @right_step(%out: tile<ptr<i32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %eight = constant <i32: 8> : tile<i32>
    for %i in (%zero to %eight, step %n) : tile<i32> {
      %same = addi %i, %i : tile<i32>
    }
  }

  // launch: 1 out=i32[1]:zeros n=32
  entry @wrong_shift_by_the_width(%out: tile<ptr<i32>>, %n: tile<i32>) {
    %one = constant <i32: 1> : tile<i32>
    %m = shli %one, %n : tile<i32>  // !undefined
    %stored_1 = store_ptr_tko weak %out, %m : tile<ptr<i32>>, tile<i32> -> token
  }
  // launch: 1 out=i32[1]:zeros n=31
  entry @right_shift_by_the_width(%out: tile<ptr<i32>>, %n: tile<i32>) {
    %one = constant <i32: 1> : tile<i32>
    %m = shli %one, %n : tile<i32>
    %stored_1 = store_ptr_tko weak %out, %m : tile<ptr<i32>>, tile<i32> -> token
  }

  // launch: 1 n=2147483647
  entry @wrong_counter_that_overflows(%n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %step = constant <i32: 1073741824> : tile<i32>
    for %i in (%zero to %n, step %step) : tile<i32> {  // !undefined
      continue
    }
  }
  // launch: 1 n=1073741824
  entry @right_counter_that_overflows(%n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %step = constant <i32: 1073741824> : tile<i32>
    for %i in (%zero to %n, step %step) : tile<i32> {
      continue
    }
  }
}
