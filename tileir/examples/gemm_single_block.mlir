// C = A * B for 64 x 64 matrices of f32, in a single tile block.
//
// The whole of each matrix is one tile. The only work is to make the tile of addresses: element (i, j) of a row-major
// matrix lies 64 * i + j elements after its start.
//
//   tileir run examples/gemm_single_block.mlir --grid 1 a=f32[64,64]:randn b=f32[64,64]:randn c=f32[64,64]:zeros

cuda_tile.module @gemm {
  entry @gemm_single_block(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>) {
    // offsets[i, j] = 64 * i + j. A reshape of 0, 1, ..., 4095 is exactly that.
    %numbers = iota : tile<4096xi32>
    %offsets = reshape %numbers : tile<4096xi32> -> tile<64x64xi32>

    %a_1x1 = reshape %a : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %a_all = broadcast %a_1x1 : tile<1x1xptr<f32>> -> tile<64x64xptr<f32>>
    %a_at = offset %a_all, %offsets : tile<64x64xptr<f32>>, tile<64x64xi32> -> tile<64x64xptr<f32>>
    %b_1x1 = reshape %b : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %b_all = broadcast %b_1x1 : tile<1x1xptr<f32>> -> tile<64x64xptr<f32>>
    %b_at = offset %b_all, %offsets : tile<64x64xptr<f32>>, tile<64x64xi32> -> tile<64x64xptr<f32>>
    %c_1x1 = reshape %c : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %c_all = broadcast %c_1x1 : tile<1x1xptr<f32>> -> tile<64x64xptr<f32>>
    %c_at = offset %c_all, %offsets : tile<64x64xptr<f32>>, tile<64x64xi32> -> tile<64x64xptr<f32>>

    %a_tile, %a_read = load_ptr_tko weak %a_at : tile<64x64xptr<f32>> -> tile<64x64xf32>, token
    %b_tile, %b_read = load_ptr_tko weak %b_at : tile<64x64xptr<f32>> -> tile<64x64xf32>, token

    // mmaf multiplies two matrices and adds a third, here zeros.
    %zeros = constant <f32: 0.0> : tile<64x64xf32>
    %product = mmaf %a_tile, %b_tile, %zeros : tile<64x64xf32>, tile<64x64xf32>, tile<64x64xf32>
    %written = store_ptr_tko weak %c_at, %product : tile<64x64xptr<f32>>, tile<64x64xf32> -> token
  }
}
