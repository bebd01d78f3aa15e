"""Random programs whose addresses are made by long integer arithmetic, with everything an index may go through.

They have parameters of several widths, tile block ids, tiles that are reshaped and broadcast, quotients, remainders,
bits, extensions, comparisons, loops that carry numbers and pointers, and branches. Accesses are masked so that they
stay inside the array.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

ELEMENTS = 256
"""The size of the array."""
WIDTHS = ("i8", "i16", "i32", "i64")
SHAPES = ((), (8,), (2, 4), (4, 2), (1, 8), (8, 1), (2, 2, 2), (4, 1), (1, 2))
PLAIN = ("addi", "subi", "muli", "andi", "ori", "xori")
SIGNED = ("maxi", "mini")


@dataclass
class Scope:
    """Values by type, newest last."""

    values: dict[tuple[tuple[int, ...], str], list[str]] = field(default_factory=dict)

    def add(self, shape: tuple[int, ...], width: str, name: str) -> str:
        self.values.setdefault((shape, width), []).append(name)
        return name

    def copy(self) -> Scope:
        return Scope({key: list(names) for key, names in self.values.items()})


class Generator:
    """One program, by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.count = 0
        self.scope = Scope()
        self.depth = 0

    def program(self, statements: int = 14) -> str:
        parameters = [f"%p{at}: tile<{width}>" for at, width in enumerate(WIDTHS)]
        for at, width in enumerate(WIDTHS):
            self.scope.add((), width, f"%p{at}")
        self.line("%bx, %by, %bz = get_tile_block_id : tile<i32>")
        self.line("%gx, %gy, %gz = get_num_tile_blocks : tile<i32>")
        for name in ("%bx", "%by", "%gx"):
            self.scope.add((), "i32", name)
        for _ in range(statements):
            self.statement()
        self.access()
        body = "\n".join(self.lines)
        return f"entry @k(%array: tile<ptr<i32>>, {', '.join(parameters)}) {{\n{body}\n}}"

    def arguments(self) -> list[object]:
        """The array, and a number for each parameter: mostly small, sometimes at the ends of its type."""
        numbers = []
        for width in WIDTHS:
            half = 1 << int(width[1:]) - 1
            numbers.append(self.random.choice([0, 1, 2, 3, 5, 8, 17, 100, -1, -7, half - 1, -half]))
        return [np.arange(ELEMENTS, dtype=np.int32) % 11, *numbers]

    # ------------------------------------------------------------ text

    def line(self, text: str) -> None:
        self.lines.append("  " * (self.depth + 1) + text)

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def make(self, text: str, shape: tuple[int, ...], width: str) -> str:
        name = self.fresh()
        self.line(f"{name} = {text}")
        return self.scope.add(shape, width, name)

    def pick(self) -> tuple[str, tuple[int, ...], str]:
        """A value of the scope, rather a new one."""
        known = [(name, *key) for key, names in self.scope.values.items() for name in names]
        known.sort(key=lambda entry: int(entry[0][2:]) if entry[0][2:].isdigit() else 0)
        return self.random.choice(known[-12:] if self.random.random() < 0.7 else known)

    def like(self, shape: tuple[int, ...], width: str) -> str:
        names = self.scope.values.get((shape, width), [])
        return self.random.choice(names) if names and self.random.random() < 0.7 else self.constant(shape, width)

    def constant(self, shape: tuple[int, ...], width: str, value: int | None = None) -> str:
        if value is None:
            value = self.random.choice([0, 1, 2, 3, 4, 7, 8, 16, 100, -1, -3, -8])
        return self.make(f"constant <{width}: {value}> : {tile(shape, width)}", shape, width)

    # ------------------------------------------------------------ statements

    def statement(self) -> None:
        kinds = [self.plain, self.plain, self.plain, self.divide, self.shift, self.extremum, self.unary, self.convert,
                 self.reshape, self.broadcast, self.permute, self.iota, self.iota, self.select, self.load]  # fmt: skip
        if self.depth < 2:
            kinds += [self.loop, self.loop, self.branch, self.access]
        self.random.choice(kinds)()

    def plain(self) -> None:
        name, shape, width = self.pick()
        kind = self.random.choice(PLAIN)
        other = self.like(shape, width)
        self.make(f"{kind} {name}, {other} : {tile(shape, width)}", shape, width)

    def divide(self) -> None:
        name, shape, width = self.pick()
        by = self.constant(shape, width, self.random.choice([1, 2, 3, 4, 7, 8, 16, 100, -2]))
        sign = self.random.choice(["signed", "unsigned"])
        if self.random.random() < 0.5:
            self.make(f"remi {name}, {by} {sign} : {tile(shape, width)}", shape, width)
            return
        roundings = ["zero", "positive_inf"] + (["negative_inf"] if sign == "signed" else [])
        rounding = f"rounding<{self.random.choice(roundings)}>"
        self.make(f"divi {name}, {by} {sign} {rounding} : {tile(shape, width)}", shape, width)

    def shift(self) -> None:
        name, shape, width = self.pick()
        by = self.constant(shape, width, self.random.choice([0, 1, 2, 3, 5, 40]))
        if self.random.random() < 0.5:
            self.make(f"shli {name}, {by} : {tile(shape, width)}", shape, width)
        else:
            sign = self.random.choice(["signed", "unsigned"])
            self.make(f"shri {name}, {by} {sign} : {tile(shape, width)}", shape, width)

    def extremum(self) -> None:
        name, shape, width = self.pick()
        sign = self.random.choice(["signed", "unsigned"])
        other = self.like(shape, width)
        self.make(f"{self.random.choice(SIGNED)} {name}, {other} {sign} : {tile(shape, width)}", shape, width)

    def unary(self) -> None:
        name, shape, width = self.pick()
        self.make(f"{self.random.choice(['absi', 'negi'])} {name} : {tile(shape, width)}", shape, width)

    def convert(self) -> None:
        name, shape, width = self.pick()
        self.resized(name, shape, width, self.random.choice(WIDTHS))

    def resized(self, name: str, shape: tuple[int, ...], width: str, wanted: str) -> str:
        here, there = int(width[1:]), int(wanted[1:])
        types = f"{tile(shape, width)} -> {tile(shape, wanted)}"
        if there > here:
            return self.make(f"exti {name} {self.random.choice(['signed', 'unsigned'])} : {types}", shape, wanted)
        return self.make(f"trunci {name} : {types}", shape, wanted) if there < here else name

    # ------------------------------------------------------------ shapes

    def reshape(self) -> None:
        name, shape, width = self.pick()
        fitting = [other for other in SHAPES if np.prod(other, dtype=int) == np.prod(shape, dtype=int)]
        wanted = self.random.choice(fitting)
        self.make(f"reshape {name} : {tile(shape, width)} -> {tile(wanted, width)}", wanted, width)

    def broadcast(self) -> None:
        name, shape, width = self.pick()
        wanted = tuple(self.random.choice((1, 2, 4)) if extent == 1 else extent for extent in shape)
        if shape and np.prod(wanted) <= 8:
            self.make(f"broadcast {name} : {tile(shape, width)} -> {tile(wanted, width)}", wanted, width)

    def permute(self) -> None:
        name, shape, width = self.pick()
        order = list(range(len(shape)))
        self.random.shuffle(order)
        wanted = tuple(shape[dim] for dim in order)
        if len(shape) > 1:
            self.make(f"permute {name} {order} : {tile(shape, width)} -> {tile(wanted, width)}", wanted, width)

    def iota(self) -> None:
        width = self.random.choice(WIDTHS)
        self.make(f"iota : {tile((8,), width)}", (8,), width)

    def select(self) -> None:
        name, shape, width = self.pick()
        other, bound = self.like(shape, width), self.like(shape, width)
        which = self.compared(name, bound, shape, width)
        types = f"{tile(shape, 'i1')}, {tile(shape, width)}"
        self.make(f"select {which}, {name}, {other} : {types}", shape, width)

    def compared(self, name: str, other: str, shape: tuple[int, ...], width: str) -> str:
        predicates = ["less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal", "equal", "not_equal"]
        predicate, sign = self.random.choice(predicates), self.random.choice(["signed", "unsigned"])
        condition = self.fresh()
        types = f"{tile(shape, width)} -> {tile(shape, 'i1')}"
        self.line(f"{condition} = cmpi {predicate} {name}, {other}, {sign} : {types}")
        return condition

    # ------------------------------------------------------------ memory

    def access(self) -> None:
        """Loads or stores at an index of the scope, where it lies in the array and perhaps another condition holds."""
        name, shape, width = self.pick()
        index = self.resized(name, shape, width, self.random.choice(["i32", "i64", width]))
        width = next(key[1] for key, names in self.scope.values.items() if index in names)
        pointers = self.pointers(index, shape, width)
        mask = self.inside(index, shape, width)
        if self.random.random() < 0.5:
            also = self.compared(self.like(shape, "i32"), self.like(shape, "i32"), shape, "i32")
            mask = self.both(mask, also, shape)
        self.touch(pointers, mask, shape)

    def touch(self, pointers: str, mask: str, shape: tuple[int, ...]) -> None:
        types = f"{tile(shape, 'ptr<i32>')}, {tile(shape, 'i1')}"
        if self.random.random() < 0.5:
            name, token = self.fresh(), self.fresh()
            padding = self.constant(shape, "i32")
            number = tile(shape, "i32")
            self.line(f"{name}, {token} = load_ptr_tko weak {pointers}, {mask}, {padding}")
            self.line(f"  : {types}, {number} -> {number}, token")
            self.scope.add(shape, "i32", name)
        else:
            value, token = self.like(shape, "i32"), self.fresh()
            types = ", ".join(tile(shape, element) for element in ("ptr<i32>", "i32", "i1"))
            self.line(f"{token} = store_ptr_tko weak {pointers}, {value}, {mask} : {types} -> token")

    def load(self) -> None:
        """Numbers that nothing is known of."""
        index = self.make(f"iota : {tile((8,), 'i32')}", (8,), "i32")
        pointers = self.pointers(index, (8,), "i32")
        name, token = self.fresh(), self.fresh()
        self.line(f"{name}, {token} = load_ptr_tko weak {pointers} : tile<8xptr<i32>> -> tile<8xi32>, token")
        self.scope.add((8,), "i32", name)

    def pointers(self, index: str, shape: tuple[int, ...], width: str, base: str = "%array") -> str:
        start = base
        if shape:
            ones, wide = self.fresh(), self.fresh()
            single = tile((1,) * len(shape), "ptr<i32>")
            self.line(f"{ones} = reshape {base} : {tile((), 'ptr<i32>')} -> {single}")
            self.line(f"{wide} = broadcast {ones} : {single} -> {tile(shape, 'ptr<i32>')}")
            start = wide
        return self.moved(start, index, shape, width)

    def moved(self, pointers: str, index: str, shape: tuple[int, ...], width: str) -> str:
        name, type = self.fresh(), tile(shape, "ptr<i32>")
        self.line(f"{name} = offset {pointers}, {index} : {type}, {tile(shape, width)} -> {type}")
        return name

    def inside(self, index: str, shape: tuple[int, ...], width: str) -> str:
        """A mask of the elements of an index that lie in the array, made in one of two ways."""
        if int(width[1:]) <= 8:
            return self.at_least_zero(index, shape, width)
        limit = self.constant(shape, width, ELEMENTS)
        below, types = self.fresh(), f"{tile(shape, width)} -> {tile(shape, 'i1')}"
        sign = self.random.choice(["signed", "unsigned"])
        self.line(f"{below} = cmpi less_than {index}, {limit}, {sign} : {types}")
        return below if sign == "unsigned" else self.both(below, self.at_least_zero(index, shape, width), shape)

    def at_least_zero(self, index: str, shape: tuple[int, ...], width: str) -> str:
        zero, above = self.constant(shape, width, 0), self.fresh()
        types = f"{tile(shape, width)} -> {tile(shape, 'i1')}"
        self.line(f"{above} = cmpi greater_than_or_equal {index}, {zero}, signed : {types}")
        return above

    def both(self, one: str, other: str, shape: tuple[int, ...]) -> str:
        name = self.fresh()
        self.line(f"{name} = andi {one}, {other} : {tile(shape, 'i1')}")
        return name

    # ------------------------------------------------------------ control flow

    def loop(self) -> None:
        """Carries a number, and pointers that each turn moves."""
        width = self.random.choice(WIDTHS)
        low, high = self.constant((), width, self.random.choice([0, 1, -2])), self.like((), width)
        if self.random.random() < 0.8:
            high = self.constant((), width, self.random.choice([0, 1, 3, 4]))
        step = self.constant((), width, self.random.choice([1, 1, 2]))
        limit = self.make(f"mini {high}, {self.constant((), width, 5)} signed : {tile((), width)}", (), width)
        name, shape, kind = self.pick()
        start = self.pointers(self.constant(shape, "i32", self.random.choice([0, 8, 64])), shape, "i32")
        turn, number, at, results = self.fresh(), self.fresh(), self.fresh(), self.fresh()
        types = f"({tile(shape, kind)}, {tile(shape, 'ptr<i32>')})"
        self.line(f"{results}:2 = for {turn} in ({low} to {limit}, step {step}) : {tile((), width)}")
        self.line(f"  iter_values({number} = {name}, {at} = {start}) -> {types} {{")
        outer = self.scope.copy()
        self.scope.add((), width, turn)
        self.scope.add(shape, kind, number)
        self.depth += 1
        for _ in range(self.random.randrange(1, 4)):
            self.statement()
        self.touch_carried(at, shape)
        if self.random.random() < 0.3:
            self.leave_early(shape, kind, at)
        end = self.after(number, shape, kind)
        moved = self.moved(at, *self.distance(shape))
        self.line(f"continue {end}, {moved} : {types[1:-1]}")
        self.depth -= 1
        self.scope = outer
        self.line("}")
        self.scope.add(shape, kind, f"{results}#0")

    def leave_early(self, shape: tuple[int, ...], kind: str, at: str) -> None:
        """Start the next turn in some turns already."""
        which = self.compared(self.like((), "i32"), self.like((), "i32"), (), "i32")
        outer = self.scope.copy()
        self.line(f"if {which} {{")
        end = self.like(shape, kind)
        moved = self.moved(at, *self.distance(shape))
        self.line(f"continue {end}, {moved} : {tile(shape, kind)}, {tile(shape, 'ptr<i32>')}")
        self.line("}")
        self.scope = outer

    def after(self, number: str, shape: tuple[int, ...], kind: str) -> str:
        """Return the next turn's number for a carried one: mostly the old one moved on."""
        if self.random.random() < 0.7:
            return self.make(f"addi {number}, {self.like(shape, kind)} : {tile(shape, kind)}", shape, kind)
        return self.like(shape, kind)

    def distance(self, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...], str]:
        if self.random.random() < 0.6:
            return self.constant(shape, "i32", self.random.choice([0, 1, 8, 16, -8])), shape, "i32"
        return self.like(shape, "i32"), shape, "i32"

    def touch_carried(self, at: str, shape: tuple[int, ...]) -> None:
        """At carried pointers, where they lie in the array: their distance from its start says so."""
        base, here = self.fresh(), self.fresh()
        self.line(f"{base} = ptr_to_int %array : {tile((), 'ptr<i32>')} -> {tile((), 'i64')}")
        self.line(f"{here} = ptr_to_int {at} : {tile(shape, 'ptr<i32>')} -> {tile(shape, 'i64')}")
        wide = base
        if shape:
            ones, wide = self.fresh(), self.fresh()
            single = tile((1,) * len(shape), "i64")
            self.line(f"{ones} = reshape {base} : {tile((), 'i64')} -> {single}")
            self.line(f"{wide} = broadcast {ones} : {single} -> {tile(shape, 'i64')}")
        distance = self.fresh()
        self.line(f"{distance} = subi {here}, {wide} : {tile(shape, 'i64')}")
        limit = self.constant(shape, "i64", 4 * ELEMENTS)
        below = self.fresh()
        types = f"{tile(shape, 'i64')} -> {tile(shape, 'i1')}"
        self.line(f"{below} = cmpi less_than {distance}, {limit}, unsigned : {types}")
        self.touch(at, below, shape)

    def branch(self) -> None:
        name, shape, width = self.pick()
        which = self.compared(self.like((), "i32"), self.like((), "i32"), (), "i32")
        result, type = self.fresh(), tile(shape, width)
        self.line(f"{result} = if {which} -> ({type}) {{")
        for last in (False, True):
            outer = self.scope.copy()
            self.depth += 1
            for _ in range(self.random.randrange(1, 4)):
                self.statement()
            given = self.like(shape, width) if last else name
            self.line(f"yield {given} : {type}")
            self.depth -= 1
            self.scope = outer
            self.line("}" if last else "} else {")
        self.scope.add(shape, width, result)


def tile(shape: Sequence[int], element: str) -> str:
    return f"tile<{'x'.join([*map(str, shape), element])}>"
