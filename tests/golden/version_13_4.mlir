// level: 13.4
// What version 13.4 adds.
cuda_tile.module @newer {
  entry @powers(%x: tile<f32>, %n: tile<i32>, %h: tile<f16>, %m: tile<i8>) {
    %0 = fpowi %x, %n : tile<f32>, tile<i32>
    %1 = fpowi %h, %m : tile<f16>, tile<i8>
    %2 = pow %x, %0 : tile<f32>
    %3 = fpowf %x, %2 : tile<f32>
  }

  entry @inserting(%i: tile<i32>, %j: tile<i32>) {
    %row = iota : tile<32xi16>
    %grid = reshape %row : tile<32xi16> -> tile<4x8xi16>
    %part = extract %grid[%i, %j] : tile<4x8xi16> -> tile<2x4xi16>
    %0 = insert %part, %grid[%j, %i] : tile<2x4xi16>, tile<4x8xi16>
    %1 = insert %row, %row[%i] : tile<32xi16>, tile<32xi16>
  }

  entry @conversions(%x: tile<f32>, %d: tile<f64>, %h: tile<f16>) {
    %0 = ftoi %x signed saturating : tile<f32> -> tile<i32>
    %1 = ftoi %d unsigned rounding<nearest_int_to_zero> saturating : tile<f64> -> tile<i8>
    %2 = ftof %x rounding<nearest_away> : tile<f32> -> tile<tf32>
    %3 = ftof %d rounding<positive_inf> : tile<f64> -> tile<f32>
    %4 = ftof %x rounding<zero> : tile<f32> -> tile<f16>
    %5 = ftof %h rounding<negative_inf> : tile<f16> -> tile<f32>
  }

  entry @dependent(%p: tile<ptr<f32>>) {
    %0 = gdc_wait_tko -> token
    %1 = gdc_wait_tko token = %0 -> token
    %x, %2 = load_ptr_tko weak %p token=%1 : tile<ptr<f32>> -> tile<f32>, token
    %3 = memory_fence_alias_tko %2
    %4 = gdc_launch_dependents_tko token = %3 -> token
    %5 = gdc_launch_dependents_tko -> token
  }

  entry @promised(%p: tile<ptr<f32>>, %i: tile<i32>) {
    %t = make_tensor_view %p, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf32, strides=[32,1]>
    %v = make_partition_view %t : partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>
    %x, %t0 = load_view_tko weak %v[%i, %i] inbounds = [true, false] : partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> tile<8x4xf32>, token
    %y, %t1 = load_view_tko weak %v[%i, %i] inbounds = [false, false] : partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> tile<8x4xf32>, token
    %t2 = store_view_tko weak %x, %v[%i, %i] token = %t0 optimization_hints = <sm_100 = {latency = 2}> inbounds = [true, true] : tile<8x4xf32>, partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> token
  }

  entry @early(%flag: tile<i1>) {
    loop {
      if %flag {
        return
      }
      return
    }
  }

  entry @bodies(%x: tile<f32>) {
    %x1 = reshape %x : tile<f32> -> tile<1xf32>
    %x8 = broadcast %x1 : tile<1xf32> -> tile<8xf32>
    %0 = reduce %x8 dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
    (%a: tile<f32>, %b: tile<f32>) {
      %less = cmpf less_than ordered %a, %b : tile<f32> -> tile<i1>
      %m = if %less -> (tile<f32>) {
        yield %b : tile<f32>
      } else {
        yield %a : tile<f32>
      }
      yield %m : tile<f32>
    }
  }
}
