"""Values, operations, blocks and modules, in SSA form.

Regions have one block and control flow is structured, so there is no CFG, no phi, no use list; rewriting rebuilds
(spec: syntax#regions). Operations are classes declared in `ops` with the helpers of `ir.declare`.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, TypeVar

from tileir.ir.attributes import Attribute
from tileir.ir.loc import UNKNOWN, Location, Places, Source
from tileir.ir.spec import OpSpec, specify
from tileir.ir.traits import Trait
from tileir.ir.types import TensorViewType, TileType, TileViewType, Type, checked_cast

if TYPE_CHECKING:
    import typing_extensions
    from typing_extensions import Self

    T_co = typing_extensions.TypeVar("T_co", bound=Type, covariant=True, default=Type)
else:
    T_co = TypeVar("T_co")


class Value(Generic[T_co]):
    """A result of an operation or an argument of a block: defined once, of one type.

    The parameter is the class of that type as far as the declaration of the operation promises it, which a program
    keeps once it is verified.
    """

    __slots__ = ("index", "owner", "type")

    def __init__(self, type: T_co, owner: Op | Block, index: int) -> None:
        self.type = type
        self.owner = owner
        self.index = index

    @property
    def op(self) -> Op | None:
        """The operation that defines this value; None for a block argument."""
        return self.owner if isinstance(self.owner, Op) else None

    @property
    def tile(self) -> TileType:
        """The type of a value that is known to be a tile; this and the next two raise TypeError for another."""
        return checked_cast(self.type, TileType)

    @property
    def tensor_view(self) -> TensorViewType:
        """The type of a value that is known to be a tensor view."""
        return checked_cast(self.type, TensorViewType)

    @property
    def tile_view(self) -> TileViewType:
        """The type of a value that is known to be a view of tiles."""
        return checked_cast(self.type, TileViewType)

    def __repr__(self) -> str:
        return f"<value {self.index} of {self.owner!r}: {self.type!r}>"


class Block:
    """The block of a region: arguments, then operations in order.

    ``arg_names`` are the names of the arguments in the text, for messages; empty where there are none.
    """

    __slots__ = ("arg_locs", "arg_names", "args", "ops", "parent")

    def __init__(self, arg_types: tuple[Type, ...] | list[Type] = (), parent: Op | None = None) -> None:
        self.args = [Value(type, self, index) for index, type in enumerate(arg_types)]
        self.ops: list[Op] = []
        self.parent = parent
        self.arg_locs: tuple[Location, ...] = ()
        self.arg_names: tuple[str, ...] = ()

    def append(self, op: Op) -> Op:
        op.parent = self
        self.ops.append(op)
        return op

    @property
    def terminator(self) -> Op | None:
        """The last operation if it is a terminator."""
        last = self.ops[-1] if self.ops else None
        return last if last is not None and last.spec.terminator else None

    def __repr__(self) -> str:
        return f"<block of {self.parent!r}>"


class _OpClass(type):
    """The class of operation classes: it reads their declarations, and adds no fields of its own."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], /, **declaration: Any) -> _OpClass:
        namespace.setdefault("__slots__", ())
        return super().__new__(cls, name, bases, namespace, **declaration)


class Op(metaclass=_OpClass):
    """One operation. Subclasses are declared with the fields of `ir.declare`; `spec` holds the declaration.

    ``operands`` are flat, in declaration order; ``segments`` gives the length of each declared operand group (it is
    always present, one number per declared operand). Operands and results are tuples: assign another one, or replace
    one value by `set_operand` and `set_result`. ``attributes`` holds the declared attributes that are set, by name, as
    Python values; an unset one reads as its default through the class's accessor. ``regions`` has one entry per
    declared region; None is a region without a block (a missing else). ``discardable`` holds attributes that no
    declaration knows.

    For the sake of memory ``results`` and ``loc`` are made when they are asked for: from ``defines``, which is the
    value itself where there is one result, and from ``origin``, which is the location or knows it by ``number``.
    """

    __slots__ = (
        "attributes",
        "defines",
        "discardable",
        "number",
        "operands",
        "origin",
        "parent",
        "regions",
        "segments",
    )
    spec: ClassVar[OpSpec]
    traits: ClassVar[tuple[Trait, ...]] = ()
    format: ClassVar[str | None] = None
    syntax: ClassVar[str] = ""

    def __init_subclass__(cls, name: str = "", traits: tuple[Trait, ...] = (), **declaration: Any) -> None:
        super().__init_subclass__()
        cls.traits += traits
        if name:
            cls.spec = specify(cls, name, cls.traits, cls.format, cls.syntax, **declaration)

    def __init__(
        self,
        operands: Sequence[Value],
        result_types: list[Type] | tuple[Type, ...],
        attributes: dict[str, Any] | None = None,
        regions: tuple[Block | None, ...] = (),
        loc: Location = UNKNOWN,
        segments: tuple[int, ...] | None = None,
        discardable: dict[str, Attribute] | None = None,
    ) -> None:
        self.operands = tuple(operands)
        self.segments = self.spec.default_segments(len(operands)) if segments is None else segments
        self.defines: Value | tuple[Value, ...]
        if len(result_types) == 1:
            self.defines = Value(result_types[0], self, 0)
        elif result_types:
            self.defines = tuple([Value(type, self, index) for index, type in enumerate(result_types)])
        else:
            self.defines = ()
        self.attributes: dict[str, Any] = {} if attributes is None else attributes
        self.regions = regions
        self.discardable = discardable
        self.origin: Location | Places = loc
        self.number = 0
        self.parent: Block | None = None
        for region in regions:
            if region is not None:
                region.parent = self

    @property
    def results(self) -> tuple[Value, ...]:
        """The values that the operation defines, in declaration order."""
        defines = self.defines
        return defines if type(defines) is tuple else (defines,)  # type: ignore[return-value]

    @results.setter
    def results(self, values: Sequence[Value]) -> None:
        self.defines = values[0] if len(values) == 1 else tuple(values)

    @property
    def result_types(self) -> tuple[Type, ...]:
        defines = self.defines
        return tuple([value.type for value in defines]) if isinstance(defines, tuple) else (defines.type,)

    def set_operand(self, index: int, value: Value) -> None:
        """Use `value` in place of the operand at `index`."""
        self.operands = (*self.operands[:index], value, *self.operands[index + 1 :])

    def set_result(self, index: int, value: Value) -> None:
        """Let `value` be the result at `index`."""
        self.results = (*self.results[:index], value, *self.results[index + 1 :])

    @property
    def loc(self) -> Location:
        """The place in the program, or in the file that the operation was read from."""
        origin = self.origin
        return origin.location(self.number, self.spec.name) if isinstance(origin, Places) else origin

    @loc.setter
    def loc(self, loc: Location) -> None:
        self.origin = loc

    @property
    def parent_op(self) -> Op | None:
        return None if self.parent is None else self.parent.parent

    def operand_group(self, position: int) -> tuple[Value, ...]:
        """Return the operands of the declared operand at `position` (a tuple also for a single one)."""
        begin = sum(self.segments[:position])
        return self.operands[begin : begin + self.segments[position]]

    @classmethod
    def build(cls, result_types: list[Type] | tuple[Type, ...] = (), loc: Location = UNKNOWN, **fields: Any) -> Self:
        """Make an operation from its declared fields by their specification names.

        Operands are a `Value`, a list of them (variadic) or None (optional and absent); regions a `Block` or None;
        everything else is an attribute value. An attribute equal to None is left unset.
        """
        groups = [_as_group(fields.pop(operand.name, None)) for operand in cls.spec.operands]
        regions = tuple(fields.pop(region.name, None) for region in cls.spec.regions)
        attributes = {name: value for name, value in fields.items() if value is not None}
        unknown = attributes.keys() - cls.spec.attr_index.keys()
        if unknown:
            raise TypeError(f"'{cls.spec.name}' declares no {', '.join(sorted(unknown))}")
        flat = [value for group in groups for value in group]
        return cls(flat, result_types, attributes, regions, loc, tuple(map(len, groups)))

    def walk(self) -> Iterator[Op]:
        """Yield this operation, then all nested ones, in program order."""
        stack: list[Op] = [self]
        while stack:
            op = stack.pop()
            yield op
            for region in reversed(op.regions):
                if region is not None:
                    stack.extend(reversed(region.ops))

    def __repr__(self) -> str:
        return f"<{self.spec.name}>"


def _as_group(value: Value | Sequence[Value] | None) -> Sequence[Value]:
    if value is None:
        return ()
    return (value,) if isinstance(value, Value) else value


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


class Module:
    """A whole program: the module operation and the text it came from.

    ``op`` is the ``cuda_tile.module`` operation; ``source`` is the text read, for diagnostics (None if built in
    memory or read from bytecode).
    """

    def __init__(self, op: Op, source: Source | None = None) -> None:
        self.op = op
        self.source = source

    @property
    def items(self) -> list[Op]:
        """Entries, globals and functions in program order."""
        block = self.op.regions[0]
        assert block is not None
        return block.ops

    @property
    def filename(self) -> str | None:
        return self.source.name if self.source else None

    def walk(self) -> Iterator[Op]:
        return self.op.walk()

    @staticmethod
    def required(module: object) -> Module:
        """Return `module`, which must be one. Raises TypeError."""
        if isinstance(module, Module):
            return module
        is_kernel = isinstance(getattr(module, "module", None), Module)
        hint = "; the program of a kernel is its attribute 'module'" if is_kernel else ""
        raise TypeError(f"module: expected a module, as tileir.load gives one, got {type(module).__name__}{hint}")


@contextmanager
def without_collection() -> Iterator[None]:
    """Put off the search for cycles, where it is on."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
