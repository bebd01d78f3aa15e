"""Keys of arguments: the properties of each argument that a kernel is compiled for.

Keys of one parameter are equal exactly when the kernel can be used again. `cutile.signature` makes a key from an
argument.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol, cast

from tileir.cutile.arrays import ArrayClass

if TYPE_CHECKING:
    from cuda.tile.compilation import KernelSignature


class Key(Protocol):
    """An argument as a kernel is compiled for it."""

    def constraint(self, shared: Iterator[bool]) -> Any:
        """Return the library's constraint; `shared` says of each array and list, in order, whether its memory is
        shared."""


@dataclass(frozen=True)
class ConstantKey:
    """A value that is part of the kernel. 1, True and 1.0 are three values, 0.0 and -0.0 are two, and NaN is one."""

    type: type
    bits: int | bytes
    value: bool | int | float = field(compare=False)

    @staticmethod
    def of(value: bool | int | float) -> ConstantKey:
        if isinstance(value, float):
            return ConstantKey(float, struct.pack("=d", value), float(value))
        kind = bool if isinstance(value, bool) else int
        return ConstantKey(kind, int(value), kind(value))

    def constraint(self, shared: Iterator[bool]) -> Any:
        from cuda.tile.compilation import ConstantConstraint

        return ConstantConstraint(self.value)


@dataclass(frozen=True)
class ScalarKey:
    """A number that is passed; `dtype` is the library's name of its type."""

    dtype: str

    def constraint(self, shared: Iterator[bool]) -> Any:
        import cuda.tile as ct
        from cuda.tile.compilation import ScalarConstraint

        return ScalarConstraint(getattr(ct, self.dtype))


@dataclass(frozen=True)
class ListKey:
    """A list of arrays that have `kind` in common. Its table is ours alone; its elements may be one array twice."""

    kind: ArrayClass

    def constraint(self, shared: Iterator[bool]) -> Any:
        from cuda.tile.compilation import ListConstraint

        element = self.kind.constraint(shared)
        return ListConstraint(element, alias_groups=(), elements_may_alias=True)


@dataclass(frozen=True)
class TupleKey:
    items: tuple[Key, ...]

    def constraint(self, shared: Iterator[bool]) -> Any:
        from cuda.tile.compilation import TupleConstraint

        return TupleConstraint([item.constraint(shared) for item in self.items])


def constraints(key: tuple) -> list[Any]:
    """Return the library's constraint for each argument, of the key of a launch."""
    keys, shared_arrays = cast("tuple[tuple[Key, ...], frozenset[int]]", key)
    shares = (number in shared_arrays for number in count(1))
    return [item.constraint(shares) for item in keys]


def signature(key: tuple, symbol: str) -> KernelSignature:
    """Return the library's signature for the key of a launch, in the oldest calling convention that has all it
    needs."""
    from cuda.tile.compilation import CallingConvention, KernelSignature

    parameters = constraints(key)
    try:
        return KernelSignature(parameters, CallingConvention.cutile_python_v1(), symbol)
    except ValueError:
        return KernelSignature(parameters, CallingConvention.cutile_python_v2(), symbol)
