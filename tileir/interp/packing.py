"""Tiles reread as other elements: `pack` and `unpack` (spec: packing#pack)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.interp.api import PureRule
from tileir.interp.bit_streams import pack_bytes, unpack_bytes
from tileir.ir.rules import Rules
from tileir.ops.packing import Pack, Unpack

pure: Rules[PureRule] = Rules()

Unary = Callable[[np.ndarray], np.ndarray]


@pure(Pack)
def _pack(op: Pack) -> Unary:
    return pack_bytes(op.source.tile.element)


@pure(Unpack)
def _unpack(op: Unpack) -> Unary:
    return unpack_bytes(op.result.tile.element)
