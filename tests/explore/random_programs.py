"""Random small concurrent programs in the notation of `programs`."""

from __future__ import annotations

from random import Random

from tests.explore.programs import Program, program

LOADS = ("", ".rlx", ".acq")
STORES = ("", ".rlx", ".rel")
UPDATES = (".rlx", ".acq", ".rel", ".ar")


def random_program(random: Random, steps: int = 5) -> Program:
    """A program of at most `steps` operations in one to three tile blocks, over two places."""
    blocks = random.choice((1, 2, 2, 2, 3))
    cuts = sorted(random.sample(range(1, steps), blocks - 1)) if blocks > 1 else []
    lengths = [end - begin for begin, end in zip([0, *cuts], [*cuts, steps])]
    weak = random.random() < 0.4
    return program(*(_block(random, length, weak) for length in lengths))


def _block(random: Random, length: int, weak: bool) -> str:
    text, registers = "", []
    for number in range(length):
        if number:
            text += random.choice((" -> ", " -> ", " | "))
        guard = ""
        if registers and random.random() < 0.25:
            guard = f"?{random.choice(registers)}={random.choice((0, 1, 1, 2))} "
        labels = [f"s{one}" for one in range(number)]
        after = ""
        if labels and random.random() < 0.15 and not guard:
            after = ",".join(sorted(random.sample(labels, random.randint(1, len(labels))))) + "> "
        step, register = _step(random, number, registers, weak)
        text += f"s{number}# {after}{guard}{step}"
        if register and not guard:
            registers.append(register)
    return text


def _step(random: Random, number: int, registers: list[str], weak: bool) -> tuple[str, str]:
    place, scope = random.choice("xxy"), random.choice(("", "", "", "@blk", "@sys"))
    kind, register = random.choice("RRRWWWUC"), f"r{number}"
    if kind == "R":
        ordering = random.choice(LOADS if weak else LOADS[1:])
        return f"R{ordering}{scope if ordering else ''} {place}:{register}", register
    if kind == "W":
        ordering = random.choice(STORES if weak else STORES[1:])
        value = f"%{random.choice(registers)}" if registers and random.random() < 0.3 else str(random.choice((1, 2)))
        return f"W{ordering}{scope if ordering else ''} {place}={value}", ""
    ordering = random.choice(UPDATES)
    if kind == "U":
        return f"U{ordering}{scope} {place}{random.choice(('+1', ':=1', ':=2'))}:{register}", register
    return f"C{ordering}{scope} {place} {random.choice(('0>1', '1>2', '0>2'))}:{register}", register
