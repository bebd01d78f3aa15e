"""How much native code checks.

Knows: the levels. Does not know: which checks each of them has, so that a launch of kept code can name one.
"""

from __future__ import annotations

import enum


class CheckLevel(enum.Enum):
    """What code looks for beside computing its results."""

    OFF = "unchecked"
    ON = "checked"
    """Accesses to memory that the launch has not given, and broken promises of `assume`."""
    STRICT = "strict"
    """All that the interpreter reports in strict mode as well."""
