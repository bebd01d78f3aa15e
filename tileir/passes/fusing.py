"""The pass ``fuse-fma``: a product and a sum become one operation with one rounding, as the user asks.

Knows: that the product may have no other use. Does not know: the patterns (`rules.floating`).
"""

from __future__ import annotations

from tileir.analysis.structure import Uses
from tileir.ir.core import Module, Op, Value
from tileir.passes.pattern import Bound, PatternRow, build
from tileir.passes.rebuilding import Rebuilding, fused
from tileir.passes.rules.floating import FUSED

ROWS = FUSED


class Fusing(Rebuilding):
    """The walk that makes multiply-adds (spec: passes#fusion)."""

    def module(self, module: Module) -> Module:
        self.uses = Uses([module.op])
        return super().module(module)

    def visit(self, op: Op) -> None:
        for row in FUSED:
            bound = row.match(op) if type(op) is row.matched.op else None
            if bound is not None and self._used_once(row, op):
                self._fuse(row, op, bound)
                return
        super().visit(op)

    def _used_once(self, row: PatternRow, op: Op) -> bool:
        (product,) = row.absorbed(op)
        return list(self.uses.of(product.results[0])) == [op] and op.operands.count(product.results[0]) == 1

    def _fuse(self, row: PatternRow, op: Op, bound: Bound) -> None:
        (product,) = row.absorbed(op)
        now = {name: self.values[found] if isinstance(found, Value) and found in self.values else found
               for name, found in bound.items()}  # fmt: skip
        made = build(row.made, op.results[0].type, now, self.place(fused(op.loc, product.loc)), self)
        assert made is not None, "a fused operation has the type of the sum"
        self.log.note(row, op, [made])
        self.bind(op.results, [made])
