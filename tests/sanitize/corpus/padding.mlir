// Elements outside a mask or an array that reach a result.
cuda_tile.module @padding {
  // launch: 1 x=f32[5]:randn out=f32[1]:zeros n=5
  entry @wrong_variance_of_padded_rows(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>, %n: tile<i32>) {
    %i = iota : tile<8xi32>
    %n8_1 = reshape %n : tile<i32> -> tile<1xi32>
    %n8 = broadcast %n8_1 : tile<1xi32> -> tile<8xi32>
    %inside = cmpi less_than %i, %n8, signed : tile<8xi32> -> tile<8xi1>
    %zeros = constant <f32: 0.0> : tile<8xf32>
    %fifth = constant <f32: 0.2> : tile<f32>
    %p_1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %p_8 = broadcast %p_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %p = offset %p_8, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %v, %t_v = load_ptr_tko weak %p, %inside, %zeros : tile<8xptr<f32>>, tile<8xi1>, tile<8xf32> -> tile<8xf32>, token  // !padding
    %total = reduce %v dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
      (%l: tile<f32>, %r: tile<f32>) {
        %both = addf %l, %r : tile<f32>
        yield %both : tile<f32>
      }
    %mean = mulf %total, %fifth : tile<f32>
    %means_1 = reshape %mean : tile<f32> -> tile<1xf32>
    %means = broadcast %means_1 : tile<1xf32> -> tile<8xf32>
    %d = subf %v, %means : tile<8xf32>
    %dd = mulf %d, %d : tile<8xf32>
    %variance = reduce %dd dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
      (%l: tile<f32>, %r: tile<f32>) {
        %both = addf %l, %r : tile<f32>
        yield %both : tile<f32>
      }
    %stored_1 = store_ptr_tko weak %out, %variance : tile<ptr<f32>>, tile<f32> -> token  // &padding
  }
  // launch: 1 x=f32[5]:randn out=f32[1]:zeros n=5
  entry @right_variance_of_padded_rows(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>, %n: tile<i32>) {
    %i = iota : tile<8xi32>
    %n8_1 = reshape %n : tile<i32> -> tile<1xi32>
    %n8 = broadcast %n8_1 : tile<1xi32> -> tile<8xi32>
    %inside = cmpi less_than %i, %n8, signed : tile<8xi32> -> tile<8xi1>
    %zeros = constant <f32: 0.0> : tile<8xf32>
    %fifth = constant <f32: 0.2> : tile<f32>
    %p_1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %p_8 = broadcast %p_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %p = offset %p_8, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %v, %t_v = load_ptr_tko weak %p, %inside, %zeros : tile<8xptr<f32>>, tile<8xi1>, tile<8xf32> -> tile<8xf32>, token
    %total = reduce %v dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
      (%l: tile<f32>, %r: tile<f32>) {
        %both = addf %l, %r : tile<f32>
        yield %both : tile<f32>
      }
    %mean = mulf %total, %fifth : tile<f32>
    %means_1 = reshape %mean : tile<f32> -> tile<1xf32>
    %means = broadcast %means_1 : tile<1xf32> -> tile<8xf32>
    %e = subf %v, %means : tile<8xf32>
    %d = select %inside, %e, %zeros : tile<8xi1>, tile<8xf32>
    %dd = mulf %d, %d : tile<8xf32>
    %variance = reduce %dd dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
      (%l: tile<f32>, %r: tile<f32>) {
        %both = addf %l, %r : tile<f32>
        yield %both : tile<f32>
      }
    %stored_1 = store_ptr_tko weak %out, %variance : tile<ptr<f32>>, tile<f32> -> token
  }

  // launch: 1 x=f32[5]:randn y=f32[8]:zeros n=5
  entry @wrong_store_without_the_mask_of_the_load(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %n: tile<i32>) {
    %i = iota : tile<8xi32>
    %n8_1 = reshape %n : tile<i32> -> tile<1xi32>
    %n8 = broadcast %n8_1 : tile<1xi32> -> tile<8xi32>
    %inside = cmpi less_than %i, %n8, signed : tile<8xi32> -> tile<8xi1>
    %ones = constant <f32: 1.0> : tile<8xf32>
    %p_1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %p_8 = broadcast %p_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %p = offset %p_8, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %q_1 = reshape %y : tile<ptr<f32>> -> tile<1xptr<f32>>
    %q_8 = broadcast %q_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %q = offset %q_8, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %v, %t_v = load_ptr_tko weak %p, %inside : tile<8xptr<f32>>, tile<8xi1> -> tile<8xf32>, token  // !padding
    %w = addf %v, %ones : tile<8xf32>
    %stored_1 = store_ptr_tko weak %q, %w : tile<8xptr<f32>>, tile<8xf32> -> token  // &padding
  }
  // launch: 1 x=f32[5]:randn y=f32[8]:zeros n=5
  entry @right_store_without_the_mask_of_the_load(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %n: tile<i32>) {
    %i = iota : tile<8xi32>
    %n8_1 = reshape %n : tile<i32> -> tile<1xi32>
    %n8 = broadcast %n8_1 : tile<1xi32> -> tile<8xi32>
    %inside = cmpi less_than %i, %n8, signed : tile<8xi32> -> tile<8xi1>
    %ones = constant <f32: 1.0> : tile<8xf32>
    %p_1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %p_8 = broadcast %p_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %p = offset %p_8, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %q_1 = reshape %y : tile<ptr<f32>> -> tile<1xptr<f32>>
    %q_8 = broadcast %q_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %q = offset %q_8, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %v, %t_v = load_ptr_tko weak %p, %inside : tile<8xptr<f32>>, tile<8xi1> -> tile<8xf32>, token
    %w = addf %v, %ones : tile<8xf32>
    %stored_1 = store_ptr_tko weak %q, %w, %inside : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token
  }

  // launch: 1 x=f32[5]:randn y=f32[8]:zeros
  entry @wrong_mask_of_one_array_for_a_shorter_view(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %ones = constant <f32: 1.0> : tile<8xf32>
    %v = make_tensor_view %x, shape = [5], strides = [1] : tensor_view<5xf32, strides=[1]>
    %w = make_tensor_view %y, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
    %from = make_partition_view %v : partition_view<tile=(8), padding_value = zero, tensor_view<5xf32, strides=[1]>>
    %to = make_partition_view %w : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
    %a, %t = load_view_tko weak %from[%zero] : partition_view<tile=(8), padding_value = zero, tensor_view<5xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token  // !padding
    %b = addf %a, %ones : tile<8xf32>
    %s = store_view_tko weak %b, %to[%zero] : tile<8xf32>, partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> -> token  // &padding
  }
  // launch: 1 x=f32[5]:randn y=f32[8]:zeros
  entry @right_mask_of_one_array_for_a_shorter_view(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %ones = constant <f32: 1.0> : tile<8xf32>
    %v = make_tensor_view %x, shape = [5], strides = [1] : tensor_view<5xf32, strides=[1]>
    %w = make_tensor_view %y, shape = [5], strides = [1] : tensor_view<5xf32, strides=[1]>
    %from = make_partition_view %v : partition_view<tile=(8), padding_value = zero, tensor_view<5xf32, strides=[1]>>
    %to = make_partition_view %w : partition_view<tile=(8), tensor_view<5xf32, strides=[1]>>
    %a, %t = load_view_tko weak %from[%zero] : partition_view<tile=(8), padding_value = zero, tensor_view<5xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
    %b = addf %a, %ones : tile<8xf32>
    %s = store_view_tko weak %b, %to[%zero] : tile<8xf32>, partition_view<tile=(8), tensor_view<5xf32, strides=[1]>>, tile<i32> -> token
  }

  // launch: 1 x=f32[5]:ones out=f32[1]:zeros n=5
  entry @wrong_maximum_of_negative_rows(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>, %n: tile<i32>) {
    %i = iota : tile<8xi32>
    %n8_1 = reshape %n : tile<i32> -> tile<1xi32>
    %n8 = broadcast %n8_1 : tile<1xi32> -> tile<8xi32>
    %inside = cmpi less_than %i, %n8, signed : tile<8xi32> -> tile<8xi1>
    %zeros = constant <f32: 0.0> : tile<8xf32>
    %p_1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %p_8 = broadcast %p_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %p = offset %p_8, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %v, %t_v = load_ptr_tko weak %p, %inside, %zeros : tile<8xptr<f32>>, tile<8xi1>, tile<8xf32> -> tile<8xf32>, token  // !padding
    %minus = negf %v : tile<8xf32>
    %largest = reduce %minus dim=0 identities=[0xFF800000 : f32] : tile<8xf32> -> tile<f32>
      (%l: tile<f32>, %r: tile<f32>) {
        %both = maxf %l, %r : tile<f32>
        yield %both : tile<f32>
      }
    %stored_1 = store_ptr_tko weak %out, %largest : tile<ptr<f32>>, tile<f32> -> token  // &padding
  }
  // launch: 1 x=f32[5]:ones out=f32[1]:zeros n=5
  entry @right_maximum_of_negative_rows(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>, %n: tile<i32>) {
    %i = iota : tile<8xi32>
    %n8_1 = reshape %n : tile<i32> -> tile<1xi32>
    %n8 = broadcast %n8_1 : tile<1xi32> -> tile<8xi32>
    %inside = cmpi less_than %i, %n8, signed : tile<8xi32> -> tile<8xi1>
    %infinite = constant <f32: 0x7F800000> : tile<8xf32>
    %p_1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %p_8 = broadcast %p_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %p = offset %p_8, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %v, %t_v = load_ptr_tko weak %p, %inside, %infinite : tile<8xptr<f32>>, tile<8xi1>, tile<8xf32> -> tile<8xf32>, token
    %minus = negf %v : tile<8xf32>
    %largest = reduce %minus dim=0 identities=[0xFF800000 : f32] : tile<8xf32> -> tile<f32>
      (%l: tile<f32>, %r: tile<f32>) {
        %both = maxf %l, %r : tile<f32>
        yield %both : tile<f32>
      }
    %stored_1 = store_ptr_tko weak %out, %largest : tile<ptr<f32>>, tile<f32> -> token
  }

  // launch: 1 x=f32[5]:ones out=f32[1]:zeros n=5
  entry @wrong_sum_of_exponentials(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>, %n: tile<i32>) {
    %i = iota : tile<8xi32>
    %n8_1 = reshape %n : tile<i32> -> tile<1xi32>
    %n8 = broadcast %n8_1 : tile<1xi32> -> tile<8xi32>
    %inside = cmpi less_than %i, %n8, signed : tile<8xi32> -> tile<8xi1>
    %zeros = constant <f32: 0.0> : tile<8xf32>
    %p_1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %p_8 = broadcast %p_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %p = offset %p_8, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %v, %t_v = load_ptr_tko weak %p, %inside, %zeros : tile<8xptr<f32>>, tile<8xi1>, tile<8xf32> -> tile<8xf32>, token  // !padding
    %powers = exp %v : tile<8xf32>
    %total = reduce %powers dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
      (%l: tile<f32>, %r: tile<f32>) {
        %both = addf %l, %r : tile<f32>
        yield %both : tile<f32>
      }
    %stored_1 = store_ptr_tko weak %out, %total : tile<ptr<f32>>, tile<f32> -> token  // &padding
  }
  // launch: 1 x=f32[5]:ones out=f32[1]:zeros n=5
  entry @right_sum_of_exponentials(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>, %n: tile<i32>) {
    %i = iota : tile<8xi32>
    %n8_1 = reshape %n : tile<i32> -> tile<1xi32>
    %n8 = broadcast %n8_1 : tile<1xi32> -> tile<8xi32>
    %inside = cmpi less_than %i, %n8, signed : tile<8xi32> -> tile<8xi1>
    %lowest = constant <f32: 0xFF800000> : tile<8xf32>
    %p_1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %p_8 = broadcast %p_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %p = offset %p_8, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %v, %t_v = load_ptr_tko weak %p, %inside, %lowest : tile<8xptr<f32>>, tile<8xi1>, tile<8xf32> -> tile<8xf32>, token
    %powers = exp %v : tile<8xf32>
    %total = reduce %powers dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
      (%l: tile<f32>, %r: tile<f32>) {
        %both = addf %l, %r : tile<f32>
        yield %both : tile<f32>
      }
    %stored_1 = store_ptr_tko weak %out, %total : tile<ptr<f32>>, tile<f32> -> token
  }

  // launch: 1 x=f32[5]:ones out=f32[8]:zeros n=5
  entry @wrong_atomic_of_padding(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>, %n: tile<i32>) {
    %i = iota : tile<8xi32>
    %n8_1 = reshape %n : tile<i32> -> tile<1xi32>
    %n8 = broadcast %n8_1 : tile<1xi32> -> tile<8xi32>
    %inside = cmpi less_than %i, %n8, signed : tile<8xi32> -> tile<8xi1>
    %ones = constant <f32: 1.0> : tile<8xf32>
    %p_1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %p_8 = broadcast %p_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %p = offset %p_8, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %q_1 = reshape %out : tile<ptr<f32>> -> tile<1xptr<f32>>
    %q_8 = broadcast %q_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %q = offset %q_8, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %v, %t_v = load_ptr_tko weak %p, %inside, %ones : tile<8xptr<f32>>, tile<8xi1>, tile<8xf32> -> tile<8xf32>, token  // !padding
    %w = addf %v, %v : tile<8xf32>
    %old, %t = atomic_rmw_tko relaxed device %q, addf, %w : tile<8xptr<f32>>, tile<8xf32> -> tile<8xf32>, token  // &padding
  }
  // launch: 1 x=f32[5]:ones out=f32[8]:zeros n=5
  entry @right_atomic_of_padding(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>, %n: tile<i32>) {
    %i = iota : tile<8xi32>
    %n8_1 = reshape %n : tile<i32> -> tile<1xi32>
    %n8 = broadcast %n8_1 : tile<1xi32> -> tile<8xi32>
    %inside = cmpi less_than %i, %n8, signed : tile<8xi32> -> tile<8xi1>
    %zeros = constant <f32: 0.0> : tile<8xf32>
    %p_1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %p_8 = broadcast %p_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %p = offset %p_8, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %q_1 = reshape %out : tile<ptr<f32>> -> tile<1xptr<f32>>
    %q_8 = broadcast %q_1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %q = offset %q_8, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %v, %t_v = load_ptr_tko weak %p, %inside, %zeros : tile<8xptr<f32>>, tile<8xi1>, tile<8xf32> -> tile<8xf32>, token
    %w = addf %v, %v : tile<8xf32>
    %old, %t = atomic_rmw_tko relaxed device %q, addf, %w : tile<8xptr<f32>>, tile<8xf32> -> tile<8xf32>, token
  }

  // launch: 1 x=f32[5]:ones out=f32[1]:zeros
  entry @wrong_sum_of_lanes_without_padding(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %v = make_tensor_view %x, shape = [5], strides = [1] : tensor_view<5xf32, strides=[1]>
    %from = make_partition_view %v : partition_view<tile=(8), tensor_view<5xf32, strides=[1]>>
    %a, %t = load_view_tko weak %from[%zero] : partition_view<tile=(8), tensor_view<5xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token  // !padding
    %sum = reduce %a dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32> (%l: tile<f32>, %r: tile<f32>) {
      %s = addf %l, %r : tile<f32>
      yield %s : tile<f32>
    }
    %stored = store_ptr_tko weak %out, %sum : tile<ptr<f32>>, tile<f32> -> token  // &padding
  }
  // launch: 1 x=f32[5]:ones out=f32[1]:zeros
  entry @right_sum_of_lanes_without_padding(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %v = make_tensor_view %x, shape = [5], strides = [1] : tensor_view<5xf32, strides=[1]>
    %from = make_partition_view %v : partition_view<tile=(8), padding_value = zero, tensor_view<5xf32, strides=[1]>>
    %a, %t = load_view_tko weak %from[%zero] : partition_view<tile=(8), padding_value = zero, tensor_view<5xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
    %sum = reduce %a dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32> (%l: tile<f32>, %r: tile<f32>) {
      %s = addf %l, %r : tile<f32>
      yield %s : tile<f32>
    }
    %stored = store_ptr_tko weak %out, %sum : tile<ptr<f32>>, tile<f32> -> token
  }
}
