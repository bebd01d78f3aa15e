"""Work that is done once for an object, and kept with it.

Does not know: what the work is; targets, the rewriter and others each have keys of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import TypeVar, cast

_UNMADE = object()
T = TypeVar("T")


class Prepared:
    """An object with such work, in its dictionary."""

    __slots__ = ()

    def prepared(self, key: Hashable, make: Callable[[], T]) -> T:
        """The work under `key`, which belongs to one `make`; made on first use."""
        found = self._prepared.get(key, _UNMADE)
        if found is _UNMADE:
            found = self._prepared[key] = make()
        return cast(T, found)

    @cached_property
    def _prepared(self) -> dict[Hashable, object]:
        return {}
