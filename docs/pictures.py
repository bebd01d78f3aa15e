"""Pictures of views for the page about the language, drawn from the interpreter's loads.

Each element of a tile is traced to the tensor by the value that a load gives.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import tileir

ROWS, COLUMNS = 6, 10
CELL, EDGE, GAP = 30, 16, 26
COLOURS = ("#5b8def", "#f2a541", "#59b377", "#c86dd7", "#e0605e", "#49b6c4")
OUTSIDE = -1
_PROGRAM = """entry @k(%p: tile<ptr<i32>>, %q: tile<ptr<i32>>, %i: tile<i32>, %j: tile<i32>) {{
  %t = make_tensor_view %p, shape = [{rows}, {columns}], strides = [{columns}, 1] : {tensor}
  %v = make_{kind} %t : {view}
  {index}
  %tile, %read = load_view_tko weak %v[{at}] : {view}, {index_types} -> tile<{tile}xi32>, token
  %o = make_tensor_view %q, shape = {shape}, strides = {strides} : {out}
  %w = make_partition_view %o : partition_view<tile=({tile}), {out}>
  %zero = constant <i32: 0> : tile<i32>
  %written = store_view_tko weak %tile, %w[%zero, %zero]
      : tile<{tile}xi32>, partition_view<tile=({tile}), {out}>, tile<i32> -> token
}}"""
_TENSOR = f"tensor_view<{ROWS}x{COLUMNS}xi32, strides=[{COLUMNS},1]>"


@dataclass(frozen=True)
class Picture:
    """Some tiles of a view of a tensor of 6 by 10 elements; `options` and `tail` are parts of the type of the view.

    ``rows`` are the gathered rows where the view takes such in place of the first index.
    """

    title: str
    kind: str
    tile: tuple[int, int]
    options: str
    tail: str
    tiles: tuple[tuple[int, int], ...]
    rows: tuple[int, ...] = ()

    @property
    def view(self) -> str:
        height, width = self.tile
        return f"{self.kind}<tile=({height}x{width}){self.options}, {_TENSOR}{self.tail}>"


PICTURES = {
    "partition": Picture(
        "partition_view, tile=(2x4): tiles [0, 0], [1, 1], [2, 2]",
        "partition_view", (2, 4), ", padding_value = zero", "", ((0, 0), (1, 1), (2, 2)),
    ),
    "strided": Picture(
        "strided_view, tile=(2x4), traversal_strides=[2,3]: tiles [0, 0], [0, 1], [1, 2]",
        "strided_view", (2, 4), ", traversal_strides=[2,3], padding_value = zero", "", ((0, 0), (0, 1), (1, 2)),
    ),
    "gather": Picture(
        "gather_scatter_view, tile=(4x2), sparse_dim=0: rows [4, 0, 5, 2] from column 3 on",
        "gather_scatter_view", (4, 2), ", padding_value = zero", ", sparse_dim=0", ((0, 3),), (4, 0, 5, 2),
    ),
    "dim_map": Picture(
        "partition_view, tile=(4x2), dim_map=[1, 0]: tiles [0, 0], [1, 1]",
        "partition_view", (4, 2), ", padding_value = zero", ", dim_map=[1, 0]", ((0, 0), (1, 1)),
    ),
}  # fmt: skip


def loaded(picture: Picture, tile: tuple[int, int]) -> np.ndarray:
    """For each element of a tile its number in the tensor, or OUTSIDE."""
    height, width = picture.tile
    rows = ", ".join(map(str, picture.rows))
    text = _PROGRAM.format(
        rows=ROWS, columns=COLUMNS, tensor=_TENSOR, kind=picture.kind, view=picture.view, tile=f"{height}x{width}",
        index=f"%rows = constant <i32: [{rows}]> : tile<{height}xi32>" if rows else "",
        at="%rows, %j" if rows else "%i, %j",
        index_types=f"tile<{height}xi32>, tile<i32>" if rows else "tile<i32>",
        shape=[height, width], strides=[width, 1], out=f"tensor_view<{height}x{width}xi32, strides=[{width},1]>",
    )  # fmt: skip
    numbers = np.arange(1, ROWS * COLUMNS + 1, dtype=np.int32)
    found = np.zeros(picture.tile, np.int32)
    tileir.parse(text)["k"].launch(1, numbers, found, *tile, target="interp")
    return found - 1


def drawn(picture: Picture) -> str:
    """The picture as SVG: the tensor, and beside it each tile with the numbers of its elements in the tensor."""
    tiles = [loaded(picture, tile) for tile in picture.tiles]
    owners: dict[int, list[int]] = {}
    for number, elements in enumerate(tiles):
        for element in elements.ravel().tolist():
            owners.setdefault(element, []).append(number)
    body = [_text(EDGE, 20, picture.title, "start", 14)]
    for element in range(ROWS * COLUMNS):
        row, column = divmod(element, COLUMNS)
        body += _cell(EDGE + column * CELL, 34 + row * CELL, str(element), owners.get(element, []))
    left, top, bottom = EDGE + COLUMNS * CELL + GAP, 34, 34 + ROWS * CELL
    for number, elements in enumerate(tiles):
        height, width = elements.shape
        body.append(_text(left, top + 10, _name(picture, number), "start", 12))
        for (row, column), element in np.ndenumerate(elements):
            owned = [] if element == OUTSIDE else [number]
            label = "pad" if element == OUTSIDE else str(element)
            body += _cell(left + column * CELL, top + 16 + row * CELL, label, owned, element == OUTSIDE)
        top += 16 + height * CELL + 14
        bottom = max(bottom, top)
    width = max(left + picture.tile[1] * CELL + 60, EDGE + 8 * len(picture.title))
    style = "<style>text{font-family:sans-serif;fill:#222}rect.page{fill:#fff}</style>"
    page = f'<rect class="page" width="{width}" height="{bottom + EDGE}"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + EDGE}" width="{width}">'
    return "\n".join([head, style, page, *body, "</svg>"]) + "\n"


def _name(picture: Picture, number: int) -> str:
    first, second = picture.tiles[number]
    return f"tile [rows, {second}]" if picture.rows else f"tile [{first}, {second}]"


def _cell(left: int, top: int, label: str, owners: list[int], padded: bool = False) -> list[str]:
    """A square in the colours of the tiles that have the element; of several, each has a stripe."""
    width = CELL / max(1, len(owners))
    stripes = [
        f'<rect x="{left + index * width:g}" y="{top}" width="{width:g}" height="{CELL}" fill="{COLOURS[owner]}" '
        'fill-opacity="0.55"/>'
        for index, owner in enumerate(owners)
    ]
    dash = ' stroke-dasharray="3 3"' if padded else ""
    frame = f'<rect x="{left}" y="{top}" width="{CELL}" height="{CELL}" fill="none" stroke="#888"{dash}/>'
    return [*stripes, frame, _text(left + CELL // 2, top + CELL // 2 + 4, label, "middle", 11)]


def _text(left: int, top: int, text: str, anchor: str, size: int) -> str:
    return f'<text x="{left}" y="{top}" text-anchor="{anchor}" font-size="{size}">{text}</text>'
