"""Attention for the GPU benchmark, for any tiles."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CausalAttention:
    """softmax(Q * transpose(K) * scale) * V in which row i sees the keys up to i only, without storing the scores, for
    a scale above 0: so the largest score is that of the largest product.

    Q, K, V and the result are [heads, length, width] with a length that `rows` divides; `columns` divides `rows`. Block
    (x, y) makes `rows` rows of head y. Keys before those rows need no mask; the loop over them comes first.
    """

    element: str
    rows: int
    columns: int
    width: int = 128

    def text(self) -> str:
        """The program; its kernel is called ``attention``."""
        parts = (self._beginning(), self._numbers(), self._loops(), self._end())
        return "".join(parts)

    # ---------------------------------------------------------------- types

    @property
    def matrix(self) -> str:
        return f"tensor_view<?x{self.width}x{self.element}, strides=[{self.width},1]>"

    @property
    def q_view(self) -> str:
        return f"partition_view<tile=({self.rows}x{self.width}), {self.matrix}>"

    @property
    def k_view(self) -> str:
        return f"partition_view<tile=({self.width}x{self.columns}), {self.matrix}, dim_map=[1, 0]>"

    @property
    def v_view(self) -> str:
        return f"partition_view<tile=({self.columns}x{self.width}), {self.matrix}>"

    @property
    def q_type(self) -> str:
        return f"tile<{self.rows}x{self.width}x{self.element}>"

    @property
    def k_type(self) -> str:
        return f"tile<{self.width}x{self.columns}x{self.element}>"

    @property
    def v_type(self) -> str:
        return f"tile<{self.columns}x{self.width}x{self.element}>"

    @property
    def line(self) -> str:
        return f"tile<{self.rows}xf32>"

    @property
    def scores(self) -> str:
        return f"tile<{self.rows}x{self.columns}xf32>"

    @property
    def sums(self) -> str:
        return f"tile<{self.rows}x{self.width}xf32>"

    # ---------------------------------------------------------------- parts of the program

    def _beginning(self) -> str:
        """The views, where the block works, and its tile of Q."""
        return f"""
cuda_tile.module @attention {{
  entry @attention(%q: tile<ptr<{self.element}>>, %k: tile<ptr<{self.element}>>, %v: tile<ptr<{self.element}>>,
                   %out: tile<ptr<{self.element}>>, %heads: tile<i32>, %length: tile<i32>, %scale: tile<f32>) {{
    %all = muli %heads, %length : tile<i32>
    %q_rows = make_tensor_view %q, shape = [%all, {self.width}], strides = [{self.width}, 1]
      : tile<i32> -> {self.matrix}
    %k_rows = make_tensor_view %k, shape = [%all, {self.width}], strides = [{self.width}, 1]
      : tile<i32> -> {self.matrix}
    %v_rows = make_tensor_view %v, shape = [%all, {self.width}], strides = [{self.width}, 1]
      : tile<i32> -> {self.matrix}
    %out_rows = make_tensor_view %out, shape = [%all, {self.width}], strides = [{self.width}, 1]
      : tile<i32> -> {self.matrix}
    %q_tiles = make_partition_view %q_rows : {self.q_view}
    %k_tiles = make_partition_view %k_rows : {self.k_view}
    %v_tiles = make_partition_view %v_rows : {self.v_view}
    %out_tiles = make_partition_view %out_rows : {self.q_view}

    %block, %head, %block_z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %row_extent = constant <i32: {self.rows}> : tile<i32>
    %key_extent = constant <i32: {self.columns}> : tile<i32>
    %row_tiles = divi %length, %row_extent signed : tile<i32>
    %key_tiles = divi %length, %key_extent signed : tile<i32>
    %row_base = muli %head, %row_tiles : tile<i32>
    %key_base = muli %head, %key_tiles : tile<i32>
    %row_at = addi %row_base, %block : tile<i32>
    %q_tile, %q_read = load_view_tko weak %q_tiles[%row_at, %zero] : {self.q_view}, tile<i32> -> {self.q_type}, token

"""

    def _numbers(self) -> str:
        """The scale, and the numbers of the rows and of the keys in a tile."""
        return f"""    %log2_e = constant <f32: 1.4426950408889634> : tile<f32>
    %factor = mulf %scale, %log2_e : tile<f32>
    %factor_1x1 = reshape %factor : tile<f32> -> tile<1x1xf32>
    %factors = broadcast %factor_1x1 : tile<1x1xf32> -> {self.scores}
    %factor_1 = reshape %factor : tile<f32> -> tile<1xf32>
    %row_factors = broadcast %factor_1 : tile<1xf32> -> {self.line}
    %row_first = muli %block, %row_extent : tile<i32>
    %row_first_1 = reshape %row_first : tile<i32> -> tile<1xi32>
    %row_firsts = broadcast %row_first_1 : tile<1xi32> -> tile<{self.rows}xi32>
    %rows_down = iota : tile<{self.rows}xi32>
    %row_numbers = addi %row_firsts, %rows_down : tile<{self.rows}xi32>
    %row_numbers_down = reshape %row_numbers : tile<{self.rows}xi32> -> tile<{self.rows}x1xi32>
    %row_number = broadcast %row_numbers_down : tile<{self.rows}x1xi32> -> tile<{self.rows}x{self.columns}xi32>
    %numbers = iota : tile<{self.columns}xi32>
    %numbers_1x = reshape %numbers : tile<{self.columns}xi32> -> tile<1x{self.columns}xi32>
    %numbers_along = broadcast %numbers_1x : tile<1x{self.columns}xi32> -> tile<{self.rows}x{self.columns}xi32>

"""

    def _loops(self) -> str:
        """The keys that all rows see, then those that some do."""
        return f"""    %no_scores = constant <f32: 0.0> : {self.scores}
    %nothing = constant <f32: 0xFF800000> : {self.scores}
    %largest_start = constant <f32: 0xFF800000> : {self.line}
    %total_start = constant <f32: 0.0> : {self.line}
    %sum_start = constant <f32: 0.0> : {self.sums}
    %unmasked = divi %row_first, %key_extent signed : tile<i32>
    %in_rows = constant <i32: {self.rows // self.columns}> : tile<i32>
    %end = addi %unmasked, %in_rows : tile<i32>
    %largest_then, %total_then, %sum_then = for %key in (%zero to %unmasked, step %one) : tile<i32>
        iter_values(%largest = %largest_start, %total = %total_start, %sum = %sum_start)
        -> ({self.line}, {self.line}, {self.sums}) {{{self._step(False)}
    }}
    %largest_end, %total_end, %sum_end = for %key in (%unmasked to %end, step %one) : tile<i32>
        iter_values(%largest = %largest_then, %total = %total_then, %sum = %sum_then)
        -> ({self.line}, {self.line}, {self.sums}) {{{self._step(True)}
    }}

"""

    def _step(self, masked: bool) -> str:
        """One tile of keys."""
        chosen = "scores" if masked else "products"
        return f"""
      %at = addi %key_base, %key : tile<i32>
      %k_tile, %k_read = load_view_tko weak %k_tiles[%zero, %at] : {self.k_view}, tile<i32> -> {self.k_type}, token
      %v_tile, %v_read = load_view_tko weak %v_tiles[%at, %zero] : {self.v_view}, tile<i32> -> {self.v_type}, token
      %products = mmaf %q_tile, %k_tile, %no_scores
        : {self.q_type}, {self.k_type}, {self.scores}{self._mask() if masked else ""}
      %largest_here = reduce %{chosen} dim=1 identities=[0xFF800000 : f32] : {self.scores} -> {self.line}
        (%left: tile<f32>, %right: tile<f32>) {{
          %larger = maxf %left, %right : tile<f32>
          yield %larger : tile<f32>
        }}
      %largest_scaled = mulf %largest_here, %row_factors : {self.line}
      %largest_next = maxf %largest, %largest_scaled : {self.line}
      %less = negf %largest_next : {self.line}
      %less_down = reshape %less : {self.line} -> tile<{self.rows}x1xf32>
      %less_all = broadcast %less_down : tile<{self.rows}x1xf32> -> {self.scores}
      %shifted = fma %{chosen}, %factors, %less_all : {self.scores}
      %weights = exp2 %shifted flush_to_zero : {self.scores}
      %total_here = reduce %weights dim=1 identities=[0.0 : f32] : {self.scores} -> {self.line}
        (%left: tile<f32>, %right: tile<f32>) {{
          %both = addf %left, %right : tile<f32>
          yield %both : tile<f32>
        }}
      %drop = subf %largest, %largest_next : {self.line}
      %shrink = exp2 %drop flush_to_zero : {self.line}
      %total_next = fma %total, %shrink, %total_here : {self.line}
      %shrink_down = reshape %shrink : {self.line} -> tile<{self.rows}x1xf32>
      %shrink_all = broadcast %shrink_down : tile<{self.rows}x1xf32> -> {self.sums}
      %sum_kept = mulf %sum, %shrink_all : {self.sums}
      %narrow = ftof %weights : {self.scores} -> tile<{self.rows}x{self.columns}x{self.element}>
      %sum_next = mmaf %narrow, %v_tile, %sum_kept
        : tile<{self.rows}x{self.columns}x{self.element}>, {self.v_type}, {self.sums}
      continue %largest_next, %total_next, %sum_next : {self.line}, {self.line}, {self.sums}"""

    def _mask(self) -> str:
        """The mask that leaves out the keys behind a row."""
        return f"""
      %key_first = muli %key, %key_extent : tile<i32>
      %key_first_1x1 = reshape %key_first : tile<i32> -> tile<1x1xi32>
      %key_firsts = broadcast %key_first_1x1 : tile<1x1xi32> -> tile<{self.rows}x{self.columns}xi32>
      %key_number = addi %key_firsts, %numbers_along : tile<{self.rows}x{self.columns}xi32>
      %seen = cmpi less_than_or_equal %key_number, %row_number, signed
        : tile<{self.rows}x{self.columns}xi32> -> tile<{self.rows}x{self.columns}xi1>
      %scores = select %seen, %products, %nothing : tile<{self.rows}x{self.columns}xi1>, {self.scores}"""

    def _end(self) -> str:
        """The weighted mean of V."""
        return f"""    %total_down = reshape %total_end : {self.line} -> tile<{self.rows}x1xf32>
    %total_all = broadcast %total_down : tile<{self.rows}x1xf32> -> {self.sums}
    %mean = divf %sum_end, %total_all : {self.sums}
    %rounded = ftof %mean : {self.sums} -> tile<{self.rows}x{self.width}x{self.element}>
    %written = store_view_tko weak %rounded, %out_tiles[%row_at, %zero]
      : tile<{self.rows}x{self.width}x{self.element}>, {self.q_view}, tile<i32> -> token
  }}
}}
"""
