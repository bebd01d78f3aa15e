"""Statements that compute element by element."""

from __future__ import annotations

from typing import Any

from tileir.fuzz.draft import FLOATS, INTS, STORED, ProgramDraft
from tileir.ir import types as t
from tileir.ir.attributes import (
    Ordering,
    Predicate,
    Signedness,
)
from tileir.ir.core import Op
from tileir.ops import (
    conversion,
    core,
    floating,
    integer,
)

_BINARY = {
    True: (integer.AddI, integer.SubI, integer.MulI, integer.AndI, integer.OrI, integer.XOrI, integer.MaxI,
           integer.MinI, integer.ShlI, integer.ShrI, integer.MulhiI),
    False: (floating.AddF, floating.SubF, floating.MulF, floating.MaxF, floating.MinF, floating.DivF),
}  # fmt: skip
_UNARY = {
    True: (integer.NegI, integer.AbsI),
    False: (floating.NegF, floating.AbsF, floating.Ceil, floating.Floor, floating.Sqrt),
}
_FOLDS = (integer.AddI, integer.XOrI, integer.OrI)


class ElementwiseStatements(ProgramDraft):
    """Statements on the elements of tiles."""

    def binary(self) -> None:
        lhs = self.any_of((*INTS, *FLOATS))
        if lhs is None:
            return
        cls = self.choose(_BINARY[lhs.tile.number.is_int])
        left, right = [operand.name for operand in cls.spec.operands][:2]
        fields: dict[str, Any] = {left: lhs, right: self.like(lhs.tile)}
        if "signedness" in cls.spec.attr_index:
            fields["signedness"] = self.choose(tuple(Signedness))
        self.make(cls.build([lhs.type], **fields))

    def unary(self) -> None:
        source = self.any_of((*INTS, *FLOATS))
        if source is not None:
            self.make(self.choose(_UNARY[source.tile.number.is_int]).build([source.type], source=source))

    def fused(self) -> None:
        lhs = self.any_of(FLOATS)
        if lhs is not None:
            rhs, acc = self.like(lhs.tile), self.like(lhs.tile)
            self.make(floating.Fma.build([lhs.type], lhs=lhs, rhs=rhs, acc=acc))

    def remainder(self) -> None:
        lhs = self.any_of(FLOATS)
        if lhs is not None:
            self.make(floating.RemF.build([lhs.type], lhs=lhs, rhs=self.like(lhs.tile)))

    def bitcast(self) -> None:
        """Read integers as floats, and constant floats as integers: the bits of a computed NaN are not fixed."""
        source = self.any_of(INTS)
        if source is None:
            return
        here = source.tile.number
        others = [element for element in self.elements if element.is_float and element.bits == here.bits]
        if not others:
            return
        type = source.tile.with_element(self.choose(others))
        if self.choose((False, True)):
            self.make(conversion.Bitcast.build([source.type], source=self.constant(type)))
        else:
            self.make(conversion.Bitcast.build([type], source=source))

    def compare(self) -> None:
        lhs = self.any_of((*INTS, *FLOATS))
        if lhs is None:
            return
        result, rhs = lhs.tile.with_element(t.I1), self.like(lhs.tile)
        predicate = self.choose(tuple(Predicate))
        if lhs.tile.number.is_int:
            reading = self.choose(tuple(Signedness))
            op: Op = integer.CmpI.build([result], comparison_predicate=predicate, signedness=reading, lhs=lhs, rhs=rhs)
        else:
            order = self.choose(tuple(Ordering))
            fields: dict[str, Any] = {"comparison_predicate": predicate, "comparison_ordering": order}
            op = floating.CmpF.build([result], lhs=lhs, rhs=rhs, **fields)
        self.make(op)

    def select(self) -> None:
        condition = self.any_of((t.I1,))
        if condition is None:
            return
        type = condition.tile.with_element(self.choose(self.elements))
        yes, no = self.like(type), self.like(type)
        self.make(core.Select.build([type], cond=condition, val_if_true=yes, val_if_false=no))

    def convert(self) -> None:
        source = self.any_of(STORED)
        if source is None:
            return
        here, there = source.tile.number, self.choose(self.elements)
        result = source.tile.with_element(there)
        source_only: dict[str, Any] = {"from": source}
        fields: dict[str, Any] = {**source_only, "signedness": self.choose(tuple(Signedness))}
        if here.is_int and there.is_int:
            if there.bits > here.bits:
                self.make(conversion.ExtI.build([result], **fields))
            elif there.bits < here.bits:
                self.make(conversion.TruncI.build([result], **source_only))
        elif here.is_int:
            self.make(conversion.IToF.build([result], **fields))
        elif there.is_int:
            self.make(conversion.FToI.build([result], **fields))
        elif there is not here:
            self.make(conversion.FToF.build([result], **source_only))
