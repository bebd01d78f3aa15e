// Output of tiles, assertions, and strings that need escapes.
cuda_tile.module @printing {
  entry @hello(%x: tile<f32>, %n: tile<i32>, %flag: tile<i1>) {
    %0 = print_tko "hello\n" -> token
    %1 = print_tko "x = %f, n = %d\0A", %x, %n : tile<f32>, tile<i32> -> token
    %2 = print_tko "after %i" , %n token=%1 : tile<i32> -> token
    %3 = print_tko "quote \" backslash \\ tab \t bell \07 100%%\n" token=%2 -> token
    %4 = print_tko "gr\C3\BC\C3\9Fe ünï" -> token
    assert %flag, "must \"hold\"" : tile<i1>
    %row = iota : tile<4xi64>
    %5 = print_tko "%5lld|", %row : tile<4xi64> -> token
    %mask = constant <i1: [true, false]> : tile<2xi1>
    assert %mask, "" : tile<2xi1>
  }
}
