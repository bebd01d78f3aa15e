"""Programs of which the GPU benchmark needs several versions: the same kernel with other tiles and element types.

Knows: Tile IR text. Does not know: how the programs are run or measured.
"""

from __future__ import annotations

from pathlib import Path

KERNELS = Path(__file__).parent / "kernels"


def text(name: str) -> str:
    """A kernel of ``bench/kernels``."""
    return (KERNELS / f"{name}.mlir").read_text(encoding="utf-8")


def rows(name: str, columns: int) -> str:
    """A kernel of ``bench/kernels`` that works on whole rows, for rows of at most `columns`, a power of two."""
    return text(name).replace("4096", str(columns))


def gemm(element: str, m: int, n: int, k: int, group: int = 8) -> str:
    """C = A * B of any row-major matrices of `element`, summed in f32, in tiles of m x n and steps of `k`.

    Blocks that follow one another take tiles of C in columns of `group`, so that what they read is still in the cache.
    """
    matrix = f"tensor_view<?x?x{element}, strides=[?,1]>"
    a_view = f"partition_view<tile=({m}x{k}), padding_value = zero, {matrix}>"
    b_view = f"partition_view<tile=({k}x{n}), padding_value = zero, {matrix}>"
    c_view = f"partition_view<tile=({m}x{n}), {matrix}>"
    return f"""
cuda_tile.module @gemm {{
  entry @gemm(%A: tile<ptr<{element}>>, %B: tile<ptr<{element}>>, %C: tile<ptr<{element}>>,
              %M: tile<i32>, %N: tile<i32>, %K: tile<i32>) {{
    %a = make_tensor_view %A, shape = [%M, %K], strides = [%K, 1] : tile<i32> -> {matrix}
    %b = make_tensor_view %B, shape = [%K, %N], strides = [%N, 1] : tile<i32> -> {matrix}
    %c = make_tensor_view %C, shape = [%M, %N], strides = [%N, 1] : tile<i32> -> {matrix}
    %a_tiles = make_partition_view %a : {a_view}
    %b_tiles = make_partition_view %b : {b_view}
    %c_tiles = make_partition_view %c : {c_view}

    %block, %block_y, %block_z = get_tile_block_id : tile<i32>
    %rows, %columns = get_index_space_shape %c_tiles : {c_view} -> tile<i32>
    %a_rows, %steps = get_index_space_shape %a_tiles : {a_view} -> tile<i32>
    %group = constant <i32: {group}> : tile<i32>
    %in_group = muli %group, %columns : tile<i32>
    %number = divi %block, %in_group signed : tile<i32>
    %first = muli %number, %group : tile<i32>
    %left = subi %rows, %first : tile<i32>
    %height = mini %left, %group signed : tile<i32>
    %within = remi %block, %in_group signed : tile<i32>
    %down = remi %within, %height signed : tile<i32>
    %row = addi %first, %down : tile<i32>
    %column = divi %within, %height signed : tile<i32>

    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %zeros = constant <f32: 0.0> : tile<{m}x{n}xf32>
    %sum = for %step in (%zero to %steps, step %one) : tile<i32>
        iter_values(%partial = %zeros) -> (tile<{m}x{n}xf32>) {{
      %x, %x_read = load_view_tko weak %a_tiles[%row, %step] : {a_view}, tile<i32> -> tile<{m}x{k}x{element}>, token
      %y, %y_read = load_view_tko weak %b_tiles[%step, %column] : {b_view}, tile<i32> -> tile<{k}x{n}x{element}>, token
      %next = mmaf %x, %y, %partial : tile<{m}x{k}x{element}>, tile<{k}x{n}x{element}>, tile<{m}x{n}xf32>
      continue %next : tile<{m}x{n}xf32>
    }}
    %rounded = ftof %sum : tile<{m}x{n}xf32> -> tile<{m}x{n}x{element}>
    %written = store_view_tko weak %rounded, %c_tiles[%row, %column]
      : tile<{m}x{n}x{element}>, {c_view}, tile<i32> -> token
  }}
}}
"""


def causal_attention(element: str, rows: int, columns: int, width: int = 128) -> str:
    """softmax(Q * transpose(K) * scale) * V in which row i sees the keys up to i only, without storing the scores, for
    a scale above 0: so the largest score is that of the largest product.

    Q, K, V and the result are [heads, length, width] with a length that `rows` divides; `columns` divides `rows`. Block
    (x, y) makes `rows` rows of head y. Keys before those rows need no mask; the loop over them comes first.
    """
    matrix = f"tensor_view<?x{width}x{element}, strides=[{width},1]>"
    q_view = f"partition_view<tile=({rows}x{width}), {matrix}>"
    k_view = f"partition_view<tile=({width}x{columns}), {matrix}, dim_map=[1, 0]>"
    v_view = f"partition_view<tile=({columns}x{width}), {matrix}>"
    line, scores, sums = f"tile<{rows}xf32>", f"tile<{rows}x{columns}xf32>", f"tile<{rows}x{width}xf32>"
    q_type, k_type, v_type = (
        f"tile<{extents}x{element}>" for extents in (f"{rows}x{width}", f"{width}x{columns}", f"{columns}x{width}")
    )

    def step(masked: bool) -> str:
        chosen = "scores" if masked else "products"
        mask = f"""
      %key_first = muli %key, %key_extent : tile<i32>
      %key_first_1x1 = reshape %key_first : tile<i32> -> tile<1x1xi32>
      %key_firsts = broadcast %key_first_1x1 : tile<1x1xi32> -> tile<{rows}x{columns}xi32>
      %key_number = addi %key_firsts, %numbers_along : tile<{rows}x{columns}xi32>
      %seen = cmpi less_than_or_equal %key_number, %row_number, signed
        : tile<{rows}x{columns}xi32> -> tile<{rows}x{columns}xi1>
      %scores = select %seen, %products, %nothing : tile<{rows}x{columns}xi1>, {scores}"""
        return f"""
      %at = addi %key_base, %key : tile<i32>
      %k_tile, %k_read = load_view_tko weak %k_tiles[%zero, %at] : {k_view}, tile<i32> -> {k_type}, token
      %v_tile, %v_read = load_view_tko weak %v_tiles[%at, %zero] : {v_view}, tile<i32> -> {v_type}, token
      %products = mmaf %q_tile, %k_tile, %no_scores
        : {q_type}, {k_type}, {scores}{mask if masked else ""}
      %largest_here = reduce %{chosen} dim=1 identities=[0xFF800000 : f32] : {scores} -> {line}
        (%left: tile<f32>, %right: tile<f32>) {{
          %larger = maxf %left, %right : tile<f32>
          yield %larger : tile<f32>
        }}
      %largest_scaled = mulf %largest_here, %row_factors : {line}
      %largest_next = maxf %largest, %largest_scaled : {line}
      %less = negf %largest_next : {line}
      %less_down = reshape %less : {line} -> tile<{rows}x1xf32>
      %less_all = broadcast %less_down : tile<{rows}x1xf32> -> {scores}
      %shifted = fma %{chosen}, %factors, %less_all : {scores}
      %weights = exp2 %shifted flush_to_zero : {scores}
      %total_here = reduce %weights dim=1 identities=[0.0 : f32] : {scores} -> {line}
        (%left: tile<f32>, %right: tile<f32>) {{
          %both = addf %left, %right : tile<f32>
          yield %both : tile<f32>
        }}
      %drop = subf %largest, %largest_next : {line}
      %shrink = exp2 %drop flush_to_zero : {line}
      %total_next = fma %total, %shrink, %total_here : {line}
      %shrink_down = reshape %shrink : {line} -> tile<{rows}x1xf32>
      %shrink_all = broadcast %shrink_down : tile<{rows}x1xf32> -> {sums}
      %sum_kept = mulf %sum, %shrink_all : {sums}
      %narrow = ftof %weights : {scores} -> tile<{rows}x{columns}x{element}>
      %sum_next = mmaf %narrow, %v_tile, %sum_kept
        : tile<{rows}x{columns}x{element}>, {v_type}, {sums}
      continue %largest_next, %total_next, %sum_next : {line}, {line}, {sums}"""

    carried = f"({line}, {line}, {sums})"
    return f"""
cuda_tile.module @attention {{
  entry @attention(%q: tile<ptr<{element}>>, %k: tile<ptr<{element}>>, %v: tile<ptr<{element}>>,
                   %out: tile<ptr<{element}>>, %heads: tile<i32>, %length: tile<i32>, %scale: tile<f32>) {{
    %all = muli %heads, %length : tile<i32>
    %q_rows = make_tensor_view %q, shape = [%all, {width}], strides = [{width}, 1] : tile<i32> -> {matrix}
    %k_rows = make_tensor_view %k, shape = [%all, {width}], strides = [{width}, 1] : tile<i32> -> {matrix}
    %v_rows = make_tensor_view %v, shape = [%all, {width}], strides = [{width}, 1] : tile<i32> -> {matrix}
    %out_rows = make_tensor_view %out, shape = [%all, {width}], strides = [{width}, 1] : tile<i32> -> {matrix}
    %q_tiles = make_partition_view %q_rows : {q_view}
    %k_tiles = make_partition_view %k_rows : {k_view}
    %v_tiles = make_partition_view %v_rows : {v_view}
    %out_tiles = make_partition_view %out_rows : {q_view}

    %block, %head, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %row_extent = constant <i32: {rows}> : tile<i32>
    %key_extent = constant <i32: {columns}> : tile<i32>
    %row_tiles = divi %length, %row_extent signed : tile<i32>
    %key_tiles = divi %length, %key_extent signed : tile<i32>
    %row_base = muli %head, %row_tiles : tile<i32>
    %key_base = muli %head, %key_tiles : tile<i32>
    %row_at = addi %row_base, %block : tile<i32>
    %q_tile, %q_read = load_view_tko weak %q_tiles[%row_at, %zero] : {q_view}, tile<i32> -> {q_type}, token

    %log2_e = constant <f32: 1.4426950408889634> : tile<f32>
    %factor = mulf %scale, %log2_e : tile<f32>
    %factor_1x1 = reshape %factor : tile<f32> -> tile<1x1xf32>
    %factors = broadcast %factor_1x1 : tile<1x1xf32> -> {scores}
    %factor_1 = reshape %factor : tile<f32> -> tile<1xf32>
    %row_factors = broadcast %factor_1 : tile<1xf32> -> {line}
    %row_first = muli %block, %row_extent : tile<i32>
    %row_first_1 = reshape %row_first : tile<i32> -> tile<1xi32>
    %row_firsts = broadcast %row_first_1 : tile<1xi32> -> tile<{rows}xi32>
    %rows_down = iota : tile<{rows}xi32>
    %row_numbers = addi %row_firsts, %rows_down : tile<{rows}xi32>
    %row_numbers_down = reshape %row_numbers : tile<{rows}xi32> -> tile<{rows}x1xi32>
    %row_number = broadcast %row_numbers_down : tile<{rows}x1xi32> -> tile<{rows}x{columns}xi32>
    %numbers = iota : tile<{columns}xi32>
    %numbers_1x = reshape %numbers : tile<{columns}xi32> -> tile<1x{columns}xi32>
    %numbers_along = broadcast %numbers_1x : tile<1x{columns}xi32> -> tile<{rows}x{columns}xi32>

    %no_scores = constant <f32: 0.0> : {scores}
    %nothing = constant <f32: 0xFF800000> : {scores}
    %largest_start = constant <f32: 0xFF800000> : {line}
    %total_start = constant <f32: 0.0> : {line}
    %sum_start = constant <f32: 0.0> : {sums}
    %unmasked = divi %row_first, %key_extent signed : tile<i32>
    %in_rows = constant <i32: {rows // columns}> : tile<i32>
    %end = addi %unmasked, %in_rows : tile<i32>
    %largest_then, %total_then, %sum_then = for %key in (%zero to %unmasked, step %one) : tile<i32>
        iter_values(%largest = %largest_start, %total = %total_start, %sum = %sum_start) -> {carried} {{{step(False)}
    }}
    %largest_end, %total_end, %sum_end = for %key in (%unmasked to %end, step %one) : tile<i32>
        iter_values(%largest = %largest_then, %total = %total_then, %sum = %sum_then) -> {carried} {{{step(True)}
    }}

    %total_down = reshape %total_end : {line} -> tile<{rows}x1xf32>
    %total_all = broadcast %total_down : tile<{rows}x1xf32> -> {sums}
    %mean = divf %sum_end, %total_all : {sums}
    %rounded = ftof %mean : {sums} -> tile<{rows}x{width}x{element}>
    %written = store_view_tko weak %rounded, %out_tiles[%row_at, %zero]
      : tile<{rows}x{width}x{element}>, {q_view}, tile<i32> -> token
  }}
}}
"""
