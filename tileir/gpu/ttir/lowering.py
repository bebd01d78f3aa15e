"""The state of an entry while it is lowered to a TTIR function.

It holds the values of the program and what carries them, the parameters that code needs beyond those of the entry, and
the rule of each operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from tileir.gpu.arch import Arch, Vendor
from tileir.gpu.descriptors import DescriptorParameter
from tileir.gpu.executable import Hidden
from tileir.gpu.expressions import Expression, expression_of
from tileir.gpu.ttir.analysis.barriers import TokenOrder
from tileir.gpu.ttir.analysis.hints import Users
from tileir.gpu.ttir.analysis.ranges import ValueRanges
from tileir.gpu.ttir.forms import TOKEN, Lowered, LoweredTensorView, LoweredTileView, tile_type
from tileir.gpu.ttir.ir.builder import Builder, VendorInstructions
from tileir.gpu.ttir.ir.code import I64, TtirBlock, TtirType, TtirValue
from tileir.gpu.ttir.vendors.amd import AmdInstructions
from tileir.gpu.ttir.vendors.nvidia import NvidiaInstructions
from tileir.ir import core
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.diagnostics import UnsupportedError
from tileir.ops.calls import Func
from tileir.ops.module import Entry

Form = TypeVar("Form", TtirValue, LoweredTensorView, LoweredTileView)

Lower = Callable[["TtirLowering", Op], Lowered | None]
"""A rule: emits the code of an operation and returns its result, or binds its results if there are several."""

INSTRUCTIONS: dict[Vendor, type[VendorInstructions]] = {Vendor.NVIDIA: NvidiaInstructions, Vendor.AMD: AmdInstructions}
"""The vendors' instructions beyond TTIR."""

MAX_ELEMENTS = 1 << 20
"""Elements that Triton's compiler allows in a tensor."""

HIDDEN_ALIGNMENT = 16
"""Alignment of hidden memory in bytes."""

ALL_MEMORY = 31
"""The operand of ``ttg.barrier``: shared, global and tensor memory, reads and writes."""


@dataclass(frozen=True)
class ParameterFacts:
    """Knowledge of a parameter that the code may rely on: its value is a multiple of `divisor`."""

    divisor: int = 1


@dataclass
class TtirLowering:
    """The state of one entry's lowering."""

    arch: Arch
    rules: dict[type[Op], Lower]
    functions: dict[str, Func]
    body: TtirBlock
    build: Builder
    values: dict[core.Value, Lowered] = field(default_factory=dict)
    hidden: dict[Hidden, TtirValue] = field(default_factory=dict)
    sites: list[Op] = field(default_factory=list)
    """The operations that the host has a part in (`print_tko`, `assert`); code names them by number."""
    block_memory: int = 0
    """Bytes that `alloca` takes for one block."""
    by_address: bool = False
    """True if only tensors that are known to fit a descriptor have one."""
    narrow: list[Expression] = field(default_factory=list)
    """The extents that the code expects to be below 2^31."""
    known: ValueRanges = field(default_factory=ValueRanges)
    """Knowledge of the values made so far."""
    users: Users = field(default_factory=Users)
    order: TokenOrder = field(default_factory=TokenOrder)
    """The order that tokens ask for."""

    @staticmethod
    def of(entry: Entry, functions: Sequence[Func], arch: Arch, rules: dict[type[Op], Lower]) -> TtirLowering:
        """Return the lowering of an entry, with a parameter for each of its own, before the first operation."""
        body = TtirBlock(tuple(tile_type(argument.tile) for argument in entry.body.args))
        named = {function.sym_name: function for function in functions}
        users, order = Users([entry, *functions]), TokenOrder.of(entry, named)
        build = Builder(body, INSTRUCTIONS[arch.vendor])
        lowering = TtirLowering(arch, rules, named, body, build, users=users, order=order)
        for argument, value in zip(entry.body.args, body.arguments):
            lowering.bind(argument, value)
        return lowering

    def value(self, value: core.Value) -> TtirValue:
        """Return the TTIR value of a tile."""
        return self._form(value, TtirValue)

    def tiles(self, values: Iterable[core.Value]) -> list[TtirValue]:
        return [self.value(value) for value in values]

    def optional(self, value: core.Value | None) -> TtirValue | None:
        return None if value is None else self.value(value)

    def view(self, value: core.Value) -> LoweredTileView:
        return self._form(value, LoweredTileView)

    def tensor_view(self, value: core.Value) -> LoweredTensorView:
        return self._form(value, LoweredTensorView)

    def _form(self, value: core.Value, form: type[Form]) -> Form:
        found = self.values[value]
        assert isinstance(found, form), found
        return found

    def type_of(self, value: core.Value) -> TtirType:
        """Return the TTIR type of a tile."""
        return tile_type(value.tile)

    def bind(self, value: core.Value, lowered: Lowered) -> None:
        """Give a value of the program its form."""
        if isinstance(lowered, TtirValue):
            assert lowered.type == self.type_of(value), (lowered.type, value.type)
        self.values[value] = lowered

    def parameter(self, hidden: Hidden, element: str = "i8") -> TtirValue:
        """Return the address of hidden memory as a pointer to `element`; one parameter for each, made when first asked
        for."""
        if hidden not in self.hidden:
            address = TtirValue(TtirType("!tt.ptr<i8>"), self.body)
            self.body.arguments.append(address)
            self.known.promise(address, HIDDEN_ALIGNMENT)
            self.hidden[hidden] = address
        return self.build.bitcast(self.hidden[hidden], f"!tt.ptr<{element}>")

    def descriptor(self, descriptor: DescriptorParameter) -> TtirValue:
        """Return a descriptor that the launch makes; one parameter for each, made when first asked for."""
        if descriptor not in self.hidden:
            self.hidden[descriptor] = TtirValue(TtirType(descriptor.type), self.body)
            self.body.arguments.append(self.hidden[descriptor])
        return self.hidden[descriptor]

    def expression(self, value: TtirValue) -> Expression | None:
        """Return how a launch computes a scalar from the parameters of the entry; None if it cannot."""
        given = len(self.body.arguments) - len(self.hidden)
        return expression_of(value, self.body.arguments[:given])

    def site(self, op: Op) -> int:
        """Return the number of an operation that the host has a part in, from 1."""
        if op not in self.sites:
            self.sites.append(op)
        return self.sites.index(op) + 1

    def rebuilt_all(self, program_values: Sequence[core.Value], values: Sequence[TtirValue]) -> None:
        """Bind values of the program to what carried them (`forms.flattened`), in order."""
        given = iter(values)
        for value in program_values:
            self.bind(value, self._rebuilt(value.type, given))

    def _rebuilt(self, type: t.Type, given: Iterator[TtirValue]) -> Lowered:
        if isinstance(type, t.TokenType):
            return TOKEN
        if isinstance(type, t.TileViewType):
            tensor = self._rebuilt(type.tensor_view, given)
            assert isinstance(tensor, LoweredTensorView)
            return LoweredTileView(type, tensor)
        if isinstance(type, t.TensorViewType):
            base = next(given)
            shape, strides = (
                tuple(next(given) if entry is None else self.build.integer(I64, entry) for entry in entries)
                for entries in (type.shape, type.strides)
            )
            return LoweredTensorView(type, base, shape, strides)
        return next(given)

    def lower(self, op: Op) -> None:
        rule = self.rules.get(type(op))
        if rule is None:
            raise self.unsupported(op, "has no GPU code")
        for result in op.results:
            if isinstance(result.type, t.TokenType):
                self.bind(result, TOKEN)
            elif isinstance(result.type, t.TileType) and result.type.count > MAX_ELEMENTS:
                limit = f"Triton's compiler takes tiles of at most {MAX_ELEMENTS} elements"
                raise self.unsupported(op, f"makes {result.type!r}: {limit}")
        self.build.loc = op.loc
        self.put_in_order(op)
        made = rule(self, op)
        if made is not None:
            self.bind(op.results[0], made)

    def put_in_order(self, op: Op) -> None:
        """Put a barrier in front of the operation if tokens ask for one."""
        if self.order.needs_barrier(op):
            self.barrier()

    def barrier(self) -> None:
        """Make all threads of the block wait for each other, and what they do in memory with them."""
        self.build.effect("ttg.barrier", addrSpace=ALL_MEMORY)

    def unsupported(self, op: Op, why: str) -> UnsupportedError:
        """Return the error for an operation that has no code on this architecture; `why` continues its name."""
        return UnsupportedError(f"'{op.spec.name}' {why}", self.arch.name, op.loc)
