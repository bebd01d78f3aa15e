"""Values that depend on a read without an answer.

Knows: the value that stands for them, and that it spreads, to tokens too.
Does not know: which operation needs which values.
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


def joined_tokens(*tokens: object) -> frozenset | Pending:
    """The instructions before any of the tokens; those that are no sets stand for none."""
    flat = [one for token in tokens for one in (token if type(token) is tuple else (token,))]
    if any(one is PENDING for one in flat):
        return PENDING
    return frozenset().union(*(one for one in flat if isinstance(one, frozenset)))
