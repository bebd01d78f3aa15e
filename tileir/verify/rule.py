"""Rules of the verifier: a code, and a function that looks at one operation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from tileir.ir.core import Block, Op, Value
from tileir.ir.diagnostics import Note
from tileir.ir.loc import UNKNOWN, Location, UnknownLoc
from tileir.ir.types import Type
from tileir.ir.versions import Version

if TYPE_CHECKING:
    from tileir.verify.symbols import Symbols


@dataclass(frozen=True)
class Violation:
    """A fault of an operation: ``'addf' operand 'rhs': expected ..., got ...``.

    ``subject`` follows the operation's name in the message. Without ``expected`` it is the whole message.
    """

    subject: str = ""
    expected: str | None = None
    got: str | None = None
    notes: tuple[Note, ...] = ()
    hint: str | None = None

    def message(self, name: str) -> str:
        text = f"'{name}' {self.subject}".rstrip()
        if self.expected is not None:
            text += f": expected {self.expected}"
        return text if self.got is None else f"{text}, got {self.got}"


class CheckContext:
    """All that a rule may know besides the operation: the language level and the symbols of the module.

    ``unsound`` holds the operations that break their declaration; a rule must not rely on their fields.
    ``refused_types`` holds the types that were reported, which is done once for each.
    """

    __slots__ = ("level", "refused_types", "symbols", "unsound")

    def __init__(self, level: Version, symbols: Symbols) -> None:
        self.level = level
        self.symbols = symbols
        self.unsound: set[Op] = set()
        self.refused_types: set[Type] = set()


Check = Callable[..., Violation | None]
"""``check(op, context)``: the violation of an operation, or None."""


@dataclass(frozen=True)
class Rule:
    """One rule: the code it reports and its check.

    The verdict of a rule depends only on the operation's types, attributes and parent, unless it is ``contextual``.
    A code that starts with W is a warning. ``structural`` rules come from the declaration of the operation; the other
    rules rely on them.
    """

    code: str
    check: Check
    contextual: bool = False
    structural: bool = False


C = TypeVar("C", bound=Check)


class RuleTable(dict[type[Op], list[Rule]]):
    """The rules of one chapter, per operation in the order of checking: ``@rules("E0401", Broadcast)``."""

    def __call__(self, code: str, *ops: type[Op], contextual: bool = False) -> Callable[[C], C]:
        def register(check: C) -> C:
            self.add(code, check, *ops, contextual=contextual)
            return check

        return register

    def add(self, code: str, check: Check, *ops: type[Op], contextual: bool = False) -> None:
        """Add a check that is made or shared."""
        for op in ops:
            self.setdefault(op, []).append(Rule(code, check, contextual))


# ---------------------------------------------------------------- parts of messages


def listed(words: Iterable[str], last: str = "or") -> str:
    """Return ``a, b or c``."""
    words = list(words)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


_PLURALS = {"index": "indices", "entry": "entries"}


def counted(number: int, noun: str) -> str:
    """Return ``1 result``, ``2 results``."""
    return f"{number} {noun if number == 1 else _PLURALS.get(noun, noun + 's')}"


def type_list(types: Iterable[Type]) -> str:
    """Return ``(tile<i32>, token)``."""
    return f"({', '.join(type.text for type in types)})"


def value_loc(value: Value) -> Location:
    """Return location of the definition of a value: its operation, its block argument, or the operation around the
    block."""
    owner = value.owner
    if isinstance(owner, Op):
        return owner.loc
    if value.index < len(owner.arg_locs) and not isinstance(owner.arg_locs[value.index], UnknownLoc):
        return owner.arg_locs[value.index]
    return UNKNOWN if owner.parent is None else owner.parent.loc


def defined(value: Value, what: str) -> tuple[Note, ...]:
    """Return a note that shows where an operand comes from."""
    loc, owner, name = value_loc(value), value.owner, ""
    if isinstance(loc, UnknownLoc):
        return ()
    if isinstance(owner, Block) and len(owner.arg_names) == len(owner.args):
        name = f"'{owner.arg_names[value.index]}', "  # the place may be that of all arguments
    return (Note(f"{what} is {name}defined here, as {value.type!r}", loc),)


def noted(message: str, loc: Location) -> tuple[Note, ...]:
    """Return a note, unless its place is unknown."""
    return () if isinstance(loc, UnknownLoc) else (Note(message, loc),)
