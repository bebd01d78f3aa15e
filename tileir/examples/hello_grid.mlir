// Hello, grid: the smallest program that shows what a launch is.
//
// A launch runs the entry once for every point of a grid of one, two or three dimensions. Each of these runs is a
// *tile block*; it can ask where it stands and how large the grid is. Blocks run in no particular order.
//
//   tileir run examples/hello_grid.mlir --grid 3,2

cuda_tile.module @hello {
  entry @hello_grid() {
    // Both operations give three scalars. A scalar is a tile without dimensions: tile<i32>.
    %x, %y, %z = get_tile_block_id : tile<i32>
    %nx, %ny, %nz = get_num_tile_blocks : tile<i32>

    // print_tko formats like C's printf. Like every operation with an effect it gives a *token*: whoever takes the
    // token as an operand happens later. Nobody needs to here.
    %printed = print_tko "hello from tile block (%d, %d, %d) of a %d x %d x %d grid\n",
      %x, %y, %z, %nx, %ny, %nz
      : tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32> -> token
  }
}
