// Embedding lookup: y[i, :] = table[ids[i], :], with a view that gathers rows from anywhere.
//
// Each tile block fetches 16 rows of 256 columns. A gather/scatter view takes a tile of row numbers instead of one
// index along `sparse_dim`; its other indices count elements, not tiles. Row numbers outside the table read as zeros.
//
//   tileir run examples/embedding.mlir --grid 4,2 table=f16[1000,512]:randn ids=i32[64]:rand:0:1000 y=f16[64,512]:zeros words=i32:1000 count=i32:64

cuda_tile.module @movement {
  entry @embedding(%table: tile<ptr<f16>>, %ids: tile<ptr<i32>>, %y: tile<ptr<f16>>,
                   %words: tile<i32>, %count: tile<i32>) {
    %rows = make_tensor_view %table, shape = [%words, 512], strides = [512, 1]
      : tile<i32> -> tensor_view<?x512xf16, strides=[512,1]>
    %numbers = make_tensor_view %ids, shape = [%count], strides = [1] : tile<i32> -> tensor_view<?xi32, strides=[1]>
    %output = make_tensor_view %y, shape = [%count, 512], strides = [512, 1]
      : tile<i32> -> tensor_view<?x512xf16, strides=[512,1]>
    %gather = make_gather_scatter_view %rows
      : gather_scatter_view<tile=(16x256), padding_value = zero, tensor_view<?x512xf16, strides=[512,1]>, sparse_dim=0>
    %number_tiles = make_partition_view %numbers
      : partition_view<tile=(16), padding_value = zero, tensor_view<?xi32, strides=[1]>>
    %output_tiles = make_partition_view %output
      : partition_view<tile=(16x256), tensor_view<?x512xf16, strides=[512,1]>>

    %i, %j, %block_z = get_tile_block_id : tile<i32>
    %wanted, %wanted_read = load_view_tko weak %number_tiles[%i]
      : partition_view<tile=(16), padding_value = zero, tensor_view<?xi32, strides=[1]>>, tile<i32>
      -> tile<16xi32>, token
    %width = constant <i32: 256> : tile<i32>
    %column = muli %j, %width : tile<i32>
    %found, %found_read = load_view_tko weak %gather[%wanted, %column]
      : gather_scatter_view<tile=(16x256), padding_value = zero, tensor_view<?x512xf16, strides=[512,1]>, sparse_dim=0>,
        tile<16xi32>, tile<i32> -> tile<16x256xf16>, token
    %written = store_view_tko weak %found, %output_tiles[%i, %j]
      : tile<16x256xf16>, partition_view<tile=(16x256), tensor_view<?x512xf16, strides=[512,1]>>, tile<i32> -> token
  }
}
