"""Shrinking a program to the part of it that matters.

The versions that are tried may be invalid: the verifier is not asked here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tileir.analysis.structure import Uses
from tileir.ir.core import Block, Module, Op, Value
from tileir.ir.fields import AttrKind
from tileir.ir.types import TOKEN, FunctionType, InvalidType, TileType, Type
from tileir.ops.control import For, If, Loop
from tileir.ops.core import Constant
from tileir.ops.module import Entry
from tileir.ops.pointers import MakeToken
from tileir.passes.dead_code import Dropping
from tileir.passes.facts import DenseElements
from tileir.passes.rebuilding import ChangeLog, Rebuilding
from tileir.passes.redundancy import Sharing
from tileir.text.printer import to_text


def reduced(module: Module, fails: Callable[[Module], bool], valid: Callable[[Module], bool]) -> Module:
    """Return the smallest version found that is valid and still fails: tried until no kind of attempt helps."""
    while True:
        before = module
        for kind in range(sum(1 for _ in attempts(module))):
            module = _of_kind(module, kind, fails, valid)
        if module is before:
            return module


def _of_kind(module: Module, kind: int, fails: Callable[[Module], bool], valid: Callable[[Module], bool]) -> Module:
    """Leave out things of one kind, first many at a time."""
    count = _attempts(module, kind).size
    length = max(1, count)
    while length >= 1 and count:
        at = 0
        while at < _attempts(module, kind).size:
            found = _attempts(module, kind)
            chosen = range(max(0, found.size - at - length), found.size - at)
            version = _made(found, chosen)
            if version is not None and valid(version) and fails(version):
                smaller = _measure(version) < _measure(module)
                module, at = (version, at) if smaller else (module, at + length)
            else:
                at += length
        length = length // 2
    return module


def _attempts(module: Module, kind: int) -> Attempts:
    return list(attempts(module))[kind]


def _made(found: Attempts, chosen: Sequence[int]) -> Module | None:
    """Return a version, if there can be one."""
    try:
        return found.without(chosen)
    except (InvalidType, KeyError, IndexError):
        return None


def _measure(module: Module) -> tuple[int, int, int]:
    """Return the size of a program, which every step must reduce."""
    return operation_count(module) + _parameters(module), sum(_elements(module)), len(to_text(module))


def _parameters(module: Module) -> int:
    return sum(len(block.args) for item in module.items for block in item.regions if block is not None)


def _elements(module: Module) -> Iterator[int]:
    for op in module.walk():
        yield from (result.type.count for result in op.results if hasattr(result.type, "count"))


def operation_count(module: Module) -> int:
    """Return the number of operations of a program, those in regions too."""
    return sum(1 for _ in module.walk())


# ---------------------------------------------------------------- versions


@dataclass(frozen=True)
class Attempts:
    """Ways of one kind to make a program smaller: any run of `size` things may be left out together."""

    text: str
    size: int
    without: Callable[[Sequence[int]], Module]


def attempts(module: Module) -> Iterator[Attempts]:
    """Yield smaller versions of a program, those that drop most first."""
    items = module.items
    yield Attempts("items", len(items), lambda chosen: _Without(drop=_picked(items, chosen)).module(module))
    ops = [op for op in module.walk() if op.parent_op is not None and _is_droppable(op)]
    yield Attempts("operations", len(ops), lambda chosen: _Without(drop=_picked(ops, chosen)).module(module))
    nests = [op for op in ops if isinstance(op, If | For | Loop)]
    yield Attempts("nests", len(nests), lambda chosen: _Without(flatten=_picked(nests, chosen)).module(module))
    yield Attempts("what nobody uses", 1, lambda chosen: _tidied(module))
    uses = Uses([module.op])
    stands = [op for op in module.walk() if isinstance(op, Constant | MakeToken) and not uses.of(op.results[0])]
    yield Attempts("stand-ins", len(stands), lambda chosen: _Without(gone=_picked(stands, chosen)).module(module))
    places = [(entry, at) for entry in items if isinstance(entry, Entry) for at in range(len(entry.body.args))]
    yield Attempts("parameters", len(places), lambda chosen: _Fewer([places[at] for at in chosen]).module(module))
    extents = sorted({extent for type in _types(module) for extent in type.shape if extent > 1}, reverse=True)
    yield Attempts("extents", len(extents), lambda chosen: _Shrunk([extents[at] for at in chosen]).module(module))
    constants = [op for op in module.walk() if isinstance(op, Constant) and any(op.value.data)]
    yield Attempts("constants", len(constants), lambda chosen: _Without(drop=_picked(constants, chosen)).module(module))
    extras = [(op, name) for op in module.walk() for name in _extras(op)]
    yield Attempts(
        "attributes", len(extras), lambda chosen: _Without(bare=[extras[at] for at in chosen]).module(module)
    )


def _picked(ops: Sequence[Op], chosen: Sequence[int]) -> set[Op]:
    return {ops[at] for at in chosen}


def _tidied(module: Module) -> Module:
    """Return the program without what the optimiser finds superfluous."""
    return Dropping(ChangeLog()).module(Sharing(ChangeLog()).module(module))


def _is_droppable(op: Op) -> bool:
    """Return whether an operation can be left out, and is not itself a kind of replacement."""
    around = op.parent_op
    if isinstance(op, Constant | MakeToken):
        return False
    return not op.spec.terminator and around is not None and around.parent_op is not None


def _extras(op: Op) -> Iterator[str]:
    """Yield the attributes and operands that an operation can do without."""
    for attr in op.spec.attrs:
        unused = attr.kind not in (AttrKind.SYMBOL_NAME, AttrKind.TYPE, AttrKind.SYMBOL)
        if attr.name in op.attributes and not attr.required and unused:
            yield attr.name
    for operand in op.spec.operands:
        if operand.optional and op.segments[operand.position]:
            yield operand.name


def _types(module: Module) -> Iterator[TileType]:
    for op in module.walk():
        arguments = [argument for block in op.regions if block is not None for argument in block.args]
        yield from (value.type for value in (*op.results, *arguments) if isinstance(value.type, TileType))


# ---------------------------------------------------------------- operations


class _Without(Rebuilding):
    """Leaves out some operations, of which constants become 0, and puts what is in others in their place."""

    def __init__(
        self,
        drop: set[Op] | None = None,
        flatten: set[Op] | None = None,
        bare: Sequence[tuple[Op, str]] = (),
        gone: set[Op] | None = None,
    ) -> None:
        super().__init__(ChangeLog())
        self.drop, self.flat, self.gone = drop or set(), flatten or set(), gone or set()
        self.bare = bare

    def module(self, module: Module) -> Module:
        self.uses = Uses([module.op])
        return super().module(module)

    def visit(self, op: Op) -> None:
        if op in self.drop:
            self._replace(op.results)
        elif op in self.flat:
            self._flatten(op)
        elif op not in self.gone:
            super().visit(op)

    def copy(self, op: Op) -> Op:
        made = super().copy(op)
        for other, name in self.bare:
            if other is op:
                _strip(made, name)
        return made

    def instead(self, value: Value) -> Value:
        """Return another value of the same type: 0, a fresh token, or an existing one."""
        type = value.type
        if type is TOKEN:
            return self.emit(MakeToken.build([TOKEN]))[0]
        if isinstance(type, TileType) and Constant.spec.results[0].constraint.accepts(type):
            return self.emit(Constant.build([type], value=DenseElements(type, bytes(type.number.byte_size))))[0]
        known = (mine for old, mine in self.values.items() if old.type is type and _sees(self.block, mine))
        return next(known, None) or value  # A value from nowhere: the verifier refuses the program.

    def _flatten(self, op: Op) -> None:
        """Replace a loop by one iteration, or an `if` by one region."""
        if isinstance(op, If):
            values = self.inline(op.then, ())
        else:
            assert isinstance(op, For | Loop), "only control flow is flattened"
            given = self.given(op.initial)
            values = self.inline(op.body, [self.values[op.lower], *given] if isinstance(op, For) else given)
        fitting = len(values) == len(op.results) and all(
            value.type is result.type for value, result in zip(values, op.results)
        )
        if fitting:
            self.bind(op.results, values)
        else:
            self._replace(op.results)

    def _replace(self, values: Sequence[Value]) -> None:
        """Bind other values for those that are used."""
        for value in values:
            if self.uses.of(value):
                self.bind([value], [self.instead(value)])


def _strip(op: Op, name: str) -> None:
    """Take an attribute or an optional operand away."""
    if name in op.spec.attr_index:
        op.attributes.pop(name, None)
        return
    position = op.spec.operand_index[name].position
    begin = sum(op.segments[:position])
    op.operands = op.operands[:begin] + op.operands[begin + op.segments[position] :]
    op.segments = (*op.segments[:position], 0, *op.segments[position + 1 :])


def _sees(block: Block, value: Value) -> bool:
    """Return whether a value is defined in `block` or in an enclosing one that is being made; the verifier refuses
    others."""
    home = value.owner.parent if isinstance(value.owner, Op) else value.owner
    return home is block or (home is not None and home.parent is None)


# ---------------------------------------------------------------- parameters and types


class _Fewer(_Without):
    """Leaves out parameters; what uses one gets another value."""

    def __init__(self, places: Sequence[tuple[Op, int]]) -> None:
        super().__init__()
        self.places = places

    def visit(self, op: Op) -> None:
        chosen = {at for entry, at in self.places if entry is op}
        if not isinstance(op, Entry) or not chosen:
            super().visit(op)
            return
        kept = [at for at in range(len(op.body.args)) if at not in chosen]
        body = Block([op.body.args[at].type for at in kept])
        body.arg_names = tuple(op.body.arg_names[at] for at in kept) if op.body.arg_names else ()
        self.bind([op.body.args[at] for at in kept], body.args)
        around, self.block = self.block, body
        self._replace([op.body.args[at] for at in sorted(chosen)])
        self.block = around
        self.into(body, op.body.ops)
        attributes = {**op.attributes, "function_type": FunctionType([one.type for one in body.args])}
        attributes.pop("arg_attrs", None)
        self.emit(Entry([], [], attributes, (body,), op.loc))


class _Shrunk(Rebuilding):
    """Halves some extents wherever a tile has them."""

    def __init__(self, extents: Sequence[int]) -> None:
        super().__init__(ChangeLog())
        self.extents = frozenset(extents)

    def _type(self, type: Type) -> Type:
        if isinstance(type, TileType):
            return TileType([max(1, one // 2) if one in self.extents else one for one in type.shape], type.element)
        return type

    def copy(self, op: Op) -> Op:
        made = super().copy(op)
        made.results = tuple([Value(self._type(one.type), made, one.index) for one in made.results])
        if isinstance(op, Constant):
            made.attributes["value"] = _cut(op.value, made.results[0].type)
        return made

    def empty_like(self, block: Block) -> Block:
        made = Block([self._type(argument.type) for argument in block.args])
        made.arg_locs, made.arg_names = block.arg_locs, block.arg_names
        return made


def _cut(content: DenseElements, type: Type) -> DenseElements:
    """Return the first elements, as many as there are."""
    assert isinstance(type, TileType), "a constant is a tile"
    size = content.element.byte_size
    data = content.data if content.is_splat else content.data[: size * type.count]
    return DenseElements.of(type, data)
