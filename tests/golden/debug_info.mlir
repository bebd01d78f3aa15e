// Debug locations: scopes, lexical blocks, call sites; aliases before and after their use.
#file = #cuda_tile.di_file<"kernels.py" in "/home/me/project">
#unit = #cuda_tile.di_compile_unit<file = #file>
#scale = #cuda_tile.di_subprogram<file = #file, line = 10, name = "scale_py", linkageName = "scale", compileUnit = #unit, scopeLine = 11>
#helper = #cuda_tile.di_subprogram<file = #file, line = 40, name = "helper", linkageName = "helper", compileUnit = #unit>
#block = #cuda_tile.di_lexical_block<scope = #scale, file = #file, line = 12, column = 4>
#inner = #cuda_tile.di_lexical_block<scope = #block, file = #file, line = 13>
cuda_tile.module @debugged {
  entry @scale(%p: tile<ptr<f32>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32> loc(#here)
    %one = constant <i32: 1> : tile<i32> loc(#cuda_tile.di_loc<loc("kernels.py":12:9) in #block>)
    %x, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token loc(callsite(#there at #here))
    %y = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %x) -> (tile<f32>) {
      %z = addf %acc, %acc : tile<f32> loc(#cuda_tile.di_loc<loc("kernels.py":13:5) in #inner>)
      continue %z : tile<f32> loc(#here)
    } loc(#here)
    %flag = cmpi less_than %zero, %n, signed : tile<i32> -> tile<i1> loc(unknown)
    if %flag {
      %u = store_ptr_tko weak %p, %y : tile<ptr<f32>>, tile<f32> -> token loc(callsite(#there at callsite(#there at #here)))
    } loc(#here)
    %row = iota : tile<4xi32>
    %s = reduce %row dim=0 identities=[0 : i32] : tile<4xi32> -> tile<i32>
    (%a: tile<i32>, %b: tile<i32>) {
      %c = addi %a, %b : tile<i32> loc(#here)
      yield %c : tile<i32> loc(#here)
    } loc(#here)
    return loc(#here)
  } loc(#cuda_tile.di_loc<loc("kernels.py":10:1) in #scale>)

  entry @plain(%p: tile<ptr<f32>>) {
    %x, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token loc("other.py":3:4)
    return loc("other.py":4:1)
  } loc("other.py":2:1)

  global @table <f32: [1.0, 2.0]> : tile<2xf32>
}
#here = #cuda_tile.di_loc<loc("kernels.py":12:5) in #scale>
#there = #cuda_tile.di_loc<loc("kernels.py":41:3) in #helper>
