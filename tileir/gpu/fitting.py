"""Options with which a kernel fits the hardware.

Knows: what is made smaller when a block wants more registers or more memory than there are, and what is left as it was
asked for. Does not know: how code is made.

Too many registers: a limit that `occupancy` set is given up, then fewer warps share them. Too much memory: pipelines
become shorter, down to one stage, then warps fewer, whose exchanges take less. What a launch asks for by number stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from tileir.gpu.compiler import BlockMemoryError, CompileOptions, RegisterError, RequestedOptions

T = TypeVar("T")


@dataclass(frozen=True)
class Rejected:
    """Options with which a kernel does not fit, and why."""

    options: CompileOptions
    why: str


@dataclass(frozen=True)
class Fitted(Generic[T]):
    """What was made with options that fit, and those that had been tried before."""

    options: CompileOptions
    made: T
    rejected: tuple[Rejected, ...]


def fitted(make: Callable[[CompileOptions], T], first: CompileOptions, requested: RequestedOptions) -> Fitted[T]:
    """What `make` makes with `first`, or with smaller options if it raises `RegisterError` or `BlockMemoryError`.

    Raises the last of these if nothing fits.
    """
    options = first
    rejected: list[Rejected] = []
    while True:
        try:
            return Fitted(options, make(options), tuple(rejected))
        except (RegisterError, BlockMemoryError) as error:
            smaller = _smaller(options, requested, isinstance(error, RegisterError))
            if smaller is None:
                raise
            rejected.append(Rejected(options, error.what))
            options = smaller


def _smaller(options: CompileOptions, requested: RequestedOptions, by_registers: bool) -> CompileOptions | None:
    """The options to try next; None if there are none."""
    if by_registers and options.maxnreg is not None:
        return replace(options, maxnreg=None)
    if not by_registers and options.num_stages > 1 and requested.stages is None:
        return replace(options, num_stages=options.num_stages - 1)
    if options.num_warps > 1 and requested.warps is None:
        return replace(options, num_warps=options.num_warps // 2)
    return None
