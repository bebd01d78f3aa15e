"""What rules need of a GPU beyond the instructions of TTIR.

Knows: the operations, element by element. Does not know: by which instructions a vendor's GPUs do them (`nvidia`,
`amd`), nor Tile IR.

Two features are NVIDIA's own and have no part here: multicast memory (`lib.once`) and copies by descriptor
(`lib.descriptors`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import TtirValue
from tileir.gpu.ttir.lib.words import Word
from tileir.ir.attributes import Rounding


class VendorInstructions(Protocol):
    """The instructions of a vendor. Operands are scalars or tensors; raises UnsupportedError for what there is not."""

    library_prefix: str
    """Beginning of the names of the device library."""

    def library(self, build: Builder, name: str, *operands: TtirValue) -> TtirValue:
        """A function of the device library, of f32 or f64, by the name that C has for it."""

    def rounded(self, build: Builder, name: str, mode: Rounding, flush: bool, *operands: TtirValue) -> TtirValue:
        """``add sub mul div fma sqrt`` of f32 or f64, rounded in an IEEE mode; `flush` treats subnormals as zeros
        (f32). Not for rounding to nearest even without flushing, which TTIR has."""

    def approximate(self, build: Builder, name: str, flush: bool, *operands: TtirValue) -> TtirValue:
        """``div.approx div.full sqrt.approx tanh.approx ex2.approx rsqrt.approx`` of f32, within the bounds that PTX
        gives them."""

    def extreme(self, build: Builder, name: str, propagate_nan: bool, *operands: TtirValue) -> TtirValue:
        """``max`` or ``min`` of f32 with subnormals as zeros."""

    def truncated(self, build: Builder, number: TtirValue, bits: int, signed: bool) -> Word:
        """An f32 or f64 towards zero to an i32 or i64, saturated; 0 for NaN."""

    def odd_f32(self, source: Word, signed: bool) -> TtirValue:
        """An i32 or i64 as an f32, its last bit set if it is not exact, so that a rounding to fewer bits is single."""

    def directed(self, build: Builder, number: TtirValue, element: str, mode: Rounding) -> TtirValue:
        """An f32 as f16, or an f64 as f32 or f16, towards zero or an infinity."""

    def nearest_tf32(self, build: Builder, number: TtirValue) -> TtirValue:
        """The bits of an f32 rounded to tf32, as an i32 whose low 13 bits may be anything (`Arch.rounds_to_tf32`)."""

    def opaque(self, build: Builder, value: TtirValue) -> TtirValue:
        """The same i32 or i64, of which the optimizer knows nothing, and which it does not remove."""

    def unforeseen(self, build: Builder, value: TtirValue) -> TtirValue:
        """The same scalar i32 or i64, of which the optimizer knows nothing where that makes better code."""

    def fence_aliases(self, build: Builder, word: Callable[[], TtirValue]) -> None:
        """Order what the thread does in memory under one address before what it does under another of the same memory.
        `word` makes the address of an i32 that the block has for itself."""
