"""Programs that the tests of native launches share."""

MUTEX = """entry @k(%lock: tile<ptr<i32>>, %count: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    loop {
      %old, %t = atomic_cas_tko acquire device %lock, %zero, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %got = cmpi equal %old, %zero, signed : tile<i32> -> tile<i1>
      if %got {
        %v, %a = load_ptr_tko relaxed device %count token=%t : tile<ptr<i32>> -> tile<i32>, token
        %w = addi %v, %one : tile<i32>
        %b = store_ptr_tko relaxed device %count, %w token=%a : tile<ptr<i32>>, tile<i32> -> token
        %u = store_ptr_tko release device %lock, %zero token=%b : tile<ptr<i32>>, tile<i32> -> token
        break
      }
    }
    return
}"""

WAIT_FOR_NEXT = """entry @k(%flags: tile<ptr<i32>>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %next = addi %x, %one : tile<i32>
    %p = offset %flags, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %q = offset %flags, %next : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    loop {
      %v, %t = load_ptr_tko acquire device %q : tile<ptr<i32>> -> tile<i32>, token
      %set = cmpi equal %v, %one, signed : tile<i32> -> tile<i1>
      if %set {
        %u = store_ptr_tko release device %p, %one token=%t : tile<ptr<i32>>, tile<i32> -> token
        break
      }
    }
    return
}"""

WAIT_IN_FUNCTION = """
experimental$func @look(%at: tile<ptr<i32>>) -> tile<i32> {
    %v, %t = load_ptr_tko acquire device %at : tile<ptr<i32>> -> tile<i32>, token
    return %v : tile<i32>
}
""" + WAIT_FOR_NEXT.replace(
    "%v, %t = load_ptr_tko acquire device %q : tile<ptr<i32>> -> tile<i32>, token",
    "%v = experimental$call @look(%q) : (tile<ptr<i32>>) -> tile<i32>",
).replace("token=%t ", "").replace("store_ptr_tko release device", "store_ptr_tko weak")
"""The same with a waiting function, and no other operation with an ordering."""

BLOCKS = """entry @k(%out: tile<ptr<i32>>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %nx, %ny, %nz = get_num_tile_blocks : tile<i32>
  %a = muli %z, %ny : tile<i32>
  %b = addi %a, %y : tile<i32>
  %c = muli %b, %nx : tile<i32>
  %d = addi %c, %x : tile<i32>
  %p = offset %out, %d : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %one = constant <i32: 1> : tile<i32>
  %old, %t = atomic_rmw_tko relaxed device %p, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  return
}"""
"""Adds one to the element that belongs to the tile block."""

ASSERT = """entry @k(%limit: tile<i32>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %lanes = iota : tile<8xi32>
  %x1 = reshape %x : tile<i32> -> tile<1xi32>
  %xs = broadcast %x1 : tile<1xi32> -> tile<8xi32>
  %n1 = reshape %limit : tile<i32> -> tile<1xi32>
  %n = broadcast %n1 : tile<1xi32> -> tile<8xi32>
  %sum = addi %lanes, %xs : tile<8xi32>
  %fine = cmpi less_than %sum, %n, signed : tile<8xi32> -> tile<8xi1>
  assert %fine, "too large" : tile<8xi1>
  return
}"""
"""Fails where the lane plus the number of the tile block is not less than the limit."""

SCALAR_ASSERT = """entry @k(%limit: tile<i32>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %fine = cmpi less_than %x, %limit, signed : tile<i32> -> tile<i1>
  assert %fine, "too far" : tile<i1>
  return
}"""

ENDLESS = """entry @k() {
  loop {
    continue
  }
  return
}"""

EMPTY = "entry @k() { return }"

PRINTS = """entry @k() {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %t = print_tko "%d ", %x : tile<i32> -> token
    return
}"""

ASSERT_BLOCK = """entry @k() {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %wx = constant <i32: X> : tile<i32>
  %wy = constant <i32: Y> : tile<i32>
  %wz = constant <i32: Z> : tile<i32>
  %a = cmpi not_equal %x, %wx, signed : tile<i32> -> tile<i1>
  %b = cmpi not_equal %y, %wy, signed : tile<i32> -> tile<i1>
  %c = cmpi not_equal %z, %wz, signed : tile<i32> -> tile<i1>
  %ab = ori %a, %b : tile<i1>
  %abc = ori %ab, %c : tile<i1>
  assert %abc, "here" : tile<i1>
  return
}"""
"""Fails in the tile block (X, Y, Z) alone."""
