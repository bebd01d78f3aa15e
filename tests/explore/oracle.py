"""The memory model again, by brute force: every source of every read, every order of all writes, then the axioms.

Independent of `tileir.explore`: relations are sets of pairs, written as the language reference has them
(spec: memory-model#derived-relations, spec: memory-model#axioms). Works on the programs of `programs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from typing import NamedTuple

from tests.explore.programs import Program, Step

Relation = set[tuple[int, int]]
Outcome = tuple[tuple[str, int], ...]
INIT = "init"


class Event(NamedTuple):
    """`kind` is R or W; `step` None for the initial write."""

    block: int
    step: Step | None
    lane: int
    kind: str
    cell: tuple[str, int]

    @property
    def strong(self) -> bool:
        return self.step is not None and self.step.ordering != "weak"


class Verdict(NamedTuple):
    """All outcomes, and whether a consistent execution has a race."""

    outcomes: frozenset[Outcome]
    racy: bool


def judged(program: Program) -> Verdict:
    outcomes, racy = set(), False
    for events, source, values in candidates(program):
        relations = _Model(program, events, source)
        for order in _coherence_orders(events):
            relations.put_in(order)
            if relations.consistent():
                racy = racy or relations.racy()
                outcomes.add(_outcome(program, events, order, values))
    return Verdict(frozenset(outcomes), racy)


def interleavings(program: Program) -> frozenset[Outcome]:
    """The outcomes of whole operations one after the other, each tile block in program order, its lanes in any."""
    memory = {(array, at): 0 for array, size in program.arrays.items() for at in range(size)}
    found: set[Outcome] = set()
    work = [(memory, tuple({} for _ in program.blocks), (0,) * len(program.blocks))]
    while work:
        memory, registers, at = work.pop()
        steps = [(block, steps[at[block]]) for block, steps in enumerate(program.blocks) if at[block] < len(steps)]
        for block, step in steps:
            after = tuple(number + (one == block) for one, number in enumerate(at))
            for order in permutations(range(len(step.lanes))):
                work.append((*_performed(step, block, order, memory, registers), after))
        if not steps:
            named = {f"{array}[{lane}]": value for (array, lane), value in memory.items()}
            for block, values in enumerate(registers):
                named |= {f"{block}:%{name}": value for name, value in values.items()}
            found.add(tuple(sorted(named.items())))
    return frozenset(found)


def _performed(step: Step, block: int, order: tuple[int, ...], memory: dict, registers: tuple) -> tuple[dict, tuple]:
    memory, mine = dict(memory), dict(registers[block])
    lanes = {guard: "" if (guard.register in mine) else f"[{guard.lane}]" for guard in step.guards}
    if step.masked or any(mine.get(f"{guard.register}{lanes[guard]}") != guard.value for guard in step.guards):
        return memory, registers
    for lane in order:
        at = step.lanes[lane]
        old = memory[step.array, at]
        if step.register:
            mine[step.register if step.scalar else f"{step.register}[{lane}]"] = old
        if step.kind != "R":
            stored = step.stored[lane]
            value = mine[stored] if isinstance(stored, str) else stored
            if step.mode == "add":
                value += old
            if step.mode != "cas" or old == step.expected:
                memory[step.array, at] = value
    return memory, tuple(mine if one == block else other for one, other in enumerate(registers))


# ---------------------------------------------------------------- candidates

Values = dict[int, int]


def candidates(program: Program) -> Iterator[tuple[list[Event], dict[int, int], Values]]:
    """Events, the write that each read reads from, and values: those in which values and branches fit together."""
    cells = [(array, at) for array, size in program.arrays.items() for at in range(size)]
    everything = [Event(-1, None, 0, "W", cell) for cell in cells]
    for block, steps in enumerate(program.blocks):
        for step in steps:
            for lane, at in enumerate(step.lanes if not step.masked else ()):
                kinds = {"R": "R", "W": "W", "U": "RW", "C": "RW"}[step.kind]
                everything += [Event(block, step, lane, kind, (step.array, at)) for kind in kinds]
    reads = [number for number, event in enumerate(everything) if event.kind == "R"]
    writes = [
        [n for n, event in enumerate(everything) if event.kind == "W" and event.cell == everything[read].cell]
        for read in reads
    ]
    seen = set()
    for choice in product(*writes):
        found = _fixed_point(everything, dict(zip(reads, choice)))
        if found is not None and found[0] not in seen:
            seen.add(found[0])
            kept, values = sorted(found[2]), found[1]
            renumbered = {old: new for new, old in enumerate(kept)}
            yield (
                [everything[number] for number in kept],
                {renumbered[read]: renumbered[write] for read, write in found[0] if read in renumbered},
                {renumbered[number]: value for number, value in values.items() if number in renumbered},
            )


def _fixed_point(
    events: list[Event], source: dict[int, int]
) -> tuple[tuple[tuple[int, int], ...], Values, set[int]] | None:
    """Compute values starting from the initial ones; a value never computed rests on itself, out of thin air."""
    values: Values = {number: 0 for number, event in enumerate(events) if event.step is None}
    by_key = {
        (event.block, event.step.number, event.lane, event.kind): n for n, event in enumerate(events) if event.step
    }
    registers = {
        (event.block, event.step.register, event.lane): number
        for number, event in enumerate(events)
        if event.step is not None and event.kind == "R"
    }
    dead: set[int] = set()
    changed = True
    while changed:
        changed = False
        for number, event in enumerate(events):
            if number in values or number in dead or event.step is None:
                continue
            state = _state(event, values, dead, registers)
            if state is None:
                continue
            if not state:
                dead.add(number)
                changed = True
                continue
            value = _value(number, event, values, source, by_key, registers)
            if value is not None:
                changed = True
                if value == "failed":
                    dead.add(number)
                else:
                    assert isinstance(value, int)
                    values[number] = value
    alive = set(range(len(events))) - dead
    if any(number not in values for number in alive):
        return None
    if any(source[read] in dead for read in source if read in alive):
        return None
    return tuple((read, write) for read, write in source.items() if read in alive), values, alive


def _state(event: Event, values: Values, dead: set[int], registers: dict) -> bool | None:
    """Return whether the guards hold; None if that is not known yet."""
    assert event.step is not None
    for guard in event.step.guards:
        number = registers[event.block, guard.register, guard.lane]
        if number in dead:
            return False
        if number not in values:
            return None
        if values[number] != guard.value:
            return False
    return True


def _value(
    number: int, event: Event, values: Values, source: dict[int, int], by_key: dict, registers: dict
) -> int | str | None:
    step = event.step
    assert step is not None
    if event.kind == "R":
        return values.get(source[number])
    stored = step.stored[event.lane]
    if isinstance(stored, str):
        return values.get(registers[event.block, stored, event.lane if not step.scalar else 0])
    if not step.mode:
        return stored
    old = values.get(by_key[event.block, step.number, event.lane, "R"])
    if old is None:
        return None
    if step.mode == "cas":
        return stored if old == step.expected else "failed"
    return old + stored if step.mode == "add" else stored


def _coherence_orders(events: list[Event]) -> Iterator[dict[int, int]]:
    """The place of each write among those of its cell."""
    cells = sorted({event.cell for event in events})
    groups = [[n for n, event in enumerate(events) if event.kind == "W" and event.cell == cell] for cell in cells]
    for orders in product(*(permutations(group[1:]) for group in groups)):
        yield {write: place for group, order in zip(groups, orders) for place, write in enumerate((group[0], *order))}


def _outcome(program: Program, events: list[Event], order: dict[int, int], values: Values) -> Outcome:
    found: dict[str, int] = {}
    for number, event in enumerate(events):
        if event.kind == "R" and event.step is not None:
            lane = "" if event.step.scalar else f"[{event.lane}]"
            found[f"{event.block}:%{event.step.register}{lane}"] = values[number]
    for cell in {event.cell for event in events}:
        writes = [n for n, event in enumerate(events) if event.kind == "W" and event.cell == cell]
        found["{}[{}]".format(*cell)] = values[max(writes, key=order.__getitem__)]
    return tuple(sorted(found.items()))


# ---------------------------------------------------------------- the axioms


class _Model:
    """The relations of an execution, which has writes in an order after `put_in`."""

    def __init__(self, program: Program, events: list[Event], source: dict[int, int]) -> None:
        self.program, self.events, self.source = program, events, source
        self.numbers = range(len(events))
        self.rmw = {(a, b) for a in self.numbers for b in self.numbers if self._same_element(a, b)}
        self.rpo = _closure({(a, b) for a in self.numbers for b in self.numbers if self._token(a, b)} | self.rmw)
        self.rf = {(write, read) for read, write in source.items()}
        self.ms = {(a, b) for a in self.numbers for b in self.numbers if a != b and self._morally_strong(a, b)}
        self.obs = self._observation()
        init = {(a, b) for a in self.numbers for b in self.numbers if events[a].step is None and events[b].step}
        self.sw = {(a, b) for a, b in self.obs if self._synchronises(a, b)}
        self.hb = _closure(self.rpo | self.sw | init)
        self.cause = self.hb | {(a, c) for a, b in self.obs for x, c in self.hb if x == b}

    def put_in(self, order: dict[int, int]) -> None:
        """Set the coherence order: the place of each write among those of its cell."""
        events, self.order = self.events, order
        self.co = {
            (a, b)
            for a in order
            for b in order
            if events[a].cell == events[b].cell and order[a] < order[b]
        }  # fmt: skip
        self.fr = {
            (read, later)
            for read, write in self.source.items()
            for earlier, later in self.co
            if earlier == write and (read, later) not in self.rmw
        }

    def _same_element(self, a: int, b: int) -> bool:
        one, two = self.events[a], self.events[b]
        return (one.block, one.step, one.lane) == (two.block, two.step, two.lane) and one.kind + two.kind == "RW"

    def _token(self, a: int, b: int) -> bool:
        one, two = self.events[a], self.events[b]
        if one.block != two.block or one.step is None or two.step is None:
            return False
        steps, work, seen = self.program.blocks[one.block], list(two.step.after), set()
        while work:
            number = work.pop()
            if number not in seen:
                seen.add(number)
                work += steps[number].after
        return one.step.number in seen

    def _morally_strong(self, a: int, b: int) -> bool:
        one, two = self.events[a], self.events[b]
        if (a, b) in self.rpo or (b, a) in self.rpo:
            return True
        if not (one.strong and two.strong):
            return False
        assert one.step is not None and two.step is not None
        return one.block == two.block or "tl_blk" not in (one.step.scope, two.step.scope)

    def _observation(self) -> Relation:
        obs = {pair for pair in self.rf if pair in self.ms}
        while True:
            more = {
                (write, read)
                for write, update_read in obs
                for r, update_write in self.rmw
                if r == update_read
                for w, read in obs
                if w == update_write
            }
            if more <= obs:
                return obs
            obs |= more

    def _synchronises(self, a: int, b: int) -> bool:
        one, two = self.events[a], self.events[b]
        if one.step is None or two.step is None or one.block == two.block or (a, b) not in self.ms:
            return False
        return one.step.ordering in ("release", "acq_rel") and two.step.ordering in ("acquire", "acq_rel")

    def _overlap(self, a: int, b: int) -> bool:
        return self.events[a].cell == self.events[b].cell

    def consistent(self) -> bool:
        if any(a == b for a, b in self.hb):
            return False
        kinds = [event.kind for event in self.events]
        for a, b in self.cause:
            if kinds[a] == kinds[b] == "W" and self._overlap(a, b) and (a, b) not in self.co:
                return False
            if kinds[a] == "R" and kinds[b] == "W" and (b, a) in self.rf:
                return False
            if kinds[a] == "W" and kinds[b] == "R" and self._overlap(a, b) and (self.source[b], a) in self.co:
                return False
        com = self.rf | self.co | self.fr
        per_location = {pair for pair in self.rpo if self._overlap(*pair)} | {pair for pair in com if pair in self.ms}
        if any(a == b for a, b in _closure(per_location)):
            return False
        return not any(
            (self.source[read], other) in self.co and (other, write) in self.co
            for read, write in self.rmw
            for other in self.order
            if other != write and (other, read) in self.ms
        )

    def racy(self) -> bool:
        return any(
            a < b
            and self.events[a].step is not None
            and self.events[b].step is not None
            and self._overlap(a, b)
            and "W" in (self.events[a].kind, self.events[b].kind)
            and (a, b) not in self.rmw
            and (a, b) not in self.ms
            and (a, b) not in self.hb
            and (b, a) not in self.hb
            for a in self.numbers
            for b in self.numbers
        )


def _closure(pairs: Relation) -> Relation:
    following: dict[int, set[int]] = {}
    for a, b in pairs:
        following.setdefault(a, set()).add(b)
    found: Relation = set()
    for start in following:
        work, seen = list(following[start]), set()
        while work:
            one = work.pop()
            if one not in seen:
                seen.add(one)
                work += following.get(one, ())
        found |= {(start, one) for one in seen}
    return found
