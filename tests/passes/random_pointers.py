"""Random kernels that load through tiles of pointers which grow evenly, or nearly so.

    python -m tests.passes.random_pointers --count 2000 --first 0

-O3 must leave the results of such a kernel as they are.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from math import prod
from random import Random

import numpy as np

import tileir
from tests.differential import outcome
from tileir.ops.views import LoadView

SIZE = 4096
BEFORE = 1024
"""Elements before the one that offsets count from, so that they may be negative."""


class RandomPointers:
    """One kernel: p is read at random strides, q is written densely."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines: list[str] = []
        self.shape = tuple(self.random.choice((1, 2, 4, 8)) for _ in range(self.random.randint(1, 3)))
        self.grid = self.random.randint(1, 3)
        self._names = 0

    def text(self) -> str:
        """The kernel as text."""
        looped = self.random.random() < 0.4
        for name, value in (("first", BEFORE), ("c0", 0), ("c1", 1), ("c4", 4)):
            self.lines.append(f"%{name} = constant <i32: {value}> : tile<i32>")
        self.lines += [
            "%bx, %by, %bz = get_tile_block_id : tile<i32>",
            "%from = offset %p, %first : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>",
            "%sp = assume bounded<1, ?>, %s : tile<i32>",
        ]
        if looped:
            self.lines.append("for %i in (%c0 to %c4, step %c1) : tile<i32> {")
        self._access(["%bx", "%n", "%i"] if looped else ["%bx", "%n"], looped)
        self.lines += ["}"] * looped
        body = "\n".join(self.lines)
        head = "entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %n: tile<i32>, %m: tile<i32>, %s: tile<i32>)"
        return f"cuda_tile.module @m {{\n{head} {{\n{body}\n}}\n}}\n"

    # ------------------------------------------------------------ parts

    def _access(self, counters: Sequence[str], looped: bool) -> None:
        coordinates, firsts = zip(*(self._coordinate(dim, counters) for dim in range(len(self.shape))))
        index = self._sum([self._product(one, self._stride(dim)) for dim, one in enumerate(coordinates)])
        count = prod(self.shape)
        start = self._op("muli", "%bx", self._number(4 * count if looped else count), "i32")
        if looped:
            start = self._op("addi", start, self._op("muli", "%i", self._number(count), "i32"), "i32")
        dense = self._sum([self._wide(start, "i32"), *self._dense()])
        tests, masks = [], []
        for dim, (one, first) in enumerate(zip(coordinates, firsts)):
            if self.random.random() < 0.7:
                self._bound(dim, one, first, masks, tests)
        if self.random.random() < 0.2:
            masks.append(
                self._compared("less_than", self._wide("%n", "i32"), self._wide("%m", "i32"), self.text_of("i32"))
            )
        guarded = bool(tests) and self.random.random() < 0.5
        if guarded:
            self.lines.append(f"if {self._all(tests, 'i1')} {{")
        self._memory(index, dense, self._all(masks, f"{self.dims}xi1") if masks else "")
        self.lines += ["}"] * guarded

    def _memory(self, index: str, dense: str, mask: str) -> None:
        pointers, values, bits = (self.text_of(element) for element in ("ptr<f32>", "f32", "i1"))
        places = [self._name(), self._name()]
        for place, (base, at) in zip(places, (("%from", index), ("%q", dense))):
            types = f"{pointers}, {self.text_of('i32')} -> {pointers}"
            self.lines.append(f"{place} = offset {self._wide(base, 'ptr<f32>')}, {at} : {types}")
        given, types = (f", {mask}", f", {bits}") if mask else ("", "")
        pad = self.random.choice(("0.0", "-0.0", "0xFF800000", "1.5", "")) if mask else ""
        more = more_type = ""
        if pad:
            more, more_type = f", {self._constant(pad, 'f32')}", f", {values}"
        loaded, token, changed = (self._name() for _ in range(3))
        self.lines += [
            f"{loaded}, {token} = load_ptr_tko weak {places[0]}{given}{more} "
            f": {pointers}{types}{more_type} -> {values}, token",
            f"{changed} = addf {loaded}, {self._constant('1.0', 'f32')} : {values}",
        ]
        if pad and self.random.random() < 0.5:
            given = types = ""
        self.lines.append(
            f"store_ptr_tko weak {places[1]}, {changed}{given} token={token} : {pointers}, {values}{types} -> token"
        )

    def _coordinate(self, dim: int, counters: Sequence[str]) -> tuple[str, str]:
        """A tile of indices along a dimension, and its first one."""
        extent = self.shape[dim]
        first = self.random.choice(("%c0", self._number(self.random.randint(0, 5)), *counters))
        if first in counters and self.random.random() < 0.7:
            first = self._op("muli", first, self._number(self.random.choice((extent, 8, 3))), "i32")
        if first == "%c0":
            return self._lanes(dim), first
        return self._op("addi", self._wide(first, "i32"), self._lanes(dim), self.text_of("i32")[5:-1]), first

    def _bound(self, dim: int, coordinate: str, first: str, masks: list[str], tests: list[str]) -> None:
        end = self.random.choice(("%n", "%m", self._number(self.random.randint(1, 9))))
        predicate = self.random.choice(("less_than", "less_than_or_equal"))
        one, other = coordinate, self._wide(end, "i32")
        if self.random.random() < 0.3:
            one, other = self._lanes(dim), self._wide(self._op("subi", end, first, "i32"), "i32")
        if self.random.random() < 0.3:
            swapped = predicate.replace("less", "greater")
            masks.append(self._compared(swapped, other, one, self.text_of("i32")))
        else:
            masks.append(self._compared(predicate, one, other, self.text_of("i32")))
        tests.append(self._compared(predicate, first, end, "tile<i32>"))

    def _stride(self, dim: int) -> str:
        random = self.random.random()
        if random < 0.35:
            return self._number(1)
        if random < 0.7:
            return "%sp" if random < 0.6 else "%s"
        return self._number(self.random.choice((2, 3, 8, 16, -1, 0)))

    def _dense(self) -> list[str]:
        sizes = [prod(self.shape[dim + 1 :]) for dim in range(len(self.shape))]
        return [self._product(self._lanes(dim), self._number(size)) for dim, size in enumerate(sizes)]

    # ------------------------------------------------------------ operations

    @property
    def dims(self) -> str:
        return "x".join(map(str, self.shape))

    def text_of(self, element: str) -> str:
        return f"tile<{self.dims}x{element}>"

    def _name(self) -> str:
        self._names += 1
        return f"%v{self._names}"

    def _number(self, value: int) -> str:
        name = self._name()
        self.lines.append(f"{name} = constant <i32: {value}> : tile<i32>")
        return name

    def _constant(self, value: str, element: str) -> str:
        name = self._name()
        self.lines.append(f"{name} = constant <{element}: {value}> : {self.text_of(element)}")
        return name

    def _op(self, operation: str, one: str, other: str, type: str) -> str:
        """A sum or product, which never wraps around, whether the flag says so or not."""
        name, clause = self._name(), self.random.choice((" overflow<no_signed_wrap>", ""))
        self.lines.append(f"{name} = {operation} {one}, {other}{clause} : tile<{type}>")
        return name

    def _sum(self, parts: Sequence[str]) -> str:
        total = parts[0]
        for part in parts[1:]:
            total = self._op("addi", total, part, f"{self.dims}xi32")
        return total

    def _product(self, tile: str, scalar: str) -> str:
        return self._op("muli", tile, self._wide(scalar, "i32"), f"{self.dims}xi32")

    def _wide(self, scalar: str, element: str) -> str:
        """A scalar in all elements."""
        small, large, ones = self._name(), self._name(), "x".join("1" for _ in self.shape)
        self.lines += [
            f"{small} = reshape {scalar} : tile<{element}> -> tile<{ones}x{element}>",
            f"{large} = broadcast {small} : tile<{ones}x{element}> -> {self.text_of(element)}",
        ]
        return large

    def _lanes(self, dim: int) -> str:
        """The index along a dimension, in a tile."""
        extent = self.shape[dim]
        flat, shaped, large = (self._name() for _ in range(3))
        shape = "x".join(str(extent if at == dim else 1) for at in range(len(self.shape)))
        self.lines += [
            f"{flat} = iota : tile<{extent}xi32>",
            f"{shaped} = reshape {flat} : tile<{extent}xi32> -> tile<{shape}xi32>",
            f"{large} = broadcast {shaped} : tile<{shape}xi32> -> {self.text_of('i32')}",
        ]
        return large

    def _compared(self, predicate: str, one: str, other: str, type: str) -> str:
        name = self._name()
        self.lines.append(f"{name} = cmpi {predicate} {one}, {other}, signed : {type} -> {type.replace('i32', 'i1')}")
        return name

    def _all(self, bits: Sequence[str], type: str) -> str:
        total = bits[0]
        for bit in bits[1:]:
            name = self._name()
            self.lines.append(f"{name} = andi {total}, {bit} : tile<{type}>")
            total = name
        return total


def check(seed: int, targets: Sequence[str]) -> int:
    """Compare a kernel with what -O3 makes of it; gives the number of loads through views."""
    made = RandomPointers(seed)
    module = tileir.parse(made.text())
    optimised = tileir.optimize(module, 3)
    assert tileir.verify(optimised).ok, tileir.verify(optimised)
    data = np.random.default_rng(seed).standard_normal(SIZE).astype(np.float32)
    for _ in range(6):
        n, m, s = made.random.randint(-2, 12), made.random.randint(-2, 12), made.random.randint(1, 9)
        args = [data, np.zeros(SIZE, np.float32), n, m, s]
        for target in targets:
            first, second = (outcome(one["k"], (made.grid,), args, target) for one in (module, optimised))
            assert (first.trap is None, second.trap) == (True, None), (n, m, s, first.trap, second.trap)
            assert first.arrays[1].tobytes() == second.arrays[1].tobytes(), (n, m, s)
    return sum(isinstance(op, LoadView) for op in optimised.walk())


def main() -> int:
    parser = argparse.ArgumentParser(description="optimise random kernels through pointers and compare what they do")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    found: Counter[int] = Counter()
    for seed in range(options.first, options.first + options.count):
        try:
            found[check(seed, ("interp", "cpu") if seed % 10 == 0 else ("interp",))] += 1
        except Exception as error:
            print(f"seed {seed}: {type(error).__name__}: {str(error)[:300]}")
            found[-1] += 1
    print(f"{options.count} kernels, {found[1]} raised, {found[-1]} failures")
    return 1 if found[-1] else 0


if __name__ == "__main__":
    sys.exit(main())
