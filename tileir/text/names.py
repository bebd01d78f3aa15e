"""Names of values in printed text: the hint that an operation gives for its results, numbered where a name is taken."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from tileir.ir.attributes import DenseElements
from tileir.ir.core import Block, Op, Value
from tileir.ir.loc import SourceLoc, file_position
from tileir.ir.types import I1, ElementType
from tileir.ops.control import For, If, Loop
from tileir.ops.core import Constant
from tileir.ops.misc import Assume
from tileir.ops.reduction import Reduce, Scan
from tileir.text.elements import integer_value, patterns
from tileir.text.numbers import exact_integer, is_nan

_WRITTEN = re.compile(r"(%[\w$.-]+(?::\d+)?(?:\s*,\s*%[\w$.-]+(?::\d+)?)*)\s*=\s*\Z")
_HERE = re.compile(r"(?:cuda_tile\.)?(\w+)")
_MAX_WRITTEN = 400
"""Characters in front of an operation among which its results are looked for."""
_MAX_NAMED_INTEGER = 1 << 64
_MAX_ASSUME_HINT = 1000
"""Characters after which a chain of assumptions stops to lengthen its name, so that all names stay small."""


@dataclass
class Names:
    """`uses`: how each value is referred to. `results`: what stands in front of ``=``, for operations with results."""

    uses: dict[Value, str] = field(default_factory=dict)
    results: dict[Op, str] = field(default_factory=dict)


def name_values(module: Op, hinted: bool = True, written: bool = False) -> Names:
    """Return the names for all values of a module; without `hinted` (generic form) plain numbers, and with `written`
    those of the text that the program was read from, where an operation has some."""
    names = Names()
    _Numbering(names, hinted, written).module(module)
    return names


def written_names(op: Op) -> tuple[str, ...]:
    """Return the names, without ``%``, that the results have in the text that the operation was read from: one for each
    or one for all; none if there is no such text, or another operation stands there."""
    place = file_position(op.loc)
    if not isinstance(place, SourceLoc):
        return ()
    text, begin = place.source.text, place.offset
    found = _WRITTEN.search(text[max(0, begin - _MAX_WRITTEN) : begin])
    if found is None or not _HERE.match(text, begin) or _HERE.match(text, begin)[1] != op.spec.name:  # type: ignore[index]
        return ()
    return tuple(name.strip().removeprefix("%").partition(":")[0] for name in found[1].split(","))


# ---------------------------------------------------------------- numbering


class _Numbering:
    """Names one region at a time: all values of a block come before those of the regions inside it.

    `value`, `argument` and `conflict` are the next numbers of each sort; a region counts on from where the block around
    it stopped.
    """

    def __init__(self, names: Names, hinted: bool, written: bool) -> None:
        self.uses = names.uses
        self.results = names.results
        self.hinted = hinted
        self.written = written
        self.used: set[str] = set()
        self.scopes: list[list[str]] = []
        self.value = self.argument = self.conflict = 0

    def module(self, module: Op) -> None:
        """Name everything inside a module."""
        waiting = [(block, (0, 0, 0), 0) for block in module.regions if block is not None]
        while waiting:
            block, (self.value, self.argument, self.conflict), depth = waiting.pop()
            while len(self.scopes) > depth:
                self.used.difference_update(self.scopes.pop())
            self.scopes.append([])
            self._arguments(block)
            nested: list[Block] = []
            for op in block.ops:
                if results := op.results:
                    self._name_results(op, results)
                if op.regions:
                    nested += [region for region in op.regions if region is not None]
            after = (self.value, self.argument, self.conflict)
            waiting += [(inner, after, depth + 1) for inner in nested]

    def _arguments(self, block: Block) -> None:
        hints = _argument_hints(block) if self.hinted else None
        if self.written and block.arg_names:
            hints = [name.removeprefix("%") for name in block.arg_names]
        for position, argument in enumerate(block.args):
            if hints is None:
                name = self._unique(f"arg{self.argument}")
                self.argument += 1
            else:
                name = self._unique(hints[position])
            self.uses[argument] = f"%{name}"

    def _name_results(self, op: Op, results: tuple[Value, ...]) -> None:
        hint = result_hint(op) if self.hinted else None
        names = written_names(op) if self.written else ()
        if len(names) == 1:
            hint = names[0]
        elif len(names) == len(results):
            hint = names
        if isinstance(hint, tuple) and len(hint) == len(results):
            self.uses.update((result, f"%{self._unique(one)}") for result, one in zip(results, hint))
            self.results[op] = ", ".join([self.uses[result] for result in results])
        elif len(results) == 1:
            self.uses[results[0]] = self.results[op] = self._root(hint)
        else:
            root = self._root(hint)
            self.results[op] = f"{root}:{len(results)}"
            self.uses.update((result, f"{root}#{number}") for number, result in enumerate(results))

    def _root(self, hint: str | tuple[str, ...] | None) -> str:
        if isinstance(hint, str):
            return f"%{self._unique(hint)}"
        self.value += 1
        return f"%{self.value - 1}"

    def _unique(self, hint: str) -> str:
        name = hint
        while name in self.used:
            name = f"{hint}_{self.conflict}"
            self.conflict += 1
        self.used.add(name)
        self.scopes[-1].append(name)
        return name


# ---------------------------------------------------------------- hints


def result_hint(op: Op) -> str | tuple[str, ...] | None:
    """Return one name for the results as a pack, a name for each, or None for a number."""
    special = _SPECIAL_HINTS.get(type(op))
    if special is not None:
        return special(op)
    declared = op.spec.results
    if len(declared) > 1:
        return tuple(result.name for result in declared)
    return op.spec.hint


def _constant_hint(op: Op) -> str | None:
    value = op.attributes.get("value")
    if not isinstance(value, DenseElements):
        return None
    element = value.element
    found = patterns(value) if value.is_splat else []
    if element is I1:
        return ("true" if found[0] else "false") if found else "cst_i1"
    return f"cst{''.join(_value_part(pattern, element) for pattern in found)}_{element.name}"


def _value_part(pattern: int, element: ElementType) -> str:
    if element.is_int:
        return f"_{integer_value(pattern, element)}"
    if is_nan(pattern, element):
        return "_NaN"
    integer = exact_integer(pattern, element)
    return "" if integer is None or integer >= _MAX_NAMED_INTEGER else f"_{integer}"


def _assume_hint(op: Op) -> str:
    """Return ``assume`` for each link of a chain, then the hint of the value at its start if it has one."""
    text, value = "assume", op.operands[0]
    while isinstance(value.op, Assume) and len(text) < _MAX_ASSUME_HINT:
        text, value = f"{text}_assume", value.op.operands[0]
    if value.op is None or not _suggests_names(value.op) or isinstance(value.op, Assume):
        return text
    hint = result_hint(value.op)
    if isinstance(hint, tuple):
        return f"{text}_{hint[value.index]}"
    return f"{text}_{hint}" if hint is not None and value.index == 0 else f"{text}_"


def _suggests_names(op: Op) -> bool:
    return isinstance(op, If | Loop | Scan) or result_hint(op) is not None


_SPECIAL_HINTS: dict[type[Op], Callable[[Op], str | None]] = {Constant: _constant_hint, Assume: _assume_hint}


def _argument_hints(block: Block) -> list[str] | None:
    if isinstance(block.parent, For):
        return ["loopIdx", *(f"iterArg{number}" for number in range(len(block.args) - 1))]
    if isinstance(block.parent, Reduce):
        numbers = [""] if len(block.args) <= 2 else range((len(block.args) + 1) // 2)
        return [f"reduce_{side}{number}" for number in numbers for side in ("lhs", "rhs")]
    return None
