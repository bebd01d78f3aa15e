// C = A * B with f16 inputs and f32 sums by pointers: the example gemm_kloop with what a front end knows beside: that
// indices do not wrap around, strides are positive and pointers aligned.
cuda_tile.module @gemm {
  entry @gemm_kloop_kernel(%A_given: tile<ptr<f16>>, %B_given: tile<ptr<f16>>, %C_given: tile<ptr<f32>>,
                           %M: tile<i32>, %N: tile<i32>, %K_given: tile<i32>,
                           %stride_a_given: tile<i32>, %stride_b_given: tile<i32>, %stride_c_given: tile<i32>) {
    %A = assume div_by<16>, %A_given : tile<ptr<f16>>
    %B = assume div_by<16>, %B_given : tile<ptr<f16>>
    %C = assume div_by<16>, %C_given : tile<ptr<f32>>
    %stride_a_8 = assume div_by<8>, %stride_a_given : tile<i32>
    %stride_a = assume bounded<1, ?>, %stride_a_8 : tile<i32>
    %stride_b_8 = assume div_by<8>, %stride_b_given : tile<i32>
    %stride_b = assume bounded<1, ?>, %stride_b_8 : tile<i32>
    %stride_c_8 = assume div_by<8>, %stride_c_given : tile<i32>
    %stride_c = assume bounded<1, ?>, %stride_c_8 : tile<i32>
    %K = assume bounded<1, ?>, %K_given : tile<i32>
    %block_x, %block_y, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %extent = constant <i32: 128> : tile<i32>
    %k_extent = constant <i32: 64> : tile<i32>
    // Rounded up, so that the last step may stick out of the matrices.
    %steps = divi %K, %k_extent signed rounding<positive_inf> : tile<i32>

    // Rows as a column of 128 numbers, columns and k as rows, so that broadcasting combines them.
    %numbers = iota : tile<128xi32>
    %numbers_down = reshape %numbers : tile<128xi32> -> tile<128x1xi32>
    %numbers_along = reshape %numbers : tile<128xi32> -> tile<1x128xi32>
    %row_first = muli %block_x, %extent overflow<no_signed_wrap> : tile<i32>
    %row_first_1x1 = reshape %row_first : tile<i32> -> tile<1x1xi32>
    %row_firsts = broadcast %row_first_1x1 : tile<1x1xi32> -> tile<128x1xi32>
    %row = addi %row_firsts, %numbers_down overflow<no_signed_wrap> : tile<128x1xi32>
    %column_first = muli %block_y, %extent overflow<no_signed_wrap> : tile<i32>
    %column_first_1x1 = reshape %column_first : tile<i32> -> tile<1x1xi32>
    %column_firsts = broadcast %column_first_1x1 : tile<1x1xi32> -> tile<1x128xi32>
    %column = addi %column_firsts, %numbers_along overflow<no_signed_wrap> : tile<1x128xi32>
    %k_numbers = iota : tile<64xi32>
    %k_along = reshape %k_numbers : tile<64xi32> -> tile<1x64xi32>
    %k_down = reshape %k_numbers : tile<64xi32> -> tile<64x1xi32>

    // Which rows lie inside A and C, and which columns inside B and C.
    %M_1x1 = reshape %M : tile<i32> -> tile<1x1xi32>
    %M_down = broadcast %M_1x1 : tile<1x1xi32> -> tile<128x1xi32>
    %row_inside = cmpi less_than %row, %M_down, signed : tile<128x1xi32> -> tile<128x1xi1>
    %N_1x1 = reshape %N : tile<i32> -> tile<1x1xi32>
    %N_along = broadcast %N_1x1 : tile<1x1xi32> -> tile<1x128xi32>
    %column_inside = cmpi less_than %column, %N_along, signed : tile<1x128xi32> -> tile<1x128xi1>
    %a_row_inside = broadcast %row_inside : tile<128x1xi1> -> tile<128x64xi1>
    %b_column_inside = broadcast %column_inside : tile<1x128xi1> -> tile<64x128xi1>

    // The first tile of pointers into A: A + row * stride_a + k.
    %stride_a_1x1 = reshape %stride_a : tile<i32> -> tile<1x1xi32>
    %stride_a_down = broadcast %stride_a_1x1 : tile<1x1xi32> -> tile<128x1xi32>
    %a_row = muli %row, %stride_a_down overflow<no_signed_wrap> : tile<128x1xi32>
    %a_rows = broadcast %a_row : tile<128x1xi32> -> tile<128x64xi32>
    %a_ks = broadcast %k_along : tile<1x64xi32> -> tile<128x64xi32>
    %a_offsets = addi %a_rows, %a_ks overflow<no_signed_wrap> : tile<128x64xi32>
    %A_1x1 = reshape %A : tile<ptr<f16>> -> tile<1x1xptr<f16>>
    %A_all = broadcast %A_1x1 : tile<1x1xptr<f16>> -> tile<128x64xptr<f16>>
    %a_start = offset %A_all, %a_offsets : tile<128x64xptr<f16>>, tile<128x64xi32> -> tile<128x64xptr<f16>>

    // The first tile of pointers into B: B + k * stride_b + column.
    %stride_b_1x1 = reshape %stride_b : tile<i32> -> tile<1x1xi32>
    %stride_b_down = broadcast %stride_b_1x1 : tile<1x1xi32> -> tile<64x1xi32>
    %b_k = muli %k_down, %stride_b_down overflow<no_signed_wrap> : tile<64x1xi32>
    %b_ks = broadcast %b_k : tile<64x1xi32> -> tile<64x128xi32>
    %b_columns = broadcast %column : tile<1x128xi32> -> tile<64x128xi32>
    %b_offsets = addi %b_ks, %b_columns overflow<no_signed_wrap> : tile<64x128xi32>
    %B_1x1 = reshape %B : tile<ptr<f16>> -> tile<1x1xptr<f16>>
    %B_all = broadcast %B_1x1 : tile<1x1xptr<f16>> -> tile<64x128xptr<f16>>
    %b_start = offset %B_all, %b_offsets : tile<64x128xptr<f16>>, tile<64x128xi32> -> tile<64x128xptr<f16>>

    // A step moves A's pointers 64 columns to the right and B's 64 rows down.
    %a_advance = constant <i32: 64> : tile<128x64xi32>
    %b_advance_0 = muli %stride_b, %k_extent overflow<no_signed_wrap> : tile<i32>
    %b_advance_1x1 = reshape %b_advance_0 : tile<i32> -> tile<1x1xi32>
    %b_advance = broadcast %b_advance_1x1 : tile<1x1xi32> -> tile<64x128xi32>

    %a_padding = constant <f16: 0.0> : tile<128x64xf16>
    %b_padding = constant <f16: 0.0> : tile<64x128xf16>
    %zeros = constant <f32: 0.0> : tile<128x128xf32>
    %sum, %a_end, %b_end = for %step in (%zero to %steps, step %one) : tile<i32>
        iter_values(%partial = %zeros, %a_at = %a_start, %b_at = %b_start)
        -> (tile<128x128xf32>, tile<128x64xptr<f16>>, tile<64x128xptr<f16>>) {
      // How many of the 64 values of k are left: the lanes from there on read as zero.
      %k_done = muli %step, %k_extent overflow<no_signed_wrap> : tile<i32>
      %k_left = subi %K, %k_done overflow<no_signed_wrap> : tile<i32>
      %k_left_1x1 = reshape %k_left : tile<i32> -> tile<1x1xi32>
      %k_left_along = broadcast %k_left_1x1 : tile<1x1xi32> -> tile<1x64xi32>
      %k_left_down = broadcast %k_left_1x1 : tile<1x1xi32> -> tile<64x1xi32>
      %a_k_inside_1 = cmpi less_than %k_along, %k_left_along, signed : tile<1x64xi32> -> tile<1x64xi1>
      %b_k_inside_1 = cmpi less_than %k_down, %k_left_down, signed : tile<64x1xi32> -> tile<64x1xi1>
      %a_k_inside = broadcast %a_k_inside_1 : tile<1x64xi1> -> tile<128x64xi1>
      %b_k_inside = broadcast %b_k_inside_1 : tile<64x1xi1> -> tile<64x128xi1>
      %a_mask = andi %a_row_inside, %a_k_inside : tile<128x64xi1>
      %b_mask = andi %b_k_inside, %b_column_inside : tile<64x128xi1>

      %a_tile, %a_read = load_ptr_tko weak %a_at, %a_mask, %a_padding
        : tile<128x64xptr<f16>>, tile<128x64xi1>, tile<128x64xf16> -> tile<128x64xf16>, token
      %b_tile, %b_read = load_ptr_tko weak %b_at, %b_mask, %b_padding
        : tile<64x128xptr<f16>>, tile<64x128xi1>, tile<64x128xf16> -> tile<64x128xf16>, token
      // The inputs are f16, the products and their sum f32.
      %next = mmaf %a_tile, %b_tile, %partial : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
      %a_next = offset %a_at, %a_advance : tile<128x64xptr<f16>>, tile<128x64xi32> -> tile<128x64xptr<f16>>
      %b_next = offset %b_at, %b_advance : tile<64x128xptr<f16>>, tile<64x128xi32> -> tile<64x128xptr<f16>>
      continue %next, %a_next, %b_next : tile<128x128xf32>, tile<128x64xptr<f16>>, tile<64x128xptr<f16>>
    }

    // C + row * stride_c + column, where both lie inside.
    %stride_c_1x1 = reshape %stride_c : tile<i32> -> tile<1x1xi32>
    %stride_c_down = broadcast %stride_c_1x1 : tile<1x1xi32> -> tile<128x1xi32>
    %c_row = muli %row, %stride_c_down overflow<no_signed_wrap> : tile<128x1xi32>
    %c_rows = broadcast %c_row : tile<128x1xi32> -> tile<128x128xi32>
    %c_columns = broadcast %column : tile<1x128xi32> -> tile<128x128xi32>
    %c_offsets = addi %c_rows, %c_columns overflow<no_signed_wrap> : tile<128x128xi32>
    %C_1x1 = reshape %C : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %C_all = broadcast %C_1x1 : tile<1x1xptr<f32>> -> tile<128x128xptr<f32>>
    %c_at = offset %C_all, %c_offsets : tile<128x128xptr<f32>>, tile<128x128xi32> -> tile<128x128xptr<f32>>
    %c_row_inside = broadcast %row_inside : tile<128x1xi1> -> tile<128x128xi1>
    %c_column_inside = broadcast %column_inside : tile<1x128xi1> -> tile<128x128xi1>
    %c_mask = andi %c_row_inside, %c_column_inside : tile<128x128xi1>
    %written = store_ptr_tko weak %c_at, %sum, %c_mask
      : tile<128x128xptr<f32>>, tile<128x128xf32>, tile<128x128xi1> -> token
  }
}
