"""rsqrt."""

from __future__ import annotations

from tileir.cpu.algebra import Real
from tileir.cpu.error_free import product_pair


def rsqrt_f32(x: Real) -> Real:
    return 1.0 / x.root()


def rsqrt_f64(x: Real) -> Real:
    """One Newton step with an exact residual behind root and division."""
    near = 1.0 / x.root()
    product = product_pair(x, near)
    residual = (-product.high).times_plus(near, near.of(1.0)) - product.low * near
    better = near.times_plus(residual * 0.5, near)
    return ((x > 0.0) & (x < float("inf"))).choose(better, near)
