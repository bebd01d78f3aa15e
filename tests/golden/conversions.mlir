// Conversions between every kind of element, with the modes that 13.3 allows.
cuda_tile.module @conversions {
  entry @integers(%byte: tile<i8>, %word: tile<i32>, %flag: tile<i1>) {
    %0 = exti %byte signed : tile<i8> -> tile<i32>
    %1 = exti %byte unsigned : tile<i8> -> tile<i64>
    %2 = exti %flag signed : tile<i1> -> tile<i16>
    %3 = trunci %word : tile<i32> -> tile<i8>
    %4 = trunci %word overflow<no_signed_wrap> : tile<i32> -> tile<i16>
    %5 = trunci %word overflow<no_unsigned_wrap> : tile<i32> -> tile<i1>
    %6 = trunci %word overflow<no_wrap> : tile<i32> -> tile<i8>
  }

  entry @four_bits(%byte: tile<i8>) {
    %wide = reshape %byte : tile<i8> -> tile<1xi8>
    %pair = broadcast %wide : tile<1xi8> -> tile<4xi8>
    %0 = trunci %pair : tile<4xi8> -> tile<4xi4>
    %1 = exti %0 signed : tile<4xi4> -> tile<4xi32>
    %2 = exti %0 unsigned : tile<4xi4> -> tile<4xi8>
    %3 = unpack %pair : tile<4xi8> -> tile<8xi4>
    %4 = pack %3 : tile<8xi4> -> tile<4xi8>
  }

  entry @floats(%s: tile<f32>, %d: tile<f64>, %h: tile<f16>, %b: tile<bf16>) {
    %0 = ftof %s : tile<f32> -> tile<f64>
    %1 = ftof %d : tile<f64> -> tile<f32>
    %2 = ftof %s rounding<nearest_even> : tile<f32> -> tile<f16>
    %3 = ftof %h : tile<f16> -> tile<bf16>
    %4 = ftof %s : tile<f32> -> tile<tf32>
    %5 = ftof %4 : tile<tf32> -> tile<f32>
    %6 = ftof %s : tile<f32> -> tile<f8E4M3FN>
    %7 = ftof %b : tile<bf16> -> tile<f8E5M2>
    %8 = ftof %s rounding<zero> : tile<f32> -> tile<f8E8M0FNU>
    %9 = ftof %s rounding<positive_inf> : tile<f32> -> tile<f8E8M0FNU>
    %10 = ftof %9 : tile<f8E8M0FNU> -> tile<f32>
    %11 = reshape %s : tile<f32> -> tile<1xf32>
    %12 = broadcast %11 : tile<1xf32> -> tile<8xf32>
    %13 = ftof %12 : tile<8xf32> -> tile<8xf4E2M1FN>
    %14 = ftof %13 : tile<8xf4E2M1FN> -> tile<8xf16>
    %15 = pack %13 : tile<8xf4E2M1FN> -> tile<4xi8>
    %16 = unpack %15 : tile<4xi8> -> tile<8xf4E2M1FN>
  }

  entry @mixed(%s: tile<f32>, %h: tile<f16>, %word: tile<i32>, %long: tile<i64>, %flag: tile<i1>) {
    %0 = ftoi %s signed : tile<f32> -> tile<i32>
    %1 = ftoi %s unsigned rounding<nearest_int_to_zero> : tile<f32> -> tile<i64>
    %2 = ftoi %h signed : tile<f16> -> tile<i8>
    %3 = itof %word signed : tile<i32> -> tile<f32>
    %4 = itof %long unsigned rounding<nearest_even> : tile<i64> -> tile<f16>
    %5 = itof %flag unsigned : tile<i1> -> tile<bf16>
    %6 = itof %word signed : tile<i32> -> tile<f64>
  }

  entry @bits(%s: tile<f32>, %h: tile<f16>, %word: tile<i32>, %long: tile<i64>, %byte: tile<i8>) {
    %0 = bitcast %s : tile<f32> -> tile<i32>
    %1 = bitcast %word : tile<i32> -> tile<f32>
    %2 = bitcast %h : tile<f16> -> tile<bf16>
    %3 = bitcast %long : tile<i64> -> tile<f64>
    %4 = bitcast %byte : tile<i8> -> tile<f8E4M3FN>
    %5 = bitcast %4 : tile<f8E4M3FN> -> tile<f8E5M2>
    %6 = bitcast %5 : tile<f8E5M2> -> tile<f8E8M0FNU>
    %7 = iota : tile<8xi16>
    %8 = pack %7 : tile<8xi16> -> tile<16xi8>
    %9 = unpack %8 : tile<16xi8> -> tile<4xf32>
    %10 = unpack %8 : tile<16xi8> -> tile<128xi1>
    %11 = pack %10 : tile<128xi1> -> tile<16xi8>
  }

  entry @pointers(%p: tile<ptr<f32>>, %q: tile<ptr<i8>>) {
    %0 = ptr_to_int %p : tile<ptr<f32>> -> tile<i64>
    %1 = int_to_ptr %0 : tile<i64> -> tile<ptr<f16>>
    %2 = ptr_to_ptr %q : tile<ptr<i8>> -> tile<ptr<bf16>>
    %3 = ptr_to_ptr %p : tile<ptr<f32>> -> tile<ptr<f64>>
  }
}
