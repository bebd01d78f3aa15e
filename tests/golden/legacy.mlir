// Old and loose spellings that are read and written canonically.
cuda_tile.module @legacy {
  entry @early(%p: tile<ptr<f32>>, %n: !cuda_tile.tile<i32>) {
    print "n is %d\n", %n : tile<i32>
    cuda_tile.print "nothing\n"
    %0 = print_tko "later\n"
    %1 = constant dense<0> : tile<i32>
    %2 = constant dense<[0.1, 0.2]> : tile<2xf32>
    %3 = constant dense<1.0> : !cuda_tile.tile<4x4xf32>
    %t = make_tensor_view %p, shape = [%n, 8], strides = [8, 1] : tensor_view<?x8xf32, strides=[8, 1]>
    %v = make_partition_view %t : partition_view<tile = (4x4), tensor_view<?x8xf32, strides=[8, 1]>>
    %x, %t0 = load_view_tko weak %v [%1, %1] : partition_view<tile=(4x4), tensor_view<?x8xf32, strides=[8,1]>> -> tile<4x4xf32>, token
    %t1 = store_view_tko weak %x, %v[%1, %1] token=%t0 : tile<4x4xf32>, partition_view<tile=(4x4), tensor_view<?x8xf32, strides=[8,1]>> -> token
    %m = make_partition_view %t : partition_view<masked tile=(4x4), view=!cuda_tile.tensor_view<?x8xf32, strides=[8, 1]>,>
    %4 = experimental$alloca num_elem = 2, alignment = 8 : tile<ptr<f64>>
    %5 = constant <f8E5M2: 1.0> : tile<e5m2>
    %6 = constant <f8E4M3FN: 1.0> : tile<2 x e4m3>
    %7 = constant <f4E2M1FN: 1.0> : tile<2xF4E2M1FN>
    %8 = constant <f32: 1.0> : tile<f32>
    %old, %t2 = atomic_rmw_tko relaxed device %p, addf, %8, token = %t1 : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    %9 = cuda_tile.addi %1, %1 overflow<none> : !cuda_tile.tile<i32>
    %10 = assume #cuda_tile.div_by<16>, %n : tile<i32>
    %11 = addi %9, %10 overflow#cuda_tile.overflow<no_wrap> : tile<i32>
  }
}
