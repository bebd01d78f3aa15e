"""Verdicts of `prove`, `sanitize` and `equiv` beside those of a brute-force evaluation of tiny programs.

    python -m tests.fuzz.verdicts --count 10000

A program is a list of accesses whose indices are expressions of tile block, lane and one argument. The evaluation here
shares nothing with the package: it computes every index of every lane in Python, and notes who touches which element.
Exits with 1 if a verdict is wrong, and prints the programs.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations_with_replacement
from math import prod
from random import Random

import numpy as np

import tileir
from tileir.cli.equiv import TRIALS
from tileir.fuzz.comparing import compare
from tileir.fuzz.trials import Trial, trials
from tileir.sanitize.proofs.pairs import INSIDE
from tileir.sanitize.proofs.smt import INSTALLED
from tileir.sanitize.proofs.verdict import Answer, ProofVerdict, Scope

LANES, COMPUTED = 4, 64
"""Elements of the tiles of programs whose accesses are told, and of those whose results are compared."""
MOST_BLOCKS = 1 << 12
"""Tile blocks of a launch that are all evaluated."""
Node = tuple[str, tuple]
"""An operation and its operands; a leaf has a number, or none."""

_OPS: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "maxi": max,
    "mini": min,
    "divi": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "remi": lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
    "shli": lambda a, b: a << b,
    "shri": lambda a, b: a >> b,
}
_BY_CONSTANT = {"divi": (2, 3, 4, 7, -2), "remi": (2, 3, 4, 8), "shli": (0, 1, 2), "shri": (1, 2, 3)}
_SIGNED = ("maxi", "mini", "divi", "remi", "shri")


def wrapped(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def value(node: Node, numbers: dict[str, int]) -> int:
    """Return the number of an expression for one lane."""
    kind, parts = node
    if kind == "constant":
        return int(parts[0])
    if kind in numbers:
        return numbers[kind]
    return wrapped(_OPS[kind](*(value(part, numbers) for part in parts)))


def expression(random: Random, leaves: Sequence[str], depth: int) -> Node:
    if depth == 0 or random.random() < 0.15:
        leaf = random.choice((*leaves, "constant"))
        return leaf, (random.choice((0, 1, 2, 3, 4, 5, 8, 16)),) if leaf == "constant" else ()
    # Sums and products are what indices are made of.
    kind = random.choice((*_OPS, *("addi", "muli") * 4))
    left = expression(random, leaves, depth - 1)
    if kind in _BY_CONSTANT:
        return kind, (left, ("constant", (random.choice(_BY_CONSTANT[kind]),)))
    return kind, (left, expression(random, leaves, depth - 1))


class Text:
    """The lines of an entry, and a new name for each value."""

    def __init__(self, lanes: int) -> None:
        self.lanes, self.tile, self.pointer = lanes, f"tile<{lanes}xi32>", f"tile<{lanes}xptr<i32>>"
        self.lines: list[str] = []
        self._count = 0

    def new(self, line: str, type: str = "") -> str:
        self._count += 1
        self.lines.append(f"%v{self._count} = {line}")
        return f"%v{self._count}"

    def spread(self, scalar: str, element: str) -> str:
        one = self.new(f"reshape {scalar} : tile<{element}> -> tile<1x{element}>")
        return self.new(f"broadcast {one} : tile<1x{element}> -> tile<{self.lanes}x{element}>")

    def emit(self, node: Node, known: dict[str, str]) -> str:
        kind, parts = node
        if kind == "constant":
            return self.new(f"constant <i32: {parts[0]}> : {self.tile}")
        if kind in known:
            return known[kind]
        operands = ", ".join([self.emit(part, known) for part in parts])
        return self.new(f"{kind} {operands}{' signed' if kind in _SIGNED else ''} : {self.tile}")

    def pointers(self, array: str, index: str) -> str:
        spread = self.spread(f"%{array}", "ptr<i32>")
        return self.new(f"offset {spread}, {index} : {self.pointer}, {self.tile} -> {self.pointer}")

    def begin(self) -> dict[str, str]:
        """Return the tiles of the leaves: tile block, lane and argument."""
        self.lines.append("%x, %y, %z = get_tile_block_id : tile<i32>")
        number = self._number() if self.lanes == COMPUTED else "%x"
        block, argument = self.spread(number, "i32"), self.spread("%n", "i32")
        return {"block": block, "n": argument, "lane": self.new(f"iota : {self.tile}")}

    def _number(self) -> str:
        """Return the number of the tile block in a grid of any rank."""
        self.lines.append("%gx, %gy, %gz = get_num_tile_blocks : tile<i32>")
        number = "%z"
        for extent, id in (("%gy", "%y"), ("%gx", "%x")):
            number = self.new(f"muli {number}, {extent} : tile<i32>")
            number = self.new(f"addi {number}, {id} : tile<i32>")
        return number

    def kernel(self, arrays: Sequence[str]) -> tileir.Kernel:
        parameters = ", ".join([*(f"%{name}: tile<ptr<i32>>" for name in arrays), "%n: tile<i32>"])
        return tileir.parse("\n".join((f"entry @k({parameters}) {{", *self.lines, "}")))["k"]


# ---------------------------------------------------------------- who touches what


@dataclass(frozen=True)
class Access:
    """One access: `after` is that whose token it waits for. Lanes with `index` < `below` take part, all if None."""

    kind: str
    array: str
    index: Node
    below: int | None
    after: int | None


@dataclass(frozen=True)
class Launched:
    """A program with its argument, grid and arrays: of some `size`, both the same if `shared`."""

    accesses: tuple[Access, ...]
    n: int
    grid: int
    size: int
    shared: bool

    def kernel(self) -> tileir.Kernel:
        text = Text(LANES)
        leaves, tokens = text.begin(), []
        tile, type = text.tile, text.pointer
        constant = text.new(f"constant <i32: 7> : {tile}")
        for number, one in enumerate(self.accesses):
            index = text.emit(one.index, leaves)
            pointers = text.pointers(one.array, index)
            token = "" if one.after is None else f" token={tokens[one.after]}"
            mask = mask_type = ""
            if one.below is not None:
                limit = text.new(f"constant <i32: {one.below}> : {tile}")
                less = text.new(f"cmpi less_than {index}, {limit}, signed : {tile} -> tile<{LANES}xi1>")
                mask, mask_type = f", {less}", f", tile<{LANES}xi1>"
            tokens.append(f"%t{number}")
            results = f"%t{number}" if one.kind == "store" else f"%l{number}, %t{number}"
            name, operands, types, out = {
                "load": ("load_ptr_tko weak", pointers, type, f"{tile}, token"),
                "store": ("store_ptr_tko weak", f"{pointers}, {constant}", f"{type}, {tile}", "token"),
                "update": (
                    "atomic_rmw_tko relaxed device",
                    f"{pointers}, add, {constant}",
                    f"{type}, {tile}",
                    f"{tile}, token",
                ),
            }[one.kind]
            text.lines.append(f"{results} = {name} {operands}{mask}{token} : {types}{mask_type} -> {out}")
        return text.kernel(("p", "q"))

    def arguments(self) -> list[object]:
        first = np.zeros(self.size, np.int32)
        return [first, first if self.shared else np.zeros(self.size, np.int32), self.n]

    @property
    def is_small(self) -> bool:
        return self.grid <= MOST_BLOCKS

    def faults(self) -> set[str]:
        """Return the kinds of faults of the launch; of a large one among the first and the last tile blocks."""
        found: set[str] = set()
        touched: dict[tuple[str, int], dict[int, set[int]]] = {}
        ends = (range(min(self.grid, MOST_BLOCKS)), range(max(self.grid - MOST_BLOCKS, MOST_BLOCKS), self.grid))
        for block in chain(*ends):
            for number, one in enumerate(self.accesses):
                indices = [value(one.index, {"block": block, "lane": lane, "n": self.n}) for lane in range(LANES)]
                active = [at for at in indices if one.below is None or at < one.below]
                inside = [at for at in active if 0 <= at < self.size]
                found |= {"out-of-bounds"} if len(inside) < len(active) else set()
                array = "p" if self.shared else one.array
                elements = Counter((array, at) for at in inside)
                if one.kind == "store" and any(count > 1 for count in elements.values()):
                    found.add("duplicate-lanes")
                for element in elements:
                    touched.setdefault(element, {}).setdefault(number, set()).add(block)
        # Grids of proved faults are large: blocks are compared element by element.
        for accesses in touched.values():
            for (one, a), (other, b) in combinations_with_replacement(sorted(accesses.items()), 2):
                if self._conflict(one, other):
                    found |= {"race"} if len(a | b) > 1 else set()
                    found |= {"missing-token"} if one < other and a & b and not self._ordered(one, other) else set()
        return found

    def _conflict(self, one: int, other: int) -> bool:
        kinds = {self.accesses[one].kind, self.accesses[other].kind}
        return kinds not in ({"load"}, {"update"})

    def _ordered(self, first: int, second: int) -> bool:
        after = self.accesses[second].after
        return after is not None and (after == first or self._ordered(first, after))


def launched(random: Random) -> Launched:
    grid, size = random.choice((1, 2, 3, 4)), random.choice((4, 8, 16, 24))
    accesses: list[Access] = []
    for number in range(random.choice((1, 1, 2, 2, 3))):
        if random.random() < 0.5:
            # Tiles next to each other, as most programs have them.
            step = ("constant", (random.choice((LANES, LANES, LANES + 1, LANES - 1, 1, 8)),))
            place: Node = ("addi", (("muli", (("block", ()), step)), ("lane", ())))
            index = place if random.random() < 0.5 else ("addi", (place, expression(random, ("n", "block"), 1)))
        else:
            index = expression(random, ("block", "lane", "n", "block", "lane"), random.choice((1, 2, 3)))
        below = random.choice((None, None, size, size, size - 1))
        after = random.choice((None, *range(number)))
        kind = random.choice(("load", "store", "store", "update"))
        accesses.append(Access(kind, random.choice("ppq"), index, below, after))
    n = random.choice((0, 1, 2, 3, 4, 8, -1, 5))
    return Launched(tuple(accesses), n, grid, size, random.random() < 0.15)


LARGE = 1 << 30
SUBJECTS = {"races": "race", "bounds": "out-of-bounds"}
KINDS = {*SUBJECTS.values(), "missing-token", "duplicate-lanes"}


def wrong_sanitized(one: Launched, tally: Counter[str]) -> Iterator[str]:
    """Yield what the sanitizer gets wrong about a launch."""
    report = tileir.sanitize(one.kernel(), one.grid, *one.arguments())
    found, expected = {finding.kind for finding in report} & KINDS, one.faults()
    tally["sanitize: faults" if expected else "sanitize: none"] += 1
    if found != expected:
        yield f"sanitize: {sorted(found)}, brute force: {sorted(expected)}"


def wrong_proved(one: Launched, tally: Counter[str]) -> Iterator[str]:
    """Yield what proofs get wrong, of all arguments and grids, of these arguments, and of the launch."""
    kernel, arguments = one.kernel(), one.arguments()
    abouts = (tileir.prove(kernel), tileir.prove(kernel, None, *arguments, run=False))
    for report in (*abouts, tileir.prove(kernel, one.grid, *arguments, run=False)):
        for verdict in report.verdicts:
            tally[f"prove: {verdict.subject}: {verdict.outcome.value}, {verdict.scope.value}"] += 1
            if verdict.decided and not _is_skipped(verdict, one):
                for launch in _launches(verdict, one):
                    faults = launch.faults()
                    if not launch.is_small and not faults:
                        tally["prove: a fault of a grid too large to evaluate"] += 1
                        continue
                    if INSIDE in verdict.assuming and "out-of-bounds" in faults:
                        continue
                    if (SUBJECTS[verdict.subject] in faults) != (verdict.outcome is Answer.PRESENT):
                        yield f"prove: {verdict}, brute force: {sorted(faults)} for n={launch.n}, grid {launch.grid}"


def _is_skipped(verdict: ProofVerdict, one: Launched) -> bool:
    """Return whether a verdict is about launches of other arrays, or within limits."""
    return verdict.scope is Scope.ANY and (one.shared or bool(verdict.limits))


def _launches(verdict: ProofVerdict, one: Launched) -> Iterator[Launched]:
    """Yield launches that a verdict is about. A fault of all launches may need arrays that are larger."""
    if verdict.grid[0] is not None:
        size = LARGE if verdict.scope is Scope.ANY else one.size
        yield replace(one, grid=verdict.grid[0], size=size)
        return
    for grid in (1, 2, 3, 5):
        for n in (-7, -1, 0, 1, 2, 3, 6, 1 << 20) if verdict.scope is Scope.ANY else (one.n,):
            yield replace(one, grid=grid, n=n)


# ---------------------------------------------------------------- equal or not


def computing(node: Node) -> tileir.Kernel:
    """Return a kernel that stores an expression of what it loads in each lane of each tile block."""
    text = Text(COMPUTED)
    leaves = text.begin()
    tile, type, after = text.tile, text.pointer, ""
    for name in "pq":
        pointers = text.pointers(name, leaves["lane"])
        text.lines.append(f"%l{name}, %t{name} = load_ptr_tko weak {pointers}{after} : {type} -> {tile}, token")
        leaves[name], after = f"%l{name}", f" token=%t{name}"
    result = text.emit(node, leaves)
    width = text.new(f"constant <i32: {COMPUTED}> : {tile}")
    start = text.new(f"muli {leaves['block']}, {width} : {tile}")
    to = text.pointers("r", text.new(f"addi {start}, {leaves['lane']} : {tile}"))
    text.lines.append(f"%t = store_ptr_tko weak {to}, {result}{after} : {type}, {tile} -> token")
    return text.kernel(("p", "q", "r"))


def changed(random: Random, node: Node) -> Node:
    """Return another expression, of the same numbers or of others."""
    kind, parts = node
    inner = [at for at, part in enumerate(parts) if isinstance(part, tuple)]
    if kind in _BY_CONSTANT:
        inner = inner[:1]
    if inner and random.random() < 0.6:
        at = random.choice(inner)
        return kind, (*parts[:at], changed(random, parts[at]), *parts[at + 1 :])
    zero, one = ("constant", (0,)), ("constant", (1,))
    choices: list[Node] = [
        ("addi", (node, zero)),
        ("muli", (node, one)),
        ("xori", (node, zero)),
        ("ori", (node, node)),
        ("subi", (("addi", (node, one)), one)),
        ("shri", (("shli", (node, one)), one)),
        ("addi", (node, ("andi", (node, zero)))),
        ("maxi", (node, zero)),
    ]
    if len(parts) == 2 and kind not in _BY_CONSTANT:
        choices += [(kind, parts[::-1])] * 3
        choices += [(random.choice(("addi", "ori", "xori", "subi", "maxi")), parts)] * 2
    if kind == "muli":
        choices += [("shli", (parts[0], one))]
    if kind == "divi":
        choices += [("shri", (parts[0], one))] * 2
    if kind == "remi":
        choices += [("andi", (parts[0], ("subi", (parts[1], one))))] * 2
    if kind == "constant":
        choices += [("constant", (parts[0] + 1,))]
    return random.choice(choices)


EDGES = (0, 1, 2, 3, -1, -2, 7, 31, 1 << 30, (1 << 31) - 1, -(1 << 31), 1 - (1 << 31), 12345)


def differs(first: Node, second: Node, random: Random) -> bool:
    """Return whether two expressions differ for any pair of edge values, or for random numbers."""
    names = ("p", "q", "n")
    cases = [dict(zip(names, (a, b, random.choice(EDGES)))) for a in EDGES for b in EDGES]
    cases += [{name: random.randint(-(1 << 31), (1 << 31) - 1) for name in names} for _ in range(50)]
    for case in cases:
        numbers = case | {"block": random.randrange(3), "lane": random.randrange(COMPUTED)}
        if value(first, numbers) != value(second, numbers):
            return True
    return False


def wrong_compared(random: Random, tally: Counter[str]) -> Iterator[str]:
    """Yield what `equiv` gets wrong about two expressions, the second made from the first."""
    first = expression(random, ("p", "q", "n", "lane", "block", "p", "q"), random.choice((1, 2, 3)))
    second = changed(random, first)
    kernels = computing(first), computing(second)
    different = differs(first, second, random)
    found = compare(*kernels, trials(kernels[0], TRIALS, random.randrange(1 << 16)))
    proved = INSTALLED and _is_proved(*kernels)
    tally[f"equiv: {'different' if different else 'equal'}"] += 1
    tally["equiv: equal and proved"] += proved
    if proved and (different or found.difference is not None):
        yield f"equiv: proved, but different: {first} and {second}"
    if found.difference is not None and not different and not _differ_in(first, second, found.difference.trial):
        yield f"equiv: different, brute force: equal: {first} and {second}"
    # "Equal on 24 launches" is a test: what it misses is counted apart.
    tally["equiv: different, equal on all launches"] += different and found.difference is None


def _is_proved(first: tileir.Kernel, second: tileir.Kernel) -> bool:
    from tileir.fuzz.proving import proved_equal

    return proved_equal(first.entry, second.entry)


def _differ_in(first: Node, second: Node, trial: Trial) -> bool:
    """Return whether two expressions differ in some lane of a trial."""
    one, other, _, n = trial.arguments
    assert isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and isinstance(n, int)
    places = [(block, lane) for block in range(prod(trial.grid)) for lane in range(COMPUTED)]
    numbers = [
        {"p": int(one[lane]), "q": int(other[lane]), "n": n, "block": block, "lane": lane} for block, lane in places
    ]
    return any(value(first, case) != value(second, case) for case in numbers)


# ---------------------------------------------------------------- all of it


def wrong_verdicts(seed: int, tally: Counter[str]) -> Iterator[str]:
    """Yield the wrong verdicts on the programs of a seed."""
    random = Random(seed)
    one = launched(random)
    for found in (*wrong_sanitized(one, tally), *wrong_proved(one, tally)):
        yield f"seed {seed}: {found}\n{one}\n{tileir.to_text(one.kernel().module)}"
    for found in wrong_compared(random, tally):
        yield f"seed {seed}: {found}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000, help="programs of each kind")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    tally: Counter[str] = Counter()
    wrong = 0
    for seed in range(options.first, options.first + options.count):
        for text in wrong_verdicts(seed, tally):
            wrong += 1
            print(text, flush=True)
    print(*(f"{count:>8,}  {what}" for what, count in sorted(tally.items())), sep="\n")
    print(f"{options.count:,} programs, {wrong} wrong verdicts")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
