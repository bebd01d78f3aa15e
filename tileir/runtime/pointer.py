"""A raw address as a kernel argument.

Knows: what `Pointer` promises. Does not know: how targets use it.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

LOWEST, HIGHEST = 1 << 12, 1 << 63
"""No address outside these is memory of a process, whatever is said of it: below are null pointers and what is computed
from them, above is the system."""


@dataclass(frozen=True)
class Pointer:
    """An address to be passed to a ``tile<ptr<E>>`` parameter as it is, of whatever element type.

    The caller vouches for the memory behind it.

    Attributes
    ----------
    address : int
        The address in bytes, an unsigned 64-bit number.
    size : int or None
        How many bytes a kernel may use there, which a checking target holds it to. Without a size it may use what lies
        in the arrays of the same launch, or else, if the address is in none of them, everything from the address to the
        end of the mapped memory it lies in.
    owner : object
        Anything that must stay alive as long as the pointer.

    Raises
    ------
    TypeError
        For an address that is no integer.
    ValueError
        For an address outside 64 bits, or a negative size.
    """

    __module__ = "tileir"

    address: int
    size: int | None = None
    owner: object = None

    def __post_init__(self) -> None:
        for name in ("address", "size"):
            value = getattr(self, name)
            if name == "size" and value is None:
                continue
            if not hasattr(value, "__index__"):
                raise TypeError(f"{name}: expected an integer, got {type(value).__name__}")
            object.__setattr__(self, name, operator.index(value))
        if not 0 <= self.address < 1 << 64:
            raise ValueError(f"address: expected an unsigned 64-bit integer, got {self.address}")
        if self.size is not None and not 0 <= self.size <= (1 << 64) - self.address:
            raise ValueError(f"size: expected bytes that end below 2^64, got {self.size}")


def may_be_memory(pointer: Pointer) -> bool:
    """Whether there can be memory at an address, and as much as is said."""
    return pointer.address >= LOWEST and pointer.address + (pointer.size or 0) < HIGHEST
