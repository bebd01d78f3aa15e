"""Options with which a kernel fits the hardware.

Knows: what is made smaller when a block wants more registers or more memory than there are, and what is left as it was
asked for. Does not know: how code is made.

Too many registers: a limit that `occupancy` set is given up, then fewer warps share them. Too much memory: pipelines
become shorter, down to one stage, then warps fewer, whose exchanges take less. What a launch asks for by number stays.

On AMD's GPUs, where a wave has no more registers if there are fewer waves, what spills registers is made again with
more waves, and then with shorter pipelines, as long as fewer are spilled by the block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from tileir.gpu.compiler import BlockMemoryError, CompileOptions, RegisterError, RequestedOptions

T = TypeVar("T")
MOST_WAVES = 16
"""The most waves of a block that are tried against spills."""


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


def sparing(
    make: Callable[[CompileOptions], T], found: Fitted[T], requested: RequestedOptions, spilled: Callable[[T], int]
) -> Fitted[T]:
    """The same with fewer registers spilled, if it can be; `spilled` counts them for a thread."""
    best = found
    while count := spilled(best.made):
        waves = best.options.num_warps
        tried = (_tried(make, options) for options in _roomier(best.options, requested))
        better = next((one for one in tried if one and spilled(one.made) * one.options.num_warps < count * waves), None)
        if better is None:
            break
        why = f"{count} registers of a thread are spilled"
        best = replace(better, rejected=(*best.rejected, Rejected(best.options, why)))
    return best


def _tried(make: Callable[[CompileOptions], T], options: CompileOptions) -> Fitted[T] | None:
    try:
        return Fitted(options, make(options), ())
    except (RegisterError, BlockMemoryError):
        return None


def _roomier(options: CompileOptions, requested: RequestedOptions) -> Iterator[CompileOptions]:
    """The options with which a thread may spill less."""
    if options.num_warps < MOST_WAVES and requested.warps is None:
        yield replace(options, num_warps=2 * options.num_warps)
    if options.num_stages > 1 and requested.stages is None:
        yield replace(options, num_stages=options.num_stages - 1)


def _smaller(options: CompileOptions, requested: RequestedOptions, by_registers: bool) -> CompileOptions | None:
    """The options to try next; None if there are none."""
    if by_registers and options.maxnreg is not None:
        return replace(options, maxnreg=None)
    if not by_registers and options.num_stages > 1 and requested.stages is None:
        return replace(options, num_stages=options.num_stages - 1)
    if options.num_warps > 1 and requested.warps is None:
        return replace(options, num_warps=options.num_warps // 2)
    return None
