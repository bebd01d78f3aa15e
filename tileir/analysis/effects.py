"""Effects of operations besides computing their results, and their accesses to memory.

Read from the declarations (`ir.effects`), with what is inside regions and functions.

    effects_of(op) & Effect.READ        what an operation does, with all that is in its regions and callees
    access_of(op).address, .mask        how one operation accesses memory; None if it does not
    morally_strong(one, other)          whether two overlapping accesses may happen at once without a race
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Protocol

from tileir.ir.attributes import DenseElements, MemoryOrdering, MemoryScope
from tileir.ir.core import Block, Op, Value
from tileir.ir.effects import CALLEE_EFFECTS, AccessTrait, Effect, EffectTrait
from tileir.ir.traits import ALLOCATION_SCOPE, SYMBOL
from tileir.ir.types import GatherScatterViewType, TileType, TokenType

READING = Effect.READ | Effect.UPDATE
WRITING = Effect.WRITE | Effect.UPDATE
_ACQUIRING = (MemoryOrdering.ACQUIRE, MemoryOrdering.ACQ_REL)
_RELEASING = (MemoryOrdering.RELEASE, MemoryOrdering.ACQ_REL)


# ------------------------------------------------------------ one access


@dataclass(frozen=True)
class MemoryAccess:
    """A memory access by one operation; `declared` says which of its fields describe it."""

    op: Op
    declared: AccessTrait = field(repr=False)

    @staticmethod
    def of(op: Op) -> MemoryAccess:
        """Return the access of an operation that is known to make one."""
        found = access_of(op)
        assert found is not None, f"'{op.spec.name}' accesses no memory"
        return found

    @property
    def reads(self) -> bool:
        """True if it reads memory, also as part of an update."""
        return bool(self.declared.effect & READING)

    @property
    def writes(self) -> bool:
        """True if it writes memory, also as part of an update."""
        return bool(self.declared.effect & WRITING)

    @property
    def updates(self) -> bool:
        """True if it reads and writes each element in one atomic step."""
        return self.declared.effect is Effect.UPDATE

    @property
    def replicated(self) -> bool:
        """True if it accesses memory on each of several GPUs."""
        return self.declared.replicated

    @property
    def address(self) -> Value:
        """Return the tile of pointers, tile view or tensor view that the access goes through."""
        return self._operands(self.declared.through)[0]

    @property
    def indices(self) -> list[Value]:
        """The index of each dimension of the view; empty through pointers."""
        indices, rows = self._operands(self.declared.indices), self._operands(self.declared.rows)
        dim = self.op.attributes["dim"] if rows else 0
        return [*indices[:dim], *rows, *indices[dim:]]

    @property
    def sparse_dim(self) -> int | None:
        """The dimension of the view whose index has one position for each row of the tile; None if there is none."""
        if self.declared.rows:
            return int(self.op.attributes["dim"])
        type = self.address.type
        return type.sparse_dim if isinstance(type, GatherScatterViewType) else None

    @property
    def mask(self) -> Value | None:
        """Return the mask; no element is accessed where it is 0."""
        return self._operand(self.declared.mask)

    @property
    def padding(self) -> Value | None:
        """The operand that stands for what the mask leaves out."""
        return self._operand(self.declared.padding)

    @property
    def value(self) -> Value | None:
        """The tile that is stored or combined."""
        return self._operand(self.declared.value)

    @property
    def expected(self) -> Value | None:
        """The tile that memory is compared with, to decide whether to store."""
        return self._operand(self.declared.expected)

    @property
    def result(self) -> Value | None:
        """The tile of what was found in memory."""
        names = [result.name for result in self.op.spec.results]
        return self.op.results[names.index(self.declared.result)] if self.declared.result else None

    @property
    def tile(self) -> TileType:
        """The type of the tile that is moved between memory and the program."""
        value = self.value or self.result
        assert value is not None, "an access moves a tile"
        return value.tile

    @property
    def ordering(self) -> MemoryOrdering:
        """Weak where none is declared."""
        return ordering_of(self.op)

    @property
    def scope(self) -> MemoryScope | None:
        """The threads that the ordering holds for; None for a weak access."""
        found = self.op.attributes.get("memory_scope")
        return found if isinstance(found, MemoryScope) else None

    @property
    def update_ordering(self) -> MemoryOrdering:
        """The ordering of an update for code that runs a tile block on one thread: weak, so no step of its own, where
        only the block itself may access the memory meanwhile (spec: memory-model#orderings)."""
        return MemoryOrdering.WEAK if self.scope is MemoryScope.TL_BLK else self.ordering

    @property
    def is_strong(self) -> bool:
        """True if others may access the same memory meanwhile."""
        return self.ordering is not MemoryOrdering.WEAK

    @property
    def acquires(self) -> bool:
        """True if it makes visible what others have released."""
        return self.ordering in _ACQUIRING

    @property
    def releases(self) -> bool:
        """True if what comes before it is visible to others that acquire."""
        return self.ordering in _RELEASING

    def _operands(self, name: str) -> tuple[Value, ...]:
        """Return the operands of a declared field; none of an empty name."""
        return self.op.operand_group(self.op.spec.operand_index[name].position) if name else ()

    def _operand(self, name: str) -> Value | None:
        return next(iter(self._operands(name)), None)


def access_of(op: Op) -> MemoryAccess | None:
    """Return the memory access that an operation itself makes; None if it makes none, whatever is in its regions."""
    declared = op.spec.trait(AccessTrait)
    return None if declared is None else MemoryAccess(op, declared)


def accesses_of(root: Op | Block) -> Iterator[MemoryAccess]:
    """Yield all accesses in an operation or block, in program order, with those of the functions that it calls."""
    return (access for op in reachable(root) if (access := access_of(op)) is not None)


def ordering_of(op: Op) -> MemoryOrdering:
    """Return the ordering of an operation's access; weak where none is declared."""
    found = op.attributes.get("memory_ordering_semantics")
    return found if isinstance(found, MemoryOrdering) else MemoryOrdering.WEAK


# ------------------------------------------------------------ effects, with those of regions and functions


def own_effect(op: Op) -> Effect:
    """Return the effect of an operation by itself."""
    declared: EffectTrait | None = op.spec.trait(EffectTrait)
    if declared is None or (declared.unless and op.attributes.get(declared.unless) is True):
        return Effect.NONE
    return declared.effect


def effects_of(root: Op | Block) -> Effect:
    """Return the effect of an operation or block, with everything in its regions and in the functions that it calls."""
    return reduce(or_, map(own_effect, reachable(root)), Effect.NONE)


def reachable(root: Op | Block) -> Iterator[Op]:
    """Yield the operations in `root`, in program order, and those of each function where it is first called."""
    seen: set[Op] = set()
    walks = [op.walk() for op in ([root] if isinstance(root, Op) else root.ops)][::-1]
    while walks:
        op = next(walks[-1], None)
        if op is None:
            walks.pop()
            continue
        yield op
        function = callee_of(op) if CALLEE_EFFECTS in op.spec.traits else None
        if function is not None and function not in seen:
            seen.add(function)
            walks.append(function.walk())


def callee_of(call: Op) -> Op:
    """Return the function that a call of a verified module runs."""
    return _symbol(call, call.attributes["callee"])


def global_size(inside: Op, name: str) -> int:
    """Return the size in bytes of a global of the verified module that an operation stands in."""
    value: DenseElements = _symbol(inside, name).attributes["value"]
    return value.element.memory_size(value.type.count)


def module_of(inside: Op) -> Block:
    """Return the body of the module that an operation stands in."""
    around = inside
    while around.parent_op is not None:
        around = around.parent_op
    (body,) = around.regions
    assert body is not None, "the operation stands in a module"
    return body


def _symbol(inside: Op, name: str) -> Op:
    for op in module_of(inside).ops:
        if op.attributes.get("sym_name") == name and SYMBOL in op.spec.traits:
            return op
    raise KeyError(name)


def reads(root: Op | Block) -> bool:
    """Return whether memory may be read, also as part of an update."""
    return bool(effects_of(root) & READING)


def writes(root: Op | Block) -> bool:
    """Return whether memory may be written, also as part of an update."""
    return bool(effects_of(root) & WRITING)


def updates(root: Op | Block) -> bool:
    """Return whether memory may be updated, each element as one step."""
    return bool(effects_of(root) & Effect.UPDATE)


def allocations_in(block: Block) -> Iterator[Op]:
    """Yield the operations that take memory which lives until `block`, or the region around it, is left.

    Those in a region of its own with an allocation scope do not count: that ends there.
    """
    for op in block.ops:
        if own_effect(op) is Effect.ALLOCATE:
            yield op
        elif ALLOCATION_SCOPE not in op.spec.traits:
            for region in filter(None, op.regions):
                yield from allocations_in(region)


# ------------------------------------------------------------ tokens


def token_operands(op: Op) -> list[Value]:
    """Return the tokens that an operation waits for."""
    return [value for value in op.operands if isinstance(value.type, TokenType)]


def token_results(op: Op) -> list[Value]:
    """Return the tokens that an operation gives."""
    return [value for value in op.results if isinstance(value.type, TokenType)]


# ---------------------------------------------------------------- accesses at once (spec: memory-model#moral-strength)


class ScopedAccess(Protocol):
    """An access by a tile block: `strong` unless weak, `scope` None if weak, `size` in bytes of each element."""

    @property
    def block(self) -> Hashable: ...
    @property
    def strong(self) -> bool: ...
    @property
    def scope(self) -> MemoryScope | None: ...
    @property
    def size(self) -> int: ...


def scopes_include(one: ScopedAccess, other: ScopedAccess) -> bool:
    """Return whether the scope of each access includes the tile block of the other (spec: memory-model#orderings)."""
    return one.block == other.block or MemoryScope.TL_BLK not in (one.scope, other.scope)


def morally_strong(one: ScopedAccess, other: ScopedAccess) -> bool:
    """Return whether two overlapping accesses that no token orders may happen at once."""
    return one.strong and other.strong and one.size == other.size and scopes_include(one, other)
