"""Programs that multiply matrices tile by tile through views, of any extents and strides."""

from __future__ import annotations

from dataclasses import dataclass

PARAMETERS = ("M", "N", "K", "sa", "sb", "sc")


@dataclass(frozen=True)
class Gemm:
    """C = A @ B, A of M x K, B of K x N (or of N x K, `b_by_rows` unset), C of M x N; rows begin `s…` elements apart.

    `known` divides all parameters, as the program promises. `load` and `hints` stand at both loads, `before` in front
    of the views, `token` is the token that the loads come after.
    """

    element: str = "f16"
    tile: tuple[int, int, int] = (128, 128, 64)
    b_by_rows: bool = True
    known: int = 16
    counted: str = "i32"
    padding: str | None = "zero"
    sums: str = "f32"
    load: str = "weak"
    hints: str = ""
    before: str = ""
    token: str = ""

    @property
    def text(self) -> str:
        m, n, k = self.tile
        tensor = f"tensor_view<?x?x{self.element}, strides=[?,1]>"
        out = f"tensor_view<?x?x{self.sums}, strides=[?,1]>"
        padding = "" if self.padding is None else f"padding_value = {self.padding}, "
        a = f"partition_view<tile=({m}x{k}), {padding}{tensor}>"
        b = f"partition_view<tile=({k}x{n}), {padding}{tensor}{'' if self.b_by_rows else ', dim_map=[1, 0]'}>"
        c = f"partition_view<tile=({m}x{n}), {out}>"
        b_shape = "%K, %N" if self.b_by_rows else "%N, %K"
        count, index = f"tile<{self.counted}>", "tile<i32>"
        pointers = [("a", self.element), ("b", self.element), ("c", self.sums)]
        types = {name: f"tile<ptr<{element}>>" for name, element in pointers} | dict.fromkeys(PARAMETERS, count)
        assumes = [f"  %{name} = assume div_by<{self.known}>, %{name}0 : {type}" for name, type in types.items()]
        return f"""
entry @k({", ".join(f"%{name}0: {type}" for name, type in types.items())}) {{
{chr(10).join(assumes)}
  {self.before}
  %A = make_tensor_view %a, shape = [%M, %K], strides = [%sa, 1] : {count} -> {tensor}
  %B = make_tensor_view %b, shape = [{b_shape}], strides = [%sb, 1] : {count} -> {tensor}
  %C = make_tensor_view %c, shape = [%M, %N], strides = [%sc, 1] : {count} -> {out}
  %va = make_partition_view %A : {a}
  %vb = make_partition_view %B : {b}
  %vc = make_partition_view %C : {c}
  %x, %y, %z = get_tile_block_id : {index}
  %zero = constant <i32: 0> : {index}
  %one = constant <i32: 1> : {index}
  %rows, %steps = get_index_space_shape %va : {a} -> {index}
  %nothing = constant <{self.sums}: 0.0> : tile<{m}x{n}x{self.sums}>
  %sums = for %i in (%zero to %steps, step %one) : {index}
      iter_values(%sum = %nothing) -> (tile<{m}x{n}x{self.sums}>) {{
    %p, %t1 = load_view_tko {self.load} %va[%x, %i]{self.token}{self.hints}
        : {a}, {index} -> tile<{m}x{k}x{self.element}>, token
    %q, %t2 = load_view_tko {self.load} %vb[%i, %y]{self.token}{self.hints}
        : {b}, {index} -> tile<{k}x{n}x{self.element}>, token
    %next = mmaf %p, %q, %sum : tile<{m}x{k}x{self.element}>, tile<{k}x{n}x{self.element}>, tile<{m}x{n}x{self.sums}>
    continue %next : tile<{m}x{n}x{self.sums}>
  }}
  %t3 = store_view_tko weak %sums, %vc[%x, %y] : tile<{m}x{n}x{self.sums}>, {c}, {index} -> token
}}
"""
