"""Bit layouts of floating-point formats, and the facts that follow from them (spec: types#element-types)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FloatFormat:
    """Bit layout of a float: sign, exponent and fraction widths, bias, special values.

    ``fraction`` excludes the hidden bit. ``has_inf``: the all-ones exponent with zero fraction is an
    infinity; ``has_nan``: the format has a NaN. ``max_finite`` is the largest finite magnitude.
    """

    signed: bool
    exponent: int
    fraction: int
    bias: int
    has_inf: bool
    has_nan: bool
    max_finite: float

    @property
    def precision(self) -> int:
        """Significand width including the hidden bit."""
        return self.fraction + 1

    @property
    def has_zero(self) -> bool:
        """False for powers of two alone, whose exponent 0 is one as any other."""
        return self.fraction > 0

    @property
    def lowest_exponent(self) -> int:
        """The exponent of the smallest normal number."""
        return self.has_zero - self.bias

    @property
    def smallest_exponent(self) -> int:
        """The exponent of the smallest positive number, which may be subnormal."""
        return self.lowest_exponent - self.fraction

    @property
    def sign_bit(self) -> int:
        """The bit above the magnitude, which is the sign where the format is signed."""
        return 1 << (self.exponent + self.fraction)

    @property
    def magnitude_mask(self) -> int:
        """The bits of a pattern without its sign."""
        return self.sign_bit - 1

    @property
    def infinity(self) -> int | None:
        """The pattern of positive infinity."""
        return self._all_ones_exponent if self.has_inf else None

    @property
    def nan(self) -> int | None:
        """The pattern of the positive quiet NaN with all other bits clear; beside no infinity, all ones."""
        if not self.has_nan:
            return None
        return self._all_ones_exponent | 1 << (self.fraction - 1) if self.has_inf else self.magnitude_mask

    @property
    def _all_ones_exponent(self) -> int:
        return ((1 << self.exponent) - 1) << self.fraction

    def contains(self, other: FloatFormat) -> bool:
        """Return whether every value of `other`, infinities and NaN included, is a value of this format."""
        return (
            self.signed >= other.signed
            and self.has_zero >= other.has_zero
            and self.has_inf >= other.has_inf
            and self.has_nan >= other.has_nan
            and self.precision >= other.precision
            and self.smallest_exponent <= other.smallest_exponent
            and self.max_finite >= other.max_finite
        )


def ieee(exponent: int, fraction: int) -> FloatFormat:
    """Return a format by the rules of IEEE 754: signed, with infinities, NaN and subnormal numbers."""
    bias = (1 << (exponent - 1)) - 1
    largest = (2.0 - 2.0**-fraction) * 2.0**bias
    return FloatFormat(True, exponent, fraction, bias, True, True, largest)
