"""Attention as it is swept: causal or not, keys shared by groups of heads, 64 or 128 wide, in f32 and bf16."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from string import Template

import ml_dtypes
import numpy as np
from cases import AHEAD, Action, Case, normal, tiles, torch, written

LONG = 256
"""Queries from which on there are enough of them for larger tiles of keys."""


@dataclass(frozen=True)
class Tiling:
    """Rows of a tile, and keys of one step: wide tiles make few steps, but compute more that a causal mask discards."""

    queries: int = 64
    keys: int = 64


@dataclass(frozen=True)
class Kind:
    """`group`: heads that share keys and values; `width`: of a head."""

    element: str = "f32"
    width: int = 64
    causal: bool = False
    group: int = 1

    @property
    def name(self) -> str:
        words = [f"{self.width} wide", self.element]
        return ", ".join(words + ["causal"] * self.causal + [f"{self.group} heads for each key"] * (self.group > 1))

    def tiling(self, length: int) -> Tiling:
        """The tiles that are fastest on the processor that sweeps are measured on."""
        return Tiling() if self.causal or length < LONG else Tiling(32, 128)


_VIEW = Template("""
    %${name}_view = make_tensor_view %${name}, shape = [%${heads}, %length, ${w}], strides = [%apart, ${w}, 1]
      : tile<i32> -> ${tensor}
    %${name}_tiles = make_partition_view %${name}_view : partition_view<tile=(${box})${rest}, ${tensor}${turned}>""")
_LIMIT = Template("""
    %next_block = addi %block, %one : tile<i32>
    %reach = muli %next_block, %rows : tile<i32>
    %seen_steps = divi %reach, %columns signed rounding<positive_inf> : tile<i32>
    %steps = mini %all_steps, %seen_steps signed : tile<i32>
    %first_row = muli %block, %rows : tile<i32>
    %first_row_1x1 = reshape %first_row : tile<i32> -> tile<1x1xi32>
    %first_row_down = broadcast %first_row_1x1 : tile<1x1xi32> -> tile<${q}x1xi32>
    %lines = iota : tile<${q}xi32>
    %lines_down = reshape %lines : tile<${q}xi32> -> tile<${q}x1xi32>
    %row_down = addi %lines_down, %first_row_down : tile<${q}x1xi32>
    %row_all = broadcast %row_down : tile<${q}x1xi32> -> tile<${q}x${n}xi32>""")
"""Bounds for a row that sees no later keys: the number of steps of its tile, and the numbers of its rows."""
_MASK = Template("""
      %first_1x1 = reshape %first : tile<i32> -> tile<1x1xi32>
      %first_along = broadcast %first_1x1 : tile<1x1xi32> -> tile<1x${n}xi32>
      %column_along = addi %numbers_along, %first_along : tile<1x${n}xi32>
      %column_all = broadcast %column_along : tile<1x${n}xi32> -> tile<${q}x${n}xi32>
      %before = cmpi less_than_or_equal %column_all, %row_all, signed : tile<${q}x${n}xi32> -> tile<${q}x${n}xi1>
      %seen = andi %inside_all, %before : tile<${q}x${n}xi1>""")
"""The keys of a step that the rows see then."""
_KERNEL = Template("""entry @attention(%q: tile<ptr<${e}>>, %k: tile<ptr<${e}>>, %v: tile<ptr<${e}>>,
                 %out: tile<ptr<${e}>>,
                 %heads: tile<i32>, %length: tile<i32>, %scale: tile<f32>) {
    %group = constant <i32: ${group}> : tile<i32>
    %wide = constant <i32: ${w}> : tile<i32>
    %rows = constant <i32: ${q}> : tile<i32>
    %columns = constant <i32: ${n}> : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %apart = muli %length, %wide : tile<i32>
    %kept = divi %heads, %group signed : tile<i32>${views}
    %block, %head, %block_z = get_tile_block_id : tile<i32>
    %key_head = divi %head, %group signed : tile<i32>
    %all_steps = divi %length, %columns signed rounding<positive_inf> : tile<i32>${last}
    %q_1, %q_read = load_view_tko weak %q_tiles[%head, %block, %zero]
      : ${q_view}, tile<i32> -> tile<1x${q}x${w}x${e}>, token
    %q_tile = reshape %q_1 : tile<1x${q}x${w}x${e}> -> tile<${q}x${w}x${e}>
    %log2_e = constant <f32: 1.4426950408889634> : tile<f32>
    %factor = mulf %scale, %log2_e : tile<f32>
    %factor_1x1 = reshape %factor : tile<f32> -> tile<1x1xf32>
    %factors = broadcast %factor_1x1 : tile<1x1xf32> -> ${square}
    %numbers = iota : tile<${n}xi32>
    %numbers_along = reshape %numbers : tile<${n}xi32> -> tile<1x${n}xi32>
    %no_scores = constant <f32: 0.0> : ${square}
    %minus_infinity = constant <f32: 0xFF800000> : ${square}
    %largest_start = constant <f32: 0xFF800000> : ${down}
    %total_start = constant <f32: 0.0> : ${down}
    %sum_start = constant <f32: 0.0> : ${matrix}
    %largest_end, %total_end, %sum_end = for %step in (%zero to ${steps}, step %one) : tile<i32>
        iter_values(%largest = %largest_start, %total = %total_start, %sum = %sum_start)
        -> (${down}, ${down}, ${matrix}) {
      %k_1, %k_read = load_view_tko weak %k_tiles[%key_head, %zero, %step]
        : ${k_view}, tile<i32> -> tile<1x${w}x${n}x${e}>, token
      %v_1, %v_read = load_view_tko weak %v_tiles[%key_head, %step, %zero]
        : ${v_view}, tile<i32> -> tile<1x${n}x${w}x${e}>, token
      %k_tile = reshape %k_1 : tile<1x${w}x${n}x${e}> -> tile<${w}x${n}x${e}>
      %v_tile = reshape %v_1 : tile<1x${n}x${w}x${e}> -> tile<${n}x${w}x${e}>
      %products = mmaf %q_tile, %k_tile, %no_scores : tile<${q}x${w}x${e}>, tile<${w}x${n}x${e}>, ${square}
      %all_scores = mulf %products, %factors : ${square}
      %first = muli %step, %columns : tile<i32>
      %left_over = subi %length, %first : tile<i32>
      %left_over_1x1 = reshape %left_over : tile<i32> -> tile<1x1xi32>
      %left_over_along = broadcast %left_over_1x1 : tile<1x1xi32> -> tile<1x${n}xi32>
      %inside = cmpi less_than %numbers_along, %left_over_along, signed : tile<1x${n}xi32> -> tile<1x${n}xi1>
      %inside_all = broadcast %inside : tile<1x${n}xi1> -> tile<${q}x${n}xi1>${causal}
      %scores = select ${seen}, %all_scores, %minus_infinity : tile<${q}x${n}xi1>, ${square}
      %largest_here = reduce %scores dim=1 identities=[0xFF800000 : f32] : ${square} -> ${down}
        (%left: tile<f32>, %right: tile<f32>) {
          %larger = maxf %left, %right : tile<f32>
          yield %larger : tile<f32>
        }
      %largest_next = maxf %largest, %largest_here : ${down}
      %largest_down = reshape %largest_next : ${down} -> tile<${q}x1xf32>
      %largest_all = broadcast %largest_down : tile<${q}x1xf32> -> ${square}
      %shifted = subf %scores, %largest_all : ${square}
      %weights = exp2 %shifted : ${square}
      %total_here = reduce %weights dim=1 identities=[0.0 : f32] : ${square} -> ${down}
        (%left: tile<f32>, %right: tile<f32>) {
          %both = addf %left, %right : tile<f32>
          yield %both : tile<f32>
        }
      %drop = subf %largest, %largest_next : ${down}
      %shrink = exp2 %drop : ${down}
      %total_next = fma %total, %shrink, %total_here : ${down}
      %shrink_down = reshape %shrink : ${down} -> tile<${q}x1xf32>
      %shrink_all = broadcast %shrink_down : tile<${q}x1xf32> -> ${matrix}
      %sum_kept = mulf %sum, %shrink_all : ${matrix}
      ${weights}
      %sum_next = mmaf ${rounded_weights}, %v_tile, %sum_kept
        : tile<${q}x${n}x${e}>, tile<${n}x${w}x${e}>, ${matrix}
      continue %largest_next, %total_next, %sum_next : ${down}, ${down}, ${matrix}
    }
    %total_down = reshape %total_end : ${down} -> tile<${q}x1xf32>
    %total_all = broadcast %total_down : tile<${q}x1xf32> -> ${matrix}
    %mean = divf %sum_end, %total_all : ${matrix}
    ${result}
    %mean_1 = reshape ${rounded_mean} : tile<${q}x${w}x${e}> -> tile<1x${q}x${w}x${e}>
    %written = store_view_tko weak %mean_1, %out_tiles[%head, %block, %zero]
      : tile<1x${q}x${w}x${e}>, partition_view<tile=(1x${q}x${w}), ${tensor}>, tile<i32> -> token
}
""")


def _view(kind: Kind, name: str, rows: int, heads: str, padding: str = ", padding_value = zero") -> str:
    """The view of an array; that of the keys is turned."""
    turned = name == "k"
    box = f"1x{kind.width}x{rows}" if turned else f"1x{rows}x{kind.width}"
    map_ = ", dim_map=[0, 2, 1]" if turned else ""
    return _VIEW.substitute(
        name=name, heads=heads, w=kind.width, tensor=_tensor(kind), box=box, rest=padding, turned=map_
    )


def _tensor(kind: Kind) -> str:
    return f"tensor_view<?x?x{kind.width}x{kind.element}, strides=[?,{kind.width},1]>"


def _text(kind: Kind, tiling: Tiling) -> str:
    q, n, w, e, tensor = tiling.queries, tiling.keys, kind.width, kind.element, _tensor(kind)
    padded = f"partition_view<tile=(1x{{}}x{w}), padding_value = zero, {tensor}>"
    square, matrix = f"tile<{q}x{n}xf32>", f"tile<{q}x{w}xf32>"
    narrow = e != "f32"
    arrays = (("q", q, "heads"), ("k", n, "kept"), ("v", n, "kept"), ("out", q, "heads", ""))
    return _KERNEL.substitute(
        q=q,
        n=n,
        w=w,
        e=e,
        tensor=tensor,
        group=kind.group,
        views="".join(_view(kind, *array) for array in arrays),
        q_view=padded.format(q),
        v_view=padded.format(n),
        k_view=f"partition_view<tile=(1x{w}x{n}), padding_value = zero, {tensor}, dim_map=[0, 2, 1]>",
        last=_LIMIT.substitute(q=q, n=n) if kind.causal else "",
        causal=_MASK.substitute(q=q, n=n) if kind.causal else "",
        seen="%seen" if kind.causal else "%inside_all",
        steps="%steps" if kind.causal else "%all_steps",
        down=f"tile<{q}xf32>",
        square=square,
        matrix=matrix,
        weights=f"%rounded = ftof %weights : {square} -> tile<{q}x{n}x{e}>" if narrow else "",
        rounded_weights="%rounded" if narrow else "%weights",
        result=f"%rounded_mean = ftof %mean : {matrix} -> tile<{q}x{w}x{e}>" if narrow else "",
        rounded_mean="%rounded_mean" if narrow else "%mean",
    )


def _kernel(kind: Kind, tiling: Tiling) -> Path:
    name = f"attention_{kind.element}_{kind.width}_{kind.causal:d}_{kind.group}_{tiling.queries}x{tiling.keys}"
    return written(name, _text(kind, tiling))


def _exact(kind: Kind, q: np.ndarray, k: np.ndarray, v: np.ndarray, head: int) -> np.ndarray:
    q, k, v = (array.astype(np.float64) for array in (q[head], k[head // kind.group], v[head // kind.group]))
    scores = q @ k.T / np.sqrt(kind.width)
    if kind.causal:
        scores[np.triu_indices(len(scores), 1)] = -np.inf
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True) @ v


def _case(kind: Kind, heads: int, length: int) -> Case:
    library = torch()
    dtype, name = (np.float32, "float32") if kind.element == "f32" else (ml_dtypes.bfloat16, "bfloat16")
    given = (normal(count, length, kind.width) for count in (heads, heads // kind.group, heads // kind.group))
    q, k, v = (array.astype(dtype) for array in given)
    out = np.zeros_like(q)
    tensors = [library.from_numpy(array.astype(np.float32)).to(getattr(library, name))[None] for array in (q, k, v)]

    def check() -> None:
        tolerance = 1e-5 if kind.element == "f32" else 2e-2
        for head in {0, heads // 2, heads - 1}:
            exact = _exact(kind, q, k, v, head)
            error = np.max(np.abs(out[head].astype(np.float64) - exact)) / np.max(np.abs(exact))
            assert error <= tolerance, f"head {head} is off by {error:.2g}, expected at most {tolerance:g}"

    options = {"is_causal": kind.causal, "enable_gqa": kind.group > 1}
    attend = library.nn.functional.scaled_dot_product_attention
    peers: dict[str, Action] = {"torch attention": lambda: attend(*tensors, **options)}
    arguments = (q, k, v, out, heads, length, kind.width**-0.5)
    title, tiling = f"attention {heads} x {length}, {kind.name}", kind.tiling(length)
    grid = tiles(length, tiling.queries), heads
    return Case(title, _kernel(kind, tiling), "attention", grid, arguments, check, peers, AHEAD)


KINDS = {
    "attention_f32_64": Kind(),
    "attention_f32_128": Kind(width=128),
    "attention_f32_64_causal": Kind(causal=True),
    "attention_f32_128_causal_gqa": Kind(width=128, causal=True, group=4),
    "attention_bf16_64": Kind("bf16"),
    "attention_bf16_128_causal": Kind("bf16", 128, causal=True),
    "attention_bf16_128_gqa": Kind("bf16", 128, group=4),
}
"""The sweeps, by name."""
CASES = {name: lambda heads, length, kind=kind: _case(kind, heads, length) for name, kind in KINDS.items()}
