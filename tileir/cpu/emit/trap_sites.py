"""The places in native code that can stop a launch, and what a tile block leaves behind there.

Knows: the kinds of evidence, where in the arena it lies, and the statuses that are no trap. Does not know: how code is
made that leaves it (`cpu.emit.emitter`), nor how it becomes the text of a trap (`cpu.run.traps`).
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from tileir.ir import types as t
from tileir.ir.core import Op

ABANDONED = -1
"""The status of a tile block that left off because the launch has ended."""
SET_ASIDE = -2
"""The status of a tile block that waits."""
HANGS = "hang"
"""The message of the trap site of a loop that runs too often."""


class TrapKind(enum.Enum):
    """The evidence that a trap leaves in the arena, and so how its text is made."""

    PLAIN = "plain"
    """None: the message of the site is the text."""
    ASSERTION = "assertion"
    """The condition of the `assert`."""
    ACCESS = "access"
    """The position of a tile element, in row-major order, the address that it may not access, and from where to where
    the allocation of the block lies for which that was meant (0 and 0 for none)."""
    OFFSET = "offset"
    """The low and high half of the largest element offset of a view, which is too large."""
    REACH = "reach"
    """That offset, which is not too large, and the address of the view, from which it leads beyond 64 bits."""
    NUMBER = "number"
    """A number that the message has a place for."""
    COUNTER = "counter"
    """The counter of a `for` and its step, for which the message has places."""
    SUBTILE = "subtile"
    """The index of a subtile, for each number of which the message has a place."""
    LANE = "lane"
    """The position of a tile element, for whose index the message has a place."""


WORDS = t.tile(t.I64, 4)
"""The type of the evidence of most kinds."""
EVIDENCE, EVIDENCE_PLACE, MOST_WORDS = 0, 56, 7
"""The arena begins with 64 bytes that are kept for evidence: of up to seven words, then the place of
evidence that takes more."""


@dataclass
class TrapSite:
    """A place in the code that can stop the launch: its number is what the function returns."""

    op: Op
    message: str
    kind: TrapKind = TrapKind.PLAIN
