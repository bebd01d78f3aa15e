// Promises about values.
#sixteen = #cuda_tile.div_by<16>
cuda_tile.module @assumptions {
  entry @promises(%p: tile<ptr<f32>>, %n: tile<i32>, %flag: tile<i1>) {
    %0 = assume div_by<16>, %p : tile<ptr<f32>>
    %1 = assume #cuda_tile.div_by<8>, %n : tile<i32>
    %2 = assume #sixteen, %n : tile<i32>
    %3 = assume bounded<0, 1024>, %n : tile<i32>
    %4 = assume bounded<?, 7>, %n : tile<i32>
    %5 = assume bounded<-5, ?>, %n : tile<i32>
    %6 = assume bounded<?, ?>, %n : tile<i32>
    %7 = assume same_elements<[]>, %n : tile<i32>
    %row = iota : tile<16xi32>
    %grid = reshape %row : tile<16xi32> -> tile<4x4xi32>
    %8 = assume same_elements<[1, 4]>, %grid : tile<4x4xi32>
    %9 = assume div_by<4, every 2 along 1>, %grid : tile<4x4xi32>
    %10 = assume div_by<1, every 16 along 0>, %row : tile<16xi32>
    %t = make_tensor_view %0, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
    %11 = assume div_by<128>, %t : tensor_view<64xf32, strides=[1]>
    %12 = assume div_by<4611686018427387904>, %n : tile<i32>
  }

  entry @names(%n: tile<i32>, %flag: tile<i1>, %p: tile<ptr<i32>>) {
    %eight = constant <i32: 8> : tile<i32>
    %0 = assume div_by<8>, %eight : tile<i32>
    %1 = assume bounded<0, 8>, %0 : tile<i32>
    %true = constant <i1: true> : tile<i1>
    %2 = assume bounded<-1, 0>, %true : tile<i1>
    %x, %y, %z = get_tile_block_id : tile<i32>
    %3 = assume bounded<0, 100>, %y : tile<i32>
    %sum = addi %n, %n : tile<i32>
    %4 = assume div_by<2>, %sum : tile<i32>
    %v, %t = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
    %5 = assume bounded<0, ?>, %v : tile<i32>
    %6, %7 = for %i in (%n to %n, step %n) : tile<i32> iter_values(%a = %n, %b = %n) -> (tile<i32>, tile<i32>) {
      %8 = assume div_by<4>, %a : tile<i32>
      continue %8, %b : tile<i32>, tile<i32>
    }
    %9 = assume div_by<4>, %6 : tile<i32>
    %10 = assume div_by<4>, %7 : tile<i32>
    %11 = if %flag -> (tile<i32>) {
      yield %n : tile<i32>
    } else {
      yield %x : tile<i32>
    }
    %12 = assume div_by<4>, %11 : tile<i32>
    %13 = loop : tile<i32> {
      break %n : tile<i32>
    }
    %14 = assume div_by<4>, %13 : tile<i32>
    %r = reshape %n : tile<i32> -> tile<1xi32>
    %15 = assume div_by<4>, %r : tile<1xi32>
    %w = make_tensor_view %p, shape = [%n, 2], strides = [2, 1] : tile<i32> -> tensor_view<?x2xi32, strides=[2,1]>
    %d0, %d1 = get_tensor_shape %w : tensor_view<?x2xi32, strides=[2,1]> -> tile<i32>
    %16 = assume div_by<4>, %d0 : tile<i32>
    %17 = assume div_by<2>, %d1 : tile<i32>
    %row = iota : tile<8xi32>
    %18 = scan %row dim=0 reverse=false identities=[0 : i32] : tile<8xi32> -> tile<8xi32>
    (%a: tile<i32>, %b: tile<i32>) {
      %s = addi %a, %b : tile<i32>
      yield %s : tile<i32>
    }
    %19 = assume bounded<0, ?>, %18 : tile<8xi32>
    %20 = reduce %row dim=0 identities=[0 : i32] : tile<8xi32> -> tile<i32>
    (%a: tile<i32>, %b: tile<i32>) {
      %s = addi %a, %b : tile<i32>
      yield %s : tile<i32>
    }
    %21 = assume bounded<0, ?>, %20 : tile<i32>
  }
}
