"""Declared fields: what they read as, and how a class inherits them."""

import pytest

from tileir.ir.attributes import Rounding
from tileir.ir.core import Block, Op
from tileir.ir.declare import enum_attr, flag, operand, optional, output, variadic
from tileir.ir.traits import ELEMENTWISE, PURE, SameType
from tileir.ir.types import F32, I1, PointerType, TensorViewType, tile
from tileir.ops.constraints import BASE_FLOAT_TILE, I1_TILE, TOKEN
from tileir.ops.floating import AddF

SAME = SameType("first", "result")


class Shared(Op, traits=(PURE,)):
    """Fields of the operations below."""

    mode = enum_attr(Rounding, default=Rounding.FULL)
    first = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = "$first attr-dict `:` type($result)"


class Longer(Shared, name="test.longer", traits=(ELEMENTWISE, SAME)):
    """Has more fields than it inherits."""

    rest = variadic(BASE_FLOAT_TILE)
    token = optional(TOKEN)
    quiet = flag()


class Narrower(Shared, name="test.narrower"):
    """Declares an inherited field anew."""

    result = output(I1_TILE)
    format = "$first attr-dict"


def values(*types: object) -> list:
    return Block(list(types)).args


class TestInheritance:
    def test_inherited_fields_come_first(self) -> None:
        spec = Longer.spec
        assert [field.name for field in spec.operands] == ["first", "rest", "token"]
        assert [field.position for field in spec.operands] == [0, 1, 2]
        assert [field.name for field in spec.attrs] == ["mode", "quiet"]

    def test_traits_are_added_and_the_format_is_taken_over(self) -> None:
        assert Longer.spec.traits == (PURE, ELEMENTWISE, SAME)
        assert Longer.spec.format == Shared.format
        assert Longer.spec.doc == "Has more fields than it inherits."

    def test_a_field_declared_anew_keeps_its_position(self) -> None:
        assert Narrower.spec.results == (Narrower.result,)
        assert Narrower.result.constraint is I1_TILE
        assert Narrower.spec.format == "$first attr-dict"
        assert Longer.spec.results == (Shared.result,)

    def test_a_class_without_a_name_is_no_operation(self) -> None:
        assert not hasattr(Shared, "spec")

    def test_a_field_cannot_have_two_positions(self) -> None:
        class Other(Op):
            zeroth = operand(BASE_FLOAT_TILE)

        with pytest.raises(TypeError, match="'first' of Mixed is inherited, but from another position"):

            class Mixed(Shared, Other, name="test.mixed"):
                """Inherits two first operands."""


class TestReading:
    def test_a_field_of_a_class_is_its_declaration(self) -> None:
        assert AddF.lhs is AddF.spec.operands[0]
        assert AddF.rounding_mode is AddF.spec.attr_index["rounding_mode"]

    def test_fields_of_an_operation(self) -> None:
        first, second, third = values(tile(F32), tile(F32), tile(F32))
        op = Longer.build([tile(F32)], first=first, rest=[second, third])
        assert (op.first, op.rest, op.token, op.result) == (first, (second, third), None, op.results[0])
        assert (op.mode, op.quiet) == (Rounding.FULL, False)


class TestKnownTypes:
    def test_a_value_of_the_class_that_is_asked_for(self) -> None:
        (value,) = values(tile(PointerType(F32), 4))
        assert value.tile is value.type
        assert value.tile.pointer is PointerType(F32)

    def test_a_value_of_another_class(self) -> None:
        (value,) = values(TensorViewType(F32, (4,), (1,)))
        with pytest.raises(
            TypeError, match=r"expected a type of class TileType, got tensor_view<4xf32, strides=\[1\]>"
        ):
            _ = value.tile
        with pytest.raises(TypeError, match="expected a type of class PointerType, got i1"):
            _ = tile(I1, 4).pointer
