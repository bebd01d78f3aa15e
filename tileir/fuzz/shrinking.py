"""The search for the smallest program that still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tileir.ir.core import Module
from tileir.ir.types import InvalidType
from tileir.passes.reducing import Attempts, attempts
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
