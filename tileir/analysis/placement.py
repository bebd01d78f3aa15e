"""Decision which device functions become a part of their callers, and which are called.

Knows: how much code a call stands for. Does not know: LLVM.

A function that is a part of its callers costs nothing at run time, but its code is there once for each call, and calls
in it multiply. So all functions are parts of a kernel that stays small; in a larger one only small functions are.
"""

from __future__ import annotations

from collections.abc import Callable

from tileir.analysis.effects import callee_of
from tileir.ir.core import Block, Op
from tileir.ops.calls import Call

LARGEST_KERNEL = 1 << 12
"""Operations of a kernel of which every call may become a part."""
LARGEST_PART = 1 << 8
"""Operations of a function that becomes a part of its callers in a larger kernel."""


class CallPlacement:
    """The decisions for the kernel whose body is `body`."""

    def __init__(self, body: Block) -> None:
        self._whole: dict[Op, int] = {}
        self._parts: dict[Op, int] = {}
        self._small = _size(body, self.size_of) <= LARGEST_KERNEL

    def is_part(self, function: Op) -> bool:
        """Whether the code of a function stands wherever it is called."""
        return self._small or self._size_with_parts(function) <= LARGEST_PART

    def size_of(self, function: Op) -> int:
        """The operations of a function with those of all functions that it calls, as often as it does."""
        if function not in self._whole:
            self._whole[function] = _size(_body(function), self.size_of)
        return self._whole[function]

    def _size_with_parts(self, function: Op) -> int:
        """The operations of a function with those of the functions that are parts of it."""
        if function not in self._parts:
            self._parts[function] = _size(_body(function), self._size_of_call)
        return self._parts[function]

    def _size_of_call(self, function: Op) -> int:
        size = self._size_with_parts(function)
        return size if size <= LARGEST_PART else 1


def _body(function: Op) -> Block:
    body = function.regions[0]
    assert body is not None, "a function has a body"
    return body


def _size(block: Block, size_of_call: Callable[[Op], int]) -> int:
    operations = (op for root in block.ops for op in root.walk())
    return sum(size_of_call(callee_of(op)) if isinstance(op, Call) else 1 for op in operations)
