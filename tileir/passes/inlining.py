"""The pass ``inline``: calls become what the function does.

Knows: which functions can be inlined, and that a place in one is seen through the call. Does not know: how much code is
too much (`analysis.placement`).
"""

from __future__ import annotations

from tileir.analysis.placement import CallPlacement, CodeSizes
from tileir.ir.core import Module, Op
from tileir.ops.calls import Call, Func
from tileir.ops.control import Return
from tileir.ops.module import Entry
from tileir.ops.pointers import Alloca
from tileir.passes.rebuilding import Rebuilding
from tileir.passes.row import Exactness, Row

INLINED = Row(
    "inlined-call", "inline", "experimental$call @f(x, ...)", "the body of @f on x, ...", Exactness.EXACT,
    "a call runs the body; places in it become call sites", "@f returns at its end only, allocates nothing, and "
    "is small, or all code of the kernel or function is together",
)  # fmt: skip
UNCALLED = Row(
    "uncalled-function", "inline", "experimental$func @f that nobody calls", "nothing", Exactness.EXACT,
    "functions are called, never launched", "a call of @f was inlined",
)  # fmt: skip
ROWS = (INLINED, UNCALLED)


class Inlining(Rebuilding):
    """The walk that inlines calls."""

    def module(self, module: Module) -> Module:
        self.sizes = CodeSizes()
        self.whole: dict[Op, bool] = {}
        self.inlined: set[Op] = set()
        made = super().module(module)
        self._drop_uncalled(made, {function.attributes["sym_name"] for function in self.inlined})
        return made

    def visit(self, op: Op) -> None:
        if isinstance(op, Entry | Func):
            self.placement = CallPlacement(op.body, self.sizes)
        if isinstance(op, Call) and self._can_inline(op):
            self._inline(op)
        else:
            super().visit(op)

    def _can_inline(self, op: Call) -> bool:
        function = self.sizes.callee(op)
        return not op.discardable and self._is_whole(function) and self.placement.is_part(function)

    def _is_whole(self, function: Op) -> bool:
        """Whether a function returns at its end only, and allocates nothing."""
        if function not in self.whole:
            (body,) = function.regions
            assert body is not None, "a function has a body"
            inner = (one for root in body.ops[:-1] for one in root.walk())
            inside = any(isinstance(one, Return | Alloca) for one in inner)
            self.whole[function] = isinstance(body.terminator, Return) and not inside
        return self.whole[function]

    def _inline(self, op: Call) -> None:
        function = self.sizes.callee(op)
        (body,) = function.regions
        assert body is not None, "a function has a body"
        arguments = self.given(op.args)
        self.log.note(INLINED, op)
        self.inlined.add(function)
        self.callers = (*self.callers, op.loc)
        self.bind(op.results, self.inline(body, arguments))
        self.callers = self.callers[:-1]

    def _drop_uncalled(self, module: Module, names: set[str]) -> None:
        """Leave out the functions of those names that no call is left of."""
        called = {op.callee for op in module.walk() if isinstance(op, Call)}
        kept = []
        for item in module.items:
            if isinstance(item, Func) and item.sym_name in names - called:
                self.log.note(UNCALLED, item)
            else:
                kept.append(item)
        module.items[:] = kept
