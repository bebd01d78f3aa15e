// Reductions and scans: one and several operands, identities of every kind.
cuda_tile.module @reductions {
  // Stores the sum of 0, 1, ..., 63.
  entry @sum(%out: tile<ptr<i32>>) {
    %row = iota : tile<64xi32>
    %total = reduce %row dim=0 identities=[0 : i32] : tile<64xi32> -> tile<i32>
    (%a: tile<i32>, %b: tile<i32>) {
      %s = addi %a, %b : tile<i32>
      yield %s : tile<i32>
    }
    store_ptr_tko weak %out, %total : tile<ptr<i32>>, tile<i32> -> token
  }

  // The largest element of each row and where it is.
  entry @argmax(%x: tile<f32>) {
    %one = reshape %x : tile<f32> -> tile<1x1xf32>
    %grid = broadcast %one : tile<1x1xf32> -> tile<4x8xf32>
    %row = iota : tile<8xi32>
    %row1 = reshape %row : tile<8xi32> -> tile<1x8xi32>
    %columns = broadcast %row1 : tile<1x8xi32> -> tile<4x8xi32>
    %m, %ix = reduce %grid, %columns dim=1 identities=[0xFF800000 : f32, -1 : i32]
        : tile<4x8xf32>, tile<4x8xi32> -> tile<4xf32>, tile<4xi32>
    (%a: tile<f32>, %b: tile<f32>, %i: tile<i32>, %j: tile<i32>) {
      %g = cmpf greater_than ordered %a, %b : tile<f32> -> tile<i1>
      %v = select %g, %a, %b : tile<i1>, tile<f32>
      %w = select %g, %i, %j : tile<i1>, tile<i32>
      yield %v, %w : tile<f32>, tile<i32>
    }
    %0 = itof %ix signed : tile<4xi32> -> tile<4xf32>
    %1 = addf %m, %0 : tile<4xf32>
  }

  entry @identities(%h: tile<f16>, %d: tile<f64>) {
    %row = iota : tile<4xi64>
    %0 = reduce %row dim=0 identities=[-3] : tile<4xi64> -> tile<i64>
    (%a: tile<i64>, %b: tile<i64>) {
      %s = mini %a, %b signed : tile<i64>
      yield %s : tile<i64>
    }
    %bytes = iota : tile<4xi8>
    %1 = reduce %bytes dim=0 identities=[-1 : i8] : tile<4xi8> -> tile<i8>
    (%a: tile<i8>, %b: tile<i8>) {
      %s = andi %a, %b : tile<i8>
      yield %s : tile<i8>
    }
    %flags = constant <i1: [true, false, true, true]> : tile<4xi1>
    %2 = reduce %flags dim=0 identities=[true] : tile<4xi1> -> tile<i1>
    (%a: tile<i1>, %b: tile<i1>) {
      %s = andi %a, %b : tile<i1>
      yield %s : tile<i1>
    }
    %h1 = reshape %h : tile<f16> -> tile<1xf16>
    %h4 = broadcast %h1 : tile<1xf16> -> tile<4xf16>
    %3 = reduce %h4 dim=0 identities=[0xFC00 : f16] : tile<4xf16> -> tile<f16>
    (%a: tile<f16>, %b: tile<f16>) {
      %s = maxf %a, %b : tile<f16>
      yield %s : tile<f16>
    }
    %d1 = reshape %d : tile<f64> -> tile<1xf64>
    %d4 = broadcast %d1 : tile<1xf64> -> tile<4xf64>
    %4 = reduce %d4 dim=0 identities=[0.0] : tile<4xf64> -> tile<f64>
    (%a: tile<f64>, %b: tile<f64>) {
      %s = addf %a, %b : tile<f64>
      yield %s : tile<f64>
    }
    %5 = reduce %d4 dim=0 identities=[0x7FF0000000000000 : f64] : tile<4xf64> -> tile<f64>
    (%a: tile<f64>, %b: tile<f64>) {
      %s = minf %a, %b : tile<f64>
      yield %s : tile<f64>
    }
  }

  // Running sums from both ends.
  entry @running(%out: tile<ptr<i32>>) {
    %row = iota : tile<8xi32>
    %0 = scan %row dim=0 reverse=false identities=[0 : i32] : tile<8xi32> -> tile<8xi32>
    (%a: tile<i32>, %b: tile<i32>) {
      %s = addi %a, %b : tile<i32>
      yield %s : tile<i32>
    }
    %1 = scan %row dim=0 reverse=true identities=[1 : i32] : tile<8xi32> -> tile<8xi32>
    (%a: tile<i32>, %b: tile<i32>) {
      %s = muli %a, %b : tile<i32>
      yield %s : tile<i32>
    }
    %2 = addi %0, %1 : tile<8xi32>
    %3 = reshape %out : tile<ptr<i32>> -> tile<1xptr<i32>>
    %4 = broadcast %3 : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %5 = offset %4, %row : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
    store_ptr_tko weak %5, %2 : tile<8xptr<i32>>, tile<8xi32> -> token
  }

  entry @pairs(%x: tile<f32>) {
    %row = iota : tile<8xi32>
    %x1 = reshape %x : tile<f32> -> tile<1xf32>
    %x8 = broadcast %x1 : tile<1xf32> -> tile<8xf32>
    %0:2 = scan %x8, %row dim=0 reverse=false identities=[0.0 : f32, 0 : i32]
        : tile<8xf32>, tile<8xi32> -> tile<8xf32>, tile<8xi32>
    (%a: tile<f32>, %b: tile<f32>, %i: tile<i32>, %j: tile<i32>) {
      %s = addf %a, %b : tile<f32>
      %k = addi %i, %j : tile<i32>
      yield %s, %k : tile<f32>, tile<i32>
    }
    %1 = negi %0#1 : tile<8xi32>
  }
}
