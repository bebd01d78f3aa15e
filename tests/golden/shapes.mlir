// Operations on the shape of tiles.
cuda_tile.module @shapes {
  entry @reshaping(%x: tile<f32>, %p: tile<ptr<f64>>) {
    %0 = reshape %x : tile<f32> -> tile<1x1xf32>
    %1 = broadcast %0 : tile<1x1xf32> -> tile<4x8xf32>
    %2 = broadcast %0 : tile<1x1xf32> -> tile<1x1xf32>
    %3 = reshape %1 : tile<4x8xf32> -> tile<32xf32>
    %4 = reshape %3 : tile<32xf32> -> tile<2x4x4xf32>
    %5 = reshape %p : tile<ptr<f64>> -> tile<1xptr<f64>>
    %6 = broadcast %5 : tile<1xptr<f64>> -> tile<16xptr<f64>>
    %7 = reshape %2 : tile<1x1xf32> -> tile<f32>
  }

  entry @joining() {
    %row = iota : tile<4xi32>
    %rows = reshape %row : tile<4xi32> -> tile<2x2xi32>
    %0 = cat %row, %row dim = 0 : tile<4xi32>, tile<4xi32> -> tile<8xi32>
    %1 = cat %rows, %rows dim = 1 : tile<2x2xi32>, tile<2x2xi32> -> tile<2x4xi32>
    %2 = permute %1 [1, 0] : tile<2x4xi32> -> tile<4x2xi32>
    %3 = reshape %0 : tile<8xi32> -> tile<2x2x2xi32>
    %4 = permute %3 [2, 0, 1] : tile<2x2x2xi32> -> tile<2x2x2xi32>
  }

  entry @cutting(%i: tile<i32>, %j: tile<i32>) {
    %row = iota : tile<32xi16>
    %grid = reshape %row : tile<32xi16> -> tile<4x8xi16>
    %0 = extract %grid[%i, %j] : tile<4x8xi16> -> tile<2x4xi16>
    %1 = extract %row[%i] : tile<32xi16> -> tile<8xi16>
    %2 = extract %i[] : tile<i32> -> tile<i32>
    %true = constant <i1: true> : tile<i1>
    %3 = select %true, %i, %j : tile<i1>, tile<i32>
  }
}
