"""The choice of device functions that are inlined into their callers, and of those that are called.

An inlined function costs nothing at run time, but its code is repeated at each call, and calls in it multiply. So a
kernel that stays small inlines all functions; a larger one inlines only small functions.
"""

from __future__ import annotations

from collections.abc import Callable

from tileir.analysis.effects import module_of
from tileir.ir.core import Block
from tileir.ops.calls import Call, Func

LARGEST_KERNEL = 1 << 12
"""The size in operations up to which a kernel inlines every call."""
LARGEST_PART = 1 << 8
"""Operations of a function that becomes a part of its callers in a larger kernel."""


class CodeSizes:
    """The number of operations that each function of a verified module expands to; each function is counted once."""

    def __init__(self) -> None:
        self._functions: dict[str, Func] = {}
        self._whole: dict[Func, int] = {}
        self._parts: dict[Func, int] = {}

    def callee(self, call: Call) -> Func:
        """Return the function that a call runs."""
        if not self._functions:
            self._functions = {op.sym_name: op for op in module_of(call).ops if isinstance(op, Func)}
        return self._functions[call.callee]

    def of(self, block: Block) -> int:
        """Return the operations of a block with those of all functions that it calls, as often as it does."""
        return self._size(block, self.size_of)

    def size_of(self, function: Func) -> int:
        """Return the operations of a function with those of all functions that it calls, as often as it does."""
        if function not in self._whole:
            self._whole[function] = self.of(function.body)
        return self._whole[function]

    def size_with_parts(self, function: Func) -> int:
        """Return the operations of a function with those of the functions that are parts of it in a large kernel."""
        if function not in self._parts:
            self._parts[function] = self._size(function.body, self._size_of_call)
        return self._parts[function]

    def _size_of_call(self, function: Func) -> int:
        size = self.size_with_parts(function)
        return size if size <= LARGEST_PART else 1

    def _size(self, block: Block, size_of_call: Callable[[Func], int]) -> int:
        operations = (op for root in block.ops for op in root.walk())
        return sum(size_of_call(self.callee(op)) if isinstance(op, Call) else 1 for op in operations)


class CallPlacement:
    """The decisions for the kernel or function whose body is `body`."""

    def __init__(self, body: Block, sizes: CodeSizes | None = None) -> None:
        self.sizes = sizes or CodeSizes()
        self._small = self.sizes.of(body) <= LARGEST_KERNEL

    def is_part(self, function: Func) -> bool:
        """Return whether the code of a function is inlined wherever it is called."""
        return self._small or self.sizes.size_with_parts(function) <= LARGEST_PART
