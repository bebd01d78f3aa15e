"""Programs that show whether the threads of a tile block, and tile blocks, see each other's memory in the order that
tokens, acquire and release ask for.

Each program states its required result.
"""

from __future__ import annotations

COUNTING = """
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %x, %y, %z = get_tile_block_id : tile<i32>"""


def lanes(count: int) -> str:
    """The numbers from 0 on, and from `count` - 1 down."""
    type = f"tile<{count}xi32>"
    return f"""
  %lane = iota : {type}
  %last = constant <i32: {count - 1}> : {type}
  %mirror = subi %last, %lane : {type}"""


def places(name: str, base: str, element: str, count: int, index: str) -> str:
    """Pointers to the elements of an array that a tile of numbers names."""
    one, many = f"tile<1xptr<{element}>>", f"tile<{count}xptr<{element}>>"
    return f"""
  %{name}_1 = reshape {base} : tile<ptr<{element}>> -> {one}
  %{name}_n = broadcast %{name}_1 : {one} -> {many}
  %{name} = offset %{name}_n, {index} : {many}, tile<{count}xi32> -> {many}"""


def spread(name: str, value: str, element: str, count: int) -> str:
    """A scalar as a tile."""
    return f"""
  %{name}_1 = reshape {value} : tile<{element}> -> tile<1x{element}>
  %{name} = broadcast %{name}_1 : tile<1x{element}> -> tile<{count}x{element}>"""


def block_start(name: str, count: int) -> str:
    """Return code for the first element of a block in an array with `count` elements per block."""
    return f"""
  %{name}_size = constant <i32: {count}> : tile<i32>
  %{name} = muli %x, %{name}_size : tile<i32>"""


# ---------------------------------------------------------------- threads of a block


def mirrored(element: str, count: int, scratch: str = "%memory") -> str:
    """Each round writes its number plus the lane, and reads what another lane wrote: `result` gets the sum over `n`
    rounds of number + mirrored lane. The next round writes only after this one has read."""
    tile, pointers = f"tile<{count}x{element}>", f"tile<{count}xptr<{element}>>"
    pointer = f"tile<ptr<{element}>>"
    return f"""entry @k(%memory_all: {pointer}, %result_all: {pointer}, %n: tile<i32>) {{{COUNTING}
  {block_start("start", count)}
  %memory = offset %memory_all, %start : tile<ptr<{element}>>, tile<i32> -> tile<ptr<{element}>>
  %result = offset %result_all, %start : tile<ptr<{element}>>, tile<i32> -> tile<ptr<{element}>>
  {lanes(count)}
  {_scratch(element, count) if scratch == "%scratch" else ""}
  {places("to", scratch, element, count, "%lane")}
  {places("from", scratch, element, count, "%mirror")}
  {places("out", "%result", element, count, "%lane")}
  %none = constant <{element}: {_zero(element)}> : {tile}
  %begin = make_token : token
  %sum, %end = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%total = %none, %t = %begin)
      -> ({tile}, token) {{
    {spread("round", "%i", "i32", count)}
    %number = addi %round, %lane : tile<{count}xi32>
    {_from_i32("value", "%number", element, count)}
    %written = store_ptr_tko weak %to, %value token=%t : {pointers}, {tile} -> token
    %read, %after = load_ptr_tko weak %from token=%written : {pointers} -> {tile}, token
    %next = {"addi" if element[0] == "i" else "addf"} %total, %read : {tile}
    continue %next, %after : {tile}, token
  }}
  %done = store_ptr_tko weak %out, %sum token=%end : {pointers}, {tile} -> token
  return
}}"""


def _scratch(element: str, count: int) -> str:
    return f"%scratch = alloca num_elem = {count}, alignment = 16 : tile<ptr<{element}>>"


def _zero(element: str) -> str:
    return "0" if element[0] == "i" else "0.0"


def _from_i32(name: str, value: str, element: str, count: int) -> str:
    source, target = f"tile<{count}xi32>", f"tile<{count}x{element}>"
    if element == "i32":
        return f"%{name} = addi {value}, %none : {source}"
    if element == "i64":
        return f"%{name} = exti {value} signed : {source} -> {target}"
    if element[0] == "i":
        return f"%{name} = trunci {value} : {source} -> {target}"
    return f"%{name} = itof {value} signed : {source} -> {target}"


def reversed_in_place(element: str, count: int) -> str:
    """Turns the array of each block around `n` times: every lane writes where another one has read."""
    tile, pointers = f"tile<{count}x{element}>", f"tile<{count}xptr<{element}>>"
    return f"""entry @k(%all: tile<ptr<{element}>>, %n: tile<i32>) {{{COUNTING}
  {block_start("start", count)}
  %memory = offset %all, %start : tile<ptr<{element}>>, tile<i32> -> tile<ptr<{element}>>
  {lanes(count)}
  {places("from", "%memory", element, count, "%lane")}
  {places("to", "%memory", element, count, "%mirror")}
  %begin = make_token : token
  %end = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%t = %begin) -> (token) {{
    %value, %read = load_ptr_tko weak %from token=%t : {pointers} -> {tile}, token
    %written = store_ptr_tko weak %to, %value token=%read : {pointers}, {tile} -> token
    continue %written : token
  }}
  return
}}"""


def transposed_in_place(element: str, extent: int) -> str:
    """Transposes the square tile of each block `n` times, through views: read along rows, written along columns."""
    tile = f"tile<{extent}x{extent}x{element}>"
    tensor = f"tensor_view<?x{extent}x{element}, strides=[{extent},1]>"
    view = f"partition_view<tile=({extent}x{extent}), {tensor}>"
    return f"""entry @k(%all: tile<ptr<{element}>>, %rows: tile<i32>, %n: tile<i32>) {{{COUNTING}
  %tensor = make_tensor_view %all, shape = [%rows, {extent}], strides = [{extent}, 1] : tile<i32> -> {tensor}
  %view = make_partition_view %tensor : {view}
  %begin = make_token : token
  %end = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%t = %begin) -> (token) {{
    %value, %read = load_view_tko weak %view[%x, %zero] token = %t : {view}, tile<i32> -> {tile}, token
    %turned = permute %value [1, 0] : {tile} -> {tile}
    %written = store_view_tko weak %turned, %view[%x, %zero] token = %read : {tile}, {view}, tile<i32> -> token
    continue %written : token
  }}
  return
}}"""


def scalars_and_tiles(count: int) -> str:
    """One element, written as a scalar, is read by every lane of a tile; then one lane's element as a scalar."""
    tile, pointers = f"tile<{count}xi32>", f"tile<{count}xptr<i32>>"
    return f"""entry @k(%all: tile<ptr<i32>>, %result_all: tile<ptr<i32>>, %n: tile<i32>) {{{COUNTING}
  {block_start("start", count)}
  %memory = offset %all, %start : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %result = offset %result_all, %start : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  {lanes(count)}
  %nowhere = constant <i32: 0> : {tile}
  {places("same", "%memory", "i32", count, "%nowhere")}
  {places("each", "%memory", "i32", count, "%lane")}
  {places("out", "%result", "i32", count, "%lane")}
  %far = constant <i32: {count - 1}> : tile<i32>
  %there = offset %memory, %far : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %begin = make_token : token
  %sum, %end = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%total = %nowhere, %t = %begin)
      -> ({tile}, token) {{
    %t1 = store_ptr_tko weak %memory, %i token=%t : tile<ptr<i32>>, tile<i32> -> token
    %got, %t2 = load_ptr_tko weak %same token=%t1 : {pointers} -> {tile}, token
    %sum_1 = addi %total, %got : {tile}
    %sum_2 = addi %sum_1, %lane : {tile}
    %t3 = store_ptr_tko weak %each, %sum_2 token=%t2 : {pointers}, {tile} -> token
    %one_of, %t4 = load_ptr_tko weak %there token=%t3 : tile<ptr<i32>> -> tile<i32>, token
    {spread("spread", "%one_of", "i32", count)}
    %sum_3 = xori %sum_2, %spread : {tile}
    continue %sum_3, %t4 : {tile}, token
  }}
  %done = store_ptr_tko weak %out, %sum token=%end : {pointers}, {tile} -> token
  return
}}"""


# ---------------------------------------------------------------- blocks


def passed_on(count: int, scope: str, fetch: str = "load") -> str:
    """Block x waits for `flags[x]`, adds one to every element of `data`, all with weak accesses, and sets
    `flags[x + 1]`. `fetch` is how a flag is waited for: a load, or an atomic operation."""
    tile, pointers = f"tile<{count}xi32>", f"tile<{count}xptr<i32>>"
    waiting = {
        "load": f"%set, %seen = load_ptr_tko acquire {scope} %mine : tile<ptr<i32>> -> tile<i32>, token",
        "cas": f"%set, %seen = atomic_cas_tko acquire {scope} %mine, %one, %one "
        ": tile<ptr<i32>>, tile<i32> -> tile<i32>, token",
        "rmw": f"%set, %seen = atomic_rmw_tko acq_rel {scope} %mine, add, %zero "
        ": tile<ptr<i32>>, tile<i32> -> tile<i32>, token",
    }
    return f"""entry @k(%flags: tile<ptr<i32>>, %data: tile<ptr<i32>>) {{{COUNTING}
  %following = addi %x, %one : tile<i32>
  %mine = offset %flags, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %next = offset %flags, %following : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  {lanes(count)}
  {places("from", "%data", "i32", count, "%lane")}
  {places("to", "%data", "i32", count, "%mirror")}
  {spread("ones", "%one", "i32", count)}
  %got = loop : token {{
    {waiting[fetch]}
    %come = cmpi equal %set, %one, signed : tile<i32> -> tile<i1>
    if %come {{
      break %seen : token
    }}
    continue
  }}
  %value, %read = load_ptr_tko weak %from token=%got : {pointers} -> {tile}, token
  %more = addi %value, %ones : {tile}
  %written = store_ptr_tko weak %to, %more token=%read : {pointers}, {tile} -> token
  %handed = store_ptr_tko release {scope} %next, %one token=%written : tile<ptr<i32>>, tile<i32> -> token
  return
}}"""


def locked(count: int) -> str:
    """Under a lock, every block adds one to each element of a shared array, with weak accesses."""
    tile, pointers = f"tile<{count}xi32>", f"tile<{count}xptr<i32>>"
    return f"""entry @k(%lock: tile<ptr<i32>>, %data: tile<ptr<i32>>) {{{COUNTING}
  {lanes(count)}
  {places("from", "%data", "i32", count, "%lane")}
  {places("to", "%data", "i32", count, "%mirror")}
  {spread("ones", "%one", "i32", count)}
  loop {{
    %old, %t = atomic_cas_tko acquire device %lock, %zero, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %got = cmpi equal %old, %zero, signed : tile<i32> -> tile<i1>
    if %got {{
      %value, %read = load_ptr_tko weak %from token=%t : {pointers} -> {tile}, token
      %more = addi %value, %ones : {tile}
      %written = store_ptr_tko weak %to, %more token=%read : {pointers}, {tile} -> token
      %freed = store_ptr_tko release device %lock, %zero token=%written : tile<ptr<i32>>, tile<i32> -> token
      break
    }}
    continue
  }}
  return
}}"""


# ---------------------------------------------------------------- atomics


def updated_by_all(mode: str, element: str, count: int, targets: int, how: str = "relaxed device") -> str:
    """Lane i of block x updates element `i % targets` by `arguments[x * count + i]`; what it found goes to `found`."""
    tile, pointers = f"tile<{count}x{element}>", f"tile<{count}xptr<{element}>>"
    pointer = f"tile<ptr<{element}>>"
    return f"""entry @k(%memory: {pointer}, %arguments_all: {pointer}, %found_all: {pointer}) {{{COUNTING}
  {block_start("start", count)}
  %arguments = offset %arguments_all, %start : tile<ptr<{element}>>, tile<i32> -> tile<ptr<{element}>>
  %found = offset %found_all, %start : tile<ptr<{element}>>, tile<i32> -> tile<ptr<{element}>>
  {lanes(count)}
  %targets = constant <i32: {targets}> : tile<{count}xi32>
  %which = remi %lane, %targets unsigned : tile<{count}xi32>
  {places("at", "%memory", element, count, "%which")}
  {places("given", "%arguments", element, count, "%lane")}
  {places("out", "%found", element, count, "%lane")}
  %argument, %read = load_ptr_tko weak %given : {pointers} -> {tile}, token
  %old, %t = atomic_rmw_tko {how} %at, {mode}, %argument : {pointers}, {tile} -> {tile}, token
  %done = store_ptr_tko weak %out, %old : {pointers}, {tile} -> token
  return
}}"""


def claimed_once(count: int, targets: int) -> str:
    """Every lane of every block tries to put its number into an element that is -1; `found` tells who was first."""
    tile, pointers = f"tile<{count}xi32>", f"tile<{count}xptr<i32>>"
    return f"""entry @k(%memory: tile<ptr<i32>>, %found_all: tile<ptr<i32>>) {{{COUNTING}
  {block_start("start", count)}
  %found = offset %found_all, %start : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  {lanes(count)}
  %targets = constant <i32: {targets}> : {tile}
  %which = remi %lane, %targets unsigned : {tile}
  {spread("first", "%start", "i32", count)}
  %number = addi %first, %lane : {tile}
  %free = constant <i32: -1> : {tile}
  {places("at", "%memory", "i32", count, "%which")}
  {places("out", "%found", "i32", count, "%lane")}
  %old, %t = atomic_cas_tko relaxed device %at, %free, %number : {pointers}, {tile} -> {tile}, token
  %done = store_ptr_tko weak %out, %old : {pointers}, {tile} -> token
  return
}}"""


def reduced_through_view(mode: str, element: str) -> str:
    """Every block combines the same 16 x 32 tile with one in the middle of a tensor, across its edge."""
    tensor = f"tensor_view<24x40x{element}, strides=[40,1]>"
    view = f"partition_view<tile=(16x32), {tensor}>"
    dense = f"tensor_view<16x32x{element}, strides=[32,1]>"
    whole = f"partition_view<tile=(16x32), {dense}>"
    return f"""entry @k(%memory: tile<ptr<{element}>>, %argument: tile<ptr<{element}>>) {{{COUNTING}
  %tensor = make_tensor_view %memory, shape = [24, 40], strides = [40, 1] : {tensor}
  %view = make_partition_view %tensor : {view}
  %given = make_tensor_view %argument, shape = [16, 32], strides = [32, 1] : {dense}
  %given_view = make_partition_view %given : {whole}
  %value, %read = load_view_tko weak %given_view[%zero, %zero] : {whole}, tile<i32> -> tile<16x32x{element}>, token
  %t = atomic_red_view_tko relaxed device %view[%one, %zero], {mode}, %value
      : tile<16x32x{element}>, {view}, tile<i32> -> token
  return
}}"""
