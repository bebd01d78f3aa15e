"""The attributes that many operations of a program share: most have none, or the same as another."""

from __future__ import annotations

from typing import Any, NoReturn


class SharedAttributes(dict[str, Any]):
    """The attributes of any number of operations. ``copy()`` gives a dictionary of one's own; to change it is a
    TypeError.
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[type[SharedAttributes], tuple[dict[str, Any]]]:
        return SharedAttributes, (self.copy(),)

    def _refuse(self, *given: object, **named: object) -> NoReturn:
        raise TypeError("expected attributes of one operation, got those that operations share: change a copy")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse


NO_ATTRIBUTES = SharedAttributes()
