"""Accesses through pointers and through views, most of them with one fault."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod
from random import Random

from tileir.fuzz.faulty.draft import (
    DOUBLED,
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

WIDTHS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
OVERFLOWS = ("", " overflow<no_signed_wrap>", " overflow<no_unsigned_wrap>", " overflow<no_wrap>")


class Arithmetic:
    """Lines of an entry that compute with tiles of one shape."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.element = random.choice(list(WIDTHS))
        self.shape = random.choice(((), (4,), (2, 8), (32,)))
        self.lines: list[str] = []
        self.names = 0

    def line(self, text: str) -> str:
        self.names += 1
        self.lines.append(f"%x{self.names} = {text}")
        return f"%x{self.names}"

    @property
    def type(self) -> str:
        return self.tile(self.element)

    def tile(self, element: str) -> str:
        return f"tile<{''.join(f'{extent}x' for extent in self.shape)}{element}>"

    def number(self) -> int:
        """Return a number that is mostly small, now and then at the end of the range."""
        limit = 1 << (WIDTHS[self.element] - 1)
        usual = (0, 1, 2, 3, 5, 7, -1, -3, limit - 1, -limit, limit // 2)
        return self.random.choice((*usual, self.random.randrange(limit)))

    def constant(self) -> str:
        """Return a tile with one number everywhere but for one place."""
        if not self.shape or self.random.random() < 0.5:
            return self.line(f"constant <{self.element}: {self.number()}> : {self.type}")
        count = 1
        for extent in self.shape:
            count *= extent
        numbers = [self.number()] * count
        numbers[self.random.randrange(count)] = self.number()
        return self.line(f"constant <{self.element}: {self._nested(numbers, self.shape)}> : {self.type}")

    def _nested(self, numbers: list[int], shape: tuple[int, ...]) -> str:
        if len(shape) == 1:
            return str(numbers)
        size = len(numbers) // shape[0]
        rows = (self._nested(numbers[at * size : (at + 1) * size], shape[1:]) for at in range(shape[0]))
        return f"[{', '.join(rows)}]"

    def overflow(self) -> str:
        return self.random.choice(OVERFLOWS)

    def step(self, x: str, y: str) -> str:
        """Add an operation on two values."""
        random, type = self.random, self.type
        signedness = random.choice(("signed", "unsigned"))
        kind = random.randrange(9)
        if kind < 3:
            return self.line(f"{random.choice(('addi', 'subi', 'muli'))} {x}, {y}{self.overflow()} : {type}")
        if kind == 3:
            return self.line(f"shli {x}, {y}{self.overflow()} : {type}")
        if kind == 4:
            return self.line(f"shri {x}, {y} {signedness} : {type}")
        if kind == 5:
            return self.line(f"{random.choice(('divi', 'remi'))} {x}, {y} {signedness} : {type}")
        if kind == 6:
            return self.line(f"negi {x}{self.random.choice(OVERFLOWS[:2])} : {type}")
        if kind == 7 and self.element != "i8":
            narrow = self.line(f"trunci {x}{self.overflow()} : {type} -> {self.tile('i8')}")
            return self.line(f"exti {narrow} {signedness} : {self.tile('i8')} -> {type}")
        real = self.line(f"itof {x} {signedness} rounding<nearest_even> : {type} -> {self.tile('f32')}")
        return self.line(f"ftoi {real} {signedness} rounding<nearest_int_to_zero> : {self.tile('f32')} -> {type}")

    def reduced(self, x: str) -> None:
        """Sum along the last dimension; the additions are promised to fit."""
        if not self.shape:
            return
        element, dim = f"tile<{self.element}>", len(self.shape) - 1
        left = "x".join(map(str, self.shape[:-1]))
        result = f"tile<{left}x{self.element}>" if left else element
        self.line(
            f"reduce {x} dim={dim} identities=[0 : {self.element}] : {self.type} -> {result}\n"
            f"    (%p{self.names}: {element}, %q{self.names}: {element}) {{\n"
            f"      %r{self.names} = addi %p{self.names}, %q{self.names}{self.overflow()} : {element}\n"
            f"      yield %r{self.names} : {element}\n    }}"
        )

    def loop(self) -> None:
        """Make a loop whose counter may leave its type."""
        type, limit = f"tile<{self.element}>", 1 << (WIDTHS[self.element] - 1)
        last = self.random.choice((3, limit - 1))
        bounds = [
            self.line(f"constant <{self.element}: {number}> : {type}")
            for number in (last - 3, last, self.random.choice((1, 2, 3, 0)))
        ]
        lower, upper, step = bounds
        self.lines.append(f"for %i{self.names} in ({lower} to {upper}, step {step}) : {type} {{ continue }}")


def arithmetic(random: Random) -> list[str]:
    """Return the lines of an entry."""
    program = Arithmetic(random)
    values = [program.constant() for _ in range(3)]
    for _ in range(random.randint(1, 5)):
        values.append(program.step(random.choice(values), random.choice(values)))
    if random.random() < 0.3:
        program.reduced(values[-1])
    if random.random() < 0.3:
        program.loop()
    return program.lines


def _steps(draft: FaultyDraft, shape: tuple[int, ...], strides: Sequence[int]) -> str:
    """Return the tile of ``sum(index * stride)``."""
    total = None
    for dim, (extent, stride) in enumerate(zip(shape, strides)):
        row = draft.line(f"iota : tile<{extent}xi32>")
        ones = [extent if other == dim else 1 for other in range(len(shape))]
        if len(shape) > 1:
            row = draft.line(f"reshape {row} : tile<{extent}xi32> -> {tile(ones, 'i32')}")
        wide = (
            row
            if tuple(ones) == shape
            else draft.line(f"broadcast {row} : {tile(ones, 'i32')} -> {tile(shape, 'i32')}")
        )
        factor = draft.spread(draft.number(stride), "i32", shape)
        term = draft.line(f"muli {wide}, {factor} : {tile(shape, 'i32')}")
        total = term if total is None else draft.line(f"addi {total}, {term} : {tile(shape, 'i32')}")
    assert total is not None
    return total


def _affine(draft: FaultyDraft, element: str, writable: bool) -> tuple[str, tuple[int, ...], str | None]:
    """Return a tile of pointers that step evenly, perhaps off an end: its name, its shape, a mask or None."""
    random = draft.random
    shape = some_tiles(draft, random.randint(1, 2))
    strides = [prod(shape[dim + 1 :]) * random.choice((1, 1, 2)) for dim in range(len(shape))]
    if random.random() < 0.2:
        strides[0] = -strides[0]
    lowest = sum(min(0, (extent - 1) * stride) for extent, stride in zip(shape, strides))
    highest = sum(max(0, (extent - 1) * stride) for extent, stride in zip(shape, strides))
    start, count, masked = -lowest, highest - lowest + 1, None
    if random.random() < 0.3:
        draft.grid = random.randint(1, 3)
    cells = count * draft.grid
    if is_wrong(draft):
        choice = random.randrange(3)
        if choice == 0:
            cells -= random.randint(1, count)
        elif choice == 1:
            start += random.choice((-1, 1, -count, count, 1 << 20, -(1 << 28)))
        else:
            strides[random.randrange(len(shape))] *= random.choice((2, 1 << 10, 1 << 29))
    base = draft.array(element, cells)
    array = draft.arguments[-1]
    assert isinstance(array, FaultyArray)
    apart = gcd(*strides)
    if apart > 1 and draft.grid == 1 and random.random() < 0.5:
        array.layout = [[-(-max(0, cells) // apart), apart]]
    else:
        draft.space_out()
    array.writable = array.writable or (writable and random.random() < 0.9)
    steps = _steps(draft, shape, strides)
    draft.lines.append("%px, %py, %pz = get_tile_block_id : tile<i32>")
    block = draft.line(f"muli %px, {draft.number(count)} : tile<i32>")
    begin = draft.line(f"addi {block}, {draft.number(start)} : tile<i32>")
    index = draft.line(f"addi {steps}, {draft.spread(begin, 'i32', shape)} : {tile(shape, 'i32')}")
    if random.random() < 0.4:
        bound = draft.spread(draft.number(random.choice((cells, cells, cells + 1, 1))), "i32", shape)
        masked = draft.line(f"cmpi less_than {index}, {bound}, signed : {tile(shape, 'i32')} -> {tile(shape, 'i1')}")
    pointer_type = tile(shape, f"ptr<{element}>")
    pointers = draft.line(
        f"offset {draft.spread(base, f'ptr<{element}>', shape)}, {index} : "
        f"{pointer_type}, {tile(shape, 'i32')} -> {pointer_type}"
    )
    return pointers, shape, masked


def _access(
    draft: FaultyDraft, pointers: str, shape: tuple[int, ...], mask: str | None, element: str, stores: bool
) -> None:
    random = draft.random
    pointer_type, held = tile(shape, f"ptr<{element}>"), tile(shape, element)
    tail, tail_type = ("", "") if mask is None else (f", {mask}", f", {tile(shape, 'i1')}")
    ordering = random.choice(ORDERINGS)
    if not stores:
        value = draft.name()
        draft.lines.append(
            f"{value}, {draft.name()} = load_ptr_tko {ordering} {pointers}{tail} : "
            f"{pointer_type}{tail_type} -> {held}, token"
        )
        finish(draft, value, shape, element)
        return
    number = "false" if element == "i1" else "1.0" if element[0] in "fb" else "1"
    value = draft.line(f"constant <{element}: {number}> : {held}")
    if element in ("i32", "i64", "f32", "f64") and random.random() < 0.4:
        old = draft.name()
        if random.random() < 0.5:
            mode = "addf" if element[0] == "f" else random.choice(("add", "umax", "xchg"))
            draft.lines.append(
                f"{old}, {draft.name()} = atomic_rmw_tko relaxed device {pointers}, {mode}, {value}{tail} : "
                f"{pointer_type}, {held}{tail_type} -> {held}, token"
            )
        else:
            draft.lines.append(
                f"{old}, {draft.name()} = atomic_cas_tko relaxed device {pointers}, {value}, {value}{tail} : "
                f"{pointer_type}, {held}{tail_type} -> {held}, token"
            )
        finish(draft, old, shape, element)
        return
    ordering = ordering.replace("acquire", "release")
    draft.lines.append(
        f"{draft.name()} = store_ptr_tko {ordering} {pointers}, {value}{tail} : "
        f"{pointer_type}, {held}{tail_type} -> token"
    )


def pointers(draft: FaultyDraft) -> None:
    """Access through pointers that step evenly: loads, stores and atomics."""
    element, stores = an_element(draft), draft.random.random() < 0.5
    _access(draft, *_affine(draft, element, stores), element, stores)


def gathered(draft: FaultyDraft) -> None:
    """Load through pointers at numbers from an array."""
    random = draft.random
    element, shape = an_element(draft), some_tiles(draft, random.randint(1, 2))
    cells = random.randint(1, 20)
    index = indices(draft, shape, cells + (random.choice((1, 5, 1 << 29)) if is_wrong(draft) else 0))
    base = draft.array(element, cells)
    draft.space_out()
    pointer_type = tile(shape, f"ptr<{element}>")
    placed = draft.line(
        f"offset {draft.spread(base, f'ptr<{element}>', shape)}, {index} : "
        f"{pointer_type}, {tile(shape, 'i32')} -> {pointer_type}"
    )
    mask = None
    if random.random() < 0.4:
        bound = draft.spread(draft.number(cells), "i32", shape)
        mask = draft.line(f"cmpi less_than {index}, {bound}, unsigned : {tile(shape, 'i32')} -> {tile(shape, 'i1')}")
    _access(draft, placed, shape, mask, element, stores=False)


def computed_address(draft: FaultyDraft) -> None:
    """Access through pointers made from integers: null, misaligned, moved from one array to another."""
    random = draft.random
    element, stores = an_element(draft), random.random() < 0.5
    placed, shape, mask = _affine(draft, element, stores)
    pointer_type, integers = tile(shape, f"ptr<{element}>"), tile(shape, "i64")
    address = draft.line(f"ptr_to_int {placed} : {pointer_type} -> {integers}")
    moved = random.choice((0, 0, 1, -1, 2, 8, -8, 1 << 40))
    by = draft.line(f"constant <i64: {moved}> : {integers}")
    address = draft.line(f"addi {address}, {by} : {integers}")
    if random.random() < 0.1:
        address = draft.line(f"constant <i64: {random.choice((0, 8, -8))}> : {integers}")
    again = draft.line(f"int_to_ptr {address} : {integers} -> {pointer_type}")
    _access(draft, again, shape, mask, element, stores)


def chosen(draft: FaultyDraft) -> None:
    """Access through pointers selected, lane by lane, from two arrays."""
    random = draft.random
    element = an_element(draft)
    count = random.choice((2, 4, 8))
    type, lanes = f"tile<{count}xptr<{element}>>", draft.line(f"iota : tile<{count}xi32>")
    sides = []
    for _ in range(2):
        cells = count - (random.randint(1, count) if is_wrong(draft, 0.3) else 0)
        base = draft.spread(draft.array(element, cells), f"ptr<{element}>", (count,))
        draft.space_out()
        sides.append(draft.line(f"offset {base}, {lanes} : {type}, tile<{count}xi32> -> {type}"))
    half = draft.spread(draft.number(count // 2), "i32", (count,))
    which = draft.line(f"cmpi less_than {lanes}, {half}, signed : tile<{count}xi32> -> tile<{count}xi1>")
    both = draft.line(f"select {which}, {sides[0]}, {sides[1]} : tile<{count}xi1>, {type}")
    _access(draft, both, (count,), None, element, stores=False)


def carried(draft: FaultyDraft) -> None:
    """Carry pointers through a loop that moves them, perhaps past the end; sum what they point to."""
    random = draft.random
    element = random.choice(("i32", "f32", "i64"))
    count, turns = random.choice((2, 4, 8)), random.randint(1, 5)
    cells = count * turns - (random.randint(1, count) if is_wrong(draft) else 0)
    type, held = f"tile<{count}xptr<{element}>>", f"tile<{count}x{element}>"
    lanes = draft.line(f"iota : tile<{count}xi32>")
    base = draft.spread(draft.array(element, cells), f"ptr<{element}>", (count,))
    draft.space_out()
    first = draft.line(f"offset {base}, {lanes} : {type}, tile<{count}xi32> -> {type}")
    step = draft.spread(draft.number(count), "i32", (count,))
    zero, end, one = (draft.line(f"constant <i32: {value}> : tile<i32>") for value in (0, turns, 1))
    start = draft.line(f"constant <{element}: {'0.0' if element == 'f32' else '0'}> : {held}")
    both, at, sum, value, next, moved = (draft.name() for _ in range(6))
    draft.lines += [
        f"{both}:2 = for %turn in ({zero} to {end}, step {one}) : tile<i32> "
        f"iter_values({at} = {first}, {sum} = {start}) -> ({type}, {held}) {{",
        f"  {value}, {draft.name()} = load_ptr_tko weak {at} : {type} -> {held}, token",
        f"  {next} = {DOUBLED[element]} {sum}, {value} : {held}",
        f"  {moved} = offset {at}, {step} : {type}, tile<{count}xi32> -> {type}",
        f"  continue {moved}, {next} : {type}, {held}",
        "}",
    ]
    finish(draft, f"{both}#1", (count,), element)


def storage(draft: FaultyDraft) -> None:
    """Access an `alloca` or a global within or beyond its end; constant globals are written to as well."""
    random = draft.random
    element = random.choice(("i8", "i32", "f32", "f64"))
    cells, count = random.choice((2, 4, 8)), random.choice((1, 2, 4, 8))
    number = "1.0" if element[0] == "f" else "1"
    constant = False
    if random.random() < 0.5:
        constant = random.random() < 0.3
        draft.globals.append(
            f"global {'constant ' if constant else ''}@g <{element}: {number}> : tile<{cells}x{element}>"
        )
        base = draft.line(f"get_global @g : tile<ptr<{element}>>")
    else:
        base = draft.line(f"alloca num_elem = {cells}, alignment = {random.choice((8, 16, 64))} : tile<ptr<{element}>>")
    type, held = f"tile<{count}xptr<{element}>>", f"tile<{count}x{element}>"
    start = random.choice((0, 0, cells - count, cells, -1)) if is_wrong(draft) else max(0, cells - count)
    lanes = draft.line(f"iota : tile<{count}xi32>")
    index = draft.line(f"addi {lanes}, {draft.spread(draft.number(start), 'i32', (count,))} : tile<{count}xi32>")
    placed = draft.line(
        f"offset {draft.spread(base, f'ptr<{element}>', (count,))}, {index} : {type}, tile<{count}xi32> -> {type}"
    )
    value = draft.line(f"constant <{element}: {number}> : {held}")
    stored, loaded = draft.name(), draft.name()
    draft.lines.append(f"{stored} = store_ptr_tko weak {placed}, {value} : {type}, {held} -> token")
    draft.lines.append(
        f"{loaded}, {draft.name()} = load_ptr_tko weak {placed} token={stored} : {type} -> {held}, token"
    )
    finish(draft, loaded, (count,), element)


def computed(draft: FaultyDraft) -> None:
    """Compute arithmetic that may break promises."""
    draft.lines += arithmetic(draft.random)


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
