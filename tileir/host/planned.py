"""Objects that native launches are methods of.

Knows: where such an object keeps the plan of its launches. Does not know: what is in it (`cpu.run.direct`), nor who
launches.
"""

from __future__ import annotations


class Planned:
    """An object whose first slot holds a plan, and all that it refers to."""

    __slots__ = ("_plan",)

    _plan: tuple[object, ...]
