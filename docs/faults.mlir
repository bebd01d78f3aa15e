cuda_tile.module @kernels {
  entry @scale(%x: tile<ptr<f32>>, %factor: tile<f32>) {
    %lanes = iota : tile<256xi32>
    %all = broadcast %x : tile<ptr<f32>> -> tile<256xptr<f32>>
    %at = offset %all, %lanes : tile<256xptr<f32>>, tile<256xi32> -> tile<256xptr<f32>>
    %values, %read = load_ptr_tko relaxed %at : tile<256xptr<f32>> -> tile<256xf32>, token
    %scaled = mulf %lanes, %lanes : tile<256xi32>
  }
}
