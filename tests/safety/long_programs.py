"""Programs that take long, wait for each other, or never end."""

LOOP = """entry @k(%out: tile<ptr<f32>>, %n: tile<i64>) {
  %zero = constant <i64: 0> : tile<i64>
  %one = constant <i64: 1> : tile<i64>
  %x, %y, %z = get_tile_block_id : tile<i32>
  %p = offset %out, %x : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  %start = constant <f32: 1.0> : tile<f32>
  %factor = constant <f32: -1.0> : tile<f32>
  %end = for %i in (%zero to %n, step %one) : tile<i64> iter_values(%a = %start) -> (tile<f32>) {
    %b = mulf %a, %factor : tile<f32>
    %t = store_ptr_tko weak %p, %b : tile<ptr<f32>>, tile<f32> -> token
    continue %b : tile<f32>
  }
  return
}"""
"""Writes its element `n` times."""

SPIN = """entry @k(%flag: tile<ptr<i32>>) {
  %one = constant <i32: 1> : tile<i32>
  loop {
    %v, %t = load_ptr_tko ORDER %flag : tile<ptr<i32>> -> tile<i32>, token
    %set = cmpi equal %v, %one, signed : tile<i32> -> tile<i1>
    if %set { break }
  }
  return
}"""
"""Waits until the flag is 1."""

BUSY = """entry @k(%flag: tile<ptr<i32>>) {
  %one = constant <i32: 1> : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  loop iter_values(%i = %zero) : tile<i32> {
    %next = addi %i, %one : tile<i32>
    %t = store_ptr_tko weak %flag, %next : tile<ptr<i32>>, tile<i32> -> token
    continue %next : tile<i32>
  }
  return
}"""
"""Counts for ever."""

LARGE_TILES = """entry @k(%out: tile<ptr<f64>>) {
  %i = iota : tile<1048576xi32>
  %f = itof %i signed : tile<1048576xi32> -> tile<1048576xf64>
  %a = sin %f : tile<1048576xf64>
  %b = sin %a : tile<1048576xf64>
  %c = cos %b : tile<1048576xf64>
  %d = pow %c, %a : tile<1048576xf64>
  %e = sin %d : tile<1048576xf64>
  %g = pow %e, %c : tile<1048576xf64>
  %o = reshape %out : tile<ptr<f64>> -> tile<1xptr<f64>>
  %p = broadcast %o : tile<1xptr<f64>> -> tile<1048576xptr<f64>>
  %q = offset %p, %i : tile<1048576xptr<f64>>, tile<1048576xi32> -> tile<1048576xptr<f64>>
  %t = store_ptr_tko weak %q, %g : tile<1048576xptr<f64>>, tile<1048576xf64> -> token
  return
}"""

PRODUCT = """entry @k(%out: tile<ptr<f32>>) {
  %a = constant <f32: 0.5> : tile<2048x4096xf32>
  %b = constant <f32: 0.25> : tile<4096x4096xf32>
  %c = constant <f32: 0.0> : tile<2048x4096xf32>
  %d = mmaf %a, %b, %c : tile<2048x4096xf32>, tile<4096x4096xf32>, tile<2048x4096xf32>
  %s = reduce %d dim=0 identities=[0.0 : f32] : tile<2048x4096xf32> -> tile<4096xf32>
  (%x: tile<f32>, %y: tile<f32>) { %z = addf %x, %y : tile<f32> yield %z : tile<f32> }
  %i = iota : tile<4096xi32>
  %o = reshape %out : tile<ptr<f32>> -> tile<1xptr<f32>>
  %p = broadcast %o : tile<1xptr<f32>> -> tile<4096xptr<f32>>
  %q = offset %p, %i : tile<4096xptr<f32>>, tile<4096xi32> -> tile<4096xptr<f32>>
  %t = store_ptr_tko weak %q, %s : tile<4096xptr<f32>>, tile<4096xf32> -> token
  return
}"""

WAIT_FOR_LAST = """entry @k(%flag: tile<ptr<i32>>, %count: tile<ptr<i32>>, %last: tile<i32>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %is_last = cmpi equal %x, %last, signed : tile<i32> -> tile<i1>
  if %is_last {
    %t0 = store_ptr_tko release device %flag, %one : tile<ptr<i32>>, tile<i32> -> token
  } else {
    loop {
      %v, %t1 = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
      %set = cmpi equal %v, %one, signed : tile<i32> -> tile<i1>
      if %set { break }
    }
  }
  %o, %t2 = atomic_rmw_tko relaxed device %count, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  return
}"""
"""Every tile block waits for that of number `last`, and is counted."""

CIRCLE = """entry @k(%flags: tile<ptr<i32>>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %n, %n1, %n2 = get_num_tile_blocks : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %next = addi %x, %one : tile<i32>
  %wraps = cmpi equal %next, %n, signed : tile<i32> -> tile<i1>
  %other = select %wraps, %zero, %next : tile<i1>, tile<i32>
  %mine = offset %flags, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %theirs = offset %flags, %other : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  loop {
    %old, %t = atomic_cas_tko acquire device %theirs, %one, %zero : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %got = cmpi equal %old, %one, signed : tile<i32> -> tile<i1>
    if %got { break }
  }
  %t2 = store_ptr_tko release device %mine, %one : tile<ptr<i32>>, tile<i32> -> token
  return
}"""
"""Every tile block waits for the flag of the next one, the last for that of the first, and sets its own then."""

PATIENT = """entry @k(%flag: tile<ptr<i32>>, %out: tile<ptr<i32>>, %n: tile<i32>) {
  %one = constant <i32: 1> : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %tries = loop iter_values(%i = %zero) : tile<i32> -> tile<i32> {
    %v, %t = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
    %next = addi %i, %one : tile<i32>
    %enough = cmpi equal %next, %n, signed : tile<i32> -> tile<i1>
    if %enough { break %next : tile<i32> }
    continue %next : tile<i32>
  }
  %t2 = store_ptr_tko weak %out, %tries : tile<ptr<i32>>, tile<i32> -> token
  return
}"""
"""Looks at a flag that nobody sets, `n` times."""

SUMMING = """entry @k(%flag: tile<ptr<i32>>, %out: tile<ptr<f32>>, %end: tile<f32>) {
  %one = constant <i32: 1> : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %factor = constant <f32: 1.0> : tile<2x2xf32>
  %start = constant <f32: 0.0> : tile<2x2xf32>
  %sums = loop iter_values(%acc = %start) : tile<2x2xf32> -> tile<2x2xf32> {
    %v, %t = load_ptr_tko acquire device %flag : tile<ptr<i32>> -> tile<i32>, token
    %set = cmpi equal %v, %one, signed : tile<i32> -> tile<i1>
    %next = mmaf %factor, %factor, %acc : tile<2x2xf32>, tile<2x2xf32>, tile<2x2xf32>
    %corner = extract %next[%zero, %zero] : tile<2x2xf32> -> tile<1x1xf32>
    %number = reshape %corner : tile<1x1xf32> -> tile<f32>
    %full = cmpf greater_than_or_equal ordered %number, %end : tile<f32> -> tile<i1>
    %enough = ori %set, %full : tile<i1>
    if %enough { break %next : tile<2x2xf32> }
    continue %next : tile<2x2xf32>
  }
  %corner = extract %sums[%zero, %zero] : tile<2x2xf32> -> tile<1x1xf32>
  %number = reshape %corner : tile<1x1xf32> -> tile<f32>
  %t = store_ptr_tko weak %out, %number : tile<ptr<f32>>, tile<f32> -> token
  return
}"""
"""Looks at a flag that nobody sets, and carries only sums, which it updates in place."""

TURNS = """entry @k(%turn: tile<ptr<i32>>, %in: tile<ptr<ELEMENT>>, %out: tile<ptr<ELEMENT>>, %s: tile<ELEMENT>) {
  %one = constant <i32: 1> : tile<i32>
  %x, %y, %z = get_tile_block_id : tile<i32>
  %i = iota : tile<64xi32>
  %in1 = reshape %in : tile<ptr<ELEMENT>> -> tile<1xptr<ELEMENT>>
  %ins = broadcast %in1 : tile<1xptr<ELEMENT>> -> tile<64xptr<ELEMENT>>
  %from = offset %ins, %i : tile<64xptr<ELEMENT>>, tile<64xi32> -> tile<64xptr<ELEMENT>>
  %out1 = reshape %out : tile<ptr<ELEMENT>> -> tile<1xptr<ELEMENT>>
  %outs = broadcast %out1 : tile<1xptr<ELEMENT>> -> tile<64xptr<ELEMENT>>
  %to = offset %outs, %i : tile<64xptr<ELEMENT>>, tile<64xi32> -> tile<64xptr<ELEMENT>>
  %s1 = reshape %s : tile<ELEMENT> -> tile<1xELEMENT>
  %many = broadcast %s1 : tile<1xELEMENT> -> tile<64xELEMENT>
  loop {
    %now, %t1 = load_ptr_tko acquire device %turn : tile<ptr<i32>> -> tile<i32>, token
    %v, %t2 = load_ptr_tko weak %from : tile<64xptr<ELEMENT>> -> tile<64xELEMENT>, token
    %sum = addf %v, %many : tile<64xELEMENT>
    %t3 = store_ptr_tko weak %to, %sum : tile<64xptr<ELEMENT>>, tile<64xELEMENT> -> token
    %mine = cmpi equal %now, %x, signed : tile<i32> -> tile<i1>
    if %mine { break }
  }
  %next = addi %x, %one : tile<i32>
  %t4 = store_ptr_tko release device %turn, %next : tile<ptr<i32>>, tile<i32> -> token
  return
}"""
"""Waits for its turn and adds a number to 64 others meanwhile."""

_ADD = "  %o{n}, %t{n} = atomic_rmw_tko relaxed device %p, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token"

ATOMICS = "\n".join(
    [
        "entry @k(%p: tile<ptr<i32>>) {",
        "  %one = constant <i32: 1> : tile<i32>",
        *(_ADD.format(n=n) for n in range(2000)),
        "  return",
        "}",
    ]
)
"""Adds 1, two thousand times, one by one."""
