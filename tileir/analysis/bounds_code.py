"""Bounds of all accesses of a kernel, as one Python function that a launch can afford.

    check = LaunchBounds(Program(footprints(kernel.entry)))          # once per kernel; can be pickled
    for found in check([None, None, 1024], (8, 1, 1)):               # some microseconds per access
        ...                                     # (first byte, byte behind the last) from the beginning of its memory

It finds what `Program.extents` does, but without gaps and without reasons, as code without loops: for a guard
``columns - column - 1 >= 0``, where the column is from l7 to h7,

    v1 = a2 - 1
    v2, v3 = v1 - h7, v1 - l7
    if v3 < 0: return 0, 0
    if v2 < 0:
        if l7 + v3 < h7: h7 = l7 + v3

Knows: how intervals, guards and conditions become code. Does not know: footprints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from tileir.analysis.evaluation import FAR, WIDE, Access, Program, Unmapped
from tileir.analysis.intervals import Bound, EitherStep, Fits, FunctionStep, Step, Sum, TurnStep
from tileir.analysis.ranges import Range
from tileir.analysis.symbols import RANGES, Kind

Found = tuple[int, int] | None
"""Bytes of a memory from the first on and before the second, none if that is not larger; None if nothing is known."""

Interval = tuple[str, str]
"""Code for the bounds of a slot; twice the same for a number that is known."""


class LaunchBounds:
    """The bounds of each footprint of a program, in their order, for given arguments and a grid."""

    def __init__(self, program: Program, trust: bool = False) -> None:
        """`trust`: rely on what the kernel promises."""
        self.source = _Module(program, trust).source()

    def __call__(self, arguments: Sequence[int | None], grid: tuple[int, int, int]) -> list[Found]:
        """`arguments` are one per parameter of the entry; those of pointers and floats do not matter."""
        found: list[Found] = self._function(arguments, *grid)
        return found

    @cached_property
    def _function(self) -> Callable[..., list[Found]]:
        names: dict[str, object] = {"product": _product, "function": _function}
        exec(compile(self.source, "<bounds of accesses>", "exec"), names)
        return names["bounds"]  # type: ignore[return-value]

    def __reduce__(self) -> tuple:
        return _from_source, (self.source,)


def _from_source(source: str) -> LaunchBounds:
    made = LaunchBounds.__new__(LaunchBounds)
    made.source = source
    return made


# ---------------------------------------------------------------- called by the code


def _product(low: int, high: int, least: int, most: int) -> tuple[int, int]:
    products = (low * least, low * most, high * least, high * most)
    return min(products), max(products)


def _function(kind: int, bounds: tuple[int, int, int, int], low: int, high: int) -> tuple[int, int]:
    """The bounds of a function of two intervals, which lie in [`low`, `high`] anyway."""
    found = RANGES[Kind(kind)](Range(1, *bounds[:2]), Range(1, *bounds[2:]))
    return (low, high) if found is None else (max(found.low, low), min(found.high, high))


# ---------------------------------------------------------------- code


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdigit()


def _times(factor: str, other: str) -> str:
    if other == "0" or factor == "1":
        return other
    return str(int(factor) * int(other)) if _is_number(factor) and _is_number(other) else f"{factor}*{other}"


def _added(parts: Sequence[str]) -> str:
    constant = sum(int(part) for part in parts if _is_number(part))
    others = [part for part in parts if not _is_number(part)]
    return " + ".join([*others, str(constant)] if constant or not others else others)


class _Code:
    """Lines of one function, and the code for the bounds of each slot there."""

    def __init__(self, head: str, trust: bool) -> None:
        self.lines = [head]
        self.trust = trust
        self.slots: dict[int, Interval] = {}
        self._depth = 1
        self._names = 0

    def add(self, line: str) -> None:
        self.lines.append("    " * self._depth + line)

    def fresh(self) -> str:
        self._names += 1
        return f"v{self._names}"

    def named(self, text: str) -> str:
        """A variable for `text`; a number stays one."""
        if _is_number(text) or text.isidentifier():
            return text
        name = self.fresh()
        self.add(f"{name} = {text}")
        return name

    def within(self, head: str, fill: Callable[[], None]) -> None:
        """A block of lines, without any of them if there is nothing in it."""
        self.add(head)
        before, self._depth = len(self.lines), self._depth + 1
        fill()
        self._depth -= 1
        if len(self.lines) == before:
            self.lines.pop()

    # ------------------------------------------------------------ sums

    def sum(self, form: Sum) -> Interval:
        """The bounds of a sum."""
        known, low, high = [str(form.constant)], [], []
        for factor, slots in form.terms:
            free = [self.slots[slot] for slot in slots if not self.is_known(slot)]
            times = "*".join([str(factor), *(self.slots[slot][0] for slot in slots if self.is_known(slot))])
            if free:
                least, most = self._product(times.removeprefix("1*"), free)
                low.append(least)
                high.append(most)
            else:
                known.append(times.removeprefix("1*"))
        if not low:
            return (self.named(_added(known)),) * 2
        total = self.named(_added(known))
        return self.named(_added([total, *low])), self.named(_added([total, *high]))

    def is_known(self, slot: int) -> bool:
        low, high = self.slots[slot]
        return low == high

    def _product(self, factor: str, free: list[Interval]) -> Interval:
        """The bounds of a number times intervals."""
        (low, high), *others = free
        if _is_number(factor) and not others:
            ends = (_times(factor, low), _times(factor, high))
            return ends if int(factor) > 0 else (ends[1], ends[0])
        factor, least, most = self.named(factor), self.fresh(), self.fresh()
        self.add(f"{least}, {most} = {_times(factor, low)}, {_times(factor, high)}")
        self.add(f"if {least} > {most}: {least}, {most} = {most}, {least}")
        for one in others:
            self.add(f"{least}, {most} = product({least}, {most}, {one[0]}, {one[1]})")
        return least, most

    # ------------------------------------------------------------ conditions

    def fits(self, needs: Sequence[Fits]) -> str:
        """The condition that sums fit; empty if there is none."""
        checks = []
        for need in needs:
            if not (need.promised and self.trust):
                low, high = self.sum(need.sum)
                checks.append(f"{need.low} <= {low} and {high} <= {need.high}")
        return " and ".join(checks)

    def narrow(self, guard: Bound, low: str, high: str) -> None:
        """Take from the intervals of slots what a guard forbids that is not kept everywhere."""
        self.add(f"if {high} < 0: return 0, 0")
        self.within(f"if {low} < 0:", lambda: self._narrow_slots(guard, high))

    def _narrow_slots(self, guard: Bound, most: str) -> None:
        single: dict[int, list[str]] = {}
        for factor, slots in guard.sum.terms:
            free = [slot for slot in slots if not self.is_known(slot)]
            if len(free) == 1:
                times = "*".join([str(factor), *(self.slots[slot][0] for slot in slots if self.is_known(slot))])
                single.setdefault(free[0], []).append(times)
        for slot, factors in single.items():
            self._narrow_slot(*self.slots[slot], " + ".join(factors), most)

    def _narrow_slot(self, low: str, high: str, factor: str, most: str) -> None:
        if factor == "1":
            self.add(f"if {high} - {most} > {low}: {low} = {high} - {most}")
        elif factor == "-1":
            self.add(f"if {low} + {most} < {high}: {high} = {low} + {most}")
        else:
            name = self.named(factor) if not _is_number(factor) else self.fresh()
            if _is_number(factor):
                self.add(f"{name} = {factor}")
            self.add(f"if {name} > 0: {low} = max({low}, {high} - {most} // {name})")
            self.add(f"elif {name} < 0: {high} = min({high}, {low} + {most} // -{name})")


class _Module:
    """The code of all footprints of a program: a function for each, and one that calls them."""

    def __init__(self, program: Program, trust: bool) -> None:
        self._program = program
        self._trust = trust
        self._main = _Code("def bounds(arguments, x, y, z):", trust)
        self._functions: list[str] = []

    def source(self) -> str:
        self._given()
        for step in self._program.steps:
            self._step(step)
        calls = [self._call(at, access) for at, access in enumerate(self._program.accesses)]
        self._main.add(f"return [{', '.join(calls)}]")
        return "\n".join([*self._functions, *self._main.lines])

    def _given(self) -> None:
        """Arguments, and what the grid says."""
        main, program = self._main, self._program
        for slot, (low, high) in enumerate(zip(program.low, program.high)):
            main.slots[slot] = (str(low), str(high))
        for slot, index, bits in program.parameters:
            half = 1 << (bits - 1)
            main.add(f"a{index} = int(arguments[{index}])")
            main.add(f"if not {-half} <= a{index} < {half}: a{index} = (a{index} + {half}) % {2 * half} - {half}")
            main.slots[slot] = (f"a{index}",) * 2
        for slot, axis in program.grid_extents:
            main.slots[slot] = ("xyz"[axis],) * 2
        for slot, axis in program.block_ids:
            main.slots[slot] = ("0", main.named(f"{'xyz'[axis]} - 1"))

    def _step(self, step: Step) -> None:
        """A symbol that depends on others: as they say, and as in every launch where conditions do not hold."""
        main = self._main
        low, high = main.fresh(), main.fresh()
        main.add(f"{low}, {high} = {', '.join(main.slots[step.slot])}")
        if isinstance(step, EitherStep):
            (a, b), (c, d) = main.sum(step.a), main.sum(step.b)
            main.add(f"{low}, {high} = min({a}, {c}), max({b}, {d})")
        elif condition := main.fits(step.needs):
            main.within(f"if {condition}:", lambda: self._computed(step, low, high))
        else:
            self._computed(step, low, high)
        main.slots[step.slot] = (low, high)

    def _computed(self, step: TurnStep | FunctionStep, low: str, high: str) -> None:
        main = self._main
        if isinstance(step, TurnStep):
            main.add(f"{high} = min({high}, {main.sum(step.count)[1]} - 1)")
            return
        (a, b), (c, d) = main.sum(step.a), main.sum(step.b)
        if step.kind is Kind.FLOOR and c == d and c.isdigit() and c != "0":
            main.add(f"{low}, {high} = {a} // {c}, {b} // {c}")
        elif step.kind in (Kind.SMALLEST, Kind.LARGEST):
            name = "min" if step.kind is Kind.SMALLEST else "max"
            main.add(f"{low}, {high} = {name}({a}, {c}), {name}({b}, {d})")
        else:
            main.add(f"{low}, {high} = function({int(step.kind)}, ({a}, {b}, {c}, {d}), {low}, {high})")

    # ------------------------------------------------------------ accesses

    def _call(self, at: int, access: Access | Unmapped) -> str:
        """The call of a function for one access, which is given the intervals that it uses."""
        if isinstance(access, Unmapped):
            return "None"
        code = _Code("", self._trust)
        axes = {axis.slot for axis in access.axes}
        used = [slot for slot in sorted(_slots(access)) if slot not in axes]
        given, taken = [], []
        for slot in used:
            low, high = self._main.slots[slot]
            code.slots[slot] = (f"n{slot}",) * 2 if low == high else (f"l{slot}", f"h{slot}")
            taken += list(dict.fromkeys(code.slots[slot]))
            given += [low] if low == high else [low, high]
        code.lines[0] = f"def access_{at}({', '.join(taken)}):"
        _write_access(code, access)
        self._functions += code.lines
        return f"access_{at}({', '.join(given)})"


def _slots(access: Access) -> set[int]:
    """The slots that an access is made of."""
    guards = (*access.first, *access.guards)
    sums = [access.address, *(axis.sum for axis in access.axes), *(guard.sum for guard in guards)]
    sums += [need.sum for need in (*access.needs, *(need for guard in guards for need in guard.needs))]
    return {slot for one in sums for _, slots in one.terms for slot in slots} | set(access.loops)


def _write_access(code: _Code, access: Access) -> None:
    for turn in access.loops:
        code.add(f"if {code.slots[turn][1]} < 0: return 0, 0")
    _write_guards(code, access.first)
    for axis in access.axes:
        low, high = code.sum(axis.sum)
        code.add(f"l{axis.slot}, h{axis.slot} = {low}, {high}")
        code.slots[axis.slot] = (f"l{axis.slot}", f"h{axis.slot}")
    _write_guards(code, access.guards)
    condition = code.fits(access.needs)
    if condition:
        code.add(f"if not ({condition}): return None")
    for slot, _ in access.sources:
        if not code.is_known(slot):
            low, high = code.slots[slot]
            code.add(f"if {high} - {low} >= {WIDE}: return None")
    low, high = code.sum(access.address)
    code.add(f"if {low} < {-FAR} or {high} > {FAR}: return None")
    share = 8 // access.bits if access.bits < 8 else 1
    ends = (f"{low}, {high} + {access.bits // 8}", f"{low} // {share}, {high} // {share} + 1")
    code.add(f"return {ends[share > 1]}")


def _write_guards(code: _Code, guards: Sequence[Bound]) -> None:
    """Guards narrow intervals, one after the other; their conditions are judged before the first."""
    kept = [guard for guard in guards if code.trust or not guard.promised]
    conditions = [code.fits(guard.needs) for guard in kept]
    names = [code.named(condition) if condition else "" for condition in conditions]
    for guard, holds in zip(kept, names):
        if holds:
            code.within(f"if {holds}:", lambda guard=guard: code.narrow(guard, *code.sum(guard.sum)))  # type: ignore[misc]
        else:
            code.narrow(guard, *code.sum(guard.sum))
