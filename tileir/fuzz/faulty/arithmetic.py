"""Programs that compute on tiles and break a promise now and then: overflows, shifts, divisions, conversions, loops.

Knows: how such operations are written. Does not know: what should happen.
"""

from __future__ import annotations

from random import Random

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
        """Mostly small, now and then at the end of the range."""
        limit = 1 << (WIDTHS[self.element] - 1)
        usual = (0, 1, 2, 3, 5, 7, -1, -3, limit - 1, -limit, limit // 2)
        return self.random.choice((*usual, self.random.randrange(limit)))

    def constant(self) -> str:
        """A tile with one number everywhere but for one place."""
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
        """One operation on two values."""
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
        """A sum along the last dimension whose additions are promised to fit."""
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
        """A loop whose counter may leave its type."""
        type, limit = f"tile<{self.element}>", 1 << (WIDTHS[self.element] - 1)
        last = self.random.choice((3, limit - 1))
        bounds = [
            self.line(f"constant <{self.element}: {number}> : {type}")
            for number in (last - 3, last, self.random.choice((1, 2, 3, 0)))
        ]
        lower, upper, step = bounds
        self.lines.append(f"for %i{self.names} in ({lower} to {upper}, step {step}) : {type} {{ continue }}")


def arithmetic(random: Random) -> list[str]:
    """The lines of an entry."""
    program = Arithmetic(random)
    values = [program.constant() for _ in range(3)]
    for _ in range(random.randint(1, 5)):
        values.append(program.step(random.choice(values), random.choice(values)))
    if random.random() < 0.3:
        program.reduced(values[-1])
    if random.random() < 0.3:
        program.loop()
    return program.lines
