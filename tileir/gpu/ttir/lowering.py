"""Turning one entry into a TTIR function.

Knows: the parameters of that function, the values of the program while it is built, and which rule serves which
operation. Does not know: what an operation means (the chapters), nor how code is compiled or launched.

The parameters are those of the entry, then one pointer for each `Hidden` that the code turned out to need.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tileir.gpu.arch import Arch
from tileir.gpu.ttir.builder import Builder
from tileir.gpu.ttir.code import I64, Attribute, Block, Function, Type, Value
from tileir.gpu.ttir.facts import Facts
from tileir.gpu.ttir.forms import TOKEN, Lowered, TensorView, TileView, flat_types, tile_type
from tileir.gpu.ttir.order import Order
from tileir.gpu.ttir.text import function_text
from tileir.gpu.ttir.users import Users
from tileir.ir import core
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.diagnostics import UnsupportedError
from tileir.ops.extension import Func
from tileir.ops.module import Entry

Lower = Callable[["Lowering", Op], None]
"""A rule: emits the code of an operation and binds its results."""

MAX_ELEMENTS = 1 << 20
"""What Triton's compiler allows in a tensor."""

HIDDEN_ALIGNMENT = 16
"""What hidden memory is aligned to."""

ALL_MEMORY = 31
"""Of ``ttg.barrier``: shared, global and tensor memory, reads and writes."""

MAX_ALIGNMENT = 1 << 10
"""The largest divisor of a parameter that Triton's compiler is told of."""


@dataclass(frozen=True)
class GlobalMemory:
    """The memory of a global of the module, which lives as long as the module is loaded."""

    name: str


@dataclass(frozen=True)
class ConstantMemory:
    """Memory with these bytes, which nobody writes."""

    content: bytes


@dataclass(frozen=True)
class BlockMemory:
    """Uninitialised memory for one launch: `size` bytes for each block of the grid."""

    size: int


@dataclass(frozen=True)
class Mailbox:
    """Where blocks leave what the host is to do: see `gpu.mailbox`."""


Hidden = GlobalMemory | ConstantMemory | BlockMemory | Mailbox


@dataclass(frozen=True)
class ParameterFacts:
    """What the code may rely on about a parameter: its value is a multiple of `divisor`."""

    divisor: int = 1


@dataclass
class Lowering:
    """The state of one entry's lowering."""

    arch: Arch
    rules: dict[type[Op], Lower]
    entry: Entry
    functions: dict[str, Func]
    facts: Sequence[ParameterFacts]
    body: Block
    build: Builder
    values: dict[core.Value, Lowered] = field(default_factory=dict)
    hidden: dict[Hidden, Value] = field(default_factory=dict)
    sites: list[Op] = field(default_factory=list)
    """The operations that the host has a part in (`print_tko`, `assert`); code names them by number."""
    block_memory: int = 0
    """Bytes that `alloca` takes for one block."""
    known: Facts = field(default_factory=Facts)
    """What is known of the values made so far."""
    users: Users = field(default_factory=Users)
    order: Order = field(default_factory=Order)
    """What tokens ask for."""

    def value(self, value: core.Value) -> Value:
        """The TTIR value of a tile."""
        found = self.values[value]
        assert isinstance(found, Value), found
        return found

    def view(self, value: core.Value) -> TileView:
        found = self.values[value]
        assert isinstance(found, TileView), found
        return found

    def tensor_view(self, value: core.Value) -> TensorView:
        found = self.values[value]
        assert isinstance(found, TensorView), found
        return found

    def type_of(self, value: core.Value) -> Type:
        """The TTIR type of a tile."""
        return tile_type(value.type)

    def bind(self, value: core.Value, lowered: Lowered) -> None:
        """Give a value of the program its form."""
        if isinstance(lowered, Value):
            assert lowered.type == tile_type(value.type), (lowered.type, value.type)
        self.values[value] = lowered

    def bind_token(self, value: core.Value) -> None:
        self.bind(value, TOKEN)

    def parameter(self, hidden: Hidden, element: str = "i8") -> Value:
        """The address of hidden memory as a pointer to `element`; one parameter for each, made when first asked for."""
        if hidden not in self.hidden:
            address = Value(Type("!tt.ptr<i8>"), self.body)
            self.body.arguments.append(address)
            self.known.promise(address, HIDDEN_ALIGNMENT)
            self.hidden[hidden] = address
        return self.build.bitcast(self.hidden[hidden], f"!tt.ptr<{element}>")

    def site(self, op: Op) -> int:
        """The number of an operation that the host has a part in, from 1."""
        if op not in self.sites:
            self.sites.append(op)
        return self.sites.index(op) + 1

    def rebuilt(self, type: t.Type, values: Iterable[Value]) -> Lowered:
        """A value of the program from what carried it (`forms.flattened`)."""
        if isinstance(type, t.TokenType):
            return TOKEN
        if isinstance(type, t.TileViewType):
            tensor = self.rebuilt(type.tensor_view, values)
            assert isinstance(tensor, TensorView)
            return TileView(type, tensor)
        given = iter(values)
        if isinstance(type, t.TensorViewType):
            base = next(given)
            shape, strides = (
                tuple(next(given) if entry is None else self.build.integer(I64, entry) for entry in entries)
                for entries in (type.shape, type.strides)
            )
            return TensorView(type, base, shape, strides)
        return next(given)

    def rebuilt_all(self, program_values: Sequence[core.Value], values: Sequence[Value]) -> None:
        """Bind values of the program to what carried them, in order."""
        given = iter(values)
        for value in program_values:
            count = len(flat_types(value.type))
            self.bind(value, self.rebuilt(value.type, [next(given) for _ in range(count)]))

    def run(self, block: core.Block) -> None:
        for op in block.ops:
            self.lower(op)

    def lower(self, op: Op) -> None:
        rule = self.rules.get(type(op))
        if rule is None:
            raise self.unsupported(op, "has no GPU code")
        for result in op.results:
            self._require_size(op, result.type)
        self.build.loc = op.loc
        self.put_in_order(op)
        rule(self, op)

    def put_in_order(self, op: Op) -> None:
        """Put a barrier in front of the operation if tokens ask for one."""
        if self.order.needs_barrier(op):
            self.barrier()

    def barrier(self) -> None:
        """Make all threads of the block wait for each other, and what they do in memory with them."""
        self.build.effect("ttg.barrier", addrSpace=ALL_MEMORY)

    def unsupported(self, op: Op, why: str) -> UnsupportedError:
        """The error for an operation that has no code on this architecture; `why` continues its name."""
        return UnsupportedError(f"'{op.spec.name}' {why}", self.arch.name, op.loc)

    def _require_size(self, op: Op, type: t.Type) -> None:
        if isinstance(type, t.TileType) and type.count > MAX_ELEMENTS:
            limit = f"Triton's compiler takes tiles of at most {MAX_ELEMENTS} elements"
            raise self.unsupported(op, f"makes {type!r}: {limit}")


@dataclass(frozen=True)
class Program:
    """A lowered entry: its TTIR, the parameters beyond those of the entry, the operations with a part for the host."""

    function: Function
    text: str
    hidden: tuple[Hidden, ...]
    sites: tuple[Op, ...]


def lower_entry(
    entry: Entry,
    functions: Sequence[Func],
    rules: dict[type[Op], Lower],
    arch: Arch,
    facts: Sequence[ParameterFacts] = (),
) -> Program:
    """The TTIR of `entry`, whose module has the device functions `functions`.

    `facts` says what is known of the parameters, in order; nothing is known of those beyond. Raises UnsupportedError.
    """
    body = Block(tuple(tile_type(argument.type) for argument in entry.body.args))
    named = {function.sym_name: function for function in functions}
    lowering = Lowering(arch, rules, entry, named, facts, body, Builder(body), order=Order.of(entry, named))
    lowering.users = Users([entry, *functions])
    for argument, value in zip(entry.body.args, body.arguments):
        lowering.bind(argument, value)
    for value, fact in zip(body.arguments, facts):
        lowering.known.promise(value, fact.divisor)
    lowering.lower(entry)
    hidden = tuple(
        BlockMemory(lowering.block_memory) if isinstance(kind, BlockMemory) else kind for kind in lowering.hidden
    )
    divisors = [min(lowering.known.divisor(value), MAX_ALIGNMENT) for value in body.arguments]
    attributes: dict[int, dict[str, Attribute]] = {
        position: {"tt.divisibility": divisor} for position, divisor in enumerate(divisors) if divisor > 1
    }
    function = Function(_machine_name(entry.sym_name), body, attributes)
    return Program(function, function_text(function), hidden, tuple(lowering.sites))


def _machine_name(name: str) -> str:
    """A name that PTX allows."""
    allowed = re.sub(r"\W", "_", name, flags=re.ASCII)
    return allowed if re.match(r"[A-Za-z_]", allowed) else f"kernel_{allowed}"
