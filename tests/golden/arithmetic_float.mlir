// Float arithmetic: every rounding mode, flush to zero, every base float type.
cuda_tile.module @floats {
  // Loads eight numbers from each array, combines them in many ways and stores the sum of all results.
  entry @basic(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %out: tile<ptr<f32>>) {
    %lane = iota : tile<8xi32>
    %a1 = reshape %a : tile<ptr<f32>> -> tile<1xptr<f32>>
    %b1 = reshape %b : tile<ptr<f32>> -> tile<1xptr<f32>>
    %o1 = reshape %out : tile<ptr<f32>> -> tile<1xptr<f32>>
    %a8 = broadcast %a1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %b8 = broadcast %b1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %o8 = broadcast %o1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %pa = offset %a8, %lane : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %pb = offset %b8, %lane : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %po = offset %o8, %lane : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %x, %tx = load_ptr_tko weak %pa : tile<8xptr<f32>> -> tile<8xf32>, token
    %y, %ty = load_ptr_tko weak %pb : tile<8xptr<f32>> -> tile<8xf32>, token
    %0 = addf %x, %y : tile<8xf32>
    %1 = subf %0, %y rounding<nearest_even> : tile<8xf32>
    %2 = mulf %1, %x rounding<zero> : tile<8xf32>
    %3 = divf %2, %y rounding<negative_inf> : tile<8xf32>
    %4 = fma %3, %x, %y rounding<positive_inf> : tile<8xf32>
    %5 = remf %4, %y : tile<8xf32>
    %6 = maxf %5, %x : tile<8xf32>
    %7 = minf %6, %y : tile<8xf32>
    %8 = absf %7 : tile<8xf32>
    %9 = negf %8 : tile<8xf32>
    %10 = ceil %9 : tile<8xf32>
    %11 = floor %9 : tile<8xf32>
    %12 = addf %10, %11 : tile<8xf32>
    %stored = store_ptr_tko weak %po, %12 : tile<8xptr<f32>>, tile<8xf32> -> token
    return
  }

  entry @modes(%x: tile<f32>, %y: tile<f32>, %z: tile<f32>) {
    %0 = addf %x, %y rounding<zero> flush_to_zero : tile<f32>
    %1 = addf %x, %y flush_to_zero : tile<f32>
    %2 = subf %x, %y rounding<positive_inf> : tile<f32>
    %3 = subf %x, %y rounding<negative_inf> flush_to_zero : tile<f32>
    %4 = mulf %x, %y flush_to_zero : tile<f32>
    %5 = divf %x, %y rounding<approx> flush_to_zero : tile<f32>
    %6 = divf %x, %y rounding<full> : tile<f32>
    %7 = divf %x, %y : tile<f32>
    %8 = fma %x, %y, %z flush_to_zero : tile<f32>
    %9 = fma %x, %y, %z : tile<f32>
    %10 = sqrt %x : tile<f32>
    %11 = sqrt %x rounding<approx> flush_to_zero : tile<f32>
    %12 = sqrt %x rounding<negative_inf> : tile<f32>
    %13 = rsqrt %x : tile<f32>
    %14 = rsqrt %x flush_to_zero : tile<f32>
    %15 = exp2 %x flush_to_zero : tile<f32>
    %16 = exp %x rounding<approx> : tile<f32>
    %17 = exp %x rounding<full> : tile<f32>
    %18 = tanh %x rounding<approx> : tile<f32>
    %19 = maxf %x, %y propagate_nan flush_to_zero : tile<f32>
    %20 = minf %x, %y propagate_nan : tile<f32>
    %21 = maxf %x, %y flush_to_zero : tile<f32>
  }

  entry @other_types(%h: tile<f16>, %b: tile<bf16>, %d: tile<f64>) {
    %0 = addf %h, %h rounding<positive_inf> : tile<f16>
    %1 = mulf %b, %b : tile<bf16>
    %2 = divf %d, %d rounding<zero> : tile<f64>
    %3 = fma %h, %0, %h : tile<f16>
    %4 = sqrt %d : tile<f64>
    %5 = minf %b, %1 propagate_nan : tile<bf16>
    %6 = remf %d, %2 : tile<f64>
    %7 = negf %h : tile<f16>
    %8 = absf %b : tile<bf16>
  }

  entry @functions(%x: tile<f32>, %d: tile<f64>) {
    %0 = exp %x : tile<f32>
    %1 = exp2 %x : tile<f32>
    %2 = log %x : tile<f32>
    %3 = log2 %x : tile<f32>
    %4 = pow %x, %0 : tile<f32>
    %5 = sin %x : tile<f32>
    %6 = cos %x : tile<f32>
    %7 = tan %x : tile<f32>
    %8 = sinh %x : tile<f32>
    %9 = cosh %x : tile<f32>
    %10 = tanh %d : tile<f64>
    %11 = atan2 %x, %0 : tile<f32>
    %12 = ceil %d : tile<f64>
    %13 = floor %d : tile<f64>
  }

  entry @comparisons(%x: tile<f32>, %h: tile<f16>) {
    %wide = reshape %x : tile<f32> -> tile<1x1xf32>
    %grid = broadcast %wide : tile<1x1xf32> -> tile<4x2xf32>
    %0 = cmpf equal ordered %x, %x : tile<f32> -> tile<i1>
    %1 = cmpf not_equal unordered %x, %x : tile<f32> -> tile<i1>
    %2 = cmpf less_than ordered %grid, %grid : tile<4x2xf32> -> tile<4x2xi1>
    %3 = cmpf less_than_or_equal unordered %h, %h : tile<f16> -> tile<i1>
    %4 = cmpf greater_than ordered %h, %h : tile<f16> -> tile<i1>
    %5 = cmpf greater_than_or_equal unordered %x, %x : tile<f32> -> tile<i1>
    %6 = select %2, %grid, %grid : tile<4x2xi1>, tile<4x2xf32>
  }
}
