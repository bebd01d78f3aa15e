"""Rows: rewrites as data, and the log of those that were applied.

Knows: what is stated of a rewrite. Does not know: how one is matched or carried out.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field

from tileir.ir.core import Op, Value


class Exactness(enum.Enum):
    """The results that a rewrite keeps."""

    EXACT = "exact"
    """Same bits for all inputs."""
    PROMISED = "exact under promises"
    """Same bits for inputs on which the program has defined behaviour: no race, no promise broken, nothing that traps.
    """
    ROUNDING = "changes rounding"
    """Other bits; only where it is asked for by name."""
    ORDER = "order"
    """Same bits for programs without races; other edges between memory operations."""


class Aspect(enum.Flag):
    """An aspect of programs: what a rewrite changes, and what a pass looks at."""

    NONE = 0
    CODE = enum.auto()
    """Operations, and their operands."""
    PLACE = enum.auto()
    """The block that an operation stands in."""
    USES = enum.auto()
    """Values that are used, and how often."""
    ALL = CODE | PLACE | USES


@dataclass(frozen=True)
class Row:
    """One rewrite: `pattern` becomes `becomes` if `when` holds (empty: always), by the pass `pass_name`; `why` says
    in a sentence why that is right. A pass that looks at none of what it `changes` has no new work by it.
    """

    name: str
    pass_name: str
    pattern: str
    becomes: str
    kind: Exactness
    why: str
    when: str = ""
    changes: Aspect = field(default=Aspect.ALL, repr=False)


@dataclass(frozen=True)
class Change:
    """One application of a row: the operation it was applied to, and the values that stand for its results."""

    row: Row
    before: Op
    after: tuple[Value, ...]


@dataclass
class ChangeLog:
    """The changes of some passes, in order; of rows that are `exact` alone, if that is asked for."""

    exact: bool = False
    changes: list[Change] = field(default_factory=list)
    aspects: Aspect = Aspect.NONE
    """What they have changed."""

    def allows(self, row: Row) -> bool:
        """Whether a row may be applied."""
        return not self.exact or row.kind is Exactness.EXACT

    def note(self, row: Row, before: Op, after: Sequence[Value] = ()) -> None:
        assert self.allows(row), f"{row.name} is not exact"
        self.changes.append(Change(row, before, tuple(after)))
        self.aspects |= row.changes
