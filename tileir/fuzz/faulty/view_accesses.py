"""Accesses through views, most of them with one fault."""

from __future__ import annotations

from math import prod

from tileir.fuzz.faulty.draft import (
    ELEMENTS,
    ORDERINGS,
    WILD,
    FaultyArray,
    FaultyDraft,
    an_element,
    finish,
    indices,
    is_wrong,
    some_tiles,
    tile,
)


def _tensor(draft: FaultyDraft, element: str, rank: int, writable: bool) -> tuple[str, str, list[int]]:
    """Return a tensor view that may claim more than its array has: its name, its type, its extents."""
    random = draft.random
    extents = [random.randint(1, 9) for _ in range(rank)]
    strides = [prod(extents[dim + 1 :]) for dim in range(rank)]
    if random.random() < 0.5:
        order, step = random.choice((list(reversed(range(rank))), random.sample(range(rank), rank))), 1
        for dim in order:
            strides[dim], step = step, step * extents[dim] + random.choice((0, 0, 1, 3))
    needed = sum((extent - 1) * stride for extent, stride in zip(extents, strides)) + 1
    count = needed
    base = draft.array(element, count)
    array = draft.arguments[-1]
    assert isinstance(array, FaultyArray)
    if random.random() < 0.7:
        array.layout = [[extent, stride] for extent, stride in zip(extents, strides)]
    else:
        draft.space_out()
    if writable and random.random() < 0.9:
        array.writable = True
    if is_wrong(draft):
        choice = random.randrange(5)
        dim = random.randrange(rank)
        if choice == 0:
            extents[dim] += random.choice((1, 2, 7, 1 << 20))
        elif choice == 1:
            strides[dim] += random.choice((1, 3, 1 << 24))
        elif choice == 2:
            fewer = random.choice((1, 2, array.count))
            array.count = max(0, array.count - fewer)
            if array.layout:
                array.layout[0][0] = max(0, array.layout[0][0] - fewer)
        elif choice == 3:
            by = draft.number(random.choice((1, -1, 5, 1 << 20)))
            base = draft.line(f"offset {base}, {by} : tile<ptr<{element}>>, tile<i32> -> tile<ptr<{element}>>")
        else:
            extents[dim] = random.choice(WILD)
    shape, types, given = [], [], []
    for extent in extents:
        dynamic = random.random() < 0.5 or extent < 0
        shape.append(draft.number(extent) if dynamic else str(extent))
        types.append("?" if dynamic else str(extent))
        given += ["i32"] if dynamic else []
    steps, step_types = [], []
    for stride in strides:
        dynamic = random.random() < 0.3
        steps.append(draft.number(stride) if dynamic else str(stride))
        step_types.append("?" if dynamic else str(stride))
        given += ["i32"] if dynamic else []
    type = f"tensor_view<{''.join(f'{entry}x' for entry in types)}{element}, strides=[{','.join(step_types)}]>"
    operands = "tile<i32> -> " if given else ""
    name = draft.line(
        f"make_tensor_view {base}, shape = [{', '.join(shape)}], strides = [{', '.join(steps)}] : {operands}{type}"
    )
    return name, type, extents


def _index(draft: FaultyDraft) -> str:
    return draft.number(draft.random.choice((0, 0, 0, 1, 1, 2, 5, -1, 1 << 28)))


def view(draft: FaultyDraft) -> None:
    """Access a tile of a partition or strided view: load, store, or combine into memory."""
    random = draft.random
    element, rank = an_element(draft), random.randint(1, 3)
    shape = some_tiles(draft, rank)
    stores = random.random() < 0.4
    tensor, tensor_type, _ = _tensor(draft, element, rank, stores)
    padding = random.choice(("", "padding_value = zero, "))
    dims = f", dim_map=[{', '.join(map(str, reversed(range(rank))))}]" if random.random() < 0.3 else ""
    tiles = "x".join(map(str, shape))
    if random.random() < 0.3:
        steps = ",".join(str(random.randint(1, 4)) for _ in range(rank))
        type = f"strided_view<tile=({tiles}), traversal_strides=[{steps}], {padding}{tensor_type}{dims}>"
        made = draft.line(f"make_strided_view {tensor} : {type}")
    else:
        type = f"partition_view<tile=({tiles}), {padding}{tensor_type}{dims}>"
        made = draft.line(f"make_partition_view {tensor} : {type}")
    index = ", ".join(_index(draft) for _ in range(rank))
    _view_access(draft, made, type, index, "tile<i32>", shape, element, stores)


def _view_access(
    draft: FaultyDraft,
    made: str,
    type: str,
    index: str,
    index_types: str,
    shape: tuple[int, ...],
    element: str,
    stores: bool,
) -> None:
    held = tile(shape, element)
    ordering = draft.random.choice(ORDERINGS)
    if not stores:
        value = draft.name()
        draft.lines.append(
            f"{value}, {draft.name()} = load_view_tko {ordering} {made}[{index}] : "
            f"{type}, {index_types} -> {held}, token"
        )
        finish(draft, value, shape, element)
        return
    zero = "false" if element == "i1" else "1.0" if element[0] in "fb" else "1"
    value = draft.line(f"constant <{element}: {zero}> : {held}")
    reducible = element in ("i32", "i64", "f32") and not type.startswith("gather")
    if reducible and draft.random.random() < 0.4:
        mode = "addf" if element == "f32" else draft.random.choice(("add", "max", "xor"))
        draft.lines.append(
            f"{draft.name()} = atomic_red_view_tko relaxed device {made}[{index}], {mode}, {value} : "
            f"{held}, {type}, {index_types} -> token"
        )
        return
    ordering = ordering.replace("acquire", "release")
    draft.lines.append(
        f"{draft.name()} = store_view_tko {ordering} {value}, {made}[{index}] : {held}, {type}, {index_types} -> token"
    )


def rows_of_a_view(draft: FaultyDraft) -> None:
    """Access rows of a gather/scatter view, by an array of row numbers; some may lie outside."""
    random = draft.random
    element = random.choice([name for name in ELEMENTS if name != "i1"])
    shape = some_tiles(draft, 2)
    stores = random.random() < 0.4
    tensor, tensor_type, extents = _tensor(draft, element, 2, stores)
    rows = indices(draft, (shape[0],), max(1, extents[0] + random.choice((0, 0, 3))))
    type = f"gather_scatter_view<tile=({shape[0]}x{shape[1]}), {tensor_type}, sparse_dim=0>"
    made = draft.line(f"make_gather_scatter_view {tensor} : {type}")
    index_types = f"tile<{shape[0]}xi32>, tile<i32>"
    if stores and shape[0] > 1:
        rows = draft.line(f"iota : tile<{shape[0]}xi32>")
    _view_access(draft, made, type, f"{rows}, {_index(draft)}", index_types, shape, element, stores)
