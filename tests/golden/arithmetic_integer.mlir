// Integer and bitwise arithmetic: overflow promises, signedness, rounding of quotients, every width.
cuda_tile.module @integers {
  entry @promises(%a: tile<i32>, %b: tile<i32>) {
    %0 = addi %a, %b : tile<i32>
    %1 = addi %a, %b overflow<none> : tile<i32>
    %2 = addi %a, %b overflow<no_signed_wrap> : tile<i32>
    %3 = subi %a, %b overflow<no_unsigned_wrap> : tile<i32>
    %4 = muli %a, %b overflow<no_wrap> : tile<i32>
    %5 = shli %a, %b overflow<no_signed_wrap> : tile<i32>
    %6 = negi %a overflow<no_signed_wrap> : tile<i32>
    %7 = negi %a : tile<i32>
    %8 = subi %a, %b : tile<i32>
    %9 = muli %a, %b : tile<i32>
    %10 = shli %a, %b : tile<i32>
  }

  entry @readings(%a: tile<i64>, %b: tile<i64>) {
    %0 = divi %a, %b signed : tile<i64>
    %1 = divi %a, %b unsigned rounding<zero> : tile<i64>
    %2 = divi %a, %b signed rounding<negative_inf> : tile<i64>
    %3 = divi %a, %b unsigned rounding<positive_inf> : tile<i64>
    %4 = remi %a, %b signed : tile<i64>
    %5 = remi %a, %b unsigned : tile<i64>
    %6 = maxi %a, %b signed : tile<i64>
    %7 = mini %a, %b unsigned : tile<i64>
    %8 = shri %a, %b signed : tile<i64>
    %9 = shri %a, %b unsigned : tile<i64>
    %10 = mulhii %a, %b : tile<i64>
    %11 = absi %a : tile<i64>
  }

  entry @bits(%flag: tile<i1>, %byte: tile<i8>, %short: tile<i16>) {
    %0 = andi %flag, %flag : tile<i1>
    %1 = ori %byte, %byte : tile<i8>
    %2 = xori %short, %short : tile<i16>
    %3 = absi %byte : tile<i8>
    %4 = maxi %flag, %0 unsigned : tile<i1>
    %5 = mulhii %short, %2 : tile<i16>
  }

  entry @comparisons(%a: tile<i32>, %b: tile<i32>) {
    %0 = cmpi equal %a, %b, signed : tile<i32> -> tile<i1>
    %1 = cmpi not_equal %a, %b, unsigned : tile<i32> -> tile<i1>
    %2 = cmpi less_than %a, %b, signed : tile<i32> -> tile<i1>
    %3 = cmpi less_than_or_equal %a, %b, unsigned : tile<i32> -> tile<i1>
    %4 = cmpi greater_than %a, %b, signed : tile<i32> -> tile<i1>
    %5 = cmpi greater_than_or_equal %a, %b, unsigned : tile<i32> -> tile<i1>
    %row = iota : tile<16xi32>
    %6 = cmpi less_than %row, %row, unsigned : tile<16xi32> -> tile<16xi1>
    %7 = select %6, %row, %row : tile<16xi1>, tile<16xi32>
    %8 = select %5, %a, %b : tile<i1>, tile<i32>
  }

  // Adds two arrays of 16 numbers modulo 2^32.
  entry @sum(%a: tile<ptr<i32>>, %b: tile<ptr<i32>>, %c: tile<ptr<i32>>) {
    %lane = iota : tile<16xi32>
    %ra = reshape %a : tile<ptr<i32>> -> tile<1xptr<i32>>
    %rb = reshape %b : tile<ptr<i32>> -> tile<1xptr<i32>>
    %rc = reshape %c : tile<ptr<i32>> -> tile<1xptr<i32>>
    %ba = broadcast %ra : tile<1xptr<i32>> -> tile<16xptr<i32>>
    %bb = broadcast %rb : tile<1xptr<i32>> -> tile<16xptr<i32>>
    %bc = broadcast %rc : tile<1xptr<i32>> -> tile<16xptr<i32>>
    %pa = offset %ba, %lane : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
    %pb = offset %bb, %lane : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
    %pc = offset %bc, %lane : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
    %x, %t0 = load_ptr_tko weak %pa : tile<16xptr<i32>> -> tile<16xi32>, token
    %y, %t1 = load_ptr_tko weak %pb : tile<16xptr<i32>> -> tile<16xi32>, token
    %s = addi %x, %y : tile<16xi32>
    store_ptr_tko weak %pc, %s : tile<16xptr<i32>>, tile<16xi32> -> token
  }
}
