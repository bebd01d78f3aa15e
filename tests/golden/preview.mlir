// level: 13.5
// Calls of code that is linked in: a preview of 13.5.
cuda_tile.module @preview {
  entry @linked(%x: tile<f32>, %p: tile<ptr<f32>>) {
    %t = make_token : token
    %0 = preview$call @plain(%x) : (tile<f32>) -> tile<f32>
    %1:2 = preview$call @given<[5, -1, "a \22s\22", i32, tile<2xf16>, (), (1,), (2, ("b", f32))]>(%0, %t) : (tile<f32>, token) -> (tile<f32>, token)
    preview$call @nothing() : () -> ()
    preview$call @"odd name"(%1#0, %p) {arg_attrs = [{}, {a.b = 3 : i32}], res_attrs = []} : (tile<f32>, tile<ptr<f32>>) -> ()
  }
}
