// expected-error@+1 [E0301] a pointer can point to a number type other than i4, got i4
entry @k(%p: tile<ptr<i4>>) {
}
// -----
// expected-error@+1 [E0302] a tile holds numbers or pointers, got tile<f32>
entry @k(%a: tile<4xtile<f32>>) {
}
// -----
// expected-error@+1 [E0303] a tile of f4E2M1FN needs an even number of elements
entry @k(%a: tile<f4E2M1FN>) {
}
// -----
// expected-error@+1 [E0303] a tile of f4E2M1FN needs an even number of elements
experimental$func @f(%a: tile<1x1xf4E2M1FN>) {
}
// -----
// expected-error@+1 [E0304] tile dimensions must be positive, got 4, 0
experimental$func @f(%a: tile<4x0xf32>) {
}
// -----
// expected-error@+1 [E0305] tile dimensions must be powers of two, got 4, 3
experimental$func @f(%a: tile<4x3xf32>) {
}
// -----
// expected-error@+1 [E0306] a tile has at most 16777216 elements, got 8192, 4096
experimental$func @f(%a: tile<8192x4096xf32>) {
}
// -----
// expected-error@+1 [E0307] a tensor view holds numbers other than i4, got i4
experimental$func @f(%v: tensor_view<64xi4, strides=[1]>) {
}
// -----
// expected-error@+1 [E0308] expected as many strides as dimensions, got 2 dimensions and 1 strides
experimental$func @f(%v: tensor_view<64x32xf32, strides=[1]>) {
}
// -----
// expected-error@+1 [E0309] tensor view dimensions must be positive 64-bit integers, got [0]
experimental$func @f(%v: tensor_view<0xf32, strides=[1]>) {
}
// -----
// expected-error@+1 [E0309] tensor view strides must be positive 64-bit integers, got [0]
experimental$func @f(%v: tensor_view<?xf32, strides=[0]>) {
}
// -----
// expected-error@+1 [E0312] expected tiles of the tensor view's rank 2, got tiles of rank 1
experimental$func @f(%v: partition_view<tile=(8), tensor_view<64x32xf32, strides=[32,1]>>) {
}
// -----
// expected-error@+1 [E0313] tile dimensions of a view must be positive 32-bit integers, got [0]
experimental$func @f(%v: partition_view<tile=(0), tensor_view<64xf32, strides=[1]>>) {
}
// -----
// expected-error@+1 [E0314] tile dimensions of a view must be powers of two, got [10]
experimental$func @f(%v: strided_view<tile=(10), traversal_strides=[1], tensor_view<64xf32, strides=[1]>>) {
}
// -----
// expected-error@+1 [E0315] expected dim_map to map all 1 tile dimensions, got 2 entries
experimental$func @f(%v: partition_view<tile=(8), tensor_view<64xf32, strides=[1]>, dim_map=[0, 1]>) {
}
// -----
// expected-error@+1 [E0315] dim_map entries must be in [0, 1), got 1
experimental$func @f(%v: partition_view<tile=(8), tensor_view<64xf32, strides=[1]>, dim_map=[1]>) {
}
// -----
// expected-error@+1 [E0315] dim_map maps dimension 0 twice, for tile dimensions 0 and 1
experimental$func @f(%v: partition_view<tile=(8x4), tensor_view<64x32xf32, strides=[32,1]>, dim_map=[0, 0]>) {
}
// -----
// expected-error@+1 [E0316] padding_value nan needs floating-point elements, got i32
experimental$func @f(%v: partition_view<tile=(8), padding_value = nan, tensor_view<64xi32, strides=[1]>>) {
}
// -----
// expected-error@+1 [E0317] sparse_dim must be in [0, 1), got 1
experimental$func @f(%v: gather_scatter_view<tile=(8), tensor_view<64xf32, strides=[1]>, sparse_dim=1>) {
}
// -----
// expected-error@+1 [E0318] expected 1 traversal strides, got 2
experimental$func @f(%v: strided_view<tile=(8), traversal_strides=[1, 1], tensor_view<64xf32, strides=[1]>>) {
}
// -----
// expected-error@+1 [E0319] traversal strides must be positive 32-bit integers, got [0]
experimental$func @f(%v: strided_view<tile=(8), traversal_strides=[0], tensor_view<64xf32, strides=[1]>>) {
}
