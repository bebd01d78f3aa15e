"""Blocks that do nothing where their stores have no element that is not masked off.

    %first = muli %block, %size                       %first = muli %block, %size
    %index = addi %firsts, %lanes                     %some = cmpi less_than %first, %n, signed
    %mask = cmpi less_than %index, %ns, signed   =>   if %some { %index = ...
    store_ptr_tko weak %at, %v, %mask                            store_ptr_tko weak %at, %v, %mask }

Knows: under which condition a block does something, and which of its operations may stand in an `if` on that. Does not
know: who needs the condition (`raising`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tileir.analysis.effects import own_effect
from tileir.analysis.structure import exits_from, home_of
from tileir.ir.core import Block, Op, Value
from tileir.ir.effects import Effect
from tileir.ir.types import TOKEN
from tileir.ops.calls import Call
from tileir.ops.control import Loop, Return
from tileir.ops.pointers import StorePtr
from tileir.passes.facts import is_needed, is_speculatable
from tileir.passes.inequalities import Known, Prover, inequalities
from tileir.passes.linear import LinearTiles, is_inside
from tileir.passes.scalars import known_number, values_in


@dataclass(frozen=True)
class EmptyStoresGuard:
    """The operations `inside` do nothing unless all `conditions` hold, and stand behind those `outside`.

    `tokens` are those that `inside` gives and the end of the block takes, `waiting` those from before that it takes.
    """

    conditions: tuple[Known, ...]
    outside: tuple[Op, ...]
    inside: tuple[Op, ...]
    tokens: tuple[Value, ...]
    waiting: tuple[Value, ...]


def guard_of(block: Block, tiles: LinearTiles, provers: dict[Op, Prover]) -> EmptyStoresGuard | None:
    """The guard of a block; None if it does something in any case, or nothing is to be tested.

    `provers` knows what holds at each store.
    """
    stores = _only_stores(block)
    if not stores or any(store not in provers for store in stores):
        return None
    shared: list[Known] = []
    for number, store in enumerate(stores):
        found = _needed(store, tiles, provers[store])
        shared = found if number == 0 else [one for one in shared if one in found]
    conditions = [one for one in shared if _is_computed_in(one, block)]
    return _split(block, conditions) if conditions else None


def _only_stores(block: Block) -> list[StorePtr]:
    """The stores that are all that a block does to the world; none if it does anything else, or may not end."""
    ops, end = [inner for op in block.ops[:-1] for inner in op.walk()], block.ops[-1]
    stores = [op for op in ops if isinstance(op, StorePtr) and op.mask is not None and not op.discardable]
    others = [op for op in ops if is_needed(op) and op not in stores]
    if others or any(isinstance(op, Call | Loop | Return) or own_effect(op) & Effect.ALLOCATE for op in ops):
        return []
    return stores if all(exit is end for exit in exits_from(block)) else []


def _needed(store: StorePtr, tiles: LinearTiles, prover: Prover) -> list[Known]:
    """What holds if any element of a store is not masked off, and is not known to hold."""
    found = []
    for part in () if store.mask is None else inequalities(store.mask, tiles).parts:
        rising = all((known_number(step) or 0) >= 0 and known_number(step) is not None for step in part.less.steps)
        if rising and part.more.is_uniform and not prover.proves(part.less.base, part.more.base, part.gap):
            found.append((part.less.base, part.more.base, part.gap))
    return found


def _is_computed_in(condition: Known, block: Block) -> bool:
    """Whether all that a condition is made of is defined in `block` or around it."""
    values = (value for formula in condition[:2] for value in values_in(formula))
    return all(home_of(value) is block or not is_inside(value, block) for value in values)


def _split(block: Block, conditions: Sequence[Known]) -> EmptyStoresGuard | None:
    """The operations behind those that the conditions are made of go inside, but for what the end of the block takes;
    None if that cannot be computed outside."""
    ops, end = block.ops[:-1], block.ops[-1]
    values = {value for one in conditions for formula in one[:2] for value in values_in(formula)}
    start = max((at + 1 for at, op in enumerate(ops) if not values.isdisjoint(op.results)), default=0)
    kept = _needed_by([value for value in end.operands if value.type is not TOKEN], ops[start:])
    if kept is None:
        return None
    inside = [op for op in ops[start:] if op not in kept]
    made = {result for op in inside for result in op.results}
    tokens = [value for value in dict.fromkeys(end.operands) if value in made]
    outside = (*ops[:start], *(op for op in ops[start:] if op in kept))
    return EmptyStoresGuard(tuple(conditions), outside, tuple(inside), tuple(tokens), tuple(_tokens_taken(inside)))


def _needed_by(values: Iterable[Value], ops: Sequence[Op]) -> set[Op] | None:
    """Those of `ops` that values are computed from; None if some of them cannot be moved."""
    needed, waiting, among = set(), [value.op for value in values], set(ops)
    while waiting:
        op = waiting.pop()
        if op is not None and op in among and op not in needed:
            if not is_speculatable(op):
                return None
            needed.add(op)
            waiting += [value.op for value in op.operands]
    return needed


def _tokens_taken(ops: Sequence[Op]) -> list[Value]:
    """The tokens from elsewhere that operations wait for."""
    walked = [inner for op in ops for inner in op.walk()]
    made = {result for op in walked for result in op.results}
    made |= {value for op in walked for region in op.regions if region is not None for value in region.args}
    taken = (value for op in walked for value in op.operands if value.type is TOKEN and value not in made)
    return list(dict.fromkeys(taken))
