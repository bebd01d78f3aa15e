"""Products in a loop whose right factors other tile blocks read again: tiles are packed once, and stay.

Knows: the panels of such a product, one for each of the first iterations. Does not know: which products these are
(`cpu.lowering.repeated`), nor how a panel tells what it holds (`cpu.matmul.kept_panels`).
"""

from __future__ import annotations

from dataclasses import dataclass

from llvmlite import ir

from tileir.cpu.emit.elements import I64
from tileir.cpu.emit.emitter import Emitter
from tileir.cpu.matmul.kept_panels import KeptPlace, Panels, new_panels
from tileir.cpu.matmul.microkernel import Shape
from tileir.cpu.matmul.panels import Factor
from tileir.cpu.matmul.products import Product

MOST_ITERATIONS = 64
"""Iterations whose panels stay; those of later ones take turns in the last one."""


@dataclass(frozen=True)
class Repeated:
    """The panels of a right factor, of `steps` along K each, and the stack cell that counts iterations."""

    right: Panels
    steps: int
    number: ir.Value

    def begin(self, builder: ir.IRBuilder) -> None:
        """Count from 0 where the loop begins."""
        builder.store(I64(0), self.number)

    def place(self, emit: Emitter, panels: Panels, source: Factor) -> KeptPlace:
        """The place of the factor in this iteration."""
        return panels.place(emit, source, emit.builder.load(self.number, typ=I64), I64(0), self.steps)

    def advance(self, builder: ir.IRBuilder) -> None:
        """Count an iteration."""
        builder.store(builder.add(builder.load(self.number, typ=I64), I64(1)), self.number)


def repeated(emit: Emitter, product: Product, shape: Shape) -> Repeated:
    """Panels for the right factor of a product."""
    size = shape.n * shape.k * product.element.byte_size
    panels = new_panels(emit, size, 1, 1, MOST_ITERATIONS)
    return Repeated(panels, shape.k // product.group, emit.stack(I64))
