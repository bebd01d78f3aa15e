// Constants of every element type, and how their numbers are spelled.
cuda_tile.module @constants {
  entry @integers() {
    %0 = constant <i1: true> : tile<i1>
    %1 = constant <i1: 0> : tile<4xi1>
    %2 = constant <i1: [true, false, 1, -1]> : tile<4xi1>
    %3 = constant <i8: -128> : tile<i8>
    %4 = constant <i8: 255> : tile<i8>
    %5 = constant <i8: [0, 127, 0x80, -1]> : tile<4xi8>
    %6 = constant <i16: 65535> : tile<i16>
    %7 = constant <i32: 0> : tile<i32>
    %8 = constant <i32: 0> : tile<i32>
    %9 = constant <i32: -5> : tile<2x2xi32>
    %10 = constant <i32: 4294967295> : tile<i32>
    %11 = constant <i32: [[1, 2], [3, 4]]> : tile<2x2xi32>
    %12 = constant <i32: [[[7]]]> : tile<1x1x1xi32>
    %13 = constant <i64: 9223372036854775807> : tile<i64>
    %14 = constant <i64: -9223372036854775808> : tile<i64>
    %15 = constant <i32: [6, 6, 6, 6]> : tile<4xi32>
  }

  entry @singles() {
    %0 = constant <f32: 1.5> : tile<f32>
    %1 = constant <f32: 0.1> : tile<f32>
    %2 = constant <f32: 1.0e30> : tile<f32>
    %3 = constant <f32: 2.0> : tile<f32>
    %4 = constant <f32: -2.0> : tile<f32>
    %5 = constant <f32: 0.0> : tile<f32>
    %6 = constant <f32: -0.0> : tile<f32>
    %7 = constant <f32: 3.14159265358979> : tile<f32>
    %8 = constant <f32: 0.333333333333> : tile<f32>
    %9 = constant <f32: 1.0e22> : tile<f32>
    %10 = constant <f32: 1234.5678> : tile<f32>
    %11 = constant <f32: 1234567.0> : tile<f32>
    %12 = constant <f32: 16777216.0> : tile<f32>
    %13 = constant <f32: 1234567890.0> : tile<f32>
    %14 = constant <f32: 0x7F800000> : tile<f32>
    %15 = constant <f32: 0xFF800000> : tile<f32>
    %16 = constant <f32: 0x7FC00000> : tile<f32>
    %17 = constant <f32: 0x7F800001> : tile<f32>
    %18 = constant <f32: 0x00000001> : tile<f32>
    %19 = constant <f32: 1.0e-40> : tile<f32>
    %20 = constant <f32: 3.4028234663852886e38> : tile<f32>
    %21 = constant <f32: 0.00012345678> : tile<f32>
    %22 = constant <f32: 0.0012345678> : tile<f32>
    %23 = constant <f32: [1.0, -1.0, 0.5, 0x7F800000]> : tile<4xf32>
    %24 = constant <f32: 1.0e39> : tile<f32>
  }

  entry @doubles() {
    %0 = constant <f64: 0.1> : tile<f64>
    %1 = constant <f64: 0.30000000000000004> : tile<f64>
    %2 = constant <f64: 123456789.125> : tile<f64>
    %3 = constant <f64: 16777217.0> : tile<f64>
    %4 = constant <f64: 4.9406564584124654e-324> : tile<f64>
    %5 = constant <f64: 1.7976931348623157e308> : tile<f64>
    %6 = constant <f64: 0x7FF0000000000000> : tile<f64>
    %7 = constant <f64: 0xFFF8000000000000> : tile<f64>
    %8 = constant <f64: 2.2250738585072014e-308> : tile<f64>
    %9 = constant <f64: 18446744073709551616.0> : tile<f64>
    %10 = constant <f64: 9223372036854775808.0> : tile<f64>
  }

  entry @halves() {
    %0 = constant <f16: 1.1> : tile<f16>
    %1 = constant <f16: 65504.0> : tile<f16>
    %2 = constant <f16: 65520.0> : tile<f16>
    %3 = constant <f16: 0x0001> : tile<f16>
    %4 = constant <f16: 0x7C00> : tile<f16>
    %5 = constant <f16: 0xFE00> : tile<f16>
    %6 = constant <bf16: 1.1> : tile<bf16>
    %7 = constant <bf16: 0x7F80> : tile<bf16>
    %8 = constant <bf16: 3.0e38> : tile<bf16>
    %9 = constant <bf16: [0.5, -0.5]> : tile<2xbf16>
    %10 = constant <tf32: 1.5> : tile<tf32>
    %11 = constant <tf32: 0.1> : tile<tf32>
    %12 = constant <tf32: 0x3FC00> : tile<tf32>
    %13 = constant <tf32: [1.0, -3.0]> : tile<2xtf32>
  }

  entry @bytes() {
    %0 = constant <f8E4M3FN: 448.0> : tile<f8E4M3FN>
    %1 = constant <f8E4M3FN: 0.1> : tile<f8E4M3FN>
    %2 = constant <f8E4M3FN: 0x7F> : tile<f8E4M3FN>
    %3 = constant <f8E4M3FN: 1000.0> : tile<f8E4M3FN>
    %4 = constant <f8E5M2: 57344.0> : tile<f8E5M2>
    %5 = constant <f8E5M2: 0x7C> : tile<f8E5M2>
    %6 = constant <f8E5M2: 0x7F> : tile<f8E5M2>
    %7 = constant <f8E5M2: 100000.0> : tile<f8E5M2>
    %8 = constant <f8E8M0FNU: 1.0> : tile<f8E8M0FNU>
    %9 = constant <f8E8M0FNU: 0xFF> : tile<f8E8M0FNU>
    %10 = constant <f8E8M0FNU: 0.0> : tile<f8E8M0FNU>
    %11 = constant <f8E8M0FNU: 0.3> : tile<f8E8M0FNU>
    %12 = constant <f4E2M1FN: 6.0> : tile<2xf4E2M1FN>
    %13 = constant <f4E2M1FN: [0.5, -1.5, 100.0, 0.0]> : tile<4xf4E2M1FN>
  }
}
