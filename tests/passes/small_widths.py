"""Patterns on all values of small types: a row's two sides as operations on arrays.

The terms of a row become operations for every choice of types and attributes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tileir.interp.machine import TABLES
from tileir.ir import types as t
from tileir.ir.core import Block, Op, Value
from tileir.ir.loc import UNKNOWN
from tileir.ir.storage import dtype_of
from tileir.ops import conversion, core, integer, shapes
from tileir.ops.core import Constant
from tileir.passes.facts import splat
from tileir.passes.pattern import Apply, Bound, Name, PatternRow, Spoken, Term, build
from tileir.passes.pattern import evaluated as holds


class Into:
    """Adds operations to a block unchanged."""

    def __init__(self, block: Block) -> None:
        self.block = block

    def emit(self, op: Op) -> Sequence[Value]:
        return self.block.append(op).results


def names(term: Term, constant: bool | None = None) -> list[str]:
    """The names of values in a term, in order of first use."""
    found: dict[str, None] = {}
    _names(term, constant, found)
    return list(found)


def _names(term: Term, constant: bool | None, found: dict[str, None]) -> None:
    if isinstance(term, Name) and constant in (None, term.constant):
        found[term.name] = None
    elif isinstance(term, Apply):
        for part in term.operands:
            _names(part, constant, found)


@dataclass(frozen=True)
class Instance:
    """A row with everything chosen but the contents: the term with all attributes, types of values by name."""

    row: PatternRow
    term: Apply
    attributes: dict[str, object]
    types: dict[str, t.TileType]
    result: t.TileType
    middle: t.TileType | None = None
    """The type of an operand that does not follow from the others."""

    def built(self, values: Bound) -> tuple[Block, Value, Value]:
        """Both sides, in one block, with `values` for the names: the pattern, and what it becomes."""
        block = Block()
        bound = {**values, **self.attributes}
        first = self._pattern(bound, block)
        assert first is not None, self.row.name
        bound["result"] = first
        second = build(self.row.made, self.result, bound, UNKNOWN, Into(block))
        assert second is not None, self.row.name
        return block, first, second

    def _pattern(self, bound: Bound, block: Block) -> Value | None:
        """Operands whose type does not follow from that of the result are made first, of the type `middle`."""
        term = self.term
        for at, part in enumerate(term.operands):
            if self.middle is not None and at == self.own and not isinstance(part, Name):
                inner = build(part, self.middle, bound, UNKNOWN, Into(block))
                assert inner is not None, self.row.name
                bound = {**bound, "inner": inner}
                term = replace(term, operands=(*term.operands[:at], Name("inner", False), *term.operands[at + 1 :]))
        return build(term, self.result, bound, UNKNOWN, Into(block))

    @property
    def own(self) -> int:
        """The operand whose type is `middle`."""
        return 1 if self.term.op is core.Offset else 0


def instances(
    row: PatternRow, shape: tuple[int, ...], integers: tuple[t.ElementType, ...] | None = None
) -> Iterator[Instance]:
    """Every choice of attributes and of types: small ones, or those among `integers` for the rows of integers."""
    for term, attributes in _attributes(row.matched):
        for types, result, middle in _types(row, shape, integers):
            made = Instance(row, term, attributes, types, result, middle)
            if _applies(made):
                yield made


def _applies(instance: Instance) -> bool:
    """Return whether the condition holds and the result has the right type, for any values."""
    row = instance.row
    if row.name == "offset-offset":
        return True
    block = Block(list(instance.types.values()))
    bound: Bound = dict(zip(instance.types, block.args))
    try:
        _, first, _ = instance.built(bound)
    except AssertionError:
        return False
    if row.condition is None:
        return True
    return bool(holds(row.condition, {**bound, **instance.attributes, "result": first}))


# ---------------------------------------------------------------- attributes


def _attributes(term: Apply) -> Iterator[tuple[Apply, dict[str, object]]]:
    """The term with a case for each attribute that it leaves open, and what the names of attributes stand for."""
    places = list(_places(term, ()))
    for chosen in itertools.product(*(choices for _, _, choices in places)):
        bound: dict[str, object] = {}
        made, consistent = term, True
        for (path, attr, _), case in zip(places, chosen):
            wanted = dict(_at(made, path).attributes).get(attr)
            if isinstance(wanted, Name):
                consistent &= bound.setdefault(wanted.name, case) == case
            else:
                made = _with(made, path, attr, Spoken(case.text))
        if consistent:
            yield made, bound


def _places(term: Apply, path: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], str, list]]:
    given = dict(term.attributes)
    for attr in term.op.spec.attrs:
        wanted = given.get(attr.name)
        if attr.name == "permutation":
            yield path, attr.name, list(itertools.permutations(range(3)))
        elif attr.name == "flush_to_zero" and isinstance(wanted, Name):
            yield path, attr.name, [False]
        elif attr.enum is not None and (isinstance(wanted, Name) or (wanted is None and attr.name != "overflow")):
            yield path, attr.name, _cases(term.op, attr.name, list(attr.enum))
    for at, part in enumerate(term.operands):
        if isinstance(part, Apply):
            yield from _places(part, (*path, at))


def _cases(op: type[Op], attr: str, cases: list) -> list:
    if attr == "rounding":
        return [case for case in cases if case.text in ("zero", "negative_inf", "positive_inf")]
    if attr == "rounding_mode":
        return [case for case in cases if case.value < 4]
    return cases


def _at(term: Apply, path: tuple[int, ...]) -> Apply:
    for at in path:
        part = term.operands[at]
        assert isinstance(part, Apply)
        term = part
    return term


def _with(term: Apply, path: tuple[int, ...], attr: str, content: Term) -> Apply:
    if not path:
        rest = tuple(pair for pair in term.attributes if pair[0] != attr)
        return replace(term, attributes=(*rest, (attr, content)))
    inner = _with(term.operands[path[0]], path[1:], attr, content)
    return replace(term, operands=(*term.operands[: path[0]], inner, *term.operands[path[0] + 1 :]))


# ---------------------------------------------------------------- types

_INTS = (t.I1, t.I8)
_CHAINS: dict[type[Op], tuple[tuple[t.ElementType, ...], ...]] = {
    conversion.ExtI: tuple(itertools.product((t.I1, t.I8), (t.I8, t.I16), (t.I16, t.I32))),
    conversion.TruncI: tuple(itertools.product((t.I16, t.I8), (t.I32, t.I16, t.I8), (t.I1, t.I8, t.I16))),
    conversion.Bitcast: ((t.F16, t.I16, t.BF16), (t.I8, t.F8E5M2, t.F8E4M3FN), (t.F8E5M2, t.I8, t.F8E5M2)),
}


def _types(
    row: PatternRow, shape: tuple[int, ...], integers: tuple[t.ElementType, ...] | None
) -> Iterator[tuple[dict[str, t.TileType], t.TileType, t.TileType | None]]:
    """Types of the names, of the result, and of what is between two conversions."""
    found = names(row.matched)

    def tile(element: t.Type) -> t.TileType:
        return t.TileType(shape, element)

    if row.matched.op in _CHAINS and row.matched.operands:
        chains = itertools.product(integers, repeat=3) if integers else _CHAINS[row.matched.op]
        for source, middle, result in chains:
            nested = isinstance(row.matched.operands[0], Apply)
            if nested and _widths_fit(row.matched, source, middle, result):
                yield {"x": tile(source)}, tile(result), tile(middle)
            elif not nested:
                yield {"x": tile(source)}, tile(source), None
        return
    if row.matched.op in (conversion.PtrToInt, conversion.PtrToPtr):
        yield from _pointer_casts(row, tile)
        return
    if row.name.startswith("offset"):
        pointer = tile(t.PointerType(t.F32))
        middle = tile(t.I8) if row.name == "offset-zero" else None
        yield {name: pointer if name == "x" else tile(t.I8) for name in found}, pointer, middle
        return
    if row.matched.op in _SHAPES:
        yield from _shaped(row)
        return
    floats = row.name in FLOAT_ROWS
    for element in (t.F16, t.BF16) if floats else integers or _INTS:
        types = {name: tile(t.I1 if name in "cp" else element) for name in found}
        results = {t.I1} if row.matched.op is integer.CmpI or row.name in ("not-cmpi", "not-cmpf") else {element}
        for result in results:
            yield types, tile(result), tile(t.I1) if row.matched.op is core.Select else None


_SHAPES: dict[type[Op], tuple[tuple[int, ...], ...]] = {
    shapes.Permute: (),
    shapes.Reshape: ((2, 4, 8), (8, 8), (64,)),
    shapes.Broadcast: ((1, 4, 1), (1, 4, 8), (2, 4, 8)),
}


def _shaped(row: PatternRow) -> Iterator[tuple[dict[str, t.TileType], t.TileType, t.TileType | None]]:
    if row.matched.op is shapes.Permute:
        yield from _permuted(row)
        return
    source, middle, result = (t.tile(t.I8, *shape) for shape in _SHAPES[row.matched.op])
    yield {"x": source}, source if row.name.endswith("itself") else result, middle


def _permuted(row: PatternRow) -> Iterator[tuple[dict[str, t.TileType], t.TileType, t.TileType | None]]:
    """Tiles of equal extents, so that every permutation gives the same type."""
    cube = t.tile(t.I8, 4, 4, 4)
    yield {"x": cube}, cube, cube


FLOAT_ROWS = {"negf-negf", "absf-absf", "absf-negf", "floor-floor", "ceil-ceil", "ceil-floor", "floor-ceil", "not-cmpf"}
FLOAT_ROWS |= {"addf-mulf", "addf-mulf-right", "subf-mulf"}


def _widths_fit(term: Apply, source: t.ElementType, middle: t.ElementType, result: t.ElementType) -> bool:
    inner = term.operands[0]
    assert isinstance(inner, Apply)
    return _step_fits(inner.op, source, middle) and _step_fits(term.op, middle, result)


def _step_fits(op: type[Op], source: t.ElementType, result: t.ElementType) -> bool:
    if op is conversion.ExtI:
        return source.bits < result.bits
    return source.bits > result.bits if op is conversion.TruncI else source.bits == result.bits


def _pointer_casts(row: PatternRow, tile) -> Iterator[tuple[dict[str, t.TileType], t.TileType, t.TileType | None]]:
    one, two = tile(t.PointerType(t.F32)), tile(t.PointerType(t.I8))
    word = tile(t.I64)
    yield {
        "ptr-to-ptr-itself": ({"x": one}, one, None),
        "ptr-to-ptr-twice": ({"x": one}, one, two),
        "ptr-to-int-to-ptr": ({"x": word}, word, one),
        "ptr-to-int-cast": ({"x": one}, word, two),
    }[row.name]


# ---------------------------------------------------------------- contents


def contents(element: t.ElementType | t.PointerType) -> np.ndarray:
    """All values of a type of at most 16 bits; of a wider one its odd ones."""
    dtype = dtype_of(element)
    if element is t.I1:
        return np.array([False, True])
    if dtype.itemsize <= 2:
        return np.arange(1 << (8 * dtype.itemsize)).astype(f"u{dtype.itemsize}").view(dtype)
    return np.array([0, 1, 2, 3, 1 << 31, (1 << 32) - 1, 1 << 63, (1 << 64) - 1], np.uint64).view(dtype)


def pairs_of_half() -> np.ndarray:
    """Floats of 16 bits, as patterns, that stand for all in pairs: every exponent, and what is odd about mantissas."""
    exponents = np.arange(32, dtype=np.uint16) << 10
    return np.concatenate([(exponents | low) | sign for low in (0, 1, 512, 1023) for sign in (0, 0x8000)])


def evaluate(block: Block, known: dict[Value, np.ndarray]) -> dict[Value, np.ndarray]:
    """The contents of all values of a block, by the rules of the interpreter; a broken promise wraps."""
    found = dict(known)
    with np.errstate(all="ignore"):
        for op in block.ops:
            found[op.results[0]] = TABLES.pure[type(op)](op)(*(found[value] for value in op.operands))
    return found


def constant(type: t.TileType, number: int) -> Value:
    return Block().append(Constant.build([type], value=splat(type, number))).results[0]
