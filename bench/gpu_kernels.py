"""Programs of which the GPU benchmark needs several versions: one kernel with various tiles and element types."""

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

    Consecutive blocks take tiles of C in columns of `group`, so that their inputs are still in the cache.
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
