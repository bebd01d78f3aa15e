"""Factors that are multiplied where they lie, not copied into a panel first: tiles that are multiplied once, and alone.

Knows: when that is right and worth while, and how such a factor is seen as a panel. Does not know: how panels are
packed (`cpu.matmul.panels`), nor which of them stay (`cpu.matmul.kept_panels`).
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.emit.elements import I64
from tileir.cpu.emit.emitter import as_register
from tileir.cpu.matmul.microkernel import Blocking, Panel
from tileir.cpu.matmul.panels import LINES_AT_A_TIME, SMALLEST_SQUARE, Factor
from tileir.cpu.matmul.products import Product

NEAR = 1 << 10
"""Bytes between lines of a factor that is multiplied where it lies: those of longer ones share few sets of a cache."""


def left_serves(
    builder: ir.IRBuilder, product: Product, size: Blocking, left: Factor, right: Factor, many: int
) -> ir.Value | None:
    """An i1: whether all rows of a left factor, more than so `many`, that register blocks read are there, and near;
    None if that is never so.

    Where both factors lie along their rows LLVM loads the words of several steps at once, more than there are
    registers.
    """
    memory, other = left.memory, right.memory
    if memory is None or other is None or not _is_plain(product, size, left):
        return None
    if size.rows < SMALLEST_SQUARE if memory.along_lines else other.along_lines:
        return None
    found = _is_near(builder, left)
    if left.needed is None:
        return found
    rest = builder.and_(left.needed, I64(size.rows - 1))
    whole = builder.icmp_unsigned("==", rest, I64(0))
    return builder.and_(builder.and_(found, whole), builder.icmp_unsigned(">", left.needed, I64(many)))


def right_serves(builder: ir.IRBuilder, product: Product, size: Blocking, right: Factor) -> ir.Value | None:
    """The same for a right factor, whose columns lie side by side."""
    is_wide = right.memory is not None and right.memory.along_lines and size.columns <= LINES_AT_A_TIME
    return _is_near(builder, right) if is_wide and _is_plain(product, size, right) else None


def _is_plain(product: Product, size: Blocking, factor: Factor) -> bool:
    """Whether words of panels are elements as they lie in memory, next to each other along one dimension."""
    memory = factor.memory
    if memory is None or size.uses_matrix_unit or product.group > 1 or memory.element is not product.element:
        return False
    return memory.along_k or memory.along_lines


def _is_near(builder: ir.IRBuilder, factor: Factor) -> ir.Value:
    assert factor.memory is not None
    stride = factor.memory.by_line if factor.memory.along_k else factor.memory.by_k
    return builder.icmp_unsigned("<=", stride, I64(NEAR // factor.memory.element.byte_size))


def either(builder: ir.IRBuilder, serves: ir.Value | None, factor: Factor, packed: Panel) -> Panel:
    """The factor as it lies if it `serves`, else its panel."""
    memory = factor.memory
    if serves is None or memory is None:
        return packed
    by_line, by_step = (memory.by_line, 1) if memory.along_k else (1, memory.by_k)

    def chosen(here: int | ir.Value, other: int | ir.Value) -> int | ir.Value:
        if isinstance(here, int) and here == other:
            return here
        return builder.select(serves, as_register(here), as_register(other))

    base = builder.select(serves, memory.base, packed.base)
    by_block = chosen(by_line, packed.by_block)
    return Panel(base, by_block, chosen(by_line, packed.by_line), chosen(by_step, packed.by_step))
