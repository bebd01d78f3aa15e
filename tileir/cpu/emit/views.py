"""Tensor views and tile views while a kernel is lowered."""

from __future__ import annotations

from dataclasses import dataclass

from llvmlite import ir

from tileir.ir import types as t


@dataclass(frozen=True, eq=False)
class Bounds:
    """Addresses, as i64: from `begin` up to `end` memory may be read, up to `writable_end` written."""

    begin: ir.Value
    end: ir.Value
    writable_end: ir.Value
    marks: ir.Value | None = None
    """Where the marks of an `alloca` begin (`cpu.memory.unwritten`), in strict mode."""
    size: int = 0
    """The bytes of an `alloca` of this function."""

    def limit(self, write: bool) -> ir.Value:
        return self.writable_end if write else self.end


@dataclass(frozen=True, eq=False)
class Fit:
    """Comparison of a tensor view with its memory: all of it may be read, and written, two i1; the bounds if known."""

    bounds: Bounds | None
    read: ir.Value
    write: ir.Value

    def usable(self, write: bool) -> ir.Value:
        return self.write if write else self.read


@dataclass(frozen=True, eq=False)
class NativeTensorView:
    """A tensor in memory: its address, extents and strides (i64, elements), one per dimension.

    `fit` is None where accesses are not checked.
    """

    base: ir.Value
    extents: tuple[ir.Value, ...]
    strides: tuple[ir.Value, ...]
    fit: Fit | None = None


@dataclass(frozen=True, eq=False)
class NativeTileView:
    """The tensor that a tile view cuts into tiles."""

    tensor: NativeTensorView
    type: t.TileViewType
