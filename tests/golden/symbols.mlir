// Symbols: bare where the name allows it, else in quotes with escapes.
cuda_tile.module @"a module" {
  global @"odd name" <i1: [true, false]> : tile<2xi1>
  global @"plain" <i32: 1> : tile<1xi32>
  global @with.dots$and_more9 <i32: 2> : tile<1xi32>
  global @"9lives" <i32: 3> : tile<1xi32>
  global @"tab\09quote\22" <i32: 4> : tile<1xi32>

  entry @"gr\C3\BC\C3\9Fe"() {
    %0 = get_global @"odd name" : tile<ptr<i1>>
    %1 = get_global @plain : tile<ptr<i32>>
    %2 = get_global @"with.dots$and_more9" : tile<ptr<i32>>
    %3 = get_global @"9lives" : tile<ptr<i32>>
    %4 = get_global @"tab\tquote\"" : tile<ptr<i32>>
  }
}
