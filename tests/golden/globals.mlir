// Globals: visibility, constness, alignment.
cuda_tile.module @globals {
  global @plain <f32: [0.5, 1.0, 2.0, 3.0]> : tile<4xf32>
  global public @shown alignment = 16 <i32: 7> : tile<8xi32>
  global constant @fixed <i8: [1, 2, 3, 4]> : tile<4xi8>
  global private @hidden <f16: 0.0> : tile<2xf16>
  global private constant @both alignment = 128 <i64: -1> : tile<2xi64>
  global @flags alignment = 0 <i1: [true, false]> : tile<2xi1>
  global @one <f64: [0x7FF8000000000000]> : tile<1xf64>

  // Reads one element of a table and adds it to the first element of another.
  entry @lookup(%i: tile<i32>, %out: tile<ptr<f32>>) {
    %0 = get_global @plain : tile<ptr<f32>>
    %1 = offset %0, %i : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %x, %t = load_ptr_tko weak %1 : tile<ptr<f32>> -> tile<f32>, token
    store_ptr_tko weak %out, %x token=%t : tile<ptr<f32>>, tile<f32> -> token
    %2 = get_global @flags : tile<ptr<i1>>
    %3 = get_global @both : tile<ptr<i64>>
  }
}
