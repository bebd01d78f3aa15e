"""The names of a module: who has which, and who calls whom."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from tileir.ir.core import Op
from tileir.ir.types import FunctionType
from tileir.ops.calls import Call, Func


class Symbols:
    """The symbols of one module; the first of several items of one name counts."""

    def __init__(self, module: Op) -> None:
        self._items = [item for block in module.regions[:1] if block is not None for item in block.ops]
        self._table: dict[str, Op] = {}
        for item in self._items:
            name = symbol_name(item)
            if name is not None:
                self._table.setdefault(name, item)

    def get(self, name: str) -> Op | None:
        return self._table.get(name)

    def recursive(self, caller: Op, callee: Op) -> bool:
        """True if `callee` leads back to `caller`, so that a call between them is recursion."""
        group = self._components.get(caller)
        return group is not None and group == self._components.get(callee)

    def depth(self, function: Op) -> int:
        """Return how many calls deep `function` leads, itself included."""
        return self._depths.get(function, 0)

    @cached_property
    def _calls(self) -> dict[Op, list[Op]]:
        return {item: self._callees(item) for item in self._items if isinstance(item, Func)}

    @cached_property
    def _components(self) -> dict[Op, int]:
        return _components(self._calls)

    @cached_property
    def _depths(self) -> dict[Op, int]:
        found: dict[Op, int] = {}
        for function in self._components:  # callees come before their callers
            found[function] = 1 + max((found.get(callee, 0) for callee in self._calls[function]), default=0)
        return found

    def _callees(self, function: Op) -> list[Op]:
        names = (op.attributes.get("callee") for op in function.walk() if isinstance(op, Call))
        found = (self._table.get(name) for name in names if isinstance(name, str))
        return [callee for callee in found if isinstance(callee, Func)]


def symbol_name(op: Op) -> str | None:
    name = op.attributes.get("sym_name")
    return name if isinstance(name, str) else None


def signature_of(op: Op) -> FunctionType | None:
    """Return the signature of an entry or function, if it has one."""
    signature = op.attributes.get("function_type")
    return signature if isinstance(signature, FunctionType) else None


def _components(graph: dict[Op, list[Op]]) -> dict[Op, int]:
    """Return the strongly connected component of each function, callees first (Tarjan 1972, with an explicit stack)."""
    order: dict[Op, int] = {}
    lowest: dict[Op, int] = {}
    component: dict[Op, int] = {}
    pending: list[Op] = []
    for root in graph:
        if root in order:
            continue
        path: list[tuple[Op, Iterator[Op]]] = []
        _open(root, graph, order, lowest, pending, path)
        while path:
            node, callees = path[-1]
            callee = next(callees, None)
            if callee is None:
                path.pop()
                _close(node, order, lowest, component, pending)
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[node])
            elif callee not in order:
                _open(callee, graph, order, lowest, pending, path)
            elif callee not in component:
                lowest[node] = min(lowest[node], order[callee])
    return component


def _open(
    node: Op,
    graph: dict[Op, list[Op]],
    order: dict[Op, int],
    lowest: dict[Op, int],
    pending: list[Op],
    path: list[tuple[Op, Iterator[Op]]],
) -> None:
    order[node] = lowest[node] = len(order)
    pending.append(node)
    path.append((node, iter(graph[node])))


def _close(node: Op, order: dict[Op, int], lowest: dict[Op, int], component: dict[Op, int], pending: list[Op]) -> None:
    if lowest[node] != order[node]:
        return
    while True:
        member = pending.pop()
        component[member] = order[node]
        if member is node:
            return
