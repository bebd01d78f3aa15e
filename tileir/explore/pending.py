"""Values that depend on a read without an answer.

Knows: the value that stands for them, and that it spreads. Does not know: which operation needs which values.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable


class Pending(enum.Enum):
    """The only value of its type."""

    PENDING = enum.auto()


PENDING = Pending.PENDING


def any_pending(values: Iterable[object]) -> bool:
    """Whether a value, or a member of a variadic one, is pending."""
    return any(value is PENDING or (type(value) is tuple and any(one is PENDING for one in value)) for value in values)
