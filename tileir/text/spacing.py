"""Where blanks stand between the elements of a declared format (specification 8.3).

Knows: the rule that follows from punctuation alone.
Does not know: the elements that bring their own blank because they may be absent (`text.format_text`).
"""

from __future__ import annotations

from tileir.text.format import Step

_OPENING = frozenset("([<{")
_CLOSING = frozenset(",)]>}")
_PUNCTUATION = frozenset(("->", ":", "=", *_OPENING, *_CLOSING))


def gap(previous: Step | None, step: Step) -> str:
    """What stands in front of `step` when it follows `previous`; nothing precedes it right after the name."""
    if previous is not None and previous.text in _OPENING:
        return ""
    if step.text in _CLOSING:
        return ""
    if step.text in _OPENING and not (previous is not None and previous.text in _PUNCTUATION):
        return ""
    return " "
