"""Programs that are almost right: valid ones, with a few things changed."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random

import tileir
from tileir.examples import FOLDER as EXAMPLES
from tileir.ir.types import ELEMENTS
from tileir.ops import SPELLINGS

GOLDEN = Path(__file__).parent.parent / "golden"
_TOKEN = re.compile(r"\s+|[%@#!^]?[\w$.]+|\"[^\"\n]*\"|->|.", re.DOTALL)
_ODD = (
    "0", "-1", "3", "7", "1e400", "0x", "99999999999999999999", "-9223372036854775809", "1x2x3", "?", "nan", "true",
    "<", ">", "(", ")", "{", "}", "[", "]", "->", ",", ":", "=", "#", "!", "@", "%", '"', '"\\', "//", "\0", "é", "",
    "tile<f32>", "tile<16777216x2xf32>", "ptr<ptr<f32>>", "token", "loc(#a)", "{a = 1}", "cuda_tile.", "i4", "f64",
    "dense<1>", "unsigned", "yield", "return", "break", "module", "entry",
)  # fmt: skip


@cache
def programs() -> list[str]:
    """Valid programs of every kind, as written and in the generic form, which leaves more to the verifier."""
    paths = [*sorted(GOLDEN.glob("*.mlir")), *sorted(EXAMPLES.glob("*.mlir"))]
    written = [path.read_text(encoding="utf-8") for path in paths]
    return written + [tileir.to_text(tileir.parse(text), form="generic") for text in written]


@cache
def tokens(number: int) -> list[str]:
    return _TOKEN.findall(programs()[number])


def mutated_text(random: Random) -> str:
    """A valid program with a few changes, most often one."""
    words = list(tokens(random.randrange(len(programs()))))
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        random.choice(_CHANGES)(words, random)
    return "".join(words)


def _delete(words: list[str], random: Random) -> None:
    begin = random.randrange(len(words) or 1)
    del words[begin : begin + random.choice((1, 1, 1, 3, 10))]


def _repeat(words: list[str], random: Random) -> None:
    begin = random.randrange(len(words) or 1)
    words[begin:begin] = words[begin : begin + random.choice((1, 2, 5, 40))] * random.choice((1, 1, 2, 50))


def _replace(words: list[str], random: Random) -> None:
    if words:
        words[random.randrange(len(words))] = random.choice(_ODD)


def _insert(words: list[str], random: Random) -> None:
    words.insert(random.randrange(len(words) + 1), random.choice(_ODD) * random.choice((1, 1, 1, 200)))


def _exchange(words: list[str], random: Random) -> None:
    if words:
        first, second = random.randrange(len(words)), random.randrange(len(words))
        words[first], words[second] = words[second], words[first]


def _borrow(words: list[str], random: Random) -> None:
    """A token of another program in the place of one of the same looks."""
    other = tokens(random.randrange(len(programs())))
    if words:
        place = random.randrange(len(words))
        alike = [word for word in random.sample(other, min(200, len(other))) if _kind(word) == _kind(words[place])]
        words[place] = random.choice(alike or other)


def _kind(word: str) -> str:
    """Words of one kind can often stand in each other's place."""
    if word[:1].isdigit():
        return "type" if "x" in word else "number"
    if word in ELEMENTS:
        return "type"
    return "operation" if word.removeprefix("cuda_tile.") in SPELLINGS else word[:1]


def _exchange_all(words: list[str], random: Random) -> None:
    """One word for another everywhere, such as ``8x4xf32`` for ``8xf16``: the program stays consistent."""
    named = [word for word in words if word[:1].isalnum()]
    if named:
        old = random.choice(named)
        new = random.choice([word for word in named if _kind(word) == _kind(old)])
        words[:] = [new if word == old else word for word in words]


def _renumber(words: list[str], random: Random) -> None:
    places = [place for place, word in enumerate(words) if word.isdigit()]
    if places:
        words[random.choice(places)] = str(random.choice((0, 1, 2, 3, 4, 8, 64, 2**31, 2**63)))


def _cut(words: list[str], random: Random) -> None:
    del words[random.randrange(len(words) or 1) :]


_RARE = (_delete, _repeat, _replace, _insert, _exchange, _cut)
_CHANGES = (*_RARE, *(_borrow, _exchange_all, _renumber) * 4)


def mutated_bytes(data: bytes, random: Random) -> bytes:
    """The bytes with one to eight changes."""
    changed = bytearray(data)
    for _ in range(random.randint(1, 8)):
        place = random.randrange(len(changed) or 1)
        match random.randrange(5):
            case 0:
                del changed[place : place + random.choice((1, 2, 8))]
            case 1:
                changed[place:place] = random.randbytes(random.choice((1, 4)))
            case 2:
                del changed[place:]
            case _ if changed:
                changed[place] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))
    return bytes(changed)
