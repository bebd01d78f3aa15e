// C = A * B for large square matrices, block by block, with pointer arithmetic only.
//
// Tile block (x, y) computes rows 64x ... 64x+63 and columns 64y ... 64y+63 of C. It walks along the inner dimension
// in steps of 64 and adds the product of one tile of A and one tile of B at each step.
//
// A and C are row-major. B is column-major, that is, the array given for it holds B transposed. `size` is the number
// of rows and columns of all three and a multiple of 64.
//
//   tileir run examples/gemm_blocked.mlir --grid 4,4 a=f32[256,256]:randn b=f32[256,256]:randn c=f32[256,256]:zeros size=i32:256
//
// This is the corrected form of a listing for 4096 x 4096 matrices that introductions to Tile IR print. As printed,
// that listing parses and verifies, but it cannot give a product. What is wrong in it, in the order of its text:
//
//   1. The stride factor is 64, the extent of a tile. It must be the leading dimension of the matrices, 4096.
//   2. The k offsets of A are multiplied by the stride. k is A's unit-stride dimension, so they must not be.
//   3. The two halves of B's offsets are multiplied with each other; addresses are sums.
//   4. The step of the loop is its start, 0: undefined, and in practice a loop without end. It must be 1.
//   5. The loads use the pointers computed before the loop instead of the ones carried by it, so every step would
//      read the first tiles again.
//   6. The columns of C start at block x times 64; it must be block y.
//   7. The column offsets of C are multiplied by the stride. C is row-major, so they must not be.
//   8. The two halves of C's offsets are multiplied with each other instead of added.

cuda_tile.module @gemm {
  entry @gemm_blocked(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>, %size: tile<i32>) {
    %block_x, %block_y, %block_z = get_tile_block_id : tile<i32>
    %extent = constant <i32: 64> : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %steps = divi %size, %extent signed : tile<i32>

    // The rows of A and C, and the columns of B and C, that this block works on.
    %numbers = iota : tile<64xi32>
    %row_first = muli %block_x, %extent : tile<i32>
    %row_first_1 = reshape %row_first : tile<i32> -> tile<1xi32>
    %row_firsts = broadcast %row_first_1 : tile<1xi32> -> tile<64xi32>
    %row = addi %row_firsts, %numbers : tile<64xi32>
    %column_first = muli %block_y, %extent : tile<i32>
    %column_first_1 = reshape %column_first : tile<i32> -> tile<1xi32>
    %column_firsts = broadcast %column_first_1 : tile<1xi32> -> tile<64xi32>
    %column = addi %column_firsts, %numbers : tile<64xi32>

    // The leading dimension of all three matrices is `size` (slip 1).
    %size_1x1 = reshape %size : tile<i32> -> tile<1x1xi32>
    %stride = broadcast %size_1x1 : tile<1x1xi32> -> tile<64x64xi32>

    // A[m, k] lies at m * size + k: rows scaled, k not (slip 2).
    %row_64x1 = reshape %row : tile<64xi32> -> tile<64x1xi32>
    %rows = broadcast %row_64x1 : tile<64x1xi32> -> tile<64x64xi32>
    %rows_scaled = muli %rows, %stride : tile<64x64xi32>
    %k_1x64 = reshape %numbers : tile<64xi32> -> tile<1x64xi32>
    %k_along = broadcast %k_1x64 : tile<1x64xi32> -> tile<64x64xi32>
    %a_offsets = addi %rows_scaled, %k_along : tile<64x64xi32>

    // B[k, n] lies at n * size + k, because B is column-major; the halves are added (slip 3).
    %column_1x64 = reshape %column : tile<64xi32> -> tile<1x64xi32>
    %columns = broadcast %column_1x64 : tile<1x64xi32> -> tile<64x64xi32>
    %columns_scaled = muli %columns, %stride : tile<64x64xi32>
    %k_64x1 = reshape %numbers : tile<64xi32> -> tile<64x1xi32>
    %k_down = broadcast %k_64x1 : tile<64x1xi32> -> tile<64x64xi32>
    %b_offsets = addi %columns_scaled, %k_down : tile<64x64xi32>

    // C[m, n] lies at m * size + n: columns of block y (slip 6), not scaled (slip 7), added (slip 8).
    %c_offsets = addi %rows_scaled, %columns : tile<64x64xi32>

    %a_1x1 = reshape %a : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %a_all = broadcast %a_1x1 : tile<1x1xptr<f32>> -> tile<64x64xptr<f32>>
    %a_start = offset %a_all, %a_offsets : tile<64x64xptr<f32>>, tile<64x64xi32> -> tile<64x64xptr<f32>>
    %b_1x1 = reshape %b : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %b_all = broadcast %b_1x1 : tile<1x1xptr<f32>> -> tile<64x64xptr<f32>>
    %b_start = offset %b_all, %b_offsets : tile<64x64xptr<f32>>, tile<64x64xi32> -> tile<64x64xptr<f32>>
    %c_1x1 = reshape %c : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %c_all = broadcast %c_1x1 : tile<1x1xptr<f32>> -> tile<64x64xptr<f32>>
    %c_at = offset %c_all, %c_offsets : tile<64x64xptr<f32>>, tile<64x64xi32> -> tile<64x64xptr<f32>>

    // Both matrices have unit stride along k, so both tiles of pointers move on by 64 elements a step.
    %advance = constant <i32: 64> : tile<64x64xi32>
    %zeros = constant <f32: 0.0> : tile<64x64xf32>
    %sum, %a_end, %b_end = for %step in (%zero to %steps, step %one) : tile<i32>
        iter_values(%partial = %zeros, %a_at = %a_start, %b_at = %b_start)
        -> (tile<64x64xf32>, tile<64x64xptr<f32>>, tile<64x64xptr<f32>>) {
      // The carried pointers, not the ones from before the loop (slip 5); the loop counts by one (slip 4).
      %a_tile, %a_read = load_ptr_tko weak %a_at : tile<64x64xptr<f32>> -> tile<64x64xf32>, token
      %b_tile, %b_read = load_ptr_tko weak %b_at : tile<64x64xptr<f32>> -> tile<64x64xf32>, token
      %next = mmaf %a_tile, %b_tile, %partial : tile<64x64xf32>, tile<64x64xf32>, tile<64x64xf32>
      %a_next = offset %a_at, %advance : tile<64x64xptr<f32>>, tile<64x64xi32> -> tile<64x64xptr<f32>>
      %b_next = offset %b_at, %advance : tile<64x64xptr<f32>>, tile<64x64xi32> -> tile<64x64xptr<f32>>
      continue %next, %a_next, %b_next : tile<64x64xf32>, tile<64x64xptr<f32>>, tile<64x64xptr<f32>>
    }
    %written = store_ptr_tko weak %c_at, %sum : tile<64x64xptr<f32>>, tile<64x64xf32> -> token
  }
}
