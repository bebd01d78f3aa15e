"""Programs put together at random of nested `if`, `for`, `loop` and calls, left early in every way there is.

Every `loop` ends. The prints show the path: each line begins with the number of the tile block, from which all values
stem.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

SCALAR, LANES = "tile<i32>", "tile<4xi32>"
TYPES = (SCALAR, LANES)
ROUNDS = 3
"""Most iterations of a `loop`."""
DEPTH = 5

Types = tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """Exits that are possible where a region stands: the types that each takes, None for one that is not allowed."""

    depth: int
    indent: str
    yields: Types | None = None
    breaks: Types | None = None
    continues: Types | None = None
    returns: Types | None = None
    counter: str = ""
    """The value that the next round of the `loop` gets first."""

    def inner(self, **changes: object) -> Place:
        return replace(self, depth=self.depth + 1, indent=self.indent + "  ", **changes)  # type: ignore[arg-type]


@dataclass
class Program:
    """Writes one program; `text` has all of it."""

    choose: random.Random
    lines: list[str] = field(default_factory=list)
    count: int = 0
    functions: list[tuple[str, Types, Types]] = field(default_factory=list)

    def text(self) -> str:
        for _ in range(self.choose.randint(0, 2)):
            self._function()
        self.lines.append("entry @k() {")
        place = Place(0, "  ", returns=())
        self._line(place, "%block, %y, %z = get_tile_block_id : tile<i32>")
        self._constants(place)
        values = [("%block", SCALAR), ("%c3", SCALAR), ("%lanes", LANES)]
        self._statements(place, values, self.choose.randint(4, 8))
        self.lines += ["  return", "}"]
        return "\n".join(self.lines)

    def _function(self) -> None:
        name = f"@f{len(self.functions)}"
        inputs, outputs = self._types(1, 2), self._types(0, 2)
        arguments = [(self._name(), type) for type in ("tile<i32>", *inputs)]
        parameters = ", ".join(f"{name}: {type}" for name, type in (("%block", SCALAR), *arguments))
        self.lines.append(f"experimental$func {name}({parameters}) -> ({', '.join(outputs)}) {{")
        place = Place(1, "  ", returns=outputs)
        self._constants(place)
        values = [*arguments, ("%c3", SCALAR), ("%lanes", LANES)]
        values = self._statements(place, values, self.choose.randint(1, 4))
        self._line(place, f"return{self._operands(values, outputs)}")
        self.lines.append("}")
        self.functions.append((name, ("tile<i32>", *inputs), outputs))

    def _constants(self, place: Place) -> None:
        for number in (0, 1, ROUNDS):
            self._line(place, f"%c{number} = constant <i32: {number}> : {SCALAR}")
        self._line(place, f"%lanes = iota : {LANES}")

    # ------------------------------------------------------------ statements

    def _statements(self, place: Place, values: Sequence[tuple[str, str]], count: int) -> list[tuple[str, str]]:
        """Some statements; gives the values that there are after them."""
        known = list(values)
        for _ in range(count):
            kinds = [self._compute, self._print]
            if place.depth < DEPTH:
                kinds += [self._if, self._if, self._if, self._for, self._loop, self._call]
            known += self.choose.choice(kinds)(place, known)
        return known

    def _compute(self, place: Place, values: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        type = self.choose.choice(TYPES)
        name, kind = self._name(), self.choose.choice(("addi", "xori", "muli"))
        first, second = self._value(values, type), self._value(values, type)
        self._line(place, f"{name} = {kind} {first}, {second} : {type}")
        return [(name, type)]

    def _print(self, place: Place, values: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        value, type = self.choose.choice(list(values))
        token = self._name()
        self.count += 1
        self._line(
            place, f'{token} = print_tko "%d at {self.count}: %d\\n", %block, {value} : {SCALAR}, {type} -> token'
        )
        return []

    def _condition(self, place: Place, values: Sequence[tuple[str, str]]) -> str:
        bits, low, result = self._name(), self._name(), self._name()
        self._line(place, f"{bits} = xori {self._value(values, SCALAR)}, %block : {SCALAR}")
        self._line(place, f"{low} = andi {bits}, {self.choose.choice(('%c1', '%c3'))} : {SCALAR}")
        predicate = self.choose.choice(("equal", "not_equal"))
        self._line(
            place, f"{result} = cmpi {predicate} {low}, {self._value(values, SCALAR)}, signed : {SCALAR} -> tile<i1>"
        )
        return result

    def _if(self, place: Place, values: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        outputs = self._types(0, 2)
        results = [(self._name(), type) for type in outputs]
        condition = self._condition(place, values)
        types = f" -> ({', '.join(outputs)})" if outputs else ""
        self._line(place, f"{self._listed(results)}if {condition}{types} {{")
        inner = place.inner(yields=outputs)
        self._region(inner, values)
        if outputs or self.choose.random() < 0.5:
            self._line(place, "} else {")
            self._region(inner, values)
        self._line(place, "}")
        return results

    def _for(self, place: Place, values: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        types = self._types(1, 3)
        results, carried = ([(self._name(), type) for type in types] for _ in range(2))
        induction, upper = self._name(), self._name()
        self._line(place, f"{upper} = andi {self._value(values, SCALAR)}, %c3 : {SCALAR}")
        self._line(
            place,
            f"{self._listed(results)}for {induction} in (%c0 to {upper}, step %c1) : {SCALAR} "
            f"iter_values({self._bound(carried, values)}) -> ({', '.join(types)}) {{",
        )
        inner = place.inner(yields=None, breaks=None, continues=types, returns=None, counter="")
        self._region(inner, [*values, (induction, SCALAR), *carried])
        self._line(place, "}")
        return results

    def _loop(self, place: Place, values: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        types, outputs = self._types(0, 2), self._types(0, 2)
        results, carried = ([(self._name(), type) for type in kinds] for kinds in (outputs, types))
        round, after, ends = self._name(), self._name(), self._name()
        initial = self._bound(carried, values)
        self._line(
            place,
            f"{self._listed(results)}loop iter_values({round} = %c0{', ' if initial else ''}{initial}) : "
            f"{', '.join((SCALAR, *types))}{' -> ' if outputs else ''}{', '.join(outputs)} {{",
        )
        inner = place.inner(yields=None, breaks=outputs, continues=types, counter=after)
        known = [*values, (round, SCALAR), *carried]
        self._line(inner, f"{after} = addi {round}, %c1 : {SCALAR}")
        self._line(inner, f"{ends} = cmpi greater_than {after}, %c3, signed : {SCALAR} -> tile<i1>")
        self._line(inner, f"if {ends} {{")
        self._line(inner, f"  break{self._operands(known, outputs)}")
        self._line(inner, "}")
        self._region(inner, known)
        self._line(place, "}")
        return results

    def _call(self, place: Place, values: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        if not self.functions:
            return self._compute(place, values)
        name, inputs, outputs = self.choose.choice(self.functions)
        results = [(self._name(), type) for type in outputs]
        given = ", ".join(["%block", *(self._value(values, type) for type in inputs)])
        self._line(
            place,
            f"{self._listed(results)}experimental$call {name}({given}) : "
            f"({', '.join((SCALAR, *inputs))}) -> ({', '.join(outputs)})",
        )
        return results

    # ------------------------------------------------------------ exits

    def _region(self, place: Place, values: Sequence[tuple[str, str]]) -> None:
        """Statements, then one of the exits that may stand there."""
        known = self._statements(place, values, self.choose.randint(0, 3))
        exits = [("yield", place.yields)] * 2 + [
            ("break", place.breaks),
            ("continue", place.continues),
            ("return", place.returns),
        ]
        name, types = self.choose.choice([(name, types) for name, types in exits if types is not None])
        if name == "continue" and place.counter:
            known = [*known, (place.counter, SCALAR)]
            self._line(place, f"continue{self._operands(known, types, place.counter)}")
        else:
            self._line(place, f"{name}{self._operands(known, types)}")

    def _operands(self, values: Sequence[tuple[str, str]], types: Types, first: str = "") -> str:
        names = [first] * bool(first) + [self._value(values, type) for type in types]
        kinds = [SCALAR] * bool(first) + list(types)
        return f" {', '.join(names)} : {', '.join(kinds)}" if names else ""

    # ------------------------------------------------------------ names

    def _name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def _types(self, least: int, most: int) -> Types:
        return tuple(self.choose.choices(TYPES, k=self.choose.randint(least, most)))

    def _value(self, values: Sequence[tuple[str, str]], type: str) -> str:
        """One of the values of a type; newer ones are more likely."""
        names = [name for name, kind in values if kind == type]
        return names[-1 - min(int(self.choose.expovariate(0.5)), len(names) - 1)]

    def _bound(self, carried: Sequence[tuple[str, str]], values: Sequence[tuple[str, str]]) -> str:
        return ", ".join(f"{name} = {self._value(values, type)}" for name, type in carried)

    def _listed(self, results: Sequence[tuple[str, str]]) -> str:
        return f"{', '.join(name for name, _ in results)} = " if results else ""

    def _line(self, place: Place, text: str) -> None:
        self.lines.append(place.indent + text)


def program(seed: int) -> str:
    """The program of that number: an entry @k without parameters."""
    return Program(random.Random(seed)).text()
