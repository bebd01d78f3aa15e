"""LLVM metadata that llvmlite has no form for: distinct nodes, which name a loop or a group of accesses by identity."""

from __future__ import annotations

from llvmlite import ir


class Distinct(ir.values.MDValue):
    """A distinct node; with `loop` its first operand is itself, as the identity of a loop must be."""

    def __init__(self, module: ir.Module, operands: list[ir.Value] | None = None, loop: bool = False) -> None:
        super().__init__(module, operands or [], name=str(len(module.metadata)))
        self._loop = loop

    def descr(self, buffer: list[str]) -> None:
        names = [operand.get_reference() for operand in self.operands]
        if self._loop:
            names.insert(0, self.get_reference())
        buffer += (f"distinct !{{ {', '.join(names)} }}", "\n")

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


def access_group(module: ir.Module) -> Distinct:
    """A group of memory accesses that carry nothing from one iteration of a loop to another."""
    return Distinct(module)


def parallel_loop(module: ir.Module, group: Distinct) -> Distinct:
    """The identity of a loop whose accesses in `group` are independent."""
    parallel = module.add_metadata([ir.MetaDataString(module, "llvm.loop.parallel_accesses"), group])
    return Distinct(module, [parallel], loop=True)


def plain_loop(module: ir.Module) -> Distinct:
    """The identity of a loop that is left as it is."""
    as_it_is = [
        module.add_metadata([ir.MetaDataString(module, "llvm.loop.vectorize.enable"), ir.IntType(1)(0)]),
        module.add_metadata([ir.MetaDataString(module, "llvm.loop.distribute.enable"), ir.IntType(1)(0)]),
    ]
    return Distinct(module, as_it_is, loop=True)
